"""How many threads to decode with when nobody said: one for each physical performance core."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil

SYSFS = Path("/sys/devices/system/cpu")

_SLOW = 0.75
"""A core with less than this share of the fastest one's capacity is an efficiency core."""


def default_threads() -> int:
    """Return the number of physical performance cores that this process may run on, at least 1.

    Decoding waits for memory, so a second thread on one core gains nothing and costs synchronisation; and all threads
    wait for the slowest at every barrier, so an efficiency core slows the others down.
    """
    try:
        allowed = set(psutil.Process().cpu_affinity())
    except (AttributeError, psutil.Error):  # macOS has no affinity
        allowed = set(range(psutil.cpu_count() or 1))
    n_cores = psutil.cpu_count(logical=False) or len(allowed)
    n_fast = performance_cores_windows() if sys.platform == "win32" else performance_cores_linux(allowed)
    return max(1, min(len(allowed), n_cores, n_fast or n_cores))


def performance_cores_linux(allowed: set[int], sysfs: Path = SYSFS) -> int | None:
    """Return how many of the allowed cores are fast ones; None where the system does not tell.

    Capacity is what the scheduler goes by on ARM, the highest frequency tells the kinds of an x86 apart.
    """
    for name in ("cpu_capacity", "cpufreq/cpuinfo_max_freq"):
        found = dict(_values(allowed, sysfs, name))
        if len(found) == len(allowed):
            fastest = max(found.values())
            fast = [cpu for cpu, value in found.items() if value >= _SLOW * fastest]
            return len({_core(cpu, sysfs) for cpu in fast})
    return None


def _values(cpus: set[int], sysfs: Path, name: str) -> Iterator[tuple[int, int]]:
    for cpu in cpus:
        try:
            yield cpu, int((sysfs / f"cpu{cpu}" / name).read_text())
        except (OSError, ValueError):
            return


def _core(cpu: int, sysfs: Path) -> str:
    """Return which physical core a processor belongs to: its siblings say the same."""
    try:
        return (sysfs / f"cpu{cpu}" / "topology/core_cpus_list").read_text()
    except OSError:
        return str(cpu)


def performance_cores_windows() -> int | None:
    """Return how many cores have the highest efficiency class; None where the system does not tell.

    Source: ``SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX`` with ``RelationProcessorCore``; a *higher* class is faster.
    """
    return next(iter(core_classes_windows()), None)


def core_classes_windows() -> tuple[int, ...]:
    """Return how many cores each efficiency class has, the fastest first; none where the system does not tell."""
    if sys.platform == "win32":
        import ctypes

        get = ctypes.windll.kernel32.GetLogicalProcessorInformationEx
        n_bytes = ctypes.c_ulong(0)
        get(_RELATION_PROCESSOR_CORE, None, ctypes.byref(n_bytes))
        buffer = ctypes.create_string_buffer(max(1, n_bytes.value))
        if n_bytes.value and get(_RELATION_PROCESSOR_CORE, buffer, ctypes.byref(n_bytes)):
            return core_classes(buffer.raw[: n_bytes.value])
    return ()


_RELATION_PROCESSOR_CORE = 0


def n_of_highest_class(records: bytes) -> int | None:
    """Return how many of the core records have the highest efficiency class; None for what is no list of records."""
    return next(iter(core_classes(records)), None)


def core_classes(records: bytes) -> tuple[int, ...]:
    """Return how many of the core records have each efficiency class, the highest first; none for what is no list.

    A record begins: relationship (4 bytes), size (4), flags (1), efficiency class (1).
    """
    classes: Counter[int] = Counter()
    at = 0
    while at + 10 <= len(records):
        size = int.from_bytes(records[at + 4 : at + 8], "little")
        if size < 10:
            return ()
        classes[records[at + 9]] += 1
        at += size
    return tuple(classes[kind] for kind in sorted(classes, reverse=True))
