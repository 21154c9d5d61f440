"""The parts beside the chat, put away while the window is too narrow for them, so that nothing lies over anything."""

from __future__ import annotations

from PySide6.QtWidgets import QSplitter, QWidget


class SideParts:
    """Hides what there is no room for, the first part first, and shows it again when there is room.

    Args:
        splitter: what holds the parts.
        parts: those that may go, in this order.
    """

    def __init__(self, splitter: QSplitter, *parts: QWidget) -> None:
        self._splitter, self._parts = splitter, parts
        self._put_away: list[QWidget] = []

    def fit(self, width_px: int, keep: QWidget | None = None) -> None:
        """Put away what does not fit into this width, but for one part, and bring back what fits again."""
        for part in self._parts:
            if part is not keep and not part.isHidden() and self._needed_px() > width_px:
                part.hide()
                self._put_away.append(part)
        while self._put_away and self._needed_px(self._put_away[-1]) <= width_px:
            self._put_away.pop().show()

    def toggle(self, part: QWidget, width_px: int) -> None:
        """Show or hide a part as a person asks; another one makes room for it."""
        self._put_away = [one for one in self._put_away if one is not part]
        part.setVisible(part.isHidden())
        self.fit(width_px, keep=part)

    def is_wanted(self, part: QWidget) -> bool:
        """Tell whether a part is shown, or would be if there were room."""
        return not part.isHidden() or part in self._put_away

    def _needed_px(self, more: QWidget | None = None) -> int:
        """Return the least width of what is shown, with one part more."""
        widgets = (self._splitter.widget(n) for n in range(self._splitter.count()))
        shown = [one for one in widgets if one is not None and (not one.isHidden() or one is more)]
        least = sum(widget.minimumWidth() or widget.minimumSizeHint().width() for widget in shown)  # as the splitter
        return least + self._splitter.handleWidth() * (len(shown) - 1)
