"""Models of other servers in the window: added, tested, chosen, asked, stopped; their figures stay their own word."""

from __future__ import annotations

import contextlib
import logging

import keyring
import pytest
from keyring.backend import KeyringBackend
from PySide6.QtCore import Qt

from app.chat.export import html_page, markdown
from app.chat.store import ChatStore
from app.protocol import Generate
from app.settings import ModelServer, Settings, load_settings, save_settings
from app.ui.remote_control import NOT_KEPT
from app.ui.remote_dialog import NONE_YET
from app.ui.remote_words import NO_GOING_ON, NOT_MEASURED
from app.ui.speed_panel import NO_NUMBER
from app.ui.wording import REPORTED
from tests.chat_server import MODELS, WORDS, ChatServer
from tests.ui.conftest import shows_dialog

pytestmark = shows_dialog
KEY = "sk-a-secret-of-the-test"


class Kept(KeyringBackend):
    """A keyring in memory."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.secrets: dict[tuple[str, str], str] = {}

    def get_password(self, service, username):
        return self.secrets.get((service, username))

    def set_password(self, service, username, password):
        self.secrets[service, username] = password

    def delete_password(self, service, username):
        del self.secrets[service, username]


@pytest.fixture
def kept():
    """A keyring that keeps, for one test."""
    before = keyring.get_keyring()
    keyring.set_keyring(ring := Kept())
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def server():
    with ChatServer() as running:
        yield running


async def add(program, url: str, key: str = ""):
    """Open the page and add a server; return the page."""
    control = program.controller.remote
    control.open()
    control.dialog.address.setText(url)
    control.dialog.key.setText(key)
    control.dialog.add_button.click()
    await program.until(lambda: not control.is_busy)
    return control.dialog


async def choose(program, url: str, model: str) -> None:
    """Add a server and let one of its models answer."""
    dialog = await add(program, url)
    dialog.models.setCurrentRow(MODELS.index(model))
    dialog.chat_button.click()
    await program.until(lambda: program.controller.remote.dialog is None)


def stored():
    """Read the newest conversation as another program would."""
    with contextlib.closing(ChatStore()) as store:
        return store.load(store.heads()[0].id).messages


def test_a_server_is_added_and_answers_in_place_of_the_model_here(program, server):
    async def story():
        assert server.asked == []
        dialog = await add(program, server.url)
        assert f"answers, and has {len(MODELS)} models" in dialog.state.text()
        assert [dialog.models.item(row).text() for row in range(dialog.models.count())] == list(MODELS)
        assert dialog.danger.isHidden()  # this very computer
        await choose(program, server.url, "speaks")
        assert server.url in program.controller.engine.status_words()
        bar = program.window.pair_bar
        assert bar.speculation_words == NOT_MEASURED
        assert program.window.panel.state == f"Speculation {NOT_MEASURED}"
        assert bar._target.currentText().startswith("speaks@127.0.0.1")
        assert not bar._drafter.isEnabled()
        view = await program.ask("When does it leave?")
        assert view.text == "".join(WORDS)
        assert REPORTED in view.status
        assert "42.5 tok/s" in view.status
        assert "14/75" in view.status
        assert server.asked[0]["messages"][-1] == {"role": "user", "content": "When does it leave?"}
        assert {"temperature", "top_k", "top_p", "min_p", "repeat_penalty"} <= set(server.asked[0])  # as it is shown
        assert program.host.session.runs == ()
        assert not any(isinstance(command, Generate) for engine in program.engines for command in engine.commands)

    program.run(story)
    answer = stored()[-1]
    assert (answer.text, answer.state) == ("".join(WORDS), "complete")
    assert answer.stats.reported.decode_tps == 42.5
    assert (answer.stats.decode_tps, answer.stats.n_tokens, answer.stats.n_proposed) == (None, 0, 0)
    assert answer.stats.server == server.url


def test_nothing_of_a_servers_figures_is_exported_as_measured(program, server):
    async def story():
        await choose(program, server.url, "speaks")
        await program.ask("When?")
        assert not program.window.panel.foot.export.isEnabled()

    program.run(story)
    with contextlib.closing(ChatStore()) as store:
        conversation = store.load(store.heads()[0].id)
    for text in (markdown(conversation), html_page([conversation])):
        assert "42.5" not in text


def test_the_model_here_comes_back_and_the_choice_outlives_the_program(program, server):
    async def story():
        await choose(program, server.url, "speaks")
        assert load_settings()[0].server_model == "speaks"
        program.controller.engine.pick_target("starter")
        await program.until(lambda: not program.controller.engine.is_loading)
        assert program.controller.choices.remote is None
        await program.ask("And here?")
        assert len(program.host.session.runs) == 1
        assert server.asked == []
        speed = program.window.panel._number
        assert speed.text() != NO_NUMBER
        await choose(program, server.url, "speaks")
        await program.ask("And there?")
        assert speed.text() == NO_NUMBER  # that of the answer before is not the last answer's

    program.run(story)


def test_a_server_that_is_chosen_already_needs_no_model_here(program, server):
    url = f"{server.url}/v1"
    save_settings(Settings(servers=(ModelServer(url=url, models=MODELS),), server_url=url, server_model="speaks"))

    async def story():
        assert program.engines == []  # nothing was started, nothing loaded
        assert (await program.ask("When?")).text == "".join(WORDS)
        assert program.engines == []
        program.controller.engine.pick_target("starter")
        await program.until(lambda: not program.controller.engine.is_loading)
        await program.ask("And here?")
        assert len(program.host.session.runs) == 1

    program.run(story)


def test_thoughts_are_told_from_the_answer(program, server):
    async def story():
        await choose(program, server.url, "thinks")
        view = await program.ask("When?")
        assert view.text == "<think>A train, then.</think>\n\nIt leaves."
        assert "not engaged: The vocabularies differ." in view.status
        assert view.foot.status.textFormat() is Qt.TextFormat.PlainText

    program.run(story)
    assert (stored()[-1].reasoning, stored()[-1].text) == ("A train, then.", "It leaves.")


def test_stop_and_answer_again(program, server):
    async def story():
        await choose(program, server.url, "endless")
        program.send("Go on and on.")
        await program.until(lambda: len(program.said) > 50)
        program.controller.answering.stop()
        await program.until(lambda: not program.controller.answering.is_busy)
        assert server.gone.wait(40)
        assert "stopped by you" in program.last_answer.status
        n_asked = len(server.asked)
        program.controller.branching.go_on_with_last()
        assert program.window.notice.words.startswith(NO_GOING_ON)
        program.controller.engine.pick_server(program.controller.choices.remote._replace(model="speaks"))
        program.controller.branching.answer_again(1)
        await program.until(lambda: not program.controller.answering.is_busy)
        assert program.said == "".join(WORDS)
        assert len(server.asked) == n_asked + 1

    program.run(story)
    assert len(stored()) == 2


@pytest.mark.parametrize(
    ("model", "words", "text"),
    [
        ("breaks", "broke off", "Half an "),
        ("fault", "out of memory", "Half an "),
        ("refuses", "Too many wait already", ""),
        ("page", "is not OpenAI's API", ""),
        ("empty", "answer is empty", ""),
    ],
)
def test_a_fault_is_said_and_what_came_is_kept(program, server, model, words, text):
    async def story():
        await choose(program, server.url, model)
        program.send("When?")
        await program.until(lambda: not program.controller.answering.is_busy)
        assert words in program.window.notice.words
        if text:
            assert program.said == text

    program.run(story)
    last = stored()[-1]
    assert (last.role, last.text) == (("assistant", text) if text else ("user", "When?"))


def test_a_key_is_kept_in_the_keyring_sent_there_alone_and_never_logged(program, kept, caplog):
    caplog.set_level(logging.DEBUG)

    async def story():
        control = program.controller.remote
        dialog = await add(program, server.url)
        assert "Incorrect API key" in dialog.state.text()
        assert dialog.address.text() == server.url  # nothing that was typed is lost
        assert program.controller.choices.settings.servers == ()
        dialog.key.setText("sk-wrong")
        dialog.add_button.click()
        await program.until(lambda: not control.is_busy)
        assert "sk-wrong" not in dialog.state.text()
        dialog = await add(program, server.url, KEY)
        assert "answers" in dialog.state.text()
        assert dialog.key.text() == ""
        assert list(kept.secrets.values()) == [KEY]
        dialog.test_button.click()
        await program.until(lambda: not control.is_busy)
        assert "answers" in dialog.state.text()
        await choose(program, server.url, "speaks")
        await program.ask("When?")
        assert server.keys[-1] == f"Bearer {KEY}"
        control.open()
        control.dialog.remove_button.click()
        await program.until(lambda: not control.is_busy)
        assert kept.secrets == {}
        assert control.dialog.state.text() == NONE_YET or "removed" in control.dialog.state.text()
        assert program.controller.choices.remote is None
        await program.until(lambda: not program.controller.engine.is_loading)

    with ChatServer(KEY) as server:
        program.run(story)
    assert KEY not in caplog.text
    assert KEY not in load_settings()[0].__repr__()


def test_without_a_keyring_the_key_holds_until_the_end_and_that_is_said(program):
    async def story():
        dialog = await add(program, server.url, KEY)
        assert NOT_KEPT in dialog.state.text()
        await choose(program, server.url, "speaks")
        await program.ask("When?")
        assert server.keys[-1] == f"Bearer {KEY}"

    with ChatServer(KEY) as server:
        program.run(story)


@pytest.mark.parametrize(
    ("address", "words"),
    [("not an address", "is not the address of a server"), ("127.0.0.1:9", "There is no server at")],
)
def test_an_address_that_does_not_answer_is_not_added(program, address, words):
    async def story():
        dialog = await add(program, address)
        assert words in dialog.state.text()
        assert program.controller.choices.settings.servers == ()
        assert dialog.servers.count() == 0

    program.run(story)


def test_another_computer_without_tls_is_called_open(program, server):
    async def story():
        await add(program, server.url)
        choices = program.controller.choices
        (one,) = choices.settings.servers
        choices.change(servers=(one, type(one)(url="http://192.0.2.1:8000/v1", models=("far",))))
        program.controller.remote.refresh()
        dialog = program.controller.remote.dialog
        assert "192.0.2.1" in dialog.danger.text()
        assert not dialog.danger.isHidden()
        dialog.model_chosen.emit("http://192.0.2.1:8000/v1", "far")
        assert "anybody on the network can read it" in program.controller.engine.status_words()

    program.run(story)


def test_an_address_that_somebody_broke_in_the_settings_is_passed_over(program):
    save_settings(Settings(servers=(ModelServer(url="::", models=("a",)),), server_url="::", server_model="a"))

    async def story():
        program.controller.remote.open()
        assert program.controller.remote.dialog.state.text() == NONE_YET
        await program.ask("Who answers?")
        assert len(program.host.session.runs) == 1

    program.run(story)


def test_the_prompt_of_a_server_is_not_made_up(program, server):
    async def story():
        await choose(program, server.url, "speaks")
        prompt = program.controller.conversation.prompt
        prompt.open()
        await program.until(lambda: prompt.dialog.notices.text())
        assert prompt.dialog.notices.text().startswith(f"The server at {server.url} makes the prompt")
        assert prompt.dialog.prompt.toPlainText() == ""

    program.run(story)
