"""Lenient acceptance: keep a draft token that is typical of the target, though it would have said another.

A draft token with probability p under the target's own distribution, of entropy H, is kept if

    p >= min(P, sqrt(P) x exp(-H))

so where the target is sure, only what it is sure of, and where it wavers, much ("typical acceptance" of Medusa: Cai
et al. 2024, arXiv 2401.10774, section 3.3.2). The smaller P, the more is kept. This is *lossy*: the text depends on the
drafter, and is not what the target alone would have said.
"""

from __future__ import annotations

import math

import numpy as np

from app.engine.llama import Row
from app.engine.sampler import Sampler


def is_typical(sampler: Sampler, row: Row, token: int, share: float) -> bool:
    """Tell whether a token is likely enough for this row; ``share`` is P, in (0, 1]."""
    ids, p = sampler.distribution(row)
    found = np.flatnonzero(ids == token)
    if not len(found) or not sampler.allows(token):
        return False
    likely = p[p > 0]
    entropy = -float((likely * np.log(likely)).sum())
    return float(p[found[0]]) >= min(share, math.sqrt(share) * math.exp(-entropy))
