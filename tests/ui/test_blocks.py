"""Cutting answers into blocks: what joins, what is cut, what is a thought, what is shown of what cannot be seen."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.reasoning import split_reasoning
from app.chat.visible import visible, visible_markdown
from app.ui.blocks import MOST_CHARS, MOST_LINES, BlockStream, blocks_of, is_tame, plain_blocks
from app.ui.formulas import protect_formulas
from tests.benchmarks.hostile import HOSTILE

ANSWER = "# A\n\nText.\n\n- a\n- b\n\n```python\nx = 1\n```\n\nEnd.\n"


def shape(blocks):
    return [(b.kind, b.text, b.code.language if b.code else "", b.line, b.in_thought) for b in blocks]


def streamed(text, seed=1, longest=9):
    chance, stream, at = random.Random(seed), BlockStream(), 0
    while at < len(text):
        size = chance.randint(1, longest)
        stream.feed(text[at : at + size])
        at += size
    stream.close()
    return stream


@pytest.mark.parametrize(
    "text", [ANSWER, ANSWER * 300, "<think>why\n\nso</think>\n" + ANSWER, "x" * 20_000, "```\n" + "y\n" * 900]
)
def test_how_an_answer_was_chunked_does_not_show(text):
    whole = blocks_of(text)
    for seed, longest in ((1, 9), (2, 4000)):
        parts = streamed(text, seed, longest).blocks
        assert "".join(b.text for b in parts if b.kind == "code") == "".join(b.text for b in whole if b.kind == "code")
        assert "".join(b.text for b in parts if b.kind != "code") == "".join(b.text for b in whole if b.kind != "code")


@given(st.text(alphabet="ab \n`-<>/think", max_size=300))
def test_nothing_is_lost_of_any_text(text):
    thought, said = split_reasoning(text)
    assert said.split() == text.split() or thought
    blocks = "".join(block.text for block in streamed(said).blocks)
    kept = [c for c in blocks if not c.isspace()]
    wanted = [c for c in said if not c.isspace()]
    assert len(kept) <= len(wanted)
    if "```" not in said and "<" not in said:
        assert kept == wanted


def test_blocks_are_small_whatever_the_answer():
    for name, text in HOSTILE.items():
        for block in blocks_of(text()[:400_000]):
            assert len(block.text) <= 2 * MOST_CHARS + 200, name
            assert block.kind != "code" or block.text.count("\n") <= MOST_LINES + 1, name


def test_only_the_end_changes_while_an_answer_grows():
    stream, seen = BlockStream(), []
    for n in range(400):
        stream.feed(f"Paragraph {n} of some words.\n\n" if n % 50 else "```\n" + "code\n" * 400 + "```\n")
        first = stream.take_changes()
        assert first >= len(seen) - 1
        assert shape(stream.blocks[: max(0, first - 1)]) == seen[: max(0, first - 1)]
        seen = shape(stream.blocks)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("<think>", "</think>"),
        ("<think>\n", "\n</think>\n\n"),
        ("[THINK]", "[/THINK]"),
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
        ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        ("<|channel>thought\n", "<channel|>"),
        ("<|inner_prefix|>", "<|inner_suffix|>"),
        ("<|begin|>assistant<|think|>", "<|end|><|begin|>assistant<|content|>"),
    ],
)
def test_thoughts_are_told_from_the_answer(opening, closing):
    text = f"{opening}Let me see.\n\n```\ncode\n```{closing}The answer."
    for blocks in (blocks_of(text), streamed(text).blocks):
        assert blocks[0].kind == "thought"
        assert [b.in_thought for b in blocks] == [False, True, True, False]
        assert blocks[-1].text.strip() == "The answer."
    thought, said = split_reasoning(text)
    assert thought.strip().startswith("Let me see.")
    assert said == "The answer."
    assert split_reasoning(f"<think>{thought}</think>\n\n{said}") == (thought, said)


def test_a_closing_mark_alone_makes_a_thought_of_what_came_before():
    stream = streamed("I wonder.\n</think>\n\nSo it is.")
    assert [(b.kind, b.in_thought) for b in stream.blocks] == [("thought", False), ("prose", True), ("prose", False)]
    assert stream.n_resets == 1


def test_an_answer_of_several_parts_is_shown_without_their_marks():
    text = (
        "<|channel|>analysis<|message|>Which?<|end|><|start|>assistant<|channel|>commentary<|message|>I will look."
        "<|end|><|start|>assistant<|channel|>analysis<|message|>This.<|end|><|start|>assistant<|channel|>final<|message|>Here."
    )
    shown = [(block.text, block.in_thought) for block in streamed(text).blocks if block.kind != "thought"]
    assert shown == [("Which?", True), ("I will look.", False), ("This.", True), ("Here.", False)]
    assert split_reasoning(text) == ("Which?This.", "I will look.Here.")


@pytest.mark.parametrize(
    "marks", ["<think>\n\n</think>\n\n", "<|channel|>final<|message|>", "<|channel>thought\n<channel|>"]
)
def test_marks_without_a_thought_are_none_of_the_answer(marks):
    assert split_reasoning(f"{marks}Yes.") == ("", "Yes.")
    assert split_reasoning(marks) == ("", marks)  # nothing was said: then there is that at least


@pytest.mark.parametrize(
    "text", ["Write `<think>` first.", "```\n</think>\n```\n", "a < b\n<b>x</b>", "Is 1 <think> a tag?"]
)
def test_talk_about_marks_is_no_thought(text):
    assert all(block.kind != "thought" for block in streamed(text).blocks)
    assert split_reasoning(text) == ("", text)


def test_the_head_of_a_long_table_is_repeated():
    table = "| name | n |\n|---|---|\n" + "".join(f"| row {n} | {n} |\n" for n in range(300))
    blocks = blocks_of(table)
    assert len(blocks) > 2
    assert all(block.text.startswith("| name | n |\n|---|---|\n") for block in blocks)


@pytest.mark.parametrize(
    "name", ["100,000 nested quotes", "100,000 nested quotes, spaced", "nested lists", "open brackets", "a wide table"]
)
def test_what_markdown_would_choke_on_is_not_rendered(name):
    assert not is_tame(HOSTILE[name]()[:MOST_CHARS])


def test_ordinary_answers_are_rendered():
    assert is_tame(ANSWER * 10)
    assert is_tame("> > > quoted\n\n" + "- a\n    - b\n        - c\n")


def test_what_acts_unseen_becomes_signs():
    assert visible("a\x1b[31m\u202eb\u2066\x00\x07") == "a⟨ESC⟩[31m⟨U+202E⟩b⟨U+2066⟩⟨NUL⟩⟨BEL⟩"
    assert visible("tab\tline\r\nänd 😀 שלום") == "tab\tline\nänd 😀 שלום"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("&#x2061;Pay&#8290;", "⟨U+2061⟩Pay⟨U+2062⟩"),
        ("&#X202E;a&#27;[31m&#0;", "⟨U+202E⟩a⟨ESC⟩[31m⟨NUL⟩"),
        ("&ApplyFunction;a&it; &NoBreak;", "⟨U+2061⟩a⟨U+2062⟩ ⟨U+2060⟩"),
        ("&#0000000000000008294;&#xD800;&#x110000;&#99999999999;", "⟨U+2066⟩⟨#xD800⟩⟨#x110000⟩⟨#99999999999⟩"),
        ("&amp;&lt;&nbsp;&#228;&eacute;&no;&#;&#x1F600;&AT&T;", "&amp;&lt;&nbsp;&#228;&eacute;&no;&#;&#x1F600;&AT&T;"),
    ],
)
def test_entities_of_what_acts_unseen_become_signs(written, shown):
    assert visible_markdown(written) == shown


@pytest.mark.parametrize(
    "formula", ["$E = mc^2$", "$a_1 * b_2 * c$", "$$\\int_0^1 x\\,dx$$", "\\(x_1\\)", "\\[\\frac{1}{2}\\]"]
)
def test_formulas_read_as_they_were_written(qapp, formula):
    from app.ui.prose import ProseView

    view = ProseView()
    view.append(f"Then {formula} holds, for *all* of them.\n")
    assert view.toPlainText() == f"Then {formula} holds, for all of them."
    view.deleteLater()


@pytest.mark.parametrize("text", ["it costs $5 or $6", "`$a_b$` stays", "echo $HOME and $PATH *x*"])
def test_money_and_code_are_no_formulas(text):
    assert protect_formulas(text) == text


def test_a_question_of_any_length_is_cut_and_whole():
    text = "word " * 100_000
    blocks = plain_blocks(text)
    assert "".join(block.text for block in blocks) == text
    assert max(len(block.text) for block in blocks) <= MOST_CHARS
