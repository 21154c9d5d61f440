"""Where the model hub is, and whether it may be asked: what the settings say, then the environment.

The settings are read each time: a change takes effect at once, also for a command beside the window.
"""

from __future__ import annotations

import logging
import os
from urllib.parse import urlsplit

import msgspec

from app.errors import NetworkError
from app.settings import settings_path

logger = logging.getLogger(__name__)

DEFAULT_ENDPOINT = "https://huggingface.co"


def hub_address() -> str:
    """Return the address of the hub that is to be asked.

    Raises:
        NetworkError: what was chosen is no address.
    """
    if chosen := _chosen().hub_endpoint.strip():
        return checked_endpoint(chosen, "The hub's address in the settings")
    return checked_endpoint(os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT, "HF_ENDPOINT")


def checked_endpoint(text: str, name: str) -> str:
    """Return an address without a slash at its end; ``name`` is what holds it, for the message.

    Raises:
        NetworkError: it is no address of a web server.
    """
    endpoint = text.strip().rstrip("/")
    try:
        parts = urlsplit(endpoint)
        is_fit = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_fit = False
    if not is_fit:
        raise NetworkError(f"{name} is {text!r}, which is no address.", f"Unset it, or set {DEFAULT_ENDPOINT}")
    return endpoint


def refuse_offline() -> None:
    """Refuse to ask the hub if that was chosen.

    Raises:
        NetworkError: the settings say so.
    """
    if _chosen().offline:
        raise NetworkError("Offline is on in the settings, so the hub is not asked.", "Switch it off there (Ctrl+,).")


class _Chosen(msgspec.Struct, frozen=True):
    """The settings that are read here, whatever state the others are in."""

    hub_endpoint: str = ""
    offline: bool = False


def _chosen() -> _Chosen:
    try:
        return msgspec.json.decode(settings_path().read_bytes(), type=_Chosen)
    except FileNotFoundError:
        return _Chosen()
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        logger.info("what is chosen about the hub is not known: %s", fault)
        return _Chosen()
