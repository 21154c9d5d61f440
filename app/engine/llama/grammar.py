"""A grammar (GBNF) that an answer keeps to: which tokens it allows next.

llama.cpp ends the process where a token is accepted that the grammar forbids (``llama_grammar_accept_token`` throws
through C), so that is asked first; for what it cannot read, see :mod:`app.engine.gbnf`.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import llama_cpp.llama_cpp as lc
import numpy as np
from numpy.typing import NDArray

from app.engine.gbnf import check, place_of
from app.engine.llama.backend import forget_log, last_log
from app.engine.llama.chain import CANDIDATE, candidate_array
from app.engine.llama.model import Model
from app.errors import GrammarError, UsageError

_PARSE_ERROR = "error parsing grammar: "
_MAX_WORDS = 200

MAX_LOOK_S = 1.0
"""Processor time that one look at a grammar may take. llama.cpp keeps a stack for every way to read what was written;
of some grammars there are twice as many, and looking takes four times as long, after every character."""

_HINT = "See llama.cpp's grammars/README.md for how a GBNF grammar is written."


class NothingAllowedError(GrammarError):
    """The grammar allows no token of this vocabulary; crosses a process as its base."""


class Grammar:
    """The state of a grammar after the tokens that were accepted."""

    def __init__(self, model: Model, text: str, start: str = "root", n_added_bytes: int = 0) -> None:
        """Read a grammar; ``start`` is the rule that it begins with, ``n_added_bytes`` are not its author's.

        Raises:
            UsageError: it is not a grammar; the message is llama.cpp's own word, with the line if it is known.
        """
        check(text, n_added_bytes)
        forget_log()
        with _native_stderr() as written:
            self._sampler: Any = lc.llama_sampler_init_grammar(
                model.vocabulary, text.encode("utf-8", "replace"), start.encode()
            )
        if not self._sampler:
            words, line = _words(written(), text)
            where = f" in line {line}" if line else ""
            raise UsageError(f"The grammar cannot be read{where}: {words}", _HINT)
        self._never = model.tokens_with_zero

    def allowed(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return those of the ids that may come next, in their order.

        Raises:
            GrammarError: there are too many ways to read what was written.
        """
        data = np.zeros(len(ids), dtype=CANDIDATE)
        data["id"] = ids
        array = candidate_array(data)
        with _bounded():
            lc.llama_sampler_apply(self._sampler, ctypes.byref(array))
        left: NDArray[np.int32] = ids[data["logit"] == 0]
        return left[~np.isin(left, self._never)] if len(self._never) else left

    def accept(self, token: int) -> None:
        """Go on after a token.

        Raises:
            NothingAllowedError: the grammar does not allow it; llama.cpp would end the process.
            GrammarError: there are too many ways to read what was written.
        """
        if not len(self.allowed(np.array([token], dtype=np.int32))):
            raise NothingAllowedError(f"The grammar does not allow token {token} here.")
        with _bounded():
            lc.llama_sampler_accept(self._sampler, token)

    def clone(self) -> Self:
        """Return a copy with its own state."""
        copy = object.__new__(type(self))
        copy._sampler, copy._never = lc.llama_sampler_clone(self._sampler), self._never
        return copy

    def close(self) -> None:
        """Free the native state."""
        if self._sampler:
            lc.llama_sampler_free(self._sampler)
            self._sampler = None


@contextmanager
def _bounded() -> Iterator[None]:
    """Give up a grammar whose looks take too long: the next one would take a multiple.

    Raises:
        GrammarError: it took longer than ``MAX_LOOK_S``.
    """
    started_s = time.thread_time()
    yield
    if time.thread_time() - started_s > MAX_LOOK_S:
        raise GrammarError(
            "The grammar is too ambiguous: there are too many ways to read what was written so far.",
            "Let no two alternatives of a rule begin alike.",
        )


def _words(written: str, text: str) -> tuple[str, int]:
    """Return what llama.cpp has against a grammar, and in which line (0: it does not say).

    It prints to stderr what it could not read and behind that the whole grammar, and logs the rest.
    """
    _, found, told = written.partition(_PARSE_ERROR)
    if not found:
        return last_log("no reason given"), 0
    text = text.encode("utf-8", "replace").decode("utf-8")
    words, line = place_of(told.rpartition(f"\n\n{text}")[0] or told, text)
    words = " ".join(words.split())
    return words if len(words) <= _MAX_WORDS else f"{words[:_MAX_WORDS]} …", line


@contextmanager
def _native_stderr() -> Iterator[Callable[[], str]]:
    """Catch what native code prints to stderr meanwhile; the value returns it, once the block is left."""
    with tempfile.TemporaryFile() as file:
        text = ""
        ours = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield lambda: text
        finally:
            os.dup2(ours, 2)
            os.close(ours)
            file.seek(0)
            text = file.read().decode("utf-8", "replace")
