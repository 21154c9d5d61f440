"""What is being written: a message of before that is changed, and the messages that wait for the end of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from app.chat.conversation import Attachment
from app.ui.composer_lines import ComposerLine
from app.ui.tr import tr

_SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True)
class Editing:
    """A message of before that is being written anew.

    Attributes:
        number: its place on the screen, the first is 0.
        message_id: which it is, whatever place it has.
        was: what it says as long as it is not changed.
    """

    number: int
    message_id: int
    was: str


def joined(*parts: str) -> str:
    """Return parts of a text, as far as they say something, with a line between them."""
    return "\n\n".join(part for part in parts if part.strip())


class Waiting(NamedTuple):
    """A message in line, with the files that go with it."""

    text: str
    files: tuple[Attachment, ...]


class MessageQueue:
    """The messages in line, and the line of words that says so."""

    def __init__(self, line: ComposerLine) -> None:
        self._line = line
        self._waiting: list[Waiting] = []

    def __bool__(self) -> bool:
        """Whether any waits."""
        return bool(self._waiting)

    @property
    def texts(self) -> tuple[str, ...]:
        """What they say, the next first."""
        return tuple(one.text for one in self._waiting)

    @property
    def files(self) -> tuple[Attachment, ...]:
        """The files that go with them."""
        return tuple(file for one in self._waiting for file in one.files)

    def put(self, one: Waiting) -> None:
        """Let one more wait."""
        self._waiting.append(one)
        self._show()

    def put_back(self, one: Waiting) -> None:
        """Let one be the next again."""
        self._waiting.insert(0, one)
        self._show()

    def take(self) -> Waiting:
        """Take the next out."""
        one = self._waiting.pop(0)
        self._show()
        return one

    def clear(self) -> None:
        """Let none wait any more."""
        self._waiting = []
        self._show()

    def _show(self) -> None:
        first = " ".join(self._waiting[0].text.split())[:_SHOWN_CHARS] if self._waiting else ""
        n_more = len(self._waiting) - 1
        words = tr("Next, when this answer has ended: “{first}”")
        if n_more > 0:
            words = tr("Next, when this answer has ended: “{first}” and %n more", None, n_more)
        self._line.say(words.format(first=first) if self._waiting else "")
