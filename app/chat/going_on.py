"""What a stopped answer needs to go on: its text as the model wrote it, marks of thoughts included, and its figures."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import structs

from app.chat.conversation import AnswerStats, Message
from app.chat.reasoning import split_reasoning

USUAL_OPENING, USUAL_CLOSING = "<think>", "</think>\n\n"


class Parts(NamedTuple):
    """An answer taken apart; put together in this order it is the answer again, unless its thoughts are several."""

    opening: str
    thought: str
    closing: str
    said: str

    @property
    def is_unusual(self) -> bool:
        """Whether the marks have to be kept for the answer to be the same again."""
        usual = (USUAL_OPENING, USUAL_CLOSING) if self.thought else ("", "")
        return (self.opening, self.closing) != usual


def parts_of(text: str) -> Parts:
    """Take an answer apart."""
    thought, said = split_reasoning(text)
    end = len(text) - len(said)
    if not thought:
        return Parts(text[:end] if text.endswith(said) else "", "", "", said)
    at = text.find(thought)
    if at < 0 or at + len(thought) > end or not text.endswith(said):  # several of them, which are shown as one
        return Parts(USUAL_OPENING, thought, USUAL_CLOSING, said)
    return Parts(text[:at], thought, text[at + len(thought) : end], said)


def with_marks(message: Message) -> str:
    """Return an answer as the model wrote it."""
    marks = message.stats.thought_marks if message.stats is not None else None
    if not message.reasoning:
        return f"{marks[0]}{message.text}" if marks else message.text
    opening, closing = marks or (USUAL_OPENING, USUAL_CLOSING if message.text else "")
    return f"{opening}{message.reasoning}{closing}{message.text}"


def joined(before: AnswerStats | None, after: AnswerStats | None) -> AnswerStats | None:
    """Add up the figures of an answer that went on: counts and times of both pieces, the rest of the later one."""
    if before is None or after is None:
        return after or before
    if before.server:  # nothing of that piece was measured: it keeps its own figures, and adds to none
        return structs.replace(
            after, server=before.server, reported=before.reported, lossy_before=before.is_lossy or after.lossy_before
        )
    n_tokens = before.n_tokens + after.n_tokens
    return structs.replace(
        after,
        n_tokens=n_tokens,
        n_prompt_tokens=before.n_prompt_tokens,
        n_cached_tokens=before.n_cached_tokens,
        decode_tps=_both_tps(before, after),
        ttft_s=before.ttft_s,
        answer_s=None if before.answer_s is None or after.answer_s is None else before.answer_s + after.answer_s,
        n_proposed=before.n_proposed + after.n_proposed,
        n_accepted=before.n_accepted + after.n_accepted,
        lossy_before=before.is_lossy or after.lossy_before,
    )


def _both_tps(before: AnswerStats, after: AnswerStats) -> float | None:
    """Return the decode speed over both pieces: tokens by the time that they took, each piece's first left out."""
    pieces = [(s.n_tokens - 1, s.decode_tps) for s in (before, after) if s.decode_tps and s.n_tokens > 1]
    seconds = sum(n / tps for n, tps in pieces if tps)
    return sum(n for n, _ in pieces) / seconds if seconds else None
