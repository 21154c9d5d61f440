import numpy as np

from app.engine.noise import gumbel, stream_key, uniforms


def test_noise_is_a_function_of_its_key_alone():
    tokens = np.array([5, 3, 1000], dtype=np.int32)
    whole = gumbel(7, 12, np.arange(2000, dtype=np.int32))
    assert np.array_equal(gumbel(7, 12, tokens), whole[tokens])


def test_seed_position_and_token_each_change_it():
    token = np.array([9], dtype=np.int32)
    values = {float(gumbel(seed, position, token)[0]) for seed in range(50) for position in range(50)}
    assert len(values) == 2500


def test_extreme_seeds_and_tokens_give_finite_numbers():
    tokens = np.array([0, 2**31 - 1], dtype=np.int32)
    for seed in (0, 2**64 - 1):
        assert np.isfinite(gumbel(seed, 2**31, tokens)).all()


def test_uniform_over_tokens_and_over_positions():
    """Kolmogorov-Smirnov against the uniform law, along both axes (critical value at 0.001: 1.95 / sqrt(n))."""
    n = 200_000
    along_tokens = uniforms(stream_key(1, 1), np.arange(n, dtype=np.int32))
    one = np.array([3], dtype=np.int32)
    along_positions = np.array([uniforms(stream_key(1, p), one)[0] for p in range(20_000)])
    for sample in (along_tokens, along_positions):
        sample = np.sort(sample)
        grid = np.arange(1, len(sample) + 1) / len(sample)
        assert np.abs(sample - grid).max() < 1.95 / np.sqrt(len(sample))


def test_neighbours_are_not_correlated():
    n = 100_000
    tokens = np.arange(n, dtype=np.int32)
    a, b, c = (uniforms(stream_key(*key), tokens) for key in ((1, 1), (1, 2), (2, 1)))
    for x, y in ((a, b), (a, c), (a[:-1], a[1:])):
        assert abs(np.corrcoef(x, y)[0, 1]) < 4 / np.sqrt(n)
