"""Draft with a smaller model of the same vocabulary.

The draft model runs its rows through a copy of the target's sampler chain and draws with *the same
noise* (:mod:`app.engine.noise`), a little surer than it is where the target is larger, so that they agree as often as
can be. Its memory holds a prefix of the confirmed tokens; whatever is missing, the prompt at first and later mostly the
pending token, is evaluated when a draft is asked for. A context that is too short for the text holds its recent
part: a full one starts again on the last half of what it can hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.engine import vocabulary
from app.engine.draft_length import PARTLY, Ask
from app.engine.llama import NothingAllowedError, Row
from app.engine.prompt_cache import Held, common_prefix, reusable
from app.engine.review import Place
from app.engine.sampler import Sampler, confidence
from app.errors import PairError
from app.protocol import SpecType


class Memory(Protocol):
    """The part of a :class:`~app.engine.llama.Context` that a drafter needs."""

    n_past: int
    n_ctx: int
    n_batch: int
    n_rows_max: int

    def decode(self, tokens: Sequence[int], n_rows: int) -> None:
        """Append tokens; keep the last ``n_rows`` rows."""

    def row(self, index: int) -> Row:
        """Return a kept row."""

    def rewind(self, n_keep: int) -> None:
        """Drop everything after the first ``n_keep`` tokens."""


class Vocabulary(Protocol):
    """The part of a :class:`~app.engine.llama.Model` that the comparison needs."""

    n_vocab: int
    vocab_type: int
    bos: int
    eos: int
    adds_bos: bool
    adds_eos: bool

    def text_of(self, token: int) -> str:
        """Return the spelling of a token."""


def check_vocabularies(target: Vocabulary, draft: Vocabulary) -> None:
    """Check that draft tokens mean the same to the target, by the rules of llama.cpp's ``draft-simple``.

    Raises:
        PairError: names the rule that failed and the token.
    """
    hint = "Choose a draft model of the same family as the target."
    if reasons := vocabulary.why_not(_tokenizer(target), _tokenizer(draft)):
        raise PairError(reasons[0], hint)
    for token in range(vocabulary.FIRST_COMPARED_TOKEN, min(target.n_vocab, draft.n_vocab)):
        ours, theirs = target.text_of(token), draft.text_of(token)
        if ours != theirs:
            raise PairError(str(vocabulary.Difference(token, ours, theirs)), hint)


def _tokenizer(of: Vocabulary) -> vocabulary.Tokenizer:
    return vocabulary.Tokenizer(of.vocab_type, of.n_vocab, of.bos, of.eos, of.adds_bos, of.adds_eos)


class DraftModelDrafter:
    """Drafts token by token with a context of its own, which outlives this drafter."""

    name: SpecType = "draft-simple"

    def __init__(
        self,
        memory: Memory,
        held: Held,
        sampler: Sampler,
        *,
        draft_min: int = 0,
        p_min: float = 0.0,
        sharpness: float = 1.0,
    ) -> None:
        """Make a drafter over a draft context.

        Args:
            memory: the draft model's context.
            held: which part of the text its memory holds; kept up to date here for the next answer.
            sampler: the target's sampler of this answer; each draft runs a copy of it.
            draft_min: drafts shorter than this are not used.
            p_min: a draft ends before a token less probable than this.
            sharpness: draw as from rows whose probabilities are to this power.
        """
        self._memory = memory
        self._held = held
        self._sampler = sampler
        self._draft_min = draft_min
        self._p_min = p_min
        self._sharpness = sharpness
        self._n_confirmed = 0
        self._last_row = 0

    def n_behind(self, tokens: Sequence[int]) -> int:
        """Return how many tokens the memory lacks, the pending one apart."""
        self.accept(tokens)  # what it holds may be of another text: nobody asked it since
        first = self._first_for(len(tokens))
        return max(0, len(tokens) - 1 - (self._held.end if first == self._held.first else first))

    def n_unseen(self, tokens: Sequence[int]) -> int:
        """Return how many more than it lags it would have to take in to see all of the text, where that fits."""
        is_partial = self._held.first > 0 and len(tokens) < self._memory.n_ctx
        return len(tokens) - 1 - self.n_behind(tokens) if is_partial else 0

    @property
    def kind(self) -> str:
        """How its evidence is kept: with a part of the text in view it drafts worse."""
        return PARTLY if self._held.first else self.name

    def _first_for(self, n: int) -> int:
        """Return where the memory has to start so that ``n`` tokens and a draft fit in."""
        is_full = n - self._held.first >= self._memory.n_ctx
        return n - self._memory.n_ctx // 2 if is_full else self._held.first

    def process(self, tokens: Sequence[int]) -> None:
        """Do nothing: a model of its own needs nothing of the target's."""

    def begin(self, tokens: Sequence[int]) -> None:
        """Evaluate the prompt, all but its last token, in batches."""
        self._accept_and_fit(tokens)
        while missing := tokens[self._held.end : -1]:
            self._feed(missing[: self._memory.n_batch], 0)

    def draft(self, tokens: Sequence[int], ask: Ask) -> list[int]:
        """Return up to ``ask.limit`` tokens that the draft model would draw."""
        limit = self.open(tokens, ask)
        if limit <= 0:
            return []
        sampler = self.ahead()
        draft: list[int] = []
        try:
            while True:
                row = self._memory.row(self._last_row)
                token = sampler.choose(row, len(tokens) + len(draft))
                probability = confidence(row, token) if self._p_min > 0 or ask.goes_on else 1.0
                if probability < self._p_min:
                    break
                draft.append(token)
                goes_on = ask.goes_on is None or ask.goes_on(probability)
                if len(draft) == limit or not goes_on:
                    break
                sampler.accept(token)
                self._feed([token], 1)
        except NothingAllowedError:
            pass  # the draft has led the grammar into a dead end: what comes before it may still be right
        finally:
            sampler.close()
        return draft if len(draft) >= self._draft_min else []

    def ahead(self) -> Sampler:
        """Return a copy of the answer's sampler, to look ahead with; it draws as this drafter does."""
        return self._sampler.clone(self._sharpness)

    def open(self, tokens: Sequence[int], ask: Ask) -> int:
        """Take in the text; return how far a draft can go, and have the row after the text at hand if it can."""
        self._accept_and_fit(tokens)
        if ask.n_catch_up != self.n_behind(tokens):
            self._start_at(max(0, len(tokens) - 1 - ask.n_catch_up))
        limit = min(ask.limit, self._memory.n_ctx - (len(tokens) - self._held.first))
        if limit <= 0:
            return limit
        # What it would have said earlier is known only where that does not depend on what was said since.
        n_review = 0 if self._sampler.depends_on_history else ask.n_review
        places = self._catch_up(tokens, n_review)
        is_wanted = ask.hears is None or not places or ask.hears(places)
        return limit if is_wanted else 0

    def row_after(self, tokens: Sequence[int], path: Sequence[int]) -> Row:
        """Return the row after the text and some drafted tokens, for any path from the text that was opened."""
        if path:
            n_text = len(tokens) - self._held.first
            n_shared = common_prefix(self._held.tokens[n_text:], path)
            self._keep(n_text + min(n_shared, len(path) - 1))
            self._catch_up([*tokens, *path])
        return self._memory.row(self._last_row)

    def end_branches(self, tokens: Sequence[int]) -> None:
        """Do nothing: what was drafted in vain goes with the next confirmed tokens."""

    def _accept_and_fit(self, tokens: Sequence[int]) -> None:
        self.accept(tokens)
        first = self._first_for(len(tokens))
        if first != self._held.first:
            self._start_at(first)

    def _catch_up(self, tokens: Sequence[int], n_review: int = 0) -> list[Place]:
        """Evaluate what is missing, so that the row after the last token is at hand.

        Return what it would have said in place of the last ``n_review`` tokens, as far as they were missing.
        """
        places: list[Place] = []
        n_review = min(n_review, self._memory.n_rows_max - 1)
        first_row = len(tokens) - 1 - n_review
        while missing := tokens[self._held.end : self._held.end + self._memory.n_batch]:
            n_fed = self._held.end + len(missing)
            n_rows = max(1, n_fed - max(first_row, self._held.end))
            self._feed(missing, n_rows)
            if n_review and n_fed > first_row:
                places += self._places(tokens, n_fed - n_rows, n_rows)
        return places

    def _places(self, tokens: Sequence[int], first: int, n_rows: int) -> list[Place]:
        """Compare the rows at hand, which follow the tokens from ``first`` on, with what came there."""
        sampler, places = self.ahead(), []
        try:
            for i in range(min(n_rows, len(tokens) - first - 1)):
                row = self._memory.row(i)
                token = sampler.choose(row, first + i + 1)
                places.append(Place(confidence(row, token), token == tokens[first + i + 1]))
        finally:
            sampler.close()
        return places

    def accept(self, tokens: Sequence[int]) -> None:
        """Drop what was drafted in vain; the memory is a prefix of the confirmed tokens again."""
        # What was confirmed before is not compared again: the comparison stays short in a long text.
        if self._held.first >= len(tokens):
            self._start_at(0)
        self._keep(reusable(self._held.tokens, tokens[self._held.first :], self._n_confirmed))
        self._n_confirmed = len(self._held.tokens)

    def _start_at(self, first: int) -> None:
        """Empty the memory; it will hold the text from position ``first`` on."""
        self._keep(0)
        self._held.first, self._n_confirmed = first, 0

    def _feed(self, tokens: Sequence[int], n_rows: int) -> None:
        self._memory.decode(tokens, n_rows)
        self._last_row = n_rows - 1
        self._held.tokens.extend(tokens)

    def _keep(self, n: int) -> None:
        if n < self._memory.n_past:
            self._memory.rewind(n)
        # A memory that cannot drop a part drops everything.
        del self._held.tokens[self._memory.n_past :]

    def close(self) -> None:
        """Leave the context to its owner, with a memory that matches ``held``."""
        self._keep(len(self._held.tokens))
