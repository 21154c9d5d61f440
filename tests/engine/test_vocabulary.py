"""A tokenizer read from a header is the one that llama.cpp makes of it, and two of them are compared as there."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from app.engine.byte_cursor import FileSource
from app.engine.gguf import parse_header, read_header
from app.engine.llama import Model
from app.engine.vocabulary import NONE, Tokenizer, TokenTexts, first_difference, read_texts, tokenizer_of, why_not
from app.errors import ModelFileError
from app.models.library import Library
from tests.fixtures import tiny, tiny_mtp
from tests.fixtures.raw_gguf import BOOL, RawGguf


def texts(*words: str | bytes, order: str = "little") -> TokenTexts:
    data = [word.encode() if isinstance(word, str) else word for word in words]
    return TokenTexts(b"".join(len(d).to_bytes(8, order) + d for d in data), len(data), order)


def texts_of(path: Path) -> TokenTexts:
    with path.open("rb") as file:
        return read_texts(FileSource(path.name, path.stat().st_size, file), read_header(path))


FILES = {
    "starter": lambda folder: Library().resolve("starter").path,
    "llama": lambda folder: tiny.llama(folder / "m.gguf"),
    "fewer": lambda folder: tiny.llama(folder / "m.gguf", n_tokens=200),
    "adds bos": lambda folder: tiny.llama(folder / "m.gguf", vocabulary={"add_bos_token": True}),
    "adds no bos": lambda folder: tiny.llama(folder / "m.gguf", vocabulary={"add_bos_token": False}),
    "adds eos": lambda folder: tiny.llama(folder / "m.gguf", vocabulary={"add_eos_token": True}),
    "other bos": lambda folder: tiny.llama(folder / "m.gguf", vocabulary={"bos_token_id": 3}),
    "bos out of range": lambda folder: tiny.llama(folder / "m.gguf", vocabulary={"bos_token_id": 9999}),
    "gemma4": lambda folder: tiny_mtp.gemma4_pair(folder).target,
    "qwen35": lambda folder: tiny_mtp.qwen35_pair(folder).target,
}


@pytest.mark.parametrize("name", FILES)
def test_agrees_with_llama_cpp(tmp_path, name):
    path = FILES[name](tmp_path)
    told = tokenizer_of(read_header(path))
    model = Model(str(path), is_dry=True)
    try:
        native = (model.vocab_type, model.n_vocab, model.bos, model.eos, model.adds_bos, model.adds_eos)
        assert (told.kind, told.n_tokens, told.bos, told.eos, told.adds_bos, told.adds_eos) == native
        words = [text.decode() or f"[EMPTY_{i}]" for i, text in enumerate(texts_of(path))]
        assert words == [model.text_of(token) for token in range(model.n_vocab)]
    finally:
        model.close()


def of(model: str, pre: str = "", **flags: bool) -> Tokenizer | None:
    raw = RawGguf().add_text("tokenizer.ggml.model", model).add_texts("tokenizer.ggml.tokens", ["a"] * 20)
    if pre:
        raw.add_text("tokenizer.ggml.pre", pre)
    for key, value in flags.items():
        raw.add(f"tokenizer.ggml.{key}", BOOL, bytes([value]))
    data = raw.bytes()
    return tokenizer_of(parse_header(FileSource("m", len(data), io.BytesIO(data))))


@pytest.mark.parametrize(
    ("tokenizer", "expected"),
    [
        (of("llama"), (1, 1, 2, True, False)),
        (of("gpt2", "qwen2"), (2, 11, 11, False, False)),
        (of("gpt2", "llama-bpe"), (2, 11, 11, True, False)),
        (of("gpt2", "llama-bpe", add_bos_token=False), (2, 11, 11, False, False)),
        (of("gpt2", "glm4"), (2, NONE, 11, False, False)),
        (of("gemma4", add_bos_token=False), (2, NONE, NONE, True, False)),  # llama.cpp overrides the file here
        (of("t5"), (4, NONE, 1, False, True)),
        (of("bert"), (3, NONE, NONE, True, False)),  # its ids lie beyond these twenty tokens
    ],
)
def test_defaults_are_those_of_llama_cpp(tokenizer, expected):
    assert (tokenizer.kind, tokenizer.bos, tokenizer.eos, tokenizer.adds_bos, tokenizer.adds_eos) == expected


def test_an_unknown_tokenizer_is_none():
    assert of("zeppelin") is None


# --- comparing --------------------------------------------------------------------------------------

BASE = Tokenizer(2, 300, 1, 2, adds_bos=True, adds_eos=False)


@pytest.mark.parametrize(
    ("draft", "words"),
    [
        (Tokenizer(1, 300, 1, 2, adds_bos=True, adds_eos=False), "BPE in the target and SentencePiece in the draft"),
        (Tokenizer(2, 300, 1, 2, adds_bos=False, adds_eos=False), "Only the target's tokenizer adds a begin-of-text"),
        (Tokenizer(2, 300, 7, 2, adds_bos=True, adds_eos=False), "begin-of-text tokens differ: 1 in the target, 7 in"),
        (Tokenizer(2, 300, 1, 2, adds_bos=True, adds_eos=True), "Only the draft's tokenizer adds an end-of-text"),
        (Tokenizer(2, 429, 1, 2, adds_bos=True, adds_eos=False), "differ by 129 tokens (300 and 429)"),
    ],
)
def test_each_rule_speaks_for_itself(draft, words):
    (reason,) = why_not(BASE, draft)
    assert words in reason


def test_what_llama_cpp_does_not_compare_is_no_reason():
    assert why_not(BASE, Tokenizer(2, 428, 1, 9, adds_bos=True, adds_eos=False)) == []


FIVE = ("a", "b", "c", "d", "e")


def test_the_first_five_texts_may_differ():
    assert first_difference(texts(*FIVE, "x", "y"), texts(*reversed(FIVE), "x", "y")) is None
    assert texts(*FIVE, "x").fingerprint == texts(*reversed(FIVE), "x").fingerprint


def test_the_first_difference_is_named():
    found = first_difference(texts(*FIVE, "x", "y", "z"), texts(*FIVE, "x", "Y", "Z"))
    assert (found.token, found.target, found.draft) == (6, "y", "Y")
    assert str(found) == "Token 6 is 'y' in the target and 'Y' in the draft."
    assert texts(*FIVE, "y").fingerprint != texts(*FIVE, "Y").fingerprint


def test_more_tokens_in_one_are_no_difference():
    assert first_difference(texts(*FIVE, "x"), texts(*FIVE, "x", "y")) is None


def test_texts_end_at_a_zero_and_empty_ones_have_a_name_as_in_llama_cpp():
    assert first_difference(texts(*FIVE, b"x\0one"), texts(*FIVE, b"x\0two")) is None
    assert first_difference(texts(*FIVE, ""), texts(*FIVE, "[EMPTY_5]")) is None
    assert first_difference(texts(*FIVE, ""), texts(*FIVE, "x")).target == "[EMPTY_5]"


def test_the_byte_order_of_lengths_is_no_difference():
    assert first_difference(texts(*FIVE, "x"), texts(*FIVE, "x", order="big")) is None
    assert first_difference(texts(*FIVE, "x"), texts(*FIVE, "y", order="big")).token == 5


def test_a_file_without_a_vocabulary_says_so(tmp_path):
    data = RawGguf().add_text("general.architecture", "llama").bytes()
    source = FileSource("m.gguf", len(data), io.BytesIO(data))
    with pytest.raises(ModelFileError, match="holds no vocabulary"):
        read_texts(source, parse_header(source))
