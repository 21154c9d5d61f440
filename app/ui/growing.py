"""An answer on its way, whether or not its conversation is the one on the screen."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from app.chat.reasoning import Reasoning
from app.metrics.token_trace import Token, TokenTrace

if TYPE_CHECKING:
    from app.chat.conversation import Message
    from app.metrics.values import Run
    from app.protocol import Chunk
    from app.ui.message import AnswerView


class GrowingAnswer:
    """Text so far, the words around it, its row in the database and, while it is on the screen, its view.

    Attributes:
        trace: its tokens, if they are to be looked at.
        conversation_id: where it belongs; ``None`` when the database refused even the conversation.
        beside_id: the message that it is an alternative to, if any.
        message: its row; ``None`` when that could not be written (yet).
        run: the figures of it, once it has ended.
        model: the name of the model that gives it.
        thought_s: how long it thought, whether or not anybody looked.
        is_lossy: whether acceptance is lenient.
        before: the answer as it was before it went on, if it does; ``tokens_before`` are its tokens, if known.
    """

    def __init__(self, conversation_id: int | None) -> None:
        self.conversation_id = conversation_id
        self._first_s = 0.0
        self.message: Message | None = None
        self.is_saved = True
        self._parts: list[str] = []
        self._status = ""
        self._view: AnswerView | None = None
        self.trace: TokenTrace | None = None
        self.beside_id: int | None = None
        self.run: Run | None = None
        self.before: Message | None = None
        self.tokens_before: list[Token] = []
        self.model = ""
        self.thought_s: float | None = None
        self._reasoning = Reasoning()
        self._thinking_since_s: float | None = None
        self.is_lossy = False

    @property
    def text(self) -> str:
        """What it has said so far."""
        return "".join(self._parts)

    @property
    def view(self) -> AnswerView | None:
        """Its view, if its conversation is on the screen."""
        return self._view

    def begin_with(self, text: str) -> None:
        """Go on from a text that is written already."""
        self._parts = [text]
        self._reasoning.feed(text)  # it may stand in the middle of a thought

    def attach(self, view: AnswerView) -> None:
        """Show it in this view from now on, beginning with what is there."""
        self._view = view
        view.add_text(self.text)
        if self.trace is not None:
            view.trace_tokens(self.trace)
        view.show_status(self._status)

    def detach(self) -> None:
        """Grow on without a view."""
        self._view = None

    def add_text(self, text: str) -> None:
        """Take the next piece."""
        if text:
            self._parts.append(text)
            self.is_saved = False
            self._time_thoughts(text)
            if self._view is not None:
                self._view.add_text(text)

    def _time_thoughts(self, text: str) -> None:
        self._first_s = self._first_s or monotonic()
        for run in self._reasoning.feed(text):
            if run.is_thought and self._thinking_since_s is None:
                self._thinking_since_s = monotonic() if not run.is_reset else self._first_s
            if self._thinking_since_s is not None and (run.is_reset or not run.is_thought):
                self.thought_s = (self.thought_s or 0.0) + monotonic() - self._thinking_since_s
                self._thinking_since_s = None

    def end(self) -> None:
        """Note that nothing comes any more: what it still thought has taken until now."""
        if self._thinking_since_s is not None:
            self.thought_s = (self.thought_s or 0.0) + monotonic() - self._thinking_since_s
            self._thinking_since_s = None

    def note_tokens(self, chunk: Chunk) -> None:
        """Take what is told of the tokens of a chunk, and show it from the first on."""
        if self.trace is None:
            self.trace = TokenTrace(self.tokens_before, n_chars=len(self.text), is_lossy=self.is_lossy)
            if self._view is not None:
                self._view.trace_tokens(self.trace)
        self.trace.add(chunk)

    def note_run(self, run: Run) -> None:
        """Take its figures."""
        self.run = run

    def show_status(self, words: str) -> None:
        """Say what is going on, below the text."""
        self._status = words
        if self._view is not None:
            self._view.show_status(words)
