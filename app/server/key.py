"""The key of the window's server: made here, kept in the keyring of the system."""

from __future__ import annotations

import logging
import secrets

logger = logging.getLogger(__name__)

SERVICE, ACCOUNT = "slipstream", "server key"


def new_key() -> str:
    """Return a key that nobody can guess."""
    return f"sk-{secrets.token_urlsafe(24)}"


def kept_key() -> str:
    """Return the key that is kept, "" if there is none or no keyring."""
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(SERVICE, ACCOUNT) or ""
    except (KeyringError, OSError) as fault:
        logger.info("the keyring does not answer: %s", fault)
        return ""


def keep_key(key: str) -> bool:
    """Keep a key; return whether there is a keyring to keep it in. Without one it holds until the program ends."""
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(SERVICE, ACCOUNT, key)
    except (KeyringError, OSError) as fault:
        logger.info("the key cannot be kept: %s", fault)
        return False
    return True
