"""Which curated pairs suit this machine, the one to begin with first.

Two numbers decide: what a pair takes (from the catalog, at 4,096 tokens) and what the machine has. The recommended one
is the most capable that leaves half of the memory to everything else; a pair that only just fits makes all slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.models.catalog import CatalogPair
from app.models.memory import RESERVE_SHARE, Room

Standing = Literal["fits now", "fits when other programs are closed", "too large for this machine"]

COMFORTABLE_SHARE = 0.5
"""Part of a machine's memory that the recommended pair may take."""

_ORDER: dict[Standing, int] = {
    "fits now": 0,
    "fits when other programs are closed": 1,
    "too large for this machine": 2,
}


@dataclass(frozen=True, slots=True)
class Ranked:
    """A curated pair as this machine sees it."""

    pair: CatalogPair
    standing: Standing
    is_recommended: bool = False


def standing_of(n_bytes: int, room: Room) -> Standing:
    """Tell how what takes so much memory stands with what there is."""
    if n_bytes <= room.usable_bytes:
        return "fits now"
    if n_bytes <= room.total_bytes * (1 - RESERVE_SHARE):
        return "fits when other programs are closed"
    return "too large for this machine"


def rank(pairs: Sequence[CatalogPair], room: Room) -> list[Ranked]:
    """Order pairs: the recommended one, what fits (the most capable first), what nearly fits, what is too large."""
    best = recommended(pairs, room)
    found = [Ranked(pair, standing_of(pair.memory_bytes, room), pair is best) for pair in pairs]

    def key(one: Ranked) -> tuple[bool, int, int]:
        n_bytes = one.pair.memory_bytes
        return not one.is_recommended, _ORDER[one.standing], -n_bytes if one.standing == "fits now" else n_bytes

    return sorted(found, key=key)


def recommended(pairs: Sequence[CatalogPair], room: Room) -> CatalogPair | None:
    """Return the pair to begin with; None if there is none that leaves room for other programs."""
    comfortable = [
        pair
        for pair in pairs
        if pair.memory_bytes <= room.total_bytes * COMFORTABLE_SHARE and pair.memory_bytes <= room.usable_bytes
    ]
    return max(comfortable, key=lambda pair: pair.memory_bytes, default=None)
