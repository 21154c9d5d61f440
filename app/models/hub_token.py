"""The token that opens gated repositories: from the keyring, from HF_TOKEN, or from the hub's own login.

Its value never shows: not in a representation, a message or a log, and it goes to the hub's own address alone
(:mod:`app.models.hub_http`).
"""

from __future__ import annotations

import logging
import os
import string
from dataclasses import dataclass, field

from app.errors import HubAccessError

logger = logging.getLogger(__name__)

SERVICE, ACCOUNT = "slipstream", "model hub token"

_FIT = frozenset(string.ascii_letters + string.digits + "-._~+/=")


@dataclass(frozen=True, slots=True)
class Token:
    """A secret and where it came from, as a phrase for messages."""

    value: str = field(repr=False)
    source: str

    def __str__(self) -> str:
        return f"the token from {self.source}"


def find_token() -> Token | None:
    """Return the first token there is.

    Raises:
        HubAccessError: there is one that cannot be a token.
    """
    for value, source in ((_from_keyring, "the keyring"), (_from_environment, "HF_TOKEN"), (_from_login, "the login")):
        if text := (value() or "").strip():
            return checked(text, source)
    return None


def checked(text: str, source: str) -> Token:
    """Return the token if its letters may stand in a request; a line break in it would end up in an error's words.

    Raises:
        HubAccessError: they may not.
    """
    if not text or set(text) - _FIT:
        raise HubAccessError(
            f"The token from {source} holds characters that no token has.", "Copy it again, without spaces or quotes."
        )
    return Token(text, source)


def keep_token(text: str) -> None:
    """Put a token into the keyring of the system.

    Raises:
        HubAccessError: it cannot be a token, or there is no keyring.
    """
    token = checked(text.strip(), "the entry")
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(SERVICE, ACCOUNT, token.value)
    except KeyringError as fault:
        raise HubAccessError(
            "This system has no keyring to keep a token in.", "Set HF_TOKEN instead, or run: hf auth login"
        ) from fault


def forget_token() -> None:
    """Take the token out of the keyring; none there is fine."""
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.delete_password(SERVICE, ACCOUNT)
    except KeyringError as fault:
        logger.info("no token to forget: %s", type(fault).__name__)


def _from_keyring() -> str | None:
    try:
        import keyring

        found: str | None = keyring.get_password(SERVICE, ACCOUNT)
    except Exception as fault:  # whatever ails the desktop's keyring, the other two places are left
        logger.info("the keyring was not read: %s", type(fault).__name__)
        return None
    return found


def _from_environment() -> str | None:
    return os.environ.get("HF_TOKEN") or os.environ.get("HUGGING_FACE_HUB_TOKEN")


def _from_login() -> str | None:
    from huggingface_hub import get_token

    return get_token()
