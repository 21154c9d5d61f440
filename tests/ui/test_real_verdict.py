"""A verdict through the whole window with the real engine: recorded by the dialog, told by the panel, acted upon.

The short form of tests/ui/test_verdict_on_screen.py, with a tiny pair whose draft model costs as much as its target: to
draft four tokens for each pass is dear, however many of them are right.
"""

from __future__ import annotations

import json
import math

import pytest
from PySide6.QtWidgets import QComboBox, QPushButton, QSpinBox

from app.metrics.verdict import judge
from app.ui.baselines import BaselineDialog
from tests.ui.conftest import shows_dialog

N_PROMPTS, N_ROUNDS = 6, 2
MOST_RECORDINGS, RECORDING_S = 6, 60.0


def chosen_dialog(program, prompts):
    """Open the list of baselines and choose a file of prompts, as a person does."""
    program.window.panel.foot.baselines_requested.emit()
    (dialog,) = program.window.findChildren(BaselineDialog)
    sets = next(iter(dialog.findChildren(QComboBox)))
    sets.setCurrentIndex(sets.count() - 1)
    dialog.on_file_chosen(str(prompts))
    next(iter(dialog.findChildren(QSpinBox))).setValue(N_ROUNDS)
    return dialog


@shows_dialog
@pytest.mark.timeout(2 * MOST_RECORDINGS * RECORDING_S)
def test_drafts_that_cost_too_much_are_told_from_the_first_click_to_the_offer(program, tiny_pair, tmp_path):
    prompts = tmp_path / "prompts.jsonl"
    lines = ({"name": f"p{n}", "prompt": f"the cat of the hot day {n}"} for n in range(N_PROMPTS))
    prompts.write_text("".join(json.dumps(line) + "\n" for line in lines))
    program.has_real_engine = True

    async def story():
        controller, panel = program.controller, program.window.panel
        pair = {"target": str(tiny_pair.target), "draft": str(tiny_pair.draft), "spec_types": ("draft-simple",)}
        controller.choices.change(
            **pair,
            draft_tokens=4,
            exact=False,
            speculation=True,
            temperature=0.0,
            n_ctx=512,
            n_threads=1,
            draft_n_threads=1,
        )
        controller.start()
        await program.until(lambda: program.host.state.loaded is not None and not controller.engine.is_loading)
        dialog = chosen_dialog(program, prompts)
        record = next(button for button in dialog.findChildren(QPushButton) if button.text() == "Record")
        await program.until(record.isEnabled)
        record.click()
        session = program.host.session
        for n_recorded in range(1, MOST_RECORDINGS + 1):  # again where a busy machine made answers differ too much
            await program.until(lambda: controller.baselines.is_recording)
            await program.until(lambda: not controller.baselines.is_recording, RECORDING_S)
            (comparison,) = session.comparisons()
            assert comparison.n_pairs == n_recorded * N_PROMPTS * N_ROUNDS
            assert comparison.verdict != "pays"
            if comparison.verdict == "costs":
                break
            panel.foot.record.click()
        assert panel.verdict.startswith("Speculation costs ")
        assert "failed" not in panel.foot.words.text()
        assert panel.offer == "Switch speculation off"
        speeds = {run.id: run.decode_tps for run in session.to_metrics().runs}
        again = judge([math.log(speeds[drafted] / speeds[plain]) for drafted, plain in comparison.pairs])
        assert (again.word, again.speedup) == (comparison.verdict, comparison.speedup)
        panel._offer.click()
        assert not controller.choices.settings.speculation
        assert panel.offer == ""
        assert panel.verdict.startswith("Speculation costs ")

    program.run(story, is_started=False, limit_s=MOST_RECORDINGS * RECORDING_S)
