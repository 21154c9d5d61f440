"""The real OpenAI client against the server with the starter, and LangChain's."""

from __future__ import annotations

import json
import math

import openai
import pytest
from jsonschema import validate

from app.server.options import Limits
from tests.doubles import Answer
from tests.server.conftest import serving

ASK = [{"role": "user", "content": "What is the capital of France? Answer in one sentence."}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "maxLength": 20},
                "unit": {"enum": ["celsius", "fahrenheit"]},
                "days": {"type": "integer", "minimum": 1},
            },
            "required": ["city", "unit"],
        },
    },
}
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "age": {"type": "integer"},
        "tags": {"$ref": "#/$defs/t"},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
    "$defs": {"t": {"type": "array", "items": {"type": "string", "maxLength": 8}, "maxItems": 2}},
}


@pytest.fixture(scope="module")
def client(starter):
    with openai.OpenAI(base_url=f"{starter.url}/v1", api_key="not needed", max_retries=0, timeout=60) as made:
        yield made


def test_a_chat(client):
    answer = client.chat.completions.create(model="starter", messages=ASK, max_completion_tokens=32)
    choice = answer.choices[0]
    assert "Paris" in choice.message.content
    assert choice.finish_reason in ("stop", "length")
    assert answer.object == "chat.completion"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.timings["predicted_n"] == answer.usage.completion_tokens


def test_a_stream_says_the_same_and_ends_with_usage(client):
    whole = client.chat.completions.create(model="starter", messages=ASK, max_completion_tokens=24)
    stream = client.chat.completions.create(
        model="starter", messages=ASK, max_completion_tokens=24, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert chunks[0].choices[0].delta.role == "assistant"
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == whole.choices[0].finish_reason
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens
    assert all(chunk.usage is None for chunk in chunks[:-1])
    assert len({chunk.id for chunk in chunks}) == 1


@pytest.mark.parametrize(
    ("choice", "is_stream"),
    [("required", True), ({"type": "function", "function": {"name": "get_weather"}}, False)],
)
def test_a_forced_call_is_parsed_and_fits_its_schema(client, choice, is_stream):
    asked = {
        "model": "starter",
        "messages": [{"role": "user", "content": "What is the weather in Oslo?"}],
        "tools": [WEATHER],
        "tool_choice": choice,
        "max_completion_tokens": 120,
    }
    if is_stream:
        chunks = list(client.chat.completions.create(**asked, stream=True))
        calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
        finish = chunks[-1].choices[0].finish_reason
    else:
        answer = client.chat.completions.create(**asked)
        calls, finish = answer.choices[0].message.tool_calls, answer.choices[0].finish_reason
        assert answer.notices[0]["code"] == "template_no_tools"
    (call,) = calls
    assert finish == "tool_calls"
    assert call.id
    assert call.function.name == "get_weather"
    validate(json.loads(call.function.arguments), WEATHER["function"]["parameters"])


def test_what_a_tool_returned_is_read(client):
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    messages = [
        {"role": "user", "content": "What is the weather in Oslo?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "Rain, 4 degrees."},
    ]
    answer = client.chat.completions.create(
        model="starter", messages=messages, tools=[WEATHER], tool_choice="none", max_completion_tokens=16
    )
    assert answer.choices[0].message.content
    assert answer.usage.prompt_tokens > 40


def test_json_keeps_to_its_schema(client):
    answer = client.chat.completions.create(
        model="starter",
        messages=[{"role": "user", "content": "Invent a person."}],
        response_format={"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON, "strict": True}},
        max_completion_tokens=120,
    )
    assert answer.choices[0].finish_reason == "stop"
    validate(json.loads(answer.choices[0].message.content), PERSON)


def test_logprobs_of_a_chat(client):
    answer = client.chat.completions.create(
        model="starter", messages=ASK, max_completion_tokens=8, logprobs=True, top_logprobs=3
    )
    told = answer.choices[0].logprobs.content
    assert "".join(one.token for one in told) == answer.choices[0].message.content
    for one in told:
        assert len(one.top_logprobs) == 3
        assert one.logprob == one.top_logprobs[0].logprob  # greedy
        assert bytes(one.bytes).decode() == one.token
        assert sum(math.exp(top.logprob) for top in one.top_logprobs) <= 1 + 1e-6


def test_a_completion_with_logprobs_and_a_stop(client):
    answer = client.completions.create(
        model="starter", prompt="One, two, three, four, five,", max_tokens=16, logprobs=2, stop=[" eight"]
    )
    text, told = answer.choices[0].text, answer.choices[0].logprobs
    assert " six, seven" in text
    assert " eight" not in text
    assert answer.choices[0].finish_reason == "stop"
    assert text.startswith("".join(told.tokens)[: len(text)])
    assert told.text_offset[0] == 0
    assert all(len(top) <= 2 for top in told.top_logprobs)


def test_one_seed_gives_one_answer_with_speculation_and_without(client):
    def said(**extra):
        answer = client.chat.completions.create(
            model="starter",
            messages=[{"role": "user", "content": "Repeat this: one two three one two three one two three"}],
            temperature=0.8,
            seed=7,
            max_completion_tokens=40,
            extra_body=extra,
        )
        return answer.choices[0].message.content, answer.usage, answer.timings

    plain, usage, _ = said(spec_type="none")
    assert usage.completion_tokens_details.accepted_prediction_tokens == 0
    drafted, usage, timings = said(spec_type="ngram", spec_n_max=4)
    assert drafted == plain
    details = usage.completion_tokens_details
    assert details.accepted_prediction_tokens > 0
    assert details.accepted_prediction_tokens + details.rejected_prediction_tokens == timings["draft_n"]
    assert timings["draft_accept"] == pytest.approx(details.accepted_prediction_tokens / timings["draft_n"])
    assert timings["drafter"] == "ngram"


def test_the_cache_is_shared_by_requests_that_begin_alike(client):
    long = {"role": "system", "content": "You are careful. " * 40}
    said = [
        client.chat.completions.create(
            model="starter", messages=[long, {"role": "user", "content": words}], max_completion_tokens=4
        )
        for words in ("Hello", "Goodbye")
    ]
    assert said[1].usage.prompt_tokens_details.cached_tokens > 150


def test_the_models(client):
    models = client.models.list().data
    assert models[0].id == "starter"
    assert client.models.retrieve("starter").id == "starter"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-4o")


def test_errors_are_the_clients_own_types(client):
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(model="gpt-4o", messages=ASK)
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError, match="slipstream pull org/no-such"):
        client.chat.completions.create(model="starter", messages=ASK, extra_body={"spec_draft_model": "org/no-such"})
    with pytest.raises(openai.BadRequestError) as wrong:
        client.chat.completions.create(model="starter", messages=ASK, temperature=-1)
    assert wrong.value.param == "temperature"
    with pytest.raises(openai.BadRequestError) as long:
        client.chat.completions.create(model="starter", messages=[{"role": "user", "content": "word " * 9000}])
    assert long.value.code == "context_length_exceeded"
    with pytest.raises(openai.BadRequestError, match="grammar"):
        client.chat.completions.create(model="starter", messages=ASK, extra_body={"grammar": "root ::= ("})


def test_a_wrong_key_is_the_clients_own_type():
    with serving([Answer()], key="secret-key-of-this-test") as running:
        for key, fits in (("wrong", False), ("secret-key-of-this-test", True)):
            with openai.OpenAI(base_url=f"{running.url}/v1", api_key=key, max_retries=0) as client:
                if fits:
                    assert client.chat.completions.create(model="starter", messages=ASK).choices[0].message.content
                else:
                    with pytest.raises(openai.AuthenticationError):
                        client.models.list()


@pytest.mark.parametrize("is_stream", [False, True])
def test_being_turned_away_is_the_clients_own_type(is_stream):
    ask = {"model": "", "messages": ASK, "stream": is_stream}
    with (
        serving([Answer(text="word " * 400, pace_s=0.02)], limits=Limits(n_waiting=0)) as running,
        openai.OpenAI(base_url=f"{running.url}/v1", api_key="x", max_retries=0, timeout=20) as client,
    ):
        with pytest.raises(openai.PermissionDeniedError) as page:
            client.chat.completions.create(**ask, extra_headers={"Origin": "https://evil.example"})
        assert (page.value.status_code, page.value.code) == (403, "origin")
        with client.chat.completions.create(**ask | {"stream": True}) as first:
            next(iter(first))
            with pytest.raises(openai.RateLimitError) as busy:
                client.chat.completions.create(**ask)
        assert (busy.value.status_code, busy.value.code) == (429, "queue_full")
        assert busy.value.response.headers["retry-after"] == "1"


@pytest.mark.parametrize("is_stream", [False, True])
def test_an_engine_that_dies_is_the_clients_own_type(is_stream):
    with (
        serving([Answer(die_at=0)]) as running,
        openai.OpenAI(base_url=f"{running.url}/v1", api_key="x", max_retries=0, timeout=20) as client,
        pytest.raises(openai.APIError) as died,
    ):
        list(client.chat.completions.create(model="", messages=ASK, stream=is_stream))  # a stream has begun by then
    assert died.value.code == "engine_died"
    if not is_stream:
        assert isinstance(died.value, openai.InternalServerError)
        assert died.value.status_code == 503


def test_langchain_streams(starter):
    langchain_openai = pytest.importorskip("langchain_openai")
    chat = langchain_openai.ChatOpenAI(
        base_url=f"{starter.url}/v1", api_key="x", model="starter", temperature=0, max_retries=0, max_tokens=24
    )
    chunks = list(chat.stream(ASK))
    assert len(chunks) > 1
    assert "Paris" in "".join(chunk.content for chunk in chunks)
