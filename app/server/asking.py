"""From a client's request to what the host is asked."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from msgspec import structs

from app.chat.reasoning import with_reasoning
from app.engine.gbnf import check as check_grammar
from app.errors import UsageError
from app.protocol import (
    SPEC_TYPE_ALIASES,
    ChatMessage,
    ReasoningEffort,
    Sampling,
    SpecType,
    Speculation,
    Templating,
    Tool,
    ToolCall,
)
from app.server.call_grammar import calls_grammar, json_grammar
from app.server.wire import Asked, ChatCompletionRequest, CompletionRequest, Drafting, Message, NamedTool, TextPart

_SPEC_TYPES: tuple[SpecType, ...] = ("none", "ngram", "draft-simple", "draft-mtp", "tree")
SPEC_TYPES: dict[str, SpecType] = {kind: kind for kind in _SPEC_TYPES} | SPEC_TYPE_ALIASES
"""The words of ``spec_type``, with those that other programs use."""

MAX_NESTING = 64
"""A schema that is nested deeper is refused: it is walked by recursion."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """Which tools an answer may call; ``grammar`` is "" where it calls none."""

    tools: tuple[Tool, ...] = ()
    grammar: str = ""


def messages_of(request: ChatCompletionRequest) -> tuple[ChatMessage, ...]:
    """Return the conversation as a chat template sees it.

    Raises:
        UsageError: a message is not what its role can say.
    """
    return tuple(_message(message, place) for place, message in enumerate(request.messages))


def prompt_of(request: CompletionRequest) -> str | tuple[int, ...]:
    """Return a raw prompt: text, or token ids."""
    prompt = request.prompt
    first = prompt if isinstance(prompt, str) else prompt[0]
    if isinstance(first, str):
        return first
    return tuple(first) if isinstance(first, list) else tuple(token for token in prompt if isinstance(token, int))


def _message(message: Message, place: int) -> ChatMessage:
    content = _text(message.content)
    if message.role == "tool":
        if not message.tool_call_id:
            raise UsageError(f"messages.{place} has no tool_call_id.", "A tool's message names the call it answers.")
        return ChatMessage("tool", content, tool_call_id=message.tool_call_id)
    if message.role != "assistant":
        if message.content is None:
            raise UsageError(f"messages.{place} has no content.", "Only an assistant that calls tools has none.")
        return ChatMessage("system" if message.role == "developer" else message.role, content)
    calls = []
    for call in message.tool_calls or ():
        _check_object(call.function.arguments, place)
        calls.append(ToolCall(call.function.name, call.function.arguments or "{}", call.id))
    if message.reasoning_content:
        content = with_reasoning(message.reasoning_content, content)
    return ChatMessage("assistant", content, tuple(calls))


def _text(content: str | list[TextPart] | None) -> str:
    if content is None:
        return ""
    return content if isinstance(content, str) else "\n".join(part.text for part in content)


def _check_object(text: str, place: int) -> None:
    try:
        msgspec.json.decode(text or "{}", type=dict[str, object])
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as fault:
        raise UsageError(
            f"The arguments of a call in messages.{place} are not a JSON object.", "Send them as the model wrote them."
        ) from fault


def tool_use(request: ChatCompletionRequest) -> ToolUse:
    """Return the tools that may be called, and the grammar that keeps the calls in form.

    Raises:
        UsageError: the choice names none of the tools, or a schema cannot be kept.
    """
    choice, functions = request.tool_choice, [tool.function for tool in request.tools or ()]
    if isinstance(choice, NamedTool):
        functions = [one for one in functions if one.name == choice.function.name]
        if not functions:
            raise UsageError("tool_choice names a function that is not in tools.", "Add it to tools.")
    if choice == "required" and not functions:
        raise UsageError("tool_choice is required, but there are no tools.", "Add tools.")
    if not functions or choice == "none":
        return ToolUse()
    if len({one.name for one in functions}) < len(functions):
        raise UsageError("Two tools have the same name.", "Give each its own.")
    for one in functions:
        _check_depth(one.parameters)
    is_forced = choice == "required" or isinstance(choice, NamedTool)
    may_repeat = bool(request.parallel_tool_calls) if is_forced else request.parallel_tool_calls is not False
    tools = tuple(
        Tool(one.name, one.description or "", msgspec.json.encode(one.parameters or {}).decode()) for one in functions
    )
    return ToolUse(tools, calls_grammar(functions, is_forced=is_forced, may_repeat=may_repeat))


def _check_depth(schema: object) -> None:
    waiting = [(schema, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > MAX_NESTING:
            raise UsageError(f"A JSON schema is nested more than {MAX_NESTING} deep.", "Make it simpler.")
        if isinstance(value, dict | list):
            waiting.extend((one, depth + 1) for one in (value.values() if isinstance(value, dict) else value))


def format_grammar(request: ChatCompletionRequest) -> str:
    """Return the grammar of ``response_format`` or ``grammar``, "" without.

    Raises:
        UsageError: both are there, or it cannot be kept.
    """
    wanted = request.response_format
    if wanted is None or wanted.type == "text":
        return own_grammar(request)
    if request.grammar:
        raise UsageError("There is a response_format and a grammar.", "Leave one of them out.")
    if wanted.type == "json_object":
        return json_grammar(None, is_strict=True)
    if wanted.json_schema is None or wanted.json_schema.schema_ is None:
        raise UsageError("response_format has no json_schema.schema.", "Add it, or ask for json_object.")
    _check_depth(wanted.json_schema.schema_)
    return json_grammar(wanted.json_schema.schema_, is_strict=wanted.json_schema.strict is True)


def own_grammar(request: Asked) -> str:
    """Return the grammar that the client wrote itself, "" without.

    Raises:
        UsageError: it is none.
    """
    if request.grammar:
        check_grammar(request.grammar)
    return request.grammar or ""


def sampling_of(request: Asked, defaults: Sampling, grammar: str) -> Sampling:
    """Return how tokens are drawn: what the request says, else the defaults; a fresh seed unless one is given."""
    names = ("temperature", "top_k", "top_p", "min_p", "repeat_penalty", "frequency_penalty", "presence_penalty")
    said = {name: value for name in names if (value := getattr(request, name)) is not None}
    if request.top_k == -1:
        said["top_k"] = 0
    if request.repeat_penalty is None and request.repetition_penalty is not None:
        said["repeat_penalty"] = request.repetition_penalty
    seed = secrets.randbits(31) if request.seed in (None, -1) else request.seed
    return structs.replace(defaults, **said, seed=seed, grammar=grammar)


def stops_of(request: Asked) -> tuple[str, ...]:
    """Return the texts that end an answer."""
    stop = request.stop
    return tuple(one for one in ([stop] if isinstance(stop, str) else stop or ()) if one)


def spec_types(request: Drafting) -> tuple[SpecType, ...] | None:
    """Return who drafts, in order; None where the request does not say. A draft model alone means that it drafts.

    Raises:
        UsageError: a word is not known.
    """
    if request.spec_type is None:
        return None if request.spec_draft_model is None else ("draft-simple",)
    types: list[SpecType] = []
    for word in filter(None, (part.strip() for part in request.spec_type.split(","))):
        if word not in SPEC_TYPES:
            raise UsageError(f"spec_type {word[:40]!r} is not known.", f"It is {', '.join(_SPEC_TYPES)}.")
        if (kind := SPEC_TYPES[word]) != "none" and kind not in types:
            types.append(kind)
    return tuple(types)


def speculation_of(request: Drafting, defaults: Speculation, types: Sequence[SpecType] | None) -> Speculation:
    """Return how the answer is drafted: what the request says, else the defaults.

    Raises:
        UsageError: the shortest draft is longer than the longest.
    """
    length = defaults.draft_tokens if request.spec_n_max is None else request.spec_n_max
    least = defaults.draft_min if request.spec_n_min is None else request.spec_n_min
    kinds = defaults.types if types is None else tuple(types)
    if not kinds or length == 0:
        return Speculation()
    if isinstance(length, int) and least > length:
        if request.spec_n_min is not None:
            raise UsageError(f"spec_n_min is {least}, spec_n_max {length}.", "No draft could be used.")
        least = 0
    p_min = defaults.p_min if request.spec_p_min is None else request.spec_p_min
    return structs.replace(
        defaults,
        types=kinds,
        draft_tokens=length,
        draft_min=least,
        p_min=p_min,
        fixed_shape=defaults.fixed_shape if request.spec_fixed_shape is None else request.spec_fixed_shape,
        lenient=defaults.lenient if request.spec_lenient is None else request.spec_lenient,
    )


_EFFORTS: dict[str, ReasoningEffort] = {
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
}


def templating_of(request: ChatCompletionRequest, use: ToolUse, template: str | None) -> Templating:
    """Return what the chat template is told beside the messages; ``enable_think`` is GenieX's word for thoughts."""
    reasoning, effort = request.enable_think, request.reasoning_effort
    if (told := request.chat_template_kwargs) is not None:
        reasoning = told.enable_thinking if reasoning is None else reasoning
        effort = effort or told.reasoning_effort
    if effort == "none" and reasoning is None:
        reasoning = False
    return Templating(
        tools=use.tools, reasoning=reasoning, reasoning_effort=_EFFORTS.get(effort or ""), template=template
    )
