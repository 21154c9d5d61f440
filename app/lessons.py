"""What a pair has taught about itself, on its way between the engine and the file where it outlives the engine."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import msgspec

MOST_ANSWERS = 64
"""More answers, or classes of probability, than any version remembers of a kind of draft."""

_MOST = 1e9
"""No count, no speed-up and no saving of seconds is as large."""

_KIND = re.compile(r"[a-z][a-z-]{0,30}[~+]?!?(:[1-9][0-9]{0,3})?", re.ASCII)
_WORTH_OF = re.compile(_KIND.pattern + "(@sampled)?", re.ASCII)
_WORDS_OF = re.compile(_KIND.pattern + "@(greedy|sampled|sharp)", re.ASCII)


class Counts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Draft tokens that the target ruled on, and those of them that it kept: one of each an entry."""

    judged: tuple[float, ...] = ()
    kept: tuple[float, ...] = ()


class Lessons(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the controller of the draft length begins with.

    Attributes:
        speedups: what asking was worth in the last answers, by kind of draft; ``kind@sampled`` where tokens were drawn.
        answers: the last answers' draft tokens, by kind.
        words: drafted words by class of the probability that the drafter gave them, by ``kind@greedy`` or
            ``kind@sampled``, of trees ``kind@sharp``; ``kind!@…``: by class of the probability of the target's most
            likely word.
        saved_s: what speculation had saved; earlier versions kept and used it, this one only reads it.
    """

    speedups: dict[str, tuple[float, ...]] = {}
    answers: dict[str, Counts] = {}
    words: dict[str, Counts] = {}
    saved_s: float = 0.0


def sound(lessons: Lessons) -> Lessons:
    """Return what of lessons from a file can be so: a file is whatever somebody, or another version, left there."""
    return Lessons(
        speedups={
            kind: speedups
            for kind, speedups in lessons.speedups.items()
            if _WORTH_OF.fullmatch(kind) and _are_few_numbers(speedups)
        },
        answers={kind: counts for kind, counts in lessons.answers.items() if _KIND.fullmatch(kind) and _can_be(counts)},
        words={key: counts for key, counts in lessons.words.items() if _WORDS_OF.fullmatch(key) and _can_be(counts)},
        saved_s=lessons.saved_s if _are_few_numbers((lessons.saved_s,)) else 0.0,
    )


def _can_be(counts: Counts) -> bool:
    return (
        len(counts.judged) == len(counts.kept)
        and _are_few_numbers(counts.judged + counts.kept)
        and all(kept <= judged for judged, kept in zip(counts.judged, counts.kept, strict=True))
    )


def _are_few_numbers(values: Iterable[float]) -> bool:
    told = tuple(values)
    return len(told) <= 2 * MOST_ANSWERS and all(math.isfinite(value) and 0 <= value <= _MOST for value in told)
