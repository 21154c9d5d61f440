"""The menu behind the three dots, and the keys that do the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, get_args

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu

from app.settings import Theme
from app.ui.model_options import DRAFT_LENGTHS, length_words

if TYPE_CHECKING:
    from app.protocol import DraftTokens
    from app.ui.chats import Chats
    from app.ui.choices import Choices
    from app.ui.conversation_actions import ConversationAction
    from app.ui.devices_control import DevicesControl
    from app.ui.engine_control import EngineControl
    from app.ui.main_window import MainWindow
    from app.ui.models_control import ModelsControl
    from app.ui.serving_control import ServingControl
    from app.ui.shelf_control import ShelfControl
    from app.ui.theme import ThemeSwitch
    from app.ui.updates import UpdatesControl

_THEMES = {"system": "As the system", "light": "Light", "dark": "Dark"}


class WindowMenu(QObject):
    """Builds the menu when it is asked for, and registers the shortcuts once."""

    def __init__(
        self,
        window: MainWindow,
        theme: ThemeSwitch,
        choices: Choices,
        chats: Chats,
        engine: EngineControl,
        models: ModelsControl,
    ) -> None:
        super().__init__(window)
        self._window, self._theme, self._choices, self._chats, self._engine = window, theme, choices, chats, engine
        self._models = models
        self._shelf: ShelfControl | None = None
        self._devices: DevicesControl | None = None
        self.serving: ServingControl | None = None
        self._of_conversation: tuple[ConversationAction, ...] = ()
        self._updates: UpdatesControl | None = None
        window.pair_bar.menu_requested.connect(self.pop_up)
        for keys, action in self._shortcuts():
            window.add_shortcut(keys, action)

    def use(self, shelf: ShelfControl) -> None:
        """Offer what can be done with files."""
        self._shelf = shelf

    def use_devices(self, devices: DevicesControl) -> None:
        """Offer the page about devices."""
        self._devices = devices

    def use_updates(self, updates: UpdatesControl) -> None:
        """Offer to look for a newer version."""
        self._updates = updates

    def use_conversation(self, actions: tuple[ConversationAction, ...]) -> None:
        """Offer what can be done with the open conversation, and let its keys do it."""
        self._of_conversation = actions
        for action in actions:
            if action.keys:
                self._window.add_shortcut(action.keys, action.run)

    def _shortcuts(self) -> tuple[tuple[str, Callable[[], object]], ...]:
        window = self._window
        return (
            ("Ctrl+N", self._chats.new),
            ("Ctrl+F", window.transcript.find_bar.open),
            ("Ctrl+Shift+F", self.search),
            ("Alt+Up", lambda: window.transcript.focus_message(-1)),
            ("Alt+Down", lambda: window.transcript.focus_message(1)),
            ("Ctrl+M", self._models.open),
            ("Ctrl+K", window.pair_bar.toggle_speculation),
            ("Ctrl+B", window.toggle_sidebar),
            ("Ctrl+J", window.toggle_panel),
            ("Ctrl+L", window.composer.take_focus),
            ("Ctrl+T", self.toggle_tokens),
            ("Ctrl+End", window.transcript.go_to_end),
            ("Ctrl+Shift+E", window.panel.export_requested.emit),
            ("Alt+M", self.pop_up),
            ("Escape", self.escape),
            ("Ctrl+Q", window.close),
        )

    def search(self) -> None:
        """Show the conversations and search them."""
        self._window.sidebar.show()
        self._window.sidebar.start_search()

    def escape(self) -> None:
        """Close the search if that is where the keyboard is; else leave the editing, or stop the answer."""
        bar = self._window.transcript.find_bar
        if bar.field.hasFocus():
            bar.leave()
        else:
            self._window.composer.on_escape()

    def pop_up(self) -> None:
        """Show the menu below its button."""
        button = self._window.pair_bar.menu_button
        menu = self.make()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))

    def make(self) -> QMenu:
        """Build the menu with the choices as they are now."""
        window, menu = self._window, QMenu(self._window)
        self._add(menu, "New conversation", self._chats.new, "Ctrl+N")
        self._add(menu, "Find in this conversation", window.transcript.find_bar.open, "Ctrl+F")
        self._add(menu, "Search all conversations", self.search, "Ctrl+Shift+F")
        current = self._chats.current
        if current is not None and current.id:
            number = current.id
            self._add(menu, "Export conversation as Markdown…", lambda: self._chats.export(number, "md"))
            self._add(menu, "Export conversation as JSON…", lambda: self._chats.export(number, "json"))
        for action in self._of_conversation:
            self._add(menu, action.words, action.run, action.keys)
        menu.addSeparator()
        self._add(menu, "Speculation on or off", window.pair_bar.toggle_speculation, "Ctrl+K")
        self._add_lengths(menu.addMenu("Draft length"))
        self._add(menu, "Models: find, get, delete…", self._models.open, "Ctrl+M")
        if self._shelf is not None:
            self._add(menu, "Open model files…", self._shelf.drop.choose_files)
            self._add(menu, "Models folder…", self._shelf.open_folder)
        self._add(menu, "Model options…", window.pair_bar.options_requested.emit, "Ctrl+,")
        if self._devices is not None:
            self._add(menu, "Devices and runtimes…", self._devices.open)
        if self.serving is not None:
            self._add(menu, "Serve on this computer…", self.serving.open)
        self._add(menu, "Which draft is worth it?…", window.panel.foot.profile_requested.emit)
        self._add(menu, "Record baseline", window.panel.record_requested.emit)
        self._add(menu, "Export session metrics…", window.panel.export_requested.emit, "Ctrl+Shift+E")
        self._add(menu, "Start the engine again", self._engine.restart)
        menu.addSeparator()
        self._add(menu, "Conversations", window.toggle_sidebar, "Ctrl+B")
        self._add(menu, "Speed panel", window.toggle_panel, "Ctrl+J")
        self._add_tokens(menu)
        self._add_themes(menu.addMenu("Colours"))
        menu.addSeparator()
        if self._updates is not None:
            self._add(menu, "Look for a newer version…", self._updates.open)
        self._add(menu, "About Slipstream", self.about)
        self._add(menu, "Quit", window.close, "Ctrl+Q")
        return menu

    def _add(self, menu: QMenu, words: str, action: Callable[[], object], keys: str = "") -> None:
        entry = QAction(words, menu)
        if keys:
            entry.setShortcut(QKeySequence(keys))
            entry.setShortcutVisibleInContextMenu(True)
        entry.triggered.connect(lambda: action())
        menu.addAction(entry)

    def _add_lengths(self, menu: QMenu) -> None:
        group = QActionGroup(menu)
        chosen = self._choices.settings.draft_tokens
        for length in dict.fromkeys((*DRAFT_LENGTHS, chosen)):
            entry = QAction(length_words(length), group, checkable=True)
            entry.setChecked(length == chosen)
            entry.triggered.connect(lambda _on, n=length: self.choose_length(n))
            menu.addAction(entry)

    def _add_themes(self, menu: QMenu) -> None:
        group = QActionGroup(menu)
        for theme in get_args(Theme):
            entry = QAction(_THEMES[theme], group, checkable=True)
            entry.setChecked(theme == self._choices.settings.theme)
            entry.triggered.connect(lambda _on, t=theme: self.choose_theme(t))
            menu.addAction(entry)

    def _add_tokens(self, menu: QMenu) -> None:
        entry = QAction("Colour tokens by who drafted them", menu, checkable=True)
        entry.setChecked(self._choices.settings.token_colours)
        entry.setShortcut(QKeySequence("Ctrl+T"))
        entry.setShortcutVisibleInContextMenu(True)
        entry.triggered.connect(self.toggle_tokens)
        menu.addAction(entry)

    def toggle_tokens(self) -> None:
        """Ask for the tokens of answers from the next one on, or no more; show or hide those that are known."""
        is_on = not self._choices.settings.token_colours
        self._choices.change(token_colours=is_on)
        self._window.transcript.show_tokens(is_on=is_on)
        words = "Tokens of the next answers will be coloured." if is_on else "Tokens are not coloured any more."
        self._window.notice.say("info", words, expires_s=4)

    def choose_length(self, length: DraftTokens) -> None:
        """Draft that many tokens at most, or what pays, from the next answer on."""
        self._choices.change(draft_tokens=length)
        self._engine.note_engagement(None)

    def choose_theme(self, theme: Theme) -> None:
        """Switch between light, dark and the system's colours."""
        self._choices.change(theme=theme)
        self._theme.choose(theme)

    def about(self) -> None:
        """Say what this is, where it keeps things, and what it is made of."""
        from app.ui.about import AboutDialog

        dialog = AboutDialog(self._window)
        if self._updates is not None:
            dialog.updates_wanted.connect(self._updates.open)
        dialog.open()
