"""What a pair has taught outlives the engine, for this pair, loaded this way, with these files."""

import msgspec
import pytest

from app.host.lesson_book import LessonBook
from app.lessons import Counts, Lessons
from app.protocol import Load

LESSONS = Lessons({"draft-simple": (1.4, 1.5)}, {"ngram:4": Counts((8,), (6,))}, {}, 2.5)


@pytest.fixture
def command(tmp_path):
    for name in ("target.gguf", "draft.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    return Load(1, str(tmp_path / "target.gguf"), str(tmp_path / "draft.gguf"))


def test_what_was_learned_is_there_at_the_next_load(tmp_path, command):
    book = LessonBook(tmp_path / "lessons")
    assert book.with_lessons(command).lessons is None
    book.keep(LESSONS)
    assert LessonBook(tmp_path / "lessons").with_lessons(command).lessons == LESSONS


def test_another_pair_or_another_way_of_loading_has_learned_nothing(tmp_path, command):
    book = LessonBook(tmp_path / "lessons")
    book.with_lessons(command)
    book.keep(LESSONS)
    for other in (msgspec.structs.replace(command, n_threads=7), msgspec.structs.replace(command, draft=None)):
        assert book.with_lessons(other).lessons is None
    (tmp_path / "target.gguf").write_bytes(b"GGUF, another one")
    assert book.with_lessons(command).lessons is None


@pytest.mark.parametrize("content", [b"", b"{", b'{"speedups": 3}', b'{"unknown": 1}', b"\xff\xfe"])
def test_a_damaged_file_is_as_good_as_none_and_is_replaced(tmp_path, command, content):
    book = LessonBook(tmp_path / "lessons")
    book.with_lessons(command)
    book.keep(LESSONS)
    (written,) = (tmp_path / "lessons").glob("*.json")
    written.write_bytes(content)
    assert book.with_lessons(command).lessons is None
    book.keep(LESSONS)
    assert book.with_lessons(command).lessons == LESSONS


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_lesson(tmp_path, command):
    (tmp_path / "lessons").write_text("a file where the folder should be")
    book = LessonBook(tmp_path / "lessons")
    assert book.with_lessons(command).lessons is None
    book.keep(LESSONS)
    assert book.with_lessons(command).lessons is None


def test_nothing_learned_writes_no_file(tmp_path, command):
    book = LessonBook(tmp_path / "lessons")
    book.with_lessons(command)
    book.keep(Lessons())
    assert not (tmp_path / "lessons").exists()
