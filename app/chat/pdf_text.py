"""The text of a PDF, page by page, read in a process of its own that is ended when it takes too long.

The file is somebody else's: some kilobytes can unpack to gigabytes, draw a page a million times, or lead in a circle.
pypdf bounds what a part may unpack to; the process has bounds for what is left, memory and time. Whatever a file does
to it costs at most these, and the window never waits for it.
"""

from __future__ import annotations

import logging
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

import msgspec

from app.engine import leash
from app.engine.hearing import hear

if TYPE_CHECKING:
    from pypdf import PdfReader

MOST_PAGES = 1000
MOST_TEXT_BYTES = 4_000_000
MEMORY_LIMIT_BYTES = 1 << 30
TIMEOUT_S = 60.0

Fault = Literal["damaged", "late", "locked", "memory", "no process", "no text", "pages", "stopped", "text"]
"""Why there is no text; ``pages`` and ``text``: it has more of them than can be read."""

Watch = Callable[[int, int], bool]
"""Is told which page is being read and of how many, some times a second; false ends the reading."""

_HEADER, _HEADER_WITHIN = b"%PDF-", 1024
_AT_PAGE = re.compile(r"^(\d+)/(\d+)\n", re.MULTILINE)
_UNSEEN = re.compile("[\0-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "\xa0": " ", "\xad": ""})


class PdfError(ValueError):
    """A PDF has no text for us; ``fault`` says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault: Fault = fault


class _Reply(msgspec.Struct, frozen=True):
    text: str = ""
    fault: Fault | None = None


def text_of_pdf(path: Path, watch: Watch = lambda _page, _n_pages: True, timeout_s: float = TIMEOUT_S) -> str:
    """Return the text of a PDF; blocks for up to ``timeout_s`` (and a moment), so not for the window's thread.

    Pages are apart by an empty line. One without text, or that cannot be read, is named in its place in brackets.

    Raises:
        PdfError: it is none, is damaged, locked, too large, a scan, or was not finished in time.
    """
    is_stopped = False

    def goes_on(log: str) -> bool:
        nonlocal is_stopped
        pages = _AT_PAGE.findall(log)
        page, n_pages = map(int, pages[-1]) if pages else (0, 0)
        is_stopped = is_stopped or not watch(page, n_pages)
        return not is_stopped

    try:
        child = leash.spawn(leash.command("pdf"), stderr=subprocess.PIPE, memory_bytes=MEMORY_LIMIT_BYTES)
    except OSError as fault:
        raise PdfError("no process") from fault
    heard = hear(child, os.fsencode(path), timeout_s, goes_on)
    if is_stopped:
        raise PdfError("stopped")
    if heard.is_late:
        raise PdfError("late")
    try:
        reply = msgspec.json.decode(heard.output, type=_Reply)
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:  # it was more than the process could bear
        raise PdfError("damaged") from fault
    if reply.fault is not None:
        raise PdfError(reply.fault)
    return reply.text


# --- the process that reads -------------------------------------------------------------------------


def main() -> int:
    """Read the PDF whose path stands on standard input, and write the answer as JSON; pages done go to stderr."""
    leash.tie()
    leash.limit_memory(MEMORY_LIMIT_BYTES)
    leash.end_after(2 * TIMEOUT_S)
    path = Path(os.fsdecode(sys.stdin.buffer.read()))
    try:
        reply = _Reply(read(path))
    except PdfError as fault:
        reply = _Reply(fault=fault.fault)
    except MemoryError:
        reply = _Reply(fault="memory")
    sys.stdout.buffer.write(msgspec.json.encode(reply))
    sys.stdout.flush()
    return 0


def read(path: Path) -> str:
    """Read a PDF in this process, without a bound for time.

    Raises:
        PdfError: there is no text.
        MemoryError: there is not enough memory.
    """
    from pypdf import apply_configuration

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it has something to say about most files
    try:
        with path.open("rb") as file, apply_configuration(jbig2dec_binary=None):  # it starts no other program
            pages = list(_pages(_opened(file)))
    except (PdfError, MemoryError):
        raise
    except Exception as fault:  # pypdf says itself that broken files raise what they like
        raise PdfError("damaged") from fault
    if not any(pages):
        raise PdfError("damaged" if None in pages else "no text")
    return "\n\n".join(_in_words(pages)) + "\n"


def _opened(file: BinaryIO) -> PdfReader:
    """Open a PDF; one that only has a password against changes opens without one."""
    from pypdf import PdfReader

    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode) or _HEADER not in file.read(_HEADER_WITHIN):
        raise PdfError("damaged")
    try:
        reader = PdfReader(file)
        is_locked = reader.is_encrypted and not reader.decrypt("")
    except RuntimeError as fault:  # a lock that pypdf does not have: a certificate, a program's own
        raise PdfError("damaged" if isinstance(fault, RecursionError) else "locked") from fault
    if is_locked:
        raise PdfError("locked")
    if len(reader.pages) > MOST_PAGES:
        raise PdfError("pages")
    return reader


def _pages(reader: PdfReader) -> Iterator[str | None]:
    """Yield the text of each page, None for one that cannot be read."""
    n_bytes, n_pages = 0, len(reader.pages)
    for number in range(n_pages):
        sys.stderr.write(f"{number + 1}/{n_pages}\n")
        sys.stderr.flush()
        try:
            text = _clean(reader.pages[number].extract_text())
        except MemoryError:
            raise
        except Exception:  # one page that is broken leaves the others
            yield None
            continue
        n_bytes += len(text.encode())
        if n_bytes > MOST_TEXT_BYTES:
            raise PdfError("text")
        yield text


def _clean(text: str) -> str:
    """Leave out what a message cannot hold, and spaces before the ends of lines; ligatures become letters."""
    lines = _UNSEEN.sub("", text.translate(_LIGATURES).replace("\r\n", "\n")).split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _in_words(pages: Iterable[str | None]) -> Iterator[str]:
    """Yield the pages, a sentence in place of those that have nothing to read."""
    for text, several in groupby(enumerate(pages, 1), lambda numbered: numbered[1]):
        numbers = [number for number, _ in several]
        if text:
            yield from [text] * len(numbers)
            continue
        which = f"Page {numbers[0]}" if len(numbers) == 1 else f"Pages {numbers[0]} to {numbers[-1]}"
        yield f"[{which}: {'cannot be read' if text is None else 'no text'}]"
