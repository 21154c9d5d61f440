"""The program's folder is moved while the program runs: that is said in words, though its pictures are gone, too."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doubles import POEM

ROOT = Path(__file__).resolve().parents[2]

CODE = """
import os, sys
from app.ui.app import make_application, open_window
theme, window = open_window(make_application())
window.build()
from app.ui.controller import report
os.rename(*sys.argv[1:])
report(window, {"message": "a slot failed", "exception": ModuleNotFoundError("No module named 'app.ui.later'")})
print(window.notice.accessibleName(), not window.notice.isHidden())
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.linux
def test_a_program_that_was_moved_says_so(tmp_path, home):
    for name in ("app", "resources"):
        shutil.copytree(ROOT / name, tmp_path / "here" / name, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path / "here"),
        "QT_QPA_PLATFORM": "offscreen",
        "LANG": "C.UTF-8",
    }
    words = [sys.executable, "-c", CODE, str(tmp_path / "here"), str(tmp_path / "there")]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "folder was moved or removed" in done.stdout
    assert "Your conversations are kept." in done.stdout
    assert done.stdout.endswith("True\n")


def test_a_question_that_cannot_even_be_shown_stays_in_the_composer(program, monkeypatch):
    # GIVEN a module that was to be loaded with the first question, and that is not where it was
    monkeypatch.setitem(sys.modules, "app.ui.message", None)

    async def story():
        with pytest.raises(ModuleNotFoundError):
            program.controller.answering.ask("What becomes of this?")
        assert program.window.composer.text == "What becomes of this?"
        assert program.controller.chats.current is None
        # WHEN it is there again, THEN the question can be sent
        monkeypatch.undo()
        program.controller.answering.ask(program.window.composer.text)
        await program.until(lambda: not program.controller.answering.is_busy)
        assert [view.text for view in program.window.transcript.views] == ["What becomes of this?", POEM]
        assert program.window.composer.text == ""

    program.run(story)
