"""A model that is asked for and not here: got from the hub, after asking."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.terminal import ask_yes, can_ask, note
from app.engine.byte_cursor import size_in_words
from app.errors import ModelNotFoundError
from app.host import PairChoice
from app.host.background import beside
from app.models.library import Library

if TYPE_CHECKING:
    from app.models.remote import Item

_OF_HUB = re.compile(r"(?:https://)?(?:(?:www\.)?(?:huggingface\.co|hf\.co)/)?[\w.-]+/[\w.-]+(?::[\w.-]+)?")
"""What a repository is called, perhaps with a quantisation."""


async def have_here(pair: PairChoice, *, at_once: bool) -> PairChoice:
    """Return a pair by names under which its models are on this machine, after getting those that must be.

    Both are looked for before anything is got: a target may take an hour, and no draft of that name be anywhere.

    Args:
        pair: named as the person wrote it.
        at_once: get what is missing without asking.

    Raises:
        ModelNotFoundError: one of them is nowhere, or nobody wants it to be here.
        SlipstreamError: the hub does not give it.
    """
    names = [name for name in (pair.target, pair.draft) if name is not None]
    missing = [name for name in names if await _is_missing(name)]
    if missing and (others := set(names) - set(missing)):
        await beside(lambda: [Library().resolve(name) for name in others], "library")
    items = {name: await _wanted(name, at_once=at_once) for name in missing}
    here = {name: await _got(item) for name, item in items.items()}
    return replace(pair, target=here.get(pair.target, pair.target), draft=here.get(pair.draft or "", pair.draft))


async def _is_missing(name: str) -> bool:
    return _may_be_of_hub(name) and not await beside(lambda: _is_here(name), "library")


async def _wanted(name: str, *, at_once: bool) -> Item:
    """Return what the hub has of a name, if it is to be got."""
    if not at_once and not can_ask():
        raise ModelNotFoundError(
            f"{name} is not on this machine.", f"Get it with the command pull {name}, or add --pull."
        )
    from app.models.hub import Hub

    item = await beside(lambda: Hub().resolve(name), "hub")
    size = size_in_words(sum(file.n_bytes for file in item.files))
    if at_once:
        note(f"{item.title} is not on this machine: getting it ({size}).")
    elif not ask_yes(f"{item.title} is not on this machine. Get it ({size})?"):
        raise ModelNotFoundError(f"{name} is not on this machine.", "The command list shows what is.")
    return item


async def _got(item: Item) -> str:
    from app.cli.pull import fetch
    from app.models.hub import Hub

    done = await fetch(Hub(), item)
    return str(done.paths[0])


def _may_be_of_hub(name: str) -> bool:
    if _OF_HUB.fullmatch(name) is None or name.lower().endswith(".gguf"):
        return False
    try:
        return not Path(name).expanduser().exists()
    except (OSError, RuntimeError):
        return True


def _is_here(name: str) -> bool:
    try:
        Library().resolve(name)
    except ModelNotFoundError:
        return False
    return True
