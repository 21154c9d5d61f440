"""The profiler's schedule on a scripted engine: what is asked, in which order, and what is loaded afterwards."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import aclosing
from itertools import pairwise

import pytest

from app.host import PairChoice
from app.host.profiling import ProfilePlan, Profiler, drafts_to_try, within_one_rounding
from app.metrics.prompts import Prompt
from app.models.library import LibraryEntry
from app.protocol import ChatMessage, Generate, Load, Sampling, Speculation
from tests.doubles import Answer, ScriptedEngine
from tests.host.test_host import Bench, run

PAIR = PairChoice("starter")
PROMPTS = tuple(Prompt(f"p{i}", (ChatMessage("user", f"Question {i}"),)) for i in range(2))
LONG = " ".join(["word"] * 30)


def plan(**changes):
    fields = {
        "pair": PAIR,
        "prompts": PROMPTS,
        "sampling": Sampling(seed=1, temperature=0.0),
        "drafts": ("starter",),
        "lengths": (2,),
        "ngram_lengths": (4,),
        "rounds": 2,
        **changes,
    }
    return ProfilePlan(**fields)


def profiled(bench, wanted, *, stop_after=None):
    profiler = Profiler(bench.host, wanted, lambda _event: None)
    seen = []

    async def body():
        async with aclosing(profiler.run()) as steps:
            async for step in steps:
                seen.append(step)
                if stop_after is not None and len(seen) > stop_after:
                    return

    run(bench, body)
    return profiler, seen


def asked(bench):
    return [command for command in bench.sent(Generate) if command.max_tokens > 8]  # without the warm-up


def test_every_round_has_each_way_and_the_plain_answer_beside_it():
    bench = Bench(ScriptedEngine([Answer(LONG)]))
    profiler, seen = profiled(bench, plan())
    result = profiler.result()
    ways = Counter((trial.candidate.words, trial.round, trial.prompt) for trial in result.trials if not trial.is_repeat)
    assert set(ways.values()) == {1}
    assert len(ways) == 2 * 2 * 2
    assert all(trial.plain.spec_type == "none" and trial.plain.prompt == trial.prompt for trial in result.trials)
    assert len({trial.plain.id for trial in result.trials}) == 2 * 2 * 2 + 6
    assert [command.reuse_memory for command in asked(bench)] == [False] * len(asked(bench))
    assert seen[-1].fraction == 1.0
    assert all(a.fraction <= b.fraction for a, b in pairwise(seen))


def test_the_draft_model_is_loaded_once_a_round_and_the_pair_of_before_at_the_end():
    bench = Bench(ScriptedEngine([Answer(LONG)]))
    profiler, _ = profiled(bench, plan())
    drafts = [command.draft is not None for command in bench.sent(Load)]
    #          looking       round 1       round 2 (backwards)        again and the end, as need be
    assert drafts[:2] == [False, True]
    assert drafts[2:5] == [False, True, False]
    rounds = [[t.candidate.draft for t in profiler.result().trials if t.round == n and not t.is_repeat] for n in (0, 1)]
    assert [drafts[0] for drafts in rounds] == [None, "starter"]
    assert bench.host.state.pair == PAIR


def test_the_best_is_measured_again_and_told_apart():
    bench = Bench(ScriptedEngine([Answer(LONG)]))
    profiler, _ = profiled(bench, plan())
    repeats = [trial for trial in profiler.result().trials if trial.is_repeat]
    assert len(repeats) == 6
    assert len({trial.candidate for trial in repeats}) == 1


def test_plain_answers_become_training_data():
    bench = Bench(ScriptedEngine([Answer(LONG)]))
    profiler, _ = profiled(bench, plan())
    assert sorted(profiler.training) == ["p0", "p1"]
    line = profiler.training["p0"]
    assert line.messages[0] == ChatMessage("user", "Question 0")
    assert line.messages[1].role == "assistant"
    assert line.messages[1].content.startswith("word word")


def test_a_draft_that_cannot_be_loaded_is_named_and_the_rest_goes_on():
    bench = Bench(ScriptedEngine([Answer(LONG)]))
    profiler, _ = profiled(bench, plan(drafts=("missing-model", "starter"), rounds=1))
    result = profiler.result()
    assert "missing-model" in result.unfit
    assert {row.candidate.draft for row in result.rows} == {None, "starter"}
    assert any("missing-model was not tried" in words for words in result.advice)


def test_a_cancel_keeps_what_was_measured_and_loads_the_pair_again():
    bench = Bench(ScriptedEngine([Answer(LONG)]))
    with_draft = PairChoice("starter", draft="starter")
    profiler, seen = profiled(bench, plan(pair=with_draft), stop_after=6)
    assert len(seen) == 7
    assert len(profiler.result().trials) == 2
    assert bench.sent(Load)[-1].draft is not None


def test_the_ways_are_asked_as_candidates_say():
    bench = Bench(ScriptedEngine([Answer(LONG)]))
    profiled(bench, plan(rounds=1))
    assert {command.speculation for command in asked(bench)} == {
        Speculation(),
        Speculation(types=("ngram",), draft_tokens=4),
        Speculation(types=("draft-simple",), draft_tokens=2),
    }


@pytest.mark.parametrize(("sizes", "names"), [((100, 60, 10), ("m2", "m1")), ((100, 61, 100), ())])
def test_drafts_to_try_are_smaller_models_the_smallest_first(tmp_path, sizes, names):
    entries = [LibraryEntry(f"m{i}", tmp_path / f"m{i}", n, "llama", "Q4_0", "folder") for i, n in enumerate(sizes)]
    assert drafts_to_try(entries, entries[0]) == names


def test_nothing_is_left_running():
    bench = Bench(ScriptedEngine([Answer(LONG)]))
    profiled(bench, plan(rounds=1), stop_after=1)

    async def count():
        return len(asyncio.all_tasks())

    assert asyncio.run(count()) == 1


@pytest.mark.parametrize(
    ("n_rows_alike", "expected"),
    [(1, ("auto", 2, 4, 8)), (3, ("auto", 2)), (5, ("auto", 2, 4)), (8, ("auto", 2, 4, 7)), (32, ("auto", 2, 4, 8))],
)
def test_lengths_that_the_engine_would_cut_are_tried_once(n_rows_alike, expected):
    assert within_one_rounding(("auto", 2, 4, 8), n_rows_alike) == expected
