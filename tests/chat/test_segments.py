import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.segments import Segment, SegmentStream, split_segments

LINES = st.sampled_from(
    ["text", "", "  ", "```", "```python", "````", "~~~", "~~~ js", "- item", "1. one", "   ```", "    ```sh",
     "    code",
     "1. ```c", "> quote", "| a | b |", "`inline` x", "``` not `a` fence", "# heading", "  two", "\t", "12", "---",
     "é 中文 🙂"]
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=30).map("\n".join) | st.text(alphabet="`~ \n-1.a#>\r", max_size=60)


def code(text, language=""):
    return Segment("code", text, language)


def prose(text):
    return Segment("prose", text)


@given(TEXTS, st.lists(st.integers(1, 9), max_size=80))
def test_any_chunking_gives_the_same_segments(text, sizes):
    stream, seen, at = SegmentStream(), (), 0
    for size in [*sizes, len(text)]:
        stream.feed(text[at : at + size])
        at += size
        finished = stream.finished_from(0)
        assert finished[: len(seen)] == seen, "a finished segment changed"
        seen = finished
    assert stream.close() == split_segments(text)


@given(TEXTS)
def test_no_word_is_lost_outside_fences(text):
    kept = "".join(segment.text for segment in split_segments(text))
    for word in ("text", "item", "quote", "heading", "中文"):
        assert kept.count(word) == text.count(word)


def test_fence_splits_prose_and_code():
    text = "Look:\n\n```python\nprint(1)\n```\nDone."
    assert split_segments(text) == (prose("Look:\n\n"), code("print(1)\n", "python"), prose("Done."))


def test_unclosed_fence_is_code_up_to_the_end():
    assert split_segments("```\na\nb") == (code("a\nb"),)


def test_longer_fence_holds_a_shorter_one():
    assert split_segments("````md\n```\nx\n```\n````") == (code("```\nx\n```\n", "md"),)


def test_tildes_do_not_close_backticks():
    assert split_segments("```\n~~~\n```") == (code("~~~\n"),)


def test_fence_under_a_list_item_is_found_and_dedented():
    text = "1. Run:\n\n    ```bash\n    ls\n      -l\n    ```\n\n    Then look.\n2. Stop."
    assert split_segments(text) == (
        prose("1. Run:\n\n"),
        code("ls\n  -l\n", "bash"),
        prose("\nThen look.\n2. Stop."),
    )


def test_fence_behind_a_list_marker():
    assert split_segments("- ```c\n  int x;\n  ```\n- b") == (prose("-\n"), code("int x;\n", "c"), prose("- b"))


def test_indented_block_outside_a_list_is_not_a_fence():
    text = "para\n\n    ```\n    x\n"
    assert split_segments(text) == (prose(text),)


def test_backticks_in_a_line_are_prose():
    assert split_segments("``` is `three` ticks") == (prose("``` is `three` ticks"),)


def test_prose_is_cut_at_paragraphs_but_not_inside_a_list():
    text = "One.\n\nTwo.\n\n- a\n\n- b\n\n  more\n\nThree."
    assert split_segments(text) == (
        prose("One.\n\n"),
        prose("Two.\n\n"),
        prose("- a\n\n- b\n\n  more\n\n"),
        prose("Three."),
    )


@pytest.mark.parametrize(
    ("fed", "shown"),
    [
        ("Hello", "Hello"),
        ("Hello\n``", "Hello\n"),
        ("Hello\n```py", "Hello\n"),
        ("``x", "``x"),
        ("1. `", "1. "),
        ("42", "42"),
        ("a\n~", "a\n"),
    ],
)
def test_a_line_that_may_be_a_fence_is_held_back(fed, shown):
    stream = SegmentStream()
    stream.feed(fed)
    assert stream.tail == prose(shown)


def test_closing_fence_never_shows_in_the_code():
    stream = SegmentStream()
    stream.feed("```py\nx = 1\n``")
    assert stream.tail == code("x = 1\n", "py")
    stream.feed("`\nafter")
    assert (stream.finished_from(0), stream.tail) == ((code("x = 1\n", "py"),), prose("after"))


def test_windows_line_ends_close_a_fence():
    assert [s.kind for s in split_segments("```js\r\nx\r\n```\r\ny")] == ["code", "prose"]


def test_feeding_a_closed_stream_is_refused():
    stream = SegmentStream()
    stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.feed("x")


def test_language_is_the_first_word_of_the_info_string():
    assert split_segments("```{.python} title=x\n```")[0].language == "python"


@pytest.mark.parametrize(("begun", "n_finished"), [("T", 1), ("``", 0), ("1", 0), ("1. a", 1), ("  in", 0), ("-", 0)])
def test_a_paragraph_is_finished_as_soon_as_another_begins(begun, n_finished):
    stream = SegmentStream()
    stream.feed(f"One.\n\n{begun}")
    assert stream.n_finished == n_finished
    assert [segment.text for segment in stream.close()] == (
        ["One.\n\n", begun] if not begun.startswith(" ") else [f"One.\n\n{begun}"]
    )
