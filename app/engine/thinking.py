"""The marks between which models think, as chat templates have them: the one place that knows them.

Some vocabularies hold such marks, or parts of them, as control tokens, which are not shown. The engine shows those of
the marks that the template uses (:func:`shown_tokens`), so that whoever reads the answer can tell its thoughts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

Marks = tuple[str, str]
"""What opens a thought, and what closes it."""


def _usual() -> Iterator[Marks]:
    """Yield the forms that templates give to the usual words."""
    for word in ("think", "thinking", "thought", "reasoning"):
        yield f"<{word}>", f"</{word}>"
        yield f"[{word.upper()}]", f"[/{word.upper()}]"
        yield f"<|START_{word.upper()}|>", f"<|END_{word.upper()}|>"
        yield f"<|{word}_start|>", f"<|{word}_end|>"
        yield f"<|begin_of_{word}|>", f"<|end_of_{word}|>"


_ANALYSIS = "<|channel|>analysis<|message|>"
_SOLAR = "<|think|>"

PAIRS: tuple[Marks, ...] = (
    *_usual(),
    ("<seed:think>", "</seed:think>"),
    ("<mm:think>", "</mm:think>"),
    ("◁think▷", "◁/think▷"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|channel>thought", "<channel|>"),
    (_ANALYSIS, "<|end|>"),
    (f"<|start|>assistant{_ANALYSIS}", "<|end|>"),
    (_SOLAR, "<|end|>"),
    (f"<|begin|>assistant{_SOLAR}", "<|end|>"),
)

ANSWER_MARKS: Mapping[str, str] = {
    f"{start}<|channel|>{channel}<|message|>": "<|end|>"
    for start in ("<|start|>assistant", "")
    for channel in ("final", "commentary")
} | {"<|begin|>assistant<|content|>": "<|end|>", "<|content|>": "<|end|>", "<|START_RESPONSE|>": "<|END_RESPONSE|>"}
"""What opens an answer, or a part of it, where templates mark that, too; and what may close it."""

_CLOSINGS = dict(PAIRS)
_ALL = "\n".join((*_CLOSINGS, *_CLOSINGS.values(), *ANSWER_MARKS, *ANSWER_MARKS.values()))


def shown_tokens(template: str, control: Mapping[str, int]) -> frozenset[int]:
    """Return the control tokens that belong to marks which a template uses.

    Args:
        template: its source.
        control: all control tokens by their texts.
    """
    here = [text for text in control if len(text) > 1 and text in _ALL]
    used = [mark for marks in PAIRS if all(_is_used(mark, template, here) for mark in marks) for mark in marks]
    shown = {text for text in here if any(text in mark for mark in used)}
    # A mark of the answer that is seen in part has to be seen as a whole, or what is left of it reads like a word.
    halves = [mark for mark in ANSWER_MARKS if any(text in mark for text in shown) and _is_used(mark, template, here)]
    return frozenset(control[text] for text in here if text in shown or any(text in mark for mark in halves))


def _is_used(mark: str, template: str, control: list[str]) -> bool:
    """Whether the control tokens of a mark stand in a template, or the mark itself if it has none."""
    return all(text in template for text in [text for text in control if text in mark] or [mark])


def begun_mark(prompt_end: str) -> str:
    """Return the mark of a thought that the end of a prompt has begun for the model, "" if there is none."""
    bare = prompt_end.rstrip()
    return next((mark for mark in _CLOSINGS if bare.endswith(mark)), "")


def closing_mark(mark: str) -> str:
    """Return the mark that ends a thought which was begun with another."""
    return _CLOSINGS[mark]
