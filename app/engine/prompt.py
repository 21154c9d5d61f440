"""From a request to the tokens of its prompt; where the context is too short, perhaps without the oldest turns.

A turn is a message of the user with what follows it up to the next one. System messages and the last turn always
stay. More is left out than must be, a quarter of the context at a time: the next requests then begin with the
same turns, so the memory holds most of their prompts. An answer that fills the context slides in the same way: what it
has said stays, as the tokens that it was said with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from msgspec import structs

from app.engine.going_on import Speller, beginning_tokens, without_repeat
from app.engine.llama import Model
from app.engine.plain_text import marked
from app.engine.template import Rendering
from app.engine.thinking import shown_tokens
from app.errors import PromptTooLongError, UsageError
from app.protocol import ChatMessage, Generate, NoticeInfo, Templating

FIRST_LOOK = 8_192
"""Characters at the beginning of a long text that are tokenised first: a hundredth of a second."""

CUT_TOKENS = 64
"""Tokens that a beginning may have more than the whole: it can end in the middle of a word, or of many blanks."""

MAX_CONTEXTS_TO_SLIDE = 16
"""A conversation of more contexts than that is refused even where the oldest turns may be left out."""

LEAST_ROOM = 16
"""An answer slides where that makes room for this part of the context at least: what stays is evaluated for it."""

LONGER = "For an answer that knows all of it, choose a longer context."

END_CHARS = 64
"""How much of the end of a prompt is told: it holds any mark that a template begins the answer with."""

Notices = tuple[NoticeInfo, ...]
Render = Callable[[Sequence[ChatMessage], Templating], Rendering]


class Prompt(NamedTuple):
    """The tokens of a prompt, what a person should know about them, and the end of its text if a template made it.

    The last ``n_begun`` tokens are the answer's own beginning. Of the control tokens, ``shown`` are text to whoever
    reads the answer: they mark what is thought.
    """

    tokens: list[int]
    notices: Notices = ()
    end: str = ""
    n_begun: int = 0
    shown: frozenset[int] = frozenset()


class Slid(NamedTuple):
    """The prompt of an answer that has filled the context: the oldest messages are left out, the answer follows it.

    ``n_asked`` of its tokens come before the answer; ``notices`` are those of its template.
    """

    tokens: list[int]
    n_asked: int
    n_left_out: int
    notices: tuple[NoticeInfo, ...] = ()

    @property
    def notice(self) -> NoticeInfo:
        """What a person should know about it."""
        return NoticeInfo(
            "turns_left_out",
            f"The context was full before the answer was complete: it went on without the oldest {self.n_left_out} "
            "messages.",
            LONGER,
        )


def make_prompt(command: Generate, model: Model, n_ctx: int, render: Render, said: Sequence[int] = ()) -> Prompt:
    """Return the prompt, of fewer than ``n_ctx`` tokens.

    Args:
        command: what to answer.
        model: whose tokens they are.
        n_ctx: how many tokens the context holds.
        render: puts messages into the model's form.
        said: the tokens of the last answer, which may be what goes on.

    Raises:
        UsageError: there is no prompt, or two, or nothing that could go on.
        PromptTooLongError: the context has no room for an answer.
    """
    _check(command)
    n_most = n_ctx * (MAX_CONTEXTS_TO_SLIDE if command.slide and command.prompt is None else 1)

    def prompt_of(messages: Sequence[ChatMessage]) -> Prompt:
        return tokens_of(messages, command.templating, model, render, said, (n_most, n_ctx))

    if isinstance(command.prompt, tuple):
        prompt = Prompt(_known(command.prompt, model.n_vocab))
    elif command.prompt is not None:
        _check_beginnings(command.prompt, model, n_most, n_ctx)
        prompt = Prompt(model.tokenise(command.prompt, add_special=True))
    else:
        prompt = prompt_of(command.messages)
    if not prompt.tokens:
        raise UsageError("The prompt is empty.", "Write something.")
    if command.slide and command.prompt is None:
        n_least = _n_to_leave_out(len(prompt.tokens), n_ctx, command.max_tokens)
        if n_least > 0:
            n_left_out, prompt = _slide(command.messages, len(prompt.tokens) - n_least, prompt_of, prompt)
            if n_left_out:
                prompt = prompt._replace(notices=(*prompt.notices, _left_out(n_left_out)))
    if len(prompt.tokens) >= n_ctx:
        raise _too_long(f"{len(prompt.tokens)}", n_ctx)
    return prompt


def slide_on(
    command: Generate, answered: Sequence[int], n_left: int, model: Model, n_ctx: int, render: Render
) -> Slid | None:
    """Return the prompt of an answer that has filled the context, or None where too little could be left out.

    Args:
        command: what is answered.
        answered: the answer so far, with what it began with.
        n_left: how many tokens may still come.
        model: whose tokens they are.
        n_ctx: how many tokens the context holds.
        render: puts messages into the model's form.

    Raises:
        PromptTooLongError: it has more tokens than are slid over.
    """
    if not command.slide or command.prompt is not None:
        return None
    messages = command.messages
    if command.templating.goes_on:  # what the answer began with is the first of what it has said
        messages = (*messages[:-1], structs.replace(messages[-1], content=""))
    limits = n_ctx * MAX_CONTEXTS_TO_SLIDE, n_ctx

    def prompt_of(kept: Sequence[ChatMessage]) -> Prompt:
        prompt = tokens_of(kept, command.templating, model, render, (), limits)
        return prompt._replace(tokens=[*prompt.tokens, *answered])

    whole = prompt_of(messages)
    n_wanted = len(whole.tokens) - _n_to_leave_out(len(whole.tokens), n_ctx, n_left)
    n_left_out, prompt = _slide(messages, n_wanted, prompt_of, whole)
    if n_ctx - len(prompt.tokens) < min(n_left, n_ctx // LEAST_ROOM):
        return None
    return Slid(prompt.tokens, len(prompt.tokens) - len(answered), n_left_out, prompt.notices)


def _known(token_ids: Sequence[int], n_vocab: int) -> list[int]:
    """Return token ids that the vocabulary has; llama.cpp reads past its tables for others."""
    for token in token_ids:
        if not 0 <= token < n_vocab:
            raise UsageError(
                f"The prompt holds token {token}, which this model does not have.",
                f"Its tokens are 0 to {n_vocab - 1}.",
            )
    return list(token_ids)


def _check(command: Generate) -> None:
    if bool(command.messages) == (command.prompt is not None):
        raise UsageError("A request has either messages or a prompt.", "Give exactly one of the two.")
    if command.max_tokens < 1:
        raise UsageError(f"max_tokens is {command.max_tokens}.", "It must be at least 1.")
    if command.templating.goes_on and (len(command.messages) < 2 or command.messages[-1].role != "assistant"):
        raise UsageError("There is no answer that could go on.", "The last message must be the assistant's.")


def tokens_of(
    messages: Sequence[ChatMessage],
    templating: Templating,
    model: Model,
    render: Render,
    said: Sequence[int],
    limits: tuple[int, int],
) -> Prompt:
    """Render and tokenise messages.

    Args:
        messages: the conversation; with ``goes_on`` the last is the beginning of the answer.
        templating: what the template is told.
        model: whose tokens they are.
        render: puts messages into the model's form.
        said: the tokens of the last answer.
        limits: how many tokens it may have, and how many the context holds.

    Raises:
        PromptTooLongError: it has more tokens.
    """
    written, templating, mark = marked(messages, templating, model.control_finder)
    beginning = written[-1].content if templating.goes_on else ""
    rendering = render(written[:-1] if templating.goes_on else written, templating)
    text, notices = rendering.said
    shown = shown_tokens(rendering.template, model.control_tokens)
    _check_beginnings(text, model, *limits)
    bos = model.text_of(model.bos)
    first, *others = text.split(mark) if mark else [text]
    tokens = model.tokenise(first, add_special=not (bos and first.startswith(bos)))
    for piece in others:
        tokens += model.tokenise(piece)
    if not beginning:
        return Prompt(tokens, notices, text[-END_CHARS:], shown=shown)
    beginning = without_repeat(text, _with_marks(beginning, mark, map(model.text_of, shown)))
    _check_beginnings(beginning, model, *limits)
    begun = beginning_tokens(beginning, mark, said, Speller(model, shown))
    return Prompt(tokens + begun, notices, text[-END_CHARS:], len(begun), shown)


def _with_marks(beginning: str, mark: str, shown: Iterable[str]) -> str:
    """Let the marks of thoughts in an answer's beginning be the control tokens that the model wrote."""
    for text in shown if mark else ():
        beginning = beginning.replace(f"{text[0]}{mark}{text[1:]}", text)
    return beginning


def _too_long(n_tokens: str, n_ctx: int) -> PromptTooLongError:
    return PromptTooLongError(
        f"The conversation is {n_tokens} tokens long; the context holds {n_ctx}.",
        "Shorten it, start a new conversation, choose a longer context, or let the oldest turns be left out.",
    )


def _check_beginnings(text: str, model: Model, n_most: int, n_ctx: int) -> None:
    """Look at longer and longer beginnings of a long text, and give up when one is too long by itself.

    llama.cpp's time grows with the square of a text whose characters are not in the vocabulary (``reserve`` in
    ``llm_tokenizer_spm_session::resegment``), and it cannot be stopped: a megabyte of those takes many minutes.

    Raises:
        PromptTooLongError: the text has more than ``n_most`` tokens.
    """
    n = FIRST_LOOK
    while n < len(text):
        n_tokens = len(model.tokenise(text[:n]))
        if n_tokens > n_most + CUT_TOKENS:
            raise _too_long(f"more than {n_tokens - CUT_TOKENS}", n_ctx)
        n += n // 2


def _n_to_leave_out(n_tokens: int, n_ctx: int, max_tokens: int) -> int:
    """Return how many tokens have to go so that the answer, or a quarter of the context, has room."""
    quarter = n_ctx // 4
    n_over = n_tokens + min(max_tokens, quarter) - n_ctx
    return -(-n_over // quarter) * quarter  # up to whole quarters


def _slide(
    messages: Sequence[ChatMessage],
    n_wanted: int,
    prompt_of: Callable[[Sequence[ChatMessage]], Prompt],
    whole: Prompt,
) -> tuple[int, Prompt]:
    """Leave out the fewest oldest turns that bring the prompt to ``n_wanted`` tokens, or all but the last.

    Return how many messages that are, and the prompt.

    Args:
        messages: the conversation.
        n_wanted: tokens that the prompt should have at most.
        prompt_of: renders and tokenises.
        whole: what ``prompt_of`` said of all messages.
    """
    starts = [i for i, message in enumerate(messages) if message.role == "user"][1:]
    low, high, n_left_out, best = 0, len(starts) - 1, 0, whole
    while low <= high:
        # The last turn alone is the answer if nothing is short enough, so the search ends there.
        middle = (low + high) // 2
        kept = _from(messages, starts[middle])
        prompt = prompt_of(kept)
        if len(prompt.tokens) <= n_wanted or middle == len(starts) - 1:
            n_left_out, best, high = len(messages) - len(kept), prompt, middle - 1
        else:
            low = middle + 1
    return n_left_out, best


def _from(messages: Sequence[ChatMessage], start: int) -> list[ChatMessage]:
    """Return the messages from ``start`` on, and the system messages before them."""
    return [message for i, message in enumerate(messages) if i >= start or message.role == "system"]


def _left_out(n: int) -> NoticeInfo:
    return NoticeInfo(
        "turns_left_out",
        f"The conversation is longer than the context: the oldest {n} messages were left out of this prompt.",
        LONGER,
    )
