from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.metrics.columns import StepColumns
from app.protocol import Step

counts = st.integers(0, 2**16 - 1)
seconds = st.floats(0, 1e6)
steps = st.lists(
    st.builds(
        Step,
        t_s=seconds,
        emitted=counts,
        limit=counts,
        proposed=counts,
        judged=counts,
        accepted=counts,
        draft_s=seconds,
        verify_s=seconds,
        n_ctx=st.integers(0, 2**32 - 1),
        drafter=st.sampled_from(["", "ngram", "draft-simple", "ü"]),
        slid=st.sampled_from([0, 0, 0, 1, 2**32 - 1]),
    ),
    max_size=12,
)


@given(steps)
def test_columns_are_the_steps_to_the_last_bit(made):
    columns = StepColumns(made)

    assert list(columns) == made
    assert columns == tuple(made)
    assert tuple(made) == columns
    assert [msgspec.structs.astuple(step) for step in made] == list(columns.rows())
    assert [columns[i] for i in range(len(made))] == made
    assert columns[1:] == tuple(made[1:])
    assert columns[::-2] == tuple(made[::-2])
    assert columns[-1:] == tuple(made[-1:])
    assert columns[-len(made) :] == tuple(made)
    assert StepColumns(columns) == columns
    assert not made or columns[-1] == made[-1]


def test_they_differ_where_one_step_does():
    step = Step(1.0, 1, 0, 0, 0, 0, 0.0, 0.1, 20, "")
    assert StepColumns([step]) != StepColumns([msgspec.structs.replace(step, t_s=1.0000000001)])
    assert StepColumns([step]) != StepColumns([step, step])
    assert StepColumns([step]) != 3


@pytest.mark.parametrize("wrong", [{"emitted": -1}, {"judged": 70_000}, {"n_ctx": 2**32}, {"slid": -1}])
def test_what_no_engine_does_is_refused_and_leaves_no_half_a_step(wrong):
    step = Step(1.0, 1, 0, 0, 0, 0, 0.0, 0.1, 20, "")
    columns = StepColumns([step])

    with pytest.raises(ValueError, match="no step of an answer"):
        columns.append(msgspec.structs.replace(step, **wrong))
    assert columns == [step]
    columns.append(step)
    assert columns == [step, step]


def test_a_step_is_small():
    step = Step(1.0, 1, 0, 0, 0, 0, 0.0, 0.1, 20, "ngram")
    assert StepColumns([step] * 1000).n_bytes <= 41 * 1000
