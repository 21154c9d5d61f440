"""Work that blocks, on a thread of its own, while this one says how far it is and heeds Ctrl-C."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol, TypeVar

import typer

from app.cli.terminal import INTERRUPTED, note
from app.models.transfer import StoppedError

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

_LOOK_S = 0.2


class Stoppable(Protocol[T_co]):
    """Work that can be told to end; :meth:`run` then raises :class:`StoppedError`, and leaves nothing half done."""

    @property
    def fraction(self) -> float:
        """How far it is, from 0 to 1."""

    def run(self) -> T_co:
        """Do it; blocks."""

    def stop(self) -> None:
        """End it soon, from any thread."""


def run_stoppable(work: Stoppable[T], name: Callable[[], str], stopped: str) -> T:
    """Do it; a line for each tenth, and the first Ctrl-C stops it.

    Args:
        work: what to do.
        name: what is being done now, in a word or two.
        stopped: what to say once it was stopped, as a sentence or two.

    Raises:
        typer.Exit: it was stopped.
        SlipstreamError: it cannot be done.
    """
    values: list[T] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            values.append(work.run())
        except BaseException as fault:  # raised again below
            faults.append(fault)

    thread = threading.Thread(target=run, name="stoppable work")
    thread.start()
    said = 0
    while thread.is_alive():
        try:
            thread.join(_LOOK_S)
            tenth = int(10 * work.fraction)
            if thread.is_alive() and tenth > said:
                said = tenth
                note(f"{name()}  {10 * tenth} %")
        except KeyboardInterrupt:
            work.stop()
    if not faults:
        return values[0]
    if isinstance(faults[0], StoppedError):
        note(stopped)
        raise typer.Exit(INTERRUPTED)
    raise faults[0]
