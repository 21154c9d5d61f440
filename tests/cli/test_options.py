from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from app.cli import options
from app.cli.command import command
from app.errors import UsageError
from app.protocol import Speculation


@pytest.mark.parametrize(
    ("text", "draft", "types"),
    [
        (None, None, ()),
        (None, "small", ("draft-simple",)),
        ("none", None, ()),
        ("ngram", None, ("ngram",)),
        ("ngram-mod", None, ("ngram",)),
        ("ngram, draft-simple", "small", ("ngram", "draft-simple")),
        ("ngram,ngram", None, ("ngram",)),
    ],
)
def test_spec_types(text, draft, types):
    assert options.spec_types(text, draft) == types


def test_ngram_is_at_hand_where_the_length_is_chosen_by_what_pays():
    assert options.spec_types(None, "small", is_auto=True) == ("ngram", "draft-simple")
    assert options.spec_types("draft-simple", "small", is_auto=True) == ("draft-simple",)
    assert options.spec_types(None, None, is_auto=True) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("draft-simple", "needs a draft model"),
        ("eagle", "eagle is not known"),
    ],
)
def test_types_that_cannot_be_are_refused(text, words):
    with pytest.raises(UsageError, match=words):
        options.spec_types(text, None)


@pytest.mark.parametrize(
    ("spec_type", "types", "length", "others", "is_refused"),
    [
        (None, (), 8, 0, True),
        (None, (), "rolling", 0, True),
        (None, (), "auto", 0.5, True),
        (None, (), 0, 3, True),
        (None, (), "auto", 0, False),
        (None, (), 0, 0, False),
        ("none", (), 8, 0, False),
        (None, ("ngram", "draft-simple"), 8, 1, False),
    ],
)
def test_how_to_draft_is_not_said_in_vain(spec_type, types, length, others, is_refused):
    drafts = options.speculation(types, length)
    with pytest.raises(UsageError, match="not who drafts") if is_refused else nullcontext():
        options.check_something_drafts(spec_type, drafts, length, others)


def test_draft_model_loaded_for_nothing_is_refused():
    options.check_draft_used("small", ("ngram", "draft-simple"))
    options.check_draft_used(None, ("ngram",))
    with pytest.raises(UsageError, match="does not use it"):
        options.check_draft_used("small", ("ngram",))


def test_draft_lengths():
    assert options.draft_lengths("0,2, 4,2") == (0, 2, 4)
    assert options.draft_length("31") == 31


@pytest.mark.parametrize("text", ["", "-1", "32", "four", "automatic", "2.5", "²"])
def test_other_draft_lengths_are_refused(text):
    with pytest.raises(UsageError):
        options.draft_lengths(text)


def test_speculation_of_nothing_is_off():
    assert options.speculation((), 4) == Speculation()
    assert options.speculation(("ngram",), 0) == Speculation()
    assert options.speculation(("ngram",), 3, 1, 0.5) == Speculation(("ngram",), 3, 1, 0.5)
    with pytest.raises(UsageError, match="more than"):
        options.speculation(("ngram",), 2, 3)


def test_seed_is_kept_or_fresh():
    assert options.fresh_seed(5) == 5
    assert options.fresh_seed(0) == 0
    assert len({options.fresh_seed(None) for _ in range(20)}) > 15


def test_command_reads_a_dataclass():
    @dataclass(frozen=True, slots=True)
    class Wanted:
        name: Annotated[str, typer.Argument()]
        times: Annotated[int, typer.Option("--times", min=1)] = 2

    seen = []

    def greet(wanted: Wanted) -> None:
        """Greet somebody."""
        seen.append(wanted)

    program = typer.Typer()
    program.command()(command(Wanted, greet))

    assert CliRunner().invoke(program, ["Ada"]).exit_code == 0
    assert CliRunner().invoke(program, ["Bo", "--times", "3"]).exit_code == 0
    assert CliRunner().invoke(program, ["Bo", "--times", "0"]).exit_code == 2
    assert "Greet somebody." in CliRunner().invoke(program, ["--help"]).output
    assert seen == [Wanted("Ada", 2), Wanted("Bo", 3)]


def test_positions():
    assert options.positions("512, 0,512", 4096) == (0, 512)


@pytest.mark.parametrize(("text", "words"), [("", "empty"), ("x", "--at x"), ("-1", "--at -1"), ("4065", "--at 4065")])
def test_positions_that_cannot_be_are_refused(text, words):
    with pytest.raises(UsageError, match=words):
        options.positions(text, 4096)
