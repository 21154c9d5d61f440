"""The engine tells of the page faults that it decoded with."""

from __future__ import annotations

import mmap
import os
import subprocess

import pytest

from app.engine.paging import FaultWatch
from tests.engine.sessions import answer, load


@pytest.mark.linux
def test_pages_that_come_from_the_disk_are_counted(tmp_path):
    size = 4 * 1024 * 1024
    path = tmp_path / "weights"
    path.write_bytes(os.urandom(size))
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, size, os.POSIX_FADV_DONTNEED)
        with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as weights:
            weights.madvise(mmap.MADV_RANDOM)
            watch = FaultWatch()
            sum(weights[at] for at in range(0, size, mmap.PAGESIZE))
            told = watch.paging()
    asked = ["stat", "--file-system", "--format", "%T", str(path)]
    kind = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    assert (told.n_major_faults > 0) == (kind != "tmpfs"), "a file system in memory has no disk to wait for"
    assert told.n_major_faults <= told.n_faults
    assert told.n_faults >= size // mmap.PAGESIZE // 16  # a fault may bring several pages


def test_what_is_in_memory_already_is_no_fault_of_the_disk():
    memory = bytearray(1 << 20)
    watch = FaultWatch()
    memory[:: mmap.PAGESIZE] = b"x" * len(memory[:: mmap.PAGESIZE])
    told = watch.paging()
    assert told.n_major_faults in (0, None)
    assert told.resident_bytes > len(memory)
    assert told.n_faults >= 0


def test_an_answer_of_the_engine_carries_it(session, tiny_pair):
    load(session, tiny_pair.target)
    told = answer(session, "abc", max_tokens=8).done.paging
    assert told.n_major_faults == 0
    assert told.n_faults >= 0
    assert told.resident_bytes > 1 << 20
