"""The queue: so many requests may wait, and more are told to come back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.errors import BusyError


class Desk:
    """Counts the requests that wait for an answer or get one; for one loop."""

    def __init__(self, n_places: int) -> None:
        self._n_places = n_places
        self.n_taken = 0

    @contextmanager
    def place(self) -> Iterator[None]:
        """Take a place for the time of a block.

        Raises:
            BusyError: there is none left.
        """
        if self.n_taken >= self._n_places:
            raise BusyError(f"{self.n_taken} requests are waiting already.", "Try again in a moment.")
        self.n_taken += 1
        try:
            yield
        finally:
            self.n_taken -= 1
