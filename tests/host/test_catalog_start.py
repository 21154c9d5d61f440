"""A pair of the catalog begins with what the catalog says of it, however it is loaded."""

from __future__ import annotations

import pytest

from app.host.catalog_start import curated_pair, with_start
from app.host.lesson_book import LessonBook
from app.models.catalog import STARTER, Catalog
from app.models.library import Library
from app.protocol import Load

PAIRS = Catalog.load().pairs


def put(folder, model):
    """Make a file of the name and size that the catalog has, which takes no room."""
    if model.repo == STARTER:
        return Library().resolve(STARTER).path
    file = model.files[0]
    path = folder / file.path.rpartition("/")[2]
    with path.open("wb") as out:
        out.truncate(file.n_bytes or 1000)
    return path


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.id)
def test_every_curated_pair_is_told_by_its_files(pair, tmp_path):
    (tmp_path / "draft").mkdir()
    target = put(tmp_path, pair.target)
    draft = None if pair.draft is None else put(tmp_path / "draft", pair.draft)
    found = curated_pair(target, draft)
    assert found is not None
    assert (found.spec_type, found.draft_tokens) == (pair.spec_type, pair.draft_tokens)
    command = Load(1, str(target), str(draft) if draft is not None else None)
    assert LessonBook(tmp_path / "lessons").with_lessons(command).draft_start == pair.draft_tokens


def test_other_files_begin_with_nothing(tmp_path):
    pair = next(pair for pair in PAIRS if pair.draft is not None and pair.draft.repo != STARTER)
    target, other = put(tmp_path, pair.target), tmp_path / "other.gguf"
    other.touch()
    for draft in (None, other, tmp_path / "gone.gguf"):
        assert with_start(Load(1, str(target), str(draft) if draft is not None else None)).draft_start == 0
    if pair.target.files[0].n_bytes is not None:
        target.write_bytes(b"another file of that name")
        assert curated_pair(target, put(tmp_path, pair.draft)) is None
