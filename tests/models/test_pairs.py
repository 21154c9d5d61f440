"""What is said of a pair before it is loaded is what the real library then does with it."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.engine.byte_cursor import FileSource
from app.engine.gguf import Array
from app.engine.probe import Sizes
from app.engine.session import Session
from app.engine.template import Renderer
from app.errors import ModelError
from app.models.library import Library
from app.models.memory import PairMemory, Room
from app.models.pairs import (
    SPEC_TYPES,
    Candidate,
    Judgement,
    candidate_of_file,
    candidate_of_sources,
    judge,
    judge_ngram,
    with_memory,
)
from app.models.suggestions import suggest
from app.protocol import Load
from tests.engine.sessions import load
from tests.fixtures import tiny, tiny_mtp
from tests.fixtures.raw_gguf import RawGguf, small


@pytest.fixture(scope="module")
def session():
    session = Session(Renderer())
    yield session
    session.close()


def starter(_folder: Path) -> Path:
    return Library().resolve("starter").path


def llama(**how: object) -> Callable[[Path], Path]:
    return lambda folder: tiny.llama(folder / "llama.gguf", **how)


def embedded(**how: object) -> Callable[[Path], Path]:
    return lambda folder: tiny_mtp.qwen35_embedded(folder / "embedded.gguf", **how)


def part(make: Callable[..., tiny.TinyPair], which: str, **how: object) -> Callable[[Path], Path]:
    return lambda folder: getattr(make(folder, **how), which)


QWEN, GEMMA = tiny_mtp.qwen35_pair, tiny_mtp.gemma4_pair


@dataclass(frozen=True)
class Case:
    """A pair, whether it fits, and what the reasons say."""

    target: Callable[[Path], Path]
    draft: Callable[[Path], Path] | None
    fits: bool
    words: str = ""
    kind: str = "draft model"


TABLE = {
    # draft models: the vocabulary decides
    "same family": Case(llama(), llama(agree=0.5), True, "344 tokens, whose texts are the same"),
    "140 tokens fewer": Case(llama(), llama(n_tokens=tiny.N_VOCAB - 140), False, "differ by 140 tokens"),
    "128 tokens fewer": Case(llama(), llama(n_tokens=tiny.N_VOCAB - 128), True, "whose texts are the same"),
    "a token renamed": Case(llama(), llama(renamed={77: "zz"}), False, "Token 77 is '<0x48>' in the target and 'zz'"),
    "one of the first five renamed": Case(llama(), llama(renamed={3: "<|turn|>"}), True),
    "another begin of text": Case(llama(), llama(vocabulary={"bos_token_id": 3}), False, "begin-of-text tokens differ"),
    "no begin of text": Case(llama(), llama(vocabulary={"add_bos_token": False}), False, "Only the target's tokenizer"),
    "an end of text added": Case(
        llama(), llama(vocabulary={"add_eos_token": True}), False, "Only the draft's tokenizer"
    ),
    "another end of text": Case(llama(), llama(vocabulary={"eos_token_id": 4}), True),
    "another tokenizer": Case(llama(), llama(vocabulary={"model": "t5"}), False, "SentencePiece in the target"),
    "the starter for a tiny one": Case(llama(), starter, False, "vocabularies differ by"),
    "recurrent draft": Case(llama(), embedded(), False, "keeps a running state"),
    "unknown architecture": Case(llama(), lambda f: tiny.unknown_architecture(f / "u.gguf"), False, "“zeppelin”"),
    "llama for a hybrid": Case(part(QWEN, "target"), llama(), True),
    # heads in a file
    "heads of the target": Case(part(QWEN, "target"), part(QWEN, "draft"), True, "rows of 64", "heads in a file"),
    "heads with fewer tokens": Case(
        part(QWEN, "target"), part(QWEN, "draft", n_tokens=tiny.N_VOCAB - 140), False, "140", "heads in a file"
    ),
    "heads for another architecture": Case(
        llama(), part(QWEN, "draft"), False, "the target is llama", "heads in a file"
    ),
    "heads for another chain": Case(
        lambda f: tiny_mtp.hy_v3_chain(f / "c.gguf"), part(QWEN, "draft"), False, "is hy_v3", "heads in a file"
    ),
    # assistants
    "assistant of the target": Case(
        part(GEMMA, "target"), part(GEMMA, "draft"), True, "reads the target's memory", "assistant"
    ),
    "assistant of a wider target": Case(
        part(GEMMA, "target"),
        part(GEMMA, "draft", n_hidden=32),
        False,
        "rows of 32 numbers; the target makes rows of 64",
        "assistant",
    ),
    "assistant of other layers": Case(
        part(GEMMA, "target"), part(GEMMA, "draft", n_head_kv=2), False, "2 heads of 32", "assistant"
    ),
    "assistant for a llama": Case(llama(), part(GEMMA, "draft"), False, "this one is llama", "assistant"),
    "assistant for a hybrid": Case(
        part(QWEN, "target"), part(GEMMA, "draft"), False, "this one is qwen35", "assistant"
    ),
    # heads in the target
    "own heads": Case(embedded(), None, True, "1 MTP head in the target", "embedded heads"),
    "more own heads than run": Case(
        embedded(n_heads=2), None, False, "runs one of architecture qwen35", "embedded heads"
    ),
    "own heads in a chain": Case(
        lambda f: tiny_mtp.hy_v3_chain(f / "c.gguf"), None, True, "2 MTP heads", "embedded heads"
    ),
    # no drafter at all
    "n-grams": Case(llama(), None, True, "no second model", "n-gram"),
    "n-grams on a hybrid": Case(part(QWEN, "target"), None, True, "no second model", "n-gram"),
    # targets that are none
    "heads as a target": Case(part(QWEN, "draft"), None, False, "only drafts for another model", "n-gram"),
    "an assistant as a target": Case(part(GEMMA, "draft"), None, False, "only drafts for another model", "n-gram"),
    "unknown target": Case(
        lambda f: tiny.unknown_architecture(f / "u.gguf"), llama(), False, "the target's architecture"
    ),
}


def files(case: Case, folder: Path) -> tuple[Path, Path | None]:
    for name in ("target", "draft"):
        (folder / name).mkdir()
    return case.target(folder / "target"), case.draft(folder / "draft") if case.draft is not None else None


def judged(target: Path, draft: Path | None) -> Judgement:
    return judge(candidate_of_file(target), candidate_of_file(draft) if draft is not None else None)


@pytest.mark.parametrize("name", TABLE)
def test_the_word_before_is_the_deed_after(session, tmp_path, name):
    case = TABLE[name]
    target, draft = files(case, tmp_path)
    judgement = judged(target, draft)
    assert (judgement.fits, judgement.kind) == (case.fits, case.kind)
    assert case.words in " ".join(judgement.reasons)
    # WHEN the real library loads it
    try:
        loaded = load(session, target, draft, n_ctx=512)
    except ModelError:
        assert not judgement.fits
    else:
        assert (SPEC_TYPES[judgement.kind] in loaded.drafters) == judgement.fits, loaded.not_engageable


def test_a_broken_draft_is_told_as_broken(tmp_path):
    with pytest.raises(ModelError, match="ends after"):
        candidate_of_file(tiny.truncated(tmp_path / "half.gguf", tiny.llama(tmp_path / "m.gguf")))


def test_every_reason_is_told_at_once(tmp_path):
    target = candidate_of_file(tiny.llama(tmp_path / "t.gguf"))
    other = tiny.llama(tmp_path / "d.gguf", n_tokens=150, renamed={9: "x"}, vocabulary={"bos_token_id": 3})
    said = judge(target, candidate_of_file(other)).reasons
    assert [word for word in ("begin-of-text", "differ by 194", "Token 9") if word in " ".join(said)] == [
        "begin-of-text",
        "differ by 194",
        "Token 9",
    ]


def of(raw: RawGguf) -> Candidate:
    data = raw.bytes()
    return candidate_of_sources([FileSource("m.gguf", len(data), io.BytesIO(data))])


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (RawGguf().add_text("general.architecture", "mamba"), "cannot rewind for mamba"),
        (RawGguf().add_text("general.architecture", "qwen3next"), "cannot rewind for qwen3next"),
        (RawGguf().add_text("general.architecture", "t5encoder"), "is an embedding model"),
        (small(order=">"), "big-endian"),
        (small().add_text("general.type", "adapter"), "is an adapter (LoRA), not a language model"),
        (RawGguf().add_text("general.architecture", "llama"), "holds no weights"),
    ],
)
def test_a_target_that_cannot_be_one_says_why(raw, words):
    judgement = judge_ngram(of(raw))
    assert not judgement.fits
    assert words in " ".join(judgement.reasons)


# --- memory in the answer ---------------------------------------------------------------------------


def memory(free: int, total: int, need: int = 1_000_000_000) -> PairMemory:
    return PairMemory(4096, Sizes(need), None, Room("CPU", free, total), 1024, is_exact=True)


def test_what_never_fits_into_the_machine_does_not_fit(tmp_path):
    fine = judge_ngram(candidate_of_file(tiny.llama(tmp_path / "t.gguf")))
    assert fine.fit == "fits"
    never = with_memory(fine, memory(500_000_000, 800_000_000))
    assert not never.fits
    assert "It takes 1.0 GB" in never.reasons[-1]
    not_now = with_memory(fine, memory(500_000_000, 8_000_000_000))
    assert (not_now.fit, not_now.warnings) == (
        "fits with warnings",
        ("It takes 1.0 GB and 0.5 GB are free now: a context of 1024 fits.",),
    )
    assert with_memory(fine, memory(4_000_000_000, 8_000_000_000)).fit == "fits"


# --- the real pair ----------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.timeout(600)
def test_the_real_pair_fits_and_the_starter_does_not(session):
    folder = Path(os.environ["SLIPSTREAM_TEST_MODELS"])
    target = folder / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    draft = folder / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    small_one = Library().resolve("starter").path
    good, bad = judged(target, draft), judged(target, small_one)
    assert good.fits
    assert not bad.fits
    assert "Token 5 is '&' in the target and '<file_sep>' in the draft." in bad.reasons
    assert "draft-simple" in load(session, target, draft, n_ctx=512).drafters
    assert "draft-simple" not in load(session, target, small_one, n_ctx=512).drafters


NASTY = (0, -1, 2**64 - 1, float("nan"), float("inf"), True, "", Array("f32", 2, 0, 8, (float("nan"), float("inf"))))
NASTY += (Array("u32", 0, 0, 0, ()), Array("u32", 2, 0, 8, (0, 2**32 - 1)), Array("i32", 10**9, 0, 4 * 10**9, None))


@pytest.mark.parametrize("make", [tiny.llama_pair, tiny_mtp.gemma4_pair, tiny_mtp.qwen35_pair])
def test_whatever_a_header_says_it_is_judged(tmp_path, make):
    pair = make(tmp_path)
    target, draft = candidate_of_file(pair.target), candidate_of_file(pair.draft)
    room, how = Room("CPU", 8 << 30, 16 << 30), Load(0, "")
    for one in (target, draft):
        said = one.header.metadata
        headers = [replace(one.header, metadata={**said, key: value}) for key in said for value in NASTY]
        empty = tuple(replace(tensor, shape=(0,)) for tensor in one.header.tensors)
        for header in (*headers, replace(one.header, tensors=empty)):
            liar = replace(one, header=header)
            suggest(liar, [draft], how, room)
            suggest(target, [liar], how, room)
            judge(liar, liar)
