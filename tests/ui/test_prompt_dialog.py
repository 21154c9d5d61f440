"""The prompt as the model gets it, and templates in place of models' own."""

from __future__ import annotations

from app.chat.chat_settings import ConversationSettings
from app.protocol import Generate
from app.settings import load_settings
from app.ui.conversation_prompt import NEXT_MESSAGE
from app.ui.conversation_prompt_dialog import MOST_IN_LINES, MOST_SHOWN, shortened, size_words
from tests.ui.conftest import shows_dialog

pytestmark = shows_dialog


def requests(program):
    return [command for command in program.engines[-1].commands if isinstance(command, Generate)]


async def opened(program):
    prompt = program.controller.conversation.prompt
    prompt.open()
    await program.until(lambda: "tokens" in prompt.dialog.size_line.text() or prompt.dialog.notices.text())
    return prompt.dialog


async def settled(program, holds):
    await program.until(holds)


def test_the_prompt_is_shown_with_its_size(program):
    async def story():
        await program.ask("About trains")
        program.controller.choices.change(system_prompt="Be brief.")
        program.window.composer.set_text("And boats?")
        dialog = await opened(program)
        lines = dialog.prompt.toPlainText().split("\n")
        assert lines[:2] == ["system: Be brief.", "user: About trains"]
        assert lines[-2:] == ["user: And boats?", "assistant:"]
        n = len(dialog.prompt.toPlainText().split())
        assert dialog.size_line.text() == f"{n} of 4,096 tokens"
        dialog.reject()

    program.run(story)


def test_it_opens_from_the_settings_while_they_still_ask_for_the_template(program):
    async def story():
        conversation = program.controller.conversation
        conversation.open()
        conversation.dialog.prompt.click()
        await settled(program, lambda: "tokens" in conversation.prompt.dialog.size_line.text())
        conversation.prompt.dialog.reject()
        conversation.dialog.reject()

    program.run(story)


def test_before_the_first_message_a_stand_in_is_rendered(program):
    async def story():
        dialog = await opened(program)
        assert NEXT_MESSAGE in dialog.prompt.toPlainText()
        dialog.reject()

    program.run(story)


def test_a_template_takes_the_place_of_the_models_own_until_it_is_reset(program):
    async def story():
        dialog = await opened(program)
        assert not dialog.reset.isEnabled()
        assert "uses its own" in dialog.about.text()
        dialog.copy_own.click()
        assert dialog.template.toPlainText() == "{{ own }}"
        dialog.template.setPlainText("{{ mine }}")
        await settled(program, lambda: dialog.prompt.toPlainText().startswith("{{ mine }}"))
        assert load_settings()[0].templates == {"starter": "{{ mine }}"}
        assert dialog.reset.isEnabled()
        dialog.reject()
        await program.ask("go")
        assert requests(program)[-1].templating.template == "{{ mine }}"
        dialog = await opened(program)
        assert dialog.template.toPlainText() == "{{ mine }}"
        dialog.reset.click()
        await settled(program, lambda: not dialog.prompt.toPlainText().startswith("{{ mine }}"))
        assert (load_settings()[0].templates, dialog.template.toPlainText()) == ({}, "")
        dialog.reject()
        await program.ask("go")
        assert requests(program)[-1].templating.template is None

    program.run(story)


def test_another_model_keeps_its_own(program):
    async def story():
        program.controller.choices.change(templates={"other": "{{ mine }}"})
        await program.ask("go")
        assert requests(program)[-1].templating.template is None

    program.run(story)


def test_a_template_that_does_not_work_is_told_and_the_chat_goes_on(program):
    async def story():
        dialog = await opened(program)
        dialog.template.setPlainText("{{ broken")
        await settled(program, dialog.notices.isVisible)
        assert "does not work" in dialog.notices.text()
        dialog.reject()
        await program.ask("go")
        assert program.said

    program.run(story)


def test_a_template_comes_from_a_file(program, tmp_path):
    async def story():
        dialog = await opened(program)
        path = tmp_path / "mine.jinja"
        path.write_text("{{ from a file }}", encoding="utf-8")
        dialog.file_chosen.emit(path)
        await settled(program, lambda: dialog.prompt.toPlainText().startswith("{{ from a file }}"))
        assert load_settings()[0].templates == {"starter": "{{ from a file }}"}
        dialog.file_chosen.emit(tmp_path / "nowhere.jinja")
        assert "nowhere.jinja cannot be read" in dialog.notices.text()
        path.write_bytes(b"\xff\xff")
        dialog.file_chosen.emit(path)
        assert "cannot be read" in dialog.notices.text()
        path.write_text("x" * 1_000_000)
        dialog.file_chosen.emit(path)
        assert "longer than any chat template" in dialog.notices.text()
        assert load_settings()[0].templates == {"starter": "{{ from a file }}"}
        dialog.reject()

    program.run(story)


def test_a_template_that_came_with_the_conversation_goes_first_and_can_be_taken_away(program):
    async def story():
        program.controller.choices.change(templates={"starter": "{{ mine }}"})
        program.controller.chats.change_settings(ConversationSettings(template="{{ its own }}"))
        await program.ask("go")
        assert requests(program)[-1].templating.template == "{{ its own }}"
        dialog = await opened(program)
        dialog.reset.click()
        assert program.controller.chats.settings.template is None
        assert load_settings()[0].templates == {}
        dialog.reject()

    program.run(story)


def test_what_is_typed_last_counts_though_the_dialog_is_closed_at_once(program):
    async def story():
        dialog = await opened(program)
        dialog.template.setPlainText("{{ quick }}")
        dialog.reject()
        assert load_settings()[0].templates == {"starter": "{{ quick }}"}

    program.run(story)


def test_without_an_engine_that_is_said(program):
    async def story():
        program.engines[-1].die()
        await program.until(lambda: program.host.state.phase == "died")
        dialog = await opened(program)
        assert "ended" in dialog.notices.text() or "engine" in dialog.notices.text()
        dialog.reject()

    program.run(story)


def test_sizes_in_words():
    assert size_words(12, 4096) == "12 of 4,096 tokens"
    assert size_words(5000, 4096) == "5,000 tokens: more than the context of 4,096 holds."
    assert size_words(0, 4096) == "Far more tokens than the context of 4,096 holds."
    for end, most in (("\n", MOST_SHOWN), ("", MOST_IN_LINES)):
        shown = shortened(f"a{end}" * MOST_SHOWN + "b" * 10 + f"{end}c" * MOST_SHOWN)
        assert len(shown) < most + 100
        assert (shown[0], shown[-1]) == ("a", "c")
    assert shortened("short") == "short"
