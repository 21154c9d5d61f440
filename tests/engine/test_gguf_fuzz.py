"""Mutated headers: a short run each time, 200,000 of them when asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.gguf_fuzzer import MAX_MEMORY_BYTES, MAX_S

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import dataclasses, json, sys
from pathlib import Path
from tests.engine.gguf_fuzzer import fuzz
print(json.dumps(dataclasses.asdict(fuzz(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])))))
"""


@pytest.mark.linux
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("count", [1500, pytest.param(200_000, marks=pytest.mark.full)])
def test_mutated_headers_do_no_harm(tmp_path, count):
    # A process of its own: its peak of memory is that of the reading alone.
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(count), "7", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout)
    assert report["faults"] == []
    assert sum(report["outcomes"].values()) == count
    assert min(report["outcomes"][kind] for kind in ("refused", "judged")) > count / 20, (
        "mutants come too far or not far"
    )
    assert report["longest_s"] < MAX_S
    assert report["peak_bytes"] < MAX_MEMORY_BYTES
