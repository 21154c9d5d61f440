"""Whether speculation pays, in words: verdicts, refusals with their reasons, predictions, and what is offered next."""

import re

import pytest
from msgspec.structs import replace

from app.metrics.baseline import BaselineStore, record
from app.metrics.recorder import SessionLog
from app.metrics.values import Interval, Surroundings
from app.metrics.verdict import MIN_PAIRS
from app.protocol import Hello, Loaded, ModelInfo, Plan
from app.ui.figures import answer_title, comparison_words, exclusion, facts_of
from app.ui.standing import _what_helps, standing, verdict_words
from app.ui.wording import debt_words, pause_words, tip
from tests.metrics.test_outlook import MIXED, run_of

PLAIN = [None] * 40


@pytest.fixture
def session(tmp_path):
    """A session with a small file loaded as target."""
    path = tmp_path / "t.gguf"
    path.write_bytes(b"x" * 100)
    log = SessionLog(BaselineStore(tmp_path / "baselines"))
    target = ModelInfo(str(path), "t", 100, "llama", "Q4_0", 1, 1, 1, 1, has_chat_template=True)
    log.set_loaded(Hello(1, "0", "0", "c", ""), Loaded(1, target, None, 4096, 2, "CPU", ("ngram",), {}, 0.1))
    return log


def add(session, n, drafted):
    """Add pairs of answers; they differ a little, as no machine is steady."""
    for i in range(n):
        session.add(run_of(f"p{i}", [None] * (40 + i)))
        session.add(run_of(f"d{i}", drafted + [4] * (i % 3)))


def test_nothing_measured(session):
    said = standing(session, is_on=True)
    assert said.verdict == "Does speculation pay? Not measured yet."
    assert said.baseline.startswith("No baseline.")
    assert said.offer == ""


def test_it_pays(session):
    add(session, 8, [4, 4, 3] * 12)
    said = standing(session, is_on=True)
    comparison = session.comparisons()[-1]
    assert comparison.verdict == "pays"
    assert said.verdict == f"Speculation {comparison.sentence}"
    assert said.verdict.startswith(f"Speculation pays {comparison.speedup.median:.2f}× ({comparison.speedup.low:.2f}–")
    assert said.note.startswith("Predicted ")
    assert re.search(r"last answer measured \d\.\d\d× \(\d\.\d\d–\d\.\d\d\)", said.note)
    assert said.offer == ""


def test_it_costs_and_can_be_switched_off(session):
    add(session, 8, [0, 0, 1] * 14)
    said = standing(session, is_on=True)
    assert said.verdict.startswith("Speculation costs ")
    assert said.offer == "switch off"
    assert standing(session, is_on=False).offer == "", "it is off already"


def test_it_cannot_tell_yet_and_a_baseline_would_help(session):
    add(session, 2, MIXED)
    said = standing(session, is_on=True)
    assert said.verdict == "Does speculation pay? Cannot tell yet (needs about 4 more pairs of answers)"
    assert said.offer == "record"
    session.baseline = baseline_of(session)
    assert standing(session, is_on=True).offer == ""


@pytest.mark.parametrize(
    ("band", "needed", "words"),
    [
        ((1.0, 0.98, 1.03), None, "Cannot tell: 0.98–1.03×, as good as no difference"),
        ((1.1, 0.2, 6.3), None, "Cannot tell: 0.20–6.30× (needs over 400 more pairs of answers)"),
        ((1.1, 0.2, 63.0), None, "Cannot tell: 0.20 to over 10× (needs over 400 more pairs of answers)"),
        ((1.1, 0.95, 1.3), 1, "Cannot tell yet: 0.95–1.30× (needs about 1 more pair of answers)"),
    ],
)
def test_how_far_it_is_from_telling(session, band, needed, words):
    add(session, 8, [4, 4, 3] * 12)
    said = replace(session.comparisons()[-1], verdict="cannot tell", speedup=Interval(*band), pairs_needed=needed)
    assert verdict_words(said) == f"Does speculation pay? {words}"


def told(session, **changes):
    """What is said where the newest comparison is that, with all of its answers paired."""
    newest = session.runs[-1]
    return _what_helps(newest, replace(session.comparison_of(newest), verdict="cannot tell", **changes))


def test_what_would_decide_is_said_and_offered(session):
    add(session, 8, [4, 4, 3] * 12)
    words, offer, n_more = told(session, speedup=Interval(1.1, 0.9, 1.3), pairs_needed=13)
    assert words.startswith("A recording makes them: the built-in prompts")
    assert (offer, n_more) == ("record more", 18)
    words, offer, n_more = told(session, speedup=Interval(1.03, 0.97, 1.1), pairs_needed=None, drift=0.05)
    assert words.startswith("A recording makes pairs of this session")
    assert (offer, n_more) == ("record more", MIN_PAIRS)
    words, offer, _ = told(session, speedup=Interval(1.0, 0.98, 1.03), pairs_needed=None)
    assert "Other drafts may, or other prompts" in words
    assert offer == "compare drafts"
    words, offer, _ = told(session, speedup=Interval(1.1, 0.2, 6.3), pairs_needed=None)
    assert words.startswith("These answers differ too much from one another. Longer answers vary less")
    assert offer == ""
    assert told(session, speedup=None, n_pairs=2, pairs_needed=4) == ("", "", 0)


def test_what_would_decide_far_on_in_a_conversation_is_of_that_length(session):
    at(session, 3000, "d", MIXED)
    words, offer, _ = told(session, speedup=Interval(1.1, 0.9, 1.3), pairs_needed=13)
    assert words == "A recording on your questions in this conversation makes them, at this length."
    assert offer == "record here"


def test_with_everything_paired_and_nothing_decided_a_recording_is_offered(session):
    """A baseline is in use, and each of its answers is a half: nothing else is to be had from what is there."""
    for n in range(6):
        session.add(run_of(f"p{n}", [None] * (40 + n)))
    session.take_up(record(session.runs, prompt_set="x"))
    for n in range(6):
        session.add(run_of(f"d{n}", [0, 1, 0, 0, 2] * 8 if n % 2 else MIXED))
    said = standing(session, is_on=True)
    assert re.search(r"needs about \d+ more pairs", said.verdict)
    assert "A recording makes them" in said.note
    assert said.offer == "record more"
    assert 0 <= said.n_more - session.comparisons()[-1].pairs_needed < 6


def test_against_an_earlier_session_more_pairs_of_the_kind_do_not_help(session):
    add(session, 8, [4, 4, 3] * 12)
    said = replace(session.comparisons()[-1], verdict="cannot tell", pairs_needed=None, drift=0.05)
    said = replace(said, speedup=Interval(1.03, 0.97, 1.1))
    assert verdict_words(said) == (
        "Does speculation pay? Cannot tell: 0.97–1.10× against an earlier session (answer with it off, too)"
    )


def test_unlike_answers_are_refused_with_the_reason(session):
    session.add(run_of("p", PLAIN))
    loaded = session._loaded
    session.set_loaded(session._hello, replace(loaded, n_threads=4))
    session.add(run_of("d", MIXED))
    said = standing(session, is_on=True)
    assert "Cannot tell yet" in said.verdict
    assert "No verdict against the last plain answer: it ran with 2 threads, not with 4." in said.note


def test_a_baseline_of_other_conditions_is_refused_with_the_reason(session):
    session.add(run_of("p", PLAIN))
    plain = [replace(run_of(f"b{n}", PLAIN), conditions=session.runs[0].conditions) for n in range(6)]
    session.baselines.save(record(plain, prompt_set="x", name="Monday")[0])
    session.begin_anew()
    session.baseline = None
    session.set_loaded(session._hello, replace(session._loaded, n_threads=4))
    session.add(run_of("d", MIXED))
    note = standing(session, is_on=True).note
    assert "No verdict against the baseline “Monday”: it ran with 2 threads, not with 4. Record one under" in note


def on(session, run, **conditions):
    """Give an answer other conditions than those of what is loaded: add() would know them by its surroundings."""
    session.add(replace(run, surroundings=Surroundings(**conditions)))


def baseline_of(session, name="Monday", **changes):
    conditions = session.conditions(run_of("b", PLAIN))
    plain = [replace(run_of(f"{name}{n}", PLAIN), conditions=replace(conditions, **changes)) for n in range(6)]
    return record(plain, prompt_set="x", name=name)[0]


@pytest.mark.parametrize(
    ("recorded", "now", "reason"),
    [
        ({"on_battery": False}, {"on_battery": True}, "it ran on mains power, not on battery"),
        ({"on_battery": True}, {"on_battery": False}, "it ran on battery, not on mains power"),
        ({"power_mode": "balanced"}, {"power_mode": "low-power"}, "the power mode was balanced, not low-power"),
        ({"n_threads": 8}, {}, "it ran with 8 threads, not with 2"),
        ({"device": "GPU", "memory": "q8_0/q8_0"}, {}, "it ran on GPU, not on CPU; its conversation memory was q8_0"),
        ({"target_fingerprint": "g"}, {}, "it is of another file of the name t.gguf, with other contents"),
        ({"sampled": True}, {}, "one is sampled, the other greedy"),
    ],
)
def test_a_chosen_baseline_that_cannot_be_a_half_is_refused_and_a_new_one_is_offered(session, recorded, now, reason):
    session.baseline = baseline_of(session, **recorded)
    on(session, run_of("d", MIXED), **now)
    said = standing(session, is_on=True)
    assert said.verdict.startswith("Does speculation pay? Cannot tell yet")
    assert f"No verdict against the baseline “Monday”: {reason}" in said.note
    assert "Record one under the conditions of now." in said.note
    assert said.offer == "record"
    assert said.baseline.startswith("No baseline."), "its speed is no measure of anything here"


def test_a_chosen_baseline_that_does_not_fit_what_is_loaded_is_refused_before_the_first_answer(session):
    session.baseline = baseline_of(session, n_threads=8)
    said = standing(session, is_on=True)
    assert said.note.startswith("No verdict against the baseline “Monday”: it ran with 8 threads, not with 2.")
    assert (said.verdict, said.offer) == ("Does speculation pay? Not measured yet.", "record")


def test_a_chosen_baseline_of_another_length_is_refused_with_what_helps(session):
    session.baseline = baseline_of(session, context_bucket=8192)
    on(session, run_of("d", MIXED))
    said = standing(session, is_on=True)
    assert "its answers end within 8,192 tokens of context, not within 1,024" in said.note
    assert "Answer at this length with speculation off" in said.note
    assert said.offer == "record here", "the built-in prompts would be of another length again"
    session.add(run_of("p", PLAIN))
    assert "8,192" not in standing(session, is_on=True).note, "now there is something to hold it against"


def test_the_baseline_of_another_model_is_not_held_against_answers_of_the_one_before(session, tmp_path):
    add(session, 8, [4, 4, 3] * 12)
    other = tmp_path / "other.gguf"
    other.write_bytes(b"y" * 100)
    loaded = session._loaded
    session.set_loaded(session._hello, replace(loaded, target=replace(loaded.target, path=str(other))))
    session.baseline = baseline_of(session)
    said = standing(session, is_on=True)
    assert said.verdict.startswith("Speculation pays")
    assert "No verdict" not in said.note


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"target": "other.gguf"}, "it is of another target file (t.gguf, not other.gguf)"),
        ({"n_threads": 4}, "it ran with 2 threads, not with 4"),
        ({"draft": "small.gguf"}, "no draft model was in memory, and now small.gguf is"),
    ],
)
def test_a_verdict_of_what_is_not_loaded_any_more_says_so_and_offers_nothing(session, tmp_path, changes, reason):
    add(session, 8, [0, 0, 1] * 14)
    assert standing(session, is_on=True).offer == "switch off"
    loaded = session._loaded
    files = {
        name: replace(loaded.target, path=str(tmp_path / value))
        for name, value in changes.items()
        if name != "n_threads"
    }
    for model in files.values():
        (tmp_path / model.path).write_bytes(b"z" * 100)
    session.set_loaded(session._hello, replace(loaded, **{**changes, **files}))
    said = standing(session, is_on=True)
    assert said.verdict.startswith("Speculation costs")
    assert f"That was measured under other conditions than those of now: {reason}." in said.note
    assert said.offer == ""
    session.set_loaded(session._hello, loaded)
    said = standing(session, is_on=True)
    assert "other conditions" not in said.note
    assert said.offer == "switch off"


def test_what_cannot_be_told_of_a_model_that_is_gone_is_not_helped_by_recording(session, tmp_path):
    add(session, 2, MIXED)
    assert standing(session, is_on=True).offer == "record"
    other = tmp_path / "other.gguf"
    other.write_bytes(b"y" * 100)
    loaded = session._loaded
    session.set_loaded(session._hello, replace(loaded, target=replace(loaded.target, path=str(other))))
    said = standing(session, is_on=True)
    assert "Cannot tell yet" in said.verdict
    assert "That was measured under other conditions" in said.note
    assert said.offer == ""


def test_few_plain_answers_say_how_many_of_which_length_are_missing(session):
    add(session, 2, MIXED)
    assert standing(session, is_on=True).baseline.endswith(
        "2 answers, this session, speculation off (4 more within 1,024 tokens for a 95 % interval)"
    )
    add(session, 4, MIXED)
    assert standing(session, is_on=True).baseline.endswith("6 answers, this session, speculation off")


def at(session, n_ctx, name, drafted):
    """Add an answer that far on in the context."""
    run = run_of(name, drafted)
    session.add(replace(run, steps=[replace(step, n_ctx=n_ctx) for step in run.steps]))


ANSWER_HERE = "Answer at this length with speculation off, or record on your questions in this conversation."


@pytest.mark.parametrize("is_recorded", [True, False])
@pytest.mark.parametrize(("n_ctx", "needed"), [(20, 2), (1500, 6)])
def test_where_only_plain_answers_help_these_are_asked_for(session, is_recorded, n_ctx, needed):
    """However many more are drafted: each takes a plain one, and there are four at the first length."""
    for n in range(4 if not is_recorded else 6):
        at(session, 20, f"p{n}", PLAIN)
    if is_recorded:
        session.take_up(record(session.runs, prompt_set="x"))
        needed = 6 if n_ctx > 1000 else 0
    for n in range(20):
        at(session, n_ctx, f"d{n}", [0, 1, 0, 0, 2] * 8 if n % 2 else MIXED)
    said = standing(session, is_on=True)
    assert session.comparisons()[-1].verdict == "cannot tell"
    if needed:
        assert f"needs about {needed} more pairs of answers" in said.verdict
    assert ANSWER_HERE in said.note
    assert said.offer == "record here"
    for n in range(20):
        at(session, n_ctx, f"q{n}", PLAIN)
    assert ANSWER_HERE not in standing(session, is_on=True).note


def test_one_plain_answer_at_a_longer_length_does_not_end_the_asking(session):
    for n in range(6):
        at(session, 20, f"p{n}", PLAIN)
    session.take_up(record(session.runs, prompt_set="x"))
    at(session, 1500, "p", PLAIN)
    for n in range(20):
        at(session, 1500, f"d{n}", MIXED)
    said = standing(session, is_on=True)
    assert "needs about 5 more pairs" in said.verdict
    assert ANSWER_HERE in said.note
    assert said.offer == "record here"


def test_far_on_in_a_conversation_the_built_in_prompts_are_not_offered(session):
    at(session, 1500, "d", MIXED)
    assert standing(session, is_on=True).offer == "record here"
    session.begin_anew()
    at(session, 20, "d", MIXED)
    said = standing(session, is_on=True)
    assert said.offer == "record"
    assert ANSWER_HERE not in said.note


def test_what_is_missing_at_a_length_that_was_left_is_not_asked_for(session):
    for n in range(2):
        at(session, 20, f"p{n}", PLAIN)
    assert "(4 more within 1,024 tokens" in standing(session, is_on=True).baseline
    at(session, 3000, "d", MIXED)
    assert standing(session, is_on=True).baseline.endswith(
        "2 answers within 1,024 tokens of context, another length than the last answer, this session, speculation off"
    )


def test_a_baseline_of_another_length_is_said_to_be_one(session):
    for n in range(6):
        session.add(run_of(f"p{n}", PLAIN))
    at(session, 3000, "d", MIXED)
    assert standing(session, is_on=True).baseline.endswith(
        "6 answers within 1,024 tokens of context, another length than the last answer, this session, speculation off"
    )


@pytest.mark.parametrize(
    ("drafters", "has_draft", "has_heads"),
    [
        (("ngram", "draft-mtp"), False, True),
        (("ngram", "draft-simple", "draft-mtp"), True, True),
        (("ngram", "draft-mtp"), True, False),  # the draft file's heads: the target has none of its own made
        (("ngram", "draft-simple"), True, False),
    ],
)
def test_heads_of_the_target_are_in_memory_beside_a_draft_model_too(session, tmp_path, drafters, has_draft, has_heads):
    draft = replace(session._loaded.target, path=str(tmp_path / "small.gguf")) if has_draft else None
    session.set_loaded(session._hello, replace(session._loaded, drafters=drafters, draft=draft))
    assert session.conditions(run_of("p", PLAIN)).mtp_heads == has_heads


def test_mtp_heads_in_memory_are_named(session):
    session.set_loaded(session._hello, replace(session._loaded, drafters=("ngram", "draft-mtp")))
    add(session, 6, MIXED)
    assert standing(session, is_on=True).baseline.endswith("speculation off, the target's MTP heads in memory")
    assert facts_of(session.runs[0])[0].value == "off, MTP heads in memory"
    assert record(session.runs[::2], prompt_set="x")[0].mtp_heads


def test_two_plain_answers_say_what_was_in_memory_of_one(session, tmp_path):
    session.add(run_of("a", PLAIN))
    small = tmp_path / "small.gguf"
    small.write_bytes(b"z" * 100)
    session.set_loaded(session._hello, replace(session._loaded, draft=replace(session._loaded.target, path=str(small))))
    session.add(run_of("b", PLAIN))
    said = comparison_words([(1, session.runs[0]), (2, session.runs[1])])
    assert said.endswith("One pair is no verdict. Both are plain: no draft model was in memory, and now small.gguf is.")


def test_a_baseline_that_fits_is_refused_nowhere(session):
    session.baseline = baseline_of(session, on_battery=False)
    on(session, run_of("d", MIXED))
    said = standing(session, is_on=True)
    assert "No verdict" not in said.note
    assert said.offer == ""


def test_a_verdict_that_stands_keeps_its_word_beside_the_refusal(session):
    add(session, 8, [4, 4, 3] * 12)
    session.baseline = baseline_of(session, n_threads=8)
    said = standing(session, is_on=True)
    assert said.verdict.startswith("Speculation pays")
    assert "No verdict against the baseline “Monday”" in said.note
    assert said.offer == ""


def test_drafts_that_rounding_kept_short_are_said_to_be(session):
    facts = {fact.name: fact.value for fact in facts_of(replace(run_of("d", MIXED, length=5), n_exact=2))}
    assert facts["Drafting"] == "n-gram, length 5, kept to 2"
    facts = {fact.name: fact.value for fact in facts_of(replace(run_of("d", MIXED, length=2), n_exact=2))}
    assert facts["Drafting"] == "n-gram, length 2"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"on_battery": True, "power_mode": "balanced"}, "battery, balanced"),
        ({"on_battery": False}, "mains power"),
        ({"power_mode": "low-power"}, "low-power"),
        ({}, None),
    ],
)
def test_how_the_machine_was_powered_is_among_the_figures(told, words):
    facts = {fact.name: fact.value for fact in facts_of(replace(run_of("d", PLAIN), surroundings=Surroundings(**told)))}
    assert facts.get("Power") == words


def test_paging_is_among_the_figures(session):
    paged = replace(run_of("d", PLAIN), surroundings=Surroundings(n_major_faults=4000, resident_bytes=10**9))
    facts = {fact.name: fact for fact in facts_of(paged)}
    assert facts["Memory"].value == "memory paging: 4,000 page faults waited for the disk"
    assert facts["Memory"].meaning
    assert "Memory" not in {fact.name for fact in facts_of(run_of("d", PLAIN))}


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"stop_reason": "engine_died"}, "the engine died during it"),
        ({"stop_reason": "cancelled"}, "it was stopped"),
        ({"stop_reason": "failed"}, "it was broken off by a fault"),
        ({"tokens": 5}, "it has fewer than 16 tokens"),
        ({"engaged": False}, "speculation was not engaged"),
        ({"excluded": "the clock went backwards"}, "the clock went backwards"),
    ],
)
def test_what_counts_in_no_verdict_is_said(session, changed, why):
    session.add(replace(run_of("d", MIXED), **changed))
    assert exclusion(session.runs[0]).endswith(why)
    said = standing(session, is_on=True)
    assert f"The last answer is left out: {why}." in said.note
    assert said.verdict == "Does speculation pay? Not measured yet."


def test_two_answers_are_held_against_each_other_under_like_conditions_only():
    a, b = run_of("a", PLAIN), run_of("b", MIXED)
    ratio = b.decode_tps / a.decode_tps
    assert comparison_words([(1, a), (2, b)]) == f"Answer 2 against 1: {ratio:.2f}× as fast. One pair is no verdict."
    other = run_of("c", MIXED, n_threads=8)
    assert comparison_words([(1, a), (3, other)]) == (
        "Answer 3 against 1: no comparison under unlike conditions: it ran with 8 threads, not with 2."
    )
    assert comparison_words([(1, a)]) == ""
    assert "answer 2 is left out: it was stopped" in comparison_words(
        [(1, a), (2, replace(b, stop_reason="cancelled"))]
    )


def test_figures_are_those_of_the_run_and_explained():
    run = run_of("b", MIXED)
    facts = {fact.name: fact for fact in facts_of(run)}
    assert facts["Acceptance"].value == f"{run.accepted}/{run.proposed} ({run.acceptance:.1%})"
    assert facts["Alpha, per token"].value == f"{run.alpha:.2f} ({run.accepted}/{run.judged})"
    assert all(fact.meaning for fact in facts.values())
    assert answer_title(run, 7) == f"7 · n-gram · {run.decode_tps:.1f} tok/s · {run.acceptance:.0%}"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            "paused: expected 0.88x of plain speed",
            "drafting would cost about 12% now (expected 0.88× of plain speed)",
        ),
        (
            "paused: expected 1.01x of plain speed",
            "drafting would gain too little now (expected 1.01× of plain speed)",
        ),
        ("paused: it could not pay", "it could not pay"),
    ],
)
def test_a_pause_says_what_drafting_would_cost(reason, words):
    assert pause_words(reason) == words


def test_what_speculation_saved_so_far():
    assert debt_words(Plan("ngram", 4, 0.5, "", -1.24)) == "saved about 1.2 s of this answer so far"
    assert debt_words(Plan("ngram", 4, 0.5, "", 0.3)) == "cost about 0.3 s of this answer so far"
    assert debt_words(Plan("ngram", 4, 0.5, "", 0.01)) == debt_words(None) == ""


def test_tool_tips_are_broken_into_lines_and_hold_no_markup_of_others():
    assert tip("a < b\nc") == "<p>a &lt; b<br>c</p>"
    assert tip("") == ""
