"""A time for work that may hang: a server that sends a byte now and then never runs into a time-out of its socket."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from app.errors import NetworkError

T = TypeVar("T")

_WAKE_S = 0.2


def too_slow(limit_s: float) -> NetworkError:
    """Say that an answer does not come to its end."""
    return NetworkError(
        f"The hub did not answer within {limit_s:.0f} s.", "Try again later, or check the connection and HF_ENDPOINT."
    )


def within(
    limit_s: float,
    work: Callable[[], T],
    undo: Callable[[T], object] = lambda _value: None,
    is_unwanted: Callable[[], bool] = lambda: False,
) -> T:
    """Do something on a thread of its own, which is left to itself after so long; ``undo`` what it brings too late.

    Raises:
        NetworkError: it took too long, or ``is_unwanted`` has come true meanwhile.
    """
    values: list[T] = []
    faults: list[BaseException] = []
    lock, is_late = threading.Lock(), False

    def run() -> None:
        try:
            value = work()
        except BaseException as fault:  # raised again by whoever waits
            faults.append(fault)
            return
        with lock:
            if not is_late:
                values.append(value)
                return
        undo(value)

    thread = threading.Thread(target=run, name="hub question", daemon=True)
    thread.start()
    until_s = time.monotonic() + limit_s
    while thread.is_alive() and (left_s := until_s - time.monotonic()) > 0 and not is_unwanted():
        thread.join(min(left_s, _WAKE_S))  # on Windows a longer wait would not heed Ctrl-C
    with lock:
        is_late = True
    if faults:
        raise faults[0]
    if not values:
        raise too_slow(limit_s)
    return values[0]
