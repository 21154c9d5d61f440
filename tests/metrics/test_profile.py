from __future__ import annotations

import csv
import math

import msgspec
import pytest

from app.errors import ExportError
from app.metrics import profile
from app.metrics.profile import Candidate, Profile, Trialled, row_of, time_to
from app.metrics.values import AppInfo, MachineInfo
from app.protocol import ChatMessage, Speculation, Step
from tests.metrics.sessions import plain_steps, run_of

NGRAM_4 = Candidate(spec_type="ngram", draft_tokens=4)
SMALL_2 = Candidate(spec_type="draft-simple", draft_tokens=2, draft="small", memory_bytes=500)
SMALL_8 = Candidate(spec_type="draft-simple", draft_tokens=8, draft="small", memory_bytes=500)


def drafted_steps(n_steps, tps, accepted, proposed=4):
    """Steps that keep so many of a draft each, at so many tokens a second over the whole answer (but the first)."""
    each = accepted + 1
    return [
        Step(0.1 + i * each / tps, each if i else 1, 4, proposed if i else 0, min(proposed, each) if i else 0,
             accepted if i else 0, 0.01, 0.1, 20 + i, "x")
        for i in range(n_steps)
    ]  # fmt: skip


def trial(candidate, speed, *, prompt="p", round_=0, plain_tps=10.0, accepted=2, **how):
    """An answer that is ``speed`` times as fast as the plain one of the same length."""
    speculative = drafted_steps(21, plain_tps * speed, accepted)
    n = sum(step.emitted for step in speculative)
    plain = plain_steps(n, plain_tps)
    return Trialled(
        candidate=candidate,
        prompt=prompt,
        round=round_,
        speculative=run_of(speculative, speculation=candidate.speculation, label=prompt),
        plain=run_of(plain, label=prompt),
        **how,
    )


def wobbling(candidate, speed, n, **how):
    return [trial(candidate, speed * (1 + 0.01 * (i % 3 - 1)), prompt=f"p{i}", **how) for i in range(n)]


def test_answers_of_unlike_length_are_timed_to_the_token_that_both_have():
    # GIVEN a speculative answer of 11 tokens and a plain one of 31 at 10 tokens a second
    speculative = run_of(drafted_steps(6, 20.0, 1), speculation=NGRAM_4.speculation)
    plain = run_of(plain_steps(31, 10.0))
    both = Trialled(candidate=NGRAM_4, prompt="p", round=0, speculative=speculative, plain=plain)
    # THEN the eleventh token is what is compared: at 0.1 + 10/10 s and at 0.1 + 5 · 2/20 s
    assert speculative.tokens == 11
    assert both.log_ratio == pytest.approx(math.log(1.1 / 0.6))


def test_time_to_a_token_inside_a_step_is_that_of_the_step():
    steps = drafted_steps(3, 10.0, 2)
    assert [time_to(steps, n) for n in (1, 2, 4, 5)] == [steps[0].t_s, steps[1].t_s, steps[1].t_s, steps[2].t_s]
    with pytest.raises(ValueError, match="7 tokens"):
        time_to(steps, 8)


@pytest.mark.parametrize("stop", ["cancelled", "failed"])
def test_an_answer_that_did_not_end_by_itself_is_no_evidence(stop):
    broken = run_of(plain_steps(30, 10.0), stop=stop)
    assert msgspec.structs.replace(trial(NGRAM_4, 2.0), plain=broken).log_ratio is None
    assert trial(NGRAM_4, 2.0).log_ratio > 0


def test_an_answer_without_a_drafter_is_no_evidence():
    off = run_of(plain_steps(63, 10.0))
    one = msgspec.structs.replace(trial(NGRAM_4, 2.0), speculative=off)
    assert one.log_ratio is None


def test_rows_are_ranked_by_answer_time_and_memory_decides_between_equals():
    cheap = Candidate(spec_type="draft-simple", draft_tokens=2, draft="tiny", memory_bytes=5)
    trials = [*wobbling(NGRAM_4, 0.9, 6), *wobbling(SMALL_2, 1.5, 6), *wobbling(cheap, 1.5, 6), trial(SMALL_8, 1.2)]
    rows = profile.ranked(row_of(c, trials) for c in (NGRAM_4, SMALL_8, SMALL_2, cheap))
    assert [row.candidate for row in rows] == [cheap, SMALL_2, SMALL_8, NGRAM_4]
    assert [row.verdict for row in rows] == ["pays", "pays", "cannot tell", "costs"]
    assert rows[0].speedup.low > 1.3


def test_what_is_surely_slower_than_the_best_or_than_plain_is_given_up_and_nothing_else():
    trials = [*wobbling(NGRAM_4, 1.2, 6), *wobbling(SMALL_2, 1.6, 6), *wobbling(SMALL_8, 1.59, 6)]
    rows = [row_of(c, trials) for c in (NGRAM_4, SMALL_2, SMALL_8)]
    assert profile.surely_slower(rows) == (NGRAM_4,)
    assert profile.surely_slower([row_of(NGRAM_4, wobbling(NGRAM_4, 0.8, 6))]) == (NGRAM_4,)
    assert profile.surely_slower([row_of(NGRAM_4, wobbling(NGRAM_4, 0.8, 5))]) == ()


def test_the_best_is_recommended_unless_measuring_it_again_says_otherwise():
    first = wobbling(SMALL_2, 1.6, 12)
    good = profile.ranked([row_of(SMALL_2, [*first, *wobbling(SMALL_2, 1.5, 6, is_repeat=True)])])
    assert profile.recommended(good) == SMALL_2
    assert good[0].confirmed.median == pytest.approx(1.48, abs=0.03)
    bad = profile.ranked([row_of(SMALL_2, [*wobbling(SMALL_2, 1.6, 40), *wobbling(SMALL_2, 0.97, 6, is_repeat=True)])])
    assert bad[0].verdict == "pays"
    assert profile.recommended(bad) is None
    assert profile.recommended([row_of(SMALL_2, wobbling(SMALL_2, 1.6, 5))]) is None


def test_low_acceptance_of_a_model_says_what_to_try():
    low = [row_of(SMALL_2, wobbling(SMALL_2, 1.3, 6, accepted=1))]
    high = [row_of(SMALL_2, wobbling(SMALL_2, 1.3, 6, accepted=3))]
    ngram = [row_of(NGRAM_4, wobbling(NGRAM_4, 1.3, 6, accepted=1))]
    assert low[0].acceptance == pytest.approx(0.25)
    assert "larger draft" in " ".join(profile.advice(low, {}))
    assert "larger draft" not in " ".join(profile.advice(high, {}))
    assert "larger draft" not in " ".join(profile.advice(ngram, {}))
    nearly = [msgspec.structs.replace(low[0], acceptance=0.54996)]
    assert "has an acceptance of 0.549, below 0.55" in " ".join(profile.advice(nearly, {}))


@pytest.mark.parametrize(
    ("trials", "words"),
    [
        (wobbling(SMALL_2, 1.5, 6), "Use draft model small, length 2"),
        (wobbling(SMALL_2, 0.8, 6), "Leave speculation off: every way"),
        (wobbling(SMALL_2, 1.5, 2), "Not decided"),
        (wobbling(SMALL_2, 0.9, 2), "Nothing was faster than plain"),
        ([], "Nothing can be said"),
    ],
)
def test_the_first_sentence_says_what_to_do(trials, words):
    assert words in profile.advice([row_of(SMALL_2, trials)], {})[0]


def test_a_draft_that_does_not_fit_is_named_with_the_reason():
    assert "big was not tried: Another vocabulary." in profile.advice([], {"big": "Another vocabulary."})


def a_profile(rows, trials):
    return Profile(
        app=AppInfo("1", "0.3.36", "abc"),
        machine=MachineInfo("Linux", "cpu", 2, 8 << 30, "CPU"),
        target=None,
        prompts=("p",),
        temperature=0.0,
        seed=1,
        max_tokens=64,
        n_rounds=3,
        rows=tuple(rows),
        unfit={},
        recommended=profile.recommended(rows),
        advice=profile.advice(rows, {}),
        trials=tuple(trials),
    )


def test_every_row_of_an_export_recomputes_from_its_own_trials(tmp_path):
    trials = [*wobbling(NGRAM_4, 0.9, 6), *wobbling(SMALL_2, 1.5, 7)]
    rows = profile.ranked(row_of(c, trials) for c in (NGRAM_4, SMALL_2))
    path = tmp_path / "profile.json"
    profile.write_profile(a_profile(rows, trials), path)
    read = msgspec.json.decode(path.read_bytes(), type=Profile)
    assert profile.ranked(row_of(row.candidate, read.trials) for row in read.rows) == read.rows == rows


def test_the_table_has_a_line_a_candidate_in_the_order_of_rank(tmp_path):
    trials = [*wobbling(NGRAM_4, 0.9, 6), *wobbling(SMALL_2, 1.5, 6)]
    rows = profile.ranked(row_of(c, trials) for c in (NGRAM_4, SMALL_2))
    path = tmp_path / "profile.csv"
    profile.write_profile(a_profile(rows, trials), path)
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["rank"], line["spec_type"], line["draft"]) for line in lines] == [
        ("1", "draft-simple", "small"),
        ("2", "ngram", ""),
    ]
    assert float(lines[0]["speedup_median"]) == rows[0].speedup.median
    assert lines[0]["confirmed_low"] == ""


def test_training_lines_hold_the_conversation_and_the_answer(tmp_path):
    asked = (ChatMessage("system", "Be brief."), ChatMessage("user", "Why?\nReally"))
    path = tmp_path / "training.jsonl"
    lines = [profile.training_line(asked, "Because\n…", "eos"), profile.training_line(asked, "Long", "length")]
    assert profile.write_training(lines, path) == 2
    read = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    assert read[0] == {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Why?\nReally"},
            {"role": "assistant", "content": "Because\n…"},
        ],
        "finish_reason": "stop",
    }
    assert read[1]["finish_reason"] == "length"


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError):
        profile.write_profile(a_profile([], []), tmp_path / "file" / "profile.json")


def test_a_candidate_asks_the_engine_for_itself():
    assert SMALL_8.speculation == Speculation(types=("draft-simple",), draft_tokens=8)
