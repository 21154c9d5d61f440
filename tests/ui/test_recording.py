"""Recording a baseline, and the list of baselines."""

import asyncio
import json
import threading

import msgspec
import pytest
from PySide6.QtWidgets import QFileDialog

from app.errors import DecodeError, LoadError
from app.metrics.baseline import BaselineStore
from app.metrics.power import Power
from app.metrics.surroundings import Reading
from app.metrics.verdict import usable
from app.protocol import ChatMessage, Generate, Load
from app.ui.baselines import BaselineDialog
from app.ui.recording import DROPPED, INTERRUPTED, RecordingPlan, built_in_prompts, completion, own_prompts
from app.ui.standing import Standing
from tests.doubles import POEM, Answer
from tests.metrics.test_outlook import run_of
from tests.ui.conftest import shows_dialog

LONG = f"{POEM} {POEM} {POEM}"


def record(program, plan=None):
    program.controller.baselines.record(plan)


async def recorded(program):
    await program.until(lambda: not program.controller.baselines.is_recording)


def generated(program, engine=0):
    return [c for c in program.engines[engine].commands if isinstance(c, Generate)]


def test_a_baseline_is_recorded_by_turns_and_kept(program):
    program.answers = (Answer(text=LONG, pace_s=0.001),)

    async def story():
        panel = program.window.panel
        seen, states = [], set()
        panel.record_requested.emit()
        assert program.controller.answering.refusal()
        await program.until(panel.foot.cancel.isVisible)
        await program.until(
            lambda: states.add(panel.state) or seen.append(panel.foot.words.text()) or panel.foot.record.isVisible()
        )
        assert any(state.startswith("Speculation engaged: n-gram") for state in states), "as of any other answer"
        said = [words for words in seen if words.startswith("Recording answer")]
        assert any("plain" in words for words in said)
        assert any("with n-gram" in words for words in said)
        asked = generated(program)[2:]  # after a warm-up each way
        assert [bool(c.speculation.types) for c in asked] == [False, True] * 3 + [True, False] * 3
        assert panel.baseline_words == "Baseline 50.0 tok/s (50.0–50.0), 6 answers, recorded"
        assert panel.verdict.startswith("Speculation pays 2.")
        assert len(program.host.session.baselines.all()) == 1
        assert [run.excluded for run in program.host.session.runs[:3]] == [DROPPED, DROPPED, ""]

    program.run(story)

    async def again():
        assert "recorded" in program.window.panel.baseline_words, "a recorded baseline is found at the next start"

    program.run(again)


def test_a_baseline_with_a_draft_model_measures_the_target_alone_in_blocks(program):
    program.answers = (Answer(text=LONG),)

    async def story():
        program.controller.engine.pick_drafter("starter")
        await program.until(lambda: not program.controller.engine.is_loading)
        record(program, RecordingPlan(built_in_prompts(), "chat", n_rounds=2))
        await recorded(program)
        commands = [c for c in program.engines[0].commands if isinstance(c, Load | Generate)]
        kinds = [type(c).__name__ + ("+" if getattr(c, "draft", None) else "") for c in commands]
        block = ["Generate"] * 6
        drafted = ["Load+", "Generate", *block, *block]  # one round ends as the next begins
        alone = ["Load", "Generate", *block]
        assert kinds == ["Load", "Load+", *alone, *drafted, *alone, "Load+"]
        assert program.host.session.baseline.n_runs == 12

    program.run(story)


def test_recording_on_prompts_of_ones_own_under_a_name(program):
    program.answers = (Answer(text=LONG),)
    asked = tuple(ChatMessage("user", f"Question number {n}?") for n in range(3))

    async def story():
        record(program, RecordingPlan(own_prompts(asked), "own questions", n_rounds=2, name="quiet evening"))
        await recorded(program)
        baseline = program.host.session.baseline
        assert (baseline.name, baseline.prompt_set, baseline.n_runs) == ("quiet evening", "own questions", 6)
        assert {sample.prompt for sample in baseline.samples} == {"question 1", "question 2", "question 3"}
        assert generated(program)[2].messages == asked[:1]

    program.run(story)


def test_answers_count_for_the_verdict_though_they_make_no_baseline(program):
    program.answers = (Answer(text=LONG),)
    asked = own_prompts([ChatMessage("user", f"Question {n}?") for n in range(3)])

    async def story():
        record(program, RecordingPlan(asked, "own questions"))
        await recorded(program)
        said = program.window.panel.foot.words.text()
        assert said.startswith("Recorded, without a baseline; the answers count for the verdict. A baseline needs 6 ")
        assert "there are 3. Record more prompts" in said
        assert "needs about 3 more pairs" in program.window.panel.verdict

    program.run(story)


def growing_plan(lengths):
    """Questions of one conversation whose answers end that far on in the context, and plain answers to them."""
    prompts = own_prompts([ChatMessage("user", f"Question {n}?") for n in range(len(lengths))])
    runs = [
        msgspec.structs.replace(run_of(f"p{n}", [None] * 40, context_bucket=length), prompt=prompts[n].name)
        for n, length in enumerate(lengths)
    ]
    return RecordingPlan(prompts, "own questions"), runs


@pytest.mark.parametrize(
    ("lengths", "again", "n_rounds"),
    [
        ((1024, 1024, 1024, 2048, 2048, 2048), ["question 4", "question 5", "question 6"], 2),
        ((1024, 1024, 2048, 2048, 2048, 4096), ["question 6"], 6),
        ((1024, 1024), ["question 1", "question 2"], 3),
    ],
)
def test_what_completes_a_recording_is_of_the_length_where_the_conversation_is(lengths, again, n_rounds):
    plan, runs = growing_plan(lengths)
    found = completion(plan, runs)
    assert ([prompt.name for prompt in found.prompts], found.n_rounds) == (again, n_rounds)
    assert completion(plan, [msgspec.structs.replace(run, tokens=3) for run in runs]) is None


def choose_another_way(program):
    program.controller.choices.change(draft_tokens=3)


def open_another_conversation(program):
    program.controller.chats.new()


def begin_another_session(program):
    program.window.panel.foot.session_requested.emit()


@pytest.mark.parametrize("change", [choose_another_way, open_another_conversation, begin_another_session])
@pytest.mark.parametrize("is_meanwhile", [False, True])
def test_a_recording_of_what_was_is_not_offered_to_be_completed(program, change, is_meanwhile):
    program.answers = (Answer(text=LONG),)
    asked = own_prompts([ChatMessage("user", f"Question {n}?") for n in range(3)])

    async def story():
        panel = program.window.panel
        record(program, RecordingPlan(asked, "own questions"))
        if is_meanwhile:
            await program.until(panel.foot.cancel.isVisible)
            change(program)
        await recorded(program)
        if not is_meanwhile:
            assert panel.foot.again.isVisible()
            program.controller.choices.change(speculation=False)  # the recording is by turns all the same
            assert panel.foot.again.isVisible()
            change(program)
            assert panel.foot.words.text() == ""
        assert not panel.foot.again.isVisible()
        program.controller.baselines.complete()
        assert not program.controller.baselines.is_recording

    program.run(story)


def test_a_recording_that_makes_no_baseline_is_completed_by_one_click(program):
    program.answers = (Answer(text=LONG),)
    asked = own_prompts([ChatMessage("user", f"Question {n}?") for n in range(3)])

    async def story():
        foot = program.window.panel.foot
        record(program, RecordingPlan(asked, "own questions"))
        await recorded(program)
        assert program.host.session.baseline is None
        assert (foot.again.isVisible(), foot.again.text()) == (True, "Record 12 more answers for a baseline")
        await program.until(foot.again.isEnabled)
        foot.again.click()
        await program.until(foot.cancel.isVisible)
        assert not foot.again.isVisible()
        begin_another_session(program)
        assert foot.cancel.isVisible()
        await recorded(program)
        baseline = program.host.session.baseline
        assert (baseline.prompt_set, baseline.n_runs) == ("own questions", 6)
        assert not foot.again.isVisible()

    program.run(story)


def test_more_pairs_are_recorded_on_the_built_in_prompts_and_the_next_recording_is_as_ever(program):
    program.answers = (Answer(text=LONG),)

    async def story():
        panel = program.window.panel
        panel.show_standing(Standing("Cannot tell yet", "", "", "record more", 12))
        assert panel.offer == "Record 12 more pairs of answers"
        panel._offer.click()
        await program.until(lambda: program.controller.baselines.is_recording)
        await recorded(program)
        comparison = program.host.session.comparisons()[-1]
        assert comparison.n_pairs == 12, "two rounds of six"
        panel.record_requested.emit()
        await recorded(program)
        assert program.host.session.comparisons()[-1].n_pairs == 18

    program.run(story)


def test_own_prompts_are_the_newest_questions_with_what_was_said_before():
    talk = [ChatMessage("user" if n % 2 == 0 else "assistant", f"said {n}") for n in range(40)]
    prompts = own_prompts(talk)

    assert len(prompts) == 12
    assert prompts[-1].messages == tuple(talk[:39])


def test_recording_can_be_cancelled_and_its_answers_count_nowhere(program):
    program.answers = (Answer(text=LONG, pace_s=0.002),)

    async def story():
        panel = program.window.panel
        panel.record_requested.emit()
        await program.until(lambda: "Recording answer 4" in panel.foot.words.text())
        program.send("now?")
        assert "being recorded" in program.window.notice.words
        assert program.window.composer.text == "now?"
        panel.cancel_requested.emit()
        await program.until(panel.foot.record.isVisible)
        assert panel.foot.words.text() == "The recording was cancelled. Its answers count nowhere."
        session = program.host.session
        assert session.baseline is None
        whole = [run for run in session.runs if run.stop_reason == "eos" and run.excluded != DROPPED]
        assert len(whole) >= 3
        assert {run.excluded for run in whole} == {INTERRUPTED}
        assert not any(usable(run) for run in session.runs)
        assert session.live_baselines() == ()
        assert session.comparisons() == ()
        await program.until(lambda: program.host.state.phase == "idle")
        assert program.host.state.loaded is not None

    program.run(story)


def test_an_answer_that_was_at_its_end_when_the_recording_was_cancelled_counts_nowhere(program):
    program.answers = (Answer(text=LONG, pace_s=0.002),)

    async def story():
        panel = program.window.panel
        panel.record_requested.emit()
        await program.until(lambda: "Recording answer 2" in panel.foot.words.text())
        await program.until(lambda: len(generated(program)) > len(program.host.session.runs))  # words come before it
        program.engines[0].cancel = lambda _command_id: None  # it has said all of it by then
        n_before = len(program.host.session.runs)
        panel.cancel_requested.emit()
        await program.until(panel.foot.record.isVisible)
        await program.until(lambda: len(program.host.session.runs) > n_before)
        assert program.host.session.runs[-1].stop_reason == "eos"
        assert not any(usable(run) for run in program.host.session.runs)
        assert program.host.session.live_baselines() == ()

    program.run(story)


def test_escape_stops_a_recording_as_the_words_below_say(program):
    program.answers = (Answer(text=LONG, pace_s=0.002),)

    async def story():
        record(program)
        await program.until(lambda: "Recording answer 2" in program.window.panel.foot.words.text())
        await program.until(lambda: program.window.status == "Answering. Esc stops.")
        program.window.composer.stopped.emit()
        await recorded(program)
        assert "was cancelled" in program.window.panel.foot.words.text()

    program.run(story)


STAGES = ("Preparing", "Recording answer 1 of", "Recording answer 7 of", "Recording answer 12 of")


@pytest.mark.parametrize("n_times", [1, 2, 5])
@pytest.mark.parametrize("words", STAGES)
def test_however_and_whenever_it_is_cancelled_the_pair_comes_back_and_nothing_counts(program, words, n_times):
    program.answers = (Answer(text=LONG, pace_s=0.001),)
    program.engine_options = {"load_s": 0.02}

    async def story():
        program.controller.engine.pick_drafter("starter")
        await program.until(lambda: not program.controller.engine.is_loading)
        chosen, session = program.host.state.pair, program.host.session
        record(program)
        await program.until(lambda: words in program.window.panel.foot.words.text())
        for n in range(n_times):
            signal = program.window.composer.stopped if n % 2 else program.window.panel.cancel_requested
            signal.emit()
            await asyncio.sleep(0.004)
        await recorded(program)
        assert program.window.panel.foot.words.text() == "The recording was cancelled. Its answers count nowhere."
        await program.until(lambda: program.host.state.loaded is not None)  # the host goes back from half a load
        assert program.host.state.pair == chosen, "what was loaded is loaded again"
        assert program.host.state.loaded.draft is not None
        assert not any(usable(run) for run in session.runs)
        assert (session.baseline, session.comparisons(), session.baselines.all()) == (None, (), [])
        await program.ask("and now?")
        assert usable(session.runs[-1])

    program.run(story)


async def until_loaded_again(program, change):
    """Record two rounds, which end without the draft model; ``change`` the engine before that is loaded again."""
    program.controller.engine.pick_drafter("starter")
    await program.until(lambda: not program.controller.engine.is_loading)
    record(program, RecordingPlan(built_in_prompts()[:3], "three", n_rounds=2))
    await program.until(lambda: "Recording answer 12 of 12" in program.window.panel.foot.words.text())
    change(program.engines[0])


def is_in_use(program):
    """Check that the recording has left one baseline, which is in use."""
    session = program.host.session
    assert session.baseline.n_runs == 6
    assert session.baselines.all() == [session.baseline]


def test_what_was_recorded_is_kept_though_the_pair_cannot_be_loaded_again(program):
    program.answers = (Answer(text=LONG, pace_s=0.001),)

    async def story():
        fault = LoadError("The draft model is gone.", "Choose another.")
        await until_loaded_again(program, lambda engine: setattr(engine, "_load_fault", fault))
        await recorded(program)
        said = program.window.panel.foot.words.text()
        assert said.startswith("Recorded, and in use. Afterwards something failed: ")
        assert "The draft model is gone." in said
        is_in_use(program)

    program.run(story)


def test_a_cancel_while_the_pair_is_loaded_again_comes_too_late_to_take_anything_away(program):
    program.answers = (Answer(text=LONG, pace_s=0.001),)

    async def story():
        await until_loaded_again(program, lambda engine: setattr(engine, "_load_s", 0.3))
        commands = program.engines[0].commands
        await program.until(lambda: isinstance(commands[-1], Load) and commands[-1].draft)
        program.window.panel.cancel_requested.emit()
        await recorded(program)
        assert "cancelled" not in program.window.panel.foot.words.text()
        is_in_use(program)
        assert program.host.state.loaded.draft is not None

    program.run(story)


def test_closing_while_the_pair_is_loaded_again_keeps_what_was_recorded(program):
    program.answers = (Answer(text=LONG, pace_s=0.001),)

    async def story():
        await until_loaded_again(program, lambda engine: setattr(engine, "_load_s", 5.0))
        commands = program.engines[0].commands
        await program.until(lambda: isinstance(commands[-1], Load) and commands[-1].draft)

    program.run(story)
    assert [one.n_runs for one in BaselineStore().all()] == [6]


def test_an_engine_that_dies_in_the_plain_half_comes_back_with_the_draft_model(program):
    program.answers = (*[Answer(text=LONG)] * 3, Answer(text=LONG, die_at=20), Answer(text=LONG))

    async def story():
        program.controller.engine.pick_drafter("starter")
        await program.until(lambda: not program.controller.engine.is_loading)
        chosen = program.host.state.pair
        record(program)
        await recorded(program)
        assert program.host.state.pair.draft is None, "it was of the target alone"
        program.controller.engine.restart()
        await program.until(lambda: program.host.state.phase == "idle")
        assert program.host.state.pair == chosen
        assert not any(usable(run) for run in program.host.session.runs)

    program.run(story)


def test_an_engine_that_dies_during_a_recording_leaves_nothing_that_counts(program):
    program.answers = (*[Answer(text=LONG)] * 5, Answer(text=LONG, die_at=20))

    async def story():
        record(program)
        await recorded(program)
        assert "The recording failed." in program.window.panel.foot.words.text()
        runs = program.host.session.runs
        assert [run.stop_reason for run in runs] == ["eos"] * 5 + ["engine_died"]
        assert [run.excluded for run in runs[2:5]] == [INTERRUPTED] * 3
        assert not any(usable(run) for run in runs)
        assert program.host.session.baselines.all() == []

    program.run(story)


@pytest.mark.parametrize("with_draft", [False, True])
def test_closing_the_window_while_recording_marks_its_answers_and_loads_nothing_more(program, with_draft):
    program.answers = (Answer(text=LONG, pace_s=0.002),)
    loads = []

    async def story():
        if with_draft:
            program.controller.engine.pick_drafter("starter")
            await program.until(lambda: not program.controller.engine.is_loading)
        record(program)
        await program.until(lambda: "Recording answer 3" in program.window.panel.foot.words.text())
        loads.append(len([c for c in program.engines[0].commands if isinstance(c, Load)]))

    program.run(story)  # which closes the program after the story
    assert [len([c for c in program.engines[0].commands if isinstance(c, Load)])] == loads
    session = program.host.session
    asked = [run for run in session.runs if run.excluded != DROPPED]
    assert len(asked) >= 2
    assert not any(usable(run) for run in asked)
    assert {run.excluded for run in asked if run.stop_reason == "eos"} == {INTERRUPTED}
    assert session.baselines.all() == []
    assert program.controller.choices.settings.draft == ("starter" if with_draft else None), "what was chosen stays so"


def test_a_model_picked_while_recording_ends_it_and_stays(program):
    program.answers = (Answer(text=LONG, pace_s=0.002),)

    async def story():
        record(program)
        await program.until(lambda: "Recording answer 3" in program.window.panel.foot.words.text())
        program.controller.engine.pick_drafter("starter")
        await recorded(program)
        await program.until(lambda: not program.controller.engine.is_loading)
        assert "Another model was loaded meanwhile" in program.window.panel.foot.words.text()
        assert program.host.state.pair.draft == "starter"
        assert not any(usable(run) for run in program.host.session.runs)

    program.run(story)


def test_recording_that_fails_says_why(program):
    program.answers = (Answer(), Answer(fault=DecodeError("llama_decode failed.", "Try again.")))

    async def story():
        program.window.panel.record_requested.emit()
        await program.until(lambda: "failed" in program.window.panel.foot.words.text())
        assert "llama_decode failed. Try again." in program.window.panel.foot.words.text()

    program.run(story)


def test_the_built_in_prompts_are_enough_for_a_baseline():
    prompts = built_in_prompts()
    assert len(prompts) == len({prompt.name for prompt in prompts}) == 6
    assert all(prompt.messages[-1].content.strip() for prompt in prompts)


class Restless:
    """A machine on which something else is always running, now on battery."""

    def __init__(self):
        self._at_s = 0.0

    def read(self):
        self._at_s += 10.0
        return Reading(self._at_s, self._at_s, 0.0, 2, on_battery=True, power_mode="balanced", hottest_c=95.0)


def test_what_else_went_on_is_noted_with_the_answers_and_the_baseline(program):
    program.answers = (Answer(text=LONG),)

    program.power.told = [Power(on_battery=True, power_mode="balanced")]

    async def story():
        program.controller.baselines._source = Restless()
        record(program)
        await recorded(program)
        baseline = program.host.session.baseline
        expected = ("other programs kept 50% of the processor busy", "on battery", "the processor was at 95 °C")
        assert baseline.notes == expected
        assert (baseline.power_mode, baseline.on_battery) == ("balanced", True)
        assert program.host.session.runs[-1].notes == expected
        assert "on battery" in program.window.panel.foot.words.text()
        assert BaselineStore().all() == [baseline]

    program.run(story)


def test_a_recording_drafts_as_the_switches_say(program):
    program.answers = (Answer(text=LONG),)

    async def story():
        program.controller.choices.change(exact=False, draft_tokens=5)
        record(program)
        await recorded(program)
        ways = {c.speculation for c in generated(program) if c.speculation.types}
        assert [(way.exact, way.draft_tokens) for way in ways] == [(False, 5)]

    program.run(story)


def test_unplugged_the_baseline_is_refused_and_one_click_records_another(program):
    program.answers = (Answer(text=LONG),)
    program.power.told = [Power(on_battery=False)]

    async def story():
        record(program)
        await recorded(program)
        panel = program.window.panel
        assert panel.verdict.startswith("Speculation pays")
        program.power.told = [Power(on_battery=True)]
        await program.ask("What is a slipstream?")
        assert panel.verdict == "Does speculation pay? Cannot tell yet (needs about 6 more pairs of answers)"
        assert "it ran on mains power, not on battery. Record one under the conditions of now." in panel.note
        assert panel.offer == "Record a baseline"
        panel._offer.click()
        await program.until(lambda: program.controller.baselines.is_recording)
        await recorded(program)
        assert panel.verdict.startswith("Speculation pays")
        assert "No verdict" not in panel.note
        assert [b.on_battery for b in BaselineStore().all()] == [True, False]
        dialog = BaselineDialog((), program.window)
        dialog.show_baselines(BaselineStore().all(), [(), ()], "")
        assert all(dialog._list.headerItem().toolTip(n) for n in range(dialog._list.columnCount()))
        ran_on = [dialog._list.topLevelItem(n).text(5) for n in range(2)]
        assert [words.rpartition(", ")[2] for words in ran_on] == ["battery", "mains power"]
        dialog.deleteLater()
        on_mains, on_battery = program.host.session.comparisons()
        assert (on_mains.n_pairs, on_battery.n_pairs) == (6, 6), "the earlier verdict stays as it was"

    program.run(story)


def test_a_fault_of_ours_ends_a_recording_in_words(program, expect_log):
    program.answers = (Answer(text=LONG),)

    class Broken:
        def read(self):
            raise RuntimeError("no sensors")

    async def story():
        program.controller.baselines._source = Broken()
        expect_log("recording failed")
        record(program)
        await recorded(program)
        foot = program.window.panel.foot
        assert "The recording failed. RuntimeError: no sensors" in foot.words.text()
        assert foot.record.isVisible()

    program.run(story)


@shows_dialog
def test_on_its_own_questions_a_baseline_of_this_length_is_offered(program):
    program.answers = (Answer(text=LONG),)

    async def story():
        record(program)
        await recorded(program)
        session, panel = program.host.session, program.window.panel
        session.begin_anew()
        session.baseline = msgspec.structs.replace(session.baseline, context_bucket=8192)
        await program.ask("What is a slipstream?")
        assert "its answers end within 8,192 tokens" in panel.note
        assert panel.offer == "Record on my own questions…"
        panel._offer.click()
        (dialog,) = program.window.findChildren(BaselineDialog)
        plan = dialog.plan()
        assert (plan.prompt_set, len(plan.prompts), plan.n_rounds) == ("own questions", 1, 6)
        assert dialog._length.text() == "1 prompt: 6 answers with speculation off, as many with it on, by turns."
        await program.until(dialog._record.isEnabled)
        dialog._record.click()
        await program.until(lambda: program.controller.baselines.is_recording)
        await recorded(program)
        assert program.host.session.baseline.prompt_set == "own questions"
        program.window.panel.foot.baselines_requested.emit()
        dialog = next(one for one in program.window.findChildren(BaselineDialog) if one.isVisible())
        assert dialog.plan().prompt_set == "chat, code, prose", "from the menu it opens as ever"
        dialog.reject()

    program.run(story)


@shows_dialog
def test_without_a_question_there_is_nothing_of_ones_own_to_record_on(program):
    async def story():
        program.window.panel.record_own_requested.emit()
        (dialog,) = program.window.findChildren(BaselineDialog)
        assert dialog._length.text().startswith("There is no question in this conversation yet.")
        dialog.reject()
        await program.until(lambda: not program.controller.baselines._tasks)

    program.run(story)


# --- the list -------------------------------------------------------------------------------------------------


async def opened(program):
    program.window.panel.foot.baselines_requested.emit()
    (dialog,) = program.window.findChildren(BaselineDialog)
    await program.until(dialog._about.text)  # what there is, is read beside the window
    return dialog


@shows_dialog
def test_baselines_are_listed_renamed_chosen_and_deleted(program):
    program.answers = (Answer(text=LONG),)

    async def story():
        record(program)
        await recorded(program)
        session = program.host.session
        (first,) = session.baselines.all()
        other = msgspec.structs.replace(first, id="other", name="eight threads", n_threads=8)
        session.baselines.save(other)
        dialog = await opened(program)
        await program.until(lambda: len(dialog.states()) == 2)
        assert dialog.states() == {
            "chat, code, prose": "in use; fits what is loaded",
            "eight threads": "stale: it ran with 8 threads, not with 2",
        }
        rows = {dialog._list.topLevelItem(n).text(0): dialog._list.topLevelItem(n) for n in range(2)}
        rows["chat, code, prose"].setText(0, "  monday ")
        await program.until(lambda: "monday" in dialog.states())
        assert {b.name for b in session.baselines.all()} == {"monday", "eight threads"}
        rows = {dialog._list.topLevelItem(n).text(0): dialog._list.topLevelItem(n) for n in range(2)}
        dialog._list.setCurrentItem(rows["eight threads"])
        dialog._use.click()
        assert session.baseline == other
        await program.until(lambda: dialog.states()["eight threads"].startswith("in use"))
        dialog._delete.click()
        await program.until(lambda: len(dialog.states()) == 1)
        assert session.baseline is None
        assert [b.name for b in session.baselines.all()] == ["monday"]
        dialog.reject()

    program.run(story)


@shows_dialog
def test_what_is_renamed_is_called_so_everywhere_and_what_is_deleted_is_a_half_of_nothing(program):
    program.answers = (Answer(text=LONG),)

    async def story():
        record(program)
        await recorded(program)
        session, panel = program.host.session, program.window.panel
        (first,) = session.baselines.all()
        other = msgspec.structs.replace(first, id="other", name="second")
        session.baselines.save(other)
        session.baseline = other
        session.begin_anew()
        dialog = await opened(program)
        await program.until(lambda: len(dialog.states()) == 2)
        rows = {dialog._list.topLevelItem(n).text(0): dialog._list.topLevelItem(n) for n in range(2)}
        rows["second"].setText(0, "tuesday")
        assert session.baseline.name == "tuesday"
        await program.until(lambda: "tuesday" in dialog.states())
        await program.ask("What is a slipstream?")
        assert session.comparisons()[0].n_pairs == 1
        # WHEN the one that is not shown is deleted, it is a half of nothing any more
        dialog.deleted.emit(first)
        await program.until(lambda: len(dialog.states()) == 1)
        assert session.baseline.id == "other"
        assert [one.id for one in session._taken_up] == ["other"]
        # AND what is gone does not come back under another name
        dialog.deleted.emit(other)
        dialog.renamed.emit(other, "again")
        await program.until(lambda: "is gone" in program.window.notice.words)
        assert session.baselines.all() == []
        assert session.comparisons()[0].n_pairs == 0
        assert panel.baseline_words.startswith("No baseline.")
        await program.until(lambda: not program.controller.baselines._tasks)
        dialog.reject()

    program.run(story)


class Held(BaselineStore):
    """A folder whose first look into it takes longer than its second."""

    def __init__(self):
        super().__init__()
        self.free, self.n_asked = threading.Event(), 0

    def all(self):
        found = super().all()
        self.n_asked += 1
        if self.n_asked == 1:
            assert self.free.wait(40)
        return found


@shows_dialog
def test_a_look_at_the_baselines_that_takes_long_does_not_bring_back_what_was_deleted_meanwhile(program):
    program.answers = (Answer(text=LONG),)

    async def story():
        record(program)
        await recorded(program)
        control, baselines, slow = program.controller.baselines, program.host.session.baselines, Held()
        await program.until(lambda: not control._tasks)
        program.host.session.baselines = slow
        program.window.panel.foot.baselines_requested.emit()
        (dialog,) = program.window.findChildren(BaselineDialog)
        await program.until(lambda: slow.n_asked)
        baselines.delete(baselines.all()[0])
        dialog.refresh_wanted.emit()
        await program.until(lambda: "No baseline has been recorded yet" in dialog._about.text())
        slow.free.set()
        await program.until(lambda: not control._tasks)
        assert dialog.states() == {}
        assert "No baseline has been recorded yet" in dialog._about.text()
        dialog.reject()

    program.run(story)


@shows_dialog
def test_the_dialog_records_what_is_chosen_in_it(program, tmp_path):
    program.answers = (Answer(text=LONG),)
    lines = [json.dumps({"name": f"mine {n}", "prompt": f"Say {n}."}) for n in range(2)]
    (tmp_path / "mine.jsonl").write_text("\n".join(lines))

    async def story():
        await program.ask("What is a slipstream?")
        dialog = await opened(program)
        assert "No baseline has been recorded yet" in dialog._about.text()
        offered = [dialog._sets.itemText(n) for n in range(dialog._sets.count())]
        assert "My 1 newest question in this conversation" in offered
        dialog._sets.setCurrentIndex(dialog._sets.count() - 1)
        dialog.on_set_chosen()
        (asking,) = dialog.findChildren(QFileDialog)
        asking.fileSelected.emit(str(tmp_path / "mine.jsonl"))
        asking.reject()
        assert "needs at least 6" in dialog._length.text()
        dialog._rounds.setValue(3)
        assert dialog._length.text() == "2 prompts: 6 answers with speculation off, as many with it on, by turns."
        dialog._name.setText("of a file")
        dialog._record.click()
        await program.until(lambda: program.host.session.baseline is not None)
        await recorded(program)
        assert program.host.session.baseline.name == "of a file"
        assert program.host.session.baseline.prompt_set == "mine"

    program.run(story)


@shows_dialog
def test_a_file_that_holds_no_prompts_is_said_in_the_dialog(program, tmp_path):
    (tmp_path / "bad.jsonl").write_text("no json")

    async def story():
        dialog = await opened(program)
        dialog.on_file_chosen(str(tmp_path / "bad.jsonl"))
        assert "bad.jsonl line 1" in dialog._length.text()
        assert not dialog._record.isEnabled()
        dialog.reject()

    program.run(story)


@pytest.mark.parametrize("name", ["", "   "])
def test_an_empty_name_is_not_taken(program, name):
    program.answers = (Answer(text=LONG),)

    async def story():
        record(program)
        await recorded(program)
        (baseline,) = program.host.session.baselines.all()
        dialog = BaselineDialog((), program.window)
        dialog.show_baselines([baseline], [()], "")
        heard = []
        dialog.renamed.connect(lambda *said: heard.append(said))
        dialog._list.topLevelItem(0).setText(0, name)
        assert not heard
        assert dialog._list.topLevelItem(0).text(0) == baseline.name
        dialog.deleteLater()

    program.run(story)
