"""Two sessions side by side in the language of the person: the layers below put English pieces together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app.metrics.compare import counted
from app.ui.said import said, said_each
from app.ui.tr import tr
from app.ui.wording import drafter_name, length_words

if TYPE_CHECKING:
    from app.metrics.compare import ComparedWay, Difference
    from app.metrics.export import Metrics

_CONDITIONS = {
    "processor": tr("processor"),
    "system": tr("system"),
    "target": tr("target"),
    "quantisation": tr("quantisation"),
    "device": tr("device"),
    "threads": tr("threads"),
    "conversation memory": tr("conversation memory"),
    "power supply": tr("power supply"),
    "power mode": tr("power mode"),
    "sampler": tr("sampler"),
    "draft model": tr("draft model"),
    "draft model on": tr("draft model on"),
    "version": tr("version", "a program's"),
}
_VALUES = {
    "not known": tr("not known"),
    "battery": tr("battery"),
    "mains": tr("mains"),
    "none": tr("none", "no such file or device"),
}
_WAYS = {
    "off": tr("off"),
    "draft model in memory": tr("draft model in memory"),
    "fixed shape": tr("fixed shape"),
    "sampled": tr("sampled"),
    "greedy": tr("greedy"),
}
_LENGTH = re.compile(r"length (?P<length>\d{1,9}|auto|rolling)(?: kept to (?P<n_exact>\d+))?")
_AT_LEAST = re.compile(r"at least (\d+)")
_VERDICT = "verdict"


def totals_words(metrics: Metrics) -> str:
    """How much a session holds."""
    n = counted(metrics)
    words = tr("{n_answers:,} answer(s) ({n_plain:,} plain), {n_tokens:,} tokens, {n_steps:,} steps", None, n.answers)
    return words.format(n_answers=n.answers, n_plain=n.plain, n_tokens=n.tokens, n_steps=n.steps)


def difference_words(one: Difference) -> str:
    """One condition in which they differ, with what it was in each."""
    a, b = (", ".join(_VALUES.get(value, value) for value in side.split(", ")) for side in (one.a, one.b))
    return f"{_CONDITIONS.get(one.what, one.what)}: {a} | {b}"


def way_words(way: str) -> str:
    """What was asked for: who drafts and how long, and whether answers are sampled."""
    who, *pieces = way.split(", ")
    return ", ".join((_WAYS.get(who) or drafter_name(who), *map(_piece_words, pieces)))


def _piece_words(piece: str) -> str:
    if found := _LENGTH.fullmatch(piece):
        length = found["length"]
        words = length_words(int(length) if length.isdecimal() else "auto" if length == "auto" else "rolling")
        n_exact = found["n_exact"]
        return tr("{length}, kept to {n_exact}").format(length=words, n_exact=n_exact) if n_exact else words
    if found := _AT_LEAST.fullmatch(piece):
        return tr("at least {n_tokens}").format(n_tokens=found[1])
    return _WAYS.get(piece, piece)


def figure_words(name: str, words: str) -> str:
    """A figure of one session; a verdict is made of sentences."""
    return said_each(words.split("; ")) if name == _VERDICT else words


def ratio_words(way: ComparedWay) -> str:
    """How much faster the second decoded, or why that cannot be said."""
    if way.ratio is None:
        return tr("none: {reason}", "no ratio").format(reason=said(way.no_ratio))
    words = tr("{middle:.2f}× ({low:.2f}–{high:.2f}), {n_pairs} pair(s)", None, way.n_pairs)
    return words.format(middle=way.ratio.median, low=way.ratio.low, high=way.ratio.high, n_pairs=way.n_pairs)
