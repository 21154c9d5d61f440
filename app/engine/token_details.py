"""Notes what the target thought of each token that it chose; used only for answers whose tokens are to be looked at."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from app.engine.drafters import Chooser
from app.engine.llama import Row
from app.token_details import TokenDetail, TokenLogprob

MAX_TOP_LOGPROBS = 20
"""Most tokens that are told in the place of one."""


class NotingChooser:
    """A chooser that chooses as another does, and notes how likely the choice was."""

    def __init__(self, inner: Chooser) -> None:
        self._inner = inner
        self._probabilities: list[float] = []
        self._n_chars: list[int] = []

    def choose(self, row: Row, position: int) -> int:
        """Return the other's choice; its probability is that of the whole row, before any sampling setting."""
        token = self._inner.choose(row, position)
        self._probabilities.append(_probability(row, token))
        return token

    def note_instead(self, row: Row, token: int) -> None:
        """Take back the last choice: another token was taken."""
        self._probabilities[-1] = _probability(row, token)

    def accept(self, token: int) -> None:
        """Count a token that was taken."""
        self._inner.accept(token)

    def note_text(self, n_chars: int) -> None:
        """Note how many characters the token that was taken last has made certain."""
        self._n_chars.append(n_chars)

    def take(self) -> tuple[TokenDetail, ...]:
        """Return what was noted since the last time, and forget it."""
        told = tuple(map(TokenDetail, self._n_chars, self._probabilities))
        self._n_chars.clear()
        self._probabilities.clear()
        return told


class LogprobChooser:
    """A chooser that chooses as another does, and notes the log-probabilities of the choice and of the likeliest."""

    def __init__(self, inner: Chooser, n_top: int, piece: Callable[[int], bytes]) -> None:
        """Prepare it.

        Args:
            inner: who chooses.
            n_top: how many of the likeliest tokens are noted, 0 to ``MAX_TOP_LOGPROBS``.
            piece: returns the bytes of a token.
        """
        self._inner, self._n_top, self._piece = inner, n_top, piece
        self._noted: list[TokenLogprob] = []

    def choose(self, row: Row, position: int) -> int:
        """Return the other's choice; its probability is that of the whole row, before any sampling setting."""
        token = self._inner.choose(row, position)
        self._noted.append(self._told(row, token))
        return token

    def note_instead(self, row: Row, token: int) -> None:
        """Take back the last choice: another token was taken."""
        self._noted[-1] = self._told(row, token)

    def _told(self, row: Row, token: int) -> TokenLogprob:
        shifted = row.astype(np.float64) - float(row.max())
        logs = shifted - np.log(np.exp(shifted).sum())
        likeliest = np.argpartition(logs, -self._n_top)[-self._n_top :] if self._n_top else np.empty(0, dtype=np.int64)
        ordered = sorted(likeliest.tolist(), key=lambda one: (-logs[one], one))
        top = tuple((self._piece(one), float(logs[one])) for one in ordered)
        return TokenLogprob(self._piece(token), float(logs[token]), top)

    def accept(self, token: int) -> None:
        """Count a token that was taken."""
        self._inner.accept(token)

    def take(self) -> tuple[TokenLogprob, ...]:
        """Return what was noted since the last time, and forget it."""
        told = tuple(self._noted)
        self._noted.clear()
        return told


def _probability(row: Row, token: int) -> float:
    shifted = row.astype(np.float64) - float(row.max())
    return float(np.exp(shifted[token]) / np.exp(shifted).sum())
