from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest

from app import __version__
from tests.cli.commands import COMMAND, ROOT, environment, run, started


def test_version():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"slipstream {__version__}\n")


def test_list_has_the_starter():
    done = run("list", "--json")
    models = json.loads(done.stdout)["models"]

    assert models[0]["name"] == "starter"
    assert models[0]["quantisation"] == "Q4_1"
    assert "starter" in run("list").stdout


def test_devices_has_the_cpu():
    found = json.loads(run("devices", "--json").stdout)

    assert "cpu" in [device["kind"] for device in found["devices"]]
    assert found["llama_cpp_python"] == "0.3.36"
    assert "llama-cpp-python 0.3.36" in run("devices").stdout


def test_nothing_is_written_to_the_terminal_and_the_log_is_kept(home):
    done = run("list")

    assert done.stderr == ""
    assert (home / "logs").is_dir()


def test_log_folder_that_cannot_be_made_is_no_hindrance(home):
    home.mkdir(parents=True)
    (home / "logs").write_text("in the way")

    assert run("list").returncode == 0


def loaded_by(module, *suspects):
    """Which of the suspects are in memory after the import, in a process of its own."""
    code = f"import sys, {module}; print([name for name in {suspects!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.linux
@pytest.mark.parametrize("home", ["/proc/none", "/dev/null"])
@pytest.mark.parametrize("arguments", [["list"], ["infer", "starter", "-p", "x"], []])
def test_data_folder_that_cannot_be_made_is_one_line_and_a_hint(monkeypatch, home, arguments):
    monkeypatch.setenv("SLIPSTREAM_HOME", home)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    done = run(*arguments)
    assert done.returncode == 1
    assert re.match(rf"error: The folder {home}\S* cannot be made: .+\.\nhint: Set SLIPSTREAM_HOME", done.stderr)


@pytest.mark.linux
def test_a_model_that_means_harm_by_its_name_does_not_either(tiny_pair, tmp_path):
    path = tmp_path / "\x1b]0;mine\x07.gguf"
    shutil.copy(tiny_pair.target, path)
    for arguments in ([path], [path, tiny_pair.draft], [path, "starter"]):
        done = run("pair", *arguments)
        assert done.returncode == 0, done.stderr
        assert "]0;mine" in done.stdout
        assert "\x1b" not in done.stdout


@pytest.mark.linux
def test_a_file_that_means_harm_by_its_name_does_not_reach_the_terminal(tmp_path):
    path = tmp_path / "\x1b]0;mine\x07\x1b[2J.gguf"
    path.write_text("no model", encoding="utf-8")
    for arguments in (["infer", path, "-p", "x"], ["pair", "starter", path], ["compare", path, path]):
        done = run(*arguments)
        assert done.returncode in (1, 2)
        assert "]0;mine" in done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        assert "\x07" not in done.stdout + done.stderr


def test_commands_load_no_qt_and_no_native_library():
    assert loaded_by("app.cli.program", "PySide6", "llama_cpp", "numpy", "huggingface_hub", "rich") == "[]"


def test_start_loads_nothing_before_it_knows_what_for():
    assert loaded_by("app.__main__", "typer", "rich", "msgspec", "asyncio", "PySide6") == "[]"


def test_output_is_utf8_whatever_the_locale(tmp_path):
    path = tmp_path / "grüße – 中文.gguf"
    path.write_text("no model")
    done = subprocess.run(
        [*COMMAND, "infer", os.fspath(path), "-p", "hi"],
        cwd=ROOT,
        env=environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert "error: " in done.stderr.decode("utf-8")


@pytest.mark.linux
def test_reader_that_leaves_before_the_output_is_no_traceback():
    with started("list", "--json") as process:
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(timeout=60) == 1
    assert errors == b""


@pytest.mark.linux
@pytest.mark.parametrize(
    "arguments",
    [
        ("infer", "starter", "-p", "hi", "--max-tokens", "4"),
        ("infer", "starter", "-p", "hi", "--max-tokens", "4", "--json"),
        ("list",),
        ("list", "--json"),
        ("--version",),
    ],
)
def test_output_that_cannot_be_written_is_one_line_and_a_hint(arguments):
    with open("/dev/full", "w") as full, started(*arguments, stdout=full, stderr=subprocess.PIPE) as process:  # noqa: PTH123
        errors = process.stderr.read().decode()
        assert process.wait(timeout=60) == 1
    line, hint = errors.splitlines()
    assert line == "error: The output cannot be written: No space left on device."
    assert hint.startswith("hint: ")


def test_worker_word_starts_the_engine_process():
    with started("worker", stdin=subprocess.PIPE) as process:
        hello = json.loads(process.stdout.readline())
        process.communicate(timeout=60)
    assert hello["type"] == "hello"


def test_probe_word_answers():
    done = run("probe")
    assert done.returncode == 0
    assert json.loads(done.stdout)["runtime"]["llama_cpp_python"] == "0.3.36"


@pytest.mark.linux
def test_window_without_a_screen_says_what_to_do():
    done = subprocess.run(
        COMMAND,
        cwd=ROOT,
        env={k: v for k, v in environment().items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    line, hint = done.stderr.splitlines()
    assert line.startswith("error: There is no display")
    assert "selftest" in hint


def _interrupted_in_load():
    """Start an answer and interrupt it as soon as the engine process is there; return how it ended."""
    with started("infer", "starter", "-p", "hi") as process:
        deadline = time.monotonic() + 60
        while not psutil.Process(process.pid).children() and time.monotonic() < deadline:
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    return process.returncode, output, errors


@pytest.mark.linux
def test_ctrl_c_while_a_model_loads_ends_quietly():
    for _ in range(5):
        code, output, errors = _interrupted_in_load()
        if code == 130:
            assert (output, errors) == (b"", b"")
            return
        # On a busy machine the model was there before the signal: then it stopped the answer, which is another test's.
        assert code == 0
        assert b"stop reason: cancelled" in output
    pytest.fail("five times the model was loaded before the signal came")
