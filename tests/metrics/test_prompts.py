from __future__ import annotations

import os
import threading

import pytest

from app.errors import UsageError
from app.metrics.prompts import MIXED, MOST_BYTES, SETS, load_prompts
from app.named_files import read_or_hear
from app.protocol import ChatMessage


@pytest.mark.parametrize("name", [*SETS, MIXED])
def test_built_in_sets(name):
    prompts = load_prompts(name)

    assert len(prompts) >= 3
    assert len({prompt.name for prompt in prompts}) == len(prompts)


def test_names_are_unique_over_all_sets():
    names = [prompt.name for name in SETS for prompt in load_prompts(name)]
    assert len(set(names)) == len(names)


def test_mixed_has_no_long_context():
    assert {prompt.set_name for prompt in load_prompts(MIXED)} == set(SETS) - {"long"}


def test_long_prompts_are_long_and_the_others_are_not():
    # English has some four characters a token
    assert all(len(prompt.messages[-1].content) > 6000 for prompt in load_prompts("long"))
    short = [prompt for name in SETS if name != "long" for prompt in load_prompts(name)]
    assert all(len(prompt.messages[-1].content) < 3000 for prompt in short)


def test_languages_are_of_several_scripts():
    texts = "".join(prompt.messages[-1].content for prompt in load_prompts("languages"))
    for first, last in (("ж", "я"), ("ぁ", "ん"), ("一", "鿿"), ("à", "ü")):
        assert any(first <= character <= last for character in texts)


def test_several_sets_and_files_at_once(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(GOOD, encoding="utf-8")
    prompts = load_prompts(f"code, {path},prose,code")

    assert list(dict.fromkeys(prompt.set_name for prompt in prompts)) == ["code", "mine", "prose"]
    assert len(prompts) == len(load_prompts("code")) + 1 + len(load_prompts("prose"))
    assert load_prompts("none") == ()


def test_a_file_may_have_a_comma_in_its_name(tmp_path):
    path = tmp_path / "mine,yours.jsonl"
    path.write_text(GOOD, encoding="utf-8")
    assert [prompt.set_name for prompt in load_prompts(str(path))] == ["mine,yours"]


def test_a_name_that_two_files_use_is_refused(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text(GOOD, encoding="utf-8")
    with pytest.raises(UsageError, match="'a' is in more than one"):
        load_prompts(f"{tmp_path / 'one.jsonl'},{tmp_path / 'two.jsonl'}")


@pytest.mark.parametrize("source", ["", ",", "code,gone"])
def test_a_set_that_is_not_there_is_refused_among_others(source):
    with pytest.raises(UsageError, match="Cannot read the prompts"):
        load_prompts(source)


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


@pytest.mark.linux
def test_a_pipe_is_refused_but_by_a_terminal_which_hears_it(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(UsageError, match="it is a pipe or a device, not a file"):
        load_prompts(str(path))
    writer = threading.Thread(target=path.write_text, args=(GOOD,))
    writer.start()
    assert [prompt.name for prompt in load_prompts(str(path), read_or_hear)] == ["a"]
    writer.join()


@pytest.mark.linux
def test_what_never_ends_is_read_only_so_far():
    with pytest.raises(UsageError, match=f"more than {MOST_BYTES >> 20} MB"):
        load_prompts("/dev/zero", read_or_hear)
