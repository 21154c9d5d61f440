from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import pairwise

import msgspec
import pytest

from app.cli.answer_lines import profile_lines
from app.cli.bench_costs import positions_needed, rows_needed
from app.cli.bench_report import way_text
from app.cli.bench_rows import ALL, Summary, pass_costs
from app.cli.measure import Measured, Trial, identical_to_plain, interleave
from app.costs import CostsAt, DraftCost, RowCost
from app.metrics.prompts import load_prompts
from app.metrics.values import Surroundings
from app.protocol import Speculation, Step
from tests.metrics.sessions import NGRAM, OFF, plain_steps, run_of, session

TWO = Speculation(types=("ngram",), draft_tokens=2)


@pytest.mark.parametrize(("n_prompts", "n_ways", "repeat"), [(3, 2, 2), (4, 3, 3), (8, 2, 1), (2, 2, 3)])
def test_every_combination_comes_as_often_and_ways_alternate(n_prompts, n_ways, repeat):
    prompts = (*load_prompts("code"), *load_prompts("prose"))[:n_prompts]
    ways = (OFF, NGRAM, TWO)[:n_ways]
    trials = interleave(prompts, ways, repeat)

    counts = Counter((trial.prompt.name, trial.speculation) for trial in trials)
    assert set(counts.values()) == {repeat}
    assert len(counts) == n_prompts * n_ways
    assert all(a.prompt != b.prompt for a, b in pairwise(trials))
    changes = sum(a.speculation != b.speculation for a, b in pairwise(trials))
    assert changes / (len(trials) - 1) > 0.6


def test_every_other_round_goes_backwards_and_each_pair_begins_with_another_way():
    ways = (OFF, NGRAM, TWO)
    trials = interleave(load_prompts("code")[:1], ways, 4)
    rounds = [[t.speculation for t in trials if t.round == n] for n in range(4)]

    assert rounds[0] == [OFF, NGRAM, TWO]
    assert rounds[1] == [TWO, NGRAM, OFF]
    assert rounds[2] == [NGRAM, TWO, OFF]
    assert rounds[3] == [OFF, TWO, NGRAM]


def measured(name, way, steps, token_ids, *, round_=0, **how):
    prompt = next(prompt for prompt in load_prompts("code,json") if prompt.name == name)
    return Measured(Trial(prompt, way, round_), run_of(steps, speculation=way, label=name, **how), tuple(token_ids), "")


def test_identical_means_every_repetition_of_the_prompt():
    all_of_them = [
        measured("code-csv", NGRAM, plain_steps(20, 9.0), [1, 2, 3]),  # before the plain one that it is held against
        measured("code-csv", OFF, plain_steps(20, 9.0), [1, 2, 3]),
        measured("code-csv", NGRAM, plain_steps(20, 9.0), [1, 2, 3]),
        measured("code-sql", OFF, plain_steps(20, 9.0), [4, 5]),
        measured("code-sql", NGRAM, plain_steps(20, 9.0), [4, 5]),
        measured("code-sql", NGRAM, plain_steps(20, 9.0), [4, 6]),
    ]
    assert identical_to_plain(all_of_them) == {
        ("code-csv", NGRAM): True,
        ("code-csv", OFF): True,
        ("code-sql", OFF): True,
        ("code-sql", NGRAM): False,
    }


def test_plain_answers_that_differ_among_themselves_are_seen():
    twice = [measured("code-csv", OFF, plain_steps(20, 9.0), ids) for ids in ([1, 2], [1, 3])]
    assert identical_to_plain(twice) == {("code-csv", OFF): False}


def test_rows_hold_medians_over_complete_runs_and_counts_over_all_steps():
    steps = [Step(0.1, 1, 0, 0, 0, 0, 0.0, 0.0, 9, ""), Step(0.3, 3, 4, 4, 3, 2, 0.0, 0.1, 12, "ngram")]
    answers = [
        *(measured("code-csv", OFF, plain_steps(20, tps), [1]) for tps in (9.0, 10.0, 12.0)),
        measured("code-csv", OFF, plain_steps(20, 500.0), [1], stop="cancelled"),
        measured("code-csv", NGRAM, steps, [1]),
        measured("code-csv", NGRAM, steps, [1]),
    ]
    plain, fast = Summary(answers, (OFF, NGRAM)).rows()

    assert (plain.spec_type, plain.draft_tokens, plain.n_runs) == ("none", 0, 3)
    assert plain.decode_tps.median == pytest.approx(10.0)
    assert plain.acceptance is None
    assert (fast.spec_type, fast.draft_tokens, fast.n_runs) == ("ngram", 4, 2)
    assert (fast.acceptance, fast.alpha, fast.tokens_per_step) == (4 / 8, 4 / 6, 2.0)
    assert fast.decode_tps.median == pytest.approx(15.0)
    assert fast.answer_s.median == 0.3
    assert fast.identical_to_plain


def drafted_steps(tps, proposed=2, accepted=1, n=20, n_ctx=50):
    """Steps that each keep one of two draft tokens, at a decode speed."""
    emitted = accepted + 1
    judged = min(proposed, accepted + 1)
    took_s = emitted / tps
    first = Step(0.1, 1, 0, 0, 0, 0, 0.0, 0.0, n_ctx, "")
    return [
        first,
        *(
            Step(0.1 + i * took_s, emitted, 2, proposed, judged, accepted, 0.0, took_s, n_ctx, "ngram")
            for i in range(1, n)
        ),
    ]


def test_ratios_are_those_of_answers_of_one_round():
    answers = [
        *(measured("code-csv", OFF, plain_steps(20, tps), [1], round_=n) for n, tps in enumerate((10.0, 20.0, 40.0))),
        *(measured("code-csv", NGRAM, drafted_steps(tps), [1], round_=n) for n, tps in ((2, 40.0), (0, 15.0))),
        measured("code-csv", NGRAM, drafted_steps(90.0), [1], round_=1, stop="cancelled"),
    ]
    plain, fast = Summary(answers, (OFF, NGRAM)).rows()

    assert (plain.decode_ratio, plain.answer_ratio, plain.n_pairs) == (None, None, 0)
    assert fast.n_pairs == 2
    assert (fast.decode_ratio.low, fast.decode_ratio.high) == (pytest.approx(1.0), pytest.approx(1.5))
    # to the last token: 0.1 s and then 19 steps, of one token at 10 or 40 a second, of two at 15 or 40
    assert fast.answer_ratio.high == pytest.approx((0.1 + 19 / 10) / (0.1 + 38 / 15))
    assert fast.answer_ratio.low == pytest.approx((0.1 + 19 / 40) / (0.1 + 38 / 40))
    assert fast.alpha_by_position == (1.0, 0.0)


def test_sets_and_all_of_them():
    names = ("code-csv", "code-sql", "json-schema")
    answers = [measured(name, OFF, plain_steps(20, 10.0), [1]) for name in names]
    answers += [measured(name, NGRAM, drafted_steps(15.0), [1]) for name in names[:2]]
    answers += [measured(names[2], NGRAM, drafted_steps(20.0, accepted=2), [2])]
    sets = {(s.prompt_set, s.spec_type): s for s in Summary(answers, (OFF, NGRAM)).sets()}

    assert list(sets) == [(name, kind) for name in ("code", "json", ALL) for kind in ("none", "ngram")]
    assert [sets[name, "ngram"].n_prompts for name in ("code", "json", ALL)] == [2, 1, 3]
    assert [sets[name, "ngram"].n_pairs for name in ("code", "json", ALL)] == [2, 1, 3]
    assert [sets[name, "ngram"].identical_to_plain for name in ("code", "json", ALL)] == [True, False, False]
    assert sets[ALL, "ngram"].decode_ratio.median == pytest.approx(1.5)
    assert sets["json", "ngram"].alpha == 1.0


def costs_at(n_ctx, *rows_ms, token_ms=0.0):
    rows = tuple(RowCost(i, ms / 1e3, ms / 1e3, ms / 1e3, 1) for i, ms in enumerate(rows_ms, start=1))
    return CostsAt(n_ctx, rows, (DraftCost("ngram", token_ms / 1e3, 0.0),))


def test_prediction_stands_beside_what_was_measured():
    answers = [
        measured("code-csv", OFF, plain_steps(20, 10.0), [1]),
        measured("code-csv", TWO, drafted_steps(10.0), [1]),
    ]
    costs = (costs_at(0, 100.0, 105.0, 110.0), costs_at(2000, 100.0, 200.0, 300.0))
    row = Summary(answers, (OFF, TWO), costs).rows()[1]

    # alpha 1/2; 1.75 tokens in 1.1 plain passes. Measured: two tokens in 0.2 s against one in 0.1 s
    assert row.predicted.alpha == 0.5
    assert row.predicted.speedup == pytest.approx(1.75 / 1.1)
    assert row.decode_ratio.median == pytest.approx(1.0)
    assert row.cause == "target compute-bound at 3 rows (2.00 × one row here, 1.10 × on the cost curve)"
    assert Summary(answers, (OFF, TWO)).rows()[1].predicted is None


@pytest.mark.parametrize(("n_paged", "is_named"), [(1, False), (2, True), (3, True)])
def test_paging_is_the_cause_where_most_answers_were_paged(tmp_path, n_paged, is_named):
    log = session(tmp_path)
    answers = [measured("code-csv", OFF, plain_steps(20, 10.0), [1], round_=n) for n in range(3)]
    for n in range(3):
        one = measured("code-csv", TWO, drafted_steps(10.0), [1], round_=n)
        told = Surroundings(n_major_faults=4000 if n < n_paged else 0)
        run = msgspec.structs.replace(one.run, surroundings=told, conditions=log.conditions(one.run))
        answers.append(dataclasses.replace(one, run=run))
    row = Summary(answers, (OFF, TWO), (costs_at(0, 100.0, 105.0, 110.0),)).rows()[1]
    words = "memory paging: 4,000 page faults waited for the disk" if is_named else "target compute-bound at 3 rows"
    assert row.cause.startswith(words)


def test_alpha_of_the_prediction_is_that_of_all_prompts():
    answers = [measured(name, OFF, plain_steps(20, 10.0), [1]) for name in ("code-csv", "code-sql")]
    answers += [
        measured("code-csv", TWO, drafted_steps(27.0, accepted=2), [1]),
        measured("code-sql", TWO, drafted_steps(9.0, accepted=0), [1]),
    ]
    first, second = (
        row for row in Summary(answers, (OFF, TWO), (costs_at(0, 100.0, 105.0, 110.0),)).rows() if row.predicted
    )
    # 38 of 57 judged were kept
    assert first.predicted.alpha == second.predicted.alpha == pytest.approx(2 / 3)
    assert first.cause == "prompt unlike the sample (alpha 1.00 here, 0.67 over all prompts)"
    assert second.cause == "prompt unlike the sample (alpha 0.00 here, 0.67 over all prompts)"


def test_costs_are_those_nearest_and_of_who_drafted():
    costs = (costs_at(0, 10.0, 20.0), costs_at(100, 30.0, 40.0, token_ms=3.0))
    near = pass_costs(costs, drafted_steps(10.0, n_ctx=80))

    assert near.rows_s == {1: pytest.approx(0.03), 2: pytest.approx(0.04)}
    assert near.draft_token_s == pytest.approx(0.003)
    assert pass_costs(costs, drafted_steps(10.0, n_ctx=30)).rows_s[1] == pytest.approx(0.01)
    assert pass_costs((), drafted_steps(10.0)) is None
    assert pass_costs(costs, []) is None


def test_rows_that_are_timed():
    auto = Speculation(types=("ngram",), draft_tokens="auto")
    assert rows_needed((OFF,)) == ()
    assert rows_needed((OFF, TWO, NGRAM)) == (1, 3, 5)
    assert rows_needed((OFF, auto)) == (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16)
    assert rows_needed((), n_curve=4) == (1, 2, 3, 4)


def test_positions_are_few_and_one_is_near_each_prompt():
    assert positions_needed((120, 80, 150, 170, 400, 1600, 1700), 4000) == (80, 170, 400, 1600)
    assert positions_needed((9000,), 4000) == (4000,)
    assert positions_needed((), 4000) == ()


def test_profile_of_a_plain_answer():
    assert profile_lines(run_of(plain_steps(11, 10.0))) == [
        "prompt tokens: 20",
        "cached tokens: 5",
        "TTFT: 0.100 s",
        "prefill speed: 166.7 tok/s",
        "tokens: 11",
        "decode speed: 10.0 tok/s",
        "stop reason: length",
        "seed: 7",
    ]


def test_profile_of_a_speculative_answer_has_the_line_people_know():
    steps = [Step(0.1, 1, 0, 0, 0, 0, 0.0, 0.0, 9, ""), Step(0.3, 15, 31, 75, 15, 14, 0.0, 0.1, 24, "ngram")]
    lines = profile_lines(run_of(steps, speculation=NGRAM))

    assert "draft accept: 14/75 (18.7%)" in lines
    assert "speculation: ngram, up to 4 tokens" in lines


def test_profile_names_the_rule_that_chose_the_length():
    auto = Speculation(types=("ngram",), draft_tokens="auto")
    assert "speculation: ngram, length auto" in profile_lines(run_of(plain_steps(9, 9.0), speculation=auto))
    assert way_text(auto) == "ngram, length auto"
    assert way_text(NGRAM) == "ngram up to 4"


def test_profile_says_why_nothing_drafted():
    run = msgspec.structs.replace(
        run_of(plain_steps(9, 9.0), speculation=NGRAM), engaged=False, not_engaged="Too short."
    )

    assert "speculation: ngram not engaged, because: Too short." in profile_lines(run)
    assert not any(line.startswith("draft accept") for line in profile_lines(run))


def test_profile_says_what_did_not_take_part():
    run = msgspec.structs.replace(
        run_of(plain_steps(9, 9.0), speculation=NGRAM), not_engaged="draft-simple: No draft model is chosen."
    )

    lines = profile_lines(run)
    assert lines[lines.index("speculation: ngram, up to 4 tokens") + 1] == (
        "not engaged: draft-simple: No draft model is chosen."
    )
