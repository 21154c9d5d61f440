"""``import``: take a GGUF that lies elsewhere into our folder."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

import msgspec
import typer

from app.cli import options
from app.cli.stoppable import run_stoppable
from app.errors import UsageError
from app.models.importing import How, Import
from app.models.library import Library


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
    outcome = run_stoppable(one, lambda: one.path.name, "Stopped. Nothing was added.")
    if chosen.as_json:
        facts = Imported(tuple(map(str, outcome)), one.was_there)
        sys.stdout.write(msgspec.json.encode(facts).decode() + "\n")
        return
    words = "was there already" if one.was_there else "is in the list now"
    sys.stdout.write("".join(f"{path} {words}.\n" for path in outcome))
