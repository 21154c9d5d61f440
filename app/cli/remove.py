"""``remove``: delete a model of ours, or what has arrived of one."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.cli import options
from app.models.removal import Removed
from app.models.removal import remove as remove_model


@dataclass(frozen=True, slots=True)
class RemoveOptions:
    """What ``remove`` can be told."""

    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name from list, or of a download that is not finished.")
    ]
    for_good: Annotated[bool, typer.Option("--for-good", help="Delete at once instead of moving to the trash.")] = False
    as_json: options.FactsAsJson = False


class Deleted(msgspec.Struct, frozen=True):
    """What was deleted, as JSON has it."""

    paths: tuple[str, ...]
    in_trash: bool


def remove(chosen: RemoveOptions) -> None:
    """Delete a pulled model with all its parts, or a download that is not finished; to the trash where there is one."""
    removed: Removed = remove_model(chosen.name, for_good=chosen.for_good)
    if chosen.as_json:
        deleted = Deleted(tuple(map(str, removed.paths)), removed.in_trash)
        sys.stdout.write(msgspec.json.encode(deleted).decode() + "\n")
        return
    sys.stdout.write(
        "".join(f"{_said(path, removed)}\n" for path in removed.paths) or "Nothing had arrived of it yet.\n"
    )


def _said(path: Path, removed: Removed) -> str:
    return f"{path} is {'in the trash' if removed.in_trash else 'deleted'}."
