"""Files whose headers and names are somebody else's words: no command lets them act on the terminal, or fails."""

from __future__ import annotations

import contextlib
import io
import json

import pytest

from app.cli import program
from app.errors import SlipstreamError
from app.paths import models_dir
from tests.fixtures.raw_gguf import RawGguf, small

ESCAPE = "\x1b[2J\x1b]0;evil\x07\x9b31m\r\nfits: everything\u202eevil"
KEYS = ("general.architecture", "general.name", "general.basename", "general.license", "tokenizer.ggml.model")


def texted(**more: str) -> RawGguf:
    raw = RawGguf()
    words = {"general.architecture": "llama", "tokenizer.ggml.model": "gpt2"} | more
    for key, text in words.items():
        raw.add_text(key, text)
    raw.add_u32("llama.block_count", 2).add_u32("llama.context_length", 512)
    raw.add_texts("tokenizer.ggml.tokens", [ESCAPE + str(n) for n in range(40)])
    raw.add_tensor("t", [32, 2], kind=2)
    raw.data = bytes(36)
    return raw


@pytest.fixture
def hostile():
    """Fill the folder with files that lie, each in its own way; return their names."""
    folder = models_dir()
    folder.mkdir(parents=True, exist_ok=True)
    names = []

    def put(name: str, content: bytes) -> None:
        names.append(name)
        (folder / f"{name}.gguf").write_bytes(content)

    for n, key in enumerate(KEYS):
        put(f"texts-{n}", texted(**{key: ESCAPE}).bytes())
    whole = small().bytes()
    for n in range(0, len(whole), max(1, len(whole) // 25)):
        put(f"cut-{n}", whole[:n])
    put("part-00002-of-00003", small().add_u32("split.count", 3).add_u32("split.no", 1).bytes())
    put(f"part{ESCAPE.replace('/', '')}-00001-of-00009", small().bytes())
    put("million-tensors", small(version=3).bytes()[:8] + b"\xff" * 8 + whole[16:])
    put(f"name {ESCAPE}", texted().bytes())
    return names


def said(*arguments: str) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output), contextlib.suppress(SlipstreamError):
        program.run(list(arguments))
    return output.getvalue()


def check_harmless(words: str) -> None:
    assert not set(words) & set("\x1b\x07\x9b\r\u202e")
    assert not [line for line in words.splitlines() if line.startswith("fits: everything")]


def test_the_list_is_harmless_and_whole(hostile):
    words = said("list")
    check_harmless(words)
    facts = json.loads(said("list", "--json"))
    listed = [*facts["models"], *facts["drafters"], *facts["broken"]]
    assert len(listed) >= len(hostile) - 1  # a second part belongs to its first


def test_each_can_be_asked_for_and_judged(hostile):
    for name in hostile:
        check_harmless(said("pair", name))
        check_harmless(said("pair", "starter", name))
    check_harmless(said("pair", "starter"))
    json.loads(said("pair", "starter", "--json"))
