"""``infer``: one answer, or a conversation, in the terminal."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from app.cli import options
from app.cli.infer_options import InferOptions
from app.cli.terminal import as_text, first_interrupt, kept_by_interrupts, keys_as_typed, note, write_text
from app.errors import UNWRITABLE, EngineDiedError, RemoteError, SlipstreamError
from app.protocol import Speculation

if TYPE_CHECKING:
    from app.cli.answer_view import AnswerView
    from app.cli.slash import Desk
    from app.cli.talk import Talk
    from app.cli.voices import Cost, RemoteVoice

__all__ = ["InferOptions", "infer"]

logger = logging.getLogger(__name__)

API_KEY = "SLIPSTREAM_API_KEY"


def infer(chosen: InferOptions) -> None:
    """Answer a prompt, or hold a conversation, and say what it cost; in a stream of events a fault is one, too."""
    from app.protocol import ErrorInfo, Failed

    try:
        chosen = _at_server(chosen)
        chosen.check()
        questions = chosen.questions()
        asyncio.run(_answer(chosen, questions) if questions else _converse(chosen))
    except SlipstreamError as fault:
        if chosen.as_stream:
            _view(chosen).on_event(Failed(0, ErrorInfo(fault.code, fault.message, fault.hint)))
        raise


def _at_server(chosen: InferOptions) -> InferOptions:
    """Return the options with the server that ``MODEL@HOST:PORT`` names, if it was added.

    Raises:
        UsageError: that server has another model.
    """
    if chosen.server is not None or "@" not in (chosen.model or ""):
        return chosen
    from app.host.remote_servers import find_model
    from app.settings import load_settings

    found = find_model(chosen.model or "", load_settings()[0].servers)
    return chosen if found is None else replace(chosen, server=found.url, model=found.model)


async def _answer(chosen: InferOptions, questions: tuple[str, ...]) -> None:
    """Have prompts answered."""
    async with _desk(chosen) as desk:
        for number, question in enumerate(questions):
            if number:
                write_text("\n")
            turn = await desk.talk.ask(question)
            if turn.cost is not None:
                _show_cost(chosen, turn.cost)


def _show_cost(chosen: InferOptions, cost: Cost) -> None:
    import msgspec

    from app.metrics.export import answer_json
    from app.metrics.values import Answer

    if chosen.as_json or chosen.as_stream:
        document = cost.document
        data = answer_json(document) if isinstance(document, Answer) else msgspec.json.encode(document)
        kind = '"type":"answer",' if chosen.as_stream else ""
        write_text("{" + kind + data.decode()[1:] + "\n")
    elif not chosen.quiet:
        write_text("\n" + "\n".join(cost.lines) + "\n")


async def _converse(chosen: InferOptions) -> None:
    from app.cli.line_editor import make_editor, reads_keys
    from app.cli.slash import completions

    with keys_as_typed() if reads_keys() else nullcontext():
        async with _desk(chosen) as desk:
            note(f"{desk.talk.voice.name}. /help lists the commands; Ctrl-C stops an answer; Ctrl-D or /exit leaves.")
            editor = make_editor(completions)
            with kept_by_interrupts():
                while not desk.is_over and (line := await editor.read()) is not None:
                    if line.strip():
                        await _take(desk, as_text(line))


async def _take(desk: Desk, line: str) -> None:
    """Carry out a line; what goes wrong is said, and the conversation goes on, whatever it is."""
    from app.cli.slash import Interrupted
    from app.cli.talk import say_fault

    try:
        if line.startswith("/"):
            await _obey(desk, line)
        else:
            await _say(desk.talk, line)
    except Interrupted:
        return
    except EngineDiedError as fault:
        note(f"error: {fault.message}")
        await _revive(desk)
    except SlipstreamError as fault:
        say_fault(fault)
    except Exception as fault:
        if isinstance(fault, BrokenPipeError) or getattr(fault, "errno", None) in UNWRITABLE:
            raise  # nobody reads the output any more, or it cannot be written
        logger.exception("a line of a conversation failed")
        note(f"internal error: {type(fault).__name__}: {fault}\nhint: Please report it; the conversation goes on.")


async def _obey(desk: Desk, line: str) -> None:
    """Carry out a command; Ctrl-C gives it up."""
    doing = asyncio.ensure_future(desk.obey(line))

    async def stop() -> None:
        doing.cancel()

    with first_interrupt(stop):
        try:
            await doing
        except asyncio.CancelledError:
            note("Stopped.")


async def _say(talk: Talk, line: str) -> None:
    turn = await talk.ask(line)
    if turn.cost is not None and turn.cost.brief and not talk.chosen.quiet:
        note(turn.cost.brief)


async def _revive(desk: Desk) -> None:
    """Start the engine again; Ctrl-C gives it up."""
    from app.cli.talk import say_fault

    owner = desk.local().owner
    note("Starting the engine again…")
    try:
        with first_interrupt(owner.cancel):
            await owner.restart()
    except SlipstreamError as fault:
        say_fault(fault)
        note("The engine did not start again. /model NAME tries another model; /save FILE keeps what was said.")
    else:
        note("The engine was started again; what was said is kept.")


@asynccontextmanager
async def _desk(chosen: InferOptions) -> AsyncIterator[Desk]:
    """Have somebody ready who answers."""
    from app.cli.slash import Desk
    from app.cli.talk import Talk

    if chosen.server is not None:
        voice = await _remote(chosen, chosen.server)
        talk = Talk(voice, chosen, lambda: _view(chosen), _speculation(chosen), system=as_text(chosen.system))
        yield Desk(talk, None)
        return
    from app.cli.hosting import host
    from app.cli.on_demand import have_here
    from app.cli.voices import LocalVoice

    pair = await have_here(chosen.pair(), at_once=chosen.pull)
    async with host() as owner:
        local = LocalVoice(owner)
        await local.load(pair)
        drafts = _speculation(chosen)
        if chosen.spec_type is None and owner.state.loaded is not None:
            drafts = options.by_file(drafts, owner.state.loaded.drafters)
        yield Desk(Talk(local, chosen, lambda: _view(chosen), drafts, system=as_text(chosen.system)), pair)


def _speculation(chosen: InferOptions) -> Speculation:
    return chosen.speculation()


async def _remote(chosen: InferOptions, url: str) -> RemoteVoice:
    from app.cli.voices import RemoteVoice, speculation_fields
    from app.host.background import beside
    from app.host.remote import RemoteServer
    from app.host.remote_servers import ServerKeys
    from app.host.remote_wire import read_address

    kept = await beside(lambda: ServerKeys().find(read_address(url).url), "keyring")
    key = kept or os.environ.get(API_KEY, "")  # that may be another server's, also the key of our own
    server = RemoteServer(url, key)
    if server.address.is_open_to_others:
        what = "Your messages and the key go" if key else "Your messages go"
        note(f"notice: {what} to {server.address.words} unencrypted.")
    model = as_text(chosen.model or "")
    if not model:
        known = await server.models()
        if not known:
            raise RemoteError(f"The server at {server.address.words} has no model.", "Load one there.")
        model = known[0]
    is_said = chosen.spec_type is not None or chosen.draft_model is not None
    fields = speculation_fields(chosen.speculation(), chosen.draft_model, is_said=is_said)
    return RemoteVoice(server, model, fields | chosen.how.remote_fields(chosen.said), chosen.said)


def _view(chosen: InferOptions) -> AnswerView:
    from app.cli.answer_view import AsItIs, JsonLines, Nowhere

    if chosen.as_json:
        return Nowhere()
    if chosen.as_stream:
        return JsonLines()
    if sys.stdout is None or not sys.stdout.isatty():
        return AsItIs()
    from app.cli.drawn_view import view_for_terminal

    return view_for_terminal(plain=chosen.plain)
