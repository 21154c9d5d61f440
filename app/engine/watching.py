"""Looks at the target's rows while it chooses, for what they tell of the words to come."""

from __future__ import annotations

from collections.abc import Callable

from app.engine.drafters import Chooser
from app.engine.llama import Row
from app.engine.sampler import peak


class WatchingChooser:
    """A chooser that chooses as another does, and tells how probable the target held its most likely word."""

    def __init__(self, inner: Chooser, sees: Callable[[float], None]) -> None:
        self._inner, self._sees = inner, sees

    def choose(self, row: Row, position: int) -> int:
        """Return the other's choice; a row that is none is refused before anything is made of it."""
        token = self._inner.choose(row, position)
        self._sees(peak(row))
        return token

    def accept(self, token: int) -> None:
        """Count a token that was taken."""
        self._inner.accept(token)
