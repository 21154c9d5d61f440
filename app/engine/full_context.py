"""The end of an answer that filled the context, and what helps then: that depends on what could be left out."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from app.engine.prompt import Prompt
from app.errors import PromptTooLongError, UsageError
from app.protocol import ChatMessage, Generate, NoticeInfo

FULL = "The context is full."


def slide_failed(fault: str) -> NoticeInfo:
    """Say why an answer that could have gone on without the oldest turns ends."""
    return NoticeInfo(
        "context_full",
        f"The context is full, and what stays of the conversation could not be evaluated again: {fault}",
        "Continue the answer, or choose a longer context.",
    )


def full_notice(
    command: Generate, written: str, prompt_of: Callable[[Generate], Prompt], *, is_slid: bool
) -> NoticeInfo:
    """Say that the context is full, with a next step that works.

    Args:
        command: what was answered.
        written: the answer as far as it came, without what it began with.
        prompt_of: makes the prompt of a request.
        is_slid: whether what could be left out is: then the answer ended though it might have been longer.
    """
    if command.prompt is not None:
        return NoticeInfo("context_full", FULL, "Choose a longer context or a shorter prompt.")
    if not command.slide:
        return NoticeInfo(
            "context_full",
            FULL,
            "Start a new conversation, choose a longer context, or let the oldest turns be left out and continue.",
        )
    if not is_slid and _goes_on(command, written, prompt_of):
        return NoticeInfo("context_full", FULL, "Continue the answer: older turns are left out then.")
    return NoticeInfo(
        "context_full",
        "The context is full with the last question and its answer alone.",
        "Choose a longer context or start a new conversation.",
    )


def _goes_on(command: Generate, written: str, prompt_of: Callable[[Generate], Prompt]) -> bool:
    """Whether the same request with what is written of its answer would be answered."""
    goes_on = command.templating.goes_on  # then the last message is what it began with
    said = command.messages[:-1] if goes_on else command.messages
    begun = command.messages[-1].content if goes_on else ""
    messages = (*said, ChatMessage("assistant", begun + written))
    templating = structs.replace(command.templating, goes_on=True)
    try:
        prompt_of(structs.replace(command, messages=messages, templating=templating))
    except (PromptTooLongError, UsageError):
        return False
    return True
