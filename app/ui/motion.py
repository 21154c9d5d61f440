"""Little motion, for those whom motion makes ill or draws away: what moves by itself asks here first.

Qt's own effects and the blinking of the cursor are switched off, and what follows an answer is drawn in calm steps
(:mod:`app.ui.pace`).
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QProgressBar

if TYPE_CHECKING:
    from app.settings import Motion

_EFFECTS = (
    Qt.UIEffect.UI_AnimateMenu,
    Qt.UIEffect.UI_FadeMenu,
    Qt.UIEffect.UI_AnimateCombo,
    Qt.UIEffect.UI_AnimateTooltip,
    Qt.UIEffect.UI_FadeTooltip,
    Qt.UIEffect.UI_AnimateToolBox,
)
_SPI_GETCLIENTAREAANIMATION = 0x1042


class _Motion:
    is_reduced = False


@cache
def _state() -> _Motion:
    return _Motion()


@cache
def _usual() -> tuple[int, tuple[Qt.UIEffect, ...]]:
    """What the system had before anything was changed: the cursor's flash time, and the effects that were on."""
    return QApplication.cursorFlashTime(), tuple(e for e in _EFFECTS if QApplication.isEffectEnabled(e))


def is_reduced() -> bool:
    """Whether nothing is to move that need not."""
    return _state().is_reduced


def choose(choice: Motion) -> None:
    """Take the person's choice, or the system's."""
    flash_ms, effects = _usual()
    reduced = choice == "reduced" or (choice == "system" and _does_system_want_less())
    _state().is_reduced = reduced
    QApplication.setCursorFlashTime(0 if reduced else flash_ms)
    for effect in effects:
        QApplication.setEffectEnabled(effect, not reduced)


def show_busy(bar: QProgressBar) -> None:
    """Let a bar say that something goes on whose end is not known: by running to and fro, or standing still."""
    bar.setRange(0, 1 if is_reduced() else 0)
    bar.setValue(0)


def _does_system_want_less() -> bool:
    """Ask Windows; Qt knows of no such wish on other systems."""
    if sys.platform == "win32":
        import ctypes

        is_animated = ctypes.c_int(1)
        ctypes.windll.user32.SystemParametersInfoW(_SPI_GETCLIENTAREAANIMATION, 0, ctypes.byref(is_animated), 0)
        return not is_animated.value
    return False
