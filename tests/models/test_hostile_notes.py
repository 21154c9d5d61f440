"""Small files that we keep for ourselves and that somebody else has written into: each is as good as none."""

import random
import shutil

import pytest

from app.metrics.bandwidth import cached
from app.models.facts import FactBook
from app.models.library import Library
from app.models.part_file import PartFile
from app.models.relocation import finish_pending
from app.models.remote import RemoteFile
from app.models.shelf import read_receipt
from app.models.tried import Tried
from app.paths import cache_dir, config_dir

DEEP = b'{"x":' + b"[" * 100_000
CONTENTS = {
    "too deep": DEEP,
    "too deep where it is read": b'{"good": [[' + b"[" * 100_000,
    "no text": b'{"good": [["\xff", 1, 1]], "files": {"\xff": {}}}',
    "another thing": b'[1, "x"]',
    "nothing": b"",
    "half": b'{"good": [["a", 1',
    "noise": random.Random(1).randbytes(4096),
}


@pytest.fixture(params=CONTENTS)
def content(request):
    return CONTENTS[request.param]


def test_verdicts_on_files(content, home, tiny_pair, tmp_path):
    path = tmp_path / "some.gguf"
    shutil.copy(tiny_pair.target, path)
    (cache_dir() / "tried.json").write_bytes(content)
    entry, tried = Library().resolve(str(path)), Tried()
    assert tried.needed(entry) is not None
    tried.passed(entry)
    assert Tried().needed(entry) is None


def test_facts_of_files(content, home, tiny_pair):
    (cache_dir() / "models.json").write_bytes(content)
    assert FactBook().get(tiny_pair.target, tiny_pair.target.stat()) is None
    assert Library().resolve(str(tiny_pair.target)).architecture == "llama"


def test_what_a_pulled_file_is(content, tmp_path):
    (tmp_path / ".some.gguf.pulled.json").write_bytes(content)
    assert read_receipt(tmp_path / "some.gguf") is None


def test_how_much_of_a_part_is_on_the_disk(content, tmp_path):
    part = PartFile(tmp_path, RemoteFile("org/some", "c", "some.gguf", 10, "sha256:" + "a" * 64))
    part.acquire()
    part.path.with_suffix(".synced").write_bytes(content)
    part.open().close()
    part.release()
    assert part.n_bytes == 0


def test_a_move_that_was_broken_off(content, home):
    (config_dir() / "moved.json").write_bytes(content)
    assert finish_pending() == 0


def test_the_bandwidth_of_the_memory(content, tmp_path):
    (tmp_path / "bandwidth.json").write_bytes(content)
    assert cached(tmp_path / "bandwidth.json") is None
