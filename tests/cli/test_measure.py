from __future__ import annotations

from collections import Counter
from itertools import pairwise

import msgspec
import pytest

from app.cli.bench import rows, way_text
from app.cli.measure import Measured, Trial, identical_to_plain, interleave
from app.cli.profile import profile_lines
from app.metrics.prompts import load_prompts
from app.protocol import Speculation, Step
from tests.metrics.sessions import NGRAM, OFF, plain_steps, run_of

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


def measured(name, way, steps, token_ids, **how):
    prompt = next(prompt for prompt in load_prompts("code") if prompt.name == name)
    return Measured(Trial(prompt, way), run_of(steps, speculation=way, label=name, **how), tuple(token_ids), "")


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
    plain, fast = rows(answers, (OFF, NGRAM))

    assert (plain.spec_type, plain.draft_tokens, plain.n_runs) == ("none", 0, 3)
    assert plain.decode_tps.median == pytest.approx(10.0)
    assert plain.acceptance is None
    assert (fast.spec_type, fast.draft_tokens, fast.n_runs) == ("ngram", 4, 2)
    assert (fast.acceptance, fast.alpha, fast.tokens_per_step) == (4 / 8, 4 / 6, 2.0)
    assert fast.decode_tps.median == pytest.approx(15.0)
    assert fast.answer_s.median == 0.3
    assert fast.identical_to_plain


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

    assert "speculation: ngram not engaged: Too short." in profile_lines(run)
    assert not any(line.startswith("draft accept") for line in profile_lines(run))
