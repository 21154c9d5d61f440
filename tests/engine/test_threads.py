"""How many threads are chosen, on machines described by files and records."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from app.engine.threads import default_threads, n_of_highest_class, performance_cores_linux


def machine(root: Path, capacities: list[int], siblings: list[str], name: str = "cpu_capacity") -> Path:
    for cpu, (capacity, core) in enumerate(zip(capacities, siblings, strict=True)):
        file = root / f"cpu{cpu}" / name
        file.parent.mkdir(parents=True)
        file.write_text(f"{capacity}\n")
        topology = root / f"cpu{cpu}" / "topology"
        topology.mkdir()
        (topology / "core_cpus_list").write_text(core)
    return root


@pytest.mark.parametrize(
    ("capacities", "siblings", "n"),
    [
        ([1024] * 4, list("0123"), 4),
        ([1024, 1024, 400, 400, 400, 400], list("012345"), 2),  # four efficiency cores
        ([1024] * 4, ["0-1", "0-1", "2-3", "2-3"], 2),  # two threads a core
        ([1024, 1000, 760], list("012"), 2),  # a preferred core is no other kind; three quarters is
    ],
)
def test_fast_physical_cores_are_counted(tmp_path, capacities, siblings, n):
    found = performance_cores_linux(set(range(len(capacities))), machine(tmp_path, capacities, siblings))
    assert found == n


def test_frequency_tells_where_there_is_no_capacity(tmp_path):
    root = machine(tmp_path, [5_000_000, 5_000_000, 3_600_000], list("012"), "cpufreq/cpuinfo_max_freq")
    assert performance_cores_linux({0, 1, 2}, root) == 2


def test_only_allowed_cores_count(tmp_path):
    root = machine(tmp_path, [1024, 1024, 400, 400], list("0123"))
    assert performance_cores_linux({2, 3}, root) == 2
    assert performance_cores_linux({0, 2}, root) == 1


def test_a_system_that_does_not_tell(tmp_path):
    assert performance_cores_linux({0, 1}, tmp_path) is None


def record(efficiency_class: int) -> bytes:
    return (0).to_bytes(4, "little") + (48).to_bytes(4, "little") + bytes([0, efficiency_class]) + bytes(38)


def test_windows_records_are_counted_by_class():
    assert n_of_highest_class(record(0) * 4 + record(1) * 8) == 8
    assert n_of_highest_class(record(0) * 12) == 12
    assert n_of_highest_class(b"") is None
    assert n_of_highest_class(bytes(64)) is None


def test_this_machine_has_at_least_one_and_no_more_than_it_may_use():
    assert 1 <= default_threads() <= (psutil.cpu_count() or 1)
