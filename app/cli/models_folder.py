"""``models-folder``: where models are kept; move them, or take a folder that has some."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.cli import options
from app.cli.stoppable import run_stoppable
from app.engine.byte_cursor import size_in_words
from app.errors import UsageError
from app.models.models_folder import choose_folder, models_folder
from app.models.relocation import Relocation, check_usable, finish_pending
from app.paths import models_dir


@dataclass(frozen=True, slots=True)
class ModelsFolderOptions:
    """What ``models-folder`` can be told."""

    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="Where to keep models from now on.", show_default=False),
    ] = None
    use: Annotated[bool, typer.Option("--use", help="Take the folder as it is, and move nothing.")] = False
    default: Annotated[bool, typer.Option("--default", help="Go back to the folder in the data folder.")] = False
    as_json: options.FactsAsJson = False


class Facts(msgspec.Struct, frozen=True):
    """What was done, as JSON has it."""

    folder: str
    is_default: bool
    n_moved: int = 0
    moved_bytes: int = 0
    n_left: int = 0


def move_models(chosen: ModelsFolderOptions) -> None:
    """Tell where models are kept; with a folder, move them there: copied, compared, and only then deleted here."""
    if chosen.default and chosen.folder is not None:
        raise UsageError("--default is a folder already.", "Give a folder, or --default.")
    folder = models_dir() if chosen.default else chosen.folder
    n_left = finish_pending()
    if folder is None:
        _say(chosen, Facts(str(models_folder()), _is_default(), n_left=n_left))
        return
    if chosen.use:
        folder = folder.expanduser().absolute()
        check_usable(folder)
        choose_folder(folder)
        _say(chosen, Facts(str(folder), _is_default()))
        return
    move = Relocation(folder)
    outcome = run_stoppable(move, lambda: move.stage, "Stopped. Everything is where it was.")
    _say(chosen, Facts(str(outcome.folder), _is_default(), outcome.n_files, outcome.n_bytes, outcome.n_left))


def _is_default() -> bool:
    return models_folder().absolute() == models_dir().absolute()


def _files(n: int) -> str:
    return f"{n:,} file" if n == 1 else f"{n:,} files"


def _say(chosen: ModelsFolderOptions, facts: Facts) -> None:
    if chosen.as_json:
        sys.stdout.write(msgspec.json.encode(facts).decode() + "\n")
        return
    if facts.n_moved:
        sys.stdout.write(f"Moved: {_files(facts.n_moved)}, {size_in_words(facts.moved_bytes)}.\n")
    if facts.n_left:
        sys.stdout.write(f"Not deleted in the old folder: {_files(facts.n_left)}; the new one has them all.\n")
    sys.stdout.write(f"Models are kept in {facts.folder}\n")
