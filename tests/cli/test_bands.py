"""What stands in a column of 95 % intervals is one, or says that it is none."""

import pytest

from app.cli.bench_report import band, bracket_words
from app.metrics.values import Interval


@pytest.mark.parametrize(
    ("n_pairs", "words"),
    [(0, ""), (1, ""), (2, "(0.75–1.25)"), (5, "(0.75–1.25)"), (6, "0.75–1.25"), (40, "0.75–1.25")],
)
def test_fewer_pairs_than_make_an_interval_have_their_range_in_brackets(n_pairs, words):
    assert band(Interval(1.0, 0.75, 1.25), n_pairs) == words


def test_without_a_ratio_there_is_nothing():
    assert band(None, 12) == ""


@pytest.mark.parametrize(("numbers", "is_said"), [([6, 2], True), ([6, 1, 0], False), ([], False), ([5], True)])
def test_brackets_are_explained_where_there_are_some(numbers, is_said):
    assert bool(bracket_words(numbers)) == is_said
