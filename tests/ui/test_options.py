"""The popup of model options: what is chosen is kept, reaches the engine, and loads the model again once if it must."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton, QSpinBox, QWidget

from app.errors import LoadError
from app.protocol import Generate, Load, MemoryTypes
from app.settings import Settings, load_settings, save_settings
from app.ui.model_options import RELOAD
from app.ui.option_words import DRAFT_LENGTHS, SAME_MEMORY, length_words, memory_words
from app.ui.options_control import FIELDS
from app.ui.pair_bar import HEADS
from app.ui.switch import Switch
from tests.doubles import Answer

pytestmark = pytest.mark.qt_log_ignore("does not support (raise|grabbing|propagate)")
"""The offscreen platform says so about every popup."""


def sent(program, kind):
    return [c for engine in program.engines for c in engine.commands if isinstance(c, kind)]


def items(combo):
    return [combo.itemText(n) for n in range(combo.count())]


async def opened(program):
    program.window.pair_bar.options_button.click()
    popup = program.controller.options.popup
    assert popup is not None
    await program.until(popup.isVisible)
    return popup


async def closed(program):
    program.controller.options.popup.close()
    await program.until(lambda: program.controller.options.popup is None)
    await program.until(lambda: not program.controller.engine.is_loading)


def test_length_and_sliding_count_from_the_next_answer_on(program):
    async def story():
        popup = await opened(program)
        assert items(popup.length)[:2] == ["What pays, chosen as it goes", "3 to 8, by how many were kept"]
        assert popup.length.currentText() == items(popup.length)[0]
        popup.length.pick(5)
        assert program.window.pair_bar.speculation_words == "ready: n-gram, length 5"
        popup.slide.click()
        await closed(program)
        await program.ask("go")
        asked = sent(program, Generate)[-1]
        assert (asked.speculation.draft_tokens, asked.slide) == (5, True)
        popup = await opened(program)
        popup.length.pick("rolling")
        assert popup.slide.isChecked()
        await closed(program)
        await program.ask("go on")
        assert sent(program, Generate)[-1].speculation.draft_tokens == "rolling"
        assert len(sent(program, Load)) == 1, "nothing of this needs a reload"

    program.run(story)
    assert (load_settings()[0].draft_tokens, load_settings()[0].slide) == ("rolling", True)


def test_what_needs_a_reload_says_so_and_has_one_when_it_closes(program):
    async def story():
        popup = await opened(program)
        assert RELOAD in [label.text() for label in popup.findChildren(QLabel) if label.isVisible()]
        popup.context.pick(2048)
        popup.memory.pick(("q8_0", "q8_0"))
        popup.flash.pick("on")
        popup.threads.setValue(1)
        assert len(sent(program, Load)) == 1
        await closed(program)
        assert len(sent(program, Load)) == 2
        load = sent(program, Load)[1]
        memory = MemoryTypes("q8_0", "q8_0", flash_attention=True)
        assert (load.n_ctx, load.n_threads, load.memory, load.draft_memory) == (2048, 1, memory, memory)
        assert program.host.state.loaded.memory == memory
        popup = await opened(program)
        assert popup.memory.currentText() == "8 bits, half the size"
        await closed(program)
        assert len(sent(program, Load)) == 2, "nothing was changed"

    program.run(story)


def test_a_change_that_was_taken_back_loads_nothing(program):
    async def story():
        popup = await opened(program)
        popup.memory.pick(("q4_0", "q4_0"))
        popup.memory.pick(("f16", "bf16"))
        await closed(program)
        assert len(sent(program, Load)) == 1

    program.run(story)


def test_a_memory_of_few_bits_takes_flash_attention_along(program):
    async def story():
        popup = await opened(program)
        popup.flash.pick("off")
        popup.memory.pick(("q4_0", "q4_0"))
        assert popup.flash.currentText() == "Left to llama.cpp"
        assert not popup.flash.model().item(2).isEnabled()
        popup.memory.pick(("f16", "bf16"))
        assert popup.flash.model().item(2).isEnabled()
        await closed(program)

    program.run(story)


def test_a_settings_file_that_asks_for_both_loads_with_flash_attention(program):
    save_settings(Settings(type_k="q5_1", type_v="q4_0", flash_attention="off"))

    async def story():
        assert sent(program, Load)[0].memory == MemoryTypes("q5_1", "q4_0", flash_attention=None)
        popup = await opened(program)
        assert popup.memory.currentText() == "K q5_1, V q4_0"
        await closed(program)

    program.run(story)


def test_while_an_answer_runs_nothing_can_be_loaded(program):
    program.answers = (Answer(pace_s=0.02),)

    async def story():
        program.send("go")
        await program.until(lambda: program.said)
        popup = await opened(program)
        assert not any(w.isEnabled() for w in (popup.context, popup.memory, popup.flash, popup.threads))
        assert popup.length.isEnabled()
        assert popup.slide.isEnabled()
        await closed(program)
        program.controller.answering.stop()
        await program.until(lambda: not program.controller.answering.is_busy)
        popup = await opened(program)
        assert popup.memory.isEnabled()
        await closed(program)

    program.run(story)


def test_ngram_may_draft_before_the_drafter_that_is_chosen(program):
    async def story():
        popup = await opened(program)
        assert not popup.ngram_first.isEnabled(), "n-gram alone has nobody to come before"
        await closed(program)
        program.controller.engine.pick_drafter("starter")
        await program.until(lambda: not program.controller.engine.is_loading)
        assert program.window.pair_bar.speculation_words.startswith("ready: n-gram + draft model")
        await program.ask("go")
        assert sent(program, Generate)[-1].speculation.types == ("ngram", "draft-simple")
        assert len(sent(program, Load)) == 2
        popup = await opened(program)
        assert popup.ngram_first.isChecked()
        popup.ngram_first.click()
        await closed(program)
        assert program.controller.choices.kinds == ("draft-simple",)
        program.controller.choices.choose_drafter("other")
        assert program.controller.choices.kinds == ("draft-simple",), "it stays off"

    program.run(story)


def test_heads_in_the_model_can_be_picked(program):
    program.engine_options = {"heads": "embedded"}

    async def story():
        assert "MTP heads" in items(program.window.pair_bar._drafter)
        program.controller.engine.pick_drafter(HEADS)
        assert program.window.pair_bar.speculation_words.startswith("ready: n-gram + MTP heads")
        assert program.window.pair_bar._drafter.currentText() == "MTP heads"
        await program.ask("go")
        assert sent(program, Generate)[-1].speculation.types == ("ngram", "draft-mtp")
        assert len(sent(program, Load)) == 1

    program.run(story)
    assert load_settings()[0].spec_types == ("ngram", "draft-mtp")


def test_a_file_that_holds_heads_drafts_as_such(program):
    program.engine_options = {"heads": "file"}

    async def story():
        assert "MTP heads" not in items(program.window.pair_bar._drafter)
        program.controller.engine.pick_drafter("starter")
        await program.until(lambda: len(sent(program, Load)) == 2 and not program.controller.engine.is_loading)
        assert program.window.pair_bar.speculation_words.startswith("ready: n-gram + MTP heads")
        assert program.window.pair_bar._drafter.currentText() == "draft model: starter"

    program.run(story)
    assert (load_settings()[0].draft, load_settings()[0].spec_types) == ("starter", ("ngram", "draft-mtp"))


def test_defaults_are_those_of_the_first_start(program):
    save_settings(Settings(target="starter", n_ctx=512, type_k="q8_0", slide=True, draft_tokens=3, temperature=0.1))

    async def story():
        popup = await opened(program)
        assert popup.context.currentText() == "512 tokens"
        next(b for b in popup.findChildren(QPushButton) if b.text() == "Defa&ults").click()
        assert popup.context.currentText() == "4,096 tokens"
        await closed(program)

    program.run(story)
    settings, _ = load_settings()
    assert settings == Settings(temperature=0.1), "the others are not its business"
    assert set(FIELDS) < set(Settings.__struct_fields__)


def test_what_drafts_has_a_memory_and_threads_of_its_own(program):
    save_settings(Settings(flash_attention="off"))

    async def story():
        popup = await opened(program)
        of_draft = (popup.draft_context, popup.draft_memory)
        assert [one.currentText() for one in of_draft] == [popup.draft_threads.text()] * 2 == ["As the model's"] * 2
        assert items(popup.draft_context) == ["As the model's", "1,024 tokens", "2,048 tokens"], (
            "no more than its 4,096"
        )
        popup.draft_context.pick(1024)
        popup.draft_memory.pick(("q8_0", "q8_0"))
        popup.draft_threads.setValue(1)
        assert popup.flash.currentText() == "Left to llama.cpp", "8 bits need it"
        await closed(program)
        before, load = sent(program, Load)
        assert before.draft_memory == before.memory
        assert (before.draft_n_threads, before.draft_n_ctx, load.draft_n_ctx) == (0, 0, 1024)
        assert (load.memory, load.n_threads) == (MemoryTypes(), before.n_threads)
        assert (load.draft_memory, load.draft_n_threads) == (MemoryTypes("q8_0", "q8_0"), 1)
        popup = await opened(program)
        assert popup.draft_memory.currentText() == "8 bits, half the size"
        popup.draft_memory.pick(SAME_MEMORY)
        popup.memory.pick(("q4_0", "q4_0"))
        await closed(program)
        assert sent(program, Load)[-1].draft_memory == MemoryTypes("q4_0", "q4_0")

    program.run(story)
    settings, _ = load_settings()
    assert (settings.draft_type_k, settings.draft_type_v, settings.draft_n_threads) == ("", "", 1)
    assert settings.draft_n_ctx == 1024


def test_what_drafts_is_taken_back_with_the_rest(program):
    async def story():
        popup = await opened(program)
        popup.draft_memory.pick(("q8_0", "q8_0"))
        popup.draft_threads.setValue(1)
        await closed(program)
        popup = await opened(program)
        program.engines[0]._load_fault = LoadError("No context could be made.", "Choose a shorter one.")
        popup.draft_context.pick(2048)
        popup.draft_memory.pick(("q4_0", "q4_0"))
        popup.draft_threads.setValue(0)
        await closed(program)
        program.engines[0]._load_fault = None

    program.run(story)
    settings, _ = load_settings()
    assert (settings.draft_type_k, settings.draft_type_v, settings.draft_n_threads) == ("q8_0", "q8_0", 1)
    assert settings.draft_n_ctx == 0


def test_what_cannot_be_loaded_is_taken_back(program):
    async def story():
        popup = await opened(program)
        program.engines[0]._load_fault = LoadError("No context of 8,192 tokens could be made.", "Choose a shorter one.")
        popup.context.pick(8192)
        popup.memory.pick(("q8_0", "q8_0"))
        await closed(program)
        program.engines[0]._load_fault = None
        assert "could be made" in program.window.notice.words

    program.run(story)
    settings, _ = load_settings()
    assert (settings.n_ctx, settings.type_k, settings.type_v) == (4096, "f16", "bf16")


@pytest.mark.parametrize("way", ["keys", "menu"])
def test_it_opens_and_closes_by_keys_and_by_the_menu(program, way):
    async def story():
        if way == "keys":
            shortcuts = {s.key().toString(): s for s in program.window.findChildren(QShortcut)}
            shortcuts["Ctrl+Shift+M"].activated.emit()
        else:
            menu = program.controller.menu.make()
            next(a for a in menu.actions() if a.text() == "Model options…").trigger()
            menu.deleteLater()
        popup = program.controller.options.popup
        await program.until(popup.isVisible)
        assert popup.focusWidget() is popup.length
        QTest.keyClick(popup, Qt.Key.Key_Escape)
        await program.until(lambda: program.controller.options.popup is None)

    program.run(story)


def test_everything_in_it_has_a_name_and_its_place_in_the_tab_order(program):
    async def story():
        popup = await opened(program)
        kinds = (QComboBox, QSpinBox, Switch, QPushButton)
        named = [w for kind in kinds for w in popup.findChildren(kind)]
        assert len(named) == 16
        for widget in named:
            assert QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name), widget
            assert widget.isEnabled() or widget is popup.ngram_first
            assert widget.toolTip() or isinstance(widget, QPushButton)
        of_draft = (popup.draft_context, popup.draft_memory, popup.draft_threads)
        at_load = (popup.context, popup.memory, popup.flash, popup.threads, *of_draft, popup.trees)
        for widget in at_load:
            said = QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Description)
            assert "reload" in said
        chain, widget = [], popup.length
        while widget.nextInFocusChain() is not popup.length:
            widget = widget.nextInFocusChain()
            if widget in named:
                chain.append(widget)
        first = [popup.lenient, popup.ngram_first, popup.exact, popup.fixed_shape, popup.slide]
        assert chain[: len(first) + len(at_load)] == [*first, *at_load]
        await closed(program)

    program.run(story)


def test_it_stays_on_the_screen(program):
    async def story():
        room = program.window.screen().availableGeometry()
        program.window.move(room.left() - 300, room.bottom() - 100)
        popup = await opened(program)
        assert room.contains(popup.geometry())
        await closed(program)

    program.run(story)
    assert not [w for w in QApplication.topLevelWidgets() if isinstance(w, QWidget) and w.objectName() == "options"]


def test_on_a_small_screen_it_scrolls_to_what_has_the_keyboard(program):
    """1,280 x 800 pixels at 150 % are 533 high."""

    async def story():
        popup = await opened(program)
        n_wanted = popup.height()
        popup.fit_into(n_wanted)
        assert popup.height() == n_wanted
        assert popup._area.verticalScrollBar().maximum() == 0
        width = popup.width()
        popup.fit_into(480)
        await program.until(lambda: 470 <= popup.height() <= 480)
        assert popup.width() > width, "the bar takes nothing from the rows"
        await program.until(lambda: popup._area.verticalScrollBar().maximum() > 0)
        assert popup.trees.visibleRegion().isEmpty()
        for _ in range(12):
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
            if popup.trees.hasFocus():
                break
        assert popup.trees.hasFocus()
        assert popup.trees.visibleRegion().boundingRect().size() == popup.trees.size()
        done = next(b for b in popup.findChildren(QPushButton) if b.text() == "D&one")
        assert not done.visibleRegion().isEmpty()
        await closed(program)

    program.run(story)


def test_every_length_and_memory_has_words_of_its_own():
    words = [length_words(n) for n in DRAFT_LENGTHS]
    assert len(set(words)) == len(words)
    assert {1, 2, 3, 4, 5, 6, 7, 8, "auto", "rolling"} <= set(DRAFT_LENGTHS)
    assert length_words(1) == "1 token"
    assert memory_words("q8_0", "f16") == "K q8_0, V f16"


def test_drafts_of_any_rounding_can_be_asked_for(program):
    async def story():
        popup = await opened(program)
        assert "near tie" in popup.exact.toolTip()
        assert "up to" in popup.exact.toolTip() or "no draft" in popup.exact.toolTip()
        assert popup.exact.isChecked()
        popup.exact.click()
        await closed(program)
        await program.ask("go")
        assert not sent(program, Generate)[-1].speculation.exact
        assert len(sent(program, Load)) == 1

    program.run(story)
    assert not load_settings()[0].exact


def test_token_trees_take_a_reload_and_the_drafter_that_is_chosen_branches(program):
    async def story():
        program.controller.engine.pick_drafter("starter")
        await program.until(lambda: not program.controller.engine.is_loading)
        popup = await opened(program)
        assert not popup.trees.isChecked()
        assert "tried" not in popup.trees.toolTip()
        popup.trees.click()
        await closed(program)
        assert [load.trees for load in sent(program, Load)][-2:] == [False, True]
        assert program.window.pair_bar.speculation_words.startswith("ready: n-gram + token tree, ")
        assert program.window.notice.words == "Token trees were tried: one pass.", "what came of it is no warning"
        popup = await opened(program)
        assert popup.trees.toolTip().endswith("on this device: Token trees were tried: one pass.")
        await closed(program)
        await program.ask("go")
        assert sent(program, Generate)[-1].speculation.types == ("ngram", "tree")
        popup = await opened(program)
        popup.ngram_first.click()
        await closed(program)
        assert program.controller.choices.asked == ("tree",)
        assert program.controller.choices.kinds == ("draft-simple",), "who it is does not change"

    program.run(story)
    assert load_settings()[0].trees


def test_where_trees_cannot_be_the_chain_and_the_reason_are_said(program):
    program.engine_options = {"heads": "file"}
    save_settings(Settings(target="starter", draft="starter", spec_types=("draft-mtp",), trees=True))

    async def story():
        words = program.window.pair_bar.speculation_words
        assert words.startswith("ready: MTP heads, ")
        assert "not engaged: token tree: No draft model" in words
        popup = await opened(program)
        assert "No draft model, and no MTP heads" in popup.trees.toolTip()
        await closed(program)

    program.run(story)


def test_a_fixed_shape_and_lenient_acceptance_count_from_the_next_answer_on(program):
    async def story():
        popup = await opened(program)
        assert items(popup.lenient) == ["Off", *(f"Lossy: what is {n} % likely" for n in (30, 10, 3))]
        popup.fixed_shape.click()
        popup.lenient.pick(0.1)
        assert program.window.pair_bar.speculation_words.startswith("ready: n-gram, lossy, ")
        await closed(program)
        await program.ask("go")
        asked = sent(program, Generate)[-1].speculation
        assert (asked.fixed_shape, asked.lenient) == (True, 0.1)
        assert len(sent(program, Load)) == 1, "nothing of this needs a reload"
        program.controller.choices.change(lenient=0.25)
        popup = await opened(program)
        assert popup.lenient.currentText() == "Lossy: what is 25 % likely", "another from the settings file"
        await closed(program)

    program.run(story)
    assert load_settings()[0].fixed_shape
