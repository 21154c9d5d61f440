import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.sampler import DRAFT_SHARPNESS, Sampler, confidence, top_superset
from app.errors import DecodeError, UsageError
from app.protocol import Sampling

N_VOCAB = 5000


def _row(key: int, n_vocab: int = N_VOCAB) -> np.ndarray:
    return (np.random.default_rng(key).standard_normal(n_vocab) * 3).astype(np.float32)


@given(st.integers(0, 1000), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_superset_holds_the_k_best_with_ties(key, k):
    row = np.round(_row(key, 4097), 1)  # rounding makes ties
    ids = top_superset(row, k)
    bound = np.sort(row)[-k]
    assert set(np.flatnonzero(row >= bound)) <= set(ids)
    assert len(ids) < 1500


def _reference(row: np.ndarray, s: Sampling, history: list[int]) -> np.ndarray:
    """The distribution after the chain, by the definitions of its members, over the whole vocabulary."""
    logits = row.astype(np.float64).copy()
    for token in set(history[-s.penalty_last_n :] if s.penalty_last_n else []):
        count = history[-s.penalty_last_n :].count(token)
        logits[token] = (
            logits[token] * s.repeat_penalty if logits[token] <= 0 else logits[token] / s.repeat_penalty
        ) - (count * s.frequency_penalty + s.presence_penalty)
    order = np.argsort(-logits, kind="stable")
    if s.top_k:
        order = order[: s.top_k]
    p = np.exp(logits[order] - logits[order].max())
    p /= p.sum()
    if s.top_p < 1:
        n = int(np.searchsorted(np.cumsum(p), s.top_p) + 1)
        order, p = order[:n], p[:n]
    if s.min_p > 0:
        keep = p >= s.min_p * p.max()
        order = order[keep]
    scaled = logits[order] / s.temperature
    q = np.exp(scaled - scaled.max())
    whole = np.zeros(len(row))
    whole[order] = q / q.sum()
    return whole


CASES = {
    "temperature alone": Sampling(0, temperature=0.8, top_k=0, top_p=1.0, min_p=0.0),
    "top-k": Sampling(0, temperature=1.0, top_k=12, top_p=1.0, min_p=0.0),
    "top-p and min-p": Sampling(0, temperature=0.7, top_k=40, top_p=0.9, min_p=0.05),
    "penalties": Sampling(
        0, temperature=0.9, top_k=12, top_p=1.0, min_p=0.0, repeat_penalty=1.4, frequency_penalty=0.3, penalty_last_n=8
    ),
    "a reward": Sampling(0, temperature=0.9, top_k=5, top_p=1.0, min_p=0.0, presence_penalty=-4.0, penalty_last_n=8),
}


@pytest.mark.parametrize("name", CASES)
def test_draws_follow_the_chain_s_distribution(name):
    """Chi-square over 4,000 seeds, cells pooled to at least 5 expected; critical value by Wilson-Hilferty at 0.001."""
    row, history, n = _row(4), [11, 7, 7, 400, 3], 4000
    s = CASES[name]
    # The history holds likely tokens, so that penalties matter.
    best = np.argsort(-row)
    history = [int(best[0]), int(best[3]), int(best[0]), int(best[40]), 3]
    expected = _reference(row, s, history) * n
    counts = np.zeros(N_VOCAB)
    for seed in range(n):
        sampler = Sampler(msgspec.structs.replace(s, seed=seed), N_VOCAB, history)
        counts[sampler.choose(row, 17)] += 1
        sampler.close()
    assert counts[expected == 0].sum() == 0
    big = expected >= 5
    cells = [(counts[i], expected[i]) for i in np.flatnonzero(big)]
    if expected[~big].sum() >= 5:
        cells.append((counts[~big].sum(), expected[~big].sum()))
    chi2 = sum((c - e) ** 2 / e for c, e in cells)
    df = len(cells) - 1
    critical = df * (1 - 2 / (9 * df) + 3.09 * np.sqrt(2 / (9 * df))) ** 3
    assert chi2 < critical, (chi2, df)


def test_greedy_is_argmax_and_ties_go_to_the_lowest_id():
    row = np.zeros(N_VOCAB, dtype=np.float32)
    row[[40, 7, 4000]] = 5.0
    assert Sampler(Sampling(1, temperature=0.0), N_VOCAB).choose(row, 0) == 7
    assert Sampler(Sampling(1, temperature=0.0, repeat_penalty=2.0), N_VOCAB, [7]).choose(row, 0) == 40


@pytest.mark.parametrize("temperature", [1e-6, 1e-9, 1e-39, 1e-45])
def test_a_temperature_near_0_is_0(temperature):
    for row in (_row(1), -np.abs(_row(2)) - 1):
        assert Sampler(Sampling(1, temperature=temperature), N_VOCAB).choose(row, 0) == row.argmax()


@pytest.mark.parametrize("how", [{"temperature": 0.0}, {"temperature": 0.0, "repeat_penalty": 1.1}, {"top_k": 0}, {}])
@pytest.mark.parametrize("n_bad", [1, N_VOCAB])
def test_a_model_that_computes_no_numbers_is_an_error_in_words(how, n_bad):
    row = _row(1)
    row[N_VOCAB - n_bad :] = np.nan
    with pytest.raises(DecodeError, match="not a number") as caught:
        Sampler(Sampling(**{"seed": 1} | how), N_VOCAB, [1, 2]).choose(row, 0)
    assert caught.value.hint


def test_a_clone_has_its_own_history():
    row = _row(1)
    sampler = Sampler(Sampling(1, temperature=0.0, repeat_penalty=5.0), N_VOCAB)
    first = sampler.choose(row, 0)
    clone = sampler.clone()
    clone.accept(first)
    assert sampler.choose(row, 0) == first
    assert clone.choose(row, 0) != first


def test_the_choice_depends_on_position_and_not_on_what_was_asked_before():
    s = Sampling(3, temperature=1.5, top_k=0, top_p=1.0, min_p=0.0)
    rows = [_row(k) for k in range(30)]
    forwards = [Sampler(s, N_VOCAB).choose(row, i) for i, row in enumerate(rows)]
    sampler = Sampler(s, N_VOCAB)
    backwards = [sampler.choose(row, i) for i, row in reversed(list(enumerate(rows)))]
    assert forwards == backwards[::-1]
    assert len({Sampler(s, N_VOCAB).choose(rows[0], position) for position in range(30)}) > 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", -1.0),
        ("temperature", float("nan")),
        ("top_k", -1),
        ("top_p", 1.5),
        ("min_p", -0.1),
        ("seed", -1),
    ],
)
def test_settings_without_meaning_are_refused_by_name(field, value):
    with pytest.raises(UsageError, match=field):
        Sampler(Sampling(**{"seed": 0, field: value}), N_VOCAB)


def test_a_drafter_that_draws_surer_than_it_is_agrees_more_with_a_target_that_is_surer():
    """The target's logits are the drafter's by 1.4, with noise of their own, as a larger model's are."""
    rng, sampling = np.random.default_rng(5), Sampling(3, temperature=0.8)
    target = Sampler(sampling, N_VOCAB)
    agreed = dict.fromkeys((1.0, DRAFT_SHARPNESS), 0)
    drafters = {sharpness: target.clone(sharpness) for sharpness in agreed}
    for position in range(1500):
        row = rng.normal(0, 2.0, N_VOCAB).astype(np.float32)
        theirs = (1.4 * row + rng.normal(0, 0.3, N_VOCAB)).astype(np.float32)
        said = target.choose(theirs, position)
        for sharpness, drafter in drafters.items():
            agreed[sharpness] += drafter.choose(row, position) == said
    assert agreed[DRAFT_SHARPNESS] > 1.03 * agreed[1.0], agreed
    assert drafters[DRAFT_SHARPNESS].clone().choose(row, 7) == drafters[DRAFT_SHARPNESS].choose(row, 7)


def test_sharpness_changes_nothing_where_nothing_is_drawn():
    sampler = Sampler(Sampling(3, temperature=0.0), N_VOCAB)
    assert [sampler.clone(3.0).choose(_row(i), i) for i in range(20)] == [sampler.choose(_row(i), i) for i in range(20)]


def test_confidence_is_a_probability_among_the_ten_best():
    row = _row(2)
    best = np.argsort(-row)[:10]
    assert sum(confidence(row, int(t)) for t in best) == pytest.approx(1.0)
    assert confidence(row, int(best[0])) > confidence(row, int(best[1]))


def test_what_left_the_context_counts_for_the_place_that_is_drawn_for():
    """After a slide positions begin again; a place that was drawn for once is never drawn for again."""
    sampling = Sampling(seed=5, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)
    row = np.zeros(64, dtype=np.float32)
    whole, slid = Sampler(sampling, 64), Sampler(sampling, 64)
    slid.n_gone = 100
    copies = slid, slid.clone(), slid.clone(1.3)
    assert [one.choose(row, 30) for one in copies] == [whole.choose(row, 130)] * 3
    assert slid.ranked(row, 30, 5) == whole.ranked(row, 130, 5)
    assert [slid.choose(row, n) for n in range(40)] != [whole.choose(row, n) for n in range(40)]
    assert slid.likeliest().clone().n_gone == 100
