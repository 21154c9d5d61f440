"""What can go wrong with the hub, in words and with the next step; and what may go away by itself.

No message repeats what a server or a library said: both may hold addresses with signatures in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from app.errors import (
    DownloadError,
    HubAccessError,
    HubError,
    HubNotFoundError,
    NetworkError,
    RateLimitError,
    SlipstreamError,
    UsageError,
)
from app.models.hub_token import Token

SIGN_IN_PAGE = "Does this network want you to sign in on a web page first?"
PULL_AGAIN = "Pull it again to get the new version."

_BUSY = (408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524)


class PassingError(Exception):
    """A fault that may go away: worth another try, after ``asked_s`` if the server asked for a wait."""

    def __init__(self, fault: SlipstreamError, asked_s: float | None = None) -> None:
        super().__init__(fault.message)
        self.fault = fault
        self.asked_s = asked_s


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for, and as whom; the facts of every message."""

    endpoint: str
    token: Token | None
    repo: str = ""
    path: str = ""

    @property
    def page(self) -> str:
        """Address of the repository's page."""
        return f"{self.endpoint}/{self.repo}"


def of_status(status: int, headers: Mapping[str, str], asked: Asked) -> SlipstreamError | PassingError:
    """Say what an answer of the hub itself means."""
    code = headers.get("x-error-code", "")
    if status in _BUSY:
        return _busy(status, headers)
    if status == 401:
        return _not_let_in(code, asked)
    if status == 403:
        return _forbidden(code, asked)
    if status == 404:
        return _not_there(code, asked)
    if status == 416:
        return changed(asked.path)
    return HubError(f"The hub answered with status {status}.", "Try again later, or check HF_ENDPOINT.")


def of_link(status: int, headers: Mapping[str, str], path: str) -> SlipstreamError | PassingError:
    """Say what an answer of the storage that the hub sent us to means."""
    if status in _BUSY:
        return _busy(status, headers)
    if status == 416:
        return changed(path)
    return PassingError(
        HubError(f"The storage behind the hub refused {path} (status {status}).", "Its link had expired: try again.")
    )


def changed(path: str) -> DownloadError:
    """Say that the bytes on the server are not those that the hub told us of."""
    return DownloadError(f"{path} changed on the hub in the meantime.", PULL_AGAIN)


def not_a_hub(asked: Asked) -> HubError:
    """Say that what answers is something else."""
    return HubError(f"{asked.endpoint} does not answer as a model hub does.", SIGN_IN_PAGE)


def _busy(status: int, headers: Mapping[str, str]) -> PassingError:
    asked_s = _asked_wait_s(headers)
    if status == 429:
        hint = "Wait some minutes and try again; with a token the hub allows more."
        return PassingError(RateLimitError("The hub says: too many requests for now.", hint), asked_s)
    return PassingError(
        HubError(f"The hub has a fault of its own (status {status}).", "Nothing is wrong here; try again later."),
        asked_s,
    )


def _asked_wait_s(headers: Mapping[str, str]) -> float | None:
    text = headers.get("retry-after", "")
    if text.isascii() and text.isdigit():
        return float(text[:9])
    for word in headers.get("ratelimit", "").split(";"):  # "api";r=0;t=55
        name, _, value = word.strip().partition("=")
        if name == "t" and value.isascii() and value.isdigit():
            return float(value[:9])
    return None


def _not_let_in(code: str, asked: Asked) -> SlipstreamError:
    tokens = f"{asked.endpoint}/settings/tokens"
    if asked.token is not None:
        return HubAccessError(
            f"The hub does not accept {asked.token}: it is wrong, expired or withdrawn.",
            f"Make a new one at {tokens}; for public models none is needed: take this one away.",
        )
    if code == "GatedRepo":
        return HubAccessError(
            f"{asked.repo} is given only to people who accepted its terms, and no token says who you are.",
            f"Accept the terms at {asked.page}, make a token at {tokens}, and set HF_TOKEN or run: hf auth login",
        )
    if not asked.repo:
        return HubAccessError(f"{asked.endpoint} answers only people it knows.", "Set HF_TOKEN, or check HF_ENDPOINT.")
    return HubNotFoundError(
        f"The hub has no public repository {asked.repo}.", "Check the name; a private one needs a token (HF_TOKEN)."
    )


def _forbidden(code: str, asked: Asked) -> SlipstreamError:
    if asked.token is None:
        return HubAccessError(f"The hub does not give {asked.repo} to everybody.", f"Look at {asked.page}")
    if code == "GatedRepo":
        return HubAccessError(
            f"The token is right, but its owner has not been admitted to {asked.repo} yet.",
            f"Accept the terms at {asked.page} and pull again; some publishers take a while to answer.",
        )
    return HubAccessError(
        f"{str(asked.token).capitalize()} does not allow reading {asked.repo}.",
        f"Give it read access to gated repositories at {asked.endpoint}/settings/tokens",
    )


def _not_there(code: str, asked: Asked) -> SlipstreamError:
    if code == "EntryNotFound" or (asked.path and code != "RepoNotFound" and code != "RevisionNotFound"):
        return HubNotFoundError(f"{asked.repo} has no file {asked.path} any more.", PULL_AGAIN)
    if code == "RevisionNotFound":
        return HubNotFoundError(f"{asked.repo} no longer has the version that was asked for.", PULL_AGAIN)
    return HubNotFoundError(f"The hub has no repository {asked.repo}.", "Check the name, or look for it: search.")


@contextmanager
def in_words(asked: Asked) -> Iterator[None]:
    """Turn what the hub's client raises inside the block into our own errors, or into a :class:`PassingError`."""
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

    try:
        yield
    except (SlipstreamError, PassingError):
        raise
    except OfflineModeIsEnabled as fault:
        raise NetworkError(
            "Offline mode is on, so the hub is not asked.", "Unset HF_HUB_OFFLINE to go there."
        ) from fault
    except HFValidationError as fault:
        raise UsageError(f"{asked.repo!r} is not the name of a repository.", "Write org/name.") from fault
    except HfHubHTTPError as fault:
        raise of_status(fault.response.status_code, fault.response.headers, asked) from None  # it quotes the server
    except Exception as fault:
        if type(fault).__name__ == "TooManyRedirects":
            raise not_a_hub(asked) from None
        if not is_of_network(fault):
            raise
        raise _no_connection(fault, asked) from None  # it may quote an address with a signature


def is_of_network(fault: Exception) -> bool:
    """Tell a fault of the connection, whichever HTTP library the hub's client has beneath it, or beneath that."""
    kinds = {kind.__name__ for kind in type(fault).__mro__}
    return bool(
        kinds & {"TransportError", "NetworkError", "TimeoutException", "ProtocolError", "StreamError", "InvalidURL"}
    )


def _no_connection(fault: Exception, asked: Asked) -> SlipstreamError | PassingError:
    kinds = {kind.__name__ for kind in type(fault).__mro__}
    if "CERTIFICATE_VERIFY_FAILED" in str(fault):
        return NetworkError(
            f"The certificate of {asked.endpoint} (or of a proxy in between) is not trusted here.",
            "Set SSL_CERT_FILE to the certificates of your network.",
        )
    if kinds & {"UnsupportedProtocol", "InvalidURL", "LocalProtocolError"}:
        return NetworkError(f"{asked.endpoint!r} is no address of a hub.", "Check HF_ENDPOINT and the proxy settings.")
    if "ProxyError" in kinds:
        return PassingError(NetworkError("The proxy does not let us through.", "Check HTTPS_PROXY and NO_PROXY."))
    if "TimeoutException" in kinds:
        return PassingError(
            NetworkError("The hub does not answer.", "Check the connection, then go on: nothing is lost.")
        )
    return PassingError(
        NetworkError("The connection to the hub broke.", "Check the connection, then go on: nothing is lost.")
    )
