"""The window as a whole: geometry, keys, names for screen readers, small screens, colours."""

import re

import pytest
from PySide6.QtCore import QObject, QSettings, QSize, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QAccessible, QShortcut
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from app.paths import config_dir
from app.ui.main_window import LEAST_SIZE, MainWindow, remembered_theme, window_geometry
from app.ui.model_manager import ModelManager
from app.ui.theme import DARK, LIGHT, colours
from tests.doubles import Answer
from tests.ui.conftest import shows_dialog

SMALL = QSize(1280 * 2 // 3, 800 * 2 // 3)
"""A screen of 1280 × 800 at 150 %, in logical pixels."""


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast_is_at_least_four_and_a_half(scheme):
    names = ["text", "muted", "accent", "plain", "warning", "danger"]
    names += [name for name in scheme._fields if name.startswith("code_")]
    for name in names:
        for ground in ("window", "base", "raised"):
            assert contrast(getattr(scheme, name), getattr(scheme, ground)) >= 4.5, (name, ground)
    assert contrast(scheme.on_accent, scheme.accent) >= 4.5


def test_light_and_dark(window, theme):
    assert colours() is LIGHT
    theme.choose("dark")
    assert colours() is DARK
    assert DARK.muted in window.styleSheet()
    theme.choose("light")
    assert LIGHT.muted in window.styleSheet()


def test_the_theme_is_chosen_in_the_menu_and_remembered(program, theme):
    async def story():
        program.controller.actions.choose_theme("dark")
        assert colours() is DARK

    program.run(story)
    theme.choose("light")

    async def again():
        assert colours() is DARK

    program.run(again)


def test_geometry_split_and_colours_are_remembered(theme, qtbot, tmp_path):
    path = str(tmp_path / "window.ini")

    def open_window():
        window = MainWindow(QSettings(path, QSettings.Format.IniFormat))
        qtbot.addWidget(window, before_close_func=lambda w: w.allow_close())
        window.build()
        window.show()
        return window

    first = open_window()
    first.resize(700, 500)
    first.sidebar.setVisible(True)
    first.toggle_panel()
    theme.choose("dark")
    first.save_geometry()
    second = open_window()
    assert second.size() == QSize(700, 500)
    assert second.panel.isHidden()
    assert not second.sidebar.isHidden()
    assert remembered_theme(QSettings(path, QSettings.Format.IniFormat)) == "dark"


def test_a_narrow_first_window_starts_without_the_list(window):
    assert window.sidebar.isHidden() == (window.width() < 960)


def test_everything_fits_a_small_screen_at_150_percent(program):
    program.answers = (
        Answer(text="Some text, `code`.\n\n```python\n" + "x = 1 + 1  # a long line\n" * 3 + "```\n\n" + "word " * 80),
    )

    async def story():
        window = program.window
        window.resize(SMALL)
        window.sidebar.show()
        await program.until(lambda: window.panel.charts is not None)
        await program.ask("A question of some length, so that the bubble has something to hold " * 3)
        assert window.size() == SMALL, "the window wants more room than there is"
        for widget in window.findChildren(QWidget):
            if widget.isVisible() and isinstance(widget, QAbstractButton | QComboBox | QLineEdit):
                place = widget.mapTo(window, widget.rect().bottomRight())
                inside = window.rect().contains(place)
                in_scroll_area = widget.parent() and _scrolls(widget)
                assert inside or in_scroll_area, f"{widget.accessibleName() or widget} is cut off at {place}"

    program.run(story)


def _scrolls(widget):
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QAbstractScrollArea):
            return True
        parent = parent.parentWidget()
    return False


def test_the_least_size_is_honest(window):
    assert window.minimumSizeHint().width() <= max(LEAST_SIZE.width(), 700)


def test_every_control_has_a_name_for_screen_readers(program):
    async def story():
        await program.until(lambda: program.window.panel.charts is not None)
        await program.ask("q")
        nameless = []
        kinds = QAbstractButton | QComboBox | QLineEdit | QPlainTextEdit | QAbstractItemView
        for widget in program.window.findChildren(QWidget):
            if isinstance(widget, kinds) and widget.isVisible():
                interface = QAccessible.queryAccessibleInterface(widget)
                if interface is not None and not interface.text(QAccessible.Text.Name):
                    nameless.append(f"{type(widget).__name__} in {type(widget.parent()).__name__}")
        assert not nameless

    program.run(story)


def test_shortcuts_are_unique_and_do_what_they_say(program, qtbot):
    async def story():
        window = program.window
        keys = [shortcut.key().toString() for shortcut in window.findChildren(QShortcut)]
        assert len(keys) == len(set(keys))
        assert {"Ctrl+N", "Ctrl+F", "Ctrl+K", "Ctrl+B", "Ctrl+J"} <= set(keys)
        by_key = {shortcut.key().toString(): shortcut for shortcut in window.findChildren(QShortcut)}
        await program.ask("one")
        by_key["Ctrl+K"].activated.emit()
        assert window.pair_bar.speculation_words.startswith("off")
        by_key["Ctrl+N"].activated.emit()
        assert program.controller.chats.current is None
        hidden = window.sidebar.isHidden()
        by_key["Ctrl+B"].activated.emit()
        assert window.sidebar.isHidden() != hidden
        window.sidebar.hide()
        by_key["Ctrl+Shift+F"].activated.emit()
        assert not window.sidebar.isHidden()
        by_key["Ctrl+J"].activated.emit()
        assert window.panel.isHidden()

    program.run(story)


def test_the_tab_key_walks_through_everything(program, qtbot):
    async def story():
        window = program.window
        await program.ask("q")
        seen, widget = [], window.composer.editor.nextInFocusChain()
        while widget is not window.composer.editor:
            widget = widget.nextInFocusChain()
            if widget.isVisible() and widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
                seen.append(widget)
        names = [w.accessibleName() for w in seen if w.accessibleName()]
        wanted = ["Model", "Drafter", "Menu", "Speed panel", "Speculation", "Conversation", "Message"]
        assert [name for name in names if name in wanted] == wanted

    program.run(story)


def test_the_menu_holds_what_the_keys_do(program):
    async def story():
        menu = program.controller.menu.make()
        words = [action.text() for action in menu.actions() if action.text()]
        for expected in ("New conversation", "Record baseline", "Export session metrics…", "Colours", "Quit"):
            assert expected in words
        menu.deleteLater()

    program.run(story)


@shows_dialog
def test_about_names_the_version_and_the_folders(program, home):
    async def story():
        program.controller.program_actions.about()
        (dialog,) = [w for w in program.window.children() if type(w).__name__ == "AboutDialog"]
        assert re.search(r"Slipstream \d+\.\d+\.\d+", dialog.version.text())
        assert str(home) in dialog.folders.text()
        dialog.reject()

    program.run(story)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("https://example.org/a?b=c", "Open https://example.org/a?b=c in the browser?"),
        ("file:///etc/passwd", "This link is not opened: file:///etc/passwd Only web and mail links are."),
        ("//server/share", "This link is not opened: //server/share Only web and mail links are."),
        (
            "https://exаmple.org/",  # noqa: RUF001 - a Cyrillic letter
            "Open https://xn--exmple-4nf.org/ in the browser?",
        ),
        (
            "https://bank.org@example.net/",
            "Open https://bank.org@example.net/ in the browser? It leads to example.net.",
        ),
        ("javascript:alert(1)", "This link is not opened: javascript:alert(1) Only web and mail links are."),
    ],
)
def test_links_are_asked_about(program, address, words):
    async def story():
        program.window.transcript.link_clicked.emit(QUrl(address))
        assert program.window.notice.words == words

    program.run(story)


def test_an_unexpected_fault_is_logged_and_said(program, expect_log):
    from app.ui.controller import report

    expect_log("it broke")

    async def story():
        report(program.window, {"message": "it broke", "exception": ValueError("x")})
        assert (
            program.window.notice.words == "Something unexpected went wrong (ValueError). The details are in the log."
        )

    program.run(story)


class Emitter(QObject):
    """Signals of several shapes."""

    happened = Signal(bool)
    told = Signal(object)


class Receiver(QObject):
    """Counts."""

    def __init__(self):
        super().__init__()
        self.seen = []

    @Slot(bool)
    def on_happened(self, is_on):
        self.seen.append(is_on)


def test_five_thousand_signals_lose_nothing_and_no_reference(qapp):
    """PySide6 6.12.0 on Python 3.11 drops a reference to True at every emit and aborts after about a thousand."""
    emitter, receiver = Emitter(), Receiver()
    emitter.happened.connect(receiver.on_happened)
    told = []
    emitter.told.connect(told.append)
    for n in range(5000):
        emitter.happened.emit(n % 2 == 0)
        emitter.told.emit(n)
    assert receiver.seen == [n % 2 == 0 for n in range(5000)]
    assert told == list(range(5000))


@pytest.mark.timeout(120)
def test_twenty_thousand_chunks_reach_the_screen_in_order(program):
    words = [f"w{n}" for n in range(20_000)]
    program.answers = (Answer(text=" ".join(words), accepted=(0,)),)

    async def story():
        program.controller.choices.change(max_tokens=30_000)
        program.send("go")
        await program.until(lambda: not program.controller.answering.is_busy, limit_s=60)
        assert program.said.split() == words
        view = program.last_answer
        assert "".join(block.text for block in view.column.blocks).split() == words
        shown = " ".join(part.edit.toPlainText() for part in view.column.parts).split()
        assert shown == words[-len(shown) :]

    program.run(story)


@pytest.mark.parametrize("value", ["abc", "", "nan", "@Size(1 2)", "a, b", "@Variant(\\0\\0)", "@ByteArray(xx)"])
def test_a_damaged_file_of_window_state_costs_sizes_and_nothing_else(qapp, home, value):
    path = config_dir() / "window.ini"
    path.parent.mkdir(parents=True, exist_ok=True)
    names = ("window", "splitter", "sidebar", "panel", "dark", "high_contrast", "font_extra_pt", "conversation")
    sections = {"General": (*names, "recent_actions"), "models": ("window", "discover", "library")}
    for section, keys in sections.items():
        with path.open("a", encoding="utf-8") as file:
            file.write(f"[{section}]\n" + "".join(f"{name}={value}\n" for name in keys))
    window = MainWindow(window_geometry())
    window.build()
    assert window.last_conversation[0] == 0
    assert all(isinstance(name, str) for name in window.action_list.recent)
    ModelManager(window)
    window.allow_close()
    window.close()
    window.deleteLater()


def test_a_narrow_window_puts_parts_away_and_a_wide_one_brings_them_back(window):
    def shown():
        return [not part.isHidden() for part in (window.sidebar, window.panel)]

    window.resize(1180, 700)
    window.sidebar.show()
    window.panel.show()
    for width, wanted in ((560, [True, False]), (1180, [True, True])):
        window.resize(width, 500)
        assert shown() == wanted
    window.resize(560, 500)
    window.toggle_panel()
    assert shown() == [False, True]
    window.toggle_panel()
    window.resize(1180, 700)
    assert shown() == [True, False]  # the panel was closed by hand, the list was not
    window.toggle_panel()
    assert shown() == [True, True]
