"""Which tokens an answer came with, small enough to keep beside it.

Columns instead of rows, then compressed: about two bytes a token, so that the colours of an answer cost less than its
text.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Literal

import msgspec

StoredKind = Literal["accepted", "corrected", "plain"]

_KINDS: tuple[StoredKind, ...] = ("accepted", "corrected", "plain")
_PROBABILITY_STEPS = 255
_MAX_BYTES = 64 * 1024 * 1024
"""More than any answer has; a damaged row must not fill the memory."""


class StoredToken(msgspec.Struct, frozen=True, array_like=True):
    """A token: its first character in the answer, from whom it is, and the step that it came with.

    ``probability`` keeps 1/255 steps.
    """

    start: int
    kind: StoredKind
    step: int
    position: int
    n_proposed: int
    drafter: str
    probability: float


class _Columns(msgspec.Struct, frozen=True, array_like=True):
    starts: tuple[int, ...]
    kinds: bytes
    steps: tuple[int, ...]
    positions: tuple[int, ...]
    n_proposed: tuple[int, ...]
    drafters: tuple[str, ...]
    drafter: tuple[int, ...]
    probabilities: bytes


def pack_tokens(tokens: Sequence[StoredToken]) -> bytes:
    """Make few bytes of the tokens of an answer."""
    drafters = tuple(dict.fromkeys(token.drafter for token in tokens))
    columns = _Columns(
        starts=_differences([token.start for token in tokens]),
        kinds=bytes(_KINDS.index(token.kind) for token in tokens),
        steps=_differences([token.step for token in tokens]),
        positions=tuple(token.position for token in tokens),
        n_proposed=tuple(token.n_proposed for token in tokens),
        drafters=drafters,
        drafter=tuple(drafters.index(token.drafter) for token in tokens),
        probabilities=bytes(round(min(max(t.probability, 0.0), 1.0) * _PROBABILITY_STEPS) for t in tokens),
    )
    return zlib.compress(msgspec.msgpack.encode(columns), 6)


def unpack_tokens(data: bytes) -> tuple[StoredToken, ...]:
    """Read tokens back; nothing if the bytes are damaged: colours are worth no error."""
    try:
        columns = msgspec.msgpack.decode(zlib.decompressobj().decompress(data, _MAX_BYTES), type=_Columns)
        return tuple(
            StoredToken(start, _KINDS[kind], step, position, n_proposed, columns.drafters[drafter], probability / 255)
            for start, kind, step, position, n_proposed, drafter, probability in zip(
                _sums(columns.starts),
                columns.kinds,
                _sums(columns.steps),
                columns.positions,
                columns.n_proposed,
                columns.drafter,
                columns.probabilities,
                strict=True,
            )
        )
    except (zlib.error, msgspec.MsgspecError, ValueError, IndexError):
        return ()


def _differences(values: list[int]) -> tuple[int, ...]:
    return tuple(value - before for value, before in zip(values, [0, *values], strict=False))


def _sums(differences: tuple[int, ...]) -> list[int]:
    values, total = [], 0
    for difference in differences:
        total += difference
        values.append(total)
    return values
