import pytest

from app.chat.conversation import UNTITLED, title_from


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
