"""Serving on this computer, from the window: the switch, the key, the log, and the runs that requests become."""

from __future__ import annotations

import asyncio
import json
import socket
import urllib.error
import urllib.request
from datetime import UTC, datetime

import pytest

from app.protocol import Generate, Load, Speculation, Step
from app.server.request_log import Entry, RequestLog
from app.ui.serving_control import OFF
from app.ui.serving_dialog import ServingDialog, entry_cells
from tests.doubles import Answer
from tests.metrics.sessions import NGRAM, run_of
from tests.ui.conftest import shows_dialog

ASK = {"messages": [{"role": "user", "content": "Say something."}]}

pytestmark = shows_dialog


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


async def ask(url: str, body=None, key: str = "") -> tuple[int, dict]:
    """Ask as another program would, from another thread."""

    def fetch():
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        request = urllib.request.Request(url, json.dumps(body).encode() if body else None, headers)
        try:
            with urllib.request.urlopen(request, timeout=40) as response:
                return response.status, json.loads(response.read())
        except urllib.error.HTTPError as fault:
            with fault:
                return fault.code, json.loads(fault.read())

    return await asyncio.get_running_loop().run_in_executor(None, fetch)


@pytest.fixture
def serving(program):
    """Open the page with a free port; returns what switches it on."""

    async def switch_on():
        control = program.controller.serving
        program.controller.choices.change(server_port=free_port())
        control.open()
        control.dialog.switch.click()
        await program.until(lambda: control.url and not control.is_busy)
        return control

    return switch_on


def test_the_switch_serves_what_is_loaded_and_requests_become_runs(program, serving):
    async def story():
        assert program.controller.serving.url == ""
        control = await serving()
        dialog = control.dialog
        assert dialog.address.text() == f"{control.url}/v1"
        assert dialog.state.text().startswith("On.")
        status, answer = await ask(f"{dialog.address.text()}/chat/completions", ASK)
        assert status == 200
        assert answer["choices"][0]["message"]["content"]
        assert len(program.host.session.runs) == 1
        await program.until(lambda: dialog.log.topLevelItemCount() == 1)
        cells = [dialog.log.topLevelItem(0).text(column) for column in range(dialog.log.columnCount())]
        assert cells[1:3] == ["/v1/chat/completions", "answered"]
        assert "tok/s" in cells[4]
        await program.ask("And from the window?")
        assert len(program.host.session.runs) == 2
        url = control.url
        dialog.switch.click()
        await program.until(lambda: not control.url and not control.is_busy)
        assert dialog.state.text() == OFF
        with pytest.raises(OSError, match="refused"):
            await ask(f"{url}/health")

    program.run(story)


def test_a_choice_during_a_start_does_not_end_in_off(program, serving):
    async def story():
        control = program.controller.serving
        program.controller.choices.change(server_port=free_port())
        control.open()
        control.dialog.switch.click()
        control._change(server_port=free_port())  # while the start is on its way
        await program.until(lambda: not control.is_busy)
        assert control.url

    program.run(story)


def test_a_request_waits_for_the_windows_own_answer_and_the_window_for_it(program, serving):
    program.answers = [Answer(text="word " * 30, pace_s=0.005)]

    async def story():
        control = await serving()
        asked = asyncio.ensure_future(ask(f"{control.url}/v1/chat/completions", ASK))
        await program.ask("At the same time.")
        status, _ = await asked
        assert status == 200
        assert [run.stop_reason for run in program.host.session.runs] == ["eos", "eos"]

    program.run(story)


def test_a_request_does_not_load_another_model(program, serving):
    async def story():
        control = await serving()
        status, answer = await ask(f"{control.url}/v1/chat/completions", {**ASK, "nctx": 512})
        assert status == 400
        assert "Choose it in the window" in answer["error"]["message"]

    program.run(story)


def test_a_request_that_waits_behind_a_choice_of_the_person_does_not_undo_it(program, serving):
    program.answers = [Answer(text="word " * 60, pace_s=0.01), Answer()]

    async def story():
        control = await serving()
        url = f"{control.url}/v1/chat/completions"
        first = asyncio.ensure_future(ask(url, ASK))
        await program.until(lambda: program.host.state.phase == "answering")
        program.controller.engine.pick_drafter("starter")
        second = asyncio.ensure_future(ask(url, ASK))
        await program.until(lambda: first.done() and second.done())
        assert [task.result()[0] for task in (first, second)] == [200, 200]
        await program.until(lambda: not program.controller.engine.is_loading)
        assert program.host.state.pair.draft == "starter"
        assert len([c for c in program.engines[0].commands if isinstance(c, Load)]) == 2

    program.run(story)


def test_a_template_that_was_set_for_the_model_holds_for_requests_too(program, serving):
    async def story():
        control = await serving()
        program.controller.choices.change(templates={"starter": "{{ messages[0].content }}"})
        assert (await ask(f"{control.url}/v1/chat/completions", ASK))[0] == 200
        asked = [command for command in program.engines[-1].commands if isinstance(command, Generate)]
        assert asked[-1].templating.template == "{{ messages[0].content }}"

    program.run(story)


def test_the_key_is_asked_for_once_it_is_wanted_and_a_new_one_ends_the_old(program, serving):
    async def story():
        control = await serving()
        dialog = control.dialog
        assert not dialog.key.text()
        dialog.is_keyed.click()
        await program.until(lambda: control.url and not control.is_busy)
        key = dialog.key.text()
        assert len(key) > 20
        assert (await ask(f"{control.url}/v1/models"))[0] == 401
        assert (await ask(f"{control.url}/v1/models", key=key))[0] == 200
        dialog.new_key.click()
        await program.until(lambda: dialog.key.text() != key and control.url and not control.is_busy)
        assert (await ask(f"{control.url}/v1/models", key=key))[0] == 401
        dialog.show_key.click()
        assert dialog.key.displayText() == dialog.key.text()

    program.run(story)


def test_a_port_that_is_taken_is_said_in_words(program):
    async def story():
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            control = program.controller.serving
            program.controller.choices.change(server_port=other.getsockname()[1])
            control.open()
            control.dialog.switch.click()
            await program.until(lambda: not control.is_busy and "Cannot serve" in control.dialog.state.text())
            assert not control.dialog.switch.isChecked()

    program.run(story)


def test_closing_the_program_ends_an_answer_of_the_server(program, serving):
    program.answers = [Answer(text="word " * 3000, pace_s=0.005)]

    async def story():
        control = await serving()
        asked = asyncio.ensure_future(ask(f"{control.url}/v1/chat/completions", ASK))
        await program.until(lambda: program.host.state.phase == "answering")
        await control.close()
        with pytest.raises((OSError, json.JSONDecodeError)):
            await asked

    program.run(story)


def test_every_part_has_a_name_for_screen_readers(window):
    dialog = ServingDialog(window)
    named = (dialog.switch, dialog.state, dialog.address, dialog.copy_address, dialog.port, dialog.key, dialog.log)
    assert all(part.accessibleName() for part in named)
    dialog.deleteLater()


def test_a_request_is_told_without_what_it_said():
    entry = Entry(1, datetime(2026, 11, 30, 12, 0, tzinfo=UTC), "/v1/completions", "starter")
    assert entry_cells(entry)[1:] == ("/v1/completions", "running…", "", "", "")
    entry.ended_s, entry.fault = 1.0, "left"
    assert entry_cells(entry)[2] == "the client left"


def test_a_lossy_answer_is_called_so_by_its_speed_and_by_what_was_kept():
    log, steps = (
        RequestLog(),
        [Step(0.1, 1, 0, 0, 0, 0, 0.0, 0.0, 20, ""), Step(0.2, 3, 4, 4, 3, 2, 0.0, 0.1, 23, "ngram")],
    )
    for lenient in (0.1, 0.0):
        way = Speculation(types=NGRAM.types, draft_tokens=4, lenient=lenient)
        log.end(log.begin("/v1/completions", "starter"), run_of(steps, speculation=way))
    lossy, lossless = map(entry_cells, log.entries())
    assert lossy[-2:] == (f"{lossless[-2]}, lossy", "2 of 4, lossy")
    assert lossless[-1] == "2 of 4"
