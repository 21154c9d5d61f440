"""Which files are tried, and which are known."""

from __future__ import annotations

import os

import pytest

from app.models.library import Library
from app.models.tried import MAX_FILES, Tried
from app.paths import cache_dir
from tests.fixtures import tiny


@pytest.fixture
def entry(tmp_path):
    return Library().resolve(str(tiny.llama(tmp_path / "mine.gguf")))


def test_a_file_is_tried_until_it_has_passed_once(entry):
    tried = Tried()
    assert tried.needed(entry) is not None
    assert tried.needed(entry) is not None
    tried.passed(entry)
    assert tried.needed(entry) is None
    assert Tried().needed(entry) is None  # the next start of the program knows it too


def test_a_file_that_has_changed_is_tried_again(entry):
    Tried().passed(entry)
    facts = entry.path.stat()
    os.utime(entry.path, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))
    assert Tried().needed(entry) is not None


def test_the_starter_needs_no_trial():
    assert Tried().needed(Library().resolve("starter")) is None


def test_a_file_that_is_gone_is_tried_so_that_it_is_said(entry):
    tried = Tried()
    entry.path.unlink()
    tried.passed(entry)
    assert tried.needed(entry) is not None


@pytest.mark.parametrize("rubbish", [b"", b"{", b'{"good": 3}', b'{"good": [["x"]]}', b"\xff"])
def test_a_damaged_memory_is_an_empty_one(entry, rubbish):
    (cache_dir() / "tried.json").write_bytes(rubbish)
    tried = Tried()
    assert tried.needed(entry) is not None
    tried.passed(entry)
    assert Tried().needed(entry) is None


def test_a_memory_that_cannot_be_written_is_one_for_this_session(entry):
    (cache_dir() / "tried.json").mkdir()
    tried = Tried()
    tried.passed(entry)
    assert tried.needed(entry) is None
    assert Tried().needed(entry) is not None


def test_it_does_not_grow_for_ever(tmp_path, entry):
    tried = Tried()
    source = entry.path
    for i in range(MAX_FILES + 1):
        os.utime(source, ns=(0, i + 1))
        tried.passed(entry)
    os.utime(source, ns=(0, 1))
    assert tried.needed(entry) is not None
    os.utime(source, ns=(0, 2))
    assert tried.needed(entry) is None
