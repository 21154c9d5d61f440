"""Every error that a person may see, each with a hint about what to do next.

    SlipstreamError
    ├── UsageError            the words of a command or a setting are off
    ├── ModelError            something is wrong with a model file
    │   ├── ModelNotFoundError    no such name, path or package
    │   ├── ModelFileError        not a GGUF, truncated, unreadable, unknown architecture
    │   └── PairError             target and draft do not fit
    ├── EngineError           the engine process could not do what was asked
    │   ├── LoadError             llama.cpp refused the model or the context
    │   ├── DecodeError           llama_decode failed in mid-answer
    │   │   └── GrammarError          an answer cannot keep to its grammar
    │   ├── EngineDiedError       the process is gone
    │   └── BusyError             it is doing something that excludes this
    ├── PromptTooLongError    the prompt leaves no room in the context
    ├── TemplateError         the chat template is broken or endless
    ├── StoreError            the chat database could not be read or written
    ├── SettingsError         the settings file could not be read or written
    ├── ExportError           an export or a recorded baseline could not be read or written
    ├── HubError              the model hub did not give what was asked for
    │   ├── HubNotFoundError      no such repository, revision or file
    │   ├── HubAccessError        gated or private, and the token is missing, wrong or not admitted
    │   ├── RateLimitError        too many requests for now
    │   └── NetworkError          no connection, or offline by choice
    ├── DownloadError         a download could not be finished
    │   └── DiskFullError         there is no room for it
    ├── RemoteError           a server that was asked to answer did not, or not to the end
    ├── NotTextError          a file cannot go with a message
    ├── UpdateError           what is announced as newer cannot be believed
    └── NoDisplayError        Qt has no screen to draw on

An error crosses a process as its ``code``, ``message`` and ``hint`` and is raised again as the same
class on the other side (:func:`from_code`).
"""

from __future__ import annotations

import errno
import re

_NO_LIBRARY = re.compile(r"(lib[^\s:]+): cannot open shared object file")
_IN_A_PACKAGE = ("libQt6", "libpyside6", "libshiboken6")
"""Libraries that come with a Python package: one that is missing is no matter of the system."""

UNWRITABLE = {errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)}
"""What a write to standard output meets; one to a file of ours becomes one of our own errors where it happens."""


class SlipstreamError(Exception):
    """Base of the tree.

    Attributes:
        code: stable name of the kind, for machines and for crossing a process.
        message: what went wrong, with the facts.
        hint: what to do next; may be empty.
    """

    code = "error"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class UsageError(SlipstreamError):
    """The words of a command or the value of a setting are off."""

    code = "usage"


class ModelError(SlipstreamError):
    """Something is wrong with a model file."""

    code = "model"


class ModelNotFoundError(ModelError):
    """No such model name, path or package."""

    code = "model_not_found"


class ModelFileError(ModelError):
    """The file is not a GGUF that can be loaded: truncated, unreadable, unknown architecture."""

    code = "model_file"


class PairError(ModelError):
    """Target and draft do not fit each other."""

    code = "pair"


class EngineError(SlipstreamError):
    """The engine process could not do what was asked."""

    code = "engine"


class LoadError(EngineError):
    """llama.cpp refused the model or the context."""

    code = "load"


class DecodeError(EngineError):
    """``llama_decode`` failed in mid-answer."""

    code = "decode"


class GrammarError(DecodeError):
    """The grammar of an answer has nothing that may come next, or too many ways to read what was written so far."""

    code = "grammar"


class EngineDiedError(EngineError):
    """The engine process is gone."""

    code = "engine_died"


class BusyError(EngineError):
    """The engine is doing something that excludes this request."""

    code = "busy"


class PromptTooLongError(SlipstreamError):
    """The prompt leaves no room for an answer in the context."""

    code = "prompt_too_long"


class TemplateError(SlipstreamError):
    """The chat template is broken, endless or too large."""

    code = "template"


class StoreError(SlipstreamError):
    """The chat database could not be read or written."""

    code = "store"


class SettingsError(SlipstreamError):
    """The settings file could not be read or written."""

    code = "settings"


class ExportError(SlipstreamError):
    """An export or a recorded baseline could not be read or written."""

    code = "export"


class HubError(SlipstreamError):
    """The model hub did not give what was asked for."""

    code = "hub"


class HubNotFoundError(HubError):
    """No such repository, revision or file on the hub."""

    code = "hub_not_found"


class HubAccessError(HubError):
    """The repository is gated or private, and the token is missing, wrong or not admitted."""

    code = "hub_access"


class RateLimitError(HubError):
    """The hub asks to come back later."""

    code = "hub_rate_limit"


class NetworkError(HubError):
    """There is no connection to the hub, or none is wanted."""

    code = "network"


class DownloadError(SlipstreamError):
    """A download could not be finished."""

    code = "download"


class DiskFullError(DownloadError):
    """The disk has no room for what is downloaded."""

    code = "disk_full"


class RemoteError(SlipstreamError):
    """A server that was asked to answer cannot be reached, refuses, or breaks off."""

    code = "remote"


class NotTextError(SlipstreamError):
    """A file cannot go with a message: it is no text, too large, or cannot be read."""

    code = "not_text"


class UpdateError(SlipstreamError):
    """What is announced as a newer version cannot be believed, or nobody announces any."""

    code = "update"


class NoDisplayError(SlipstreamError):
    """Qt has no screen to draw on."""

    code = "no_display"


def _tree(cls: type[SlipstreamError]) -> dict[str, type[SlipstreamError]]:
    found: dict[str, type[SlipstreamError]] = {}
    for sub in cls.__subclasses__():
        found |= _tree(sub)
    found[cls.code] = cls  # last: a class without a code of its own does not stand in for its base
    return found


def from_code(code: str, message: str, hint: str = "") -> SlipstreamError:
    """Make the error of the class that has this code (the base class for an unknown one)."""
    return _tree(SlipstreamError).get(code, SlipstreamError)(message, hint)


def import_hint(fault: ImportError) -> str:
    """Say what to do where a package that draws cannot be imported: the system lacks a library, or we lack a part."""
    found = _NO_LIBRARY.search(str(fault))
    if found and not found[1].startswith(_IN_A_PACKAGE):
        return f"The system library {found[1]} is missing; the README lists what Qt needs."
    return "A part of Slipstream is missing or damaged: install it again."
