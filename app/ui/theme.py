"""Colours, fonts and icons: the palette first, style sheets only for our own widgets.

A widget asks :func:`colours` when it draws, and :func:`follow` calls it when they have changed; nobody holds a theme
object. (Not ``changeEvent``: a style sheet set in there sends another ``PaletteChange``, for ever.)
Colour never carries a meaning alone: beside it stands a word or a shape.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QGuiApplication,
    QIcon,
    QImageReader,
    QPalette,
    QPixmap,
    QShowEvent,
)
from PySide6.QtWidgets import QApplication, QToolButton, QWidget

from app.paths import is_whole, resource

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from app.settings import Contrast, Theme

W = TypeVar("W", bound=QWidget)

GRID = 8
"""Everything is a multiple of this many logical pixels, or half of it."""

_ICON_PX = 18
_EDGED = (
    "QAbstractScrollArea",
    "QAbstractSpinBox",
    "QCheckBox",
    "QComboBox",
    "QLineEdit",
    "QProgressBar",
    "QPushButton",
    "QRadioButton",
    "QTabBar",
    "QTabWidget",
)
_FUSION_EDGE = 140
"""How much darker than the window's colour, in per cent, Qt's style *Fusion* draws the edges of controls."""


class Colours(NamedTuple):
    """One scheme.

    Contrast of what is text, on window, base and raised: at least 4.5 : 1, with ``is_high`` 7 : 1. Contrast of
    ``edge``, which bounds a control, on window and base: at least 3 : 1.
    """

    is_dark: bool
    is_high: bool
    window: str
    base: str
    raised: str
    border: str
    edge: str
    text: str
    muted: str
    accent: str
    on_accent: str
    plain: str
    warning: str
    danger: str
    code_keyword: str
    code_string: str
    code_comment: str
    code_number: str
    code_name: str


LIGHT = Colours(
    is_dark=False,
    is_high=False,
    window="#f5f7f8",
    base="#ffffff",
    raised="#eaeef1",
    border="#cfd6dc",
    edge="#6f7983",
    text="#1a2026",
    muted="#55606b",
    accent="#0e6f8a",
    on_accent="#ffffff",
    plain="#a14f00",
    warning="#7d5200",
    danger="#b3261e",
    code_keyword="#8b2a8f",
    code_string="#236b2b",
    code_comment="#5f6b76",
    code_number="#94460a",
    code_name="#1a5fa8",
)
DARK = Colours(
    is_dark=True,
    is_high=False,
    window="#15191d",
    base="#1b2025",
    raised="#262d34",
    border="#39424b",
    edge="#75818c",
    text="#e5e9ed",
    muted="#9daab6",
    accent="#4cc3dc",
    on_accent="#06222a",
    plain="#f0a35e",
    warning="#e8b84d",
    danger="#ff8a80",
    code_keyword="#d7a1ec",
    code_string="#9ccf86",
    code_comment="#93a0ac",
    code_number="#efb17f",
    code_name="#86bdf5",
)
HIGH_LIGHT = Colours(
    is_dark=False,
    is_high=True,
    window="#fffffe",
    base="#ffffff",
    raised="#ececec",
    border="#3d3d3d",
    edge="#3d3d3d",
    text="#000000",
    muted="#333333",
    accent="#00425c",
    on_accent="#ffffff",
    plain="#6e2f00",
    warning="#5c3500",
    danger="#8a0b0b",
    code_keyword="#6b0f70",
    code_string="#0f4d17",
    code_comment="#3d4650",
    code_number="#6e2f00",
    code_name="#0d3f78",
)
HIGH_DARK = Colours(
    is_dark=True,
    is_high=True,
    window="#000001",
    base="#000000",
    raised="#1c1c1c",
    border="#c8c8c8",
    edge="#b4b4b4",
    text="#ffffff",
    muted="#d6d6d6",
    accent="#66e0ff",
    on_accent="#000000",
    plain="#ffbf80",
    warning="#ffd24d",
    danger="#ffaaa3",
    code_keyword="#e9baff",
    code_string="#b8f0a0",
    code_comment="#c4ccd4",
    code_number="#ffc799",
    code_name="#a6d4ff",
)
SCHEMES = (LIGHT, DARK, HIGH_LIGHT, HIGH_DARK)


class _Bus(QObject):
    changed = Signal()


@cache
def _bus() -> _Bus:
    return _Bus()


def follow(restyle: Callable[[], object]) -> None:
    """Call a widget's method now, and whenever the colours have changed, as long as the widget lives."""
    _bus().changed.connect(restyle)
    restyle()


def colours() -> Colours:
    """Return the scheme of the application's palette; before there is one, that which is most like the system's."""
    window = QGuiApplication.palette().color(QPalette.ColorRole.Window)
    name = window.name()
    return next((s for s in SCHEMES if s.window == name), DARK if window.lightness() < 128 else LIGHT)


def make_palette(scheme: Colours) -> QPalette:
    """Make the application's palette of a scheme."""
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    palette = QPalette(QColor(scheme.raised), QColor(scheme.window))
    for which, name in (
        (role.Window, scheme.window),
        (role.WindowText, scheme.text),
        (role.Base, scheme.base),
        (role.AlternateBase, scheme.raised),
        (role.Text, scheme.text),
        (role.PlaceholderText, scheme.muted),
        (role.Button, scheme.raised),
        (role.ButtonText, scheme.text),
        (role.BrightText, scheme.danger),
        (role.ToolTipBase, scheme.base),
        (role.ToolTipText, scheme.text),
        (role.Link, scheme.accent),
        (role.LinkVisited, scheme.accent),
        (role.Highlight, scheme.accent),
        (role.HighlightedText, scheme.on_accent),
        (role.Accent, scheme.accent),
        (role.Mid, scheme.border),
    ):
        palette.setColor(which, QColor(name))
    for which in (role.WindowText, role.Text, role.ButtonText, role.PlaceholderText):
        palette.setColor(group.Disabled, which, QColor(scheme.muted))
    palette.setColor(group.Disabled, role.Highlight, QColor(scheme.border))
    return palette


def edge_palette(scheme: Colours) -> QPalette:
    """Make the palette of controls with an edge: *Fusion* darkens the window's colour for it, too little to be seen."""
    palette = make_palette(scheme)
    palette.setColor(QPalette.ColorRole.Window, QColor(scheme.edge).lighter(_FUSION_EDGE))
    return palette


class ThemeSwitch(QObject):
    """Applies the person's choices to the application and follows the system while they say so."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self._choice: Theme | None = None
        self._contrast: Contrast = "system"
        self._hints = app.styleHints()  # kept: what it gives away dies with this reference
        self._hints.colorSchemeChanged.connect(self.on_system_changed)
        self._wishes = self._hints.accessibility()
        self._wishes.contrastPreferenceChanged.connect(self.on_system_changed)

    def choose(self, choice: Theme, contrast: Contrast | None = None) -> None:
        """Switch to light, dark, or whatever the system has, with high contrast or without; None: as it is."""
        first, self._choice = self._choice is None, choice
        self._contrast = contrast or self._contrast
        if first and choice == "system":
            self._apply(is_dark=colours().is_dark)  # Qt's own palette is that of the system
            return
        from PySide6.QtCore import Qt  # a tenth of the time to the first paint, so not unless it must be

        schemes = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark, "system": Qt.ColorScheme.Unknown}
        self._hints.setColorScheme(schemes[choice])  # the window's frame follows
        self._apply(is_dark=self._hints.colorScheme().name == "Dark" if choice == "system" else choice == "dark")

    def on_system_changed(self) -> None:
        """Follow the system in what was left to it."""
        if self._choice is not None and "system" in (self._choice, self._contrast):
            self.choose(self._choice)

    @property
    def is_high(self) -> bool:
        """Whether contrast is to be high."""
        if self._contrast != "system":
            return self._contrast == "high"
        return self._wishes.contrastPreference().name == "HighContrast"

    def _apply(self, *, is_dark: bool) -> None:
        before, is_high = colours(), self.is_high
        scheme = next(s for s in SCHEMES if (s.is_dark, s.is_high) == (is_dark, is_high))
        self._app.setPalette(make_palette(scheme))
        if self._app.style().name() == "fusion":
            edged = edge_palette(scheme)
            for kind in _EDGED:
                self._app.setPalette(edged, kind)  # type: ignore[arg-type]  # a text is what it takes
        if colours() is not before:
            _bus().changed.emit()


def text_font(extra_pt: float = 0.0, *, bold: bool = False) -> QFont:
    """Return the platform's own font, larger or smaller by some points."""
    font = QFont(QGuiApplication.font())
    font.setPointSizeF(max(7.0, font.pointSizeF() + extra_pt))
    if bold:
        font.setWeight(QFont.Weight.DemiBold)
    return font


def number_font(extra_pt: float = 0.0, *, bold: bool = False) -> QFont:
    """Return a font whose figures all have one width, so that numbers do not dance."""
    font = text_font(extra_pt, bold=bold)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def code_font(extra_pt: float = 0.0) -> QFont:
    """Return the platform's fixed-pitch font."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(text_font(extra_pt).pointSizeF())
    return font


_NO_PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"/>'


@cache
def _source(name: str) -> str:
    try:
        return resource("icons", f"{name}.svg").read_text(encoding="utf-8")
    except FileNotFoundError:
        if is_whole():
            raise
        return _NO_PICTURE  # words go on without it


@cache
def _pixmap(name: str, colour: str, px: int) -> QPixmap:
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice

    buffer = QBuffer()
    buffer.setData(QByteArray(_source(name).replace("currentColor", colour).encode()))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(b"svg"))
    reader.setScaledSize(QSize(px, px))
    return QPixmap.fromImage(reader.read())


def icon(name: str, colour: str, size_px: int = _ICON_PX) -> QIcon:
    """Return an icon of ``resources/icons`` in a colour, sharp on the sharpest screen there is."""
    scale = max((screen.devicePixelRatio() for screen in QGuiApplication.screens()), default=1.0)
    pixmap = QPixmap(_pixmap(name, colour, round(size_px * scale)))
    pixmap.setDevicePixelRatio(scale)
    return QIcon(pixmap)


def named(widget: W, name: str) -> W:
    """Give a widget the name that a style sheet knows it by, and return it."""
    widget.setObjectName(name)
    return widget


def see_through(widget: QWidget) -> None:
    """Let what is behind a text or a list show; by the palette, since a style sheet would reach its scroll bars too."""
    palette = widget.palette()
    palette.setColor(QPalette.ColorRole.Base, QColor(0, 0, 0, 0))
    widget.setPalette(palette)


class IconButton(QToolButton):
    """A flat button with an icon that keeps the colour of the text, and a name for those who cannot see it."""

    def __init__(self, icon_name: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon_name = icon_name
        self.setAutoRaise(True)
        self.setIconSize(QSize(_ICON_PX, _ICON_PX))
        self._is_tinted = False
        self.rename(name)

    def rename(self, name: str, icon_name: str = "") -> None:
        """Give the button another meaning."""
        self.setToolTip(name)
        self.setAccessibleName(name.partition(" (")[0])
        if icon_name and icon_name != self._icon_name:
            self._icon_name = icon_name
            self._tint()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw the icon when it is first needed."""
        if not self._is_tinted:
            self._is_tinted = True
            follow(self._tint)
        super().showEvent(event)

    def _tint(self) -> None:
        self.setIcon(icon(self._icon_name, colours().text))
