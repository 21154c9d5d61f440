"""Formats and forced calls on models that think: the thought is free, and what is said keeps to what was asked."""

from __future__ import annotations

import json

import openai
import pytest
from jsonschema import validate

from app.host import PairChoice
from app.protocol import Load, Render
from tests.doubles import Answer
from tests.fixtures import tiny
from tests.server.conftest import ASK, serving

SCHEMA = {
    "type": "object",
    "properties": {"b": {"type": "boolean"}},
    "required": ["b"],
    "additionalProperties": False,
}
TOOL = {
    "type": "function",
    "function": {
        "name": "look",
        "parameters": {"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"]},
    },
}


@pytest.fixture(scope="module", params=[False, True], ids=["by itself", "begun by the template"])
def client(request, tmp_path_factory):
    path = tiny.thinking(tmp_path_factory.mktemp("thinking") / "thinking.gguf", is_begun=request.param)
    with (
        serving(pair=PairChoice(str(path), n_ctx=1024)) as running,
        openai.OpenAI(base_url=f"{running.url}/v1", api_key="x", max_retries=0, timeout=60) as made,
    ):
        yield made


def ask(client, *, stream=False, **fields):
    """Return thought, content, calls and why it ended."""
    asked = {"model": "", "messages": ASK["messages"], "max_completion_tokens": 600, **fields}
    if not stream:
        choice = client.chat.completions.create(**asked).choices[0]
        message = choice.message
        return (
            getattr(message, "reasoning_content", None),
            message.content,
            message.tool_calls or [],
            choice.finish_reason,
        )
    thought, said, calls, finish = "", "", [], None
    for chunk in client.chat.completions.create(**asked, stream=True):
        choice = chunk.choices[0]
        thought += getattr(choice.delta, "reasoning_content", None) or ""
        said += choice.delta.content or ""
        calls += choice.delta.tool_calls or []
        finish = choice.finish_reason
    return thought, said, calls, finish


@pytest.mark.parametrize("stream", [False, True])
def test_json_comes_behind_the_thought(client, stream):
    thought, said, _, finish = ask(client, stream=stream, response_format={"type": "json_object"})
    assert tiny.THOUGHT in thought
    assert (json.loads(said), finish) == ({"a": 1}, "stop")


@pytest.mark.parametrize("stream", [False, True])
def test_json_of_a_schema_comes_behind_the_thought(client, stream):
    form = {"type": "json_schema", "json_schema": {"name": "b", "schema": SCHEMA, "strict": True}}
    thought, said, _, finish = ask(client, stream=stream, response_format=form)
    assert tiny.THOUGHT in thought
    assert finish == "stop"
    validate(json.loads(said), SCHEMA)


@pytest.mark.parametrize("stream", [False, True])
def test_a_forced_call_comes_behind_the_thought(client, stream):
    thought, said, calls, finish = ask(client, stream=stream, tools=[TOOL], tool_choice="required")
    assert tiny.THOUGHT in thought
    assert (said or "", finish) == ("", "tool_calls")
    (call,) = calls
    validate(json.loads(call.function.arguments), TOOL["function"]["parameters"])


def test_a_grammar_of_ones_own_comes_behind_the_thought(client):
    thought, said, _, _ = ask(client, extra_body={"grammar": 'word ::= "yes" | "no"\nroot ::= word'})
    assert tiny.THOUGHT in thought
    assert said in ("yes", "no")


def test_thoughts_that_are_switched_off_are_not_begun(client):
    fields = {"response_format": {"type": "json_object"}, "extra_body": {"enable_think": False}}
    thought, said, _, _ = ask(client, **fields)
    assert json.loads(said) is not None
    assert thought is None or tiny.THOUGHT in thought  # the template has begun it, and has no switch


def test_nothing_is_loaded_or_rendered_before_its_turn():
    with serving([Answer(text="{}")]) as running:
        status, _ = running.post({**ASK, "response_format": {"type": "json_object"}})
        assert status == 200
        kinds = [type(command) for command in running.engine.commands]
        assert Render not in kinds
        assert kinds.count(Load) == 1


@pytest.mark.parametrize("form", [None, "auto", "deepseek", "none"])
@pytest.mark.parametrize("stream", [False, True])
def test_thoughts_come_apart_or_as_they_were_written(client, form, stream):
    thought, said, _, _ = ask(client, stream=stream, extra_body={"reasoning_format": form} if form else {})
    if form == "none":
        assert not thought
        assert tiny.THOUGHT + "</think>" in said
        assert said.endswith(tiny.SAID)
    else:
        assert tiny.THOUGHT in thought
        assert said == tiny.SAID
