"""What clients send: the OpenAI API's requests, with the fields for drafting that GenieX has.

Unknown fields are passed over, as every server of this kind does; values are not converted: ``"0.5"`` is no number.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.protocol import MAX_DRAFT_TOKENS

MAX_MESSAGES = 4096
MAX_TOOLS = 128
MAX_STOPS = 16
MAX_SEED = (1 << 63) - 1
MAX_TOKEN_ID = (1 << 31) - 1

Text = Annotated[str, Field(max_length=8_000_000)]
Name = Annotated[str, Field(min_length=1, max_length=1024)]
Nothing = Annotated[dict[str, Any], Field(max_length=0)]
Unset = Literal[-1]
"""What clients of llama.cpp and LM Studio send for no limit, any seed, no filter."""
"""What this server does not do is refused, unless there is nothing in it."""
FunctionName = Annotated[str, Field(min_length=1, max_length=64, pattern="^[a-zA-Z0-9_.-]+$")]


TokenIds = Annotated[list[Annotated[int, Field(ge=0, le=MAX_TOKEN_ID)]], Field(min_length=1, max_length=1 << 20)]
"""A prompt as the model sees it."""


class Wire(BaseModel):
    """Base of what is received."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False, protected_namespaces=())


class TextPart(Wire):
    """A part of a message that is text; pictures and sound are refused."""

    type: Literal["text"]
    text: Text


class FunctionCall(Wire):
    """A function with its arguments, a JSON object as text."""

    name: FunctionName
    arguments: Text = "{}"


class Call(Wire):
    """A call that an assistant made earlier in the conversation."""

    id: Annotated[str, Field(max_length=256)] = ""
    type: Literal["function"] = "function"
    function: FunctionCall


class Message(Wire):
    """One message. ``developer`` is a system message by another name."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Text | Annotated[list[TextPart], Field(max_length=1024)] | None = None
    tool_calls: Annotated[list[Call], Field(max_length=MAX_TOOLS)] | None = None
    tool_call_id: Annotated[str, Field(max_length=256)] | None = None
    reasoning_content: Text | None = None


class FunctionTool(Wire):
    """A function that may be called; ``parameters`` is a JSON schema."""

    name: FunctionName
    description: Text | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(Wire):
    """A tool; only functions are known."""

    type: Literal["function"]
    function: FunctionTool


class NamedFunction(Wire):
    """The function that has to be called."""

    name: FunctionName


class NamedTool(Wire):
    """A choice of one tool."""

    type: Literal["function"]
    function: NamedFunction


class JsonSchema(Wire):
    """A schema with its name."""

    name: Annotated[str, Field(max_length=256)] = "answer"
    description: Text | None = None
    schema_: Annotated[dict[str, Any] | None, Field(alias="schema")] = None
    strict: bool | None = None


class ResponseFormat(Wire):
    """What the answer has to be."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


class StreamOptions(Wire):
    """What a stream brings besides the answer."""

    include_usage: bool | None = None


Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
"""OpenAI's words for how long thoughts may be."""


class TemplateKwargs(Wire):
    """What llama.cpp's server and vLLM take for the chat template."""

    enable_thinking: bool | None = None
    reasoning_effort: Effort | None = None


class Drafting(Wire):
    """How to load and draft; what is not said is as the server was started, or as the window is set."""

    compute: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    nctx: Annotated[int, Field(ge=0, le=1 << 24)] | None = None
    ngl: Annotated[int, Field(ge=-1, le=1 << 16)] | None = None
    spec_type: Annotated[str, Field(max_length=128)] | None = None
    spec_draft_model: Name | None = None
    spec_n_max: Annotated[int, Field(ge=0, le=MAX_DRAFT_TOKENS)] | Literal["auto", "rolling"] | None = None
    spec_n_min: Annotated[int, Field(ge=0, le=MAX_DRAFT_TOKENS)] | None = None
    spec_p_min: Annotated[float, Field(ge=0, le=1)] | None = None
    spec_fixed_shape: bool | None = None
    spec_lenient: Annotated[float, Field(ge=0, le=1, description="LOSSY: changes the answer; 0 is off.")] | None = None


class Asked(Drafting):
    """What both kinds of request have."""

    model: Annotated[str, Field(max_length=1024)] = ""
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: Annotated[float, Field(ge=0, le=100)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=0, le=1 << 30)] | Unset | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    repeat_penalty: Annotated[float, Field(ge=0.01, le=100)] | None = None
    repetition_penalty: Annotated[float, Field(ge=0.01, le=100)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-100, le=100)] | None = None
    presence_penalty: Annotated[float, Field(ge=-100, le=100)] | None = None
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] | Unset | None = None
    stop: Text | Annotated[list[Text], Field(max_length=MAX_STOPS)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=1 << 30)] | Unset | None = None
    n: Annotated[int, Field(ge=1, le=1)] | None = None
    logit_bias: Nothing | None = None
    grammar: Annotated[str, Field(max_length=65_536)] | None = None


class ChatCompletionRequest(Asked):
    """``POST /v1/chat/completions``."""

    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)]
    max_completion_tokens: Annotated[int, Field(ge=1, le=1 << 30)] | Unset | None = None
    tools: Annotated[list[Tool], Field(max_length=MAX_TOOLS)] | None = None
    tool_choice: Literal["none", "auto", "required"] | NamedTool | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    functions: Annotated[list[dict[str, Any]], Field(max_length=0)] | None = None
    enable_think: bool | None = None
    reasoning_format: Literal["none", "deepseek", "auto"] | None = None
    reasoning_effort: Effort | None = None
    chat_template_kwargs: TemplateKwargs | None = None


class CompletionRequest(Asked):
    """``POST /v1/completions``: goes on with a raw prompt."""

    prompt: (
        Text
        | Annotated[list[Text], Field(min_length=1, max_length=1)]
        | TokenIds
        | Annotated[list[TokenIds], Field(min_length=1, max_length=1)]
    )
    logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    best_of: Annotated[int, Field(ge=1, le=1)] | None = None
    echo: Literal[False] | None = None
    suffix: Annotated[str, Field(max_length=0)] | None = None
