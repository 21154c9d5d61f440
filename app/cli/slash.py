"""The commands of a conversation: lines that begin with a slash."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import typer
from msgspec import structs

from app.chat.export import write_whole
from app.cli import options
from app.cli.completing import draft_names, model_names, spec_types
from app.cli.on_demand import have_here
from app.cli.talk import Talk
from app.cli.terminal import first_interrupt, note
from app.cli.voices import LocalVoice, RemoteVoice
from app.errors import UsageError
from app.host import PairChoice
from app.protocol import SpecType, Speculation, spec_name

Run = Callable[["Desk", str], Awaitable[None]]
_SHOWN = 100
"""So much of a word that means nothing is said again."""


@dataclass(frozen=True, slots=True)
class Slash:
    """One command: what may follow it, what it does, and how."""

    words: str
    meaning: str
    run: Run
    choices: Callable[[], Iterable[str]] = tuple


class Desk:
    """A conversation and what its commands can change: the pair that answers, and whether it goes on."""

    def __init__(self, talk: Talk, pair: PairChoice | None) -> None:
        self.talk = talk
        self.pair = pair
        self.is_over = False

    async def obey(self, line: str) -> None:
        """Carry out a command.

        Raises:
            SlipstreamError: there is none of that name, or it could not be done.
        """
        name, words = (*line.split(None, 1), "")[:2]
        command = COMMANDS.get(ALIASES.get(name, name))
        if command is None:
            raise UsageError(
                f"There is no command {name[:_SHOWN]}.", "/help lists them; a message may not begin with a slash."
            )
        await command.run(self, words.strip())

    async def load(self, pair: PairChoice) -> None:
        """Load another pair; what was loaded stays if that fails.

        Raises:
            SlipstreamError: it cannot be loaded.
        """
        voice = self.local()
        pair = await have_here(pair, at_once=self.talk.chosen.pull)
        with first_interrupt(voice.stop):
            await voice.load(pair)
        self.pair = pair
        note(f"{voice.name} answers.")

    def local(self) -> LocalVoice:
        """Return the engine of this machine.

        Raises:
            UsageError: a server answers.
        """
        if not isinstance(self.talk.voice, LocalVoice):
            raise UsageError("A server answers; what it loads is its own business.", "Leave --server out.")
        return self.talk.voice


async def _model(desk: Desk, name: str) -> None:
    voice = desk.talk.voice
    if not name:
        note(f"{voice.name} answers.")
    elif isinstance(voice, RemoteVoice):
        known = await voice.models()
        if known and name not in known:
            raise UsageError(f"The server has no model {name}.", f"It has: {', '.join(known[:20])}.")
        voice.model = name
        note(f"{voice.name} answers.")
    elif desk.pair is not None:
        await desk.load(replace(desk.pair, target=name))


async def _draft(desk: Desk, name: str) -> None:
    if desk.pair is None:
        desk.local()  # which says that a server answers
        return
    if not name:
        note(f"{desk.pair.draft} drafts." if desk.pair.draft else "No draft model is loaded.")
        return
    talk = desk.talk
    if name in ("none", "off"):
        await desk.load(replace(desk.pair, draft=None))
        left = tuple(kind for kind in talk.speculation.types if kind in ("ngram", "none"))
        talk.speculation = _with_types(talk.speculation, left)
        return
    await desk.load(replace(desk.pair, draft=name))
    loaded = desk.local().owner.state.loaded
    kind: SpecType = "draft-mtp" if loaded is not None and "draft-mtp" in loaded.drafters else "draft-simple"
    is_auto = not talk.speculation.types or talk.speculation.draft_tokens == "auto"
    talk.speculation = _with_types(talk.speculation, ("ngram", kind) if is_auto else (kind,))
    talk.is_speculating = True
    _say_speculation(desk)


def _with_types(speculation: Speculation, types: tuple[SpecType, ...]) -> Speculation:
    """Return the same way to draft with other drafters; where nobody drafted, with the length that pays."""
    length = speculation.draft_tokens if speculation.types else "auto"
    return structs.replace(speculation, types=types, draft_tokens=length)


async def _speculation(desk: Desk, words: str) -> None:
    talk = desk.talk
    if words == "off":
        talk.is_speculating = False
    elif words == "on":
        talk.is_speculating = True
        if not talk.speculation.types:
            talk.speculation = _with_types(talk.speculation, ("ngram",))
    elif words:
        kinds, _, length = words.partition(" ")
        draft = desk.pair.draft if desk.pair is not None else talk.chosen.draft_model
        types = options.spec_types(kinds, draft)
        asked = options.draft_length(length) if length.strip() else talk.speculation.draft_tokens
        least = talk.speculation.draft_min if not isinstance(asked, int) or asked >= talk.speculation.draft_min else 0
        before = talk.speculation
        drafts = options.speculation(
            types, asked if before.types or length.strip() else "auto", least, before.p_min, exact=before.exact
        )
        talk.speculation = options.with_ways(drafts, fixed_shape=before.fixed_shape, lenient=before.lenient)
        talk.is_speculating = bool(talk.speculation.types)
    if isinstance(talk.voice, RemoteVoice):
        _tell_server(talk, talk.voice)
    _say_speculation(desk)


def _tell_server(talk: Talk, voice: RemoteVoice) -> None:
    from app.cli.voices import speculation_fields

    drafts = talk.speculation if talk.is_speculating else Speculation()
    kept = {name: value for name, value in voice.fields.items() if not name.startswith("spec_")}
    voice.fields = kept | speculation_fields(drafts, talk.chosen.draft_model, is_said=True)


def _say_speculation(desk: Desk) -> None:
    talk = desk.talk
    if not talk.is_speculating or not talk.speculation.types:
        note("Speculation is off.")
        return
    length = talk.speculation.draft_tokens
    how = f"length {length}" if isinstance(length, str) else f"up to {length} tokens"
    note(f"Speculation is on: {spec_name(talk.speculation).replace(',', ', ')}, {how}.")


async def _stats(desk: Desk, _words: str) -> None:
    costs = [turn.cost for turn in desk.talk.turns if turn.cost is not None]
    note("\n".join(costs[-1].lines) if costs else "Nothing was answered yet.")


async def _save(desk: Desk, words: str) -> None:
    if not words:
        raise UsageError("/save needs the name of a file.", "End it in .json to read it with chats import.")
    path = _path(words)
    if os.path.lexists(path):
        raise UsageError(f"{path} is there already.", "Choose another name; nothing is written over.")
    talk = desk.talk
    write_whole(path, talk.document() if path.suffix.lower() == ".json" else talk.markdown().encode())
    note(f"Saved to {path}.")


def _path(words: str) -> Path:
    if "\0" in words:
        raise UsageError("The name of a file holds no zero byte.", "Choose another name.")
    try:
        return Path(words).expanduser()
    except RuntimeError as fault:
        raise UsageError(f"{words[:_SHOWN]} begins with a person who is not known here.", "Write it out.") from fault


async def _clear(desk: Desk, _words: str) -> None:
    desk.talk.turns.clear()
    note("What was said is forgotten.")


async def _system(desk: Desk, words: str) -> None:
    talk = desk.talk
    if words:
        talk.system = "" if words == "none" else words
    note(f"System: {talk.system}" if talk.system else "There is no system prompt.")


async def _thought(desk: Desk, _words: str) -> None:
    turn = desk.talk.turns[-1] if desk.talk.turns else None
    note(turn.thought if turn is not None and turn.thought else "The last answer came without thinking.")


async def _help(_desk: Desk, _words: str) -> None:
    rows = [(f"{name} {command.words}".strip(), command.meaning) for name, command in COMMANDS.items()]
    width = max(len(left) for left, _ in rows)
    lines = [f"{left:{width}}  {meaning}" for left, meaning in rows]
    note("\n".join([*lines, KEYS]))


async def _exit(desk: Desk, _words: str) -> None:
    desk.is_over = True


KEYS = (
    "Enter sends; Alt+Enter or Ctrl+O begins a new line, and so does Enter after three quotes. Ctrl-C stops an answer "
    "and keeps what came; twice, or Ctrl-D, leaves."
)

COMMANDS: dict[str, Slash] = {
    "/help": Slash("", "this list", _help),
    "/model": Slash("[NAME]", "which model answers, or another one", _model, lambda: model_names("")),
    "/draft": Slash("[NAME|none]", "which model drafts, or another one", _draft, lambda: ("none", *draft_names(""))),
    "/speculation": Slash(
        "[on|off|TYPE[,TYPE] [LENGTH]]",
        "whether and how it is drafted; nothing is loaded again",
        _speculation,
        lambda: ("on", "off", *spec_types("")),
    ),
    "/stats": Slash("", "what the last answer cost", _stats),
    "/system": Slash("[TEXT|none]", "what the model is told first", _system),
    "/thought": Slash("", "what it thought before its last answer", _thought),
    "/clear": Slash("", "forget what was said", _clear),
    "/save": Slash("FILE", "write it down: .json for chats import, else Markdown", _save),
    "/exit": Slash("", "leave", _exit),
}
ALIASES = {"/quit": "/exit", "/bye": "/exit", "/?": "/help", "/spec": "/speculation", "/reset": "/clear"}

completions = {name: command.choices for name, command in COMMANDS.items()}

Interrupted = typer.Exit
"""What a download that Ctrl-C stopped raises; in a conversation that is no reason to leave."""
