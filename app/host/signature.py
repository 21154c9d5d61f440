"""Whether Windows would load a runtime's code for the NPU: the catalogue that names it, and who signed that.

Windows hands a file to the NPU only if a catalogue (``libggml-htp.cat``) with a signature that it trusts names the hash
of the file (llama.cpp's ``docs/backend/snapdragon/windows.md``). Who signed is asked of Windows, through a seam
(:class:`Ask`); whether the hash is named is read here, from the catalogue's bytes, which hold it as it is.
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from app.engine.runtime_files import npu_libraries

logger = logging.getLogger(__name__)

CATALOGUE = "libggml-htp.cat"
MOST_BYTES = 64 << 20
ASK_LIMIT_S = 15.0

SignatureState = Literal["trusted", "not trusted", "altered", "none", "unknown"]

Ask = Callable[[Path], "Signature"]


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who signed a file, and what Windows makes of that; ``is_own``: by a certificate that vouches for itself."""

    state: SignatureState = "unknown"
    signer: str = ""
    is_own: bool = False


class NpuCode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What of a runtime is for the NPU: its files, those that the catalogue does not name, and its signature."""

    files: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    signature: Signature | None = None


NO_CODE = NpuCode()


def npu_code(folder: Path, ask: Ask | None = None) -> NpuCode:
    """Look at a runtime's code for the NPU; may take a second on Windows.

    Args:
        folder: the runtime.
        ask: who asks the system about a signature; Windows, where this is it.
    """
    files = npu_libraries(folder)
    catalogue = folder / CATALOGUE
    if not files or not catalogue.is_file():
        return NpuCode(tuple(path.name for path in files))
    named = _bytes_of(catalogue)
    unnamed = tuple(path.name for path in files if not _is_named(path, named))
    return NpuCode(tuple(path.name for path in files), unnamed, (ask or ask_windows)(catalogue))


def _bytes_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES)
    except OSError as fault:
        logger.info("%s cannot be read: %s", path.name, fault)
        return b""


def _is_named(path: Path, catalogue: bytes) -> bool:
    """Whether a catalogue holds the hash of a file: as bytes, and as the name of its entry in UTF-16."""
    for kind in ("sha256", "sha1"):
        try:
            with path.open("rb") as file:
                value = hashlib.file_digest(file, kind)
        except OSError:
            return False
        if value.digest() in catalogue or value.hexdigest().upper().encode("utf-16-le") in catalogue:
            return True
    return False


# --- Windows ----------------------------------------------------------------------------------------

_SCRIPT = (
    "$ErrorActionPreference='Stop';"
    "$s=Get-AuthenticodeSignature -LiteralPath $env:SLIPSTREAM_SIGNED_FILE;"
    "$c=$s.SignerCertificate;"
    "@{status=$s.Status.ToString();subject=[string]$c.Subject;issuer=[string]$c.Issuer}|ConvertTo-Json -Compress"
)
_STATES: dict[str, SignatureState] = {
    "Valid": "trusted",
    "NotTrusted": "not trusted",
    "UnknownError": "not trusted",  # what a chain that ends in an unknown root is called
    "HashMismatch": "altered",
    "NotSigned": "none",
}


class _Told(msgspec.Struct, frozen=True):
    status: str
    subject: str = ""
    issuer: str = ""


def ask_windows(path: Path) -> Signature:
    """Ask Windows who signed a file; unknown elsewhere, and where it does not say."""
    said = b""
    if sys.platform == "win32":
        command = ["powershell.exe", "-NoProfile", "-NonInteractive", "-Command", _SCRIPT]
        try:
            said = subprocess.run(
                command,
                env={**os.environ, "SLIPSTREAM_SIGNED_FILE": str(path)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=ASK_LIMIT_S,
                check=True,
                creationflags=subprocess.CREATE_NO_WINDOW,
            ).stdout
        except (OSError, subprocess.SubprocessError) as fault:
            logger.info("the signature of %s cannot be asked for: %s", path.name, fault)
    return signature_of(said)


def signature_of(said: bytes) -> Signature:
    """Return what PowerShell's words about a signature mean."""
    try:
        told = msgspec.json.decode(said.strip(), type=_Told)
    except msgspec.MsgspecError:
        return Signature()
    is_own = bool(told.subject) and told.subject == told.issuer
    return Signature(_STATES.get(told.status, "unknown"), _common_name(told.subject), is_own)


def _common_name(subject: str) -> str:
    """Return the name in a certificate's subject, as ``CN=Some Company, O=…``."""
    for part in subject.split(","):
        key, _, value = part.strip().partition("=")
        if key.upper() == "CN":
            return value.strip('"')[:80]
    return subject[:80]
