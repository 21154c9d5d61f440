"""The profiler's dialog in a real window, with a real host and a scripted engine."""

from __future__ import annotations

import asyncio
import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.metrics.profile import Candidate, row_of
from app.protocol import Generate, Load
from app.ui.profile_dialog import ProfileDialog, row_words
from app.ui.profiler import OWN, PROFILING, own_prompts
from tests.doubles import Answer
from tests.metrics.test_profile import wobbling
from tests.ui.conftest import shows_dialog

LONG = " ".join(["word"] * 40)
NGRAM_4 = Candidate(spec_type="ngram", draft_tokens=4)
SMALL_2 = Candidate(spec_type="draft-simple", draft_tokens=2, draft="small", memory_bytes=512_000_000)


@shows_dialog
def test_own_questions_are_profiled_and_one_click_adopts_the_best(program):
    program.answers = (Answer(LONG),)

    async def story():
        await program.ask("What is a slipstream?")
        profiler = program.controller.profiler
        program.window.panel.foot.profile_requested.emit()
        dialog = profiler.dialog
        assert dialog.source == OWN
        dialog.rounds.setValue(1)
        dialog.start.click()
        assert not dialog.start.isVisible()
        await program.until(lambda: not profiler.is_running)
        assert dialog.table.rowCount() == 2
        assert dialog.advice.text()
        asked = [c for c in program.engines[0].commands if isinstance(c, Generate)][1:]
        assert {message.content for c in asked for message in c.messages} == {"What is a slipstream?"}
        # WHEN a row is chosen
        program.controller.choices.change(speculation=False)
        dialog.table.selectRow(1)
        dialog.adopt.click()
        chosen = program.controller.choices.settings
        assert chosen.speculation
        assert chosen.spec_types == ("ngram",)
        assert chosen.draft_tokens in ("auto", 8)
        assert profiler.dialog is None
        assert "From the next answer on" in program.window.notice.words

    program.run(story)


@shows_dialog
def test_cancel_keeps_what_was_measured_and_the_pair_is_loaded_again(program):
    program.answers = (Answer(LONG, pace_s=0.002),)

    async def story():
        profiler = program.controller.profiler
        profiler.open()
        profiler.start()
        await program.until(lambda: profiler.dialog.table.rowCount() > 0 and profiler._profiler._n_done > 2)
        QTest.keyClick(profiler.dialog, Qt.Key.Key_Escape)
        await program.until(lambda: not profiler.is_running)
        assert profiler.dialog is not None
        assert "Cancelled" in profiler.dialog.words.text()
        assert program.host.state.pair == program.controller.choices.pair()
        QTest.keyClick(profiler.dialog, Qt.Key.Key_Escape)
        assert profiler.dialog is None

    program.run(story)


async def with_the_target_alone(program):
    """Profile with a draft model chosen, until its target has been loaded alone."""
    program.controller.engine.pick_drafter("starter")
    await program.until(lambda: not program.controller.engine.is_loading)
    profiler = program.controller.profiler
    profiler.open()
    profiler.start()
    await program.until(lambda: profiler._profiler is not None and profiler._profiler._n_done > 0)
    assert program.host.state.pair.draft is None
    return profiler


@shows_dialog
@pytest.mark.parametrize("n_times", [1, 2, 4])
def test_who_cancels_in_a_hurry_gets_the_pair_back_all_the_same(program, n_times):
    program.answers = (Answer(LONG, pace_s=0.002),)
    program.engine_options = {"load_s": 0.02}

    async def story():
        profiler = await with_the_target_alone(program)
        for _ in range(n_times):
            profiler.cancel()
            await asyncio.sleep(0.005)
        await program.until(lambda: not profiler.is_running)
        assert program.host.state.pair == program.controller.choices.pair()
        assert program.host.state.loaded.draft is not None
        assert "Cancelled" in profiler.dialog.words.text()
        profiler.dialog.done(0)

    program.run(story)


@shows_dialog
def test_closing_the_program_in_a_profile_loads_nothing_more(program):
    program.answers = (Answer(LONG, pace_s=0.002),)
    loads = []

    async def story():
        await with_the_target_alone(program)
        loads.append(len([c for c in program.engines[0].commands if isinstance(c, Load)]))

    program.run(story)
    assert [len([c for c in program.engines[0].commands if isinstance(c, Load)])] == loads


@shows_dialog
def test_closing_the_program_ends_a_profile(program):
    program.answers = (Answer(LONG, pace_s=0.002),)

    async def story():
        profiler = program.controller.profiler
        profiler.open()
        profiler.start()
        await program.until(lambda: profiler._profiler is not None and profiler._profiler._n_done > 0)

    program.run(story)
    assert program.controller.profiler.dialog is None


@shows_dialog
def test_a_profile_and_a_recording_wait_for_each_other(program):
    program.answers = (Answer(LONG, pace_s=0.002),)

    async def story():
        controller = program.controller
        controller.baselines.record()
        await program.until(lambda: controller.baselines.is_recording)
        controller.profiler.open()
        assert controller.profiler.dialog is None
        assert "baseline is being recorded" in program.window.notice.words
        controller.baselines.cancel()
        await program.until(lambda: not controller.baselines.is_recording)
        controller.profiler.open()
        controller.profiler.start()
        controller.baselines.record()
        assert not controller.baselines.is_recording
        assert program.window.notice.words.startswith(PROFILING)
        assert controller.answering.refusal() == PROFILING
        await program.until(lambda: controller.profiler.is_running)

    program.run(story)


@pytest.mark.parametrize("kind", ["draft-mtp", "draft-simple"])
def test_a_drafter_with_a_file_is_loaded_when_it_is_adopted_and_drafts_alone(program, kind):
    async def story():
        chosen = Candidate(spec_type=kind, draft_tokens=3, draft="starter")
        program.controller.profiler.use_candidate(chosen)
        await program.until(lambda: not program.controller.engine.is_loading)
        loads = [c for c in program.engines[0].commands if isinstance(c, Load)]
        assert loads[-1].draft is not None
        assert len(loads) == 2
        assert program.host.state.pair.draft == "starter"
        asked = program.controller.choices.speculation()
        assert asked.types == (kind,), "n-gram was not part of what was measured"
        assert asked.draft_tokens == 3

    program.run(story)


@shows_dialog
def test_an_engine_that_dies_is_told_in_the_dialog(program):
    program.answers = (Answer(LONG), Answer(LONG, die_at=3))

    async def story():
        profiler = program.controller.profiler
        profiler.open()
        profiler.start()
        await program.until(lambda: not profiler.is_running)
        assert "broke off" in profiler.dialog.words.text()
        assert profiler.dialog.start.isVisible()

    program.run(story)


@shows_dialog
def test_results_and_training_data_are_written(program, tmp_path):
    program.answers = (Answer(LONG),)

    async def story():
        await program.ask("Why do trains draft?")
        profiler = program.controller.profiler
        profiler.open()
        profiler.dialog.rounds.setValue(1)
        profiler.start()
        await program.until(lambda: not profiler.is_running)
        for name in ("r.json", "r.csv"):
            profiler.write_result(str(tmp_path / name))
        profiler.write_training(str(tmp_path / "t.jsonl"))
        assert len(json.loads((tmp_path / "r.json").read_text())["rows"]) == 2
        assert len((tmp_path / "r.csv").read_text().splitlines()) == 3
        line = json.loads((tmp_path / "t.jsonl").read_text())
        assert line["messages"][0]["content"] == "Why do trains draft?"
        profiler.write_result(str(tmp_path / "r.csv" / "r.json"))
        assert "Cannot write" in profiler.dialog.words.text()

    program.run(story)


@shows_dialog
def test_while_an_answer_runs_it_says_so(program):
    program.answers = (Answer(LONG, pace_s=0.05),)

    async def story():
        program.send("Hello")
        await program.until(lambda: program.said)
        program.controller.profiler.open()
        assert program.controller.profiler.dialog is None
        assert "An answer is being written" in program.window.notice.words

    program.run(story)


@shows_dialog
def test_nothing_is_loaded_or_asked_by_opening(program):
    async def story():
        before = list(program.engines[0].commands)
        program.controller.profiler.open()
        assert program.engines[0].commands == before
        program.controller.profiler.dialog.dismiss.click()
        assert program.controller.profiler.dialog is None
        assert program.engines[0].commands == before

    program.run(story)


def test_own_prompts_are_first_questions_each_once(program):
    async def story():
        store = program.controller.store
        for text in ("One", "Two", "One", "  "):
            made = store.create(text)
            store.append(made.id, "user", text)
            store.append(made.id, "assistant", "Answer")
            store.append(made.id, "user", f"{text} again")
        prompts = own_prompts(store)
        assert sorted(prompt.messages[0].content for prompt in prompts) == ["One", "Two"]
        assert len(own_prompts(store, most=1)) == 1

    program.run(story)


@shows_dialog
def test_the_table_can_be_used_by_keyboard_and_is_named(qtbot, window):
    dialog = ProfileDialog(window)
    dialog.open()
    trials = [*wobbling(NGRAM_4, 0.9, 6), *wobbling(SMALL_2, 1.5, 6)]
    dialog.show_rows([row_of(SMALL_2, trials), row_of(NGRAM_4, trials)], best=0)
    assert dialog.adopt.isEnabled()
    with qtbot.waitSignal(dialog.adopt_requested) as told:
        dialog.table.setFocus()
        QTest.keyClick(dialog.table, Qt.Key.Key_Down)
        QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    assert told.args == [1]
    assert dialog.table.accessibleName()
    dialog.done(0)
    dialog.deleteLater()


def test_a_row_has_its_units_and_its_verdict():
    words = row_words(row_of(SMALL_2, wobbling(SMALL_2, 1.5, 6), dropped_after=2))
    assert words[0] == "draft model small, length 2"
    assert words[1].startswith("1.4") or words[1].startswith("1.5")
    assert "MB" in words[5]
    assert words[6] == "pays, 6 pairs, given up after round 2"
    assert row_words(row_of(SMALL_2, []))[1:3] == ("–", "–")
