"""Choosing models and drafters, and the words for every state."""

import shutil
from contextlib import aclosing

from PySide6.QtWidgets import QFileDialog

from app.errors import LoadError
from app.paths import models_dir
from app.protocol import Engagement, Generate, Load, LoadProgress, Plan
from app.settings import Settings, load_settings, save_settings
from app.ui.pair_bar import HEADS, NGRAM, NO_DRAFTER
from app.ui.wording import plan_words
from tests.doubles import Answer, ScriptedEngine
from tests.ui.conftest import shows_dialog
from tests.ui.test_answering import stored


def loads(program):
    return [c for engine in program.engines for c in engine.commands if isinstance(c, Load)]


def asked(program):
    return [c for engine in program.engines for c in engine.commands if isinstance(c, Generate)]


def items(combo):
    return [combo.itemText(n) for n in range(combo.count()) if combo.itemText(n)]


def test_the_pickers_offer_what_there_is(program):
    async def story():
        bar = program.window.pair_bar
        assert items(bar._target) == ["starter", "Open a GGUF file…"]
        assert items(bar._drafter) == [
            "none",
            "n-gram",
            "draft model: starter",
            "Open a GGUF file…",
        ]
        assert bar._target.currentText() == "starter"
        assert "SmolLM2" in bar._target.toolTip()
        assert bar._device.text() == "CPU · 2 threads"
        assert bar.speculation_words == "ready: n-gram, length chosen by what pays"

    program.run(story)


def test_a_draft_model_is_loaded_with_the_target(program):
    async def story():
        program.controller.engine.pick_drafter("starter")
        await program.until(lambda: len(loads(program)) == 2 and not program.controller.engine.is_loading)
        assert loads(program)[1].draft == loads(program)[1].target
        assert program.window.pair_bar.speculation_words == "ready: n-gram + draft model, length chosen by what pays"
        await program.ask("go")
        assert "length chosen by what pays" in program.last_answer.status

    program.run(story)
    settings, _ = load_settings()
    assert (settings.draft, settings.spec_types) == ("starter", ("ngram", "draft-simple"))


def test_models_that_are_called_like_the_pickers_own_choices(program, tiny_pair):
    for name in ("none", "ngram", "heads", "open"):
        models_dir().mkdir(parents=True, exist_ok=True)
        shutil.copy(tiny_pair.draft, models_dir() / f"{name}.gguf")

    async def story():
        bar, control = program.window.pair_bar, program.controller.engine
        await program.until(lambda: bar._target.count() > 4)
        for n, name in enumerate(("none", "ngram", "heads", "open"), 2):
            bar._drafter.setCurrentIndex(bar._drafter.findText(f"draft model: {name}"))
            bar._drafter.activated.emit(bar._drafter.currentIndex())
            await program.until(lambda n=n: len(loads(program)) == n and not control.is_loading)
            assert loads(program)[-1].draft.endswith(f"{name}.gguf")
            assert program.controller.choices.drafter == name
            assert bar._drafter.currentText() == f"draft model: {name}"
        bar._target.setCurrentIndex(bar._target.findText("open"))
        bar._target.activated.emit(bar._target.currentIndex())
        await program.until(lambda: loads(program)[-1].target.endswith("open.gguf") and not control.is_loading)
        control.pick_drafter(HEADS)
        assert program.controller.choices.settings.draft is None

    program.run(story)


def test_changing_between_ngram_and_none_loads_nothing(program):
    async def story():
        program.controller.engine.pick_drafter(NO_DRAFTER)
        assert program.window.pair_bar.speculation_words == "not engaged: no drafter is chosen"
        program.controller.engine.pick_drafter(NGRAM)
        assert program.window.pair_bar.speculation_words == "ready: n-gram, length chosen by what pays"
        assert len(loads(program)) == 1

    program.run(story)


@shows_dialog
def test_a_file_that_is_no_model_is_said_and_the_old_model_stays(program, tmp_path):
    text = tmp_path / "notes.gguf"
    text.write_text("these are notes")

    async def story():
        program.window.pair_bar.open_target_requested.emit()
        (dialog,) = program.window.findChildren(QFileDialog)
        dialog.fileSelected.emit(str(text))
        dialog.reject()
        await program.until(lambda: not program.controller.engine.is_loading)
        assert "notes.gguf" in program.window.notice.words
        assert program.window.pair_bar._target.currentText() == "starter"
        await program.ask("still there?")

    program.run(story)
    assert load_settings()[0].target == "starter"
    assert len(stored(program)) == 2


def test_a_file_of_ones_own_is_loaded_and_remembered(program, tmp_path, tiny_pair):
    mine = tmp_path / "mine.gguf"
    shutil.copy(tiny_pair.target, mine)

    async def story():
        program.controller.engine.pick_target(str(mine))
        await program.until(lambda: not program.controller.engine.is_loading)
        assert loads(program)[1].target == str(mine)
        assert program.window.pair_bar._target.currentText() == "mine"
        assert program.window.status == "mine is ready. Everything stays on this computer."

    program.run(story)
    assert load_settings()[0].target == str(mine)


def test_a_load_that_the_engine_refuses_is_said_in_words(program):
    program.engine_options = {
        "load_fault": LoadError("llama.cpp does not know this architecture.", "Try another model.")
    }

    async def story():
        assert program.window.notice.words == "llama.cpp does not know this architecture. Try another model."
        assert "No model is loaded" in program.window.status
        program.send("hello")
        assert program.window.composer.text == "hello"
        assert "No model is loaded" in program.window.notice.words

    program.run(story)


def test_a_model_that_is_not_there_any_more_does_not_leave_the_window_starting(program, tmp_path):
    save_settings(Settings(target=str(tmp_path / "gone.gguf")))

    async def story():
        assert "gone" in program.window.notice.words
        assert program.window.status.startswith("No model is loaded.")
        # AND the next one that is picked is loaded, and said to be
        program.controller.choices.change(target="starter")
        program.controller.engine.load()
        await program.until(lambda: "is ready" in program.window.status)

    program.run(story)


def test_loading_says_how_far_it_is(program):
    program.engine_options = {"load_s": 0.3}

    async def story():
        seen = set()
        program.controller.start()
        await program.until(lambda: seen.add(program.window.status) or "Loading the model… 50%" in seen)
        await program.until(lambda: not program.controller.engine.is_loading)

    program.run(story, is_started=False)


def test_prefill_and_answering_are_said(program):
    program.answers = (Answer(prefill_s=0.2, pace_s=0.01),)

    async def story():
        seen = set()
        program.send("a b c")
        await program.until(
            lambda: (
                program.window.transcript.last_answer
                and (
                    seen.add(program.last_answer.status) or any(w.startswith("Reading the prompt: 0 of") for w in seen)
                )
            )
        )
        assert program.window.status == "Answering. Esc stops."
        await program.until(lambda: program.last_answer.status == "Answering…")
        assert not program.window.pair_bar._target.isEnabled()
        assert program.window.pair_bar.speculation_words == "engaged: n-gram, length chosen by what pays"
        await program.until(lambda: not program.controller.answering.is_busy)
        assert program.window.pair_bar._target.isEnabled()

    program.run(story)


def test_the_draft_length_is_chosen_for_the_next_answer(program):
    async def story():
        program.controller.actions.choose_length(8)
        assert program.window.pair_bar.speculation_words == "ready: n-gram, length 8"
        await program.ask("go")
        assert asked(program)[-1].speculation.draft_tokens == 8

    program.run(story)


def test_settings_that_cannot_be_read_are_said(program, home):
    (home / "config").mkdir(parents=True, exist_ok=True)
    (home / "config" / "settings.json").write_text("{not json")

    async def story():
        assert "settings file" in program.window.notice.words

    program.run(story)


def test_the_length_can_be_left_to_what_pays(program):
    async def story():
        program.controller.actions.choose_length("auto")
        assert program.window.pair_bar.speculation_words == "ready: n-gram, length chosen by what pays"
        await program.ask("go")
        assert asked(program)[-1].speculation.draft_tokens == "auto"

    program.run(story)


def test_plan_words_say_what_the_controller_does():
    engagement = Engagement(engaged=True, drafter="ngram", draft_tokens="auto")
    working = Plan("ngram", 5, 0.8, "a place that agrees on 16 tokens", -0.1)
    assert plan_words(engagement, working) == "engaged: n-gram, length 5 (a place that agrees on 16 tokens)"
    pausing = Plan("", 0, 0.2, "paused: expected 0.80x of plain speed", 0.1)
    assert plan_words(engagement, pausing) == (
        "paused by the controller: drafting would cost about 20% now (expected 0.80× of plain speed)"
    )


class Frozen(ScriptedEngine):
    """Never comes back from a load."""

    async def _load(self, command):
        yield LoadProgress(command.id, "target", 0.5)
        await self._pause(100)


def test_a_load_that_hangs_is_said_and_can_be_started_again(program):
    engines = [Frozen(), ScriptedEngine()]
    program.make_engine = lambda: engines.pop(0)

    async def story():
        control, notice = program.controller.engine, program.window.notice
        control.patience.setInterval(60)
        program.controller.start()
        await program.until(lambda: "not moved" in notice.words)
        notice.on_action()
        await program.until(lambda: not control.is_loading)
        assert program.host.state.phase == "idle"
        assert program.host.state.loaded is not None
        assert notice.words == ""

    program.run(story, is_started=False)


def test_a_draft_model_that_cannot_be_loaded_gives_the_choice_back_to_who_drafted_before(program, tmp_path):
    text = tmp_path / "notes.gguf"
    text.write_text("these are notes")

    async def story():
        control = program.controller.engine
        control.pick_drafter(NGRAM)
        control.pick_drafter(str(text))
        await program.until(lambda: not control.is_loading)
        assert "notes.gguf" in program.window.notice.words
        assert program.controller.choices.drafter == NGRAM
        assert program.host.state.loaded is not None

    program.run(story)
    assert load_settings()[0].spec_types == ("ngram",)


def test_a_draft_model_that_is_gone_at_the_start_does_not_keep_the_target_away(program, tmp_path):
    save_settings(Settings(draft=str(tmp_path / "gone.gguf"), spec_types=("draft-simple",)))

    async def story():
        assert program.host.state.loaded is not None
        assert program.host.state.loaded.draft is None
        assert "gone.gguf" in program.window.notice.words
        assert "goes on without it" in program.window.notice.words
        await program.ask("still there?")

    program.run(story)
    assert load_settings()[0].draft == str(tmp_path / "gone.gguf")  # it may be on a disk that is not there today


def test_a_model_that_ends_the_engine_is_not_what_the_restart_begins_with(program, tiny_pair):
    class Deadly(ScriptedEngine):
        async def _load(self, command):
            if command.target == str(tiny_pair.target):
                self.die()
            async with aclosing(super()._load(command)) as events:
                async for event in events:
                    yield event

    program.make_engine = Deadly

    async def story():
        control = program.controller.engine
        control.pick_target(str(tiny_pair.target))
        await program.until(lambda: not control.is_loading)
        assert program.host.state.phase == "died"
        program.window.notice.on_action()
        await program.until(lambda: not control.is_loading)
        assert program.host.state.loaded is not None
        assert program.window.pair_bar._target.currentText() == "starter"

    program.run(story)
