"""PDFs that go with a message: their text, or what keeps it from being read and what to do about that."""

from __future__ import annotations

from pathlib import Path

from app.chat.pdf_text import (
    MEMORY_LIMIT_BYTES,
    MOST_PAGES,
    MOST_TEXT_BYTES,
    TIMEOUT_S,
    Fault,
    PdfError,
    Watch,
    text_of_pdf,
)
from app.errors import NotTextError
from app.ui.tr import tr

MOST_PDF_BYTES = 100_000_000
"""Most of a PDF is pictures: this is far more than text may have."""

_CUT = tr("Cut out the part that matters.")
FAULTS: dict[Fault, tuple[str, str]] = {
    "damaged": (
        tr("“{name}” is damaged, or no PDF."),
        tr("Open it in another program and save it as a PDF again, or as text."),
    ),
    "late": (tr("Reading “{name}” was given up after {seconds:.0f} seconds."), _CUT),
    "locked": (
        tr("“{name}” is locked with a password or a certificate."),
        tr("Save it without that in the program that opens it."),
    ),
    "memory": (tr("Reading “{name}” takes more than {most_memory:.0f} GB of memory."), _CUT),
    "no process": (
        tr("“{name}” cannot be read: the process that reads PDFs did not start."),
        tr("Close other programs and try again."),
    ),
    "no text": (
        tr("“{name}” holds no text: its pages are empty or pictures."),
        tr("Let a program that recognises text (OCR) go over it first."),
    ),
    "pages": (tr("“{name}” has more than {most_pages:,} pages."), _CUT),
    "stopped": (tr("“{name}” was not attached: you stopped it."), tr("Attach it again to read it from its beginning.")),
    "text": (tr("“{name}” holds more than {most_text:.0f} MB of text."), _CUT),
}


def read_pdf(path: Path, n_bytes: int, watch: Watch) -> str:
    """Return the text of a PDF of so many bytes; ``watch`` is told the pages and may end it.

    Raises:
        NotTextError: it is too large, or has no text that can be read.
    """
    if n_bytes > MOST_PDF_BYTES:
        words = tr("“{name}” has {size:.1f} MB; a PDF may have {most_bytes:.0f} MB.").format(
            name=path.name, size=n_bytes / 1e6, most_bytes=MOST_PDF_BYTES / 1e6
        )
        raise NotTextError(words, _CUT)
    try:
        return text_of_pdf(path, watch)
    except PdfError as fault:
        words, hint = FAULTS[fault.fault]
        facts = {
            "seconds": TIMEOUT_S,
            "most_memory": MEMORY_LIMIT_BYTES / 1e9,
            "most_pages": MOST_PAGES,
            "most_text": MOST_TEXT_BYTES / 1e6,
        }
        raise NotTextError(words.format(name=path.name, **facts), hint) from fault
