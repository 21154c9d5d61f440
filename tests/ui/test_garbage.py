"""Collections look through little: what is imported while the program runs is not looked through each time."""

from __future__ import annotations

import gc
import weakref

import pytest

from app.ui.garbage import what_came_stays, what_is_there_stays


@pytest.fixture
def thawed():
    """Nothing frozen, as at the start of the program; what the other tests want frozen is so again afterwards."""
    was_frozen = gc.get_freeze_count() > 0
    gc.unfreeze()
    yield
    if was_frozen:
        gc.freeze()


def test_what_comes_later_stays_too_and_at_the_end_everything_is_looked_through(thawed):
    with what_is_there_stays():
        package = [[] for _ in range(20_000)]
        n_before = len(gc.get_objects())
        what_came_stays()
        assert len(gc.get_objects()) <= n_before - 20_000
        assert gc.get_freeze_count() > 20_000
    assert gc.get_freeze_count() == 0
    assert len(package) == 20_000


def test_whoever_freezes_around_a_window_decides_what_else_is(thawed):
    gc.freeze()
    with what_is_there_stays():
        n_frozen = gc.get_freeze_count()
        what_came_stays()
        assert gc.get_freeze_count() == n_frozen
    gc.unfreeze()
    what_came_stays()
    assert gc.get_freeze_count() == 0


def test_what_is_garbage_when_something_comes_is_not_kept(thawed):
    class Old:
        pass

    with what_is_there_stays():
        old = Old()
        old.itself = old
        gc.collect()  # it is old now
        gone = weakref.ref(old)
        del old
        what_came_stays()
        assert gone() is None
