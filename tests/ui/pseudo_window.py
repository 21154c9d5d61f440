"""The window and its dialogs in a language that no one speaks: each text in ⟦…⟧ and 40 % longer.

Run as a program of its own, since texts at module level are translated when they are imported. It prints as JSON what
can be seen outside the brackets, and what is cut off.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator

from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDialog,
    QGroupBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QMenu,
    QPushButton,
    QTabBar,
    QTextEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.host.soc import soc_of
from app.host.system_facts import system_facts

LONGER = 0.4

LEFT_OUT = (
    *("program.quit", "data.export", "data.import", "data.restore", "data.backup", "data.show", "models.files"),
    *("chat.attach", "speed.export", "speed.compare", "speed.record"),
)
"""Actions that end the program, or open the system's dialog for files."""

ALLOWED = re.compile(
    r"\b(Slipstream|English|Deutsch|starter|GPU|CPU|HTML|HF_ENDPOINT|tok/s|GB|MB|kB|ms|pt"
    r"|Gemma[\w .+-]*|SmolLM2[\w-]*|llama|Q4_1|The slow train leaves the station, and a fast one rides"
    r"|Ctrl|Shift|Alt|Meta|Enter|Return|Esc|Del|Home|End|Left|Right|Up|Down|PgUp|PgDown|F\d+)\b"
    r"|https?://\S+"
)
"""Names, units and keys, which are the same in every language; and the title of the conversation."""


_FACTS = system_facts()
_SOC = soc_of(_FACTS)
MACHINE = [words for words in (_FACTS.processor, _SOC.name, _SOC.cores, _SOC.gpu) if words]
"""What this machine calls its parts: the page of devices shows it as soon as it is known."""


class Pseudo(QTranslator):
    """Puts every text in brackets."""

    def isEmpty(self) -> bool:  # noqa: N802
        return False

    def translate(self, _context, text, _comment=None, _n=-1):
        n_more = round(LONGER * len(re.sub(r"\{[^}]*\}|<[^>]*>", "", text)))
        return f"⟦{text}{(' ooo' * n_more)[:n_more]}⟧"


def outside(text: str) -> str:
    """Return what of a text is in no brackets, "" if that is nothing with letters."""
    before = None
    while before != text:
        before, text = text, re.sub(r"⟦[^⟦⟧]*(⟧|$)", " ", text)  # the end may be left out: keys, or what is elided
    for words in MACHINE:
        text = text.replace(words, " ")
    text = ALLOWED.sub(" ", re.sub(r"<[^>]*>|&\w+;|(?<!\w)/\S+", " ", text))  # no marks and paths
    return text.strip() if re.search(r"[^\W\d_]{2,}", text) else ""


def items_of(item: QTreeWidgetItem) -> Iterator[QTreeWidgetItem]:
    """Yield the rows below a row."""
    for n in range(item.childCount()):
        yield item.child(n)
        yield from items_of(item.child(n))


def texts_of(widget: QWidget) -> list[str]:
    """Return what a widget says to eyes and to screen readers."""
    texts = [widget.toolTip(), widget.accessibleName(), widget.accessibleDescription()]
    if widget.isWindow():
        texts.append(widget.windowTitle())
    match widget:
        case QLabel() | QAbstractButton():
            texts.append(widget.text())
        case QGroupBox():
            texts.append(widget.title())
        case QLineEdit() | QTextEdit():
            texts.append(widget.placeholderText())
        case QComboBox():
            texts += [widget.itemText(n) for n in range(widget.count())]
        case QTabBar():
            texts += [widget.tabText(n) for n in range(widget.count())]
        case QTreeWidget():
            names_only = type(widget.window()).__name__ in ("AboutDialog", "ModelManager")
            rows = [] if names_only else items_of(widget.invisibleRootItem())
            for item in [widget.headerItem(), *rows]:
                texts += [item.text(n) for n in range(widget.columnCount())]
        case QListWidget():
            texts += [widget.item(n).text() for n in range(widget.count())]
        case QMenu():
            texts += [action.text() for action in widget.actions()]
    return texts


def cut(widget: QWidget) -> bool:
    """Whether a text has less room than it needs."""
    match widget:
        case QLabel() if widget.text() and widget.wordWrap():
            return widget.heightForWidth(widget.width()) > widget.height() + 2
        case QLabel() if widget.text():
            return widget.sizeHint().width() > widget.width() + 2
        case QPushButton():
            return widget.sizeHint().width() > widget.width() + 2
    return False


def seen() -> list[QWidget]:
    """Return what can be seen now."""
    windows = QApplication.topLevelWidgets()
    return [one for window in windows for one in (window, *window.findChildren(QWidget)) if one.isVisible()]


async def look(place: str, found: dict[str, set[str]]) -> None:
    """Note what is wrong with what can be seen now; a text that has just come is given its room some time after."""
    for widget in seen():
        for text in texts_of(widget):
            if words := outside(text):
                found["outside"].add(f"{place}: {type(widget).__name__}: {words}")
    for _ in range(40):
        if not (short := [widget for widget in seen() if cut(widget)]):
            return
        await asyncio.sleep(0.05)
    found["cut"] |= {f"{place}: {type(widget).__name__}: {widget.text()}" for widget in short}


def main() -> int:
    """Look at everything; return the exit code."""
    from app.ui.app import make_application

    app = make_application()
    pseudo = Pseudo(app)
    app.installTranslator(pseudo)
    from app.ui.main_window import FIRST_SIZE, MainWindow
    from app.ui.theme import ThemeSwitch
    from tests.ui.conftest import Program

    theme, window = ThemeSwitch(app), MainWindow()
    window.build()
    window.resize(FIRST_SIZE)  # the offscreen platform's screen is small
    window.show()
    program = Program(app, window, theme)
    found: dict[str, set[str]] = {"outside": set(), "cut": set(), "seen": set()}

    async def story() -> None:
        await asyncio.sleep(0.2)
        await look("at first", found)
        await program.ask("12")
        await look("answer", found)
        for action in window.action_list.offered():
            if action.name in LEFT_OUT:
                continue
            window.action_list.run(action.name)
            await asyncio.sleep(0.15)
            await look(action.name, found)
            for other in QApplication.topLevelWidgets():
                if other is not window and other.isVisible():
                    found["seen"].add(f"{action.name}: {type(other).__name__}")
                    other.reject() if isinstance(other, QDialog) else other.close()
            await asyncio.sleep(0.02)

    program.run(story)
    window.allow_close()
    window.close()
    print(json.dumps({name: sorted(texts) for name, texts in found.items()}, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
