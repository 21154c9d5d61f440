"""A split model is one model: the first part tells all, each holds some tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.gguf import read_header
from app.engine.parts import part_paths, read_whole, whole_name
from app.errors import ModelFileError, ModelNotFoundError
from app.models.pairs import candidate_of_file
from tests.fixtures.raw_gguf import RawGguf

N = 3


def part(folder: Path, number: int, *, n: int = N, n_told: int | None = None, index: int | None = None) -> Path:
    raw = RawGguf()
    if number == 1:
        raw.add_text("general.architecture", "llama").add_u32("llama.block_count", 3)
        raw.add_text("tokenizer.ggml.model", "llama").add_texts("tokenizer.ggml.tokens", ["a", "b"])
        raw.add("split.tensors.count", 5, raw.number(n if n_told is None else n_told, "i"))
    raw.add("split.no", 2, raw.number(number - 1 if index is None else index, "H"))
    raw.add("split.count", 2, raw.number(n, "H"))
    raw.add_tensor(f"blk.{number}.w", [32, number])
    raw.data = bytes(128 * number)
    path = folder / f"m-{number:05d}-of-{n:05d}.gguf"
    path.write_bytes(raw.bytes())
    return path


@pytest.fixture
def first(tmp_path) -> Path:
    paths = [part(tmp_path, number) for number in range(1, N + 1)]
    return paths[0]


def test_all_parts_are_one_model(first):
    header = read_whole(first)
    assert [tensor.name for tensor in header.tensors] == ["blk.1.w", "blk.2.w", "blk.3.w"]
    assert header.n_params == 32 * (1 + 2 + 3)
    assert header.n_file_bytes == sum(path.stat().st_size for path in first.parent.iterdir())
    assert part_paths(first, read_header(first)) == sorted(first.parent.iterdir())
    candidate = candidate_of_file(first)
    assert (candidate.n_bytes, candidate.texts.n) == (header.n_file_bytes, 2)
    assert whole_name(first.stem) == "m"


def test_a_model_in_one_file_is_itself(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(RawGguf().add_text("general.architecture", "llama").bytes())
    assert part_paths(path, read_header(path)) == [path]
    assert read_whole(path) == read_header(path)


def test_what_is_wrong_with_parts_is_said(tmp_path, first):
    second = first.with_name("m-00002-of-00003.gguf")
    with pytest.raises(ModelFileError, match="part 2 of 3"):
        read_whole(second)
    part(tmp_path, 2, index=2)
    with pytest.raises(ModelFileError, match="is not part 2 of 3"):
        read_whole(first)
    part(tmp_path, 2)
    part(tmp_path, 1, n_told=7)
    with pytest.raises(ModelFileError, match="promises 7 tensors; its parts hold 3"):
        read_whole(first)
    second.unlink()
    with pytest.raises(ModelFileError, match="1 of 3 parts are missing: m-00002-of-00003"):
        read_whole(first)
    with pytest.raises(ModelNotFoundError):
        read_whole(second)


def test_a_claim_of_many_parts_is_not_believed(tmp_path):
    with pytest.raises(ModelFileError, match="one of 60000 parts"):
        read_whole(part(tmp_path, 1, n=60_000))


def test_a_part_that_is_cut_off_is_said(first):
    third = first.with_name("m-00003-of-00003.gguf")
    third.write_bytes(third.read_bytes()[:-1])
    with pytest.raises(ModelFileError, match=r"m-00003-of-00003\.gguf ends after"):
        read_whole(first)
