"""Messages to prompt by a model's own Jinja template, as Hugging Face's tokenisers do it.

A template is a program by somebody else. This module only runs inside the template process
(:mod:`app.engine.template`), which may be killed at any moment.

Templates differ in what they accept: some raise on a system message, some want strictly alternating roles, some want
a content that is a list of parts. Each way of writing the same conversation (:func:`writings`) is tried in turn until
the template takes it *and* lets the words through; a template that drops what a person wrote counts as not taking it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal

from jinja2 import Template, TemplateError, meta, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from app.engine.tool_words import OPEN, PLAIN, described, in_words
from app.protocol import ChatMessage, Templating, ToolCall

Writing = Literal["as given", "joined", "folded", "parts", "folded parts"]
Turn = dict[str, Any]

MAX_TEXT_CHARS = 16 * 1024 * 1024
"""More text than this, beyond four times what the messages hold, is a template run wild."""


REASONING_SWITCHES = ("enable_thinking", "thinking", "reasoning")
"""What templates call the variable that switches thoughts on and off (Qwen and GLM, DeepSeek and Granite, Command)."""

REASONING_EFFORT = "reasoning_effort"
"""What templates call the variable that says how long thoughts may be (gpt-oss): low, medium or high."""

Variables = Mapping[str, object]


class HugeTextError(Exception):
    """The template made more text than any prompt can have."""


class DeafTemplateError(Exception):
    """The template leaves out what a person wrote."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """A prompt and how the conversation had to be written for the template to take it."""

    text: str
    writing: Writing
    tools_in_words: bool = False


class GenerationTag(Extension):
    """``{% generation %}…{% endgeneration %}`` marks text for training; here it is only its body."""

    tags = {"generation"}  # noqa: RUF012 - Jinja2's own way to declare it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Return the body of the block."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _raise_exception(message: str) -> None:
    raise TemplateError(message)


def _strftime_now(form: str) -> str:
    return datetime.now(tz=UTC).astimezone().strftime(form)


def _to_json(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    # Jinja2's own filter escapes < > & for HTML, which changes a prompt.
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@lru_cache(maxsize=1)
def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    return environment


@lru_cache(maxsize=8)
def _compiled(template: str) -> Template:
    return _environment().from_string(template)


def _is_plain(message: ChatMessage) -> bool:
    return not message.tool_calls and message.role != "tool"


def _join(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Make one message of neighbours with the same role."""
    joined: list[ChatMessage] = []
    for message in messages:
        if joined and joined[-1].role == message.role and _is_plain(message) and _is_plain(joined[-1]):
            both = f"{joined[-1].content}\n\n{message.content}"
            joined[-1] = ChatMessage(message.role, both)
        else:
            joined.append(message)
    return joined


def _fold(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Put what the system messages say in front of the first user message."""
    orders = [message.content for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    if not orders:
        return _join(others)
    place = next((i for i, message in enumerate(others) if message.role == "user"), 0)
    return _join([*others[:place], *(ChatMessage("user", text) for text in orders), *others[place:]])


def writings(messages: Sequence[ChatMessage]) -> Iterator[tuple[Writing, list[Turn]]]:
    """Yield the conversation in each way that templates are known to want it, the plain one first, none twice."""
    seen: list[list[Turn]] = []
    ways: tuple[tuple[Writing, Sequence[ChatMessage], bool], ...] = (
        ("as given", messages, False),
        ("joined", _join(messages), False),
        ("folded", _fold(messages), False),
        ("parts", messages, True),
        ("folded parts", _fold(messages), True),
    )
    for writing, version, as_parts in ways:
        turns = [_turn(message, as_parts=as_parts) for message in version]
        if turns not in seen:
            seen.append(turns)
            yield writing, turns


def _turn(message: ChatMessage, *, as_parts: bool) -> Turn:
    turn: Turn = {
        "role": message.role,
        "content": [{"type": "text", "text": message.content}] if as_parts else message.content,
    }
    if message.tool_calls:
        turn["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.tool_call_id:
        turn["tool_call_id"] = message.tool_call_id
    return turn


def _call(call: ToolCall) -> dict[str, object]:
    function = {"name": call.name, "arguments": json.loads(call.arguments or "{}")}
    return {"id": call.id, "type": "function", "function": function}


@lru_cache(maxsize=8)
def _variables_of(source: str) -> frozenset[str]:
    return frozenset(meta.find_undeclared_variables(_environment().parse(source)))


def knows_effort(source: str) -> bool:
    """Tell whether a template can be asked for longer or shorter thoughts.

    Raises:
        jinja2.TemplateError: the template is no valid template.
    """
    return REASONING_EFFORT in _variables_of(source)


def reasoning_switches(source: str) -> tuple[str, ...]:
    """Return the variables by which a template can be asked for thoughts or for none.

    Raises:
        jinja2.TemplateError: the template is no valid template.
    """
    return tuple(name for name in REASONING_SWITCHES if name in _variables_of(source))


def _generate(template: Template, turns: list[Turn], variables: Variables, tools: list[Turn] | None = None) -> str:
    """Run the template, stopping it when its text has no reasonable end."""
    left = MAX_TEXT_CHARS + 4 * sum(len(str(turn)) for turn in (*turns, *(tools or ())))
    pieces = []
    for piece in template.generate(
        messages=turns, add_generation_prompt=True, tools=tools, documents=None, **variables
    ):
        left -= len(piece)
        if left < 0:
            raise HugeTextError
        pieces.append(piece)
    return "".join(pieces)


def _words(turn: Turn) -> str:
    content = turn["content"]
    return str(content if isinstance(content, str) else content[0]["text"])


def _names_all(turns: list[Turn], tools: list[Turn] | None, text: str) -> bool:
    """Tell whether the text names every tool, and every one that was called."""
    calls = (call for turn in turns for call in turn.get("tool_calls", ()))
    return all(one["function"]["name"] in text for one in (*(tools or ()), *calls))


def _lets_through(
    template: Template, turns: list[Turn], text: str, variables: Variables, tools: list[Turn] | None = None
) -> bool:
    """Tell whether the text holds what system and user say.

    Earlier answers do not count: templates of reasoning models drop parts of them on purpose. If a message is not
    there literally (a template may trim or replace), marks in its place show whether the template passes it on.
    """
    if isinstance(turns[0]["content"], list) and "'type': 'text'" in text:
        return False  # a template for plain contents that printed the list itself
    said = [turn for turn in turns if turn["role"] != "assistant"]
    if all(_words(turn).strip() in text for turn in said):
        return True
    marked: list[Turn] = []
    for i, turn in enumerate(turns):
        mark = f"mark{i}mark"
        marked.append(
            {**turn, "content": mark if isinstance(turn["content"], str) else [{"type": "text", "text": mark}]}
        )
    probe = _generate(template, marked, variables, tools)
    return all(_words(turn) in probe for turn in marked if turn["role"] != "assistant")


def _knows_tools(source: str) -> bool:
    """Tell whether a template has tools called in the marks that are understood here, with JSON between them."""
    return "tools" in source and OPEN in source and "<function=" not in source


def render(
    source: str, messages: Sequence[ChatMessage], bos: str = "", eos: str = "", templating: Templating = PLAIN
) -> Rendering:
    """Return the prompt that the template makes of the messages, ready for the assistant to speak.

    Tools are the template's affair if it knows them; else they are described in words.

    Raises:
        jinja2.TemplateError: the template is no valid template, or raised by itself whatever the writing.
        DeafTemplateError: it renders, but without what was written.
        HugeTextError: its text has no end.
    """
    variables: dict[str, object] = {"bos_token": bos, "eos_token": eos}
    if templating.reasoning is not None:
        variables |= dict.fromkeys(reasoning_switches(source), templating.reasoning)
    if templating.reasoning_effort is not None and knows_effort(source):
        variables[REASONING_EFFORT] = templating.reasoning_effort
    if not templating.tools and all(map(_is_plain, messages)):
        return _render(source, messages, variables)
    if _knows_tools(source):
        try:
            tools = [described(tool) for tool in templating.tools]
            return _render(source, messages, variables, tools)
        except (TemplateError, DeafTemplateError, TypeError):
            pass  # in words, then
    return replace(_render(source, in_words(messages, templating.tools), variables), tools_in_words=True)


def _render(
    source: str, messages: Sequence[ChatMessage], variables: Variables, tools: list[Turn] | None = None
) -> Rendering:
    """Render in the first writing that the template takes.

    Raises:
        jinja2.TemplateError: the template is no valid template, or raised by itself whatever the writing.
        DeafTemplateError: it renders, but without what was written.
        HugeTextError: its text has no end.
    """
    template = _compiled(source)
    first_fault: Exception | None = None
    for writing, turns in writings(messages):
        try:
            text = _generate(template, turns, variables, tools)
            if not turns or (_lets_through(template, turns, text, variables, tools) and _names_all(turns, tools, text)):
                return Rendering(text, writing)
        except (HugeTextError, MemoryError, RecursionError):
            raise
        except Exception as fault:  # a template can raise anything
            first_fault = first_fault or fault
    raise first_fault or DeafTemplateError
