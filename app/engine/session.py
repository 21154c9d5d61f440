"""A loaded pair that answers: commands in, protocol events out, one generator each.

    request ─▶ template ─▶ tokens ─▶ keep what the memory has ─▶ prefill ─▶ speculate ─▶ text

The generators run on the engine thread; :meth:`Session.tokenise` and :meth:`Session.preview` may be called
from another thread meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack

from app.engine.answer import Answer
from app.engine.cancel import CancelFlag
from app.engine.cost_curve import measure_costs
from app.engine.devices import check_runtime, load_backends
from app.engine.going_on import Speller
from app.engine.loading import LoadedPair, file_key, load_draft, load_target
from app.engine.prompting import Prompting, grammar_behind
from app.engine.sampler import Sampler
from app.engine.second_look import Pauses
from app.engine.template import Renderer
from app.engine.token_details import MAX_TOP_LOGPROBS
from app.engine.tool_words import PLAIN
from app.errors import EngineError, ModelFileError, UsageError
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
        self._prompting.take(prompt)
        if command.n_top_logprobs > MAX_TOP_LOGPROBS:
            raise UsageError(
                f"{command.n_top_logprobs} log-probabilities are asked for.", f"At most {MAX_TOP_LOGPROBS}."
            )
        if not command.reuse_memory:
            pair.target.forget()
        sampler = Sampler(command.sampling, pair.target.model.n_vocab, prompt.tokens)
        speller = Speller(pair.target.model, prompt.shown)
        answer = Answer(command, pair, prompt, sampler, received_s, speller, self._prompting)
        try:
            if command.sampling.grammar:
                sampler.keep_to(grammar_behind(pair.target.model, command, prompt))
            with ExitStack() as stack:
                stack.callback(answer.settle)
                for part in (pair.target, pair.draft, pair.heads):
                    if part is not None:
                        stack.enter_context(part.context.cancelled_by(cancel))
                engaged = answer.engage()
                self._pauses.note(engaged, received_s)
                yield from answer.run(engaged, cancel)
        finally:
            sampler.close()


def _draft_key(path: str) -> tuple[object, ...]:
    """Like :func:`file_key`, but a file that is not there is for :func:`load_draft` to explain."""
    try:
        return file_key(path)
    except ModelFileError:
        return (path,)
