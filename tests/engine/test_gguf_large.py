"""Headers with a vocabulary of 256k tokens, on disk and elsewhere: little time, few bytes."""

from __future__ import annotations

import io
import time

import pytest

from app.engine.byte_cursor import FileSource
from app.engine.gguf import parse_header, read_header
from app.engine.vocabulary import read_texts, tokenizer_of
from app.models.pairs import candidate_of_sources, judge
from tests.fixtures.raw_gguf import ARRAY, RawGguf

N_TOKENS, N_MERGES = 262_144, 514_906
"""Sizes of Gemma 4's vocabulary, the largest in the catalog."""

F32, I32, TYPE_F32, TYPE_I32 = 0, 26, 6, 5


def gemma_like(n_weights_bytes: int) -> tuple[bytes, int]:
    """Return a header as long as Gemma 4's, and how long its file would be."""
    raw = RawGguf().add_text("general.architecture", "gemma4").add_u32("gemma4.block_count", 1)
    raw.add_u32("gemma4.embedding_length", 64).add_u32("gemma4.context_length", 4096)
    raw.add_text("tokenizer.ggml.model", "gemma4")
    raw.add_texts("tokenizer.ggml.tokens", [f"▁{i:05x}" for i in range(N_TOKENS)])
    for name, kind in (("scores", TYPE_F32), ("token_type", TYPE_I32)):
        raw.add(f"tokenizer.ggml.{name}", ARRAY, raw.number(kind, "I") + raw.number(N_TOKENS) + bytes(4 * N_TOKENS))
    raw.add_texts("tokenizer.ggml.merges", [f"▁ {i:05x}" for i in range(N_MERGES)])
    raw.add_text("tokenizer.chat_template", "{{ 1 }}" * 3000)
    raw.add_u32("tokenizer.ggml.bos_token_id", 2)
    raw.add_tensor("token_embd.weight", [64, n_weights_bytes // 256])
    header = raw.bytes()
    return header, len(header) + n_weights_bytes // 256 * 256


class Counting:
    """A file that is elsewhere: every byte that is not held yet is fetched, counted, and held."""

    name = "remote.gguf"

    def __init__(self, data: bytes, n_bytes: int) -> None:
        self._data, self.n_bytes = data, n_bytes
        self._held: set[int] = set()
        self.n_requests = 0

    @property
    def n_fetched_bytes(self) -> int:
        """How much was fetched, in blocks of 64 KiB."""
        return len(self._held) << 16

    def read(self, offset: int, n_bytes: int) -> bytes:
        """Return the bytes from ``offset`` on, zeros where the weights are."""
        blocks = set(range(offset >> 16, -(-(offset + n_bytes) >> 16)))
        self.n_requests += bool(blocks - self._held)
        self._held |= blocks
        return self._data[offset : offset + n_bytes].ljust(max(0, min(n_bytes, self.n_bytes - offset)), b"\0")


@pytest.fixture(scope="module")
def remote() -> tuple[bytes, int]:
    return gemma_like(15_000_000_000)


def test_of_15_gigabytes_elsewhere_less_than_16_megabytes_are_fetched(remote):
    source = Counting(*remote)
    candidate = candidate_of_sources([source])
    assert candidate.n_bytes > 15_000_000_000
    assert candidate.header.n_needed_bytes == candidate.n_bytes
    assert (tokenizer_of(candidate.header).n_tokens, candidate.texts.n) == (N_TOKENS, N_TOKENS)
    assert source.n_fetched_bytes < 16_000_000
    assert source.n_requests < 80
    # AND that is enough to judge it
    assert judge(candidate, candidate).fits


def test_of_what_is_no_model_little_is_fetched():
    source = Counting(b"<html>" + bytes(1 << 20), 15_000_000_000)
    with pytest.raises(Exception, match="not a GGUF file"):
        parse_header(source)
    assert source.n_fetched_bytes <= 1 << 16


@pytest.mark.linux
def test_a_large_vocabulary_on_disk_is_read_at_once(tmp_path, remote):
    # GIVEN a file of 15 GB, nearly all of it a hole
    header, n_bytes = remote
    path = tmp_path / "large.gguf"
    with path.open("wb") as file:
        file.write(header)
        file.truncate(n_bytes)
    took_s = []
    for _ in range(3):
        began_s = time.process_time()  # of this process alone: the machine may be busy
        read = read_header(path)
        took_s.append(time.process_time() - began_s)
    assert min(took_s) < 0.3
    assert read.n_vocab == N_TOKENS
    with path.open("rb") as file:
        began_s = time.process_time()
        texts = read_texts(FileSource(path.name, n_bytes, file), read)
        assert len(texts.fingerprint) == 16
        assert time.process_time() - began_s < 0.3


def test_where_an_array_lies_is_told(remote):
    data, _ = remote
    header = parse_header(FileSource("m", len(data), io.BytesIO(data)))
    tokens, scores = header.metadata["tokenizer.ggml.tokens"], header.metadata["tokenizer.ggml.scores"]
    assert (scores.n_bytes, scores.offset > tokens.offset + tokens.n_bytes) == (4 * N_TOKENS, True)
    end = data[tokens.offset + tokens.n_bytes :]
    assert end[8 : 8 + len("tokenizer.ggml.scores")] == b"tokenizer.ggml.scores"
