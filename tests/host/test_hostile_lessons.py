"""What may lie where a pair's lessons are kept: whatever it is, the pair loads, and learns anew."""

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.auto_length import AutoLength
from app.engine.costs import Costs
from app.engine.evidence import Evidence
from app.host.lesson_book import MOST_BYTES, LessonBook
from app.lessons import Counts, Lessons, sound
from app.protocol import Load

LESSONS = Lessons({"draft-simple": (1.4, 1.5)}, {"ngram:4": Counts((8,), (6,))}, {}, 2.5)


@pytest.fixture
def command(tmp_path):
    for name in ("target.gguf", "draft.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    return Load(1, str(tmp_path / "target.gguf"), str(tmp_path / "draft.gguf"))


@pytest.fixture
def place(tmp_path, command):
    """Return where the lessons of the pair lie, and the folder."""
    book = LessonBook(tmp_path / "lessons")
    book.with_lessons(command)
    book.keep(LESSONS)
    (path,) = (tmp_path / "lessons").iterdir()
    return path


def read(place, command):
    return LessonBook(place.parent).with_lessons(command).lessons


def begin_with(lessons):
    """Begin an answer as a loaded pair does that was given these lessons."""
    known = Evidence(Costs({1: 0.1, 2: 0.13, 4: 0.16, 8: 0.23}))
    known.recall(lessons)
    known.begin_answer()
    policy = AutoLength(known, 8, 100)
    policy.begin(0.5)
    ask = policy.ask("draft-simple", 5)
    assert 0 <= ask.limit <= 8
    return known


def test_a_larger_file_is_none_of_ours(place, command):
    saved = json.dumps({"saved_s": 1.0}).encode()
    place.write_bytes(saved + b" " * (MOST_BYTES - len(saved)))
    assert read(place, command) == Lessons(saved_s=1.0)
    place.write_bytes(saved + b" " * (MOST_BYTES - len(saved) + 1))
    assert read(place, command) is None


@pytest.mark.linux
@pytest.mark.parametrize("there", ["fifo", "folder", "endless", "loop", "nothing"])
def test_what_is_no_file_is_as_good_as_none_and_nothing_waits_for_it(place, command, there):
    place.unlink()
    match there:
        case "fifo":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
        case "endless":
            place.symlink_to("/dev/zero")
        case "loop":
            place.symlink_to(place)
        case _:
            place.symlink_to("/nowhere")
    assert read(place, command) is None


def test_a_link_is_replaced_and_what_it_points_to_stays(place, command, tmp_path):
    (tmp_path / "elsewhere.json").write_bytes(msgspec.json.encode(LESSONS))
    place.unlink()
    place.symlink_to(tmp_path / "elsewhere.json")
    book = LessonBook(place.parent)
    assert book.with_lessons(command).lessons == LESSONS
    book.keep(Lessons(saved_s=9.0))
    assert read(place, command) == Lessons(saved_s=9.0)
    assert (tmp_path / "elsewhere.json").read_bytes() == msgspec.json.encode(LESSONS)


@pytest.mark.parametrize(
    "content",
    [
        b'{"saved_s": NaN}',
        b'{"saved_s": 1e999}',
        b'{"saved_s": null}',
        b'{"speedups": {"draft-simple": [null]}}',
        b'{"speedups": ' + b"[" * 200_000,
        b"[" * 200_000,
        b'{"version": 2, "speedups": {}}',
        b'{"answers": {"ngram:4": {"judged": "8", "kept": [6]}}}',
        b'{"speedups": {"\xff": [1]}}',
        b"\0" * 4096,
    ],
)
def test_what_is_no_lessons_is_as_good_as_none(place, command, content):
    place.write_bytes(content)
    assert read(place, command) is None


@pytest.mark.parametrize(
    "left_out",
    [
        {"answers": {"ngram:x": {"judged": [1], "kept": [1]}}},
        {"answers": {"ngram:" + "9" * 5000: {"judged": [1], "kept": [1]}}},
        {"answers": {"ngram:0": {"judged": [1], "kept": [1]}}},
        {"answers": {"ngram:4": {"judged": [1, 2], "kept": [1]}}},
        {"answers": {"ngram:4": {"judged": [1], "kept": [2]}}},
        {"answers": {"ngram:4": {"judged": [-1], "kept": [-2]}}},
        {"answers": {"ngram:4": {"judged": [1.7e308], "kept": [1.7e308]}}},
        {"speedups": {"draft-simple": [1.0] * 10_000}},
        {"speedups": {"": [1.0]}},
        {"words": {"draft-simple@both": {"judged": [1], "kept": [1]}}},
        {"saved_s": -1.0},
        {"saved_s": 1e300},
    ],
)
def test_what_cannot_be_is_left_out_and_the_rest_stays(place, command, left_out):
    good = {"speedups": {"draft-mtp": [1.25]}}
    place.write_bytes(
        json.dumps({**good, **left_out, "speedups": good["speedups"] | left_out.get("speedups", {})}).encode()
    )
    lessons = read(place, command)
    assert lessons == Lessons({"draft-mtp": (1.25,)})
    begin_with(lessons)


def test_what_a_pair_teaches_is_sound(place, command):
    known = begin_with(LESSONS)
    for kind in ("draft-simple", "draft-simple~", "draft-mtp", "ngram:1", "ngram:32"):
        known.of(kind).observe(3, 2)
        known.worth_of(kind, lambda: 1.2).observe(3, 2.0)
        known.calibration_of(kind.partition(":")[0], is_greedy=True).observe(0.7, is_kept=True)
    taught = known.lessons()
    assert len(taught.answers) == 6
    assert sound(taught) == taught


NUMBERS = st.floats(allow_nan=False) | st.integers(-5, 500).map(float)
MANY_NUMBERS = st.lists(NUMBERS, max_size=12).map(tuple)
KINDS = st.text(max_size=8) | st.sampled_from(
    ["draft-simple", "draft-simple~", "draft-mtp", "ngram:4", "ngram:-1", "ngram:", "draft-simple@greedy", "x@sampled"]
)
COUNTS = st.dictionaries(KINDS, st.builds(Counts, MANY_NUMBERS, MANY_NUMBERS), max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.builds(Lessons, st.dictionaries(KINDS, MANY_NUMBERS, max_size=4), COUNTS, COUNTS, NUMBERS))
def test_whatever_a_file_says_a_pair_can_begin_with_what_is_sound_of_it(lessons):
    left = sound(lessons)
    assert sound(left) == left
    begin_with(left)


@pytest.mark.linux
def test_a_folder_that_may_not_be_written_keeps_what_is_there(place, command):
    if os.geteuid() == 0:
        place.parent.chmod(0o555)  # means nothing to root, who is told by a file in the folder's place
    book = LessonBook(place / "not a folder")
    assert book.with_lessons(command).lessons is None
    book.keep(Lessons(saved_s=1.0))
    place.parent.chmod(0o755)
    assert read(place, command) == LESSONS


def test_of_a_pair_whose_files_are_gone_nothing_is_kept_under_the_pair_before(place, command, tmp_path):
    book = LessonBook(place.parent)
    book.with_lessons(command)
    gone = msgspec.structs.replace(command, draft=str(tmp_path / "gone.gguf"))
    assert book.with_lessons(gone).lessons is None
    book.keep(Lessons(saved_s=99.0))
    assert read(place, command) == LESSONS


WRITE_OFTEN = """
import sys, msgspec
from pathlib import Path
from app.host.lesson_book import LessonBook
from app.lessons import Lessons
from app.protocol import Load
command = msgspec.json.decode(sys.argv[2], type=Load)
for i in range(150):
    book = LessonBook(Path(sys.argv[1]))
    book.with_lessons(command)
    book.keep(Lessons({f"draft-{'ab'[i % 2]}": (1.5,) * 32}, saved_s=float(sys.argv[3]) + i))
"""


def test_two_programs_that_write_at_once_leave_whole_lessons_and_nothing_else(place, command):
    facts = [str(place.parent), msgspec.json.encode(command).decode()]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE_OFTEN, *facts, str(1000 * n)], cwd=Path(__file__).parents[2])
        for n in (1, 2)
    ]
    while any(writer.poll() is None for writer in writers):
        assert read(place, command) is not None
    assert [writer.wait() for writer in writers] == [0, 0]
    assert read(place, command).saved_s in (1149.0, 2149.0)
    assert list(place.parent.iterdir()) == [place]
