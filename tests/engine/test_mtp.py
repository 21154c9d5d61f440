"""MTP heads on the real llama.cpp: embedded, in a file of their own, and an assistant on the target's memory."""

import collections

import pytest

from app.protocol import MemoryTypes
from tests.engine.sessions import GREEDY, WARM, answer, load
from tests.fixtures import tiny, tiny_mtp

PROMPTS = ("the cat of the hot day", "how many of them were there when you came to see it", "so it was")
KINDS = ("embedded", "sidecar", "assistant", "chain")


def write(kind, folder, **how):
    """Return the files of a pair: target, and heads if they have a file of their own."""
    if kind == "chain":
        return tiny_mtp.hy_v3_chain(folder / "tiny-chain.gguf", **how), None
    if kind == "embedded":
        return tiny_mtp.qwen35_embedded(folder / "tiny-qwen35-embedded.gguf", **how), None
    return tiny_mtp.qwen35_pair(folder, **how) if kind == "sidecar" else tiny_mtp.gemma4_pair(folder, **how)


@pytest.fixture(params=KINDS)
def files(request, tmp_path):
    return write(request.param, tmp_path)


def test_they_engage_and_do_not_change_the_text(session, files):
    loaded = load(session, *files, n_ctx=1024)
    assert "draft-mtp" in loaded.drafters
    for prompt in PROMPTS:
        for sampling in (GREEDY, WARM):
            plain = answer(session, prompt, sampling, max_tokens=80)
            for types in (("draft-mtp",), ("ngram", "draft-mtp")):
                for k in (1, 3, 8):
                    got = answer(session, prompt, sampling, types, k, max_tokens=80)
                    assert got.token_ids == plain.token_ids, (types, k)
                    assert got.started.engagement.engaged
                    assert sum(s.accepted for s in got.steps) > 0


def test_with_speculation_off_the_heads_see_and_are_fed_nothing(session, files):
    load(session, *files, n_ctx=1024)
    answer(session, PROMPTS[0], GREEDY, ("draft-mtp",), 4, max_tokens=40)
    pair = session._pair
    memory = pair.heads.memory

    def state():
        return memory._n_fed, memory._first, len(memory._rows), list(memory._tokens)

    before = state()
    answer(session, PROMPTS[1], GREEDY, max_tokens=40)
    assert state() == before
    assert pair.target.context.watcher is None
    answer(session, PROMPTS[1], GREEDY, ("draft-mtp",), 4, max_tokens=40)
    assert state() != before


def _by_position(steps):
    judged, accepted = collections.Counter(), collections.Counter()
    for step in steps:
        judged.update(range(step.judged))
        accepted.update(range(step.accepted))
    return {i: accepted[i] / n for i, n in sorted(judged.items())}


def test_each_token_of_a_draft_comes_from_a_head_of_its_own(session, tmp_path):
    """The first head knows every second token, the second all: where the second is asked the first would be wrong."""
    target = tiny_mtp.hy_v3_chain(tmp_path / "chain.gguf", agrees=(0.5, 1.0), mode="markov")
    assert "draft-mtp" in load(session, target, n_ctx=1024).drafters
    got = answer(session, PROMPTS[0], GREEDY, ("draft-mtp",), 8, max_tokens=200)
    assert max(step.proposed for step in got.steps) == 2  # no more than there are heads
    alpha = _by_position(got.steps)
    assert alpha[0] == pytest.approx(0.5, abs=0.05)
    assert alpha[1] == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_heads_know_the_same_after_edits_cancels_and_pauses_as_when_they_are_new(session, tmp_path, kind):
    """Not only the text is the same: so is every draft, since the heads' memory is right."""
    files = write(kind, tmp_path)
    ask, how = PROMPTS[1] + " " + PROMPTS[0], {"max_tokens": 40}
    load(session, *files, n_ctx=1024)
    fresh = answer(session, ask, GREEDY, ("draft-mtp",), 3, **how)
    answer(session, ask, GREEDY, ("draft-mtp",), 3, cancel_after=5, **how)
    answer(session, ask[:60] + " hot day", WARM, ("draft-mtp",), 8, **how)
    answer(session, PROMPTS[1], GREEDY, ("draft-mtp",), 2, cancel_after=3, **how)
    warm = answer(session, ask, GREEDY, ("draft-mtp",), 3, **how)
    assert warm.token_ids == fresh.token_ids
    assert [(s.proposed, s.accepted) for s in warm.steps] == [(s.proposed, s.accepted) for s in fresh.steps]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", ["auto", "rolling"])
def test_pauses_and_returns_do_not_change_the_text(session, tmp_path, kind, k):
    """With heads that are mostly wrong the controller pauses and probes again."""
    how = {"agrees": (0.2, 0.1)} if kind == "chain" else {"agree": 0.2}
    load(session, *write(kind, tmp_path, mode="markov", **how), n_ctx=1024)
    for prompt in PROMPTS:
        for sampling in (GREEDY, WARM):
            plain = answer(session, prompt, sampling, max_tokens=150)
            got = answer(session, prompt, sampling, ("draft-mtp",), k, max_tokens=150)
            assert got.token_ids == plain.token_ids


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "memory", [MemoryTypes(flash_attention=False), MemoryTypes("q8_0", "q8_0", flash_attention=True)]
)
def test_any_kind_of_memory_and_attention_is_drafted_from(session, tmp_path, kind, memory):
    load(session, *write(kind, tmp_path), n_ctx=512, memory=memory, draft_n_threads=2)
    plain = answer(session, PROMPTS[0], max_tokens=60)
    got = answer(session, PROMPTS[0], GREEDY, ("draft-mtp",), 3, max_tokens=60)
    assert got.token_ids == plain.token_ids
    assert sum(step.accepted for step in got.steps) > 15


def test_more_heads_than_llama_cpp_runs_are_refused_with_the_reason(session, tmp_path):
    """llama.cpp would end the process: its graph asserts that there is one."""
    loaded = load(session, tiny_mtp.qwen35_embedded(tmp_path / "two.gguf", n_heads=2), n_ctx=512)
    assert "2 MTP heads" in loaded.not_engageable["draft-mtp"]
    got = answer(session, PROMPTS[0], GREEDY, ("draft-mtp",))
    assert "2 MTP heads" in got.started.engagement.reason
    assert len(got.token_ids) == 48


def test_a_wrong_assistant_is_refused_with_the_reason(session, tmp_path):
    target = tiny_mtp.gemma4_pair(tmp_path).target
    other = tmp_path / "other"
    other.mkdir()
    wrong = tiny_mtp.gemma4_pair(other, n_hidden=32).draft
    loaded = load(session, target, wrong)
    assert "rows of 32" in loaded.not_engageable["draft-mtp"]
    assert "64" in loaded.not_engageable["draft-mtp"]
    got = answer(session, PROMPTS[0], GREEDY, ("draft-mtp",))
    assert not got.started.engagement.engaged
    assert len(got.token_ids) == 48


@pytest.mark.parametrize(
    ("target", "heads", "words"),
    [
        ("llama", "assistant", "for targets of architecture gemma4; this one is llama"),
        ("qwen35", "assistant", "this one is qwen35"),
        ("gemma4", "assistant with other heads", "2 heads of 32 numbers in memory; the target's have 1 of 32"),
        ("llama", "nextn", "architecture qwen35; the target is llama"),
        ("chain", "nextn", "the target is hy_v3"),
    ],
)
def test_heads_of_another_target_are_refused_before_llama_cpp_would_end_the_process(
    session, tmp_path, target, heads, words
):
    other = tmp_path / "other"
    other.mkdir()
    files = {
        "llama": lambda: tiny.llama(tmp_path / "llama.gguf"),
        "qwen35": lambda: tiny_mtp.qwen35_pair(tmp_path).target,
        "gemma4": lambda: tiny_mtp.gemma4_pair(tmp_path).target,
        "chain": lambda: tiny_mtp.hy_v3_chain(tmp_path / "chain.gguf"),
        "assistant": lambda: tiny_mtp.gemma4_pair(other).draft,
        "assistant with other heads": lambda: tiny_mtp.gemma4_pair(other, n_head_kv=2).draft,
        "nextn": lambda: tiny_mtp.qwen35_pair(other).draft,
    }
    loaded = load(session, files[target](), files[heads](), n_ctx=512)
    assert words in loaded.not_engageable["draft-mtp"]
    got = answer(session, PROMPTS[0], GREEDY, ("draft-mtp",))
    assert words in got.started.engagement.reason
    assert len(got.token_ids) == 48


def test_heads_with_another_vocabulary_are_refused_with_the_rule(session, tmp_path):
    target = tiny_mtp.qwen35_pair(tmp_path).target
    other = tmp_path / "other"
    other.mkdir()
    wrong = tiny_mtp.qwen35_pair(other, n_tokens=tiny.N_VOCAB - 140).draft
    assert "vocabularies differ by 140 tokens" in load(session, target, wrong).not_engageable["draft-mtp"]


def test_heads_are_no_draft_model_and_no_target_of_their_own(session, tmp_path, tiny_pair):
    pair = tiny_mtp.gemma4_pair(tmp_path)
    loaded = load(session, pair.target, pair.draft)
    assert "choose draft-mtp" in loaded.not_engageable["draft-simple"]
    loaded = load(session, tiny_pair.target)
    assert "no MTP heads" in loaded.not_engageable["draft-mtp"]


def test_the_switch_needs_no_reload_and_an_unwatched_answer_does_no_harm(session, files):
    load(session, *files, n_ctx=1024)
    text = PROMPTS[0]
    for types in ((), ("draft-mtp",), (), ("draft-mtp",)):
        plain = answer(session, text, max_tokens=30)
        got = answer(session, text, GREEDY, types, 3, max_tokens=30)
        assert got.token_ids == plain.token_ids
        text += " " + "and so it was then " * 3
    assert sum(s.accepted for s in got.steps) > 0


def test_a_draft_model_with_recurrent_layers_is_refused(session, tmp_path):
    target = tiny.llama(tmp_path / "target.gguf")
    draft = tiny_mtp.qwen35_embedded(tmp_path / "draft.gguf")
    assert "cannot be rewound" in load(session, target, draft).not_engageable["draft-simple"]
