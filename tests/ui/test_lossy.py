"""Lenient acceptance is called lossy on everything that the window shows of how an answer was drafted."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from app.settings import Settings, save_settings
from tests.ui.pseudo_window import texts_of

pytestmark = pytest.mark.qt_log_ignore("does not support (raise|grabbing)")

OFFERS = ("Drafter", "Let n-gram draft first")
"""Where n-gram is what can be chosen, and not what drafted."""


def seen() -> list[tuple[QWidget, str]]:
    """Return what can be seen, pointed at or heard now."""
    widgets = [w for top in QApplication.topLevelWidgets() for w in [top, *top.findChildren(QWidget)] if w.isVisible()]
    return [(widget, text) for widget in widgets for text in texts_of(widget) if "n-gram" in text]


def test_whatever_names_the_drafter_says_it(program):
    save_settings(Settings(lenient=0.1, token_colours=True))

    async def story():
        window = program.window
        window.panel.show()
        found = {}
        found["before"] = seen()
        await program.ask("go")
        await program.ask("go on")
        charts = window.panel.charts
        for page in range(4):
            if charts is not None:
                charts.show_page(page)
                charts.redraw()
            found[f"page {page}"] = seen()
        unlabelled = {
            f"{place}: {type(widget).__name__} {widget.accessibleName()}: {text}"
            for place, texts in found.items()
            for widget, text in texts
            if "lossy" not in text and not any(offer in widget.accessibleName() for offer in OFFERS)
        }
        assert not unlabelled
        assert sum(len(texts) for texts in found.values()) > 10
        assert "lossy" in program.host.session.runs[-1].spec_type

    program.run(story)
