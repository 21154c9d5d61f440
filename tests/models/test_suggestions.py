"""What is suggested for a target: what fits, best first."""

from __future__ import annotations

from dataclasses import replace

from app.models.memory import Room
from app.models.pairs import Candidate, candidate_of_file
from app.models.suggestions import suggest
from app.protocol import Load
from tests.fixtures import tiny, tiny_mtp

HOW = Load(0, "", n_ctx=512)
PLENTY = Room("CPU", 64 << 30, 64 << 30)


def sized(candidate: Candidate, name: str, n_bytes: int) -> Candidate:
    return replace(candidate, name=name, n_bytes=n_bytes)


def grown(candidate: Candidate, factor: int) -> Candidate:
    """Return the same as if its weights were larger; a target of 4 billion numbers is not small."""
    tensors = tuple(
        replace(tensor, shape=(tensor.shape[0], tensor.shape[1] * factor)) if len(tensor.shape) == 2 else tensor
        for tensor in candidate.header.tensors
    )
    header = replace(candidate.header, tensors=tensors)
    return replace(candidate, header=header, n_bytes=candidate.n_bytes * factor)


def names(target: Candidate, drafts: list[Candidate], room: Room = PLENTY) -> list[str]:
    return [one.draft or one.kind for one in suggest(target, drafts, HOW, room)]


def test_the_largest_draft_that_is_small_enough_comes_first(tmp_path):
    tiny_one = candidate_of_file(tiny.llama(tmp_path / "m.gguf"))
    target = replace(grown(tiny_one, 60_000), name="target")
    drafts = [
        sized(tiny_one, "small", target.n_bytes // 20),
        sized(tiny_one, "middle", target.n_bytes // 4),
        sized(tiny_one, "large", target.n_bytes // 2),
    ]
    assert names(target, drafts) == ["middle", "small", "n-gram", "large"]


def test_for_a_small_target_n_grams_come_first(tmp_path):
    target = candidate_of_file(tiny.llama(tmp_path / "m.gguf"), "target")
    draft = sized(target, "draft", target.n_bytes // 8)
    assert names(target, [draft]) == ["n-gram", "draft"]


def test_heads_come_before_all_and_what_does_not_fit_is_left_out(tmp_path):
    pair = tiny_mtp.gemma4_pair(tmp_path)
    target, assistant = candidate_of_file(pair.target, "target"), candidate_of_file(pair.draft, "assistant")
    llama = candidate_of_file(tiny.llama(tmp_path / "m.gguf", n_tokens=100), "llama")
    assert names(target, [llama, assistant]) == ["assistant", "n-gram"]
    embedded = candidate_of_file(tiny_mtp.qwen35_embedded(tmp_path / "e.gguf"), "target")
    assert names(embedded, [llama, assistant]) == ["embedded heads", "n-gram"]


def test_what_does_not_fit_into_memory_now_comes_last(tmp_path):
    pair = tiny_mtp.gemma4_pair(tmp_path)
    target, assistant = candidate_of_file(pair.target, "target"), candidate_of_file(pair.draft, "assistant")
    (heads, plain) = suggest(target, [assistant], HOW, PLENTY)
    between = (heads.memory.n_bytes + plain.memory.n_bytes) // 2
    tight = suggest(target, [assistant], HOW, Room("CPU", int(between / 0.9), 64 << 30))
    assert [one.draft for one in tight] == [None, "assistant"]
    assert "are free now" in tight[1].warnings[-1]
    assert suggest(target, [assistant], HOW, Room("CPU", 1000, 2000)) == []
