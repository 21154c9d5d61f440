"""Tokens marked in a real window, on answers of a scripted engine that tells of them."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor

from app.metrics.token_trace import TokenTrace
from app.protocol import Chunk, Generate, Step
from app.token_details import TokenDetail
from app.ui.message import AnswerView
from app.ui.theme import DARK, LIGHT
from app.ui.token_colours import MARKS, token_words
from tests.doubles import Answer, tokens_of

MARKDOWN = (
    "# A title\n\nSome **bold words** and [a link](https://example.org/and/more) 😀 here.\n\n"
    "- one\n- two\n\n```python\ndef f(x):\n    return x  # 😀 done\n```\n\nThe end of it."
)


def chunks_of(text, kept=(2, 0, 1)):
    """Steps of a draft of two: that many kept, then the target's own."""
    pieces, n_kept, found = tokens_of(text), itertools.cycle(kept), []
    while pieces:
        n = min(next(n_kept), len(pieces) - 1)
        said, pieces = pieces[: n + 1], pieces[n + 1 :]
        step = Step(0.1, n + 1, 2, 2, min(2, n + 1), n, 0.0, 0.1, 9, "ngram")
        details = tuple(TokenDetail(len(piece), 0.25) for piece in said)
        drafted = tuple(i < n for i in range(n + 1))
        found.append(Chunk(1, "".join(said), tuple(range(n + 1)), drafted, step, None, details))
    return found


def coloured(put, text=MARKDOWN, *, piecewise=False):
    view = put(AnswerView(), 600, 600)
    trace = TokenTrace()
    view.trace_tokens(trace)
    for chunk in chunks_of(text):
        trace.add(chunk)
        view.add_text(chunk.text)
        if piecewise:
            view.flush()
    view.close_text()
    return view, trace


def marked(view):
    """Return the shown text of every mark, by the style of its underline."""
    found = {}
    for part in view._parts:
        for selection in part.edit.extraSelections():
            found.setdefault(selection.format.underlineStyle(), []).append(selection.cursor.selectedText())
    return found


WAVE, LINE = QTextCharFormat.UnderlineStyle.WaveUnderline, QTextCharFormat.UnderlineStyle.SingleUnderline


@pytest.mark.parametrize("piecewise", [False, True])
def test_kept_and_corrected_tokens_are_marked_in_prose_and_in_code(put, piecewise):
    view, trace = coloured(put, piecewise=piecewise)
    found = marked(view)
    kept = "".join("".join(found[LINE]).split())
    corrected = "".join("".join(found[WAVE]).split())
    # THEN what is marked is what the tokens say, but for the marks of Markdown
    ends = [token.start for token in trace.tokens[1:]] + [len(MARKDOWN)]
    said = dict.fromkeys(("accepted", "corrected", "plain"), "")
    for token, end in zip(trace.tokens, ends, strict=True):
        said[token.kind] += MARKDOWN[token.start : end]
    for shown, kind in ((kept, "accepted"), (corrected, "corrected")):
        bare = said[kind]
        for mark in ("](https://example.org/and/more)", "```python", "```", "**", "[", "\n-"):
            bare = bare.replace(mark, " ")
        assert shown == "".join(bare.replace("# A", "A").split())
    assert "return" in kept + corrected + said["plain"]
    assert any("😀" in text for text in [kept, corrected, said["plain"]])


def test_the_document_itself_is_untouched(put):
    view, _ = coloured(put)
    plain = put(AnswerView(), 600, 600)
    plain.add_text(MARKDOWN)
    plain.close_text()
    assert [p.edit.document().toHtml() for p in view._parts] == [p.edit.document().toHtml() for p in plain._parts]
    assert view.text == MARKDOWN


def test_hiding_takes_every_mark_away_and_showing_brings_the_same_back(put):
    view, _ = coloured(put)
    before = marked(view)
    view.token_colours.show(is_on=False)
    assert marked(view) == {}
    assert view.token_colours.legend.isHidden()
    view.token_colours.show(is_on=True)
    assert marked(view) == before


def test_the_marks_follow_the_theme(put, theme, qtbot):
    view, _ = coloured(put)
    grounds = set()
    before = marked(view)
    for name in ("dark", "light"):
        theme.choose(name)
        qtbot.waitUntil(lambda: marked(view) == before)
        for part in view._parts:
            grounds |= {s.format.background().color().name() for s in part.edit.extraSelections()}
    assert grounds == {mark.ground for marks in MARKS.values() for mark in marks.values()}


def test_the_legend_counts_what_is_there(put):
    view, trace = coloured(put)
    counts = trace.counts()
    words = view.token_colours.legend.accessibleName()
    assert f"drafted and kept {counts['accepted']}" in words
    assert f"corrected {counts['corrected']}" in words


def test_the_token_under_the_pointer_is_told(put):
    view, _ = coloured(put)
    code = view._parts[1].edit
    cursor = QTextCursor(code.document().find("done"))
    cursor.setPosition(cursor.selectionStart() + 1)
    spot = code.cursorRect(cursor).center() + QPoint(1, 0)
    token = view.token_colours.token_at(code, spot)
    assert MARKDOWN[token.start :].lstrip().startswith("done")
    words = token_words(token)
    assert "probability 0.25" in words
    assert f"step {token.step}" in words


@pytest.mark.parametrize(("scheme", "is_dark"), [(LIGHT, False), (DARK, True)])
def test_text_and_code_stay_readable_on_the_grounds(scheme, is_dark):
    texts = [scheme.text, scheme.code_keyword, scheme.code_string, scheme.code_comment, scheme.code_number]
    for mark in MARKS[is_dark].values():
        for text in (*texts, scheme.code_name):
            assert contrast(text, mark.ground) >= 4.5, (text, mark)
        assert contrast(mark.line, scheme.base) >= 3


def contrast(one, other):
    def light(name):
        parts = (QColor(name).redF(), QColor(name).greenF(), QColor(name).blueF())
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_nothing_is_asked_kept_or_made_while_it_is_off(program):
    async def story():
        await program.ask("Tell me")
        (command,) = [c for c in program.engines[0].commands if isinstance(c, Generate)]
        assert not command.token_details
        assert program.last_answer.token_colours is None
        assert program.window.transcript._traces == {}
        # AND from the next answer after the switch on it is asked
        program.controller.actions.toggle_tokens()
        await program.ask("And now")
        assert [c for c in program.engines[0].commands if isinstance(c, Generate)][-1].token_details

    program.run(story)


def test_marks_come_while_the_answer_grows_and_are_there_when_it_is_opened_again(program):
    program.answers = (Answer(MARKDOWN, pace_s=0.15),)

    async def story():
        program.controller.actions.toggle_tokens()
        program.send("Tell me")
        await program.until(lambda: program.said and marked(program.last_answer))
        assert program.controller.answering.is_busy
        await program.until(lambda: not program.controller.answering.is_busy)
        before = marked(program.last_answer)
        assert set(before) == {LINE, WAVE}
        # WHEN another conversation is opened, and this one again
        number = program.controller.chats.current.id
        program.controller.chats.new()
        program.controller.chats.open(number)
        assert marked(program.last_answer) == before
        program.controller.actions.toggle_tokens()
        assert marked(program.last_answer) == {}

    program.run(story)


def test_an_answer_read_on_from_elsewhere_keeps_its_marks(program):
    program.answers = (Answer(MARKDOWN, pace_s=0.02),)

    async def story():
        program.controller.actions.toggle_tokens()
        program.send("Tell me")
        await program.until(lambda: len(program.said) > 20)
        number = program.controller.chats.current.id
        program.controller.chats.new()
        program.controller.chats.open(number)  # while it grows
        await program.until(lambda: not program.controller.answering.is_busy)
        assert program.said == MARKDOWN
        assert set(marked(program.last_answer)) == {LINE, WAVE}

    program.run(story)
