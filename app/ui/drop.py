"""What is shown when model files are dropped on the window: each judged, with what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.ui.dialog_size import fit
from app.ui.said import said
from app.ui.theme import GRID, colours, follow, icon, named, text_font
from app.ui.tr import tr
from app.ui.wording import bytes_words, tip

if TYPE_CHECKING:
    from app.models.importing import How
    from app.models.inspection import Inspected
    from app.models.pairs import Judgement

_SIZE = (640, 420)
_HOWS: tuple[tuple[How, str, str], ...] = (
    ("copy", tr("Copy it"), tr("The file stays where it is, too.")),
    ("move", tr("Move it"), tr("The file leaves the place where it is now.")),
    ("link", tr("Link to it"), tr("Takes no room; the file has to stay where it is.")),
)
_STANDINGS = {
    "fits now": tr("It fits into the memory that is free now."),
    "fits when other programs are closed": tr("It fits when other programs are closed."),
    "too large for this machine": tr("It is too large for this computer's memory."),
}
_VEIL = """
QLabel { background: %(base)s; color: %(text)s; border: 2px dashed %(accent)s; border-radius: 12px; padding: 24px; }
"""
_ROW = "QFrame#dropped { background: %(base)s; border: 1px solid %(border)s; border-radius: 8px; }"


class DropVeil(QLabel):
    """Lies over the window while something is dragged across it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setFont(text_font(4.0, bold=True))
        self.hide()
        follow(self._tint)

    def cover(self, words: str) -> None:
        """Say what a drop would do."""
        self.setText(words)
        self.setAccessibleName(words)
        margin = 3 * GRID
        self.setGeometry(self._over.rect().adjusted(margin, margin, -margin, -margin))
        self.show()
        self.raise_()

    def _tint(self) -> None:
        self.setStyleSheet(_VEIL % colours()._asdict())


class DropRow(QFrame):
    """One file. What its buttons mean is the control's business."""

    load_requested = Signal()
    draft_requested = Signal()
    import_requested = Signal(str)
    cancel_requested = Signal()

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.setObjectName("dropped")
        self.path = path
        self.found: Inspected | None = None
        self.title = QLabel(path.name, wordWrap=True)
        self.title.setFont(text_font(1.0, bold=True))
        self.facts = named(QLabel(tr("Looking at it…"), wordWrap=True), "muted")
        self._icon, self.verdict = QLabel(), QLabel(wordWrap=True)
        self.load = QPushButton(tr("&Load now"))
        self.draft = QPushButton(tr("Use as &drafter"))
        self.how = QComboBox()
        self.take = QPushButton(tr("&Add to my models"))
        self.progress = QProgressBar(textVisible=False)
        self.cancel = QPushButton(tr("Cancel"))
        self._verdict_icon = ""
        self._build()
        self._connect()
        follow(self._tint)

    def _build(self) -> None:
        for label in (self.title, self.facts, self.verdict):
            label.setTextFormat(Qt.TextFormat.PlainText)
        for how, words, detail in _HOWS:
            self.how.addItem(words, how)
            self.how.setItemData(self.how.count() - 1, detail, Qt.ItemDataRole.ToolTipRole)
        name = self.path.name
        self.how.setAccessibleName(tr("How to add {name}").format(name=name))
        self.progress.setAccessibleName(tr("Adding {name}").format(name=name))
        for button in (self.load, self.draft, self.take, self.cancel):
            button.setAccessibleName(f"{button.text().replace('&', '')}: {name}")
        said = QHBoxLayout()
        said.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        said.addWidget(self.verdict, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self.load)
        buttons.addWidget(self.draft)
        buttons.addStretch(1)
        buttons.addWidget(self.how)
        buttons.addWidget(self.take)
        working = QHBoxLayout()
        working.addWidget(self.progress, 1)
        working.addWidget(self.cancel)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID + 4, GRID, GRID + 4, GRID)
        column.addWidget(self.title)
        column.addWidget(self.facts)
        for layout in (said, buttons, working):
            column.addLayout(layout)
        self._show_parts(are_offered=False)

    def _connect(self) -> None:
        self.load.clicked.connect(self.load_requested)
        self.draft.clicked.connect(self.draft_requested)
        self.take.clicked.connect(lambda: self.import_requested.emit(self.how.currentData()))
        self.cancel.clicked.connect(self.cancel_requested)

    def show_found(self, found: Inspected) -> None:
        """Show what it is, and offer what can be done with it."""
        self.found = found
        if found.entry is None:
            self.facts.hide()
            self.say(f"{said(found.problem)} {said(found.hint)}".strip(), "close")
            return
        entry = found.entry
        self.facts.setText(f"{entry.architecture} · {entry.quantisation} · {bytes_words(entry.n_bytes)}")
        about = tr("About {bytes_words} of memory. {standings}").format(
            bytes_words=bytes_words(found.needed_bytes), standings=_STANDINGS[found.standing]
        )
        where = " " + tr("It is among your models already.") if found.is_ours else ""
        if found.only_drafts:
            about = tr("It holds only heads that draft for the model that they were trained with.")
        draft = found.as_draft
        can_help = found.standing == "fits now" and not (found.only_drafts and (draft is None or not draft.fits))
        self.say(f"{about}{where} {draft_words(draft)}".strip(), "check" if can_help else "warning")
        self.draft.setEnabled(draft is not None and draft.fits)
        self.draft.setToolTip(tip("\n".join(map(said, draft.reasons))) if draft is not None else "")
        self._show_parts(are_offered=True)
        self.load.setVisible(not found.only_drafts)
        self.how.setVisible(not found.is_ours)
        self.take.setVisible(not found.is_ours)

    def say(self, words: str, icon_name: str) -> None:
        """Say how it stands."""
        self.verdict.setText(words)
        self._verdict_icon = icon_name
        self._tint()

    def show_progress(self, fraction: float) -> None:
        """Show how far it is."""
        self._show_parts(are_offered=False)
        self.progress.show()
        self.cancel.show()
        self.progress.setValue(round(100 * fraction))

    def show_end(self, words: str, icon_name: str, *, is_ours: bool) -> None:
        """Say how adding it ended."""
        self._show_parts(are_offered=True)
        self.say(words, icon_name)
        for part in (self.how, self.take):
            part.setVisible(not is_ours)
        self.load.setVisible(self.found is not None and not self.found.only_drafts)

    def _show_parts(self, *, are_offered: bool) -> None:
        for part in (self.load, self.draft, self.how, self.take):
            part.setVisible(are_offered)
        self.progress.hide()
        self.cancel.hide()

    def _tint(self) -> None:
        scheme = colours()
        self.setStyleSheet(_ROW % scheme._asdict())
        colour = {"check": scheme.accent, "warning": scheme.warning, "close": scheme.danger}
        if self._verdict_icon:
            self._icon.setPixmap(icon(self._verdict_icon, colour[self._verdict_icon]).pixmap(16, 16))


def draft_words(draft: Judgement | None) -> str:
    """Whether a file could draft for the model in use, with the first reason why not."""
    if draft is None:
        return ""
    if draft.fits:
        return tr("It can draft for {target}.").format(target=draft.target)
    return tr("It cannot draft for {target}: {reasons}").format(target=draft.target, reasons=said(draft.reasons[0]))


class DropDialog(QDialog):
    """The files that were dropped."""

    def __init__(self, paths: Sequence[Path], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Model files"))
        self.rows = [DropRow(path) for path in paths]
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        for row in self.rows:
            column.addWidget(row)
        column.addStretch(1)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName(tr("Files"))
        scroll.setWidget(inside)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        outer = QVBoxLayout(self)
        outer.addWidget(scroll, 1)
        outer.addWidget(buttons)
        n_high = min(len(self.rows), 3)
        fit(self, _SIZE[0], min(_SIZE[1], 90 + 130 * n_high))
