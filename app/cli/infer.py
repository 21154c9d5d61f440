"""``infer``: one answer, or a conversation, in the terminal."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass, field
from typing import Annotated

import msgspec
import typer

from app.cli import options
from app.cli.answer_lines import profile_lines
from app.cli.hosting import Said, ask, host, load
from app.cli.load_options import LoadOptions
from app.cli.terminal import first_interrupt, note, read_line, write_text
from app.errors import EngineDiedError, SlipstreamError, UsageError
from app.host import ChatRequest, Host, PairChoice
from app.metrics.export import answer_json
from app.metrics.values import Answer
from app.protocol import ChatMessage, Sampling, Speculation

Prompt = Annotated[
    str | None,
    typer.Option(
        "-p", "--prompt", metavar="TEXT", help="What to answer. Without it: standard input, or a conversation."
    ),
]
Slide = Annotated[
    bool,
    typer.Option(
        "--slide",
        help="When the conversation is longer than the context, leave out its oldest turns and say so, instead of "
        "stopping.",
    ),
]


@dataclass(frozen=True, slots=True)
class InferOptions:
    """What ``infer`` can be told."""

    model: options.Target
    prompt: Prompt = None
    draft_model: options.DraftModel = None
    spec_type: options.SpecTypes = None
    draft_tokens: options.DraftTokens = "auto"
    draft_min: options.DraftMin = 0
    draft_p_min: options.DraftPMin = 0.0
    exact: options.Exact = True
    temperature: options.Temperature = options.DEFAULTS.temperature
    top_k: options.TopK = options.DEFAULTS.top_k
    top_p: options.TopP = options.DEFAULTS.top_p
    min_p: options.MinP = options.DEFAULTS.min_p
    seed: options.Seed = None
    grammar_file: options.GrammarFile = None
    max_tokens: options.MaxTokens = 1024
    slide: Slide = False
    how: LoadOptions = field(default_factory=LoadOptions)
    as_json: options.AsJson = False

    def pair(self) -> PairChoice:
        """What to load, and how.

        Raises:
            UsageError: the words do not go together.
        """
        return self.how.pair(self.model, self.draft_model)

    def speculation(self) -> Speculation:
        """How to draft.

        Raises:
            UsageError: the words do not go together.
        """
        length = options.draft_length(self.draft_tokens)
        types = options.spec_types(self.spec_type, self.draft_model, is_auto=length == "auto")
        options.check_draft_used(self.draft_model, types)
        drafts = options.speculation(types, length, self.draft_min, self.draft_p_min, exact=self.exact)
        options.check_something_drafts(self.spec_type, drafts, length, self.draft_min + self.draft_p_min)
        return drafts

    def sampling(self) -> Sampling:
        """How to draw; a fresh seed each time unless one is given.

        Raises:
            UsageError: the grammar is none.
        """
        return Sampling(
            seed=options.fresh_seed(self.seed),
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            min_p=self.min_p,
            grammar=options.grammar(self.grammar_file),
        )


def infer(chosen: InferOptions) -> None:
    """Answer a prompt, or hold a conversation, and say what it cost."""
    speculation = chosen.speculation()
    chosen.pair()
    chosen.sampling()
    prompt = None if chosen.prompt is None else _text(chosen.prompt)
    if prompt is None and not sys.stdin.isatty():
        prompt = sys.stdin.read()
    if prompt is not None and not prompt.strip():
        raise UsageError("The prompt is empty.", "Give one with -p, or on standard input.")
    if prompt is None and chosen.as_json:
        raise UsageError("--json answers one prompt.", "Give it with -p, or on standard input.")
    work = _converse(chosen, speculation) if prompt is None else _answer_once(chosen, speculation, prompt)
    asyncio.run(work)


def _text(argument: str) -> str:
    """Return a command line argument without the marks that stand for bytes which are no text."""
    return os.fsencode(argument).decode("utf-8", "replace")


async def _answer_once(chosen: InferOptions, speculation: Speculation, prompt: str) -> None:
    async with host() as owner:
        await load(owner, chosen.pair())
        request = _request(chosen, speculation, (ChatMessage("user", prompt),), label=prompt)
        said = await _ask(owner, request, quiet=chosen.as_json)
        if chosen.as_json:
            figures = msgspec.structs.asdict(said.run)
            answer = Answer(**figures, text=said.text, token_ids=said.token_ids)
            sys.stdout.write(answer_json(answer).decode() + "\n")
            sys.stdout.flush()
        else:
            _show_profile(said)


async def _converse(chosen: InferOptions, speculation: Speculation) -> None:
    async with host() as owner:
        loaded = await load(owner, chosen.pair())
        note(f"{loaded.target.name}. An empty line, Ctrl-D or /exit ends; /clear forgets; Ctrl-C stops an answer.")
        messages: tuple[ChatMessage, ...] = ()
        while line := read_line("> "):
            if line.strip() == "/exit":
                return
            if line.strip() == "/clear":
                messages = ()
                continue
            asked = (*messages, ChatMessage("user", line))
            try:
                said = await _ask(owner, _request(chosen, speculation, asked), quiet=False)
            except EngineDiedError as fault:
                note(f"error: {fault.message}\nThe engine is started again; the last message was not answered.")
                await owner.restart()
                continue
            except SlipstreamError as fault:
                note(f"error: {fault.message}" + (f"\nhint: {fault.hint}" if fault.hint else ""))
                continue
            messages = (*asked, ChatMessage("assistant", said.text))
            _show_profile(said)


async def _ask(owner: Host, request: ChatRequest, *, quiet: bool) -> Said:
    with first_interrupt(owner.cancel):
        try:
            return await ask(owner, request, (lambda _text: None) if quiet else write_text)
        except SlipstreamError:
            if not quiet:
                write_text("\n")  # what was said before the fault keeps its own line
            raise


def _request(
    chosen: InferOptions, speculation: Speculation, messages: tuple[ChatMessage, ...], label: str = ""
) -> ChatRequest:
    return ChatRequest(
        messages=messages,
        label=label,
        speculation=speculation,
        sampling=chosen.sampling(),
        max_tokens=chosen.max_tokens,
        slide=chosen.slide,
    )


def _show_profile(said: Said) -> None:
    gap = "\n" if said.text.endswith("\n") else "\n\n"
    write_text(gap + "\n".join(profile_lines(said.run)) + "\n")
