"""Draft with multi-token-prediction heads that were trained with the target.

A head sees the target's hidden row of one token and the token after it, and predicts the one after that;
fed with its own hidden row it goes on. The heads' memory must hold every confirmed token, each with the
*target's* row of the token before. Rows are kept as the target decodes (:meth:`HeadsMemory.saw`), and
what is missing is caught up in one batch when a draft is asked for. After a pause that is longer than
:data:`WINDOW` tokens, or an answer that was not watched, the heads start again on what is known:
attention over a recent window drafts nearly as well, and the target's word decides anyway. Who drafts from the first
token on is fed the prompt batch by batch, as the target evaluates it, and hardly any row of what was fed is kept.

A chain of heads drafts one token each: head i predicts from what head i - 1 made of the tokens before. Each has a layer
of the memory to itself, so all are fed what is confirmed, and each what is drafted before its turn. (The same
procedure as ``common/speculative.cpp`` of llama.cpp.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from app.engine.draft_length import Ask
from app.engine.llama import MAX_CHECKPOINTS, Hidden, NothingAllowedError, Row
from app.engine.prompt_cache import common_prefix
from app.engine.sampler import Sampler, confidence
from app.protocol import SpecType

WINDOW = 4096
"""Most hidden rows that are kept for catching up; at 4096 numbers a row, 64 MB."""


class Heads(Protocol):
    """The part of an :class:`~app.engine.llama.MtpContext` that drafting needs."""

    n_batch: int
    n_embd: int
    n_heads: int
    shares_memory: bool

    def use_head(self, index: int) -> None:
        """Let a head of a chain do the next decodes."""

    def decode(self, tokens: Sequence[int], hidden: Hidden, position: int) -> None:
        """Feed tokens with their rows."""

    def row(self) -> Row:
        """Return the logits after the last token."""

    def hidden(self) -> Hidden:
        """Return the heads' own hidden row after the last token."""

    def rewind(self, n_keep: int) -> None:
        """Drop every token from a position on."""


class Watched(Protocol):
    """The part of the target's context that the heads look at."""

    def hidden(self) -> Hidden:
        """Return the hidden rows of the last decode's tokens."""

    def watch(self, watcher: Callable[[Sequence[int], int], None] | None) -> None:
        """Call the watcher after every decode; None ends it."""


class HeadsMemory:
    """What the heads know of the text; outlives an answer, as the target's memory does.

    ``rows`` holds the target's hidden rows of ``tokens[first:]``: of what the heads' own memory holds, the first
    ``n_fed`` tokens, those of the last two, and at most two windows of what it does not.
    """

    def __init__(self, heads: Heads, target: Watched, *, window: int = WINDOW) -> None:
        self.heads = heads
        self._window = window
        self._target = target
        self._tokens: list[int] = []
        self._prompt: list[int] = []
        self._first = 0
        self._rows: list[Hidden] = []
        self._n_fed = 0
        self._marked: dict[int, Hidden] = {}

    def watch(self, on: bool) -> None:
        """Begin or end to look at what the target decodes."""
        self._target.watch(self.saw if on else None)

    def saw(self, tokens: Sequence[int], position: int) -> None:
        """Take the hidden rows of a target decode that appended ``tokens`` at ``position``."""
        if position > len(self._tokens):
            # Something was evaluated while nobody watched: what came before is of no use any more.
            self._tokens, self._rows, self._first = self._prompt[:position], [], position
            self._forget()
        # What is evaluated again may be what the heads were fed already.
        self._keep_fed(position + common_prefix(self._tokens[position : position + len(tokens)], tokens))
        self._drop_from(position)
        self._tokens.extend(tokens)
        self._rows.extend(self._target.hidden())
        if len(self._rows) > 2 * self._window:
            self._drop_rows(self._first + len(self._rows) - self._window)
        if self.heads.shares_memory:
            self._drop_rows(position - 1)

    def seen_from(self, n: int) -> int:
        """Return from where on the target has to be seen if it holds ``n`` tokens of the text that was agreed on.

        That is one token earlier where the heads could go on only with the row of the last one, and it is gone.
        """
        is_row_gone = 0 < n == self._n_fed and self._first > n - 1
        return n - 1 if is_row_gone else n

    def mark(self) -> None:
        """Keep the last row: a target that cannot go back where it wants may come back to here."""
        if self._rows:
            self._marked[len(self._tokens) - 1] = self._rows[-1].copy()
            for oldest in sorted(self._marked)[:-MAX_CHECKPOINTS]:
                del self._marked[oldest]

    def n_behind(self, n: int) -> int:
        """Return how many of the first ``n`` tokens would have to be fed."""
        return 0 if self.heads.shares_memory else max(0, n - max(self._n_fed, self._first))

    def keep(self, n: int) -> None:
        """Forget every token from position ``n`` on."""
        self._drop_from(n)
        self._keep_fed(n)

    def _drop_from(self, n: int) -> None:
        if n < len(self._tokens):
            del self._tokens[n:]
            del self._rows[max(0, n - self._first) :]
            self._first = min(self._first, n)
            self._marked = {at: row for at, row in self._marked.items() if at < n}

    def _keep_fed(self, n: int) -> None:
        if n < self._n_fed:
            self.heads.rewind(n)
            self._n_fed = n

    def _drop_rows(self, position: int) -> None:
        """Drop the rows before a position."""
        if position > self._first:
            del self._rows[: position - self._first]
            self._first = position

    def start_at(self, position: int) -> None:
        """Feed nothing from before ``position`` (and one row) any more."""
        self._forget()
        self._drop_rows(position - 1)

    def agree(self, tokens: Sequence[int]) -> None:
        """Forget what is not a prefix of ``tokens``, the prompt of the answer that begins."""
        self.keep(common_prefix(self._tokens, tokens))
        self._prompt = list(tokens)

    def feed(self, tokens: Sequence[int], *, last: bool) -> bool:
        """Feed the heads what they miss of ``tokens``, all but the last unless ``last``; false if that cannot be.

        Token i goes in with the row of token i - 1; the first token of all has none before it and gets zeros.
        """
        n = len(tokens) if last else len(tokens) - 1
        if len(self._tokens) < n - 1 or (n > 1 and self._first > n - 2):
            return False
        if self.heads.shares_memory:
            if last:
                self.heads.decode(tokens[-1:], self._row(n - 2), n - 1)
            return True
        start = self._n_fed
        if start > 0 and start - 1 < self._first and start - 1 not in self._marked:
            self._forget()
            start = self._first + 1
        if start == 0 and self._first > 0:
            start = self._first + 1
        for at in range(start, n, self.heads.n_batch):
            end = min(n, at + self.heads.n_batch)
            rows = np.concatenate([self._row(i - 1) for i in range(at, end)])
            self._feed_all_heads(tokens[at:end], rows, at)
            self._n_fed = end
            self._drop_rows(end - 2)  # a pass that fails leaves the last one unconfirmed
        return True

    def _feed_all_heads(self, tokens: Sequence[int], rows: Hidden, position: int) -> None:
        """Feed every head of the chain in turn, the first one last: its row begins the draft."""
        if self.heads.n_heads == 1:
            self.heads.decode(tokens, rows, position)
            return
        for head in reversed(range(self.heads.n_heads)):
            # Heads share positions, but each writes a layer of its own.
            self.heads.rewind(position)
            self.heads.use_head(head)
            self.heads.decode(tokens, rows, position)

    def _row(self, position: int) -> Hidden:
        if position < 0:
            return np.zeros((1, self.heads.n_embd), dtype=np.float32)
        row = self._marked[position] if position < self._first else self._rows[position - self._first]
        return row.reshape(1, -1)

    def _forget(self) -> None:
        """Empty the heads' own memory."""
        self.heads.rewind(0)
        self._n_fed = 0


class MtpDrafter:
    """Drafts one answer with the heads."""

    name: SpecType = "draft-mtp"
    kind = "draft-mtp"

    def __init__(self, memory: HeadsMemory, sampler: Sampler, *, draft_min: int = 0, p_min: float = 0.0) -> None:
        """Make a drafter over the heads' memory; arguments as for a draft model."""
        self._memory = memory
        self._sampler = sampler
        self._draft_min = draft_min
        self._p_min = p_min
        self._branch: list[int] = []
        self._rows_after: dict[tuple[int, ...], Hidden] = {}
        memory.watch(True)

    def n_behind(self, tokens: Sequence[int]) -> int:
        """Return how many tokens the heads were not fed, the pending one apart."""
        return self._memory.n_behind(len(tokens) - 1)

    def n_unseen(self, tokens: Sequence[int]) -> int:
        """Return 0: the rows from before its window are gone, and a window is nearly as good."""
        del tokens
        return 0

    def process(self, tokens: Sequence[int]) -> None:
        """Catch up with the prompt as far as it is evaluated, all but the last token of that."""
        self._memory.feed(tokens, last=False)

    def begin(self, tokens: Sequence[int]) -> None:
        """Catch up with the prompt, all but its last token."""
        self._memory.agree(tokens)
        self._memory.feed(tokens, last=False)

    def draft(self, tokens: Sequence[int], ask: Ask) -> list[int]:
        """Return up to ``ask.limit`` tokens that the heads would draw."""
        memory, heads = self._memory, self._memory.heads
        # After the prompt the last token is decoded already; what follows the pending one is asked for.
        memory.keep(len(tokens) - 1)
        if ask.n_catch_up < self.n_behind(tokens):
            memory.start_at(len(tokens) - 1 - ask.n_catch_up)
        limit = ask.limit if heads.n_heads == 1 else min(ask.limit, heads.n_heads)
        if limit <= 0 or not memory.feed(tokens, last=True):
            return []
        sampler = self.ahead()
        draft: list[int] = []
        rows: list[Hidden] = []
        try:
            while True:
                row = heads.row()
                token = sampler.choose(row, len(tokens) + len(draft))
                probability = confidence(row, token) if self._p_min > 0 or ask.goes_on else 1.0
                if probability < self._p_min:
                    break
                draft.append(token)
                goes_on = ask.goes_on is None or ask.goes_on(probability)
                if len(draft) == limit or not goes_on:
                    break
                sampler.accept(token)
                rows.append(heads.hidden())
                self._go_on(draft, rows, len(tokens))
        except NothingAllowedError:
            pass  # the draft has led the grammar into a dead end: what comes before it may still be right
        finally:
            sampler.close()
            heads.rewind(len(tokens))  # what was fed with the heads' own rows goes
        return draft if len(draft) >= self._draft_min else []

    def ahead(self) -> Sampler:
        """Return a copy of the answer's sampler, to look ahead with."""
        return self._sampler.clone()

    def open(self, tokens: Sequence[int], ask: Ask) -> int:
        """Take in the text; return how far a draft can go, and have the row after the text at hand if it can.

        For heads with a memory of their own, one of them: only these can go back and draft on from another token.
        """
        memory = self._memory
        memory.keep(len(tokens) - 1)
        if ask.n_catch_up < self.n_behind(tokens):
            memory.start_at(len(tokens) - 1 - ask.n_catch_up)
        if ask.limit <= 0 or not memory.feed(tokens, last=True):
            return 0
        self._branch, self._rows_after = [], {(): memory.heads.hidden()}
        return ask.limit

    def row_after(self, tokens: Sequence[int], path: Sequence[int]) -> Row:
        """Return the row after the text and some drafted tokens; of a path all but the last were asked for before."""
        heads = self._memory.heads
        if path:
            n_shared = min(common_prefix(self._branch, path), len(path) - 1)
            rows = [self._rows_after[tuple(path[:n])] for n in range(len(path))]
            heads.rewind(len(tokens) + n_shared)
            for at in range(n_shared, len(path), heads.n_batch):
                end = min(len(path), at + heads.n_batch)
                heads.decode(path[at:end], np.concatenate(rows[at:end]), len(tokens) + at)
            self._branch = list(path)
            self._rows_after[tuple(path)] = heads.hidden()
        return heads.row()

    def end_branches(self, tokens: Sequence[int]) -> None:
        """Forget what was fed with the heads' own rows."""
        self._memory.heads.rewind(len(tokens))

    def _go_on(self, draft: list[int], rows: list[Hidden], n_tokens: int) -> None:
        """Feed the last drafted token; the next head of a chain, to which the draft is new, gets all of it."""
        heads = self._memory.heads
        if heads.shares_memory:
            heads.decode(draft[-1:], rows[-1], n_tokens - 1)
        elif heads.n_heads == 1:
            heads.decode(draft[-1:], rows[-1], n_tokens + len(draft) - 1)
        else:
            heads.rewind(n_tokens)
            heads.use_head(len(draft))
            heads.decode(draft, np.concatenate(rows), n_tokens)

    def accept(self, tokens: Sequence[int]) -> None:
        """Keep the rows of confirmed tokens; the pending one has none yet."""
        self._memory.keep(len(tokens) - 1)

    def close(self) -> None:
        """Look no more; the memory stays with its owner."""
        self._memory.watch(False)
