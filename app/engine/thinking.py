"""The marks between which models think: the one place that knows them."""

from __future__ import annotations

PAIRS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
    ("<|start|>assistant<|channel|>analysis<|message|>", "<|end|>"),
)
"""How a thought begins and ends."""

ANSWER_MARKS = (
    "<|start|>assistant<|channel|>final<|message|>",
    "<|channel|>final<|message|>",
    "<|START_RESPONSE|>",
)
"""What some models write before what they say."""


def begun_mark(prompt_end: str) -> str:
    """Return the mark of a thought that the end of a prompt has begun for the model, "" if there is none."""
    bare = prompt_end.rstrip()
    return next((mark for mark, _ in PAIRS if bare.endswith(mark)), "")


def closing_mark(mark: str) -> str:
    """Return the mark that ends a thought which was begun with another."""
    return dict(PAIRS)[mark]
