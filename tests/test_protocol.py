"""Every message survives its line of JSON; nothing else is taken for one."""

from __future__ import annotations

import typing

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import protocol
from app.protocol import (  # fmt: skip
    Cancel,
    Chunk,
    Command,
    Done,
    Event,
    Generate,
    Load,
    Prefill,
    Sampling,
    Step,
    decode_command,
    decode_event,
    encode,
)

MESSAGES = (*typing.get_args(Command), *typing.get_args(Event))
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
STEPS = st.builds(Step)


def strategy(kind: object) -> st.SearchStrategy:
    """Build values of an annotation of the protocol."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return st.sampled_from(inner)
    if origin is tuple and inner[-1] is not Ellipsis:
        return st.tuples(*map(strategy, inner))
    if origin is tuple:
        return st.lists(strategy(inner[0]), max_size=4).map(tuple)
    if origin is dict:
        return st.dictionaries(strategy(inner[0]), strategy(inner[1]), max_size=3)
    if inner:  # a union with None
        return st.one_of(*map(strategy, inner))
    simple = {
        int: st.integers(-(2**53), 2**53),
        float: st.floats(allow_nan=False, allow_infinity=False),
        str: TEXT,
        bytes: st.binary(max_size=8),
        bool: st.booleans(),
        type(None): st.none(),
    }
    return simple[kind] if kind in simple else structs(kind)


def structs(kind: type) -> st.SearchStrategy:
    hints = typing.get_type_hints(kind)
    return st.builds(kind, **{name: strategy(hints[name]) for name in kind.__struct_fields__})


@given(st.one_of(*map(structs, MESSAGES)))
def test_every_message_survives_its_line(message):
    line = encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    decode = decode_command if isinstance(message, Command) else decode_event
    assert decode(line) == message


def test_tags_are_distinct_within_each_direction():
    for direction in (Command, Event):
        tags = [kind.__struct_config__.tag for kind in typing.get_args(direction)]
        assert len(set(tags)) == len(tags)


def test_a_generation_is_short_on_the_wire():
    step = Step(1.5, 3, 4, 4, 3, 2, 0.001, 0.01, 99, "ngram")
    line = encode(Chunk(7, "abc", (1, 2, 3), (True, True, False), step))
    assert len(line) < 260


def test_what_hardly_ever_happens_takes_no_room_on_the_wire():
    step = Step(1.5, 1, 4, 0, 0, 0, 0.0, 0.0, 99, "")
    for plain, slid in (
        (Prefill(7, 1, 2), Prefill(7, 1, 2, left_out=4)),
        (Chunk(7, "a", (1,), (False,), step), Chunk(7, "a", (1,), (False,), msgspec.structs.replace(step, slid=300))),
    ):
        assert decode_event(encode(slid)) == slid
        assert decode_event(encode(plain)) == plain
        assert len(encode(plain)) < len(encode(slid))
        assert not any(word in encode(plain) for word in (b"left_out", b"slid"))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"type":"cancel"}',
        b'{"type":"cancel","id":"1"}',
        b'{"type":"cancel","id":1,"extra":2}',
        b'{"type":"nonsense","id":1}',
        b'{"type":"load","id":1,"target":"\xff"}',
        b'{"type":"done","id":1,"stop_reason":"bored","text":"","prefill_s":0,"draft_prefill_s":0}',
    ],
)
def test_what_is_no_message_is_refused(line):
    for decode in (decode_command, decode_event):
        with pytest.raises(msgspec.MsgspecError):
            decode(line)


def test_messages_cannot_be_changed():
    with pytest.raises(AttributeError):
        Cancel(1).id = 2


def test_defaults_are_those_that_people_know():
    command = Generate(1, Sampling(seed=5), prompt="x")
    assert (command.sampling.temperature, command.sampling.top_k, command.sampling.top_p) == (0.8, 40, 0.95)
    assert command.speculation.types == ()
    assert Load(1, "m.gguf").draft_max == protocol.MAX_DRAFT_TOKENS
    assert Done(1, "eos", "", 0.1, 0.0).notices == ()
