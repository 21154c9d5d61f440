"""``pull``: get a model, or a pair, from the hub; Ctrl-C keeps what has arrived."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import msgspec
import typer

from app.cli import options
from app.cli.terminal import INTERRUPTED, first_interrupt, note
from app.engine.byte_cursor import size_in_words
from app.errors import UsageError
from app.models.download import Downloads, Progress
from app.models.hub import Hub
from app.models.pair_item import curated, item_of
from app.models.remote import Item, pair

T = TypeVar("T")

_STEP = 0.1
"""Where nobody looks at a terminal, a line for each tenth."""


@dataclass(frozen=True, slots=True)
class PullOptions:
    """What ``pull`` can be told."""

    name: Annotated[
        str,
        typer.Argument(
            metavar="REPO[:QUANT]|PAIR",
            help="A repository, perhaps with a quantisation; its address; or a pair's id from: catalog.",
        ),
    ]
    draft_model: Annotated[
        str | None,
        typer.Option("--draft-model", metavar="REPO[:QUANT]", help="A draft model to pull with it, as one item."),
    ] = None
    mtp: Annotated[bool, typer.Option("--mtp", help="With the MTP heads that lie in a file beside it.")] = False
    as_json: options.FactsAsJson = False


class PulledFile(msgspec.Struct, frozen=True):
    """One file, as JSON has it."""

    path: str
    repo: str
    commit: str
    bytes: int
    digest: str


def pull(chosen: PullOptions) -> None:
    """Get a model or a pair from the hub: it goes on where it stopped, is checked, and is then in the list."""
    hub = Hub()
    item = _item(hub, chosen)
    done = asyncio.run(fetch(hub, item))
    if chosen.as_json:
        files = [
            PulledFile(str(path), file.repo, file.commit, file.n_bytes, file.digest)
            for path, file in zip(done.paths, item.files, strict=True)
        ]
        sys.stdout.write(msgspec.json.encode({"title": item.title, "files": files}).decode() + "\n")
        return
    sys.stdout.write("".join(f"{path}\n" for path in done.paths))


def _item(hub: Hub, chosen: PullOptions) -> Item:
    if chosen.mtp and chosen.draft_model:
        raise UsageError("--mtp and --draft-model are two ways to draft.", "Give one of them.")
    if "/" not in chosen.name:
        if chosen.mtp or chosen.draft_model:
            raise UsageError("A curated pair has its drafter already.", "Leave --mtp and --draft-model out.")
        return item_of(curated(chosen.name), hub)
    target = hub.with_sidecar(chosen.name, "mtp-") if chosen.mtp else hub.resolve(chosen.name)
    return pair(target, hub.resolve(chosen.draft_model)) if chosen.draft_model else target


async def fetch(hub: Hub, item: Item) -> Progress:
    """Get an item from the hub, with progress on stderr.

    Raises:
        SlipstreamError: the hub does not give it.
        typer.Exit: Ctrl-C; what has arrived is kept.
    """
    line = ProgressLine()
    return await resumable(_follow(Downloads(hub), item, line), line)


async def resumable(getting: Coroutine[Any, Any, T], line: ProgressLine) -> T:
    """Return what is fetched; the first Ctrl-C stops it, and the same command goes on there.

    Raises:
        typer.Exit: Ctrl-C.
    """
    task = asyncio.ensure_future(getting)

    async def pause() -> None:
        task.cancel()

    try:
        with first_interrupt(pause):
            return await task
    except asyncio.CancelledError:
        line.clear()
        note(f"Stopped at {line.percent}. What has arrived is kept: the same command goes on there.")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        line.clear()


async def _follow(downloads: Downloads, item: Item, line: ProgressLine) -> Progress:
    last: Progress | None = None
    async with aclosing(downloads.get(item)) as steps:
        async for last in steps:
            line.show(last)
    if last is None:  # the iterator ends with "done" or with an error
        raise UsageError(f"{item.title} holds no files.")
    return last


class ProgressLine:
    """How far a download is: one line that is written over on a terminal, else a line now and then."""

    def __init__(self) -> None:
        self.percent = "0 %"
        self._is_terminal = sys.stderr.isatty()
        self._width = 0
        self._said = ("", -1)

    def show(self, step: Progress) -> None:
        """Take the next progress."""
        fraction = step.n_bytes / step.n_total_bytes if step.n_total_bytes else 1.0
        self.percent = f"{int(100 * fraction)} %"
        if self._is_terminal:
            self._draw(words(step, self.percent))
            return
        saying = (step.detail or step.phase, int(fraction / _STEP))
        if saying != self._said:
            self._said = saying
            note(words(step, self.percent))

    def clear(self) -> None:
        """Wipe the line."""
        if self._width:
            self._draw("")
            sys.stderr.write("\r")
            sys.stderr.flush()
            self._width = 0

    def _draw(self, text: str) -> None:
        text = text[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)


def words(step: Progress, percent: str) -> str:
    """Write a progress as a line for a person."""
    parts = [step.title, percent, f"{size_in_words(step.n_bytes)} of {size_in_words(step.n_total_bytes)}"]
    if step.phase == "downloading" and step.rate_bytes_s:
        parts.append(f"{size_in_words(int(step.rate_bytes_s))}/s")
    if step.eta_s is not None:
        parts.append(f"{_time(step.eta_s)} left")
    if step.phase != "downloading":
        parts.append(step.phase)
    return "  ".join([*parts, step.detail] if step.detail else parts)


def _time(seconds: float) -> str:
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
