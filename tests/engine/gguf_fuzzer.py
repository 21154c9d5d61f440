"""Mutates GGUF headers and reads them: no crash, no hang, no hunger for memory.

Seeded from the tiny models, the hand-written files and the starter. A mutation is what a liar would try: lengths and
counts replaced by telling numbers, bytes flipped, pieces cut, doubled, or taken from another seed. By hand::

    python -m tests.engine.gguf_fuzzer --count 200000 --seed 1
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.engine.anatomy import anatomy_of, quantisation_by_role
from app.engine.byte_cursor import ByteSource, FileSource
from app.engine.gguf import check_length, parse_header
from app.engine.heads import are_heads, has_embedded_heads
from app.errors import ModelError
from app.models.cautions import cautions
from app.models.library import Library
from app.models.memory import Room, reckon
from app.models.pairs import candidate_of_sources, judge, judge_own_heads
from app.protocol import Load
from tests.fixtures import tiny, tiny_mtp
from tests.fixtures.raw_gguf import small

MAX_S, MAX_MEMORY_BYTES = 2.0, 200 << 20
_SMALL = (0, 1, 2, 7, 8, 9, 31, 32, 33, 127, 255, 256, 4096, 65535, 1 << 20)
TELLING = (*_SMALL, *(edge + off for edge in (1 << 31, 1 << 32, 1 << 63) for off in (-1, 0)), (1 << 64) - 1)
HOLLOW_BYTES = 1 << 40


class Hollow:
    """Bytes with zeros after them: a mutant whose weights are there, as far as the header reader can tell."""

    name = "mutant.gguf"

    def __init__(self, data: bytes, n_bytes: int) -> None:
        self._data, self.n_bytes = data, n_bytes

    def read(self, offset: int, n_bytes: int) -> bytes:
        """Return the bytes from ``offset`` on, fewer only at the end of the file."""
        n_bytes = max(0, min(n_bytes, self.n_bytes - offset))
        return self._data[offset : offset + n_bytes].ljust(n_bytes, b"\0")


@dataclass
class Report:
    """What became of the mutants."""

    outcomes: dict[str, int] = field(default_factory=dict)
    longest_s: float = 0.0
    peak_bytes: int = 0
    faults: list[str] = field(default_factory=list)


def seeds(folder: Path) -> list[bytes]:
    """Return the files to mutate: headers whole, weights cut off."""
    paths = [tiny.llama(folder / "llama.gguf"), tiny_mtp.qwen35_embedded(folder / "qwen35.gguf")]
    paths += [
        *tiny_mtp.gemma4_pair(folder),
        tiny_mtp.qwen35_pair(folder).draft,
        tiny_mtp.hy_v3_chain(folder / "hy.gguf"),
    ]
    written = [small(order=order, version=version).bytes() for order in "<>" for version in (2, 3)]
    starter = Library().resolve("starter").path
    return [*written, *(_header_of(path) for path in paths), _header_of(starter)]


def _header_of(path: Path) -> bytes:
    data = path.read_bytes()
    header = parse_header(FileSource(path.name, len(data), io.BytesIO(data)))
    return data[: header.data_offset + 64]


def mutate(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Return a damaged copy; most mutations are small, so that the reader comes far."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        if not out:
            break
        # Half of all places lie in the first kilobytes, where counts and keys are.
        at = rng.randrange(min(len(out), rng.choice((64, 512, 4096, len(out)))))
        match rng.randrange(8):
            case 0 | 1:
                number = rng.choice(TELLING).to_bytes(8, rng.choice(("little", "big")))
                width = rng.choice((1, 2, 4, 8))
                out[at : at + width] = number[:width]
            case 2 | 3:
                out[at] ^= 1 << rng.randrange(8)
            case 4:
                del out[at : at + rng.choice((1, 8, 64, 4096))]
            case 5:
                out[at:at] = out[at : at + rng.choice((1, 8, 64, 512))]
            case 6:
                start = rng.randrange(len(other))
                out[at : at + 64] = other[start : start + rng.choice((8, 64, 512))]
            case _:
                del out[at:]
    return bytes(out)


def use(source: ByteSource) -> str:
    """Do all that is done with a header of a stranger; return what came of it."""
    try:
        header = parse_header(source)
    except ModelError as fault:
        if not fault.message or not fault.hint:
            raise AssertionError("an error without words") from fault
        return "refused"
    with contextlib.suppress(ModelError):  # the weights may be cut off: the rest must hold all the same
        check_length(header)
    _ = (header.quantisation, header.special_tokens, header.n_params, header.split, header.kind, header.n_vocab)
    _ = (header.licence, header.chat_template, are_heads(header), has_embedded_heads(header))
    anatomy_of(header)
    quantisation_by_role(header)
    cautions(header, header, "npu")
    reckon(header, header, Load(0, ""), Room("CPU", 1 << 30, 1 << 31))
    try:
        candidate = candidate_of_sources([source])
    except ModelError:
        return "read, but no model"
    judge(candidate, candidate, "gpu")
    judge_own_heads(candidate)
    return "judged"


def fuzz(count: int, seed: int, folder: Path, stop_s: float = float("inf")) -> Report:
    """Read mutants until there were ``count`` of them or the time is up; a fault is kept with its seed."""
    rng, report, known = random.Random(seed), Report(), seeds(folder)
    weights = [1 if len(data) > 1 << 20 else 20 for data in known]  # the starter's header takes a hundred times as long
    ends_s = time.monotonic() + stop_s
    _set_limits()
    before = _peak_bytes(start_again=True)
    for index in range(count):
        data, other = rng.choices(known, weights, k=2)
        mutant = mutate(rng, data, other)
        source = Hollow(mutant, rng.choice((len(mutant), HOLLOW_BYTES)))
        began_s = time.process_time()  # the machine may be busy
        signal.setitimer(signal.ITIMER_REAL, 5 * MAX_S)
        try:
            outcome = use(source)
            report.outcomes[outcome] = report.outcomes.get(outcome, 0) + 1
        except Exception as fault:
            report.faults.append(f"mutant {index} of seed {seed}: {type(fault).__name__}: {fault}")
        signal.setitimer(signal.ITIMER_REAL, 0)
        report.longest_s = max(report.longest_s, time.process_time() - began_s)
        if time.monotonic() > ends_s:
            break
    report.peak_bytes = _peak_bytes() - before
    return report


def _set_limits() -> None:
    """Let what hangs or devours raise in this process, for good: the machine has other work."""
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + 4 * MAX_MEMORY_BYTES,) * 2)
    signal.signal(signal.SIGALRM, _give_up)


def _give_up(_signal: int, _frame: object) -> None:
    raise TimeoutError("still busy")


def _peak_bytes(*, start_again: bool = False) -> int:
    """Return the most memory that this process has held, since it was told to start again (Linux)."""
    if start_again:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz from the command line; return 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        report = fuzz(chosen.count, chosen.seed, Path(folder))
    print(dict(report.outcomes), f"longest {report.longest_s:.2f} s, memory +{report.peak_bytes / 1e6:.0f} MB")
    print("\n".join(report.faults[:20]) or "nothing found")
    return int(bool(report.faults) or report.longest_s > MAX_S or report.peak_bytes > MAX_MEMORY_BYTES)


if __name__ == "__main__":
    sys.exit(main())
