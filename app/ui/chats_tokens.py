"""The tokens of answers, between the window and the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.chat.token_marks import StoredToken
from app.errors import StoreError
from app.metrics.token_trace import Token, TokenTrace

if TYPE_CHECKING:
    from app.chat.store import ChatStore


def stored_tokens(trace: TokenTrace) -> list[StoredToken]:
    """Return the tokens of an answer as they are kept."""
    return [
        StoredToken(t.start, t.kind, t.step, t.position, t.n_proposed, t.drafter, t.probability) for t in trace.tokens
    ]


def read_trace(store: ChatStore, message_id: int) -> TokenTrace | None:
    """Return the tokens that an answer came with, if that was kept and can be read: colours are worth no error."""
    try:
        kept = store.tokens(message_id)
    except StoreError:
        return None
    tokens = [Token(t.start, t.kind, t.step, t.position, t.n_proposed, t.drafter, t.probability) for t in kept]
    return TokenTrace(tokens) if tokens else None
