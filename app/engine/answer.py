"""One answer under way: prefill both models, then speculate; where the context is full and that is allowed, slide.

    prompt ─▶ keep what the memory has ─▶ prefill ─▶ speculate ─▶ text
                       ▲                                 │ the context is full
                       └──── without the oldest turns ◀──┘ the answer so far stays, token for token

After a slide everything is as for a prompt of that text: the memories keep what they share with it and evaluate the
rest, the drafters are made anew. Only the sampler goes on, with its grammar, its penalties, and the noise of the places
that the tokens have in the whole text: no place is drawn for twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import methodcaller

from msgspec import structs

from app.engine.cancel import CancelFlag
from app.engine.drafters import Drafter
from app.engine.engage import Engaged, drafter_failed, engage
from app.engine.full_context import full_notice, slide_failed
from app.engine.going_on import Speller
from app.engine.leniency import is_typical
from app.engine.llama import DecodeCancelledError, Row
from app.engine.loading import LoadedPair
from app.engine.paging import FaultWatch
from app.engine.prompt import Prompt, Slid
from app.engine.prompt_cache import reusable
from app.engine.prompting import Prompting
from app.engine.sampler import Sampler
from app.engine.speculate import Generation, Outcome, speculate
from app.engine.template import BROKEN
from app.engine.text import TextStream
from app.engine.token_details import LogprobChooser, NotingChooser
from app.errors import DecodeError
from app.protocol import Chunk, Done, Generate, NoticeInfo, Prefill, Started, StopReason


@dataclass(slots=True)
class Answer:
    """One generation under way.

    Attributes:
        command: what is answered.
        pair: what answers.
        prompt: the prompt; of the later ones, after slides, only the tokens are kept.
        sampler: its sampler, which the owner closes.
        received_s: when the request came, on the clock of ``time.perf_counter``.
        speller: how its tokens are written.
        prompting: makes the prompt of what stays.
        tokens: the prompt with the answer behind it, as it is in the context.
        n_asked: how many of them came before the answer.
        n_gone: how many tokens have left the context in its slides.
    """

    command: Generate
    pair: LoadedPair
    prompt: Prompt
    sampler: Sampler
    received_s: float
    speller: Speller
    prompting: Prompting
    tokens: list[int] = field(init=False)
    n_asked: int = field(init=False)
    n_gone: int = 0
    prefill_s: float = 0.0
    draft_prefill_s: float = 0.0
    stop_reason: StopReason = "length"
    faults: FaultWatch | None = None
    stream: TextStream = field(init=False)
    noting: NotingChooser | None = field(init=False)
    logprobs: LogprobChooser | None = field(init=False)
    text: str = ""
    written: str = ""
    _engaged: Engaged | None = None
    _slid: Slid | None = None
    _sliding: Slid | None = None
    _n_gone_before_step: int = 0
    _is_broken: bool = False
    _failed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.sampler.n_gone = self.prompting.n_gone
        self.tokens, self.n_asked = self.prompt.tokens, len(self.prompt.tokens) - self.prompt.n_begun
        self.stream = TextStream(self.command.stop)
        self.noting = NotingChooser(self.sampler) if self.command.token_details else None
        n_top, inner = self.command.n_top_logprobs, self.noting or self.sampler
        self.logprobs = LogprobChooser(inner, n_top, self.speller.piece) if n_top >= 0 else None

    @property
    def n_left(self) -> int:
        """How many tokens may still come."""
        return self.command.max_tokens - (len(self.tokens) - self.n_asked - self.prompt.n_begun)

    def engage(self) -> Engaged:
        """Make the drafters of what comes now; :meth:`settle` comes after it, whatever ends it."""
        command = structs.replace(self.command, max_tokens=self.n_left)
        self._engaged = engage(command, self.pair, self.sampler, self.tokens)
        return self._engaged

    def run(self, engaged: Engaged, cancel: CancelFlag) -> Iterator[Started | Prefill | Chunk | Done]:
        """Yield the events of the answer."""
        n_cached = self._keep()
        notices = (*self.prompt.notices, *engaged.notices)
        n_tokens, end = len(self.tokens), self.prompt.end
        yield Started(self.command.id, n_tokens, n_cached, engaged.engagement, notices, end, engaged.n_rows)
        after: list[NoticeInfo] = []
        try:
            yield from self._say(engaged, self.received_s, cancel, after)
            while (slid := self._slide(after)) is not None:
                yield from self._go_on(slid, cancel, after)
        except DecodeCancelledError:
            self.stop_reason = "cancelled"
        except DecodeError as fault:
            if self._sliding is None:
                raise
            after.append(slide_failed(str(fault)))  # what is written is as good as it was
        text = self.stream.finish()
        if self._slid is not None:
            after.append(self._slid.notice)
        if self._is_full:
            after.append(self._full(self.written + text))
        yield Done(
            id=self.command.id,
            stop_reason=self.stop_reason,
            text=text,
            prefill_s=self.prefill_s,
            draft_prefill_s=self.draft_prefill_s,
            notices=tuple(after),
            lessons=self.pair.evidence.lessons(),
            paging=self.faults.paging() if self.faults else None,
        )

    def settle(self) -> None:
        """Note what the memories hold now, whatever happened; before anything was engaged that is what they held."""
        target, engaged, self._engaged = self.pair.target, self._engaged, None
        if engaged is not None:
            target.held.tokens[:] = self.tokens[: target.context.n_past]
            for drafter in engaged.drafters:
                drafter.close()

    # --- a full context -----------------------------------------------------------------------------

    @property
    def _is_full(self) -> bool:
        context = self.pair.target.context
        return self.stop_reason == "length" and context.n_past >= context.n_ctx

    def _full(self, written: str) -> NoticeInfo:
        def prompt_of(request: Generate) -> Prompt:
            return self.prompting.prompt(self.pair.target, request)

        return full_notice(self.command, written, prompt_of, is_slid=self.n_left > 0 and not self._is_broken)

    def _slide(self, notices: list[NoticeInfo]) -> Slid | None:
        """Return the prompt of what stays, if the context is full of what could go; None ends the answer.

        So does a template that fails now and did not before: the rest would be in another form.
        """
        if not self._is_full or self.n_left < 1:
            return None
        slid = self.prompting.slide(self.pair.target, self.command, self.tokens[self.n_asked :], self.n_left)
        known = BROKEN - {notice.code for notice in self.prompt.notices}
        new = [notice for notice in slid.notices if notice.code in known] if slid is not None else []
        self._is_broken = bool(new)
        notices += new
        return None if new else slid

    def _go_on(self, slid: Slid, cancel: CancelFlag, notices: list[NoticeInfo]) -> Iterator[Prefill | Chunk]:
        """Go on with what stays, as a request for that would."""
        self.settle()
        started_s = time.perf_counter()
        self._sliding, self._n_gone_before_step = slid, len(self.tokens) - len(slid.tokens)
        self.n_gone += self._n_gone_before_step
        self.sampler.n_gone = self.prompting.n_gone
        self.tokens, self.n_asked = slid.tokens, slid.n_asked
        engaged, n_cached = self.engage(), self._keep()
        yield Prefill(self.command.id, 0, len(self.tokens) - n_cached, slid.n_left_out)
        yield from self._say(engaged, started_s, cancel, notices, slid.n_left_out)

    # --- evaluating ---------------------------------------------------------------------------------

    def _keep(self) -> int:
        """Rewind the target to what the prompt shares with its memory; return how much that is."""
        target, heads = self.pair.target, self.pair.heads
        n = reusable(target.held.tokens, self.tokens)
        if heads is not None and target.context.watcher is not None and not target.context.has_state:
            n = heads.memory.seen_from(n)
        target.context.rewind(n)
        del target.held.tokens[target.context.n_past :]
        return target.context.n_past

    def _say(
        self,
        engaged: Engaged,
        started_s: float,
        cancel: CancelFlag,
        notices: list[NoticeInfo],
        n_left_out: int = 0,
    ) -> Iterator[Prefill | Chunk]:
        """Prefill both models, then speculate."""
        drafters = tuple(drafter for drafter in engaged.drafters if drafter.name not in self._failed)
        for event in self._prefill(n_left_out):
            if drafters:
                seen = self.tokens[: self.pair.target.context.n_past]
                drafters = self._prepare(drafters, engaged, methodcaller("process", seen), notices)
            yield event
        drafters = self._prepare(drafters, engaged, methodcaller("begin", self.tokens), notices)
        engaged.length.begin(time.perf_counter() - started_s)
        yield from self._decode(drafters, engaged, cancel, notices)

    def _prefill(self, n_left_out: int) -> Iterator[Prefill]:
        """Evaluate what is new of the prompt, in batches.

        A memory with recurrent layers is marked before the last token: from there the same prompt is answered again.
        """
        context = self.pair.target.context
        n_start, n = context.n_past, len(self.tokens)
        n_most = min(self.pair.target.model.placement.n_prefill, context.n_batch)
        while context.n_past < n:
            n_end = n - 1 if context.has_state and context.n_past < n - 1 else n
            batch = self.tokens[context.n_past : min(n_end, context.n_past + n_most)]
            started_s = time.perf_counter()
            context.decode(batch, 1)
            if context.n_past == n - 1:
                context.mark()  # nothing, on a memory without
                if context.has_state and context.watcher is not None and self.pair.heads is not None:
                    self.pair.heads.memory.mark()
            if not self.n_gone:  # else it is a part of the answer
                self.prefill_s += time.perf_counter() - started_s
            yield Prefill(self.command.id, context.n_past - n_start, n - n_start, n_left_out)

    def _prepare(
        self,
        drafters: tuple[Drafter, ...],
        engaged: Engaged,
        work: Callable[[Drafter], None],
        notices: list[NoticeInfo],
    ) -> tuple[Drafter, ...]:
        """Let the drafters that are to be ready do something; one that fails is left out, with a notice."""
        able, started_s = [], time.perf_counter()
        for drafter in drafters:
            try:
                if engaged.length.prepares(drafter.name):
                    work(drafter)
            except DecodeCancelledError:
                raise
            except DecodeError as fault:
                notices.append(drafter_failed(str(fault)))
                self._failed |= {drafter.name}
            else:
                able.append(drafter)
        if not self.n_gone:
            self.draft_prefill_s += time.perf_counter() - started_s
        return tuple(able)

    def _decode(
        self, drafters: tuple[Drafter, ...], engaged: Engaged, cancel: CancelFlag, notices: list[NoticeInfo]
    ) -> Iterator[Chunk]:
        generation = Generation(
            target=self.pair.target.context,
            tokens=self.tokens,
            chooser=engaged.watching(self.logprobs or self.noting or self.sampler),
            is_last=self._take,
            max_tokens=self.n_left,
            drafters=drafters,
            length=engaged.length,
            origin_s=self.received_s,
            n_rows=engaged.n_rows,
            keeps=self._keeps if engaged.drafters and self.command.speculation.lenient else None,
        )
        try:
            for outcome in speculate(generation):
                self.faults = self.faults or FaultWatch()  # from the first token on: no prefill, no cold memory
                yield self._chunk(outcome)
                # An answer that ended by itself is not cancelled any more.
                if cancel() and self.stop_reason == "length":
                    raise DecodeCancelledError("The answer was cancelled.")
        finally:
            if generation.drafter_fault:
                notices.append(drafter_failed(generation.drafter_fault))
                self._failed |= {drafter.name for drafter in drafters} - {one.name for one in generation.drafters}

    # --- what is said -------------------------------------------------------------------------------

    def _keeps(self, row: Row, token: int) -> bool:
        """Tell whether a draft token that the target would not have said is kept all the same."""
        is_kept = is_typical(self.sampler, row, token, self.command.speculation.lenient)
        for noting in (self.noting, self.logprobs) if is_kept else ():
            if noting is not None:
                noting.note_instead(row, token)
        return is_kept

    def _take(self, token: int) -> bool:
        """Count an emitted token's text; return whether the answer ends with it."""
        if self.speller.model.is_end(token):
            self.stop_reason = "eos"
            if self.noting is not None:
                self.noting.note_text(0)
            return True
        text = self.stream.push(self.speller.piece(token))
        self.text += text
        self.written += text
        if self.noting is not None:
            self.noting.note_text(len(text))
        if self.stream.stopped:
            self.stop_reason = "stop"
        return self.stream.stopped

    def _chunk(self, outcome: Outcome) -> Chunk:
        text, self.text = self.text, ""
        told = () if self.noting is None else self.noting.take()
        logprobs = () if self.logprobs is None else self.logprobs.take()
        step = outcome.step
        if self._n_gone_before_step:
            step = structs.replace(step, slid=self._n_gone_before_step)
            self._slid, self._sliding, self._n_gone_before_step = self._sliding, None, 0
        return Chunk(self.command.id, text, outcome.token_ids, outcome.drafted, step, outcome.plan, told, logprobs)
