"""What a model thinks before it answers, told from the answer by the marks that its template makes it write.

Marks count at the beginning of an answer, or right behind a thought. Some templates write the opening mark into the
prompt: then the closing one alone, on a line of its own, turns what came before it into a thought.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.engine.thinking import ANSWER_MARKS, PAIRS

_OPENINGS = (*(mark for mark, _ in PAIRS), *ANSWER_MARKS)
_LONE_CLOSE = re.compile(r"(?:^|\n)[ \t]*(</think>|\[/THINK\]|◁/think▷|</seed:think>)")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_LONGEST_LONE = 32
"""No lone closing mark, with the blanks before it that count, is longer."""


@dataclass(frozen=True, slots=True)
class Run:
    """Text of one kind; ``is_reset``: it takes the place of everything before."""

    text: str
    is_thought: bool
    is_reset: bool = False


class Reasoning:
    """Tells thoughts from answer in a growing text; how the text was chunked does not matter."""

    def __init__(self) -> None:
        self._held = ""
        self._close = ""  # mark that ends the thought we are in
        self._answer_close = ""  # mark that may end the part of the answer that we are in
        self._is_start = True
        self._answer: list[str] | None = []  # kept while a lone closing mark may still come
        self._recent = ""  # the end of it

    def feed(self, text: str) -> list[Run]:
        """Take text; return what is decided."""
        self._held += text
        runs: list[Run] = []
        while self._step(runs):
            pass
        return runs

    def close(self) -> list[Run]:
        """Return what was held back."""
        held, self._held = self._held, ""
        return [Run(held, is_thought=bool(self._close))] if held else []

    def _step(self, runs: list[Run]) -> bool:
        """Decide a little more; false when that takes more text."""
        if self._close:
            return self._think(runs)
        if self._is_start:
            return self._start()
        return self._say(runs)

    def _start(self) -> bool:
        bare = self._held.lstrip()
        for mark, close in PAIRS:
            if bare.startswith(mark):
                self._held, self._close, self._answer = bare[len(mark) :], close, None
                return True
        for mark, close in ANSWER_MARKS.items():
            if bare.startswith(mark):
                self._held, self._answer_close, self._is_start = bare[len(mark) :], close, False
                return True
        if not bare or any(mark.startswith(bare) for mark in _OPENINGS):
            return False
        self._is_start = False
        return True

    def _think(self, runs: list[Run]) -> bool:
        at = self._held.find(self._close)
        if at >= 0:
            if at:
                runs.append(Run(self._held[:at], is_thought=True))
            self._held = self._held[at + len(self._close) :].lstrip("\n")
            self._close, self._is_start = "", True
            return True
        self._pass_on(runs, _n_undecided(self._held, self._close), is_thought=True)
        return False

    def _say(self, runs: list[Run]) -> bool:
        if self._answer_close:
            return self._say_part(runs)
        if self._answer is None:
            self._pass_on(runs, 0, is_thought=False)
            return False
        before = self._recent
        lone = _LONE_CLOSE.search(before + self._held)
        if lone is not None and lone.end() > len(before):
            thought = ("".join(self._answer) + self._held[: lone.end() - len(before)])[: -len(lone[1])]
            self._answer = None
            if len(_FENCE.findall(thought)) % 2:  # it is code that shows such a mark
                return True
            self._held, self._is_start = self._held[lone.end() - len(before) :].lstrip("\n"), True
            runs.append(Run(thought, is_thought=True, is_reset=True))
            return True
        tail = self._held[self._held.rfind("\n") + 1 :]
        n_open = len(tail) if tail and len(tail) < _LONGEST_LONE and _could_close(tail) else 0
        self._pass_on(runs, n_open, is_thought=False)
        return False

    def _say_part(self, runs: list[Run]) -> bool:
        """Say what stands between two marks of the answer; another part, or a thought, may follow."""
        said, close, rest = self._held.partition(self._answer_close)
        if not close:
            self._pass_on(runs, _n_undecided(self._held, self._answer_close), is_thought=False)
            return False
        if said:
            runs.append(Run(said, is_thought=False))
        self._held, self._answer_close, self._is_start = rest, "", True
        return True

    def _pass_on(self, runs: list[Run], n_kept: int, *, is_thought: bool) -> None:
        """Let go of all but the last so many characters."""
        end = len(self._held) - n_kept
        if end:
            piece, self._held = self._held[:end], self._held[end:]
            runs.append(Run(piece, is_thought))
            if self._answer is not None:
                self._answer.append(piece)
                self._recent = (self._recent + piece[-_LONGEST_LONE:])[-_LONGEST_LONE:]


def _n_undecided(text: str, mark: str) -> int:
    """How many characters at the end of a text may become a mark."""
    return next((n for n in range(min(len(mark) - 1, len(text)), 0, -1) if text.endswith(mark[:n])), 0)


def _could_close(line: str) -> bool:
    bare = line.lstrip(" \t")
    return bool(bare) and any(mark.startswith(bare) for mark in ("</think>", "[/THINK]", "◁/think▷", "</seed:think>"))


def split_reasoning(text: str) -> tuple[str, str]:
    """Return what was thought, without its marks, and the answer."""
    reasoning = Reasoning()
    thought, said = "", ""
    for run in (*reasoning.feed(text), *reasoning.close()):
        if run.is_reset:
            thought, said = "", ""
        if run.is_thought:
            thought += run.text
        else:
            said += run.text
    if thought.strip():
        return thought, said.lstrip("\n")
    is_marked = bool(said.strip()) and len(said) < len(text)  # nothing was thought between the marks, or only answered
    return "", said.lstrip("\n") if is_marked else text


def with_reasoning(thought: str, said: str) -> str:
    """Put both together again, in the marks that are understood here."""
    return f"<think>{thought}</think>\n\n{said}"
