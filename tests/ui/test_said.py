"""What the layers below the window say is said in the language of the person, with its own facts."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator
from PySide6.QtWidgets import QWidget

from app.chat.archive import Added, ConversationRecord
from app.chat.database import explain, now
from app.chat.importing import Imported
from app.engine.death import died
from app.errors import EngineDiedError, StoreError
from app.ui.data_control import also_words, found_words
from app.ui.language import translations_dir
from app.ui.notice import NoticeBar
from app.ui.said import fault_words, forget, said, said_each
from app.ui.said_texts import TEXTS
from app.ui.told import Told
from tests.fair_time import FairWatch
from tests.ui.seen_text import text_of

ROOT = Path(__file__).resolve().parents[2]
ABOVE = {"ui", "cli", "server"}
_PLACE = re.compile(r"\{[^{}]*\}")
REFUSALS = {"StoreError", "NotUpgradedError", "ExportError", "_unknown", "_named"}


@pytest.fixture
def german(qapp):
    translator = QTranslator(qapp)
    assert translator.load("slipstream_de", str(translations_dir()))
    qapp.installTranslator(translator)
    forget()
    yield
    qapp.removeTranslator(translator)
    forget()


def test_each_sentence_is_one_that_the_layers_below_say():
    below = set()
    for path in (ROOT / "app").rglob("*.py"):
        if path.relative_to(ROOT / "app").parts[0] in ABOVE:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant | ast.JoinedStr) and (text := text_of(node)) is not None:
                below.add(_PLACE.sub("{}", text).strip())
    missing = [text for text in TEXTS if not any(shape in below for shape in shapes(text))]
    assert missing == []


def shapes(text: str) -> list[str]:
    """Return a sentence as it may stand in a source: whole, put behind another, or behind a word that is taken off."""
    bare = _PLACE.sub("{}", text)
    return [
        bare,
        f"{{}} {{}} {bare}",
        bare.removeprefix("{}").strip(),
        bare.removeprefix("{}, ").strip(),
        f"paused: {bare}",
    ]


def test_no_two_sentences_are_the_same():
    assert len(set(TEXTS)) == len(TEXTS)


def test_each_translation_is_there_and_keeps_the_facts(german):
    for text in TEXTS:
        translation = QCoreApplication.translate("", text)
        assert sorted(_PLACE.findall(translation)) == sorted(_PLACE.findall(text)), text
    n_same = sum(QCoreApplication.translate("", text) == text for text in TEXTS)
    assert n_same <= 1  # the one that is only places


def test_english_stays_as_it_came():
    assert said("The engine process has ended: it crashed (segmentation fault).").startswith("The engine process")


def test_a_sentence_is_translated_with_its_facts(german):
    assert said("The conversation is 900 tokens long; the context holds 512.") == (
        "Die Unterhaltung ist 900 Token lang; der Kontext fasst 512."
    )
    assert said("What nobody has translated.") == "What nobody has translated."
    assert said("") == ""


def test_facts_that_are_sentences_are_translated_too(german):
    words = said(died(-11, ["decoding failed"]).message)
    assert words == (
        "Der Prozess der Engine wurde beendet: er stürzte ab (segmentation fault) [SIGSEGV]."
        " Seine letzten Worte: decoding failed"
    )


def test_sentences_behind_each_other_are_translated_one_by_one(german):
    words = said("The engine is not running. Nobody knows this one. The context is full.")
    assert words == "Die Engine läuft nicht. Nobody knows this one. Der Kontext ist voll."


def test_a_fact_with_braces_or_words_of_ours_does_no_harm(german):
    assert said("There is no file {path}{0}%s.") == "Die Datei {path}{0}%s gibt es nicht."
    words = said("Cannot write the chat database /tmp/: is damaged: {}: disk full.")
    assert words == "Die Chatdatenbank /tmp/ lässt sich nicht schreiben: is damaged: {}: disk full."


def test_a_long_text_costs_no_time(german):
    hostile = "The conversation is " + "tokens long; the context " * 300 + "x"
    watch = FairWatch()
    assert said(hostile) == hostile
    assert said("x" * 10_000_000) == "x" * 10_000_000
    assert watch.took_s < 1


def test_each_refusal_of_the_chats_is_a_sentence_that_is_translated():
    known = {shape.rstrip(".") for text in TEXTS for shape in shapes(text)}
    missing = []
    for path in (ROOT / "app" / "chat").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in REFUSALS:
                texts = [text_of(one) for one in node.args if isinstance(one, ast.Constant | ast.JoinedStr)]
                shown = [
                    _PLACE.sub("{}", text).removeprefix("{} {} ").rstrip(".") for text in texts if text is not None
                ]
                missing += [f"{path.name}: {text}" for text in shown if text not in known]
    assert missing == []


def test_what_an_import_found_is_in_the_language(german):
    record = ConversationRecord(created_at=now(), updated_at=now())
    found = Imported((record,), "ChatGPT", (("tool calls", 3), ("messages of the role “critic”", 1)))
    assert found_words("a.json", found) == (
        "a.json: 1 Unterhaltung mit 0 Nachrichten (ChatGPT)."
        " Weggelassen: 3 Werkzeugaufrufe, 1 Nachrichten der Rolle „critic“."
    )
    assert also_words(Added((1,), (1, 2), (1,))) == ["Außerdem hinzugefügt: 2 Ordner, 1 Vorlage."]


def test_conditions_and_causes_are_in_the_language(german):
    battery, mains = "it ran on battery, not on mains power", "it ran on mains power, not on battery"
    assert said_each([battery, mains]) == "lief mit Akku, nicht am Netz; lief am Netz, nicht mit Akku"
    assert said("it ran on llama.cpp abc, not on def") == "lief mit llama.cpp abc, nicht mit def"
    assert said("it ran on GPU, not on CPU") == "lief auf GPU, nicht auf CPU"
    assert said("target compute-bound at 5 rows (2.00 × one row here, 1.50 × on the cost curve)") == (
        "Zielmodell rechengebunden bei 5 Zeilen (hier das 2.00-Fache einer Zeile, auf der Kostenkurve das 1.50-Fache)"
    )
    paged = (
        "memory paging: 5,000 page faults waited for the disk, the engine's process had 1.1 GB in memory for "
        "weights of 4.0 GB"
    )
    assert said(paged) == (
        "Speicher wird ausgelagert: 5,000 Seitenfehler warteten auf den Datenträger, "
        "der Prozess der Engine hatte 1.1 GB im Speicher bei Gewichten von 4.0 GB"
    )
    assert said("the power supply changed from mains to battery meanwhile").startswith("die Stromversorgung wechselte")


def test_a_notice_and_an_error_are_in_the_language(german, qtbot):
    within = QWidget()
    qtbot.addWidget(within)
    bar = NoticeBar(within)
    fault = explain(OSError("disk is full"), Path("chats.db"), "write")
    bar.say("error", fault.message, fault.hint)
    assert bar.words.startswith("Die Chatdatenbank chats.db lässt sich nicht schreiben: disk is full. Der Datenträger")
    assert fault_words(EngineDiedError("The engine is not running.", "Start the engine again.")) == (
        "Die Engine läuft nicht. Starten Sie die Engine neu."
    )


def test_a_save_that_fails_again_is_told_once_in_any_language(german, qtbot):
    within = QWidget()
    qtbot.addWidget(within)
    bar = NoticeBar(within)
    for _ in range(2):
        with Told(bar, "Das wurde nicht gespeichert."):
            raise StoreError("Message 7 does not exist.", "Its conversation may have been deleted.")
        first = bar.words
        bar.setProperty("seen", True)
    assert (
        bar.words
        == first
        == ("Das wurde nicht gespeichert. Die Nachricht 7 gibt es nicht. Vielleicht wurde ihre Unterhaltung gelöscht.")
    )
