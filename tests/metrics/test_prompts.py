from __future__ import annotations

import pytest

from app.errors import UsageError
from app.metrics.prompts import MIXED, SETS, load_prompts
from app.protocol import ChatMessage


@pytest.mark.parametrize("name", [*SETS, MIXED])
def test_built_in_sets(name):
    prompts = load_prompts(name)

    assert len(prompts) >= 3
    assert len({prompt.name for prompt in prompts}) == len(prompts)


def test_names_are_unique_over_all_sets():
    names = [prompt.name for name in SETS for prompt in load_prompts(name)]
    assert len(set(names)) == len(names)


def test_file_of_prompts_and_messages(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(
        '\ufeff{"name": "a", "prompt": "Hello"}\n\n'
        '{"name": "b", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]}\n',
        encoding="utf-8",
    )
    first, second = load_prompts(str(path))

    assert (first.name, first.messages) == ("a", (ChatMessage("user", "Hello"),))
    assert second.messages == (ChatMessage("system", "Be brief."), ChatMessage("user", "Hi"))


def test_only_the_end_of_a_line_ends_it(tmp_path):
    # JSON may hold these as they are; str.splitlines breaks at them
    path = tmp_path / "mine.jsonl"
    odd = "a\u2028b\u2029c\u0085d"
    path.write_bytes(f'{{"name": "a", "prompt": "{odd}"}}\r\n{{"name": "b", "prompt": "x"}}\r\n'.encode())
    first, second = load_prompts(str(path))

    assert first.messages[-1].content == odd
    assert second.name == "b"


GOOD = '{"name": "a", "prompt": "Hello"}\n'


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 2"),
        ("[1]", "line 2"),
        ('{"prompt": "Hello"}', "line 2.*name"),
        ('{"name": "b"}', "line 2.*exactly one"),
        ('{"name": "b", "prompt": "x", "messages": []}', "line 2.*exactly one"),
        ('{"name": " ", "prompt": "x"}', "line 2: the name is empty"),
        ('{"name": "b", "prompt": "  "}', "line 2.*user says"),
        ('{"name": "b", "messages": []}', "line 2.*user says"),
        ('{"name": "b", "messages": [{"role": "assistant", "content": "x"}]}', "line 2.*user says"),
        ('{"name": "b", "messages": [{"role": "pirate", "content": "x"}]}', "line 2.*pirate"),
        ('{"name": "a", "prompt": "x"}', "line 2.*'a' is taken"),
        ('{"name": "b", "prompt": "\\ud800"}', "line 2"),
    ],
)
def test_faulty_line_is_named(tmp_path, line, words):
    path = tmp_path / "mine.jsonl"
    path.write_text(GOOD + line + "\n", encoding="utf-8")

    with pytest.raises(UsageError, match=words):
        load_prompts(str(path))


def test_no_such_file_names_the_sets(tmp_path):
    with pytest.raises(UsageError, match="No such file") as caught:
        load_prompts(str(tmp_path / "gone.jsonl"))
    assert "mixed, code" in caught.value.hint


def test_file_of_nothing_and_of_other_bytes(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_bytes(b"\n\n")
    with pytest.raises(UsageError, match="holds no prompt"):
        load_prompts(str(path))
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not UTF-8"):
        load_prompts(str(path))
