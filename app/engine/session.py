"""A loaded pair that answers: commands in, protocol events out, one generator each.

    request ─▶ template ─▶ tokens ─▶ keep what the memory has ─▶ prefill ─▶ speculate ─▶ text

The generators run on the engine thread; :meth:`Session.tokenise` and :meth:`Session.preview` may be called
from another thread meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from operator import methodcaller

from app.engine.cancel import CancelFlag
from app.engine.cost_curve import measure_costs
from app.engine.devices import check_runtime, load_backends
from app.engine.draft_length import LengthPolicy
from app.engine.drafters import Drafter
from app.engine.engage import Engaged, drafter_failed, engage
from app.engine.full_context import full_notice
from app.engine.going_on import Speller
from app.engine.leniency import is_typical
from app.engine.llama import DecodeCancelledError, Row
from app.engine.loading import LoadedModel, LoadedPair, file_key, load_draft, load_target
from app.engine.paging import FaultWatch
from app.engine.prompt import Prompt
from app.engine.prompt_cache import reusable
from app.engine.prompting import Prompting, grammar_behind
from app.engine.sampler import Sampler
from app.engine.second_look import Pauses
from app.engine.speculate import Generation, Outcome, speculate
from app.engine.template import Renderer
from app.engine.text import TextStream
from app.engine.token_details import MAX_TOP_LOGPROBS, LogprobChooser, NotingChooser
from app.engine.tool_words import PLAIN
from app.errors import DecodeError, EngineError, ModelFileError, UsageError
from app.protocol import (
    ChatMessage,
    Chunk,
    CostsMeasured,
    Done,
    Generate,
    Load,
    Loaded,
    LoadProgress,
    MeasureCosts,
    NoticeInfo,
    Prefill,
    Render,
    Rendered,
    Started,
    StopReason,
    Templating,
)


class Session:
    """At most one loaded pair, and the answers it gives."""

    def __init__(self, renderer: Renderer) -> None:
        self._prompting = Prompting(renderer)
        self._pair: LoadedPair | None = None
        self._target_key: tuple[object, ...] = ()
        self._draft_key: tuple[object, ...] = ()
        self._pauses = Pauses()

    # --- loading ------------------------------------------------------------------------------------

    def load(self, command: Load, cancel: CancelFlag) -> Iterator[LoadProgress | Loaded]:
        """Load what the command names; keep the target, and the draft model, if they are loaded the same way.

        Raises:
            SlipstreamError: the target cannot be loaded; nothing is loaded then.
        """
        started_s = time.perf_counter()
        if self._pair is None:
            check_runtime()  # struct drift between library and binding is silent: better refuse than corrupt
        load_backends(command.backends)
        target_key = (
            *(*file_key(command.target), command.n_ctx, command.n_threads),
            *(command.draft_max, command.memory, command.placement, command.trees),
        )
        draft_key = (
            *(() if command.draft is None else _draft_key(command.draft)),
            *(command.draft_memory, command.draft_n_ctx, command.draft_n_threads, command.draft_placement),
        )
        if self._pair is None or target_key != self._target_key:
            self.unload()
            self._pair = yield from load_target(command, cancel)
            self._target_key, self._draft_key = target_key, ()
        if draft_key != self._draft_key:
            self._pair.drop_draft()
            self._draft_key = ()
            yield from load_draft(command, self._pair, cancel)
            self._draft_key = draft_key
            if command.lessons is not None:
                self._pair.evidence.recall(command.lessons)
            self._pair.evidence.draft_start = command.draft_start
        yield self._loaded(command.id, self._pair, time.perf_counter() - started_s)

    @staticmethod
    def _loaded(command_id: int, pair: LoadedPair, load_s: float) -> Loaded:
        return Loaded(
            id=command_id,
            target=pair.target.info,
            draft=pair.draft_info(),
            n_ctx=pair.target.context.n_ctx,
            n_threads=pair.n_threads,
            device=pair.target.model.placement.words,
            drafters=pair.drafters(),
            not_engageable=pair.not_engageable,
            load_s=load_s,
            memory=pair.target.context.memory_types,
            notices=tuple(pair.notices),
            draft_device=pair.draft_device(),
            n_rows_alike=pair.n_rows_alike,
        )

    def unload(self) -> None:
        """Free the models, if any."""
        if self._pair is not None:
            self._pair.close()
        self._pair, self._target_key, self._draft_key = None, (), ()
        self._prompting.said = []

    def close(self) -> None:
        """Free everything."""
        self.unload()
        self._prompting.close()

    def _require(self) -> LoadedPair:
        if self._pair is None:
            raise EngineError("No model is loaded.", "Load one first.")
        return self._pair

    # --- questions that are answered at any time ------------------------------------------------------

    def tokenise(self, text: str) -> tuple[int, ...]:
        """Return the token ids of a text. Thread-safe."""
        return tuple(self._require().target.model.tokenise(text))

    def render(
        self, messages: Sequence[ChatMessage], templating: Templating = PLAIN
    ) -> tuple[str, tuple[NoticeInfo, ...]]:
        """Return the prompt that the template makes of messages, and what went wrong. Thread-safe."""
        return self._prompting.render(self._require().target.model, messages, templating).said

    def preview(self, command: Render) -> Rendered:
        """Return the prompt as an answer would have it, and how many tokens it takes. Thread-safe."""
        return self._prompting.preview(self._require().target, command)

    # --- measuring ------------------------------------------------------------------------------------

    def measure_costs(self, command: MeasureCosts, cancel: CancelFlag) -> CostsMeasured:
        """Time the passes that the command names; see :mod:`app.engine.cost_curve`.

        Raises:
            SlipstreamError: the command asks for what the context does not have room for, or was cancelled.
        """
        return measure_costs(command, self._require(), cancel)

    def rest(self, cancel: CancelFlag) -> None:
        """Use a pause between two answers, which the flag ends, to see again what passes cost, if that helps."""
        if self._pair is not None:
            self._pauses.use(self._pair, cancel)

    # --- answering ------------------------------------------------------------------------------------

    def generate(
        self, command: Generate, *, received_s: float, cancel: CancelFlag
    ) -> Generator[Started | Prefill | Chunk | Done, None, None]:
        """Answer; yield events as they come. Closing the generator, or the flag, stops it.

        Args:
            command: what to answer and how.
            received_s: when the command arrived, on ``time.perf_counter``'s clock.
            cancel: stops even a decode that is under way.

        Raises:
            SlipstreamError: the request cannot be answered, or the target failed.
        """
        pair = self._require()
        prompt = self._prompting.prompt(pair.target, command)
        self._prompting.said = prompt.tokens  # the answer's are put behind them
        self._prompting.n_asked = len(prompt.tokens) - prompt.n_begun
        if command.n_top_logprobs > MAX_TOP_LOGPROBS:
            raise UsageError(
                f"{command.n_top_logprobs} log-probabilities are asked for.", f"At most {MAX_TOP_LOGPROBS}."
            )
        if not command.reuse_memory:
            pair.target.forget()
        sampler = Sampler(command.sampling, pair.target.model.n_vocab, prompt.tokens)
        speller = Speller(pair.target.model, prompt.shown)
        answer = _Answer(command, pair, prompt.tokens, sampler, received_s, speller, self._say_full)
        try:
            if command.sampling.grammar:
                sampler.keep_to(grammar_behind(pair.target.model, command, prompt))
            engaged = engage(command, pair, sampler, prompt.tokens)
            self._pauses.note(engaged, received_s)
            with ExitStack() as stack:
                stack.callback(answer.settle, engaged)
                for part in (pair.target, pair.draft, pair.heads):
                    if part is not None:
                        stack.enter_context(part.context.cancelled_by(cancel))
                yield from answer.run(engaged, prompt, cancel)
        finally:
            sampler.close()

    def _say_full(self, command: Generate, written: str) -> NoticeInfo:
        target = self._require().target
        return full_notice(command, written, lambda request: self._prompting.prompt(target, request))


def _draft_key(path: str) -> tuple[object, ...]:
    """Like :func:`file_key`, but a file that is not there is for :func:`load_draft` to explain."""
    try:
        return file_key(path)
    except ModelFileError:
        return (path,)


@dataclass(slots=True)
class _Answer:
    """One generation under way."""

    command: Generate
    pair: LoadedPair
    tokens: list[int]
    sampler: Sampler
    received_s: float
    speller: Speller
    say_full: Callable[[Generate, str], NoticeInfo]
    prefill_s: float = 0.0
    draft_prefill_s: float = 0.0
    stop_reason: StopReason = "length"
    faults: FaultWatch | None = None
    stream: TextStream = field(init=False)
    noting: NotingChooser | None = field(init=False)
    logprobs: LogprobChooser | None = field(init=False)
    text: str = ""
    written: str = ""

    def __post_init__(self) -> None:
        self.stream = TextStream(self.command.stop)
        self.noting = NotingChooser(self.sampler) if self.command.token_details else None
        n_top, inner = self.command.n_top_logprobs, self.noting or self.sampler
        self.logprobs = LogprobChooser(inner, n_top, self.speller.piece) if n_top >= 0 else None

    def run(self, engaged: Engaged, prompt: Prompt, cancel: CancelFlag) -> Iterator[Started | Prefill | Chunk | Done]:
        """Prefill both models, then speculate."""
        n_cached = self._keep(self.pair.target)
        notices = (*prompt.notices, *engaged.notices)
        yield Started(
            self.command.id, len(self.tokens), n_cached, engaged.engagement, notices, prompt.end, engaged.n_rows
        )
        after: list[NoticeInfo] = []
        try:
            drafters = engaged.drafters
            for event in self._prefill():
                if drafters:
                    seen = self.tokens[: event.done + n_cached]
                    drafters = self._prepare(drafters, engaged.length, methodcaller("process", seen), after)
                yield event
            drafters = self._prepare(drafters, engaged.length, methodcaller("begin", self.tokens), after)
            engaged.length.begin(time.perf_counter() - self.received_s)
            yield from self._decode(drafters, engaged, cancel, after)
        except DecodeCancelledError:
            self.stop_reason = "cancelled"
        text = self.stream.finish()
        if self.stop_reason == "length" and self.pair.target.context.n_past >= self.pair.target.context.n_ctx:
            after.append(self.say_full(self.command, self.written + text))
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

    def _keep(self, target: LoadedModel) -> int:
        """Rewind the target to what the prompt shares with its memory; return how much that is."""
        n, heads = reusable(target.held.tokens, self.tokens), self.pair.heads
        if heads is not None and target.context.watcher is not None and not target.context.has_state:
            n = heads.memory.seen_from(n)
        target.context.rewind(n)
        del target.held.tokens[target.context.n_past :]
        return target.context.n_past

    def _prefill(self) -> Iterator[Prefill]:
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
            self.prefill_s += time.perf_counter() - started_s
            yield Prefill(self.command.id, context.n_past - n_start, n - n_start)

    def _prepare(
        self,
        drafters: tuple[Drafter, ...],
        length: LengthPolicy,
        work: Callable[[Drafter], None],
        notices: list[NoticeInfo],
    ) -> tuple[Drafter, ...]:
        """Let the drafters that are to be ready do something; one that fails is left out, with a notice."""
        able, started_s = [], time.perf_counter()
        for drafter in drafters:
            try:
                if length.prepares(drafter.name):
                    work(drafter)
            except DecodeCancelledError:
                raise
            except DecodeError as fault:
                notices.append(drafter_failed(str(fault)))
            else:
                able.append(drafter)
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
            max_tokens=self.command.max_tokens,
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
        return Chunk(
            self.command.id, text, outcome.token_ids, outcome.drafted, outcome.step, outcome.plan, told, logprobs
        )

    def settle(self, engaged: Engaged) -> None:
        """Note what the memories hold now, whatever happened."""
        target = self.pair.target
        target.held.tokens[:] = self.tokens[: target.context.n_past]
        for drafter in engaged.drafters:
            drafter.close()
