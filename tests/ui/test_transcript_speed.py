"""The transcript's benchmark with small numbers, and its bars where others' work on the machine does not count."""

from __future__ import annotations

import pytest

from tests.benchmarks import transcript as bench
from tests.benchmarks.figures import Figure, end_by_targets, missed
from tests.benchmarks.hostile import HOSTILE

CPU_LIMIT_MS = 200.0
QUICK = ("100,000 nested quotes", "right-to-left overrides", "images", "large formulas, all alike", "large formulas")


@pytest.fixture(scope="module")
def window(qapp):
    qapp.setQuitOnLastWindowClosed(False)
    with bench.window_shown() as window:
        yield window


def test_a_long_conversation_opens_and_streams(window):
    opened = bench.opening_ms(window, bench.conversation(400))
    built = len(window.transcript.views)
    gaps, cost_ms = bench.stream(window, bench._ANSWER, 150, 300)
    assert opened < 5000
    assert built < 40
    assert len(gaps.ms) > 20
    assert max(gaps.cpu_ms) < CPU_LIMIT_MS
    assert cost_ms < 20


def least(measure, enough):
    """Return the least of up to three measurements: what others do makes some of them dearer, and none cheaper."""
    found = [measure()]
    while min(found) >= enough and len(found) < 3:
        found.append(measure())
    return min(found)


def test_appending_does_not_cost_more_the_longer_the_conversation(window):
    assert least(lambda: bench.thirds_ratio(bench.append_ms(window, 100)[10:], 20), 1.6) < 1.6
    assert len(window.transcript.views) < 60


def test_tokens_of_a_long_answer_do_not_cost_more_the_longer_it_is(window):
    def ratio():
        window.transcript.clear()
        return bench.thirds_ratio(bench.token_costs_ms(window, bench.long_answer(2000, 200), 1500)[4:], 40)

    assert least(ratio, 2.5) < 2.5


@pytest.mark.parametrize("name", QUICK)
def test_hostile_answers_freeze_nothing(window, name):
    before_mb = bench.rss_mb()
    assert max(bench.hostile_gaps(window, HOSTILE[name]()).cpu_ms) < CPU_LIMIT_MS
    assert bench.rss_mb() - before_mb < 250


@pytest.mark.full
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in QUICK])
def test_all_hostile_answers_freeze_nothing(window, name):
    assert max(bench.hostile_gaps(window, HOSTILE[name]()).cpu_ms) < CPU_LIMIT_MS


def test_an_answer_of_formulas_streams_while_they_are_drawn(window):
    figures = {figure.name: figure.values[0] for figure in bench._formula_figures(window, 300, 300)}
    assert figures["formulas: gap, worst by the processor"] < CPU_LIMIT_MS
    assert figures["formulas, drawn after opening: gap, worst by the processor"] < CPU_LIMIT_MS
    assert figures["formulas: pictures kept"] > 0


@pytest.mark.timeout(120)
def test_the_whole_program_streams(qapp, home):
    qapp.setQuitOnLastWindowClosed(False)
    gaps, opened_ms, cost_ms = bench._in_program(bench.conversation(60), bench._ANSWER, 450, 300)
    assert opened_ms < 5000
    assert len(gaps.ms) > 50
    assert cost_ms < 40


def test_a_missed_target_is_an_error(capsys):
    figures = [
        Figure("gap", (40.0,), "ms", "<= 33"),
        Figure("ratio", (1.0,), "", ">= 0.98"),
        Figure("cost", (9.0,), "ms"),
    ]
    assert missed(figures) == ["gap: 40 ms, target <= 33"]
    end_by_targets(figures[1:])
    with pytest.raises(SystemExit):
        end_by_targets(figures)
    assert "gap: 40 ms" in capsys.readouterr().err
