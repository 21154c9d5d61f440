"""``serve`` as a person starts it, and every example of the README."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
import typer
from typer.main import get_command

from app.cli import program
from app.cli.command import command
from app.cli.serve import ServeOptions
from app.errors import UsageError
from app.protocol import Sampling, Speculation
from tests.cli.commands import ROOT, environment, run, started
from tests.fair_time import FairWatch
from tests.fixtures import tiny_mtp
from tests.hub_server import HubServer

SECTION = re.compile(r"^## Serve on this computer\n(.*?)^## ", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
LIMIT_S = 60


def examples() -> list[tuple[str, str]]:
    found = SECTION.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert found
    return BLOCK.findall(found[1])


def address(process) -> str:
    line = process.stdout.readline().decode().strip()
    assert line.startswith("http://127.0.0.1:"), (line, process.stderr.read())
    return line


@pytest.mark.linux
def test_every_example_of_the_readme_works():
    (_, command), *others = examples()
    arguments = command.split()[3:]
    with started(*arguments, "--port", "0", "--threads", "1") as process:
        url = address(process)
        for kind, text in others:
            text = text.replace("http://127.0.0.1:18181", url)
            argv = [sys.executable, "-c", text] if kind == "python" else ["sh", "-c", text]
            done = subprocess.run(argv, capture_output=True, timeout=LIMIT_S, check=True, env=environment())
            if kind == "python":
                assert b"kept: " in done.stdout
            else:
                assert json.loads(done.stdout)["timings"]["predicted_n"] > 1
        with urllib.request.urlopen(f"{url}/", timeout=LIMIT_S) as response:
            page = response.read().decode()
        assert "spec_draft_model" in page
        assert "http" not in re.sub(re.escape(url), "", page)  # it fetches nothing from elsewhere
        watch = FairWatch()
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT_S) == 0
        assert watch.took_s < 5
    assert len(others) >= 3


@pytest.mark.linux
def test_a_model_of_the_hub_is_got_for_a_request_where_that_is_allowed(monkeypatch, tmp_path, tiny_pair):
    with HubServer() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        monkeypatch.setenv("HF_HOME", str(tmp_path / "no-login"))
        hub.add("org/tiny-GGUF", "tiny-Q8_0.gguf", tiny_pair.target)
        with started("serve", "--pull", "--later", "--port", "0") as process:
            url = address(process)
            body = {"model": "org/tiny-GGUF", "prompt": "the cat", "max_tokens": 4}
            request = urllib.request.Request(
                f"{url}/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=LIMIT_S) as response:
                assert json.loads(response.read())["usage"]["completion_tokens"] == 4
            process.send_signal(signal.SIGTERM)
            assert process.wait(LIMIT_S) == 0


def options_of(*arguments):
    """Return what ``serve`` makes of a command line."""
    made = []
    app = typer.Typer()
    app.command()(command(ServeOptions, made.append))
    get_command(app).main(args=[*map(str, arguments)], standalone_mode=False)
    return made[0]


def test_defaults_hold_for_requests_that_do_not_say(tiny_pair, tmp_path):
    sampling = ("--repeat-penalty", 1.2, "--presence-penalty", 0.5, "--frequency-penalty", 0.25, "--top-k", 7)
    drafts = ("--draft-model", tiny_pair.draft, "--spec-type", "tree", "--draft-tokens", 6)
    defaults = options_of(tiny_pair.target, *sampling, *drafts, "--fixed-shape", "--lenient", 0.3).server().defaults()
    assert defaults.sampling == Sampling(
        seed=0, top_k=7, repeat_penalty=1.2, presence_penalty=0.5, frequency_penalty=0.25
    )
    assert defaults.speculation == Speculation(("tree",), 6, fixed_shape=True, lenient=0.3)
    assert defaults.pair.trees
    heads = tiny_mtp.gemma4_pair(tmp_path)
    made = options_of(heads.target, "--draft-model", heads.draft).server().defaults()
    assert made.speculation.types == ("ngram", "draft-mtp")
    assert not made.pair.trees


@pytest.mark.linux
def test_lenient_is_called_lossy_where_it_is_served(tiny_pair):
    how = ("--draft-model", tiny_pair.draft, "--draft-tokens", "3", "--lenient", "0.3")
    with started("serve", tiny_pair.target, *how, "--port", "0") as process:
        url = address(process)
        body = {"messages": [{"role": "user", "content": "abc"}], "max_tokens": 8}
        request = urllib.request.Request(
            f"{url}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=LIMIT_S) as response:
            assert json.loads(response.read())["timings"]["drafter"] == "draft-simple,lossy"
        process.send_signal(signal.SIGTERM)
        assert b"lossy" in process.communicate(timeout=10)[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "127.0.0.1:x"], "is not a port"),
        (["--key", "short"], "characters"),
        (["--cors-origin", "chat.example"], "origin"),
        (["--draft-tokens", "4"], "not who drafts"),
        (["--lenient", "0.3"], "not who drafts"),
        (["--spec-type", "ngram", "--draft-model", "starter"], "does not use it"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_loaded(arguments, words):
    with pytest.raises(UsageError, match=words):
        program.run(["serve", *arguments])


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [(["--host", "0.0.0.0"], 2, "a key is needed"), (["no-such-model", "--port", "0"], 1, "no-such-model")],
)
def test_it_is_said_in_one_line(arguments, code, words):
    done = run("serve", *arguments)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_said():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(UsageError, match=r"Cannot serve on 127\.0\.0\.1"):
            program.run(["serve", "--port", str(other.getsockname()[1])])
