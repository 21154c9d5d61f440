"""This machine's memory bandwidth, measured once, in a process of its own.

Threads read or copy, each its own share of an array that no cache holds, as many as are fastest: a core alone seldom
fills the memory bus. It is what a program can get, 60 to 90 % of what the memory's clock and width say.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from app.engine import leash
from app.engine.hearing import hear
from app.errors import EngineError
from app.metrics.atomic import replacing
from app.metrics.machine import cpu_name
from app.paths import cache_dir

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["read", "copy"]
Kernel = Callable[["NDArray[np.float64]"], None]

LEAST_BYTES = 256 << 20
"""Size of the array where the last-level cache is smaller than a quarter of this, or not known."""

MOST_BYTES = 1 << 30
"""A larger one would only take longer."""

MOST_SHARE = 0.25
"""Most of the free memory that the array may take."""

TIMEOUT_S = 60.0
_PASSES = 3
_VERSION = 1


class Bandwidth(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A measurement: bytes moved a second, by which work, with how many threads, over an array of how many bytes.

    ``is_beyond_cache`` is false where memory did not suffice for an array that no cache holds.
    """

    bytes_per_s: float
    kind: Kind
    n_threads: int
    array_bytes: int
    is_beyond_cache: bool


class _Kept(msgspec.Struct, frozen=True):
    version: int
    machine: str
    bandwidth: Bandwidth


def cached(path: Path | None = None) -> Bandwidth | None:
    """Return what was measured on this machine before; None if nothing was."""
    try:
        kept = msgspec.json.decode((path or _path()).read_bytes(), type=_Kept)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return kept.bandwidth if (kept.version, kept.machine) == (_VERSION, _machine()) else None


def measure(path: Path | None = None, command: Sequence[str] | None = None) -> Bandwidth:
    """Measure in a process of its own and keep the result; blocks for some seconds, so not for the window's thread.

    Raises:
        EngineError: the process could not be started, took too long or ended without an answer.
        ExportError: the result cannot be kept.
    """
    hint = "Close what needs much memory and try again."
    try:
        child = leash.spawn(list(command or leash.command("bandwidth")), stderr=subprocess.PIPE)
    except OSError as fault:
        raise EngineError(f"The bandwidth measurement could not be started: {fault.strerror}.", hint) from fault
    heard = hear(child, b"", TIMEOUT_S)
    if heard.is_late:
        raise EngineError(f"Measuring the memory took longer than {TIMEOUT_S:g} seconds.", hint)
    try:
        found = msgspec.json.decode(heard.output, type=Bandwidth)
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise EngineError(f"Measuring the memory ended without an answer (status {heard.status}).", hint) from fault
    with replacing(path or _path()) as file:
        file.write(msgspec.json.encode(_Kept(_VERSION, _machine(), found)))
    return found


def _path() -> Path:
    return cache_dir() / "bandwidth.json"


def _machine() -> str:
    import psutil

    return f"{cpu_name()}, {psutil.cpu_count()} threads, {psutil.virtual_memory().total >> 30} GiB"


# --- the process that measures ----------------------------------------------------------------------


def main() -> int:
    """Measure and write the answer as one line of JSON."""
    leash.tie()
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # the threads are ours
    sys.stdout.buffer.write(msgspec.json.encode(sweep()) + b"\n")
    sys.stdout.flush()
    return 0


def sweep(n_bytes: int | None = None, passes: int = _PASSES) -> Bandwidth:
    """Read and copy with 1, 2, 4 … threads up to one a core; return the fastest, each the median of ``passes``."""
    import numpy as np
    import psutil

    cores = psutil.cpu_count(logical=True) or 1
    cache_bytes = last_level_cache_bytes()
    wanted = n_bytes or min(MOST_BYTES, max(LEAST_BYTES, 4 * cache_bytes))
    size = min(wanted, round(psutil.virtual_memory().available * MOST_SHARE)) >> 12 << 12
    array = np.ones(size // 8, dtype=np.float64)
    counts = sorted({cores, *(1 << i for i in range(cores.bit_length()) if 1 << i <= cores)})
    kernels: tuple[tuple[Kind, Kernel], ...] = (("read", _read), ("copy", _copy))
    found = [
        Bandwidth(_rate(array, n, passes, work), kind, n, array.nbytes, array.nbytes > 2 * cache_bytes)
        for n in counts
        for kind, work in kernels
    ]
    return max(found, key=lambda one: one.bytes_per_s)


def _read(share: NDArray[np.float64]) -> None:
    share.dot(share)  # numpy's own sums are slower than memory


def _copy(share: NDArray[np.float64]) -> None:
    """Read one half and write the other: as many bytes as reading all of it."""
    half = len(share) // 2
    share[:half] = share[half : 2 * half]


def _rate(array: NDArray[np.float64], n_threads: int, passes: int, work: Kernel) -> float:
    """Bytes a second of so many threads that have a share each; the first pass, which wakes them, is dropped."""
    import numpy as np

    shares = np.array_split(array, n_threads)
    ready = threading.Barrier(n_threads)

    def timed(share: NDArray[np.float64]) -> tuple[float, float]:
        ready.wait()
        started_s = time.perf_counter()
        work(share)
        return started_s, time.perf_counter()

    took: list[float] = []
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in range(passes + 1):
            spans = list(pool.map(timed, shares))
            took.append(max(end for _, end in spans) - min(start for start, _ in spans))
    middle_s = sorted(took[1:])[len(took[1:]) // 2]
    return array.nbytes / middle_s


def last_level_cache_bytes(read: Callable[[Path], str] = lambda path: path.read_text(encoding="ascii")) -> int:
    """Size of the largest cache that the first core sees; 0 where the system does not say (other than Linux)."""
    sizes = [0]
    for index in range(8):
        try:
            words = read(Path(f"/sys/devices/system/cpu/cpu0/cache/index{index}/size")).strip()
        except OSError:
            break
        scale = {"K": 10, "M": 20, "G": 30}.get(words[-1:].upper(), 0)
        digits = words.rstrip("KMGkmg")
        sizes.append(int(digits) << scale if digits.isdecimal() else 0)
    return max(sizes)
