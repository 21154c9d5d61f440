import json

import pytest

from app.chat.conversation import UNTITLED, AnswerStats, Conversation, Message, now, title_from, to_json, to_markdown


def conversation():
    at = now()
    question = Message(id=1, role="user", text="Hi", created_at=at)
    answer = Message(
        id=2,
        parent_id=1,
        role="assistant",
        text="Hel",
        state="interrupted",
        created_at=at,
        stats=AnswerStats(n_tokens=2),
    )
    return Conversation(id=7, title="Greetings", created_at=at, updated_at=at, messages=(question, answer))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Explain draft models", "Explain draft models"),
        ("\n\n  # Heading  \nrest", "Heading"),
        ("", UNTITLED),
        ("``` \n x", "x"),
        ("word " * 30, "word word word word word word word word word word word word…"),
        ("x" * 100, "x" * 60 + "…"),
    ],
)
def test_title(text, title):
    assert title_from(text) == title


def test_markdown_names_the_speakers_and_marks_what_is_interrupted():
    text = to_markdown(conversation())
    assert text.startswith("# Greetings\n")
    assert "## You\n\nHi\n" in text
    assert text.endswith("Hel\n\n*(interrupted)*\n")


def test_json_holds_everything():
    read = json.loads(to_json(conversation()))
    assert read["schema"] == "slipstream.conversation/1"
    assert [m["text"] for m in read["conversation"]["messages"]] == ["Hi", "Hel"]
    assert read["conversation"]["messages"][1]["stats"]["n_tokens"] == 2
