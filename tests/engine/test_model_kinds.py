"""Files that are sound and no language models are told from their headers: listed with what they are, never loaded."""

from __future__ import annotations

import pytest

from app.engine.gguf import read_header
from app.engine.model_kinds import is_multimodal, what_else
from app.engine.session import Session
from app.engine.template import Renderer
from app.errors import ModelFileError
from app.models.library import Library
from app.models.pairs import candidate_of_file, judge
from tests.cli.commands import run
from tests.engine.sessions import load
from tests.fixtures import tiny
from tests.fixtures.raw_gguf import BOOL, RawGguf

KINDS = {
    "clip": ({"clip.has_vision_encoder": True}, "the image half"),
    "clip ": ({"clip.has_audio_encoder": True}, "the sound half"),
    "clip  ": ({"clip.has_vision_encoder": True, "clip.has_audio_encoder": True}, "the image and sound half"),
    "bert": ({}, "an embedding model"),
    "nomic-bert-moe": ({}, "an embedding model"),
    "gemma-embedding": ({}, "an embedding model"),
    "qwen3": ({"qwen3.pooling_type": 3}, "an embedding model"),
    "qwen3 ": ({"qwen3.pooling_type": 4}, "a reranking model"),
    "dream": ({}, "a diffusion model"),
    "llada": ({}, "a diffusion model"),
    "t5": ({}, "rewrites one text as another"),
    "flux": ({}, "an image or video generator"),
    "qwen3tts": ({}, "a part of a speech model"),
    "eagle3": ({}, "a drafter of a kind that this version does not use"),
}


def write(path, architecture, numbers):
    raw = RawGguf().add_text("general.architecture", architecture.strip()).add_tensor("t", [32, 2])
    for key, value in numbers.items():
        if isinstance(value, bool):
            raw.add(key, BOOL, bytes([value]))
        else:
            raw.add_u32(key, value)
    raw.data = bytes(4096)
    path.write_bytes(raw.bytes())
    return path


@pytest.mark.parametrize("name", KINDS)
def test_each_is_told_by_its_header(tmp_path, name):
    numbers, words = KINDS[name]
    header = read_header(write(tmp_path / "x.gguf", name, numbers))
    assert words in what_else(header)


@pytest.mark.parametrize("pooling", [None, 0])
def test_a_language_model_is_none_of_them(tmp_path, pooling):
    numbers = {} if pooling is None else {"qwen3.pooling_type": pooling}
    assert what_else(read_header(write(tmp_path / "x.gguf", "qwen3", numbers))) == ""
    assert what_else(read_header(Library().resolve("starter").path)) == ""


def test_they_are_listed_apart_from_what_can_chat(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    write(folder / "mmproj-x.gguf", "clip", {"clip.has_vision_encoder": True})
    write(folder / "embed.gguf", "bert", {})
    tiny.llama(folder / "chat.gguf")
    contents = Library([folder]).contents()
    assert [entry.name for entry in contents.models if entry.source == "folder"] == ["chat"]
    assert [(file.path.name, "not a language model" in file.reason) for file in contents.others] == [
        ("embed.gguf", True),
        ("mmproj-x.gguf", True),
    ]
    assert contents.broken == ()
    with pytest.raises(ModelFileError, match="an embedding model") as caught:
        Library([folder]).resolve("embed")
    assert caught.value.hint == "Choose a chat model."


def test_a_person_who_asks_for_one_is_told_what_it_is(tmp_path):
    path = write(tmp_path / "embed.gguf", "bert", {})
    for words in (["infer", str(path), "-p", "hello"], ["pair", str(path), "starter"]):
        done = run(*words)
        assert done.returncode == 1
        assert "is an embedding model, which turns text into numbers, not a language model" in done.stderr


def test_one_is_no_drafter_and_says_that_drafts_are_text(tmp_path):
    path = write(tmp_path / "embed.gguf", "bert", {})
    starter = Library().resolve("starter").path
    ours, theirs = (candidate_of_file(p, p.stem, p.stat().st_size) for p in (starter, path))
    judgement = judge(ours, theirs)
    assert not judgement.fits
    assert "speculation drafts text only" in judgement.reasons[0]


@pytest.mark.parametrize("architecture", ["bert", "dream", "t5", "clip"])
def test_the_engine_refuses_one_as_target_and_goes_on_without_it_as_draft(tmp_path, architecture):
    path = write(tmp_path / "other.gguf", architecture, {})
    session = Session(Renderer())
    try:
        with pytest.raises(ModelFileError, match="not a language model"):
            load(session, path)
        loaded = load(session, tiny.llama(tmp_path / "chat.gguf"), path)
        assert "not a language model" in loaded.not_engageable["draft-simple"]
    finally:
        session.close()


def test_a_model_that_also_sees_says_that_it_is_given_text(tmp_path):
    path = tiny.llama(tmp_path / "chat.gguf")
    assert not is_multimodal(read_header(path), path)
    write(tmp_path / "mmproj-chat.gguf", "clip", {"clip.has_vision_encoder": True})
    session = Session(Renderer())
    try:
        loaded = load(session, path)
    finally:
        session.close()
    assert [notice.code for notice in loaded.notices] == ["text_only"]
