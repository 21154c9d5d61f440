"""The tables of ``bench``, for a terminal of 100 columns."""

from __future__ import annotations

import math
import os
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from app.cli.bench_rows import ALL, Bench, BenchRow, BenchSet, Figures
from app.cli.measure import is_off
from app.metrics.prediction import cannot_pay
from app.metrics.recorder import spec_name
from app.metrics.values import Interval
from app.metrics.verdict import MIN_PAIRS
from app.protocol import DraftTokens, Speculation, is_lossy_name

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

HEADINGS = ("drafted by", "tok/s", "×\nplain", "95 %", "pre-\ndicted", "×\nanswer", "alpha", "per\nstep", "same")
"""After the name of a prompt or set. × plain: decode speed; × answer: time to the whole answer."""

LONG_WAY = 18
"""Width of a way to draft from which the columns move together."""

MAX_DIFFERENCES = 10
"""Most rows of which is said why they are not as predicted; the JSON says it of all."""

MAX_RATIO_POSITIONS = 4
"""Positions of a cost curve for which there is room for a column of ratios."""

MAX_ALPHAS = 8

WIDTH = 100
"""Columns where nobody says how many there are: in a file or a pipe."""


def way_text(way: Speculation) -> str:
    """A way to draft in words."""
    return "plain" if is_off(way) else kind_text(spec_name(way), way.draft_tokens)


def kind_text(spec_type: str, length: DraftTokens) -> str:
    """A kind of drafting and its length in words."""
    return f"{spec_type}, length {length}" if isinstance(length, str) else f"{spec_type} up to {length}"


def show(result: Bench, *, n_curve: int = 0) -> None:
    """Print what a bench found, with a cost curve of up to ``n_curve`` rows."""
    from rich.console import Console

    told = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console(highlight=False, markup=False, width=None if told else WIDTH)
    if n_curve and result.costs:
        _show_costs(console, result, n_curve)
    if result.rows:
        _show_answers(console, result)


# --- answers ----------------------------------------------------------------------------------------


def _show_answers(console: Console, result: Bench) -> None:
    console.print(f"{_name(result)}, {_conditions(result)}\n")
    console.print(_table("prompt", result.rows))
    if any(figures.n_prompts > 1 for figures in result.sets):
        console.print()
        console.print(_table("set", result.sets))
    console.print()
    for line in _lines(result):
        console.print(textwrap.fill(line, console.width, subsequent_indent="    ", break_on_hyphens=False))


def _lines(result: Bench) -> list[str]:
    """Say what the tables have no room for."""
    whole = _whole(result)
    lines = bracket_words(figures.n_pairs for figures in (*result.rows, *result.sets))
    lines += [f"{kind_text(c.spec_type, c.draft_tokens)}: {c.words}" for c in result.comparisons]
    lines += [
        f"{_kind(figures)}: no verdict, it is lossy: lenient acceptance may change the answer"
        for figures in whole
        if is_lossy_name(figures.spec_type)
    ]
    lines += [
        f"{_kind(figures)}: cannot pay even if every draft token were kept: {why}"
        for figures in whole
        if figures.predicted is not None and (why := cannot_pay(figures.predicted))
    ]
    lines += _alphas(whole)
    lines += _differences(result)
    reasons = dict.fromkeys(row.not_engaged for row in result.rows if row.not_engaged)
    return lines + [f"not engaged: {reason}" for reason in reasons]


def _whole(result: Bench) -> list[BenchSet]:
    """The rows over all prompts, plain decoding apart."""
    names = {figures.prompt_set for figures in result.sets}
    return [s for s in result.sets if s.spec_type != "none" and (s.prompt_set == ALL or len(names) == 1)]


def _alphas(whole: Sequence[BenchSet]) -> list[str]:
    shown = [figures for figures in whole if len(figures.alpha_by_position) > 1]
    if not shown:
        return []
    width = max(len(_kind(figures)) for figures in shown)
    lines = ["", "Alpha by draft position:"]
    for figures in shown:
        values = "  ".join(f"{alpha:.2f}" for alpha in figures.alpha_by_position[:MAX_ALPHAS])
        more = "  …" if len(figures.alpha_by_position) > MAX_ALPHAS else ""
        lines.append(f"  {_kind(figures):<{width}}  {values}{more}")
    return lines


def _differences(result: Bench) -> list[str]:
    """Say why rows are not as predicted, those first that differ most."""
    told = []
    for row in (*result.rows, *(figures for figures in result.sets if figures.n_prompts > 1)):
        if row.cause and row.decode_ratio is not None and row.predicted is not None:
            ratio, predicted = row.decode_ratio.median, row.predicted.speedup
            words = f"  {_label(row)}, {_kind(row)}: {ratio:.2f} measured, {predicted:.2f} predicted: {row.cause}"
            told.append((abs(math.log(ratio / predicted)), words))
    if not told:
        return []
    told.sort(reverse=True)
    more = len(told) - MAX_DIFFERENCES
    rest = [f"  and {more} more; --json has them all"] if more > 0 else []
    return ["", "Where measured and predicted differ:", *(words for _, words in told[:MAX_DIFFERENCES]), *rest]


def _table(first: str, rows: Sequence[Figures]) -> Table:
    ways = [_way(row) for row in rows]
    table = _bare_table(gap=1 if max(map(len, ways)) > LONG_WAY else 2)
    for heading in (first, *HEADINGS):
        words = heading in (first, "drafted by", "95 %", "same")
        table.add_column(heading, justify="left" if words else "right", no_wrap=True, overflow="ellipsis")
    before = ""
    for row, way in zip(rows, ways, strict=True):
        name = _label(row)
        table.add_row(name if name != before else "", way, *_cells(row))
        before = name
    return table


def _bare_table(gap: int) -> Table:
    from rich.table import Table

    return Table(box=None, pad_edge=False, padding=(0, gap, 0, 0))


def _way(row: Figures) -> str:
    if row.spec_type == "none":
        return "plain"
    return f"{row.spec_type} {row.draft_tokens}" if row.engaged else "not engaged"


def _label(figures: Figures) -> str:
    return figures.prompt if isinstance(figures, BenchRow) else figures.prompt_set


def _kind(figures: Figures) -> str:
    return kind_text(figures.spec_type, figures.draft_tokens)


def _cells(row: Figures) -> list[str]:
    off = row.spec_type == "none"
    return [
        f"{row.decode_tps.median:.1f}" if row.decode_tps else "-",
        f"{row.decode_ratio.median:.2f}" if row.decode_ratio else "",
        band(row.decode_ratio, row.n_pairs),
        f"{row.predicted.speedup:.2f}" if row.predicted else "",
        f"{row.answer_ratio.median:.2f}" if row.answer_ratio else "",
        f"{row.alpha:.2f}" if row.alpha is not None else "",
        f"{row.tokens_per_step:.2f}" if row.tokens_per_step is not None else "-",
        "" if off else ("yes" if row.identical_to_plain else "NO"),
    ]


def band(ratio: Interval | None, n_pairs: int) -> str:
    """Write an interval; the mere range of fewer pairs than make one stands in brackets, that of one nowhere."""
    if ratio is None or n_pairs < 2:
        return ""
    words = f"{ratio.low:.2f}–{ratio.high:.2f}"
    return words if n_pairs >= MIN_PAIRS else f"({words})"


def bracket_words(n_pairs: Iterable[int]) -> list[str]:
    """Say what brackets mean, if any of these numbers of pairs put a range in some."""
    if not any(1 < n < MIN_PAIRS for n in n_pairs):
        return []
    return [f"In brackets: the range of fewer than {MIN_PAIRS} pairs, which is no 95 % interval yet."]


def _name(result: Bench) -> str:
    return f"{result.target.name} {result.target.quantisation}" if result.target else ""


def _conditions(result: Bench) -> str:
    runs = "1 run" if result.repeat == 1 else f"{result.repeat} runs"
    return f"temperature {result.temperature:g}, {result.max_tokens} tokens, {runs} each"


# --- costs ------------------------------------------------------------------------------------------


def _show_costs(console: Console, result: Bench, n_curve: int) -> None:
    """Print the curve: a column of times a position, and of what they are in plain passes if there is room."""
    costs = result.costs
    with_ratios = len(costs) <= MAX_RATIO_POSITIONS
    table = _bare_table(gap=2)
    table.add_column("rows", no_wrap=True)
    for at in costs:
        table.add_column(f"ms at {at.n_ctx:,}", justify="right", no_wrap=True)
        if with_ratios:
            table.add_column("× 1 row", justify="right", no_wrap=True)

    def add(label: str, seconds: Sequence[float | None]) -> None:
        cells = []
        for at, took_s in zip(costs, seconds, strict=True):
            cells.append("" if took_s is None else f"{took_s * 1e3:.{1 if took_s >= 1e-3 else 3}f}")
            if with_ratios:
                cells.append("" if took_s is None else f"{took_s / at.rows[0].median_s:.2f}")
        table.add_row(label, *cells)

    for i, row in enumerate(costs[0].rows):
        if row.n_rows <= n_curve:
            add(str(row.n_rows), [at.rows[i].median_s for at in costs])
    for name in dict.fromkeys(cost.drafter for at in costs for cost in at.drafters):
        times = [{cost.drafter: cost.token_s for cost in at.drafters} for at in costs]
        add(f"a token by {name}", [at.get(name) for at in times])
    console.print(f"{_name(result)}: what a pass of the target costs by its rows, median of {result.repeat}\n")
    console.print(table)
    console.print()
