from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Annotated

import pytest
import typer

from app.cli.bench import BenchOptions
from app.cli.command import command
from app.cli.infer import InferOptions
from app.cli.load_options import LoadOptions
from app.cli.options import grammar
from app.engine.llama import ELEMENT_TYPES as ENGINE_TYPES
from app.errors import UsageError
from app.host import PairChoice
from app.memory_types import ELEMENT_TYPES
from app.protocol import MemoryTypes


def test_the_names_are_those_of_the_engine():
    assert list(ENGINE_TYPES) == list(ELEMENT_TYPES)


def test_nothing_said_is_what_the_engine_does_by_itself():
    assert LoadOptions().pair("a", "b") == PairChoice("a", "b")


def test_everything_said_reaches_the_pair():
    how = LoadOptions(
        nctx=512,
        threads=3,
        draft_nctx=256,
        draft_threads=1,
        cache_type_k="q8_0",
        cache_type_v="q5_1",
        draft_cache_type_k="q4_0",
        draft_cache_type_v="f16",
        flash_attn="on",
    )
    assert how.pair("a", "b") == PairChoice(
        "a",
        "b",
        n_ctx=512,
        n_threads=3,
        memory=MemoryTypes("q8_0", "q5_1", flash_attention=True),
        draft_memory=MemoryTypes("q4_0", "f16", flash_attention=True),
        draft_n_ctx=256,
        draft_n_threads=1,
    )
    assert LoadOptions(flash_attn="off").pair("a", None).memory.flash_attention is False


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (LoadOptions(cache_type_k="q9"), "--cache-type-k q9 is not known"),
        (LoadOptions(draft_cache_type_v="F16"), "--draft-cache-type-v F16 is not known"),
        (LoadOptions(flash_attn="yes"), "--flash-attn yes is not known"),
        (LoadOptions(flash_attn="off", cache_type_v="iq4_nl"), "--cache-type-v iq4_nl needs flash attention"),
        (LoadOptions(flash_attn="off", draft_cache_type_v="q8_0"), "--draft-cache-type-v q8_0 needs flash attention"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_loaded(how, words):
    with pytest.raises(UsageError, match=words) as caught:
        how.pair("a", "b")
    assert caught.value.hint


@dataclass(frozen=True, slots=True)
class Part:
    size: Annotated[int, typer.Option("--size")] = 1


@dataclass(frozen=True, slots=True)
class Whole:
    name: Annotated[str, typer.Argument()]
    part: Part = field(default_factory=Part)


def test_a_part_of_options_becomes_options_of_the_command():
    seen = []
    run = command(Whole, seen.append)
    assert list(inspect.signature(run).parameters) == ["name", "size", "context"]
    run(name="a", size=4)
    assert seen == [Whole("a", Part(4))]


@pytest.mark.parametrize("options", [InferOptions, BenchOptions])
def test_infer_and_bench_load_alike(options):
    names = inspect.signature(command(options, print)).parameters
    assert set(inspect.signature(LoadOptions).parameters) <= set(names)


# --- grammars ---------------------------------------------------------------------------------------


def test_a_grammar_is_read_from_its_file(tmp_path):
    path = tmp_path / "digits.gbnf"
    path.write_bytes(b'\xef\xbb\xbfroot ::= [0-9] "\xc3\xa9"\r\n')
    assert grammar(path) == 'root ::= [0-9] "é"\n'
    assert grammar(None) == ""


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "Cannot read"),
        (b"  \n", "is empty"),
        (b"root ::= \xff", "not text in UTF-8"),
        (b'root ::= "a"\n\nb ::= b "c"\n', "left recursion in line 3"),
    ],
)
def test_a_file_that_is_no_grammar_is_refused_before_anything_is_loaded(tmp_path, content, words):
    path = tmp_path / "bad.gbnf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=words) as caught:
        grammar(path)
    assert caught.value.hint
