"""The model options: opens the popup, keeps what is chosen, and has the pair loaded again where that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt

from app.memory_types import is_quantised
from app.settings import Settings
from app.ui.actions import WindowAction
from app.ui.model_options import ModelOptions
from app.ui.theme import GRID
from app.ui.tr import tr
from app.ui.wording import tree_words

if TYPE_CHECKING:
    from app.host import Host, PairChoice
    from app.ui.choices import Choices
    from app.ui.engine_control import EngineControl
    from app.ui.main_window import MainWindow

FIELDS = (
    *("draft_tokens", "slide", "exact", "fixed_shape", "lenient"),
    *("n_ctx", "n_threads", "type_k", "type_v", "flash_attention", "trees"),
    *("draft_n_ctx", "draft_n_threads", "draft_type_k", "draft_type_v"),
)
"""The settings that the popup is about."""


class OptionsControl(QObject):
    """Between the popup on one side, settings and engine on the other."""

    def __init__(self, window: MainWindow, host: Host, choices: Choices, engine: EngineControl) -> None:
        super().__init__(window)
        self._window, self._host, self._choices, self._engine = window, host, choices, engine
        self._before: PairChoice | None = None
        self.popup: ModelOptions | None = None
        window.pair_bar.options_requested.connect(self.open)
        window.action_list.add(
            WindowAction(
                "models.options",
                tr("Model options…"),
                self.open,
                "models",
                ("Ctrl+Shift+M",),
                also=tr("context threads"),
            )
        )

    def open(self) -> None:
        """Show the options below their button."""
        if self.popup is not None:
            return
        popup = self.popup = ModelOptions(self._window)
        popup.chosen.connect(self.on_chosen)
        popup.defaults_wanted.connect(self.on_defaults)
        popup.closed.connect(self.on_closed)
        self._before = self._choices.pair()
        self.refresh()
        popup.adjustSize()
        popup.move(self._place(popup))
        popup.show()
        popup.adjustSize()  # the lists know only now how wide they are
        popup.move(self._place(popup))
        popup.length.setFocus(Qt.FocusReason.TabFocusReason)

    def _place(self, popup: ModelOptions) -> QPoint:
        """Return where the popup's right edge is the button's, as far as the screen has room."""
        button = self._window.pair_bar.options_button
        corner = button.mapToGlobal(button.rect().bottomRight())
        room = self._window.screen().availableGeometry().adjusted(GRID, GRID, -GRID, -GRID)
        x = max(room.left(), min(corner.x() - popup.width(), room.right() - popup.width()))
        y = max(room.top(), min(corner.y() + 2, room.bottom() - popup.height()))
        return QPoint(x, y)

    def refresh(self) -> None:
        """Show the settings as they are now."""
        if self.popup is None:
            return
        state = self._host.state
        self.popup.show_settings(
            self._choices.settings,
            n_ctx_train=state.loaded.target.n_ctx_train if state.loaded else 0,
            n_threads=state.loaded.n_threads if state.loaded else 0,
            n_rows_alike=state.loaded.n_rows_alike if state.loaded else 0,
            tree_words=tree_words(state.loaded),
            can_load=state.phase != "answering",
        )

    def on_chosen(self, values: dict[str, object]) -> None:
        """Keep a choice; one that cannot be without another takes that along."""
        chosen = self._choices.settings
        types_v = (str(values.get(name, "")) for name in ("type_v", "draft_type_v"))
        if any(map(is_quantised, types_v)) and chosen.flash_attention == "off":
            values = {**values, "flash_attention": "auto"}
        self._choices.change(**values)
        if {"draft_tokens", "spec_types", "fixed_shape", "lenient"} & set(values):
            self._engine.note_engagement(None)
        self.refresh()

    def on_defaults(self) -> None:
        """Choose what was chosen in the beginning."""
        self.on_chosen({name: getattr(Settings(), name) for name in FIELDS})

    def on_closed(self) -> None:
        """Load the pair as it is chosen now, if that is not how it was chosen before."""
        if self.popup is not None:
            self.popup.deleteLater()
            self.popup = None
            if self._choices.pair() != self._before:
                self._engine.load()
