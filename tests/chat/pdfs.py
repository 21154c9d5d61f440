"""PDFs written by hand, byte by byte, so that they may also be what no program would write."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from io import BytesIO

from pypdf import PdfReader, PdfWriter

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
RESOURCES = b"/Resources << /Font << /F1 3 0 R >> >>"
PICTURE = b"q 100 0 0 100 72 600 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q"


def stream(data: bytes, head: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), head, data)


def packed(data: bytes, head: bytes = b"") -> bytes:
    return stream(zlib.compress(data), b"/Filter /FlateDecode " + head)


def words(*lines: str) -> bytes:
    """The content of a page with these lines below each other."""
    shown = b" ".join(b"(%s) Tj T*" % line.encode("cp1252") for line in lines)
    return b"BT /F1 12 Tf 14 TL 72 720 Td %s ET" % shown


def document(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """Number the objects from 1, the catalog, and write their table."""
    data, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    end = b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, len(data))
    return data + head + table + end


def pdf(*contents: bytes, more: Sequence[bytes] = (), resources: bytes = RESOURCES) -> bytes:
    """A page for each content, which is its stream's bytes or an object that is one; ``more`` come behind them."""
    n_pages = len(contents)
    kids = b" ".join(b"%d 0 R" % (4 + 2 * i) for i in range(n_pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d /MediaBox [0 0 612 792] >>" % (kids, n_pages),
        FONT,
    ]
    for i, content in enumerate(contents):
        objects.append(b"<< /Type /Page /Parent 2 0 R %s /Contents %d 0 R >>" % (resources, 5 + 2 * i))
        objects.append(content if content.startswith(b"<<") else stream(content))
    return document([*objects, *more])


def locked(data: bytes, user: str, owner: str = "owner", algorithm: str = "AES-256") -> bytes:
    writer, held = PdfWriter(clone_from=PdfReader(BytesIO(data))), BytesIO()
    writer.encrypt(user, owner, algorithm=algorithm)
    writer.write(held)
    return held.getvalue()


def in_circles() -> bytes:
    """A tree of pages that holds itself, and a form that draws itself."""
    form = b"/Type /XObject /Subtype /Form /Resources << /XObject << /X 6 0 R >> >>"
    resources = b"/Resources << /Font << /F1 3 0 R >> /XObject << /X 6 0 R >> >>"
    whole = pdf(b"/X Do", more=[stream(b"/X Do", form)], resources=resources)
    return whole.replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]")


def fan_of_forms(n_deep: int, n_wide: int = 10) -> bytes:
    """A page that draws a form that draws another ten times, and so on: n_wide to the n_deep times a word."""
    head = b"/Type /XObject /Subtype /Form /Resources << /Font << /F1 3 0 R >> /XObject << /X %d 0 R >> >>"
    forms = [stream(b"/X Do " * n_wide, head % (7 + i)) for i in range(n_deep)]
    resources = b"/Resources << /Font << /F1 3 0 R >> /XObject << /X 6 0 R >> >>"
    return pdf(b"/X Do", more=[*forms, stream(words("deep"), head % 6)], resources=resources)


def bomb(n_bytes: int, n_times: int = 1) -> bytes:
    """A page whose content unpacks to so many spaces, packed so many times."""
    data = zlib.compress(b" " * n_bytes)
    for _ in range(n_times - 1):
        data = zlib.compress(data)
    return pdf(stream(data, b"/Filter [%s]" % (b"/FlateDecode " * n_times)))


def slow() -> bytes:
    """Pages that take half a minute or more, each its part of a second."""
    line = words(*["some words that are set one by one"] * 2000)
    return pdf(*[packed(line)] * 400)
