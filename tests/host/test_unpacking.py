"""Archives that would do harm: floods, headers without end, odd names, links and devices, and one that changes."""

from __future__ import annotations

import gzip
import io
import os
import random
import shutil
import tarfile
import tracemalloc
import warnings
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from app.errors import DiskFullError, LoadError, SlipstreamError, UsageError
from app.host import unpacking
from app.host.unpacking import MOST_BYTES, MOST_FILES, unpack

MIB = 1 << 20


def packed(path: Path, blocks: Iterable[bytes]) -> Path:
    """Write a tar.gz of raw blocks."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.writelines(blocks)
    return path


def header(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0, link: str = "") -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, size, link
    return info.tobuf(tarfile.GNU_FORMAT)


def zipped(path: Path, *names: str, data: bytes = b"x") -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name in names:
            archive.writestr(name, data)
    return path


def refused(path: Path, tmp_path: Path, words: str, kind: type[SlipstreamError] = LoadError) -> None:
    with pytest.raises(kind, match=words) as caught:
        unpack(path, tmp_path / "into" / "here")
    assert caught.value.hint
    assert str(tmp_path) not in caught.value.message
    assert not (tmp_path / "into" / "here").exists()


# --- floods -----------------------------------------------------------------------------------------


def test_a_tar_of_empty_files_is_refused_at_the_first_too_many(tmp_path):
    path = packed(tmp_path / "many.tar.gz", (header(f"f{n}") for n in range(8 * MOST_FILES)))
    tracemalloc.start()
    try:
        refused(path, tmp_path, f"more than {MOST_FILES} files")
        assert tracemalloc.get_traced_memory()[1] < 24 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK])
def test_a_header_without_end_is_not_taken_into_memory(tmp_path, kind):
    n_mib = 64
    blocks = [header("x", kind, n_mib * MIB), *([b"a" * MIB] * n_mib), header("x"), bytes(1024)]
    path = packed(tmp_path / "header.tar.gz", blocks)
    tracemalloc.start()
    try:
        refused(path, tmp_path, "damaged: a header of", UsageError)
        assert tracemalloc.get_traced_memory()[1] < 24 * MIB
    finally:
        tracemalloc.stop()


def test_a_zip_that_says_that_it_is_too_large_writes_nothing(tmp_path):
    path = zipped(tmp_path / "bomb.zip", "libllama.so", "b")
    data = bytearray(path.read_bytes())
    for at in (i for i in range(len(data)) if data[i : i + 4] == b"PK\1\2"):
        data[at + 24 : at + 28] = (MOST_BYTES - 2).to_bytes(4, "little")  # unpacked size, in the directory
    path.write_bytes(data)
    refused(path, tmp_path, "larger than 4 GiB")
    assert not (tmp_path / "into").exists()


def test_a_zip_that_says_less_than_it_holds_is_damaged(tmp_path):
    path = tmp_path / "liar.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("libllama.so", bytes(8 * MIB))
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\1\2")
    data[at + 24 : at + 28] = (10).to_bytes(4, "little")
    path.write_bytes(data)
    refused(path, tmp_path, "damaged", UsageError)


def test_a_disk_without_room_is_said_before_anything_is_written(tmp_path):
    n_free = shutil.disk_usage(tmp_path).free
    if n_free > MOST_BYTES:
        return  # no archive that may be unpacked fills this disk
    blocks = [header("libllama.so", size=n_free), *([bytes(MIB)] * (n_free // MIB + 1))]
    refused(packed(tmp_path / "large.tar.gz", blocks), tmp_path, "free", DiskFullError)


# --- names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nul.so", "CON", "a/aux.dll", "COM1.dll", "ends in a dot.", "blank ", "line\n.so"])
def test_a_name_that_is_none_on_windows_is_refused(tmp_path, name):
    refused(zipped(tmp_path / "odd.zip", "libllama.so", name), tmp_path, "no file can have")


@pytest.mark.parametrize("names", [("libllama.so", "libllama.so"), ("libllama.so", "libllama.so/x"), ("a/b", "a")])
def test_names_that_are_there_twice_are_refused(tmp_path, names):
    refused(zipped(tmp_path / "twice.zip", *names), tmp_path, r"twice\.zip (holds two files|cannot be unpacked)")


def test_names_that_are_no_text_are_refused(tmp_path):
    path = zipped(tmp_path / "odd.zip", "libllam\u00e9.so")
    path.write_bytes(path.read_bytes().replace("\u00e9".encode(), b"\xff\xfe"))
    refused(path, tmp_path, "damaged", UsageError)
    tar = tmp_path / "odd.tar.gz"
    with tarfile.open(tar, "w:gz", encoding="utf-8", errors="surrogateescape") as archive:
        info = tarfile.TarInfo(os.fsdecode(b"\xff/libllama.so"))
        info.size = 1
        archive.addfile(info, io.BytesIO(b"x"))
    refused(tar, tmp_path, "no file can have")


def test_folders_in_each_other_without_end_are_refused(tmp_path):
    refused(zipped(tmp_path / "deep.zip", "a/" * 1500 + "libllama.so"), tmp_path, "folders in each other")


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.LNKTYPE])
def test_devices_pipes_and_hard_links_are_refused(tmp_path, kind):
    path = packed(tmp_path / "dev.tar.gz", [header("libllama.so", kind, link="/etc/passwd"), bytes(1024)])
    refused(path, tmp_path, "holds a link")


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_file_of_less_than_nothing_does_not_lead_back_for_ever(tmp_path, kind):
    first = header("first", size=512) + bytes(512)
    second = bytearray(header("second", kind))
    second[124:136] = (-1024).to_bytes(12, "big", signed=True)  # what GNU's numbers in 256s can say
    second[148:156] = b"%06o\0 " % (sum(second[:148]) + 256 + sum(second[156:]))
    refused(packed(tmp_path / "back.tar.gz", [first, bytes(second), bytes(1024)]), tmp_path, "damaged", UsageError)


@pytest.mark.parametrize("key", ["size", "GNU.sparse.size", "GNU.sparse.map", "GNU.sparse.numblocks"])
def test_numbers_that_are_none_are_damage(tmp_path, key):
    info = tarfile.TarInfo("libllama.so")
    info.pax_headers = {key: "many"}
    path = packed(tmp_path / "odd.tar.gz", [info.tobuf(tarfile.PAX_FORMAT), bytes(1024)])
    try:
        unpack(path, tmp_path / "here")
    except SlipstreamError as fault:
        assert "odd.tar.gz" in fault.message  # noqa: PT017 - some of them are not looked at
        assert not (tmp_path / "here").exists()


def test_an_archive_that_becomes_another_while_it_is_unpacked_writes_nothing_outside(tmp_path):
    """Between its check and its writing another file may come into its place."""
    good = packed(tmp_path / "x.tar.gz", [header("libllama.so"), bytes(1024)])
    evil = packed(tmp_path / "evil.tar.gz", [header("../../outside"), header("l", tarfile.SYMTYPE, link="../../x")])

    class Swapped(unpacking._Unpacking):
        def _make_folder(self) -> None:
            super()._make_folder()
            evil.replace(good)

    with pytest.raises(LoadError, match="outside"):
        Swapped(good, tmp_path / "into").run(is_tar=True)
    assert not (tmp_path.parent / "outside").exists()
    assert not (tmp_path / "outside").exists()


# --- anything at all --------------------------------------------------------------------------------


def sound(kind: str, path: Path) -> bytes:
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a/libllama.so", bytes(range(256)) * 4)
            archive.writestr("b/\u00e9.so", b"y" * 100)
        return path.read_bytes()
    with tarfile.open(path, "w") as archive:
        for name, extra in (("a/libllama.so.0", {}), ("b/" + "\u00e9" * 60, {"comment": "x", "mtime": "1.5"})):
            info = tarfile.TarInfo(name)
            info.size, info.pax_headers = 5, extra
            archive.addfile(info, io.BytesIO(b"hello"))
        info = tarfile.TarInfo("a/libllama.so")
        info.type, info.linkname = tarfile.SYMTYPE, "libllama.so.0"
        archive.addfile(info)
    return path.read_bytes()


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_changed_bytes_are_unpacked_or_refused(tmp_path, kind):
    random_ = random.Random(5)
    whole = sound(kind, tmp_path / "whole")
    path, folder, n_refused = tmp_path / f"changed.{kind}", tmp_path / "into", 0
    for _ in range(200):
        data = bytearray(whole)
        for _ in range(random_.choice((1, 1, 2, 5))):
            data[random_.randrange(len(data))] = random_.choice((0, 255, random_.randrange(256)))
        path.write_bytes(data if kind == "zip" else gzip.compress(data, 1))
        try:
            unpack(path, folder)
        except SlipstreamError:
            n_refused += 1
            assert not folder.exists()
        shutil.rmtree(folder, ignore_errors=True)
    assert 0 < n_refused < 200
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.name, "whole"]
