"""Answers that go on where they stopped.

What the model saw when it stopped was the prompt and the tokens that it had written. The same tokens are what it gets
to see again, not others that spell the same text: then the answer goes on as if nothing had happened, and the memory
holds all of it. Where they are not known any more the text is tokenised behind the prompt.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import NamedTuple

from app.engine.llama import Grammar, Model, NothingAllowedError
from app.errors import UsageError

_SENTENCEPIECE = 1
"""llama.cpp's number of the vocabulary type that may put a blank before a text."""


class Speller(NamedTuple):
    """A model's vocabulary, and which of its control tokens are text in an answer."""

    model: Model
    shown: frozenset[int] = frozenset()

    def piece(self, token: int) -> bytes:
        """Return the bytes by which an answer shows a token."""
        return self.model.piece(token, special=token in self.shown)


def without_repeat(prompt: str, beginning: str) -> str:
    """Take from an answer's beginning the mark that the template has written already, such as ``<think>``."""
    last = prompt.rstrip().rpartition("\n")[2].strip()
    bare = beginning.lstrip()
    if not last or not bare.startswith(last):
        return beginning
    rest = bare[len(last) :]
    return rest[1:] if prompt.endswith("\n") and rest.startswith("\n") else rest


def beginning_tokens(beginning: str, mark: str, said: Sequence[int], speller: Speller) -> list[int]:
    """Return the tokens of an answer's beginning.

    Args:
        beginning: its text, with ``mark`` in the texts of control tokens.
        mark: what keeps those from being read as such; "" for none.
        said: the tokens of the last answer, which are taken if they spell the text; the prompt before it may have
            changed, as when the oldest turns are left out.
        speller: whose tokens they are.
    """
    pieces = beginning.split(mark) if mark else [beginning]
    known = _spelling(said, "".join(pieces), speller)
    if known is not None:
        return known
    return [token for piece in pieces for token in _tokenise_within(piece, speller.model)]


def _spelling(tokens: Sequence[int], text: str, speller: Speller) -> list[int] | None:
    """Return the first of the tokens that spell the text; ``None`` if they spell another."""
    decoder, at = codecs.getincrementaldecoder("utf-8")(errors="replace"), 0
    for n, token in enumerate(tokens):
        if at == len(text) and not decoder.getstate()[0]:
            return list(tokens[:n])
        piece = "" if speller.model.is_end(token) else decoder.decode(speller.piece(token))
        if not text.startswith(piece, at):
            return None
        at += len(piece)
    return list(tokens) if text[at:] == decoder.decode(b"", final=True) else None


def _tokenise_within(text: str, model: Model) -> list[int]:
    """Tokenise a text that something stands before, without the blank that a vocabulary may put before a text."""
    if model.vocab_type == _SENTENCEPIECE:
        line_end, both = model.tokenise("\n"), model.tokenise(f"\n{text}")
        if both[: len(line_end)] == line_end:
            return both[len(line_end) :]
    return model.tokenise(text)


def begins_with(grammar: Grammar, tokens: Sequence[int]) -> None:
    """Take a grammar behind the tokens that an answer begins with.

    Raises:
        UsageError: they do not keep to it.
    """
    try:
        for token in tokens:
            grammar.accept(token)
    except NothingAllowedError as fault:
        raise UsageError(
            "What is written of this answer does not keep to its format, so it cannot go on in it.",
            "Set the format to none, or answer again.",
        ) from fault
