"""The settings dialog: every setting with help and reset, kept at once and in effect at once."""

from __future__ import annotations

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit, QSpinBox, QTextEdit, QWidget

from app.errors import NetworkError
from app.models.hub_place import hub_address, refuse_offline
from app.settings import Settings, load_settings
from app.ui import motion
from app.ui.setting_fields import FIELDS, PAGES
from app.ui.theme import DARK, HIGH_DARK, colours
from tests.doubles import Answer
from tests.ui.conftest import shows_dialog

pytestmark = shows_dialog


def opened(program):
    program.window.action_list.run("program.settings")
    return program.controller.settings.dialog


def use(row, value):
    """Choose a value as a person does."""
    control = row.control
    if isinstance(control, QComboBox):
        control.setCurrentIndex(control.findData(value))
        control.activated.emit(control.currentIndex())
    elif isinstance(control, QSpinBox):
        control.setValue(value)
    elif isinstance(control, QLineEdit):
        control.setText(value)
        control.editingFinished.emit()
    elif control.isChecked() != value:
        control.click()


OTHER = {
    "theme": "dark",
    "contrast": "high",
    "font_extra_pt": 3,
    "motion": "reduced",
    "language": "en",
    "formula_sources": True,
    "enter_sends": False,
    "token_colours": True,
    "slide": True,
    "notify": False,
    "recommend": False,
    "hub_endpoint": "https://hub.example.org/mirror",
    "offline": True,
}


def test_every_setting_is_kept_and_can_be_taken_back_alone_and_by_page(program):
    async def story():
        dialog = opened(program)
        assert set(dialog.rows) == set(OTHER) == {field.name for field in FIELDS}
        for name, value in OTHER.items():
            row = dialog.rows[name]
            assert row.reset.isHidden(), name
            use(row, value)
            assert getattr(load_settings()[0], name) == value
            assert not row.reset.isHidden(), name
            row.reset.click()
            assert getattr(load_settings()[0], name) == getattr(Settings(), name)
            assert row.reset.isHidden(), name
        for name, value in OTHER.items():
            use(dialog.rows[name], value)
        for reset in dialog.resets.values():
            assert reset.isEnabled()
            reset.click()
            assert not reset.isEnabled()
        assert load_settings()[0] == Settings()

    program.run(story)


def test_everything_has_a_name_and_help_and_is_reached_by_the_tab_key(program):
    async def story():
        dialog = opened(program)
        for page in PAGES:
            dialog.go_to(page)
            inside = dialog.tabs.currentWidget()
            controls = [
                w
                for w in inside.findChildren(QWidget)
                if isinstance(w, QAbstractButton | QComboBox | QLineEdit | QSpinBox)
                and w.isVisible()
                and not isinstance(w.parentWidget(), QSpinBox | QComboBox | QLineEdit)
            ]
            assert controls, page
            for control in controls:
                interface = QAccessible.queryAccessibleInterface(control)
                assert interface.text(QAccessible.Text.Name), control
                assert control.focusPolicy() & Qt.FocusPolicy.TabFocus, control.accessibleName()
        for row in dialog.rows.values():
            assert row.control.accessibleDescription() == row.field.help != ""

    program.run(story)


def test_one_tab_leads_from_the_pages_to_the_first_setting(program):
    async def story():
        dialog = opened(program)
        dialog.tabs.tabBar().setFocus()
        QTest.keyClick(dialog.tabs.tabBar(), Qt.Key.Key_Tab)
        assert dialog.focusWidget() is dialog.rows["theme"].control

    program.run(story)


def test_colours_contrast_size_and_motion_take_effect_at_once(program):
    async def story():
        await program.ask("A question")
        label = program.window._status
        before, composer_before = label.font().pointSizeF(), program.window.composer.editor.font().pointSizeF()
        prose = program.last_answer.column.parts[0].edit.document().defaultFont().pointSizeF()
        button = program.window.pair_bar.menu_button.font().pointSizeF()
        await program.until(lambda: program.window.panel.charts)
        room = program.window.panel.charts.minimumHeight()
        dialog = opened(program)
        use(dialog.rows["theme"], "dark")
        assert colours() is DARK
        use(dialog.rows["contrast"], "high")
        assert colours() is HIGH_DARK
        use(dialog.rows["font_extra_pt"], 4)
        assert label.font().pointSizeF() == before + 4
        assert program.window.composer.editor.font().pointSizeF() == composer_before + 4
        assert program.window.pair_bar.menu_button.font().pointSizeF() == button + 4
        assert program.window.panel.charts.minimumHeight() > room
        assert program.last_answer.column.parts[0].edit.document().defaultFont().pointSizeF() == prose + 4
        use(dialog.rows["motion"], "reduced")
        assert motion.is_reduced()
        assert QApplication.cursorFlashTime() == 0
        assert program.window.transcript.pace.next_ms() >= 500
        use(dialog.rows["motion"], "full")
        assert QApplication.cursorFlashTime() > 0

    program.run(story)


def test_the_next_window_begins_with_what_was_chosen(program):
    async def story():
        program.controller.choices.change(theme="dark", contrast="high", font_extra_pt=2)
        program.window.save_geometry()

    program.run(story)
    from app.ui.main_window import remembered_contrast, remembered_font_extra_pt, remembered_theme, window_geometry

    geometry = window_geometry()
    assert remembered_theme(geometry) == "dark"
    assert remembered_contrast(geometry) == "high"
    assert remembered_font_extra_pt(geometry) == 2


def test_keys_change_the_size_of_the_font_within_limits(program):
    async def story():
        run, base = program.window.action_list.run, QApplication.font().pointSizeF()
        run("view.larger")
        run("view.larger")
        assert QApplication.font().pointSizeF() == base + 2
        run("view.smaller")
        assert QApplication.font().pointSizeF() == base + 1
        run("view.usual")
        assert QApplication.font().pointSizeF() == base
        for _ in range(40):
            run("view.larger")
        assert program.controller.choices.settings.font_extra_pt == 12
        assert load_settings()[1] == ""

    program.run(story)


def test_every_text_has_its_size_again_after_smaller_and_larger(program):
    async def story():
        await program.ask("A question")
        await program.until(lambda: program.window.panel.charts)
        opened(program)
        texts = QLabel | QAbstractButton | QComboBox | QLineEdit | QSpinBox | QTextEdit
        widgets = [w for w in program.window.findChildren(QWidget) if isinstance(w, texts)]
        before = {w: w.font().pointSizeF() for w in widgets}
        for name in ["view.smaller"] * 3 + ["view.larger"] * 3:
            program.window.action_list.run(name)
        after = {w: w.font().pointSizeF() for w in program.window.findChildren(QWidget) if w in before}
        assert {w: (before[w], size) for w, size in after.items() if size != before[w]} == {}

    program.run(story)


def test_a_conversation_keeps_its_place_when_the_font_changes(program):
    program.answers = (Answer(text="word " * 300),)

    async def story():
        for n in range(6):
            await program.ask(f"Question {n}")
        transcript = program.window.transcript
        transcript.go_to_message(4)
        top = transcript._list._heights.at(transcript._area.verticalScrollBar().value())
        program.window.action_list.run("view.larger")
        assert transcript._list._heights.at(transcript._area.verticalScrollBar().value()) == top
        transcript.go_to_end()
        program.window.action_list.run("view.larger")
        bar = transcript._area.verticalScrollBar()
        assert bar.value() == bar.maximum()

    program.run(story)


def test_the_font_may_change_while_an_answer_grows(program):
    program.answers = (Answer(text="many words " * 200, pace_s=0.002),)

    async def story():
        program.send("go")
        await program.until(lambda: len(program.said) > 100)
        program.window.action_list.run("view.larger")
        program.window.action_list.run("view.theme.dark")
        await program.until(lambda: not program.controller.answering.is_busy)
        assert program.said.split() == ["many", "words"] * 200

    program.run(story)


@pytest.mark.parametrize("sends", [True, False])
def test_enter_or_control_enter_sends(program, sends):
    async def story():
        program.controller.choices.change(enter_sends=sends)
        editor = program.window.composer.editor
        editor.setFocus()
        QTest.keyClicks(editor, "a")
        QTest.keyClick(
            editor,
            Qt.Key.Key_Return,
            Qt.KeyboardModifier.NoModifier if not sends else Qt.KeyboardModifier.ShiftModifier,
        )
        QTest.keyClicks(editor, "b")
        assert program.window.composer.text == "a\nb"
        assert not program.controller.answering.is_busy
        key = Qt.KeyboardModifier.NoModifier if sends else Qt.KeyboardModifier.ControlModifier
        QTest.keyClick(editor, Qt.Key.Key_Return, key)
        assert program.controller.answering.is_busy
        assert ("Ctrl+Enter" in editor.toolTip()) != sends
        await program.until(lambda: not program.controller.answering.is_busy)

    program.run(story)


def test_an_address_that_is_none_is_refused_in_words(program):
    async def story():
        dialog = opened(program)
        row = dialog.rows["hub_endpoint"]
        use(row, "not an address")
        assert "no address" in row.fault.text()
        assert not row.fault.isHidden()
        assert load_settings()[0].hub_endpoint == ""
        use(row, "http://127.0.0.1:9/")
        assert row.fault.isHidden()
        assert load_settings()[0].hub_endpoint == "http://127.0.0.1:9"
        assert hub_address() == "http://127.0.0.1:9"

    program.run(story)


def test_offline_asks_no_hub(program, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")

    async def story():
        use(opened(program).rows["offline"], True)
        with pytest.raises(NetworkError, match="Offline is on in the settings"):
            await program.controller.models.door.ask(lambda hub: hub.search("x"))
        use(program.controller.settings.dialog.rows["offline"], False)
        refuse_offline()

    program.run(story)


def test_a_change_from_elsewhere_shows_in_the_open_dialog(program):
    async def story():
        dialog = opened(program)
        program.controller.actions.choose_theme("dark")
        assert dialog.rows["theme"].control.currentData() == "dark"
        program.controller.actions.toggle_tokens()
        assert dialog.rows["token_colours"].control.isChecked()

    program.run(story)


def test_the_settings_lead_to_the_folder_and_the_devices(program):
    async def story():
        dialog = opened(program)
        dialog.go_to("hub")
        dialog.folder.click()
        assert program.controller.shelf.dialog is not None
        program.controller.shelf.dialog.close()
        dialog.devices.click()
        await program.until(lambda: program.controller.devices.dialog is not None)
        assert str(program.controller.data.where()) in dialog.data.where.text()
        await program.until(lambda: not program.controller.devices.is_busy)

    program.run(story)


def test_settings_of_before_are_read(home):
    from app.settings import settings_path

    settings_path().write_text('{"theme": "dark", "temperature": 0.5}')
    chosen, said = load_settings()
    assert said == ""
    assert chosen == structs.replace(Settings(), theme="dark", temperature=0.5)
