"""Every text of the window can be translated: told from its source, and looked at in a language that no one speaks."""

from __future__ import annotations

import ast
import json
import os
import string
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QTranslator

from app.settings import Settings, save_settings
from app.ui.language import SYSTEM, install_language, language_for, languages, wanted_language
from app.ui.tr import tr
from tests.ui.seen_text import literals_seen
from tests.ui.unseen_texts import TEXTS, WHOLE_MODULES

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "app" / "ui").glob("*.py"))


# --- the source -------------------------------------------------------------------------------------


def test_no_text_that_people_see_is_left_out():
    missed, needless = [], set()
    for path in MODULES:
        if path.name in WHOLE_MODULES:
            continue
        found = list(literals_seen(path.read_text(encoding="utf-8")))
        excepted = TEXTS.get(path.name, set())
        missed += [f"{path.name}:{one.line}: {one.text}" for one in found if one.text not in excepted]
        needless |= {f"{path.name}: {text}" for text in excepted - {one.text for one in found}}
    assert missed == []
    assert needless == set()


@pytest.mark.parametrize(
    ("source", "n_seen"),
    [
        ('label.setText("failed")', 1),
        ('label.setText(tr("failed"))', 0),
        ('notice.say("error", "It broke off.")', 1),
        ('words = f"{n} tokens are left"', 1),
        ('words = tr("{n} tokens are left").format(n=n)', 0),
        ('words = "yes" if x == "A state" else "Not at all"', 1),
        ('names = {"a key": "A text"}', 1),
        ('words = names.get("a key", "a text in its place")', 1),
        ('logger.info("a line of the log: %s", x)', 0),
        ('"""A docstring."""', 0),
        ('button.setShortcut("Ctrl+Shift+N")', 0),
        ('def f(x: "A.Name") -> "A.Name": widget.setObjectName("The name")', 0),
        ('path = f"{name}.png"', 0),
        ('words = f"{fault.message} {fault.hint}"', 0),
    ],
)
def test_what_counts_as_a_text_that_people_see(source, n_seen):
    assert len(list(literals_seen(source))) == n_seen


def calls() -> list[tuple[str, ast.Call]]:
    """Return each call of tr() with its module."""
    return [
        (path.name, node)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "tr"
    ]


def test_linguist_can_read_every_call():
    for module, call in calls():
        assert isinstance(call.args[0], ast.Constant), f"{module}:{call.lineno}: no literal"
        assert not call.keywords, f"{module}:{call.lineno}: lupdate knows no named arguments"
        text = call.args[0].value
        assert text == text.strip(" "), f"{module}:{call.lineno}: a piece of a sentence"
        assert all(name for _, name, _, _ in string.Formatter().parse(text) if name is not None), text
        has_number = "%n" in text or "(s)" in text
        assert has_number <= (len(call.args) == 3), f"{module}:{call.lineno}: needs its number"


# --- in another language ----------------------------------------------------------------------------


def test_the_window_has_nothing_outside_of_the_translation_and_room_for_longer_words(tmp_path):
    environment = {**os.environ, "SLIPSTREAM_HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    finished = subprocess.run(
        [sys.executable, "-m", "tests.ui.pseudo_window"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    found = json.loads(finished.stdout.splitlines()[-1])
    assert len(found["seen"]) > 10
    assert found["outside"] == []
    assert found["cut"] == []


def test_english_has_its_plurals_without_a_translation():
    assert tr("%n token(s)", None, 1) == "1 token"
    assert tr("%n token(s)", None, 1200) == "1200 tokens"
    assert tr("%n entr(y|ies) (is|are) here (CPU)", None, 1) == "1 entry is here (CPU)"
    assert tr("%n entr(y|ies) (is|are) here (CPU)", None, 0) == "0 entries are here (CPU)"
    assert tr("the processor (CPU)") == "the processor (CPU)"


class Marking(QTranslator):
    def isEmpty(self):  # noqa: N802
        return False

    def translate(self, context, text, _comment=None, n=-1):
        return f"[{text} {n}]" if context == "" else ""


def test_texts_are_asked_for_in_the_context_of_the_window(qapp):
    translator = Marking()
    qapp.installTranslator(translator)
    try:
        assert tr("Saved {name}.").format(name="x") == "[Saved x. -1]"
        assert tr("%n file", None, 3) == "[3 file 3]"
    finally:
        qapp.removeTranslator(translator)


@pytest.mark.parametrize(
    ("wanted", "preferred", "used"),
    [
        (SYSTEM, ["en-GB", "xx"], "en"),
        (SYSTEM, ["xx-YY", "en"], "en"),
        (SYSTEM, [], "en"),
        ("en", ["xx"], "en"),
        ("xx", ["xx"], "en"),
        ("../../etc", [], "en"),
    ],
)
def test_the_first_language_that_there_is_is_used(wanted, preferred, used):
    assert language_for(wanted, preferred) == used


def test_every_language_that_ships_is_offered_and_can_be_chosen(qapp, home):
    assert wanted_language() == SYSTEM
    for code in languages():
        save_settings(Settings(language=code))
        assert wanted_language() == code
        assert language_for(SYSTEM, [f"{code}-AT"]) == code
    save_settings(Settings(language="en"))
    assert install_language(qapp) == "en"


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"language": 3}', b"\xff", b'{"language": "' + b"x" * 99])
def test_settings_that_cannot_be_read_leave_the_systems_language(tmp_path, content):
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    assert wanted_language(path) == SYSTEM
