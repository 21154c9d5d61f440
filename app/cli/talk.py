"""A conversation with a model in the terminal: what was said, and how the next answer is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from app.cli.answer_view import AnswerView
from app.cli.heard import Heard
from app.cli.infer_options import InferOptions
from app.cli.terminal import first_interrupt, note, silent_keys
from app.cli.voices import Cost, Voice
from app.errors import SlipstreamError
from app.host import ChatRequest
from app.protocol import ChatMessage, Speculation, Templating


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and what was answered; ``cost`` is ``None`` for an answer that broke off."""

    question: str
    said: str
    thought: str = ""
    thought_s: float | None = None
    cost: Cost | None = None


@dataclass(slots=True)
class Talk:
    """What was said so far, and how to go on. ``speculation`` stays what it is while it is switched off."""

    voice: Voice
    chosen: InferOptions
    make_view: Callable[[], AnswerView]
    speculation: Speculation = field(default_factory=Speculation)
    is_speculating: bool = True
    system: str = ""
    turns: list[Turn] = field(default_factory=list)

    async def ask(self, question: str) -> Turn:
        """Have a question answered, and keep what came of it, also if it breaks off.

        The first Ctrl-C stops the answer, the second leaves the program.

        Raises:
            SlipstreamError: it was not answered, or not to its end.
        """
        heard = Heard()
        try:
            with silent_keys(), first_interrupt(self.voice.stop):
                cost = await self.voice.answer(self._request(question), heard, self.make_view())
        except SlipstreamError:
            if heard.said.strip():
                self.turns.append(Turn(question, heard.said, heard.thought, heard.thought_s))
            raise
        turn = Turn(question, heard.said, heard.thought, heard.thought_s, cost)
        self.turns.append(turn)
        return turn

    def messages(self) -> tuple[ChatMessage, ...]:
        """Return what was said as the model is to see it: without its thoughts, as templates want it."""
        messages = [ChatMessage("system", self.system)] if self.system else []
        for turn in self.turns:
            messages.append(ChatMessage("user", turn.question))
            if turn.said.strip():
                messages.append(ChatMessage("assistant", turn.said))
        return tuple(messages)

    def _request(self, question: str) -> ChatRequest:
        token_ids = self.chosen.token_ids()
        return ChatRequest(
            messages=() if token_ids else (*self.messages(), ChatMessage("user", question)),
            prompt=token_ids,
            label=question,
            speculation=self.speculation if self.is_speculating else Speculation(),
            sampling=self.chosen.sampling(),
            max_tokens=self.chosen.max_tokens,
            stop=self.chosen.stop_texts(),
            slide=self.chosen.slide,
            templating=Templating(reasoning=self.chosen.think),
        )

    def markdown(self) -> str:
        """Write what was said for a reader."""
        parts = [f"**System:** {self.system}"] if self.system else []
        for turn in self.turns:
            parts += [f"**You:** {turn.question}", f"**{self.voice.name}:** {turn.said.strip()}"]
            if turn.cost is None:
                parts.append("*The answer broke off here.*")
        return "\n\n".join(parts) + "\n"

    def document(self) -> bytes:
        """Write what was said as messages, which ``chats import`` reads, too."""
        messages = [{"role": message.role, "content": message.content} for message in self.messages()]
        return msgspec.json.format(msgspec.json.encode({"messages": messages}), indent=2) + b"\n"


def say_fault(fault: SlipstreamError) -> None:
    """Say what went wrong in a conversation that goes on."""
    note(f"error: {fault.message}" + (f"\nhint: {fault.hint}" if fault.hint else ""))
