"""A data folder that cannot be written any more: what was measured is still there."""

from app.paths import data_dir
from tests.doubles import POEM, Answer


def test_a_recording_that_cannot_be_saved_is_used_until_the_end(program):
    program.answers = (Answer(text=f"{POEM} {POEM} {POEM}"),)

    async def story():
        (data_dir() / "baselines").write_text("a file in the folder's place", encoding="utf-8")
        program.window.panel.record_requested.emit()
        await program.until(lambda: not program.controller.baselines.is_recording)
        words = program.window.panel.foot.words.text()
        assert words.startswith("Recorded, and in use until the program ends. Cannot write ")
        assert "Is the disk full" in words
        assert program.host.session.baseline.n_runs == 6
        assert program.window.panel.baseline_words.startswith("Baseline ")

    program.run(story)
