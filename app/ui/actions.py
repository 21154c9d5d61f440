"""Everything that can be done in the window, by name: the one list that the menu, the palette and the keys read.

Who can do something says so once, with its words and its keys. Keys that a widget hears itself, as the letters of a
message, are noted here too, so that the list of shortcuts is whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Literal

from PySide6.QtCore import QObject, QSettings
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from app.ui.tr import tr

Group = Literal["conversation", "message", "models", "speed", "view", "program"]
GROUPS: dict[Group, str] = {
    "conversation": tr("Conversation"),
    "message": tr("Message"),
    "models": tr("Models"),
    "speed": tr("Speed"),
    "view": tr("View"),
    "program": tr("Program"),
}
"""The groups with their words, in the order of the menu."""

WINDOW = tr("Window")
"""Where a key is heard: anywhere in the main window."""

_RECENT, _MAX_RECENT = "recent_actions", 8


def always() -> bool:
    """Say that something can always be done."""
    return True


@dataclass(frozen=True, slots=True)
class WindowAction:
    """Something to do.

    Attributes:
        name: what it is known by, as ``chat.new``; never shown.
        words: what it is called, as a menu says it.
        run: does it.
        group: where the menu and the lists put it.
        keys: shortcuts, the first of them shown; as Qt's portable text.
        submenu: the menu inside the menu that holds it, with ``choice`` as its words there.
        also: other words that people look for.
        is_offered: whether it makes sense now; looked at before it is shown, and before it is done.
        is_on: whether it is switched on or chosen now; None for what is no switch.
        in_menu: whether the window's menu lists it.
    """

    name: str
    words: str
    run: Callable[[], object]
    group: Group
    keys: tuple[str, ...] = ()
    _: KW_ONLY
    submenu: str = ""
    choice: str = ""
    also: str = ""
    is_offered: Callable[[], bool] = always
    is_on: Callable[[], bool] | None = None
    in_menu: bool = True


@dataclass(frozen=True, slots=True)
class LocalKey:
    """A key that one part of the window hears while the keyboard is there."""

    where: str
    keys: str
    words: str


class ActionList(QObject):
    """The actions of one window, in the order in which they came."""

    def __init__(self, window: QWidget, state: QSettings) -> None:
        super().__init__(window)
        self._window, self._state = window, state
        self._actions: dict[str, WindowAction] = {}
        self._shortcuts: list[QShortcut] = []
        self._local: list[LocalKey] = []
        self._sources: list[Callable[[], Iterable[WindowAction]]] = []
        self._keys: dict[str, str] = {}

    def clear(self) -> None:
        """Forget everything: another program moves in behind the window."""
        for shortcut in self._shortcuts:
            shortcut.setParent(None)
            shortcut.deleteLater()
        for kept in (self._shortcuts, self._local, self._sources):
            kept.clear()
        for known in (self._actions, self._keys):
            known.clear()

    def add(self, *actions: WindowAction) -> None:
        """Take actions in and let their keys do them anywhere in the window.

        Raises:
            ValueError: a name or a key is taken; whoever adds it has to choose another.
        """
        for action in actions:
            if action.name in self._actions:
                raise ValueError(f"there is an action {action.name} already")
            self._actions[action.name] = action
            for keys in action.keys:
                self._claim(WINDOW, keys, action.name)
                shortcut = QShortcut(QKeySequence(keys), self._window, partial(self.run, action.name))
                self._shortcuts.append(shortcut)

    def add_source(self, source: Callable[[], Iterable[WindowAction]]) -> None:
        """Ask for more actions whenever they are listed, as for presets that come and go; their keys are not heard."""
        self._sources.append(source)

    def note_keys(self, where: str, keys: Iterable[tuple[str, str]]) -> None:
        """List keys, with words, that a part of the window hears itself.

        Raises:
            ValueError: that part has one of them already.
        """
        for key, words in keys:
            self._claim(where, key, words)
            self._local.append(LocalKey(where, key, words))

    def _claim(self, where: str, keys: str, owner: str) -> None:
        place = f"{where}: {QKeySequence(keys).toString(QKeySequence.SequenceFormat.PortableText)}"
        if QKeySequence(keys).isEmpty() or place in self._keys:
            raise ValueError(f"{place or keys} is no key, or does {self._keys.get(place, 'nothing')} already ({owner})")
        self._keys[place] = owner

    # --- reading --------------------------------------------------------------------------------------

    def all(self) -> list[WindowAction]:
        """Everything, whether or not it can be done now."""
        return [*self._actions.values(), *(action for source in self._sources for action in source())]

    def offered(self) -> list[WindowAction]:
        """What can be done now."""
        return [action for action in self.all() if action.is_offered()]

    @property
    def local_keys(self) -> tuple[LocalKey, ...]:
        """The keys that parts of the window hear themselves."""
        return tuple(self._local)

    def find(self, name: str) -> WindowAction | None:
        """Return the action of that name."""
        return self._actions.get(name) or next(
            (a for source in self._sources for a in source() if a.name == name), None
        )

    # --- doing ----------------------------------------------------------------------------------------

    def run(self, name: str) -> bool:
        """Do something, if it can be done now; return whether it was."""
        action = self.find(name)
        if action is None or not action.is_offered():
            return False
        action.run()
        return True

    def pick(self, name: str) -> bool:
        """Do what was picked in the palette, and remember that it was."""
        names = [name, *(other for other in self.recent if other != name)]
        self._state.setValue(_RECENT, names[:_MAX_RECENT])
        return self.run(name)

    @property
    def recent(self) -> list[str]:
        """The names of what was picked lately, the last one first."""
        kept = self._state.value(_RECENT) or []
        names = kept if isinstance(kept, list) else [kept]  # of a list of one, the file keeps the one
        return [name for name in names if isinstance(name, str)]


def keys_words(keys: tuple[str, ...] | str) -> str:
    """Return the first of some keys as the platform writes it; "" without any."""
    first = keys if isinstance(keys, str) else keys[0] if keys else ""
    return str(QKeySequence(first).toString(QKeySequence.SequenceFormat.NativeText))
