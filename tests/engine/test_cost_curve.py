"""What passes cost, measured on the real llama.cpp; and that nothing is left of it in the memories."""

import pytest

from app.engine.cancel import CancelFlag
from app.errors import EngineError, UsageError
from app.protocol import MeasureCosts, Sampling
from tests.engine.sessions import answer, load
from tests.fixtures import tiny_mtp


def measure(session, n_rows=(1, 2, 5), positions=(0, 400), repeat=2):
    return session.measure_costs(MeasureCosts(7, n_rows, positions, repeat), CancelFlag())


def test_every_row_count_and_drafter_is_timed_at_every_position(session, tiny_pair):
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512)
    measured = measure(session)

    assert measured.id == 7
    assert [at.n_ctx for at in measured.costs] == [0, 400]
    for at in measured.costs:
        assert [row.n_rows for row in at.rows] == [1, 2, 5]
        assert all(0 < row.low_s <= row.median_s <= row.high_s and row.n == 2 for row in at.rows)
        costs = {cost.drafter: cost for cost in at.drafters}
        assert costs["draft-simple"].token_s > 0
    assert {cost.drafter for cost in measured.costs[1].drafters} == {"draft-simple", "ngram"}
    assert measured.costs[1].drafters[-1].catch_up_token_s > 0


def test_answers_are_the_same_before_and_after(session, tiny_pair):
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512)

    def said():
        return answer(session, "the cat of the hot day", types=("draft-simple",), max_tokens=32).token_ids

    before = said()
    measure(session)
    assert said() == before


def test_drafters_are_timed_as_an_answer_uses_them(session, tiny_pair):
    """Without top-k the draw takes a share of what a drafted token does; a grammar is the text's."""
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512)

    def measured(**how):
        command = MeasureCosts(7, (1, 2), (0, 40), 2, Sampling(seed=3, **how))
        return {cost.drafter for cost in session.measure_costs(command, CancelFlag()).costs[1].drafters}

    assert measured(temperature=0.8, grammar="no grammar at all") >= {"draft-simple"}
    with pytest.raises(UsageError, match="temperature is -1"):
        measured(temperature=-1)


def test_heads_on_a_running_state_are_timed_too(session, tmp_path):
    load(session, tiny_mtp.qwen35_embedded(tmp_path / "tiny.gguf"), n_ctx=512)
    before = answer(session, "so it was", types=("draft-mtp",), max_tokens=32).token_ids
    measured = measure(session, (3, 9, 20), (0, 60))

    # eight states are kept for rewinding, so nine rows are the most; one is always there to compare with
    assert [row.n_rows for row in measured.costs[0].rows] == [1, 3, 9]
    assert {cost.drafter for cost in measured.costs[1].drafters} >= {"draft-mtp"}
    assert answer(session, "so it was", types=("draft-mtp",), max_tokens=32).token_ids == before


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"n_rows": ()}, "from 1 on"),
        ({"n_rows": (0, 2)}, "from 1 on"),
        ({"positions": ()}, "0 to 251"),
        ({"positions": (252,)}, "0 to 251"),
        ({"repeat": 0, "positions": (0,)}, "at least one"),
    ],
)
def test_what_cannot_be_measured_is_refused(session, tiny_pair, how, words):
    load(session, tiny_pair.target, n_ctx=256)
    with pytest.raises(UsageError) as caught:
        measure(session, **how)
    assert words in caught.value.hint


def test_cancelled_in_a_pass(session, tiny_pair):
    load(session, tiny_pair.target, n_ctx=256)
    cancel = CancelFlag()
    cancel.set()
    with pytest.raises(EngineError, match="cancelled"):
        session.measure_costs(MeasureCosts(7, (1, 2)), cancel)
    assert measure(session, (1,), (0,)).costs[0].rows[0].low_s > 0


def test_without_a_model_there_is_nothing_to_time(session):
    with pytest.raises(EngineError, match="No model"):
        measure(session)
