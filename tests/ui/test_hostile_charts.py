"""Charts of sessions from elsewhere, whose steps say what no engine does."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtGui import QImage

from app.metrics.columns import StepColumns
from app.ui.render import render_chart
from tests.metrics.sessions import NGRAM, plain_steps, run_of, session

WILD = {
    "drafts of 65,535 tokens": {"emitted": 65_535, "limit": 65_535, "proposed": 65_535},
    "a context of four billion": {"n_ctx": 4_000_000_000},
    "times without end": {"t_s": 1e300, "verify_s": 1e300},
    "times before the beginning": {"t_s": -1e300, "draft_s": -1.0},
    "one moment": {"t_s": 1.0},
    "no name of a drafter": {"drafter": "<b>\x00\x1b[2J"},
}


@pytest.mark.parametrize("how", WILD)
def test_a_session_with_steps_that_no_engine_takes_has_a_chart(qapp, tmp_path, how):
    log = session(tmp_path)
    log.add(run_of(plain_steps(40, 50.0)))
    steps = [msgspec.structs.replace(step, **WILD[how]) for step in plain_steps(40, 80.0)]
    run = run_of(plain_steps(40, 80.0), speculation=NGRAM)
    log.add(msgspec.structs.replace(run, steps=StepColumns(steps)))
    render_chart(log.to_metrics(), tmp_path / "chart.png")
    assert not QImage(str(tmp_path / "chart.png")).isNull()
