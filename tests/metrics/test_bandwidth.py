from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.errors import EngineError
from app.metrics import bandwidth
from app.metrics.bandwidth import Bandwidth, cached, last_level_cache_bytes, measure, sweep

ANSWER = '{"bytes_per_s": 2e10, "kind": "read", "n_threads": 2, "array_bytes": 1024, "is_beyond_cache": true}'


def command(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_sweep_measures_what_memory_can_do():
    found = sweep(n_bytes=32 << 20, passes=1)
    assert 2e8 < found.bytes_per_s < 2e12
    assert found.array_bytes == 32 << 20
    assert found.n_threads >= 1


def test_the_answer_of_the_process_is_kept_for_this_machine(tmp_path):
    path = tmp_path / "bandwidth.json"
    assert cached(path) is None
    found = measure(path, command(f"print('{ANSWER}')"))
    assert found == Bandwidth(2e10, "read", 2, 1024, True)
    assert cached(path) == found


def test_what_another_machine_measured_is_not_ours(tmp_path):
    path = tmp_path / "bandwidth.json"
    measure(path, command(f"print('{ANSWER}')"))
    path.write_text(path.read_text().replace(bandwidth._machine(), "another"))
    assert cached(path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "\x00"])
def test_a_file_that_says_nothing_is_as_good_as_none(tmp_path, text):
    (tmp_path / "bandwidth.json").write_text(text)
    assert cached(tmp_path / "bandwidth.json") is None


@pytest.mark.parametrize("code", ["print('no')", "raise SystemExit(3)", "import os; os.abort()"])
def test_a_process_without_an_answer_is_told(tmp_path, code):
    with pytest.raises(EngineError, match="without an answer"):
        measure(tmp_path / "bandwidth.json", command(code))
    assert cached(tmp_path / "bandwidth.json") is None


def test_the_last_level_cache_is_the_largest_of_those_that_are_told():
    sizes = iter(["32K", "2048K", "480M"])

    def read(path: Path) -> str:
        try:
            return next(sizes) + "\n"
        except StopIteration:
            raise FileNotFoundError(path) from None

    assert last_level_cache_bytes(read) == 480 << 20
