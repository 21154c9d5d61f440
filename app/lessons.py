"""What a pair has taught about itself, on its way between the engine and the file where it outlives the engine."""

from __future__ import annotations

import msgspec


class Counts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Draft tokens that the target ruled on, and those of them that it kept: one of each an entry."""

    judged: tuple[float, ...] = ()
    kept: tuple[float, ...] = ()


class Lessons(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the controller of the draft length begins with.

    Attributes:
        speedups: what asking was worth in the last answers, by kind of draft.
        answers: the last answers' draft tokens, by kind.
        words: drafted words by class of the probability that the drafter gave them, by ``kind@greedy`` or
            ``kind@sampled``.
        saved_s: what speculation has saved of late.
    """

    speedups: dict[str, tuple[float, ...]] = {}
    answers: dict[str, Counts] = {}
    words: dict[str, Counts] = {}
    saved_s: float = 0.0
