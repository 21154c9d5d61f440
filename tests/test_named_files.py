"""What a person names is read if it is a file, and only so far; nothing is waited for."""

import os
import threading
from pathlib import Path

import pytest

from app.named_files import NoFileError, open_named, read_named, read_or_hear


def test_a_file_is_read_and_one_byte_more_tells_of_a_longer_one(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"12345")
    assert [read_named(path, most) for most in (4, 5, 6)] == [b"12345", b"12345", b"12345"]
    path.write_bytes(b"123456789")
    assert read_named(path, 4) == b"12345"
    path.write_bytes(b"")
    assert read_named(path, 4) == b""


def test_a_folder_and_what_is_not_there_have_the_systems_own_reason(tmp_path):
    for path in (tmp_path, tmp_path / "gone"):
        with pytest.raises(OSError, match=r"directory|denied") as caught:
            open_named(path)
        assert not isinstance(caught.value, NoFileError)


@pytest.mark.linux
def test_a_pipe_and_a_device_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "link", Path("/dev/zero")):
        with pytest.raises(NoFileError) as caught:
            read_named(path, 10)
        assert caught.value.strerror == "it is a pipe or a device, not a file"


@pytest.mark.linux
def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(tmp_path):
    path = tmp_path / "x"
    os.mkfifo(tmp_path / "pipe")

    class Exchanged(type(path)):
        def stat(self, **how):
            found = super().stat(**how)
            (tmp_path / "pipe").replace(path)
            return found

    path.write_bytes(b"words")
    with pytest.raises(NoFileError):
        open_named(Exchanged(path))


@pytest.mark.linux
def test_files_of_the_system_that_say_no_size_are_read_so_far():
    path = Path("/proc/self/maps")
    assert path.stat().st_size == 0
    assert len(read_named(path, 1 << 24)) > 1000
    assert len(read_named(path, 1000)) == 1001


@pytest.mark.linux
def test_a_terminal_hears_a_pipe_to_its_end_or_so_far(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for most, heard in ((100, b"one two"), (3, b"one ")):
        writer = threading.Thread(target=path.write_bytes, args=(b"one two",))
        writer.start()
        assert read_or_hear(path, most) == heard
        writer.join()
    assert len(read_or_hear(Path("/dev/zero"), 5_000_000)) == 5_000_001
