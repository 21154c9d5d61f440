"""``import``: take a GGUF that lies elsewhere into our folder."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.cli import options
from app.cli.terminal import INTERRUPTED, note
from app.errors import UsageError
from app.models.importing import How, Import
from app.models.library import Library
from app.models.transfer import StoppedError

_LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What ``import`` can be told."""

    model: Annotated[
        str, typer.Argument(metavar="FILE|NAME", help="A GGUF file, or the name of a model that another program keeps.")
    ]
    move: Annotated[bool, typer.Option("--move", help="Take the file away from where it is.")] = False
    link: Annotated[bool, typer.Option("--link", help="Link to it: it takes no room, and has to stay there.")] = False
    as_json: options.FactsAsJson = False


class Imported(msgspec.Struct, frozen=True):
    """What is in our folder now, as JSON has it."""

    paths: tuple[str, ...]
    was_there: bool


def import_model(chosen: ImportOptions) -> None:
    """Copy a model into the models folder, whole and compared, or not at all; Ctrl-C leaves nothing behind."""
    if chosen.move and chosen.link:
        raise UsageError("--move and --link are two ways.", "Give one of them.")
    how: How = "move" if chosen.move else "link" if chosen.link else "copy"
    entry = Library().resolve(chosen.model)
    one = Import(entry.path, how, name=entry.name)
    outcome = _run(one)
    if chosen.as_json:
        facts = Imported(tuple(map(str, outcome)), one.was_there)
        sys.stdout.write(msgspec.json.encode(facts).decode() + "\n")
        return
    words = "was there already" if one.was_there else "is in the list now"
    sys.stdout.write("".join(f"{path} {words}.\n" for path in outcome))


def _run(one: Import) -> tuple[Path, ...]:
    outcomes: list[tuple[Path, ...] | BaseException] = []

    def run() -> None:
        try:
            outcomes.append(one.run())
        except BaseException as fault:  # raised again by whoever waits
            outcomes.append(fault)

    thread = threading.Thread(target=run, name="import")
    thread.start()
    said = 0
    while thread.is_alive():
        try:
            thread.join(_LOOK_S)
            tenth = int(10 * one.fraction)
            if thread.is_alive() and tenth > said:
                said = tenth
                note(f"{one.path.name}  {10 * tenth} %")
        except KeyboardInterrupt:
            one.stop()
    outcome = outcomes[0]
    if isinstance(outcome, StoppedError):
        note("Stopped. Nothing was added.")
        raise typer.Exit(INTERRUPTED)
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome
