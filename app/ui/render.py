"""Pictures of real data without a screen: the charts of an export, and the whole window with a conversation.

They are the window's own widgets, drawn into memory. Used by ``selftest``, and by whoever wants a picture of a session.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QSize, Qt
from PySide6.QtWidgets import QApplication, QWidget

from app.chat.conversation import ConversationHead
from app.errors import ExportError
from app.protocol import Engagement
from app.ui.charts import SpeedCharts
from app.ui.chats import finish_stored
from app.ui.display import show_qt_its_plugins
from app.ui.figures import answer_title, band_of, facts_of
from app.ui.formula_pictures import FormulaPictures, Key
from app.ui.main_window import MainWindow
from app.ui.pair_bar import NGRAM, NO_DRAFTER, ModelOption
from app.ui.passing_state import passing_state
from app.ui.standing import standing
from app.ui.theme import GRID, ThemeSwitch
from app.ui.tr import tr
from app.ui.trace import Timeline
from app.ui.wording import engagement_words, threads_words

if TYPE_CHECKING:
    from app.chat.conversation import Conversation
    from app.metrics.export import Metrics
    from app.metrics.recorder import SessionLog
    from app.metrics.values import Run
    from app.settings import Theme

CHART_SIZE = QSize(1000, 620)
WINDOW_SIZE = QSize(1280, 800)

_SETTLE_TURNS = 4
_FORMULA_S, _LOOK_S = 60.0, 0.02


def render_chart(metrics: Metrics, path: Path, theme: Theme = "light") -> None:
    """Draw decode speed over the baseline band, and acceptance, of all runs; write a PNG.

    Raises:
        ExportError: the picture cannot be written.
    """
    _application(theme)
    page = QWidget()
    page.resize(CHART_SIZE)
    charts = SpeedCharts(page, is_picture=True)
    charts.setGeometry(page.rect().adjusted(GRID, GRID, -GRID, -GRID))
    charts.show_timeline(Timeline.of_runs(metrics.runs), is_following=False)
    charts.show_band(band_of(metrics.baseline))
    _draw(page, path)


def render_window(session: SessionLog, conversation: Conversation, path: Path, theme: Theme = "light") -> None:
    """Draw the main window with this conversation and these runs; write a PNG.

    Raises:
        ExportError: the picture cannot be written.
    """
    _application(theme)
    with passing_state() as state:
        window = MainWindow(state)
        window.build()
        window.resize(WINDOW_SIZE)
        window.sidebar.show()
        _show_conversation(window, conversation)
        _show_pair(window, session.to_metrics())
        _show_session(window, session)
        window.allow_close()
        _draw(window, path)


def draws_formula(tex: str) -> bool:
    """Return whether a formula can be drawn here, by the process for it and by Qt's reader of SVG, within a minute."""
    app, pictures, key = _application("light"), FormulaPictures(), Key(tex, is_display=True, size_px=16.0, ratio=1.0)
    pictures.choose(is_on=True)
    pictures.ask(_Asker(), [key])
    end_s = time.monotonic() + _FORMULA_S
    try:
        while pictures.n_waiting and time.monotonic() < end_s:
            app.processEvents()
            time.sleep(_LOOK_S)
        picture = pictures.picture(key)
        return picture is not None and picture.width > 0
    finally:
        pictures.close()()


class _Asker:
    """Who asks for a formula, and looks itself whether it has come."""

    def draw(self) -> None:
        pass


def _show_conversation(window: MainWindow, conversation: Conversation) -> None:
    head = ConversationHead(
        id=conversation.id,
        title=conversation.title,
        updated_at=conversation.updated_at,
        n_messages=len(conversation.messages),
    )
    window.sidebar.show_heads((head,), conversation.id, conversation.updated_at)
    window.transcript.show_messages(conversation.messages, finish_stored)
    window.show_title(conversation.title)


def _show_pair(window: MainWindow, metrics: Metrics) -> None:
    bar, last = window.pair_bar, metrics.runs[-1] if metrics.runs else None
    target = metrics.target.name if metrics.target else ""
    bar.show_targets([ModelOption(target, target)], target)
    drafts = [ModelOption(metrics.draft.name, metrics.draft.name)] if metrics.draft else []
    bar.show_drafters(drafts, _drafter_of(last, metrics.draft.name if metrics.draft else ""))
    if last is not None:
        bar.show_speculation(is_on=last.spec_type != "none", words=_state_words(last))
        threads = last.conditions.n_threads if last.conditions else 0
        bar.show_device(threads_words(metrics.machine.device, threads))
    window.show_status(
        tr("{target} is ready. Everything stays on this computer.").format(target=target)
        if target
        else tr("No model is loaded.")
    )


def _state_words(run: Run) -> str:
    """What speculation did in an answer."""
    if run.spec_type == "none":
        return tr("off")
    drafter = run.spec_type if run.engaged else ""
    return engagement_words(Engagement(run.engaged, drafter, run.draft_tokens, run.not_engaged))


def _drafter_of(run: Run | None, draft: str) -> str:
    if run is None or run.spec_type == "none":
        return NO_DRAFTER
    return draft if draft and "draft" in run.spec_type else NGRAM


def _show_session(window: MainWindow, session: SessionLog) -> None:
    panel, runs = window.panel, session.runs
    charts = SpeedCharts()
    charts.show_timeline(Timeline.of_runs(runs), is_following=False)
    charts.show_band(band_of(session.current_baseline()))
    panel.install_charts(charts)
    panel.show_charts(has_data=bool(runs))
    panel.show_answers([(run.id, answer_title(run, number)) for number, run in enumerate(runs, start=1)])
    panel.show_standing(standing(session, is_on=bool(runs) and runs[-1].spec_type != "none"))
    if runs:
        panel.show_state(_state_words(runs[-1]))
        panel.show_speed(runs[-1].decode_tps, tr("last answer"))
        panel.show_facts(facts_of(runs[-1]))


def _application(theme: Theme) -> QApplication:
    """Return the QApplication; one that is made here draws into memory where Qt can do that with fonts."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        if sys.platform == "linux":
            os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        show_qt_its_plugins()
        app = QApplication(sys.argv[:1])
        app.setQuitOnLastWindowClosed(False)
    ThemeSwitch(app).choose(theme)
    return app


def _draw(widget: QWidget, path: Path) -> None:
    """Lay a widget out as if it were on a screen, and write what it looks like."""
    widget.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    widget.show()
    for _ in range(_SETTLE_TURNS):  # texts learn their width, then their height, then the scroll bar its range
        QCoreApplication.sendPostedEvents()
        QCoreApplication.processEvents()
    for charts in widget.findChildren(SpeedCharts):
        charts.redraw()
    picture = widget.grab()
    widget.hide()
    widget.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    if not picture.save(str(path), "PNG"):
        raise ExportError(
            tr("Cannot write {path}.").format(path=path), tr("Is the disk full, or the folder read-only?")
        )
