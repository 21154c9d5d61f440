"""The program for the walk-through: the real window, and at each line on standard input its state on standard output.

The state is only read here; everything that is done comes from the keyboard of the display.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading

import qasync
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit

from app.host import Host
from app.metrics.baseline import BaselineStore
from app.metrics.recorder import SessionLog
from app.ui.app import make_application, open_window
from app.ui.controller import Controller
from app.ui.theme import colours
from tests.doubles import Answer, ScriptedEngine

TEXT = "The slow train leaves the station, word after word after word. " * 60  # stopped long before its end


def make_host():
    """A host with the scripted engine, or with the real one for the whole form."""
    session = SessionLog(BaselineStore())
    if os.environ.get("WALKTHROUGH_ENGINE") == "real":
        return Host(session=session)
    return Host(make_engine=lambda: ScriptedEngine((Answer(text=TEXT, pace_s=0.03),)), session=session)


def has_keys(window):
    """Whether keys reach it: the desktop gives them to a window some time after it has appeared."""
    return window is not None and window.isVisible() and QApplication.activeWindow() is window


def state_of(window, controller):
    """Return what is seen, as facts."""
    views = window.transcript.views
    focus, typed_in = window.focusWidget(), QApplication.focusWidget()
    chats = controller.chats
    return {
        "title": window.windowTitle(),
        "text": window.composer.text,
        "busy": controller.answering.is_busy,
        "ready": controller.engine.can_answer,
        "n_messages": window.transcript.n_messages,
        "said": views[-1].text if len(views) > 1 else "",
        "editing": window.composer.is_editing,
        "alternatives": views[-1].foot.alternatives if views else "",
        "found": window.transcript.find_bar.count.text() if not window.transcript.find_bar.isHidden() else None,
        "query": window.sidebar.query,
        "searching": window.sidebar._pause.isActive(),
        "naming": isinstance(typed_in, QLineEdit) and window.sidebar._list().isAncestorOf(typed_in),
        "titles": window.sidebar.titles(),
        "pinned": bool(chats.current and window.sidebar.is_pinned(chats.current.id)),
        "notice": window.notice.words,
        "palette": has_keys(controller.palette.dialog),
        "settings": has_keys(controller.settings.dialog),
        "models": has_keys(controller.models.manager),
        "devices": has_keys(controller.devices.dialog),
        "asked_where": isinstance(QApplication.activeWindow(), QFileDialog),
        "in_front": has_keys(window),
        "panel": not window.panel.isHidden(),
        "dark": colours().is_dark,
        "focus": focus.accessibleName() if focus is not None else "",
    }


async def run(window, theme):
    """Run until the window is closed."""
    controller = Controller(window, theme, host=make_host())
    loop = asyncio.get_running_loop()

    def tell():
        print(json.dumps(state_of(window, controller)), flush=True)

    def listen():
        for _line in sys.stdin:
            loop.call_soon_threadsafe(tell)

    threading.Thread(target=listen, daemon=True).start()
    controller.start()
    await controller.closed()


def main():
    """Open the window."""
    app = make_application()
    theme, window = open_window(app)
    window.build()
    with qasync.QEventLoop(app) as loop:
        loop.run_until_complete(run(window, theme))


if __name__ == "__main__":
    main()
