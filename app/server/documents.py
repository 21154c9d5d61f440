"""What the server answers, for its own description (OpenAPI) and whoever reads it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

Finish = Literal["stop", "length", "tool_calls"]


class Problem(BaseModel):
    """What went wrong."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorBody(BaseModel):
    """The body of every answer that is no success."""

    error: Problem


class PromptDetails(BaseModel):
    """Of the prompt: tokens that were in the cache."""

    cached_tokens: int


class CompletionDetails(BaseModel):
    """Of the answer: draft tokens that were kept, and those that were not."""

    accepted_prediction_tokens: int
    rejected_prediction_tokens: int


class Usage(BaseModel):
    """Tokens."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptDetails
    completion_tokens_details: CompletionDetails


class Timings(BaseModel):
    """Times in milliseconds of the engine's clock, speeds in tokens a second, and what drafting did.

    ``draft_accept`` is accepted ÷ proposed, ``alpha`` accepted ÷ judged; ``not_engaged`` says why nothing was drafted.
    ``lossy``: the answer may not be the model's own words. ``rows_n`` counts the rows of the target's passes,
    ``rows_n_wasted`` those of them that gave no token, ``tree_depth`` is the mean depth of the token trees.
    """

    cache_n: int
    prompt_n: int
    prompt_ms: float | None
    prompt_per_second: float | None
    predicted_n: int
    predicted_ms: float | None
    predicted_per_second: float | None
    ttft_ms: float | None
    answer_ms: float | None
    draft_prompt_ms: float | None
    draft_n: int
    draft_n_judged: int
    draft_n_accepted: int
    draft_accept: float | None
    alpha: float | None
    tokens_per_step: float | None
    drafter: str
    not_engaged: str
    lossy: bool
    rows_n: int
    rows_n_wasted: int
    tree_depth: float | None


class Notice(BaseModel):
    """Something that a person should know though the answer came."""

    code: str
    message: str
    hint: str


class Figures(BaseModel):
    """What both kinds of answers end with."""

    usage: Usage | None = None
    timings: Timings | None = None
    notices: list[Notice] = Field(default_factory=list)


class AnsweredCall(BaseModel):
    """A call of a tool; ``function`` has its name and its arguments, a JSON object as text."""

    id: str
    type: Literal["function"]
    function: dict[str, str]


class AnsweredMessage(BaseModel):
    """What the model said, thought and called."""

    role: Literal["assistant"]
    content: str | None
    refusal: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[AnsweredCall] | None = None


class ChatChoice(BaseModel):
    """The one choice."""

    index: int
    message: AnsweredMessage
    logprobs: dict[str, Any] | None
    finish_reason: Finish


class ChatCompletion(Figures):
    """An answer to a conversation."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChatChoice]


class TextChoice(BaseModel):
    """The one choice."""

    text: str
    index: int
    logprobs: dict[str, Any] | None
    finish_reason: Finish


class TextCompletion(Figures):
    """What follows a raw prompt."""

    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    choices: list[TextChoice]


class ModelCard(BaseModel):
    """A model that can be asked for."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str
    n_bytes: int
    quantisation: str
    loaded: bool


class ModelList(BaseModel):
    """All of them; what answers a request without a model comes first."""

    object: Literal["list"] = "list"
    data: list[ModelCard]


class Health(BaseModel):
    """Whether it answers, with what, and how many requests are waiting or being answered, and models being pulled."""

    status: Literal["ok"] = "ok"
    engine: str
    model: str | None
    requests: int
    pulls: int


_ERRORS = {
    400: "The request is off.",
    401: "The key is missing or wrong.",
    403: "Another host name or web page than this server answers.",
    404: "There is no such model.",
    408: "The body did not come in time.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    429: "Too many requests are waiting, or models being pulled.",
    503: "The engine could not do it.",
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the description of answers that are no success."""
    return {status: {"model": ErrorBody, "description": _ERRORS[status]} for status in statuses}
