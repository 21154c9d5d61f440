"""The session as a whole, in the window: a new one, export, comparing two."""

import asyncio
import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from app.metrics.export import read_json
from app.metrics.session_export import FILES, export_session
from app.ui.sessions import CompareDialog, ExportDialog, inks, picture_of
from tests.doubles import POEM, Answer
from tests.metrics.test_compare import answered
from tests.ui.conftest import shows_dialog

LONG = f"{POEM} {POEM} {POEM}"


def export(program, folder, *, private=True):
    program.window.panel.export_requested.emit()
    (dialog,) = program.window.findChildren(ExportDialog)
    dialog._private.setChecked(private)
    dialog._export.click()
    (asking,) = dialog.findChildren(QFileDialog)
    assert asking.fileMode() == QFileDialog.FileMode.Directory
    asking.fileSelected.emit(str(folder))
    asking.reject()
    return dialog


@shows_dialog
@pytest.mark.parametrize("private", [True, False])
def test_export_writes_every_form_with_or_without_what_was_asked(program, tmp_path, private):
    async def story():
        await program.ask("my secret")
        program.answers = (Answer(text=LONG),)
        export(program, tmp_path, private=private)
        await program.until(lambda: "Exported" in program.window.notice.words)
        await asyncio.sleep(0)
        assert not any(dialog.isVisible() for dialog in program.window.findChildren(ExportDialog))

    program.run(story)
    (folder,) = tmp_path.glob("slipstream-metrics-*")
    assert {*FILES, "speed.svg"} <= {path.name for path in folder.iterdir()}
    found = read_json(folder / "metrics.json")
    assert [run.question for run in found.runs] == ["" if private else "my secret"]
    assert found.session.redacted is private
    assert (found.target.path == "") is private
    assert json.loads((folder / "metrics.json").read_bytes())["schema"] == "slipstream.metrics/1"


def test_export_with_nothing_measured_says_so(program):
    async def story():
        program.window.panel.export_requested.emit()
        assert "Nothing has been measured" in program.window.notice.words
        await asyncio.sleep(0)

    program.run(story)


@shows_dialog
def test_export_that_cannot_be_written_is_said(program, tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("no folder")

    async def story():
        await program.ask("one")
        export(program, in_the_way)
        await program.until(lambda: "Cannot write" in program.window.notice.words)

    program.run(story)


@shows_dialog
def test_export_can_be_cancelled_and_leaves_no_file(program, tmp_path):
    async def story():
        await program.ask("one")
        dialog = export(program, tmp_path)
        dialog._cancel.click()
        await program.until(lambda: program.window.notice.words == "The export was cancelled.")

    program.run(story)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and "steps" in path.name] == []


def test_a_new_session_lets_go_of_the_answers_and_keeps_the_conversation(program):
    async def story():
        await program.ask("one")
        foot = program.window.panel.foot
        foot.session_requested.emit()
        assert program.host.session.runs == ()
        panel = program.window.panel
        assert (panel._number.text(), panel._when.text(), panel.facts()) == ("–", "", {}), (
            "of no answer there is no speed"
        )
        assert panel.verdict == "Does speculation pay? Not measured yet."
        assert "A new session of measurements has begun" in program.window.notice.words
        assert len(program.controller.chats.current.messages) == 2
        foot.session_requested.emit()
        assert "empty" in program.window.notice.words
        await program.ask("two")
        assert len(program.host.session.runs) == 1

    program.run(story)


def test_a_new_session_in_mid_answer_takes_the_answer_in(program):
    program.answers = (Answer(text=LONG, pace_s=0.002),)

    async def story():
        await program.ask("one")
        panel, session = program.window.panel, program.host.session
        await program.until(lambda: panel.charts is not None)
        program.send("two")
        await program.until(lambda: program.controller.panel._charts.is_live)
        before = session.to_metrics().session
        panel.foot.session_requested.emit()
        assert session.runs == ()
        await program.until(lambda: not program.controller.answering.is_busy)
        assert [run.stop_reason for run in session.runs] == ["eos"]
        assert session.to_metrics().session.id != before.id
        assert len(program.controller.panel._charts._timeline.traces) == 1
        assert panel.answers.count() == 1
        assert panel._number.text() == f"{session.runs[0].decode_tps:.1f}"

    program.run(story)


@shows_dialog
def test_an_exported_session_is_opened_beside_this_one(program, tmp_path):
    program.answers = (Answer(text=LONG),)

    async def story():
        await program.ask("one")
        export(program, tmp_path)
        await program.until(lambda: "Exported" in program.window.notice.words)
        (folder,) = tmp_path.glob("slipstream-metrics-*")
        picture = '"cpu":"Snapdragon <img src=//evil/share/x.png>, not '
        text = (folder / "metrics.json").read_text().replace('"cpu":"', picture)
        folder = folder.rename(tmp_path / "<img src=x.png>")
        (folder / "metrics.json").write_text(text)
        await program.ask("two")
        program.window.panel.foot.compare_requested.emit()
        (dialog,) = program.window.findChildren(CompareDialog)
        await program.until(dialog.texts)
        dialog.open_wanted.emit(1)
        (asking,) = dialog.findChildren(QFileDialog)
        asking.fileSelected.emit(str(folder / "metrics.json"))
        asking.reject()
        await program.until(lambda: "Snapdragon" in dialog.differences)
        assert ("answers", "2", "1") in dialog.texts()
        cells = [dialog._table.item(row, 0) for row in range(dialog._table.rowCount())]
        unexplained = {cell.text() for cell in cells if not cell.toolTip()}
        assert not unexplained & {"acceptance", "tokens per step", "verdict", "decode speed of B ÷ A"}
        assert all("greedy" in words or "sampled" in words for words in unexplained), "but the ways to draft"
        # AND what a foreign session says is text, not a picture to be fetched from wherever it says
        assert dialog._differences.textFormat() == Qt.TextFormat.PlainText
        assert "&lt;img" in dialog._names[1].text()
        assert "<img" not in dialog._names[1].text()
        assert dialog._pictures[0].count() == dialog._pictures[1].count() >= 2
        dialog.open_wanted.emit(0)
        (asking,) = [one for one in dialog.findChildren(QFileDialog) if one.isVisible()]
        (tmp_path / "no.json").write_text("{}")
        asking.fileSelected.emit(str(tmp_path / "no.json"))
        asking.reject()
        await program.until(lambda: "not an export" in program.window.notice.words)
        dialog.reject()

    program.run(story)


@shows_dialog
def test_of_two_sessions_that_are_opened_one_after_the_other_the_second_is_shown(program, tmp_path):
    for name, n in (("large", 80), ("small", 7)):
        export_session(answered(tmp_path / f"of {name}", 50.0, 80.0, n=n).to_metrics(), tmp_path / name)

    async def story():
        control = program.controller.sessions
        program.window.panel.foot.compare_requested.emit()
        (dialog,) = program.window.findChildren(CompareDialog)
        await program.until(lambda: not control._tasks)
        control.on_session_chosen(dialog, 1, str(tmp_path / "large" / "metrics.json"))
        await program.until(lambda: control._sides[1][0] == "large")  # and is compared now
        control.on_session_chosen(dialog, 1, str(tmp_path / "small" / "metrics.json"))
        await program.until(lambda: not control._tasks)
        assert "small" in dialog._names[1].text()
        dialog.reject()

    program.run(story)


def test_a_chart_is_drawn_in_the_colours_of_the_window(qapp, theme):
    area = f"<rect width='860' height='260' fill='{inks().drafted}'/>"
    drawing = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 860 260'>{area}</svg>"
    picture = picture_of(drawing, 430, 2.0)

    assert (picture.width(), picture.devicePixelRatio()) == (860, 2.0)
    assert picture.toImage().pixelColor(100, 100).name() == inks().drafted
