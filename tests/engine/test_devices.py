"""The native library is the one our structs describe, its devices are listed, and a probe that dies says so."""

from __future__ import annotations

import shutil
import sys
import tracemalloc
from pathlib import Path

import psutil
import pytest

from app.engine import devices
from app.engine.probe import Runtime, probe
from app.engine.whole_files import require_whole, require_whole_with_needed
from app.errors import EngineDiedError, EngineError, LoadError


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.fixture(scope="module")
def runtime() -> Runtime:
    return probe()


def test_the_probe_names_the_runtime_that_we_are_made_for(runtime):
    assert runtime.llama_cpp_python == devices.PINNED.llama_cpp_python
    assert runtime.commit.startswith(devices.PINNED.commit) or runtime.commit == "unknown"
    assert runtime.features.startswith("CPU")
    assert any(Path(runtime.folder).iterdir())


def test_the_probe_lists_the_cpu(runtime):
    cpu = next(device for device in runtime.devices if device.kind == "cpu")
    assert (cpu.name, cpu.backend) == ("CPU", "CPU")
    assert cpu.description
    assert cpu.memory_total_bytes == psutil.virtual_memory().total
    assert 0 < cpu.memory_free_bytes <= cpu.memory_total_bytes


def test_the_same_answer_without_a_process(runtime):
    found = devices.check_runtime()
    assert [device.name for device in found.devices] == [device.name for device in runtime.devices]
    assert (found.commit, found.features) == (runtime.commit, runtime.features)


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        ("import os; os.abort()", EngineDiedError, "stopped itself after an internal check failed|gave up|crashed"),
        ("import os; os._exit(3)", EngineDiedError, "exit status 3"),
        ("print('{}')", EngineDiedError, "it left"),
        ("print('not an answer')", EngineDiedError, "it left"),
        ("raise ValueError('driver of 1998')", EngineDiedError, "Its last words: ValueError: driver of 1998"),
        (
            """print('{"error": {"code": "load", "message": "wrong library", "hint": "reinstall"}}')""",
            LoadError,
            "wrong library",
        ),
    ],
)
def test_a_probe_that_fails_says_why(code, kind, words):
    with pytest.raises(kind, match=words) as caught:
        probe(python(code))
    assert caught.value.hint


def test_a_probe_that_hangs_is_ended():
    with pytest.raises(EngineError, match=r"longer than 0\.5 seconds"):
        probe(python("import time; time.sleep(60)"), timeout_s=0.5)


def test_a_probe_that_cannot_start_says_so(tmp_path):
    with pytest.raises(EngineError, match="could not be started"):
        probe([str(tmp_path / "no-such-program")])


def test_what_native_code_prints_does_not_disturb_the_answer():
    code = (
        "import os, sys\n"
        "def greet(event, args):\n"
        "    if event == 'ctypes.dlopen' and ('llama' in str(args[0]) or 'ggml' in str(args[0])):\n"
        "        os.write(1, b'a library says hello'); os.write(2, b'greeted')\n"
        "sys.addaudithook(greet)\n"
        "from app.engine.devices import main; main()"
    )
    assert probe(python(code)).devices


def test_a_runtime_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))
    with pytest.raises(LoadError, match="cannot be loaded") as caught:
        probe()
    assert str(tmp_path) in caught.value.message
    assert "pip install" in caught.value.hint


@pytest.mark.linux
def test_a_runtime_of_another_version_is_refused(tmp_path, monkeypatch, runtime):
    # GIVEN the installed libraries with another version written into them
    for file in Path(runtime.folder).iterdir():
        shutil.copy(file, tmp_path)
    for file in tmp_path.glob("libggml-base.so*"):
        file.write_bytes(file.read_bytes().replace(b"\0" + runtime.ggml.encode() + b"\0", b"\x000.99.9\0"))
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))
    # THEN it is not touched any further
    with pytest.raises(LoadError, match=r"ggml 0\.99\.9 instead of 0\.25\.3") as caught:
        probe()
    assert str(tmp_path) in caught.value.message


@pytest.mark.linux
@pytest.mark.parametrize("share", [0.0, 0.00001, 0.00003, 0.5, 0.95])
@pytest.mark.parametrize("name", ["libllama", "libggml-base"])
def test_a_library_that_was_cut_off_is_named(name, share, tmp_path, monkeypatch, runtime):
    # GIVEN the installed libraries, one of them as a broken copy leaves it
    for file in Path(runtime.folder).iterdir():
        shutil.copy(file, tmp_path)
    for file in tmp_path.glob(f"{name}.so*"):
        whole = file.read_bytes()
        file.write_bytes(whole[: int(share * len(whole))])
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))
    # THEN it is refused by name, before a look behind its end takes the process with it
    with pytest.raises(LoadError, match=rf"{name}\.so[.0-9]* ends after .* of .*\.$") as caught:
        probe()
    assert "to its end" in caught.value.hint


@pytest.mark.linux
def test_a_library_that_is_cut_off_and_not_needed_is_no_reason_to_refuse(tmp_path, monkeypatch, runtime):
    for file in Path(runtime.folder).iterdir():
        shutil.copy(file, tmp_path)
    for name in ("libllama.so.99", "libggml.so", "libmtmd.so", "libggml-cuda-old.so"):
        (tmp_path / name).write_bytes((tmp_path / "libllama.so").read_bytes()[:9999])
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))
    assert probe().devices


def test_what_is_no_library_of_this_system_is_left_to_its_loader(tmp_path):
    path = tmp_path / "libllama.so"
    wild = b"\x7fELF\x02\x01" + bytes(26) + b"\xff" * 8 + bytes(14) + b"\x38\0\1\0" + bytes(6)  # segments at 2 ** 64
    others = (b"MZ" + bytes(200), b"\x7fELF\x01\x01" + bytes(40), b"\x7fELF\x02\x01" + bytes(58), b"hello")
    for content in (*others, wild):
        path.write_bytes(content)
        require_whole(path)
    require_whole(tmp_path / "gone.so")


def _library(path, n_bytes, needs=b"", at=0):
    """Write what begins like a library and has the name of another one somewhere; the rest is a hole."""
    with path.open("wb") as file:
        file.write(b"\x7fELF\x02\x01" + bytes(58))
        file.seek(at or 64)
        file.write(b"\0" + needs + b"\0")
        file.truncate(n_bytes)


@pytest.mark.skipif(sys.platform == "win32", reason="a hole takes room there")
def test_a_large_library_is_looked_through_in_parts(tmp_path):
    """That of CUDA has a gigabyte; the name may lie across two parts."""
    _library(tmp_path / "libllama.so", 96 << 20, b"libggml.so", (32 << 20) - 5)
    (tmp_path / "libggml.so").write_bytes(b"\x7fELF\x02\x01")
    (tmp_path / "libother.so").write_bytes(b"\x7fELF\x02\x01")
    tracemalloc.start()
    try:
        with pytest.raises(LoadError, match=r"libggml\.so ends after"):
            require_whole_with_needed(tmp_path / "libllama.so")
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
