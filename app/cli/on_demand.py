"""A model that is asked for and not here: got from the hub, after asking."""

from __future__ import annotations

import re
from pathlib import Path

from app.cli.terminal import ask_yes, can_ask, note
from app.engine.byte_cursor import size_in_words
from app.errors import ModelNotFoundError
from app.host.background import beside
from app.models.library import Library

_OF_HUB = re.compile(r"(?:https://)?(?:(?:www\.)?(?:huggingface\.co|hf\.co)/)?[\w.-]+/[\w.-]+(?::[\w.-]+)?")
"""What a repository is called, perhaps with a quantisation."""


async def have_here(name: str, *, at_once: bool) -> str:
    """Return a name under which the model is on this machine, after getting it if it must be.

    Args:
        name: as the person wrote it.
        at_once: get what is missing without asking.

    Raises:
        ModelNotFoundError: it is not here, and nobody wants it to be.
        SlipstreamError: the hub does not give it.
    """
    if not _may_be_of_hub(name) or await beside(lambda: _is_here(name), "library"):
        return name
    if not at_once and not can_ask():
        raise ModelNotFoundError(
            f"{name} is not on this machine.", f"Get it with the command pull {name}, or add --pull."
        )
    from app.cli.pull import fetch
    from app.models.hub import Hub

    hub = Hub()
    item = await beside(lambda: hub.resolve(name), "hub")
    size = size_in_words(sum(file.n_bytes for file in item.files))
    if at_once:
        note(f"{item.title} is not on this machine: getting it ({size}).")
    elif not ask_yes(f"{item.title} is not on this machine. Get it ({size})?"):
        raise ModelNotFoundError(f"{name} is not on this machine.", "The command list shows what is.")
    done = await fetch(hub, item)
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
