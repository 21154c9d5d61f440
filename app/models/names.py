"""What a file is called in the library, and which one a person means."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from app.models.found import Found

USUAL = "Q4_K_M"
"""The quantisation that is meant where none is named, as llama.cpp has it."""


class Named(Protocol):
    """The part of a library entry that names need."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def path(self) -> Path:
        """Where it is."""

    @property
    def origin(self) -> str:
        """The repository that it came from."""

    @property
    def quantisation(self) -> str:
        """Name of its quantisation."""


E = TypeVar("E", bound=Named)


def free_name(one: Found, taken: Collection[str]) -> str:
    """Return a name that no other file has: its own, else with where it lies, else with a number."""
    where = one.path.parent.name if one.source in ("folder", "file") else one.origin or one.source
    for name in (one.name, f"{where}/{one.name}", f"{one.source}/{where}/{one.name}"):
        if name.lower() not in taken:
            return name
    number = 2
    while f"{where}/{one.name} ({number})".lower() in taken:
        number += 1
    return f"{where}/{one.name} ({number})"


def is_meant(words: str, entries: Sequence[E]) -> E | None:
    """Return the model of that name, or that repository with its quantisation; None if there is none."""
    wanted = words.lower().removesuffix(".gguf")
    by_name = next((entry for entry in entries if entry.name.lower() in (wanted, f"{wanted}:latest")), None)
    if by_name is not None or "/" not in wanted:
        return by_name
    repo, _, quantisation = wanted.partition(":")
    of_repo = [entry for entry in entries if entry.origin.lower() == repo]
    if not quantisation and len(of_repo) == 1:
        return of_repo[0]
    return next((entry for entry in of_repo if _is_of(entry, quantisation or USUAL.lower())), None)


def _is_of(entry: Named, quantisation: str) -> bool:
    ending = re.search(rf"[-._]{re.escape(quantisation)}$", entry.path.stem.lower())
    return ending is not None or entry.quantisation.lower() == quantisation
