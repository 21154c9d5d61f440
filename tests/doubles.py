"""The one fake: an engine that follows a script, for tests of the window, the host and what they record.

It keeps :class:`app.engine.client.Engine`'s contract (ids, cancel, errors, death) and fills every event with the facts
that the real engine would give: drafts are proposed, judged and kept by the script, times are those of a small machine.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from msgspec import structs

from app.costs import CostsAt, DraftCost, RowCost
from app.errors import EngineDiedError, EngineError, SlipstreamError, UsageError
from app.protocol import (
    LOSSY,
    TREES_TRIED,
    Chunk,
    Command,
    CostsMeasured,
    Done,
    Engagement,
    Event,
    Generate,
    Hello,
    Last,
    Load,
    Loaded,
    LoadProgress,
    MeasureCosts,
    ModelInfo,
    NoticeInfo,
    Prefill,
    Render,
    Rendered,
    SpecType,
    Started,
    Step,
    StopReason,
    Tokenise,
    Tokenised,
    Unload,
    Unloaded,
)
from app.token_details import TokenDetail

POEM = (
    "The slow train leaves the station, and a fast one rides ahead in the quiet of its wake. "
    "It guesses every signal, it calls each stop by name; the slow one nods, or not, and both come in the same."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the script.

    Attributes:
        text: what it says; a word with the blank before it is a token.
        accepted: how many draft tokens each step keeps when speculation is on, over and over.
        pace_s: real time between two chunks.
        burst: how many chunks come at one go.
        die_at: the engine dies before this chunk.
        fault: raised before chunk ``fault_at``.
        notices: shown with ``Started``.
        prompt_end: what the template made last.
        slides_at: the context is full before this chunk: the oldest messages leave it, the rest is read again.
        slide_s: how long that takes.
    """

    text: str = POEM
    accepted: tuple[int, ...] = (2, 0, 4, 1, 3)
    pace_s: float = 0.0
    burst: int = 1
    prefill_s: float = 0.0
    die_at: int | None = None
    fault: SlipstreamError | None = None
    fault_at: int = 0
    stop_reason: StopReason = "eos"
    notices: tuple[NoticeInfo, ...] = ()
    prompt_end: str = ""
    slides_at: int | None = None
    slide_s: float = 0.0


N_SLID, N_LEFT_OUT = 40, 2
"""Tokens and messages that leave a context which is full in mid-answer."""

SLID = NoticeInfo(
    "turns_left_out",
    f"The context was full before the answer was complete: it went on without the oldest {N_LEFT_OUT} messages.",
    "For an answer that knows all of it, choose a longer context.",
)


def tokens_of(text: str) -> list[str]:
    """Cut a text into the tokens of the scripted vocabulary; joined they are the text again."""
    return re.findall(r"\s*\S+|\s+$", text)


def token_id(piece: str) -> int:
    """Return a number for a piece, the same in every process."""
    return int.from_bytes(piece.encode()[-2:], "big") % 32000


class ScriptedEngine:
    """Answers in the order of the script, then with its last answer for ever.

    Attributes:
        commands: every command that was sent, for assertions.
        cancelled: those that were told to stop.
    """

    def __init__(
        self,
        answers: Sequence[Answer] = (Answer(),),
        *,
        start_fault: EngineDiedError | None = None,
        load_s: float = 0.0,
        load_fault: SlipstreamError | None = None,
        die_in_load: bool = False,
        heads: Literal["", "embedded", "file"] = "",
    ) -> None:
        self.commands: list[Command] = []
        self._answers = list(answers)
        self._start_fault, self._load_fault = start_fault, load_fault
        self._load_s, self._die_in_load, self._heads = load_s, die_in_load, heads
        self._ids = itertools.count(1)
        self._n_answered = 0
        self._started = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._death: EngineDiedError | None = None
        self._loaded: Load | None = None
        self.cancelled: set[int] = set()
        self._stirred = asyncio.Event()
        self._died = asyncio.Event()

    # --- the contract ---------------------------------------------------------------------------------

    async def start(self) -> Hello:
        self._loop = asyncio.get_running_loop()
        await asyncio.sleep(0)
        if self._start_fault is not None:
            self.die(self._start_fault)
            raise self._start_fault
        self._started = True
        return Hello(pid=4711, app="0.0.0", llama_cpp_python="0.3.36", llama_cpp_commit="0c1e570", system_info="script")

    def next_id(self) -> int:
        return next(self._ids)

    @property
    def alive(self) -> bool:
        return self._started and self._death is None

    async def send(self, command: Command) -> AsyncGenerator[Event, None]:
        self._check()
        self.commands.append(command)
        over = False
        try:
            async with aclosing(self._carry_out(command)) as events:
                async for event in events:
                    self._check()
                    over = isinstance(event, Last)
                    yield event
        finally:
            if not over:
                self.cancel(command.id)

    def cancel(self, command_id: int) -> None:
        self.cancelled.add(command_id)
        if asyncio._get_running_loop() is self._loop:
            self._stirred.set()
        elif self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stirred.set)

    async def lost(self) -> EngineDiedError:
        await self._died.wait()
        return self._death or EngineDiedError("The engine was stopped.")

    async def close(self) -> None:
        await asyncio.sleep(0)
        self.die(EngineDiedError("The engine was stopped."))

    def die(self, fault: EngineDiedError | None = None) -> None:
        """Go, as a crash would; in the middle of an answer if there is one."""
        if self._death is None:
            self._death = fault or EngineDiedError(
                "The engine process has ended: it crashed (segmentation fault) [SIGSEGV].", "Start the engine again."
            )
            self._died.set()
            self._stirred.set()

    # --- the script -----------------------------------------------------------------------------------

    def _check(self) -> None:
        if self._death is not None:
            raise EngineDiedError(self._death.message, self._death.hint)

    async def _pause(self, seconds: float) -> None:
        """Let time pass, but not beyond a cancel or a death."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        self._stirred.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stirred.wait(), seconds)
        self._check()

    def _carry_out(self, command: Command) -> AsyncGenerator[Event, None]:
        match command:
            case Load():
                return self._load(command)
            case Generate():
                return self._generate(command)
            case _:
                return self._answer_at_once(command)

    async def _answer_at_once(self, command: Command) -> AsyncGenerator[Event, None]:
        match command:
            case Tokenise():
                yield Tokenised(command.id, tuple(map(token_id, tokens_of(command.text))))
            case Render():
                yield rendered_of(command)
            case MeasureCosts():
                yield costs_of(command, self._loaded)
            case Unload():
                self._loaded = None
                yield Unloaded(command.id)

    async def _load(self, command: Load) -> AsyncGenerator[Event, None]:
        for fraction in (0.0, 0.5, 1.0):
            yield LoadProgress(command.id, "target", fraction)
            await self._pause(self._load_s / 3)
            if command.id in self.cancelled:
                raise SlipstreamError("The load was cancelled.")
        if self._die_in_load:
            self.die()
            self._check()
        if self._load_fault is not None:
            raise self._load_fault
        self._loaded = command
        yield Loaded(
            id=command.id,
            target=model_info(command.target),
            draft=model_info(command.draft) if command.draft else None,
            n_ctx=command.n_ctx,
            n_threads=command.n_threads or 2,
            device="CPU",
            drafters=self._drafters(command),
            not_engageable=why_not(self._drafters(command)),
            load_s=self._load_s,
            memory=command.memory,
            notices=(NoticeInfo(TREES_TRIED, "Token trees were tried: one pass."),) if command.trees else (),
        )

    def _drafters(self, command: Load) -> tuple[SpecType, ...]:
        """Return what can draft: n-gram, heads if the script has some, a draft model unless its file holds heads."""
        is_model = command.draft is not None and self._heads != "file"
        has_heads = self._heads == "embedded" or (self._heads == "file" and command.draft is not None)
        kinds: list[SpecType] = ["ngram"]
        kinds += ["draft-mtp"] if has_heads else []
        kinds += ["draft-simple"] if is_model else []
        return (*kinds, *(("tree",) if command.trees and is_model else ()))

    async def _generate(self, command: Generate) -> AsyncGenerator[Event, None]:
        answer = self._answers[min(self._n_answered, len(self._answers) - 1)]
        self._n_answered += 1
        said = "".join(message.content for message in command.messages)
        prompt = command.prompt if isinstance(command.prompt, str) else said
        n_prompt = len(tokens_of(prompt)) + 4
        yield Started(command.id, n_prompt, 0, engagement_of(command), answer.notices, answer.prompt_end)
        await self._pause(answer.prefill_s)
        yield Prefill(command.id, n_prompt, n_prompt)
        for i, chunk in enumerate(chunks_of(command, answer, n_prompt)):
            if i and i % answer.burst == 0:
                await self._pause(answer.pace_s)
            if answer.die_at == i:
                self.die()
                self._check()
            if answer.fault is not None and answer.fault_at == i:
                raise answer.fault
            if command.id in self.cancelled:
                yield Done(command.id, "cancelled", "", 0.02, 0.0)
                return
            if answer.slides_at == i:
                yield Prefill(command.id, 128, 200, N_LEFT_OUT)
                await self._pause(answer.slide_s)
                if command.id in self.cancelled:
                    yield Done(command.id, "cancelled", "", 0.02, 0.0, (SLID,))
                    return
                yield Prefill(command.id, 200, 200, N_LEFT_OUT)
                chunk = structs.replace(chunk, step=structs.replace(chunk.step, slid=N_SLID, verify_s=0.0))
            yield chunk
        notices = (SLID,) if answer.slides_at is not None else ()
        draft_prefill_s = 0.005 if engagement_of(command).engaged else 0.0
        yield Done(command.id, answer.stop_reason, "", 0.02, draft_prefill_s, notices)


def rendered_of(command: Render) -> Rendered:
    """Return the prompt in the scripted engine's own form; a template with the word "broken" in it does not work."""
    lines = [f"{message.role}: {message.content}" for message in command.messages]
    prompt, template, notices = "\n".join([*lines, "assistant:"]), "{{ own }}", ()
    if command.templating.template is not None and "broken" in command.templating.template:
        notices = (NoticeInfo("template_override_broken", "The chat template does not work.", "Correct it."),)
    elif command.templating.template is not None:
        prompt, template = f"{command.templating.template}\n{prompt}", command.templating.template
    thinks = "think" in template
    return Rendered(command.id, prompt, notices, len(tokens_of(prompt)), thinks, thinks, template)


def why_not(drafters: tuple[SpecType, ...]) -> dict[SpecType, str]:
    """Return why the others cannot draft."""
    reasons: dict[SpecType, str] = {
        "draft-simple": "No draft model is chosen.",
        "draft-mtp": "The target has no heads.",
        "tree": "No draft model, and no MTP heads with a memory of their own.",
    }
    return {kind: reason for kind, reason in reasons.items() if kind not in drafters}


def engagement_of(command: Generate) -> Engagement:
    """Return how the scripted engine drafts for this request."""
    types = [kind for kind in command.speculation.types if kind in ("ngram", "draft-simple", "tree")]
    if not types or command.speculation.draft_tokens == 0:
        return Engagement(engaged=False, reason="Speculation is switched off.")
    name = f"{types[0]},{LOSSY}" if command.speculation.lenient else types[0]
    return Engagement(engaged=True, drafter=name, draft_tokens=command.speculation.draft_tokens)


def chunks_of(command: Generate, answer: Answer, n_prompt: int) -> list[Chunk]:
    """Return the answer as steps: the first token comes from prefill, then one step a target pass."""
    engagement = engagement_of(command)
    limit = 4 if isinstance(engagement.draft_tokens, str) else engagement.draft_tokens
    pieces = tokens_of(answer.text)[: command.max_tokens]
    kept = itertools.cycle(answer.accepted or (0,))
    chunks: list[Chunk] = []
    t_s, n_ctx = 0.02 + 0.0005 * n_prompt, n_prompt
    while pieces:
        if not chunks or not limit:
            step = Step(t_s, 1, limit, 0, 0, 0, 0.0, 0.02 if chunks else 0.0, n_ctx, "")
        else:
            n_kept = min(next(kept), limit, len(pieces) - 1)
            judged = min(n_kept + 1, limit)
            draft_s, verify_s = 0.0004 * limit, 0.02 + 0.001 * limit
            drafter, _, _lossy = engagement.drafter.partition(",")
            step = Step(t_s, n_kept + 1, limit, limit, judged, n_kept, draft_s, verify_s, n_ctx, drafter)
        said, pieces = pieces[: step.emitted], pieces[step.emitted :]
        drafted = (True,) * step.accepted + (False,) * (step.emitted - step.accepted)
        details = tuple(TokenDetail(len(piece), 0.5) for piece in said) if command.token_details else ()
        chunks.append(Chunk(command.id, "".join(said), tuple(map(token_id, said)), drafted, step, details=details))
        t_s += (0.0004 * limit + 0.02 + 0.001 * limit) if limit else 0.02
        n_ctx += step.emitted
    return chunks


def pass_s(n_rows: int, n_ctx: int = 0) -> float:
    """Return what a target pass costs on the scripted machine: rows are cheap but not free, and so is a long text."""
    return (0.02 + 0.001 * (n_rows - 1)) * (1 + n_ctx / 8192)


def costs_of(command: MeasureCosts, loaded: Load | None) -> CostsMeasured:
    """Return the scripted machine's cost curve: what its chunks take, a little less and more around it.

    Raises:
        EngineError: no model is loaded.
        UsageError: the command asks for what the context has no room for, as the real engine says it.
    """
    if loaded is None:
        raise EngineError("No model is loaded.", "Load one first.")
    if not command.n_rows or min(command.n_rows) < 1:
        raise UsageError("A pass has one row at least.", "Name row counts from 1 on.")
    room = loaded.n_ctx - max(*command.n_rows, 5)
    if not command.positions or not 0 <= min(command.positions) <= max(command.positions) <= room:
        raise UsageError(
            f"The context of {loaded.n_ctx} tokens does not reach so far.", f"Name positions from 0 to {room}."
        )
    drafters = ("ngram", "draft-simple") if loaded.draft else ("ngram",)
    token_s = {"ngram": 0.00001, "draft-simple": 0.0004}
    return CostsMeasured(
        command.id,
        tuple(
            CostsAt(
                n_ctx,
                tuple(
                    RowCost(n, 0.98 * pass_s(n, n_ctx), pass_s(n, n_ctx), 1.05 * pass_s(n, n_ctx), command.repeat)
                    for n in sorted({1, *command.n_rows})
                ),
                tuple(DraftCost(name, token_s[name], token_s[name] / 4 if n_ctx else 0.0) for name in drafters),
            )
            for n_ctx in command.positions
        ),
    )


def model_info(path: str) -> ModelInfo:
    """Return the facts of a scripted model, named after its file."""
    return ModelInfo(
        path=path,
        name=Path(path).stem,
        n_bytes=100_000_000,
        architecture="llama",
        quantisation="Q4_1",
        n_params=135_000_000,
        n_ctx_train=8192,
        n_vocab=32000,
        n_layers=30,
        has_chat_template=True,
    )
