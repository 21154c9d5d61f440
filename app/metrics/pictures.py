"""The charts of an export as SVG: decode speed over the baseline, acceptance, alpha by position, verdicts.

Plain text made here, without a screen: they are the same wherever a session is exported. Colour is never alone: drafted
answers are solid lines, plain ones dashed; whatever is coloured has its words beside it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from app.metrics.curves import Curve, Points, curves
from app.metrics.export import Comparison, Metrics, columns_of
from app.metrics.stats import tree_depth, tree_nodes
from app.metrics.values import Interval, Run, is_beside_draft, is_plain

WIDTH, HEIGHT = 860, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 34, 36
_N_TICKS = 5
MOST_SIGNS = 400
"""More of a text no chart has room for."""
_NO_SIGNS = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document may hold: a name in somebody's file may."""
_HEADROOM = 1.12
_LEAST_ROWS = 5
_FONT = "font-family='Segoe UI, system-ui, sans-serif' font-size='12'"


@dataclass(frozen=True, slots=True)
class Inks:
    """Colours; blue-green and orange differ for every kind of sight."""

    base: str = "#ffffff"
    text: str = "#1a2026"
    muted: str = "#55606b"
    grid: str = "#dfe4e8"
    drafted: str = "#0e6f8a"
    plain: str = "#a14f00"


PAPER = Inks()
PAGE = Inks(*(f"var(--{name})" for name in ("base", "text", "muted", "grid", "drafted", "plain")))
"""Those of a page that defines them, for light and dark."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """A chart's axes: what its corners stand for."""

    x_high: float
    y_high: float
    x_low: float = 0.0
    y_low: float = 0.0

    def x(self, value: float) -> float:
        return _LEFT + (value - self.x_low) / (self.x_high - self.x_low) * (WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return HEIGHT - _BOTTOM - (value - self.y_low) / (self.y_high - self.y_low) * (HEIGHT - _TOP - _BOTTOM)


def pictures(metrics: Metrics, inks: Inks = PAPER) -> dict[str, str]:
    """Return the charts that there is something to draw in, by name, as whole SVG documents."""
    drawn = curves(metrics.runs)
    found: dict[str, str] = {}
    if any(curve.speed for curve in drawn):
        band = metrics.baseline.decode_tps if metrics.baseline else None
        named = "baseline, draft model in memory" if metrics.baseline and metrics.baseline.draft_file else "baseline"
        found["speed"] = _document("Decode speed, tok/s, last 2 s", _speed(drawn, band, inks, named), inks)
    if any(curve.acceptance for curve in drawn):
        found["acceptance"] = _document("Draft acceptance, accepted ÷ proposed, last 2 s", _share(drawn, inks), inks)
    if alphas := _alphas(metrics.runs):
        found["positions"] = _document("Alpha by draft position, kept ÷ judged", _positions(alphas, inks), inks)
    if judged := [c for c in metrics.comparisons if c.speedup is not None]:
        found["verdicts"] = _document("Speed-up with its 95 % interval", _verdicts(judged, inks), inks)
    if shaped := [run for run in metrics.runs if run.rows and (run.tree_depth is not None or run.fixed_shape)]:
        found["rows"] = _document("Rows of a pass with token trees or a fixed shape", _rows(shaped, inks), inks)
    return found


# --- the five charts ----------------------------------------------------------------------------------


def _speed(drawn: Sequence[Curve], band: Interval | None, inks: Inks, band_name: str) -> Iterator[str]:
    top = max([value for curve in drawn for _, value in curve.speed] + ([band.high] if band else []))
    frame = _Frame(_end_s(drawn), top * _HEADROOM or 1.0)
    yield from _axes(frame, inks, "seconds of answering")
    if band:
        low, high, middle = frame.y(band.low), frame.y(band.high), frame.y(band.median)
        width = WIDTH - _LEFT - _RIGHT
        yield (
            f"<rect x='{_LEFT}' y='{high:.1f}' width='{width}' height='{max(1.0, low - high):.1f}' "
            f"fill='{inks.muted}' fill-opacity='0.25'/>"
        )
        yield _line((_LEFT, middle), (WIDTH - _RIGHT, middle), inks.muted, "stroke-dasharray='2 3'")
    for curve in drawn:
        yield _path(frame, curve.speed, curve, inks)
    yield from _legend(drawn, inks, band_name if band else "")


def _share(drawn: Sequence[Curve], inks: Inks) -> Iterator[str]:
    frame = _Frame(_end_s(drawn), 1.05)
    yield from _axes(frame, inks, "seconds of answering", is_share=True)
    for curve in drawn:
        if curve.acceptance:
            yield _path(frame, curve.acceptance, curve, inks)


def _positions(alphas: dict[str, tuple[float, ...]], inks: Inks) -> Iterator[str]:
    longest = max(map(len, alphas.values()))
    frame = _Frame(longest + 0.5, 1.05, 0.5)
    yield from _axes(frame, inks, "draft position", is_share=True, is_counted=True)
    dashes = ("", "7 4", "2 3", "9 3 2 3")
    for n, (kind, alpha) in enumerate(alphas.items()):
        points = [(frame.x(i), frame.y(value)) for i, value in enumerate(alpha, start=1)]
        colour, dash = (inks.drafted, inks.plain)[n % 2], dashes[n // 2 % len(dashes)]
        yield _polyline(points, colour, dash)
        yield from (f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{colour}'/>" for x, y in points)
        yield _text(WIDTH - _RIGHT, _TOP + 14 * (n + 1), f"{'● ' if not dash else '○ '}{kind}", colour, "end")


def _verdicts(judged: Sequence[Comparison], inks: Inks) -> Iterator[str]:
    shown = judged[-8:]
    bands = [c.speedup for c in shown if c.speedup is not None]
    low = min(0.9, *(max(0.2, band.low) for band in bands))
    high = max(1.1, *(min(5.0, band.high) for band in bands))
    n_rows = max(_LEAST_ROWS, len(shown))
    frame = _Frame(high + 0.05, n_rows, low - 0.05)
    for tick in _ticks(frame.x_low, frame.x_high):
        yield _line((frame.x(tick), _TOP), (frame.x(tick), HEIGHT - _BOTTOM), inks.grid)
        yield _text(frame.x(tick), HEIGHT - _BOTTOM + 16, f"{tick:g}×", inks.muted, "middle")
    yield _line((frame.x(1), _TOP), (frame.x(1), HEIGHT - _BOTTOM), inks.text, "stroke-dasharray='4 3'")
    for row, (comparison, band) in enumerate(zip(shown, bands, strict=True)):
        y = frame.y(n_rows - row - 0.7)
        left, right = frame.x(max(frame.x_low, band.low)), frame.x(min(frame.x_high, band.high))
        yield _line((left, y), (right, y), inks.drafted, "stroke-width='3'")
        middle = frame.x(min(max(band.median, frame.x_low), frame.x_high))
        yield f"<circle cx='{middle:.1f}' cy='{y:.1f}' r='4.5' fill='{inks.drafted}'/>"
        words = f"{way_words(comparison)}: {comparison.sentence}{_beside(comparison)}"
        yield _text(_LEFT, y - 8, words, inks.text)


def _beside(comparison: Comparison) -> str:
    """Say in few words what of a verdict is not held against a baseline; there is one line for all of it."""
    n_beside, n_pairs = comparison.n_beside_draft, comparison.n_pairs
    if not n_beside:
        return ""
    return "; plain: draft model in memory" + ("" if n_beside == n_pairs else f" ({n_beside} of {n_pairs} pairs)")


def _rows(shaped: Sequence[Run], inks: Inks) -> Iterator[str]:
    """Draw a bar for each way to draft: rows of a pass that gave a token, then those that were wasted."""
    by_kind: dict[str, list[Run]] = {}
    for run in shaped:
        by_kind.setdefault(way_words(run), []).append(run)
    shown = list(by_kind.items())[-6:]
    means = {kind: _row_means(runs) for kind, runs in shown}
    n_bars = max(_LEAST_ROWS, len(shown))
    frame = _Frame(max(used + wasted for used, wasted in means.values()) * _HEADROOM, n_bars)
    for tick in _ticks(0.0, frame.x_high):
        yield _line((frame.x(tick), _TOP), (frame.x(tick), HEIGHT - _BOTTOM), inks.grid)
        yield _text(frame.x(tick), HEIGHT - _BOTTOM + 16, f"{tick:g}", inks.muted, "middle")
    for n, (kind, runs) in enumerate(shown):
        used, wasted = means[kind]
        y, middle, end = frame.y(n_bars - n - 0.7), frame.x(used), frame.x(used + wasted)
        yield _line((_LEFT, y), (middle, y), inks.drafted, "stroke-width='9'")
        yield _line((middle, y), (end, y), inks.plain, "stroke-width='9' stroke-dasharray='2 2'")
        trees = [step for run in runs if run.tree_depth is not None for step in run.steps if step.depth]
        nodes, depth = tree_nodes(trees), tree_depth(trees)
        deep = "" if nodes is None or depth is None else f", trees of {nodes:.1f} nodes, {depth:.1f} deep"
        words = f"{kind}: {used:.1f} rows gave a token, {wasted:.1f} were wasted{deep}"
        yield _text(_LEFT, y - 9, words, inks.text)


def _row_means(runs: Sequence[Run]) -> tuple[float, float]:
    n_passes = max(1, sum(len(run.steps) - 1 for run in runs))
    n_wasted = sum(run.rows_wasted for run in runs)
    return (sum(run.rows for run in runs) - n_wasted) / n_passes, n_wasted / n_passes


def way_words(way: Run | Comparison) -> str:
    """Say what drafted and how long, to what it was kept so that no rounding could change a word, and other bounds."""
    if isinstance(way, Run) and is_plain(way):
        return "off, draft model in memory" if is_beside_draft(way) else "off"
    kept = f" kept to {way.n_exact}" if way.n_exact else ""
    least = f", at least {way.draft_min}" if way.draft_min > 1 else ""
    sure = f", p_min {way.p_min:g}" if way.p_min else ""
    loose = f", P {way.lenient:g}" if isinstance(way, Run) and way.lenient else ""
    shape = ", fixed shape" if way.fixed_shape else ""
    return f"{way.spec_type}, length {way.draft_tokens}{kept}{least}{sure}{loose}{shape}"


# --- what they are made of ----------------------------------------------------------------------------


def _document(title: str, parts: Iterable[str], inks: Inks) -> str:
    size = f"viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' height='{HEIGHT}'"
    return "\n".join(
        (
            f"<svg xmlns='http://www.w3.org/2000/svg' {size} role='img' aria-label='{escape(title)}' {_FONT}>",
            f"<rect width='{WIDTH}' height='{HEIGHT}' fill='{inks.base}'/>",
            _text(_LEFT, 18, title, inks.text, extra="font-weight='600'"),
            *parts,
            "</svg>\n",
        )
    )


def _axes(
    frame: _Frame, inks: Inks, x_words: str, *, is_share: bool = False, is_counted: bool = False
) -> Iterator[str]:
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0) if is_share else _ticks(0.0, frame.y_high):
        yield _line((_LEFT, frame.y(tick)), (WIDTH - _RIGHT, frame.y(tick)), inks.grid)
        words = f"{tick:.0%}" if is_share else f"{tick:g}"
        yield _text(_LEFT - 6, frame.y(tick) + 4, words, inks.muted, "end")
    step = max(1, math.ceil(frame.x_high / 16))
    ticks = range(1, math.floor(frame.x_high) + 1, step) if is_counted else _ticks(0.0, frame.x_high)
    for tick in ticks:
        yield _text(frame.x(tick), HEIGHT - _BOTTOM + 16, f"{tick:,g}", inks.muted, "middle")
    yield _text(WIDTH - _RIGHT, HEIGHT - 5, x_words, inks.muted, "end")


def _ticks(low: float, high: float) -> list[float]:
    """Return round values between two."""
    rough = (high - low) / _N_TICKS
    power = 10 ** math.floor(math.log10(rough))
    step = power * min(factor for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(n * step, 10) for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _legend(drawn: Sequence[Curve], inks: Inks, band_name: str) -> Iterator[str]:
    words = [("━ drafted", inks.drafted)] if any(curve.is_drafted for curve in drawn) else []
    words += [("╌ plain", inks.plain)] if any(not curve.is_drafted for curve in drawn) else []
    words += [(f"▒ {band_name}", inks.muted)] if band_name else []
    words += [("┈ does not count", inks.muted)] if any(curve.is_excluded for curve in drawn) else []
    x = WIDTH - _RIGHT
    for text, colour in reversed(words):
        yield _text(x, 18, text, colour, "end")
        x -= 8 * len(text) + 14


def _path(frame: _Frame, points: Points, curve: Curve, inks: Inks) -> str:
    colour, dash = (inks.drafted, "") if curve.is_drafted else (inks.plain, "6 4")
    if curve.is_excluded:
        colour, dash = inks.muted, "1 3"
    return _polyline([(frame.x(x), frame.y(y)) for x, y in points], colour, dash)


def _polyline(points: Iterable[tuple[float, float]], colour: str, dash: str) -> str:
    where = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashes = f" stroke-dasharray='{dash}'" if dash else ""
    return f"<polyline points='{where}' fill='none' stroke='{colour}' stroke-width='2'{dashes}/>"


def _line(start: tuple[float, float], end: tuple[float, float], colour: str, extra: str = "") -> str:
    (x1, y1), (x2, y2) = start, end
    return f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{colour}' {extra}/>"


def _text(x: float, y: float, words: str, colour: str, anchor: str = "start", extra: str = "") -> str:
    drawn = escape(_NO_SIGNS.sub("\N{REPLACEMENT CHARACTER}", words[:MOST_SIGNS]))
    return f"<text x='{x:.1f}' y='{y:.1f}' fill='{colour}' text-anchor='{anchor}' {extra}>{drawn}</text>"


def _end_s(drawn: Sequence[Curve]) -> float:
    return max((curve.speed[-1][0] for curve in drawn if curve.speed), default=0.0) or 1.0


def _alphas(runs: Sequence[Run]) -> dict[str, tuple[float, ...]]:
    """Kept ÷ judged at each draft position, over all answers of a kind."""
    judged: dict[str, list[int]] = {}
    kept: dict[str, list[int]] = {}
    for run in runs:
        if not run.judged or run.excluded:
            continue
        kind = way_words(run)
        for name, found in (("judged", judged), ("accepted", kept)):
            totals = found.setdefault(kind, [])
            for length, n in _lengths(run, name).items():
                totals += [0] * (length - len(totals))
                for position in range(length):
                    totals[position] += n
    return {
        kind: tuple(k / j for k, j in zip([*kept[kind], *[0] * len(at)], at, strict=False))
        for kind, at in judged.items()
    }


def _lengths(run: Run, name: str) -> dict[int, int]:
    """Count how many steps had each value of a column."""
    column = getattr(columns_of(run.steps), name)
    return {value: column.count(value) for value in set(column)}
