"""Every command: help is 0, wrong words are 2, what fails is 1; each error is one line and a hint."""

from __future__ import annotations

import pytest
from typer.main import get_command

from app.__main__ import DONE, FAILED, WRONG_USAGE, _guarded
from app.cli.program import _program
from app.cli.program import run as run_command


def paths(command=None, path=()):
    """Every command, by the words that call it."""
    command = command or get_command(_program())
    inner = getattr(command, "commands", None)
    if not inner:
        return [path]
    return [found for name, one in inner.items() for found in paths(one, (*path, name))]


COMMANDS = paths()


def code_of(*arguments: object) -> int:
    return _guarded(lambda: run_command([str(word) for word in arguments]))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_is_0_and_says_what_it_does(path, capsys):
    assert code_of(*path, "--help") == DONE
    out, err = capsys.readouterr()
    assert "Usage: " in out
    assert err == ""


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_an_unknown_option_is_2_one_line_and_a_hint(path, capsys):
    assert code_of(*path, "--no-such-option") == WRONG_USAGE
    out, err = capsys.readouterr()
    line, hint = err.splitlines()
    assert line.startswith("error: ")
    assert "--no-such-option" in line or "issing" in line
    assert hint == f"hint: python -m app {' '.join(path)} --help lists what it takes."
    assert out == ""


FAILURES = {
    ("infer",): ("no-such-model", "-p", "x"),
    ("bench",): ("no-such-model",),
    ("profile",): ("no-such-model", "--prompts", "chat"),
    ("export",): ("no-such-session", "--out", "{folder}"),
    ("compare",): ("no-such-session", "no-such-session"),
    ("pair",): ("no-such-model",),
    ("remove",): ("no-such-model",),
    ("import",): ("no-such-file.gguf",),
    ("models-folder",): ("/dev/null/nowhere",),
    ("search",): ("words",),
    ("pull",): ("org/nothing",),
    ("servers",): ("--add", "127.0.0.1:9"),
    ("runtime",): ("--add", "no-such-folder"),
    ("chats", "export"): ("--all", "--out", "/dev/null/nowhere/x.md"),
    ("chats", "import"): ("no-such-file.json",),
    ("chats", "backup"): ("/dev/null/nowhere/x",),
    ("chats", "restore"): ("no-such-file",),
}
"""What makes each fail; the tests run offline, so the hub's fail of themselves."""

CANNOT_FAIL = {("selftest",), ("devices",), ("doctor",), ("catalog",), ("list",), ("chats", "list")}
"""With these a machine must be broken first; their own tests do that."""


@pytest.mark.parametrize("path", sorted(FAILURES), ids=" ".join)
def test_what_fails_is_one_line_and_a_hint(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = [word.format(folder=tmp_path) for word in FAILURES[path]]
    assert code_of(*path, *arguments) in (FAILED, WRONG_USAGE)
    _out, err = capsys.readouterr()
    lines = err.splitlines()
    assert lines[-2].startswith("error: ")
    assert lines[-1].startswith("hint: ")


def test_each_command_has_its_failure_here():
    served = {("serve",)}  # its own tests have it
    assert set(COMMANDS) == set(FAILURES) | CANNOT_FAIL | (served & set(COMMANDS))


JSON = {("list",), ("catalog",), ("devices",), ("runtime",), ("chats", "list"), ("models-folder",)}


def options_of(path):
    command = get_command(_program())
    for word in path:
        command = command.commands[word]
    return {name for parameter in command.params for name in parameter.opts}


def test_json_wherever_facts_are_printed():
    without = {path for path in COMMANDS if "--json" not in options_of(path)}
    assert without <= {("selftest",), ("export",), ("serve",), ("doctor",)}, without


@pytest.mark.parametrize("path", sorted(JSON), ids=" ".join)
def test_json_is_one_document_and_nothing_else(path, capsys):
    import json

    assert code_of(*path, "--json") == DONE
    out, err = capsys.readouterr()
    json.loads(out)
    assert out.count("\n") == 1
    assert err == ""
