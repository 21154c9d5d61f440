"""CommonMark's own examples through our segmenting, and output that means harm."""

import html
import json
import random
import time
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from app.chat.segments import SegmentStream, split_segments

EXAMPLES = json.loads((Path(__file__).parent / "commonmark" / "spec-0.31.2.json").read_text(encoding="utf-8"))
RENDERER = MarkdownIt("commonmark", {"html": False})

CODE_IN_LISTS = {263, 278, 318, 321, 324}
"""A block of code inside of a list item is a segment of its own, which stands behind the list."""


def pieces(text, draw):
    at = 0
    while at < len(text):
        size = draw.randint(1, 9)
        yield text[at : at + size]
        at += size


def rendered(segments):
    parts = []
    for segment in segments:
        if segment.kind == "prose":
            parts.append(RENDERER.render(segment.text))
        else:
            language = f' class="language-{html.escape(segment.language)}"' if segment.language else ""
            parts.append(f"<pre><code{language}>{html.escape(segment.text)}</code></pre>\n")
    return "".join(parts)


def has_references(text):
    """Whether links in it lead to addresses that stand elsewhere in it."""
    environment = {}
    RENDERER.render(text, environment)
    return bool(environment.get("references"))


def test_all_examples_are_there():
    assert [example["example"] for example in EXAMPLES] == list(range(1, 653))


@pytest.mark.parametrize("seed", range(3))
def test_streamed_in_any_pieces_an_example_gives_what_it_gives_in_one(seed):
    draw = random.Random(seed)
    for example in EXAMPLES:
        text = example["markdown"]
        stream, seen = SegmentStream(), ()
        for piece in pieces(text, draw):
            stream.feed(piece)
            finished = stream.finished_from(0)
            assert finished[: len(seen)] == seen, example["example"]
            seen = finished
            whole = stream.tail
            place = draw.randint(0, len(whole.text) + 2)
            assert stream.tail_from(place).text == whole.text[place:]
        assert stream.close() == split_segments(text), example["example"]
        assert rendered(stream.close()) == rendered(split_segments(text))


def test_all_examples_at_once_too():
    text = "\n\n".join(example["markdown"] for example in EXAMPLES)
    stream = SegmentStream()
    for piece in pieces(text, random.Random(1)):
        stream.feed(piece)
    assert stream.close() == split_segments(text)


def test_segments_rendered_by_themselves_give_what_the_whole_gives():
    """But for links to addresses that stand in another segment, and for code inside of a list item."""
    other = {
        example["example"]
        for example in EXAMPLES
        if not has_references(example["markdown"])
        and rendered(split_segments(example["markdown"])) != RENDERER.render(example["markdown"])
    }
    assert other == CODE_IN_LISTS


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "x" * n,
        lambda n: "word " * (n // 5),
        lambda n: " " * n,
        lambda n: "`" * n,
        lambda n: "~" * n,
        lambda n: "```" + "x" * n,
        lambda n: "> " * (n // 2) + "deep",
        lambda n: "- " * (n // 2),
        lambda n: "1. " * (n // 3),
        lambda n: "```\n" + "x = 1\n" * (n // 6),
        lambda n: "```\n" + "`" * n,
        lambda n: "```\n" + " " * n,
        lambda n: "[" * n,
        lambda n: "*_" * (n // 2),
        lambda n: "\n" * n,
        lambda n: "| a " * (n // 4),
        lambda n: "- a\n" * (n // 4),
        lambda n: "\x1b[31m\u202e" * (n // 6),
        lambda n: "```a\n```\n" * (n // 9),
    ],
)  # fmt: skip
def test_hostile_output_costs_time_that_grows_with_its_length(make):
    def cost_s(n):
        text = make(n)
        best = float("inf")
        for _ in range(2):
            started_s = time.process_time()
            stream = SegmentStream()
            for at in range(0, len(text), 16):
                stream.feed(text[at : at + 16])
                stream.finished_from(stream.n_finished - 1 if stream.n_finished else 0)
                stream.tail_from(max(0, at - 32))
            stream.close()
            best = min(best, time.process_time() - started_s)
        return best

    small, large = cost_s(40_000), cost_s(320_000)
    assert large < 24 * small + 0.02, (small, large)  # 8 times the text; 64 times the time if it were quadratic


@pytest.mark.full
@pytest.mark.parametrize("text", ["x" * 10_000_000, "> " * 100_000 + "\n", "```\n" + "x = 1\n" * 2_000_000])
def test_ten_megabytes_stream_through(text):
    started_s = time.process_time()
    stream = SegmentStream()
    for at in range(0, len(text), 16):
        stream.feed(text[at : at + 16])
        stream.tail_from(at)
    stream.close()
    assert (time.process_time() - started_s) / (len(text) / 16) < 50e-6
