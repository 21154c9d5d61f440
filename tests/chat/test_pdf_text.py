"""The text of PDFs, ours and hostile ones."""

import os
import subprocess
import sys
import time

import pytest

from app.chat.pdf_text import MOST_PAGES, PdfError, read, text_of_pdf
from tests.chat.pdfs import (
    FONT,
    PICTURE,
    bomb,
    document,
    fan_of_forms,
    in_circles,
    locked,
    packed,
    pdf,
    slow,
    stream,
    words,
)
from tests.fair_time import FairWatch

LETTER = pdf(words("Grüße, Welt", "second line"), packed(words("page two")))


@pytest.fixture
def written(tmp_path):
    """Write a PDF and return where it is."""

    def write(data, name="x.pdf"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


def fault_of(path, **options):
    with pytest.raises(PdfError) as raised:
        text_of_pdf(path, **options)
    return raised.value.fault


def test_pages_are_read_in_a_process_of_their_own_and_told(written):
    seen = []

    def watch(page, n_pages):
        seen.append((page, n_pages))
        return True

    text = text_of_pdf(written(LETTER, "Grüße & 1.PDF"), watch)
    assert text == "Grüße, Welt\nsecond line\n\npage two\n"
    assert seen[0] == (0, 0)
    assert set(seen) <= {(0, 0), (1, 2), (2, 2)}


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_a_password_locks_and_one_against_changes_alone_does_not(written, algorithm):
    assert read(written(locked(LETTER, "", algorithm=algorithm))) == read(written(LETTER))
    with pytest.raises(PdfError, match="locked"):
        read(written(locked(LETTER, "secret", algorithm=algorithm)))


def test_a_lock_of_another_kind_is_a_lock(written):
    encrypt = b"/Encrypt << /Filter /Adobe.PubSec /V 4 >> /ID [<00> <00>]"
    with pytest.raises(PdfError, match="locked"):
        read(written(document([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] >>"], encrypt)))


def test_pages_without_text_are_named_and_a_scan_is_refused(written):
    assert read(written(pdf(words("cover"), PICTURE, PICTURE, words("end"), PICTURE))) == (
        "cover\n\n[Pages 2 to 3: no text]\n\nend\n\n[Page 5: no text]\n"
    )
    assert fault_of(written(pdf(PICTURE, PICTURE))) == "no text"
    assert fault_of(written(pdf())) == "no text"


def test_a_broken_page_leaves_the_others(written):
    broken = stream(b"nothing packed", b"/Filter /NoSuchFilter")
    assert read(written(pdf(words("one"), broken, words("three")))) == ("one\n\n[Page 2: cannot be read]\n\nthree\n")
    with pytest.raises(PdfError, match="damaged"):
        read(written(pdf(broken)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"just text",
        b"%PDF-1.7\n" + b"\0" * 500,
        b"%PDF-1.7\n" + os.urandom(50_000),
        LETTER[: len(LETTER) // 3],
        document([b"<< /Type /Catalog >>"]),
        document([b"[" * 100_000]),
        document([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids 7 /Count -5 >>"]),
    ],
    ids=["empty", "text", "zeros", "noise", "cut", "no pages", "deep", "odd pages"],
)
def test_what_is_no_pdf_is_refused(written, data):
    with pytest.raises(PdfError) as raised:
        read(written(data))
    assert raised.value.fault in ("damaged", "no text")


def test_a_file_whose_table_lies_is_read_all_the_same(written):
    whole = read(written(LETTER))
    for wrong in (b"startxref\n7\n%%EOF", b"startxref\n99999999\n%%EOF"):
        assert read(written(LETTER[: LETTER.index(b"startxref")] + wrong)) == whole


def test_what_a_message_cannot_hold_is_left_out(written):
    to_unicode = b"1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <20> <7e> <d820> endbfrange"
    mapped = FONT.replace(b">>", b"/ToUnicode 6 0 R >>")
    odd = pdf(words("AB"), more=[stream(b"begincmap " + to_unicode + b" endcmap")]).replace(FONT, mapped)
    for data in (odd, pdf(words("one\\000\\001two")), pdf(words("soft\xadhyphen"))):
        path = written(data)
        try:
            text = read(path)
        except PdfError:
            continue
        text.encode("utf-8")
        assert not any(ord(character) < 32 for character in text.replace("\n", "").replace("\t", ""))


def test_too_many_pages_and_too_much_text_are_refused(written):
    assert fault_of(written(pdf(*[words("x")] * (MOST_PAGES + 1)))) == "pages"
    lines = packed(words(*["many words " * 40] * 250))
    assert fault_of(written(pdf(*[lines] * 45))) == "text"


@pytest.mark.parametrize(
    "data",
    [in_circles(), bomb(200_000_000), bomb(200_000_000, 3), bomb(70_000_000)],
    ids=["circles", "bomb", "bomb in a bomb", "bomb within bounds"],
)
def test_what_has_no_end_is_refused_within_a_bound(written, data):
    assert len(data) < 400_000
    watch = FairWatch()
    assert fault_of(written(data), timeout_s=15.0) in ("damaged", "no text")
    assert watch.took_s < 10


def test_forms_that_draw_forms_end_somewhere(written):
    watch = FairWatch()
    assert 0 < len(text_of_pdf(written(fan_of_forms(9)))) < 100_000
    assert watch.took_s < 20


def test_what_takes_too_long_is_given_up(written):
    watch = FairWatch()
    assert fault_of(written(slow()), timeout_s=1.0) == "late"
    assert watch.took_s < 10


def test_reading_can_be_stopped(written):
    seen = []

    def watch(page, n_pages):
        seen.append((page, n_pages))
        return page < 2

    watched = FairWatch()
    assert fault_of(written(slow()), watch=watch) == "stopped"
    assert seen[-1][1] == 400
    assert watched.took_s < 20


@pytest.mark.linux
def test_what_is_no_file_keeps_nobody(tmp_path):
    os.mkfifo(tmp_path / "x.pdf")
    began_s = time.monotonic()
    assert fault_of(tmp_path / "x.pdf", timeout_s=1.0) == "late"
    assert time.monotonic() - began_s < 15


@pytest.mark.linux
def test_what_needs_more_memory_than_there_is_ends_in_words(written):
    path = written(pdf(packed(b"BT /F1 12 Tf (" + b"x" * 60_000_000 + b") Tj ET")))
    command = ["sh", "-c", 'ulimit -v 250000; exec "$0" -m app pdf', sys.executable]
    done = subprocess.run(command, input=os.fsencode(path), capture_output=True, timeout=60, check=True)
    assert done.stdout == b'{"text":"","fault":"memory"}'
