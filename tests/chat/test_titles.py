import pytest

from app.chat.conversation import UNTITLED, Attachment, Message, now
from app.chat.titles import cut_at_words, title_of, title_of_text


def exchange(question, answer="", **facts):
    at = now()
    return (
        Message(role="system", text="You are a pirate.", created_at=at),
        Message(role="user", text=question, created_at=at, **facts),
        Message(role="assistant", text=answer, created_at=at),
    )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("What is a slipstream? I read about it.", "What is a slipstream?"),
        ("Hi, can you please explain draft models?", "Explain draft models?"),
        ("Hello there! Good morning. Could you help me to fix my **roof**?", "Fix my roof?"),
        ("# A heading\n\nand text", "A heading"),
        ("1. first thing\n2. second", "First thing"),
        ("```python\nprint(1)\n```\nWhy does this print 1?", "Why does this print 1?"),
        ("```\nonly code, never closed", ""),
        ("See [the manual](http://a.b/c?d=e) for more", "See the manual for more"),
        ("快速排序怎么写。谢谢", "快速排序怎么写"),
        ("hi", ""),
        ("??? !!!", ""),
        ("", ""),
        ("I'd like you to write a poem", "Write a poem"),
        ("Version 3.11 is out", "Version 3.11 is out"),
        ("snake_case and 2*3*4", "Snake_case and 2*3*4"),
    ],
)
def test_a_title_is_the_first_sentence_that_says_something(text, title):
    assert title_of_text(text) == title


def test_a_greeting_is_titled_by_its_answer_and_a_file_by_its_name():
    assert title_of(exchange("hi", "# Greetings from the sea\n\nArr.")) == "Greetings from the sea"
    assert title_of(exchange("", attachments=(Attachment(name="report.csv", text="1"),))) == "report.csv"
    assert title_of(exchange("", "")) == title_of(()) == UNTITLED


def test_a_title_is_cut_at_a_word():
    assert cut_at_words("word " * 30) == "word word word word word word word word word word word word…"
    assert cut_at_words("x" * 100) == "x" * 60 + "…"
    assert len(title_of_text("a" * 50 + " " + "b" * 50)) <= 61


def test_a_megabyte_of_marks_costs_no_time():
    for text in ("[" * 1_000_000, "> " * 500_000, "```" * 300_000, "*" * 1_000_000, "hi " * 300_000, "a. " * 300_000):
        title_of_text(text)
