"""Which curated pair a machine is advised to begin with."""

from __future__ import annotations

import pytest

from app.models.catalog import Catalog
from app.models.memory import Room
from app.models.recommendation import rank, recommended, standing_of

GB = 10**9


def machine(total_gb: float, free_gb: float | None = None) -> Room:
    return Room("CPU", int((total_gb if free_gb is None else free_gb) * GB), int(total_gb * GB))


@pytest.mark.parametrize("total_gb", [16, 32, 64])
def test_each_kind_of_laptop_gets_a_pair_that_the_catalog_gives_it(total_gb):
    pair = recommended(Catalog.load().pairs, machine(total_gb, total_gb * 0.75))
    assert pair is not None
    assert total_gb in pair.laptops_gb
    assert total_gb * 0.2 * GB < pair.memory_bytes <= total_gb * 0.5 * GB


def test_more_memory_never_means_a_smaller_pair():
    sizes = [recommended(Catalog.load().pairs, machine(total)).memory_bytes for total in (8, 16, 24, 32, 64)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_a_machine_that_is_busy_is_advised_by_what_is_free():
    pairs = Catalog.load().pairs
    assert recommended(pairs, machine(32, 7)).memory_bytes < 7 * GB
    assert recommended(pairs, machine(4, 1)) is None


def test_the_recommended_pair_comes_first_then_what_fits_then_the_rest():
    ranked = rank(Catalog.load().pairs, machine(16, 10))
    assert [one.is_recommended for one in ranked].count(True) == 1
    assert ranked[0].is_recommended
    standings = [one.standing for one in ranked]
    assert standings == sorted(standings)  # the alphabet happens to be the order
    assert ranked[-1].standing == "too large for this machine"
    fitting = [one.pair.memory_bytes for one in ranked[1:] if one.standing == "fits now"]
    assert fitting == sorted(fitting, reverse=True)
    assert len(ranked) == len(Catalog.load().pairs)


def test_standings_are_by_what_may_be_taken():
    room = machine(10, 5)
    assert standing_of(int(4.4 * GB), room) == "fits now"
    assert standing_of(int(4.6 * GB), room) == "fits when other programs are closed"
    assert standing_of(int(9.1 * GB), room) == "too large for this machine"
