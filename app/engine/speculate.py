"""The one loop: draft, verify, rewind, then yield a whole step.

    tokens   t0 t1 … tn-1 | tn              tn is pending: chosen, emitted, not yet in the memory
    verify   decode tn d1 … dk  → k + 1 rows; row i is the target's word on what follows d_i
    keep     d_i as long as the target's own choice equals it; its first other choice ends the step

Plain decoding is the same loop with an empty draft. The target's choice at a position is a function
of its row, of the tokens before and of a key (:mod:`app.engine.sampler`), so the text does not depend on
the draft. Closing the generator is the cancel: a step is yielded only after both memories are right.

A draft may be a token tree: then the choice is followed from the pending token to that child which equals it, and the
memory keeps the nodes on the way.

Speculative decoding: Leviathan et al. 2023 (arXiv 2211.17192), Chen et al. 2023 (arXiv 2302.01318).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Protocol

from app.engine.draft_length import Ask, LengthPolicy
from app.engine.drafters import Chooser, Draft, Drafter, TokenTree
from app.engine.drafters.draft_model import Memory
from app.engine.llama import DecodeCancelledError, Row
from app.errors import DecodeError
from app.protocol import Plan, Step


class Target(Memory, Protocol):
    """The target's memory."""

    @property
    def n_draft_max(self) -> int:
        """Longest draft that can be verified and rewound."""

    def decode_tree(self, tokens: Sequence[int], parents: Sequence[int]) -> None:
        """Evaluate a tree behind the memory, each token after its parent's path; keep all rows, not yet the tokens."""

    def keep_path(self, path: Sequence[int]) -> None:
        """Append the nodes of a path from the root of the last tree to the memory; drop its others."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One step: its tokens, for each whether it was drafted, and the controller's word."""

    token_ids: tuple[int, ...]
    drafted: tuple[bool, ...]
    step: Step
    plan: Plan | None


class LockstepError(AssertionError):
    """A memory does not hold exactly the confirmed tokens: a fault of ours, never of the input."""


@dataclass(slots=True)
class Generation:
    """What the loop works on.

    Attributes:
        target: holds all of ``tokens``, with the row after the last one at hand.
        tokens: the prompt; the loop appends what it emits.
        chooser: the acceptance rule's one function.
        is_last: called once for each emitted token, in order; true ends the answer with it.
        max_tokens: most tokens to emit, at least 1.
        drafters: who drafts, asked in order; none is plain decoding.
        length: decides who is asked and how long a draft may be.
        origin_s: when the request came, on the clock of ``time.perf_counter``.
        n_rows: fixed shape: how many rows every pass has, as far as the context goes; 0 is as many as it needs.
        keeps: lenient: tells of a draft token that is not the target's choice whether it is kept all the same.
        drafter_fault: why the drafter was given up in mid-answer; "" if it was not.
    """

    target: Target
    tokens: list[int]
    chooser: Chooser
    is_last: Callable[[int], bool]
    max_tokens: int
    drafters: tuple[Drafter, ...]
    length: LengthPolicy
    origin_s: float
    n_rows: int = 0
    keeps: Callable[[Row, int], bool] | None = None
    drafter_fault: str = ""


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What the target said of a draft: how many tokens it emitted, ruled on and kept."""

    n_emitted: int
    n_judged: int
    n_accepted: int
    ended: bool


def speculate(g: Generation) -> Iterator[Outcome]:
    """Yield steps until ``is_last``, ``max_tokens`` or the end of the context.

    The first step is the token after the prompt, from the row that prefill left.

    Raises:
        DecodeError: the target failed; its memory and the drafter's hold confirmed tokens only.
        LockstepError: see there.
    """
    n_stop = len(g.tokens) + g.max_tokens
    attempt = _Attempt()
    verdict = _judge(g, attempt)
    yield _outcome(g, verdict, attempt)
    while not verdict.ended and len(g.tokens) < n_stop and g.target.n_past < g.target.n_ctx:
        attempt = _Attempt()
        try:
            _draft(g, attempt, n_stop)
            started_s = time.perf_counter()
            _verify(g, attempt)
            verdict = _judge(g, attempt)
            attempt.verify_s = time.perf_counter() - started_s
        finally:
            _rewind(g, attempt)
        if g.target.n_past != len(g.tokens) - 1:
            raise LockstepError(f"the target holds {g.target.n_past} tokens, {len(g.tokens) - 1} are confirmed")
        outcome = _outcome(g, verdict, attempt)
        g.length.observe(outcome.step, attempt.kind, attempt.n_behind)
        attempt.compare_unused(outcome.token_ids, g.length)
        yield outcome


@dataclass(slots=True)
class _Attempt:
    """A draft with its limit and costs.

    Attributes:
        draft: its tokens; with ``parents`` they are a tree, node i of the batch being token i - 1.
        parents: for each token the index of its parent in the draft, -1 for the pending token; empty for a chain.
        rows: rows of the pass where it was padded.
        path: the nodes of a decoded tree that are confirmed, the pending token first.
        unused: the drafts that were not verified, each with its drafter's name and its kind.
    """

    draft: list[int] = field(default_factory=list)
    parents: tuple[int, ...] = ()
    rows: int = 0
    path: list[int] = field(default_factory=list)
    unused: list[tuple[str, str, list[int]]] = field(default_factory=list)
    limit: int = 0
    drafter: str = ""
    kind: str = ""
    n_behind: int = 0
    draft_s: float = 0.0
    verify_s: float = 0.0

    def take(self, draft: Draft, n_used: int) -> None:
        """Use the first tokens of a draft."""
        if isinstance(draft, TokenTree):
            tree = draft.cut(n_used)
            self.draft, self.parents = list(tree.tokens), () if tree.is_chain else tree.parents
        else:
            self.draft = draft[:n_used]

    def compare_unused(self, token_ids: Sequence[int], length: LengthPolicy) -> None:
        """Tell how the drafts that were not verified would have done: what came in their place is known."""
        for name, kind, draft in self.unused:
            n_kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(draft, token_ids, strict=False)))
            length.overhears(name, kind, min(n_kept + 1, len(draft), len(token_ids)), n_kept)

    def children(self, node: int) -> Sequence[int]:
        """Return the nodes after one of the batch, 0 being the pending token, the likeliest first."""
        if not self.parents:
            return (node + 1,) if node < len(self.draft) else ()
        return [i + 1 for i, parent in enumerate(self.parents) if parent == node - 1]

    @property
    def depth(self) -> int:
        """How deep a tree is; 0 for a chain."""
        return TokenTree(tuple(self.draft), self.parents).depth if self.parents else 0


def _draft(g: Generation, attempt: _Attempt, n_stop: int) -> None:
    """Ask the drafters in order, within what the answer, the context and the batch have room for."""
    if not g.drafters:
        return
    started_s = time.perf_counter()
    n_room = min(n_stop - len(g.tokens), g.target.n_ctx - g.target.n_past) - 1
    n_room = min(n_room, g.target.n_draft_max)
    for drafter in g.drafters:
        n_behind = drafter.n_behind(g.tokens)
        ask = g.length.ask(drafter.name, n_behind, drafter.n_unseen(g.tokens))
        limit = max(0, min(ask.limit, n_room))
        draft = _ask(g, drafter, replace(ask, limit=limit)) if limit else []
        n_used = g.length.trim(drafter.name, drafter.kind, len(draft)) if draft else 0
        attempt.limit = max(limit, attempt.limit)
        if n_used:
            attempt.take(draft, n_used)
            attempt.limit = limit
            attempt.drafter, attempt.kind, attempt.n_behind = drafter.name, drafter.kind, ask.n_catch_up
            break
        if draft and not isinstance(draft, TokenTree):
            attempt.unused.append((drafter.name, drafter.kind, draft))
    attempt.draft_s = time.perf_counter() - started_s


def _ask(g: Generation, drafter: Drafter, ask: Ask) -> Draft:
    try:
        return drafter.draft(g.tokens, ask)
    except DecodeCancelledError:
        raise
    except DecodeError as fault:
        # A drafter that fails costs its speed-up, never the answer.
        g.drafters = tuple(d for d in g.drafters if d is not drafter)
        g.drafter_fault = str(fault)
        return []


def _verify(g: Generation, attempt: _Attempt) -> None:
    """Evaluate the pending token and the draft; pad the batch to the fixed shape with rows that nobody looks at.

    No row sees what comes after it, so that padding changes none. It goes with the rejected tokens.
    """
    tokens = [g.tokens[-1], *attempt.draft]
    n_pad = min(g.n_rows, g.target.n_ctx - g.target.n_past) - len(tokens)
    if n_pad > 0:
        tokens += [g.tokens[-1]] * n_pad
        attempt.rows = len(tokens)
    if attempt.parents:
        n_nodes = len(attempt.draft) + 1
        g.target.decode_tree(tokens, [-1, *(p + 1 for p in attempt.parents), *range(n_nodes - 1, len(tokens) - 1)])
        attempt.path = [0]
    else:
        g.target.decode(tokens, len(tokens))


def _judge(g: Generation, attempt: _Attempt) -> _Verdict:
    """Emit the target's choices, row by row, as long as the draft has them."""
    node = n_emitted = n_judged = n_accepted = 0
    while True:
        children = attempt.children(node)
        token, child = _choose(g, node, [(attempt.draft[i - 1], i) for i in children])
        g.chooser.accept(token)
        g.tokens.append(token)
        n_emitted += 1
        ended = g.is_last(token)
        n_judged += bool(children)
        n_accepted += child > 0
        if ended or not child:
            return _Verdict(n_emitted, n_judged, n_accepted, ended)
        if attempt.parents:
            attempt.path.append(child)
        node = child


def _choose(g: Generation, node: int, drafted: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the token after a node, and which drafted node holds it, 0 if none does."""
    row = g.target.row(node)
    token = g.chooser.choose(row, len(g.tokens))
    for draft, child in drafted:
        if draft == token:
            return token, child
    if g.keeps is not None:
        for draft, child in drafted:
            if g.keeps(row, draft):
                return draft, child
    return token, 0


def _rewind(g: Generation, attempt: _Attempt) -> None:
    """Bring all memories to the confirmed tokens: all but the pending one; the drafters' share counts as drafting."""
    if attempt.path:
        g.target.keep_path(attempt.path)
    g.target.rewind(len(g.tokens) - 1)
    started_s = time.perf_counter()
    for drafter in g.drafters:
        drafter.accept(g.tokens)
    attempt.draft_s += time.perf_counter() - started_s


def _outcome(g: Generation, verdict: _Verdict, attempt: _Attempt) -> Outcome:
    n = verdict.n_emitted
    return Outcome(
        token_ids=tuple(g.tokens[-n:]),
        drafted=tuple(i < verdict.n_accepted for i in range(n)),
        step=Step(
            t_s=time.perf_counter() - g.origin_s,
            emitted=n,
            limit=attempt.limit,
            proposed=len(attempt.draft),
            judged=verdict.n_judged,
            accepted=verdict.n_accepted,
            draft_s=attempt.draft_s,
            verify_s=attempt.verify_s,
            n_ctx=g.target.n_past,
            drafter=attempt.drafter,
            rows=attempt.rows,
            depth=attempt.depth,
        ),
        plan=g.length.plan(attempt.drafter, attempt.limit) if attempt.verify_s else None,
    )
