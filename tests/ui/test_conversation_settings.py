"""What a conversation sets for itself: kept with it, used by its next answer, checked before it is sent."""

from __future__ import annotations

import json
import os
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QInputDialog, QPlainTextEdit, QPushButton, QWidget

from app.chat.chat_settings import Constraint, ConversationSettings, presets_from_json
from app.protocol import Generate, Load, NoticeInfo
from app.ui.conversation_boxes import stop_lines, stop_of
from app.ui.conversation_fields import PAGES, WORDS
from app.ui.question import Question
from tests.doubles import Answer
from tests.ui.conftest import shows_dialog

pytestmark = shows_dialog

VALUES = {
    "system_prompt": "Be brief.",
    "reasoning": False,
    "reasoning_effort": "low",
    "temperature": 0.25,
    "top_k": 7,
    "top_p": 0.5,
    "min_p": 0.125,
    "seed": 4242,
    "repeat_penalty": 1.25,
    "frequency_penalty": 0.5,
    "presence_penalty": -0.5,
    "penalty_last_n": 128,
    "max_tokens": 77,
    "stop": ("END", "a\nb"),
    "n_ctx": 8192,
    "constraint": Constraint(kind="json"),
}


def requests(program):
    return [command for command in program.engines[-1].commands if isinstance(command, Generate)]


def opened(program):
    program.controller.conversation.open()
    return program.controller.conversation.dialog


def choose(program, **values):
    """Choose values as the boxes of the dialog tell them."""
    dialog = opened(program)
    for name, value in values.items():
        dialog.fields[name].on_picked(value)
    dialog.reject()


def test_every_setting_has_a_field():
    assert set(WORDS) == set(ConversationSettings().__struct_fields__) - {"template"}
    assert set(VALUES) == set(WORDS)


def test_what_is_set_is_what_the_engine_is_asked(program):
    async def story():
        choose(program, **VALUES)
        await program.ask("go")
        (request,) = requests(program)
        sampling = request.sampling
        for name in ("temperature", "top_k", "top_p", "min_p", "seed", "repeat_penalty", "frequency_penalty"):
            assert getattr(sampling, name) == VALUES[name]
        assert (sampling.presence_penalty, sampling.penalty_last_n) == (-0.5, 128)
        assert "root ::=" in sampling.grammar
        assert (request.max_tokens, request.stop) == (77, ("END", "a\nb"))
        assert (request.messages[0].role, request.messages[0].content) == ("system", "Be brief.")
        assert (request.templating.reasoning, request.templating.reasoning_effort) == (False, "low")
        loads = [command for command in program.engines[-1].commands if isinstance(command, Load)]
        assert loads[-1].n_ctx == 8192

    program.run(story)


def test_they_stay_with_their_conversation(program):
    async def story():
        chats = program.controller.chats
        choose(program, temperature=0.25, max_tokens=77)
        await program.ask("one")
        first = chats.current.id
        chats.new()
        assert chats.settings == ConversationSettings()
        await program.ask("two")
        assert requests(program)[-1].max_tokens == 1024
        chats.open(first)
        assert chats.settings == ConversationSettings(temperature=0.25, max_tokens=77)
        program.controller.keeping.duplicate(first)
        assert chats.current.id != first
        assert chats.settings == ConversationSettings(temperature=0.25, max_tokens=77)
        choose(program, temperature=0.5)
        assert program.controller.store.load(chats.current.id).settings.temperature == 0.5
        assert program.controller.store.load(first).settings.temperature == 0.25

    program.run(story)

    async def again():
        assert program.controller.chats.settings.temperature == 0.5
        assert program.window.composer.settings.text() == "2 settings changed"

    program.run(again)


@pytest.mark.parametrize("name", VALUES)
def test_each_says_that_it_was_changed_and_goes_back(program, name):
    async def story():
        dialog = opened(program)
        field, page = dialog.fields[name], WORDS[name].page
        assert (field.tag.text(), field.reset.isHidden()) == ("", True)
        field.on_picked(VALUES[name])
        assert getattr(program.controller.chats.settings, name) == VALUES[name]
        assert "changed" in field.tag.text()
        assert dialog.tabs.tabText(PAGES.index(page)) == f"{page} (1)"
        assert field.box.accessibleDescription().startswith("Changed.")
        field.reset.click()
        assert program.controller.chats.settings == ConversationSettings()
        assert dialog.tabs.tabText(PAGES.index(page)) == page
        assert not dialog.reset_all.isEnabled()
        # AND the program's own value is no change
        field.on_picked(field._default)
        assert program.controller.chats.settings == ConversationSettings()

    program.run(story)


def test_boxes_show_and_tell_what_they_hold(program, qtbot):
    async def story():
        choose(program, **VALUES)
        dialog = opened(program)
        fields = dialog.fields
        assert fields["temperature"].box.text() == "0.25"
        assert fields["system_prompt"].box.toPlainText() == "Be brief."
        assert fields["stop"].box.toPlainText() == "END\na\\nb"
        assert fields["seed"].box.number.value() == 4242
        assert fields["constraint"].box.kind.currentText() == "JSON, any"
        fields["temperature"].box.setValue(1.5)
        fields["system_prompt"].box.setPlainText("Be long.")
        fields["seed"].box.kind.pick(False)
        fields["reasoning"].box.pick(True)
        dialog.reject()  # what is typed counts though no pause came after it
        settings = program.controller.chats.settings
        assert (settings.temperature, settings.system_prompt) == (1.5, "Be long.")
        assert (settings.seed, settings.reasoning) == (None, True)

    program.run(story)


def test_all_goes_back_at_once_and_that_can_be_taken_back(program):
    async def story():
        choose(program, temperature=0.25, stop=("END",))
        dialog = opened(program)
        dialog.reset_all.click()
        assert program.controller.chats.settings == ConversationSettings()
        assert dialog.fields["stop"].box.toPlainText() == ""
        program.window.notice.on_action()
        assert program.controller.chats.settings == ConversationSettings(temperature=0.25, stop=("END",))
        dialog.reject()

    program.run(story)


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("json_schema", '{"type": "object"', "is not JSON"),
        ("json_schema", '{"type": "strange"}', "strange"),
        ("gbnf", 'root ::= "a" other', "other"),
        ("gbnf", "", ""),
    ],
)
def test_a_bad_format_is_told_at_its_field_and_nothing_is_sent(program, kind, text, words):
    async def story():
        choose(program, constraint=Constraint(kind=kind, text=text))
        program.send("go")
        assert requests(program) == []
        assert program.window.composer.text == "go"
        assert program.window.notice.words
        program.window.notice.on_action()
        dialog = program.controller.conversation.dialog
        assert dialog.tabs.currentIndex() == PAGES.index("Format")
        error = dialog.fields["constraint"].error
        assert not error.isHidden()
        assert words in error.text()
        assert error.text() == dialog.fields["constraint"].box.accessibleDescription()
        dialog.fields["constraint"].on_picked(Constraint(kind="gbnf", text='root ::= "a"'))
        await program.until(error.isHidden)
        dialog.reject()
        await program.ask("go")
        assert requests(program)[0].sampling.grammar == 'root ::= "a"'

    program.run(story)


@pytest.mark.linux
def test_a_pipe_is_refused_wherever_a_file_is_asked_for_and_the_window_does_not_wait(program, tmp_path):
    pipe, words = tmp_path / "pipe.json", "pipe.json cannot be read: it is a pipe or a device, not a file"
    os.mkfifo(pipe)

    async def story():
        dialog = opened(program)
        for read in (
            dialog.fields["constraint"].box.read,
            partial(program.controller.conversation.presets.read, dialog),
        ):
            dialog.say("")
            read(pipe)
            assert dialog.said.text().rstrip(".") == words
        dialog.reject()

    program.run(story)


def test_a_format_is_read_from_a_file(program, tmp_path):
    async def story():
        box = opened(program).fields["constraint"].box
        box.kind.pick("json_schema")
        (tmp_path / "schema.json").write_text('{"type": "integer"}', encoding="utf-8")
        box.read(tmp_path / "schema.json")
        assert program.controller.chats.settings.constraint == Constraint(
            kind="json_schema", text='{"type": "integer"}'
        )
        (tmp_path / "bad.json").write_bytes(b"\xff\xfe\x00")
        box.read(tmp_path / "bad.json")
        dialog = program.controller.conversation.dialog
        assert "bad.json cannot be read" in dialog.said.text()
        (tmp_path / "huge.json").write_bytes(b" " * (4 * 1024 * 1024 + 1))
        box.read(tmp_path / "huge.json")
        assert "larger than" in dialog.said.text()
        assert program.controller.chats.settings.constraint.text == '{"type": "integer"}'
        box.read(tmp_path / "gone.json")
        assert dialog.said.text() == "gone.json cannot be read: No such file or directory"
        dialog.reject()

    program.run(story)


def test_a_new_seed_for_each_answer_unless_one_is_set(program):
    async def story():
        await program.ask("one")
        await program.ask("two")
        seeds = [request.sampling.seed for request in requests(program)]
        assert seeds[0] != seeds[1]
        choose(program, seed=5)
        await program.ask("three")
        await program.ask("four")
        assert [request.sampling.seed for request in requests(program)[2:]] == [5, 5]

    program.run(story)


def test_another_context_is_loaded_with_the_next_question_and_told_in_the_gauge(program):
    async def story():
        await program.ask("one")
        n_loads = sum(isinstance(command, Load) for command in program.engines[-1].commands)
        choose(program, n_ctx=2048)
        assert sum(isinstance(command, Load) for command in program.engines[-1].commands) == n_loads
        await program.ask("two")
        loads = [command.n_ctx for command in program.engines[-1].commands if isinstance(command, Load)]
        assert loads[n_loads:] == [2048]
        assert program.controller.choices.settings.n_ctx == 4096
        program.controller.chats.new()
        await program.ask("three")
        loads = [command.n_ctx for command in program.engines[-1].commands if isinstance(command, Load)]
        assert loads[-1] == 4096

    program.run(story)


@pytest.mark.parametrize(("template", "words"), [("think", "has a switch"), ("", "changes nothing")])
def test_it_is_said_whether_the_model_can_be_asked_for_reasoning(program, template, words):
    async def story():
        if template:
            program.controller.choices.change(templates={"starter": template})
        dialog = opened(program)
        await program.until(lambda: words in dialog.fields["reasoning"].help.text())
        effort = "can be asked" if template else "changes nothing"
        await program.until(lambda: effort in dialog.fields["reasoning_effort"].help.text())
        dialog.reject()

    program.run(story)


# --- presets --------------------------------------------------------------------------------------------


def named(program, name):
    """Type a name into the question that is open."""
    (ask,) = program.controller.conversation.dialog.findChildren(QInputDialog)
    ask.setTextValue(name)
    ask.accept()
    ask.setParent(None)


def answered(program, *, yes=True):
    (question,) = program.controller.conversation.dialog.findChildren(Question)
    (question.answer if yes else question.escapeButton()).click()
    question.setParent(None)


def do(program, action):
    dialog = program.controller.conversation.dialog
    next(entry for entry in dialog.actions_menu.actions() if entry.data() == action).trigger()


def offered(program):
    menu = program.window.composer.settings.menu()
    menu.aboutToShow.emit()
    return [action.text() for action in menu.actions() if action.text()]


def test_a_preset_is_saved_chosen_at_the_composer_renamed_and_deleted(program):
    async def story():
        chats, button = program.controller.chats, program.window.composer.settings
        choose(program, temperature=0.25)
        assert button.text() == "1 setting changed"
        opened(program)
        do(program, "save")
        named(program, "Calm & clear")
        assert button.text() == "Calm & clear"
        program.controller.conversation.dialog.reject()
        chats.new()
        assert button.text() == "Default settings"
        assert offered(program) == ["Default settings", "Calm && clear", "Conversation settings…"]
        button.menu().actions()[1].trigger()
        assert chats.settings == ConversationSettings(temperature=0.25)
        assert "Calm & clear" in program.window.notice.words
        opened(program)
        do(program, "rename")
        named(program, "Quiet")
        assert button.text() == "Quiet"
        do(program, "delete")
        answered(program)
        assert program.controller.store.presets.all() == ()
        assert chats.settings == ConversationSettings(temperature=0.25)  # what was taken over stays
        assert button.text() == "1 setting changed"
        program.controller.conversation.dialog.reject()

    program.run(story)


def test_a_preset_is_replaced_only_after_asking(program):
    async def story():
        presets = program.controller.store.presets
        choose(program, temperature=0.25)
        opened(program)
        do(program, "save")
        named(program, "Calm")
        program.controller.conversation.on_changed("temperature", 0.5)
        do(program, "save")
        named(program, "calm")
        answered(program, yes=False)
        assert presets.all()[0].settings.temperature == 0.25
        do(program, "save")
        named(program, "calm")
        answered(program)
        assert [(p.name, p.settings.temperature) for p in presets.all()] == [("Calm", 0.5)]
        program.controller.conversation.dialog.reject()

    program.run(story)


def test_presets_go_out_to_a_file_and_come_back(program, tmp_path):
    async def story():
        conversation, store = program.controller.conversation, program.controller.store
        store.presets.save("Calm", ConversationSettings(temperature=0.25))
        store.presets.save("Sums", ConversationSettings(constraint=Constraint(kind="json")))
        dialog = opened(program)
        path = tmp_path / "presets.json"
        conversation.presets.write(dialog, path)
        assert [preset.name for preset in presets_from_json(path.read_bytes())] == ["Calm", "Sums"]
        for preset in store.presets.all():
            store.presets.delete(preset.id)
        conversation.presets.read(dialog, path)
        assert "2 presets" in dialog.said.text()
        assert [preset.name for preset in store.presets.all()] == ["Calm", "Sums"]
        conversation.presets.read(dialog, path)
        assert dialog.said.text() == "0 presets were added."
        path.write_text(json.dumps({"schema": "other", "presets": []}))
        conversation.presets.read(dialog, path)
        assert "format" in dialog.said.text()
        path.write_bytes(b"\x00\xff")
        conversation.presets.read(dialog, path)
        assert "not a file of presets" in dialog.said.text()
        conversation.presets.read(dialog, tmp_path / "nowhere.json")
        assert "cannot be read" in dialog.said.text()
        conversation.presets.write(dialog, tmp_path / "nowhere" / "presets.json")
        assert dialog.said.text()
        assert [preset.name for preset in store.presets.all()] == ["Calm", "Sums"]
        dialog.reject()

    program.run(story)


# --- keyboard and screen reader -------------------------------------------------------------------------


def test_everything_has_a_name_and_can_be_reached_by_keyboard(program, qtbot):
    async def story():
        choose(program, **VALUES)
        dialog = opened(program)
        for index in range(dialog.tabs.count()):
            dialog.tabs.setCurrentIndex(index)
            for widget in dialog.tabs.currentWidget().findChildren(QWidget):
                if not widget.isVisible() or not isinstance(
                    widget, QAbstractButton | QComboBox | QPlainTextEdit | QPushButton
                ):
                    continue
                words = widget.accessibleName() or getattr(widget, "text", str)()
                assert words, widget
                assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus, words
        assert dialog.presets.accessibleName() == "Preset"
        assert program.window.composer.settings.accessibleName() == "Settings of this conversation: 16 settings changed"
        dialog.reject()

    program.run(story)


def test_keys_and_menu_lead_to_the_dialogs(program, qtbot):
    async def story():
        window, conversation = program.window, program.controller.conversation
        keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        qtbot.keyClick(window, Qt.Key.Key_O, keys)
        assert conversation.dialog.focusWidget() is conversation.dialog.fields["system_prompt"].box
        qtbot.keyClick(conversation.dialog, Qt.Key.Key_Escape)
        assert conversation.dialog is None
        assert window.focusWidget() is window.composer.editor
        qtbot.keyClick(window, Qt.Key.Key_U, keys)
        assert conversation.prompt.dialog is not None
        conversation.prompt.dialog.reject()
        menu = program.controller.menu.make()
        words = [action.text() for action in menu.actions()]
        assert {"Conversation settings…", "Show the prompt…", "Deleted conversations…"} <= set(words)
        menu.deleteLater()

    program.run(story)


def test_enter_in_a_number_presses_no_button(program, qtbot):
    async def story():
        dialog = opened(program)
        dialog.go_to("temperature")
        qtbot.keyClick(dialog.fields["temperature"].box, Qt.Key.Key_Return)
        assert dialog.isVisible()
        assert dialog.actions_menu.isHidden()
        dialog.reject()

    program.run(story)


def test_a_setting_that_does_nothing_is_told_once(program):
    idle = NoticeInfo("reasoning_unknown", "It has no switch.", "Leave it.")
    program.answers = (Answer(notices=(idle,)),)

    async def story():
        await program.ask("one")
        assert "no switch" in program.window.notice.words
        await program.ask("two")
        assert program.window.notice.words == ""

    program.run(story)


def test_stop_strings_are_written_one_a_line():
    for stop in ((), ("END",), ("a\nb", "\\n", "tab\t", "back\\slash\\")):
        assert stop_of(stop_lines(stop)) == stop
    assert stop_of("a\n\nb\n") == ("a", "b")


def test_settings_are_set_before_the_first_message_and_written_with_it(program):
    program.answers = (Answer("Yes."),)

    async def story():
        choose(program, system_prompt="Be brief.")
        await program.ask("go")
        head = program.controller.chats.current
        assert program.controller.store.load(head.id).settings.system_prompt == "Be brief."

    program.run(story)
