"""What a pair takes: exact by a dry load, close enough from headers, and what follows for the context."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from app.engine.gguf import GgufHeader, read_header
from app.engine.llama.backend import listening
from app.engine.probe import Sizes, weigh
from app.engine.session import Session
from app.engine.template import Renderer
from app.errors import EngineDiedError, ModelFileError
from app.memory_types import ELEMENT_TYPES
from app.models.library import Library
from app.models.memory import Room, reckon, room_now, weigh_pair
from app.protocol import Load, MemoryTypes
from tests.engine.sessions import load
from tests.fixtures import tiny, tiny_mtp

PLENTY = Room("CPU", 64 << 30, 64 << 30)
MIB = 2**20

PAIRS = {
    "starter": lambda _: (Library().resolve("starter").path, None),
    "draft model": tiny.llama_pair,
    "heads in a file": tiny_mtp.qwen35_pair,
    "own heads": lambda folder: (tiny_mtp.qwen35_embedded(folder / "m.gguf"), None),
    "chain": lambda folder: (tiny_mtp.hy_v3_chain(folder / "m.gguf"), None),
    "assistant": tiny_mtp.gemma4_pair,
}


def how(target: Path, draft: Path | None = None, **more: object) -> Load:
    return Load(0, str(target), str(draft) if draft is not None else None, **{"n_ctx": 4096} | more)


def headers(target: Path, draft: Path | None) -> tuple[GgufHeader, GgufHeader | None]:
    return read_header(target), read_header(draft) if draft is not None else None


def parts(sizes: Sizes | None) -> tuple[int, ...]:
    return () if sizes is None else (sizes.weights_bytes, sizes.kv_bytes, sizes.state_bytes, sizes.compute_bytes)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("n_ctx", [2048, 5000])
def test_a_dry_load_is_exact_and_a_header_is_close(tmp_path, name, n_ctx):
    target, draft = PAIRS[name](tmp_path)
    command = how(target, draft, n_ctx=n_ctx)
    exact = weigh_pair(*headers(target, draft), command, PLENTY)
    rough = reckon(*headers(target, draft), command, PLENTY)
    assert (exact.is_exact, rough.is_exact) == (True, False)
    assert (exact.n_ctx, exact.draft is None) == (rough.n_ctx, rough.draft is None)
    for told, guessed in ((exact.target, rough.target), (exact.draft, rough.draft)):
        # Weights and memories are known; llama.cpp tells its own to two digits of a MiB.
        assert parts(guessed)[:3] == pytest.approx(parts(told)[:3], abs=0.012 * MIB)
    assert rough.n_bytes == pytest.approx(exact.n_bytes, rel=0.25)


@pytest.mark.parametrize("type_k", ELEMENT_TYPES)
def test_every_element_type_is_reckoned_as_llama_cpp_lays_it_out(tmp_path, type_k):
    target = Library().resolve("starter").path
    command = how(target, n_ctx=2048, memory=MemoryTypes(type_k=type_k, type_v="q8_0"))
    rough = reckon(read_header(target), None, command, PLENTY)
    assert rough.target.kv_bytes == pytest.approx(weigh(command).target.kv_bytes, abs=0.012 * MIB)


def test_snapshots_of_a_running_state_are_counted(tmp_path):
    target = tiny_mtp.qwen35_pair(tmp_path).target
    few, many = (weigh(how(target, draft_max=k)).target.state_bytes for k in (1, 7))
    assert many == pytest.approx(4 * few, abs=0.012 * MIB)
    assert reckon(read_header(target), None, how(target, draft_max=7), PLENTY).target.state_bytes == pytest.approx(
        many, abs=0.006 * MIB
    )


def _said(lines: list[str]) -> dict[str, int]:
    """Add up what llama.cpp says that it allocates."""
    found = dict.fromkeys(("KV", "RS", "compute", "output"), 0.0)
    for line in "".join(lines).splitlines():
        if (match := re.search(r"(KV|RS|compute|output) buffer size = +([\d.]+) MiB", line)) is not None:
            found[match[1]] += float(match[2])
    return {name: round(n * MIB) for name, n in found.items()}


@pytest.mark.parametrize("name", ["starter", "heads in a file"])
def test_a_real_load_allocates_what_the_dry_one_said(tmp_path, name):
    target, draft = PAIRS[name](tmp_path)
    weighed = weigh(how(target, draft, n_ctx=1024))
    lines: list[str] = []
    session = Session(Renderer())
    try:
        with listening(lines.append):
            load(session, target, draft, n_ctx=1024)
    finally:
        session.close()
    said, sizes = _said(lines), [size for size in (weighed.target, weighed.draft) if size is not None]
    assert sum(size.kv_bytes for size in sizes) == pytest.approx(said["KV"], abs=0.02 * MIB)
    assert sum(size.state_bytes for size in sizes) == pytest.approx(said["RS"], abs=0.02 * MIB)
    assert sum(size.compute_bytes for size in sizes) == pytest.approx(said["compute"] + said["output"], abs=0.02 * MIB)


def test_what_cannot_be_laid_out_is_told(tmp_path):
    with pytest.raises(ModelFileError, match="zeppelin"):
        weigh(how(tiny.unknown_architecture(tmp_path / "u.gguf")))
    with pytest.raises(ModelFileError, match="only drafts"):
        weigh(how(tiny_mtp.gemma4_pair(tmp_path).draft))
    weighed = weigh(how(tiny.llama(tmp_path / "m.gguf"), Library().resolve("starter").path))
    assert weighed.draft is None
    assert "different types" in weighed.why_no_draft


@pytest.mark.linux
def test_a_header_that_ends_the_process_is_told_as_that(tmp_path):
    # GIVEN a model that says it has no layers, which llama.cpp answers with abort()
    path = tiny.llama(tmp_path / "m.gguf")
    data = path.read_bytes()
    key = b"llama.block_count"
    at = data.index(key) + len(key) + 4
    path.write_bytes(data[:at] + b"\0\0\0\0" + data[at + 4 :])
    # THEN that ends a process of its own, and is said
    with pytest.raises((EngineDiedError, ModelFileError)) as caught:
        weigh(how(path))
    assert caught.value.hint


# --- what fits --------------------------------------------------------------------------------------


def test_the_longest_context_is_what_the_rest_of_the_memory_holds():
    path = Library().resolve("starter").path
    header = read_header(path)
    everything = reckon(header, None, how(path, n_ctx=8192), PLENTY)
    assert everything.n_ctx_max == 8192
    half = reckon(header, None, how(path, n_ctx=4096), PLENTY).n_bytes
    tight = reckon(header, None, how(path, n_ctx=8192), Room("CPU", int(half / 0.9) + 1_000_000, 1 << 34))
    assert not tight.fits
    assert tight.can_ever_fit
    assert 3840 <= tight.n_ctx_max <= 4352
    assert reckon(header, None, how(path, n_ctx=tight.n_ctx_max), tight.room).fits
    assert reckon(header, None, how(path), Room("CPU", 50_000_000, 60_000_000)).n_ctx_max == 0


def test_a_claim_of_billions_of_heads_costs_nothing():
    claim = (1 << 32) - 1
    numbers = {"qwen35.block_count": claim, "qwen35.nextn_predict_layers": claim - 1}
    header = GgufHeader("m", 0, 3, "little", {"general.architecture": "qwen35", **numbers}, (), 0)
    began_s = time.process_time()
    reckon(header, header, Load(0, ""), PLENTY)
    assert time.process_time() - began_s < 1


def test_a_context_is_never_longer_than_trained_for():
    path = Library().resolve("starter").path
    assert reckon(read_header(path), None, how(path, n_ctx=100_000), PLENTY).n_ctx == 8192
    assert reckon(read_header(path), None, how(path, n_ctx=0), PLENTY).n_ctx == 8192


def test_room_is_the_machines():
    room = room_now()
    assert room.device == "CPU"
    assert 0 < room.usable_bytes < room.free_bytes <= room.total_bytes


@pytest.mark.full
@pytest.mark.timeout(300)
@pytest.mark.parametrize("n_ctx", [1024, 32768])
def test_the_real_pair_is_reckoned_closely(n_ctx):
    folder = Path(os.environ["SLIPSTREAM_TEST_MODELS"])
    target = folder / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    draft = folder / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    command = how(target, draft, n_ctx=n_ctx)
    exact = weigh_pair(*headers(target, draft), command, PLENTY)
    assert reckon(*headers(target, draft), command, PLENTY).n_bytes == pytest.approx(exact.n_bytes, rel=0.05)
