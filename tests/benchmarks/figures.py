"""What a benchmark prints: figures with intervals, for people or as JSON."""

from __future__ import annotations

import argparse
import json
import operator
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from app.metrics.stats import median_interval


@dataclass(frozen=True, slots=True)
class Figure:
    """Median of ``n`` measured values with its 95 % interval; ``target`` is what has to hold, if anything."""

    name: str
    values: tuple[float, ...]
    unit: str
    target: str = ""

    def as_dict(self) -> dict[str, object]:
        """Return the machine-readable shape."""
        interval = median_interval(self.values)
        if interval is None:
            raise ValueError(f"{self.name} has no values")
        n = len(self.values)
        return {"value": interval.median, "unit": self.unit, "low": interval.low, "high": interval.high, "n": n}


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, ...]:
    """Divide the measurements of each turn: what slows the machine down for a while slows both."""
    return tuple(our / their for our, their in zip(ours, theirs, strict=True))


def arguments(description: str, n_turns: int) -> argparse.ArgumentParser:
    """Make the parser that every benchmark starts from."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    parser.add_argument("--turns", type=int, default=n_turns, help="measurements of each kind (default: %(default)s)")
    return parser


def report(figures: Sequence[Figure], *, as_json: bool) -> None:
    """Print the figures."""
    if as_json:
        print(json.dumps({"figures": {figure.name: figure.as_dict() for figure in figures}}, indent=2))
        return
    for figure in figures:
        shown = figure.as_dict()
        print(
            f"{figure.name:34} {shown['value']:9.4g} {figure.unit:6} [{shown['low']:.4g}, {shown['high']:.4g}]"
            f"  n = {shown['n']}{'  target ' + figure.target if figure.target else ''}"
        )


_RULES = {"<=": operator.le, ">=": operator.ge}


def missed(figures: Sequence[Figure]) -> list[str]:
    """Return in words which figures miss their target."""
    found = []
    for figure in figures:
        sign, _, limit = figure.target.partition(" ")
        value = figure.as_dict()["value"]
        if isinstance(value, float) and sign in _RULES and not _RULES[sign](value, float(limit)):
            found.append(f"{figure.name}: {value:.4g} {figure.unit}, target {figure.target}")
    return found


def end_by_targets(figures: Sequence[Figure]) -> None:
    """End the program with an error, in words, if a figure misses its target.

    Raises:
        SystemExit: one does.
    """
    if found := missed(figures):
        print("\n".join(("Over target:", *found)), file=sys.stderr)
        raise SystemExit(1)
