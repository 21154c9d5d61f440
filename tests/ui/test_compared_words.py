"""Two sessions side by side, in a language: what the layers below put together in English is said in it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.metrics.compare import ComparedWay, Difference
from app.metrics.values import Interval
from app.ui.compared_words import difference_words, ratio_words, way_words

ROOT = Path(__file__).resolve().parents[2]
IN_GERMAN = """
import json, sys
from datetime import UTC, datetime
from pathlib import Path
from PySide6.QtWidgets import QApplication, QLabel
from app.settings import Settings, save_settings
from app.ui.language import install_language
save_settings(Settings(language="de"))
app = QApplication([])
assert install_language(app) == "de"
from app.metrics.compare import compare
from app.metrics.power import Power
from app.ui.compared_words import totals_words
from app.ui.conversation_list import period_of
from app.ui.sessions import CompareDialog
from tests.metrics.sessions import NGRAM, plain_steps, run_of, session
folder = Path(sys.argv[1])
sides = []
for power in (Power(on_battery=False), Power(on_battery=True)):
    log = session(folder)
    for i in range(7):
        log.add(run_of(plain_steps(40, 50.0), label=f"p{i}", power=power))
        if i < 3:
            log.add(run_of(plain_steps(40, 70.0), speculation=NGRAM, label=f"p{i}", power=power))
    sides.append(log.to_metrics())
dialog = CompareDialog()
dialog.show_comparison(compare(*sides), tuple(map(totals_words, sides)), ({}, {}))
if len(sys.argv) > 2:
    dialog.show()
    app.processEvents()
    dialog.grab().save(sys.argv[2])
labels = [label.text() for label in dialog.findChildren(QLabel)]
month = period_of(datetime(2026, 3, 15, 12, tzinfo=UTC), datetime(2026, 6, 1, 12, tzinfo=UTC))
print(json.dumps({"labels": labels, "table": dialog.texts(), "month": month}))
dialog.close()
"""


def test_the_dialog_says_in_german_what_is_made_of_english_pieces(tmp_path):
    environment = {**os.environ, "SLIPSTREAM_HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", IN_GERMAN, str(tmp_path)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout.splitlines()[-1])
    labels, table = shown["labels"], {row[0]: row[1:] for row in reversed(shown["table"])}
    assert any(words.endswith("10 Antworten (7 einfach), 400 Token, 400 Schritte") for words in labels)
    assert any("Stromversorgung: Netz | Akku" in words for words in labels)
    assert shown["month"] == "März 2026", "a heading of the conversations"
    assert "aus, ohne Zufall" in table
    assert "n-Gramm, Länge 4, ohne Zufall" in table
    ratios = [row[1] for row in shown["table"] if row[0] == "Dekodiertempo von B ÷ A"]
    assert ratios[0].endswith("7 Paare")
    assert ratios[1].startswith("keines: in beiden wurden weniger als sechs")


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("off, draft model in memory, sampled", "off, draft model in memory, sampled"),
        ("draft-simple, length auto kept to 5, fixed shape", "draft model, length chosen by what pays, kept to 5"),
        ("tree, length 8, at least 2, p_min 0.5, greedy", "token tree, length 8, at least 2, p_min 0.5, greedy"),
        ("<b>, length <i>", "<b>, length <i>"),
    ],
)
def test_a_way_is_said_piece_by_piece_and_what_is_not_known_stays(way, words):
    assert way_words(way).startswith(words)
    assert way_words(way).count(", ") == words.count(", ") + way.count("fixed shape")


def test_a_condition_and_a_ratio_are_said():
    assert difference_words(Difference("power supply", "mains, not known", "–")) == "power supply: mains, not known | –"
    way = ComparedWay(way="off", a=None, b=None, n_pairs=6, ratio=Interval(1.234, 1.1, 1.4))
    assert ratio_words(way) == "1.23× (1.10–1.40), 6 pairs"
