"""Pictures of formulas: asked for by the texts that are near the screen, drawn beside the window, kept within bounds.

One thread asks the process that draws (:mod:`app.chat.formula_drawing`) and makes pictures of the outlines, in black;
a text gets them in its own colour. So another theme costs no drawing, and nothing here keeps the window waiting. What
cannot be drawn is remembered, too. Nothing is drawn before :meth:`FormulaPictures.choose` has allowed it.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil
from time import monotonic
from typing import Generic, NamedTuple, Protocol, TypeVar
from weakref import WeakKeyDictionary

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QImageReader, QPainter, QPixmap

from app.chat.formula_drawing import EM, Drawer, Drawing, Undrawn

MOST_PICTURE_BYTES = 32 << 20
MOST_DRAWING_BYTES = 8 << 20
MOST_KEPT_FAULTS = 2000
_MOST_ONE_PICTURE_BYTES = 8 << 20
_IDLE_S = 120.0
"""After so long without a formula the process that draws leaves."""
_INDENT_PX, _APART_PX = 24, 5
"""A formula on lines of its own is so far in, and so far from the line above; lines are taller than what is in them."""
_MOST_PASSING_FAULTS = 3
"""A formula at which the process ends so often is not drawn."""
_MOST_LATE, _LATE_WITHIN_S = 3, 60.0
"""Of a text with so many formulas within so long that take too long, no more are drawn: each costs seconds."""
_MOST_STEP_PX = 4
"""Up to so many logical pixels a picture is made larger, so that they are whole pixels of the screen."""
_TOGETHER_MS = 40
"""Pictures that come within this time change the texts that they are for at once."""

T = TypeVar("T")


class Key(NamedTuple):
    """A formula without its delimiters, and how large it is to be: the font's size, device pixels in a pixel."""

    tex: str
    is_display: bool
    size_px: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Picture:
    """A formula in black: its size in logical pixels, and how much of its height is below the base line."""

    image: QImage
    width: float
    height: float
    descent: float

    def tinted(self, colour: str) -> QPixmap:
        """Return it in a colour."""
        image = QImage(self.image)
        painter = QPainter(image)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
        painter.fillRect(image.rect(), QColor(colour))
        painter.end()
        return QPixmap.fromImage(image)


class Asker(Protocol):
    """A text with formulas."""

    def draw(self) -> None:
        """Show the pictures that there are now."""


class _Kept(Generic[T]):
    """What was used last, up to a number of bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._n_bytes = 0
        self._kept: OrderedDict[Key | tuple[str, bool], tuple[T, int]] = OrderedDict()

    def get(self, key: Key | tuple[str, bool]) -> T | None:
        if (found := self._kept.get(key)) is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def put(self, key: Key | tuple[str, bool], value: T, n_bytes: int) -> None:
        before = self._kept.pop(key, None)
        self._n_bytes += n_bytes - (before[1] if before else 0)
        self._kept[key] = value, n_bytes
        while self._n_bytes > self._most_bytes:
            _, (_, dropped) = self._kept.popitem(last=False)
            self._n_bytes -= dropped

    def clear(self) -> None:
        self._kept.clear()
        self._n_bytes = 0

    @property
    def n_bytes(self) -> int:
        return self._n_bytes


class FormulaPictures(QObject):
    """Has formulas drawn. All but the thread of its own is for the window's thread."""

    _came = Signal()

    def __init__(self, idle_s: float = _IDLE_S) -> None:
        super().__init__()
        self.is_on = False
        self._idle_s = idle_s
        self._late_s: WeakKeyDictionary[Asker, list[float]] = WeakKeyDictionary()
        self._n_passing: Counter[tuple[str, bool]] = Counter()
        self._pictures: _Kept[Picture] = _Kept(MOST_PICTURE_BYTES)
        self._undrawable: _Kept[bool] = _Kept(MOST_KEPT_FAULTS)
        self._askers: dict[Key, list[Asker]] = {}
        self._artist: _Artist | None = None
        self._together = QTimer(self, singleShot=True, interval=_TOGETHER_MS)
        self._together.timeout.connect(self.on_pictures)
        self._came.connect(self.on_came, Qt.ConnectionType.QueuedConnection)

    @property
    def n_bytes(self) -> int:
        """How much the pictures take that are kept."""
        return self._pictures.n_bytes

    @property
    def n_waiting(self) -> int:
        """How many formulas are being waited for."""
        return len(self._askers)

    def choose(self, *, is_on: bool) -> None:
        """Have formulas drawn from now on, or not; texts that are there stay as they are."""
        self.is_on = is_on

    def picture(self, key: Key) -> Picture | None:
        """Return a picture if it is there."""
        return self._pictures.get(key)

    def ask(self, asker: Asker, keys: Iterable[Key]) -> None:
        """Have pictures drawn that are not there; the asker is told when some have come."""
        wanted = [key for key in keys if not self._undrawable.get(key[:2])]
        if not self.is_on or not wanted or len(self._late_s.get(asker, ())) >= _MOST_LATE:
            return
        artist = self._artist = self._artist or _Artist(self._came.emit, self._idle_s)
        for key in wanted:
            askers = self._askers.setdefault(key, [])
            if asker not in askers:
                askers.append(asker)
            if len(askers) == 1:
                artist.want(key)

    def forget(self, asker: Asker) -> None:
        """Draw nothing any more that only this text has asked for."""
        for key, askers in list(self._askers.items()):
            if asker in askers:
                askers.remove(asker)
                if not askers:
                    del self._askers[key]
                    if self._artist is not None:
                        self._artist.unwant(key)

    def on_came(self) -> None:
        """Wait a moment for more."""
        if not self._together.isActive():
            self._together.start()

    def on_pictures(self) -> None:
        """Keep what has come, and tell who has asked."""
        told: list[Asker] = []
        for key, picture in self._artist.take() if self._artist is not None else ():
            askers = self._askers.pop(key, [])
            if isinstance(picture, Undrawn):
                self._note_fault(key, picture, askers)
            else:
                self._pictures.put(key, picture, picture.image.sizeInBytes())
                told += (asker for asker in askers if asker not in told)
        for asker in told:
            asker.draw()

    def _note_fault(self, key: Key, fault: Undrawn, askers: list[Asker]) -> None:
        self._n_passing[key[:2]] += fault is Undrawn.PASSING
        if fault is not Undrawn.PASSING or self._n_passing[key[:2]] >= _MOST_PASSING_FAULTS:
            self._undrawable.put(key[:2], value=True, n_bytes=1)
            del self._n_passing[key[:2]]
        for asker in askers if fault is Undrawn.LATE else ():
            now_s = monotonic()
            late_s = [at_s for at_s in self._late_s.get(asker, ()) if now_s - at_s < _LATE_WITHIN_S]
            self._late_s[asker] = [*late_s, now_s]
            if len(late_s) + 1 >= _MOST_LATE:
                self.forget(asker)

    def close(self) -> Callable[[], None]:
        """Draw and keep nothing any more; what is returned waits for the end of it, on any thread."""
        self.is_on = False
        self._together.stop()
        self._askers.clear()
        self._pictures.clear()
        self._undrawable.clear()
        self._n_passing.clear()
        artist, self._artist = self._artist, None
        if artist is None:
            return lambda: None
        artist.give_up()
        return artist.join


class _Artist(threading.Thread):
    """Draws what is wanted, first come first served."""

    def __init__(self, say: Callable[[], None], idle_s: float) -> None:
        super().__init__(name="formulas", daemon=True)
        self._say, self._idle_s = say, idle_s
        self._drawer = Drawer()
        self._drawings: _Kept[Drawing] = _Kept(MOST_DRAWING_BYTES)
        self._change = threading.Condition()
        self._wanted: OrderedDict[Key, None] = OrderedDict()
        self._done: list[tuple[Key, Picture | Undrawn]] = []
        self._is_over = False
        self.start()

    def want(self, key: Key) -> None:
        with self._change:
            self._wanted[key] = None
            self._change.notify()

    def unwant(self, key: Key) -> None:
        with self._change:
            self._wanted.pop(key, None)

    def take(self) -> list[tuple[Key, Picture | Undrawn]]:
        with self._change:
            done, self._done = self._done, []
        return done

    def give_up(self) -> None:
        with self._change:
            self._is_over = True
            self._change.notify()
        self._drawer.give_up()

    def run(self) -> None:
        try:
            while (key := self._next()) is not None:
                picture = self._picture(key)
                with self._change:
                    self._done.append((key, picture))
                    is_first = len(self._done) == 1
                if is_first and not self._is_over:
                    self._say()
        finally:
            self._drawer.rest()

    def _next(self) -> Key | None:
        """Return what is wanted next; None at the end."""
        pause_s: float | None = self._idle_s
        while True:
            with self._change:
                self._change.wait_for(lambda: self._wanted or self._is_over, pause_s)
                if self._is_over:
                    return None
                if self._wanted:
                    return self._wanted.popitem(last=False)[0]
            self._drawer.rest()  # which may take a second, and keeps nobody waiting
            pause_s = None

    def _picture(self, key: Key) -> Picture | Undrawn:
        drawing = self._drawings.get(key[:2])
        if drawing is None:
            drawing = self._drawer.draw(key.tex, is_display=key.is_display)
            if drawing is None:
                return self._drawer.fault
            self._drawings.put(key[:2], drawing, len(drawing.paths))
        return _painted(drawing, key) or Undrawn.REFUSED


def _painted(drawing: Drawing, key: Key) -> Picture | None:
    """Make a picture of outlines, sharp on the screen: a whole number of its pixels, the base line on one of them.

    It is so many logical pixels, too: Qt rounds the sizes of pictures to those, and would blur it for that.
    """
    scale = key.size_px * key.ratio / EM
    aside, apart = (round(px * key.ratio) if key.is_display else 0 for px in (_INDENT_PX, _APART_PX))
    above, below = ceil(max(0.0, -drawing.top) * scale) + apart, ceil(max(0.0, drawing.descent) * scale)
    step = Fraction(key.ratio).limit_denominator(_MOST_STEP_PX).numerator
    room_x, room_y = -(ceil(drawing.width * scale) + aside) % step, -max(1, above + below) % step
    aside, above = aside + room_x // 2, above + room_y
    width, height = ceil(drawing.width * scale) + aside + room_x - room_x // 2, max(1, above + below)
    if 4 * width * height > _MOST_ONE_PICTURE_BYTES:
        return None
    box = f"{drawing.left - aside / scale} {-above / scale} {width / scale} {height / scale}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="{box}">'
    buffer = QBuffer()
    buffer.setData(QByteArray(f"{head}{drawing.paths}</svg>".encode()))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(b"svg"))
    reader.setScaledSize(QSize(width, height))
    image = reader.read().convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
    if image.isNull():
        return None
    return Picture(image, width / key.ratio, height / key.ratio, below / key.ratio)


@cache
def formula_pictures() -> FormulaPictures:
    """What draws the formulas of all texts."""
    return FormulaPictures()
