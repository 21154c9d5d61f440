"""How the pair is loaded and drafts, to be chosen in a popup at the pair bar, in words.

What is chosen is kept at once; what needs the model to be loaded again has that done once, when the popup closes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent, QStandardItemModel
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.memory_types import is_quantised
from app.protocol import SpecType
from app.ui.font_size import font_bus
from app.ui.option_words import (
    DRAFT_LENGTHS,
    FLASH,
    LENIENT_SHARES,
    MEMORIES,
    SAME_MEMORY,
    contexts,
    draft_contexts,
    draft_memory_words,
    exact_words,
    length_words,
    lenient_words,
    memory_words,
    trees_tip,
)
from app.ui.switch import Switch
from app.ui.theme import GRID, named, text_font
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.settings import Settings

RELOAD = tr("A change needs a reload, which begins when this closes.")
BUSY = tr("These can be changed when the answer is complete.")

_WIDTH_PX, _LABEL_PX = 400, 136


class Choice(QComboBox):
    """A list of values in words."""

    picked = Signal(object)

    def __init__(self, name: str, why: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setToolTip(why)
        self._values: list[object] = []
        self.activated.connect(lambda index: self.picked.emit(self._values[index]))

    def fill(self, values: Iterable[tuple[object, str]], current: object) -> None:
        """Offer values with their words; ``current``, which is among them, is shown."""
        with QSignalBlocker(self):
            self.clear()
            self._values = []
            for value, words in values:
                self._values.append(value)
                self.addItem(words)
            self.setCurrentIndex(self._values.index(current))

    def allow(self, value: object, *, is_allowed: bool) -> None:
        """Let a value be chosen or not."""
        model = self.model()
        if isinstance(model, QStandardItemModel):
            model.item(self._values.index(value)).setEnabled(is_allowed)

    def pick(self, value: object) -> None:
        """Choose a value as a person does."""
        index = self._values.index(value)
        self.setCurrentIndex(index)
        self.activated.emit(index)


class _Threads(QSpinBox):
    """A number of threads, 0 in words."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__()
        self.setKeyboardTracking(False)
        self.setAccessibleName(name)
        self.setToolTip(why)

    def show_number(self, n: int, words_for_none: str) -> None:
        """Show a number."""
        self.setRange(0, max(os.cpu_count() or 1, n))
        self.setSpecialValueText(words_for_none)
        self.setValue(n)


class ModelOptions(QFrame):
    """The popup. It shows settings and says what is chosen; it changes nothing itself."""

    chosen = Signal(dict)  # fields of Settings and their new values
    defaults_wanted = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        named(self, "options")
        self.setAccessibleName(tr("Model options"))
        self.length = Choice(tr("Draft length"), tr("How many tokens the drafter runs ahead, at most."))
        self.slide = Switch(tr("Leave out the oldest turns when the context is full"))
        self.slide.setToolTip(
            tr("Otherwise a conversation that is too long stops and says so. The turns stay on the screen.")
        )
        self.ngram_first = Switch(tr("Let n-gram draft first, where the text repeats itself"))
        self.ngram_first.setToolTip(
            tr("It costs next to nothing; the drafter that is chosen steps in where it has nothing.")
        )
        self.exact = Switch(tr("Only drafts that cannot change a word"))
        self._make_verifying()
        self._make_drafting()
        self._models: tuple[SpecType, ...] = ()
        self.context = Choice(
            tr("Context length"), tr("How much of the conversation the model can look at. Longer takes more memory.")
        )
        self.memory = Choice(
            tr("Conversation memory"), tr("How exactly both models keep the conversation in memory (their KV cache).")
        )
        self.flash = Choice(
            tr("Flash attention"),
            tr(
                "Attention in one pass over the memory; 8 and 4 bits need it. Off, the last digits depend on how many "
                "tokens are checked at once, so a draft can tip a near tie."
            ),
        )
        self.threads = _Threads(
            tr("Threads"), tr("Processor threads to compute with. More than there are fast cores seldom helps.")
        )
        self._reload = named(QLabel(RELOAD, wordWrap=True), "muted")
        self._reload.setFont(text_font(-0.5))
        of_draft = (self.draft_context, self.draft_memory, self.draft_threads)
        self._at_load = (self.context, self.memory, self.flash, self.threads, *of_draft, self.trees)
        for widget in self._at_load:
            widget.setAccessibleDescription(RELOAD)
        self._inner, self._area, self._below = QWidget(), QScrollArea(widgetResizable=True), self._buttons()
        self._connect()
        self._build()

    def _make_verifying(self) -> None:
        """Make what says how drafts are checked."""
        self.fixed_shape = Switch(tr("Check as many tokens each time (fixed shape)"))
        self.fixed_shape.setToolTip(
            tr(
                "For devices that compile a graph for one size: each check is padded to the longest draft. The answer "
                "stays the same; elsewhere this only costs time, and the figures of an answer show the wasted rows."
            )
        )
        self.lenient = Choice(
            tr("Lenient acceptance (lossy)"),
            tr(
                "LOSSY: also keep a guessed token that is likely enough for the model, though it would have said "
                "another. This is faster and changes the answer; such an answer is called lossy wherever it shows, "
                "and counts in no verdict."
            ),
        )
        self.trees = Switch(tr("Let the drafter branch where it is unsure (token trees)"))

    def _make_drafting(self) -> None:
        """Make what a drafter is loaded with, where that is not what its target is."""
        self.draft_context = Choice(
            tr("Context of the drafter"),
            tr(
                "How much of the conversation a draft model looks at. Shorter takes less memory, and it guesses from "
                "the last part; the answer stays the same. MTP heads have the model's."
            ),
        )
        self.draft_memory = Choice(
            tr("Memory of the drafter"),
            tr(
                "How exactly a draft model or MTP heads keep the conversation in memory. Less exact, their guesses can"
                " be worse; the answer stays the same."
            ),
        )
        self.draft_threads = _Threads(
            tr("Threads of the drafter"), tr("Processor threads that a draft model or MTP heads compute with.")
        )

    def _connect(self) -> None:
        self.length.picked.connect(lambda n: self.chosen.emit({"draft_tokens": n}))
        self.exact.toggled.connect(lambda is_on: self.chosen.emit({"exact": is_on}))
        self.fixed_shape.toggled.connect(lambda is_on: self.chosen.emit({"fixed_shape": is_on}))
        self.lenient.picked.connect(lambda share: self.chosen.emit({"lenient": share}))
        self.trees.toggled.connect(lambda is_on: self.chosen.emit({"trees": is_on}))
        self.slide.toggled.connect(lambda is_on: self.chosen.emit({"slide": is_on}))
        self.ngram_first.toggled.connect(self.on_ngram_first)
        self.context.picked.connect(lambda n: self.chosen.emit({"n_ctx": n}))
        self.memory.picked.connect(lambda types: self.chosen.emit({"type_k": types[0], "type_v": types[1]}))
        self.flash.picked.connect(lambda word: self.chosen.emit({"flash_attention": word}))
        self.threads.valueChanged.connect(lambda n: self.chosen.emit({"n_threads": n}))
        self.draft_context.picked.connect(lambda n: self.chosen.emit({"draft_n_ctx": n}))
        self.draft_memory.picked.connect(
            lambda types: self.chosen.emit({"draft_type_k": types[0], "draft_type_v": types[1]})
        )
        self.draft_threads.valueChanged.connect(lambda n: self.chosen.emit({"draft_n_threads": n}))

    def _build(self) -> None:
        column = QVBoxLayout(self._inner)
        column.setContentsMargins(2 * GRID, 0, 2 * GRID, 0)
        column.setSpacing(GRID)
        column.addWidget(_heading(tr("From the next answer on")))
        column.addLayout(_rows([(tr("&Draft length"), self.length), (tr("&Lenient (lossy)"), self.lenient)]))
        column.addWidget(self.ngram_first)
        column.addWidget(self.exact)
        column.addWidget(self.fixed_shape)
        column.addWidget(self.slide)
        column.addSpacing(GRID // 2)
        column.addWidget(_heading(tr("When the model is loaded")))
        column.addWidget(self._reload)
        of_draft = (tr("Drafter's conte&xt"), tr("D&rafter's memory"), tr("Drafter's t&hreads"))
        at_load = (tr("&Context length"), tr("Conversation &memory"), tr("&Flash attention"), tr("&Threads"), *of_draft)
        column.addLayout(_rows(list(zip(at_load, self._at_load, strict=False))))
        column.addWidget(self.trees)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # it follows the control that has the keyboard
        self._area.setWidget(self._inner)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, GRID + 4, 0, GRID + 4)
        whole.setSpacing(GRID + 4)
        whole.setSizeConstraint(QLayout.SizeConstraint.SetFixedSize)
        whole.addWidget(self._area)
        whole.addLayout(self._below)
        font_bus().changed.connect(self._fit)

    def _fit(self) -> None:
        self.fit_into(self.screen().availableGeometry().height() - 2 * GRID)

    def fit_into(self, room_px: int) -> None:
        """Be as large as the texts want, and no higher than there is room: then the rows are scrolled."""
        for threads in (self.threads, self.draft_threads):
            threads.setMinimumHeight(self.context.sizeHint().height())
        width = max(_WIDTH_PX, self._inner.sizeHint().width(), self._inner.minimumSizeHint().width())
        height = self._inner.heightForWidth(width)
        room_px -= 3 * (GRID + 4) + self._below.sizeHint().height() + 2 * self.frameWidth()
        bar_px = self._area.verticalScrollBar().sizeHint().width() if height > room_px else 0
        self._area.setFixedSize(width + bar_px, min(height, room_px))

    def _buttons(self) -> QHBoxLayout:
        defaults, done = QPushButton(tr("Defa&ults")), QPushButton(tr("D&one"))
        defaults.setToolTip(tr("All of these as they were in the beginning."))
        defaults.clicked.connect(self.defaults_wanted)
        done.clicked.connect(self.close)
        row = QHBoxLayout()
        row.setContentsMargins(2 * GRID, 0, 2 * GRID, 0)
        row.addStretch(1)
        row.addWidget(defaults)
        row.addWidget(done)
        return row

    def show_settings(
        self,
        settings: Settings,
        *,
        n_ctx_train: int,
        n_threads: int,
        n_rows_alike: int,
        tree_words: str,
        can_load: bool,
    ) -> None:
        """Show what is chosen.

        Args:
            settings: what is chosen.
            n_ctx_train: the longest context of the model that is loaded, 0 if none is.
            n_threads: what it computes with, 0 if none is loaded.
            n_rows_alike: rows at once that its target computes as it does one, 0 if none is loaded.
            tree_words: what came of trying token trees, or why they cannot be; "" if nothing is known.
            can_load: whether a model could be loaded now.
        """
        lengths = dict.fromkeys((*DRAFT_LENGTHS, settings.draft_tokens))
        self.length.fill(((n, length_words(n)) for n in lengths), settings.draft_tokens)
        types = (settings.type_k, settings.type_v)
        self.context.fill(contexts(n_ctx_train, settings.n_ctx), settings.n_ctx)
        self.memory.fill(((t, memory_words(*t)) for t in dict.fromkeys((*MEMORIES, types))), types)
        self.flash.fill(FLASH.items(), settings.flash_attention)
        self._show_drafting(settings, settings.n_ctx or n_ctx_train)
        self.flash.allow("off", is_allowed=not any(map(is_quantised, (settings.type_v, settings.draft_type_v))))
        self._models = tuple(kind for kind in settings.spec_types if kind not in ("ngram", "none"))
        self.ngram_first.setEnabled(bool(self._models))
        self.exact.setToolTip(exact_words(n_rows_alike))
        shares = sorted(dict.fromkeys((*LENIENT_SHARES, settings.lenient)), key=lambda share: -share or -2.0)
        self.lenient.fill(((share, lenient_words(share)) for share in shares), settings.lenient)
        self.trees.setToolTip(trees_tip(tree_words if settings.trees else ""))
        with ExitStack() as stack:
            switches = (self.slide, self.exact, self.ngram_first, self.fixed_shape, self.trees)
            for one in (*switches, self.threads):
                stack.enter_context(QSignalBlocker(one))
            self.exact.setChecked(settings.exact)
            self.fixed_shape.setChecked(settings.fixed_shape)
            self.trees.setChecked(settings.trees)
            self.ngram_first.setChecked(bool(self._models) and "ngram" in settings.spec_types)
            self.slide.setChecked(settings.slide)
            chosen = f": {n_threads}" if n_threads and not settings.n_threads else ""
            self.threads.show_number(settings.n_threads, tr("Chosen for me{chosen}").format(chosen=chosen))
        self._reload.setText(RELOAD if can_load else BUSY)
        for widget in self._at_load:
            widget.setEnabled(can_load)
        self._fit()

    def _show_drafting(self, settings: Settings, n_ctx: int) -> None:
        """Show what a drafter is loaded with, beside a target with a context of ``n_ctx``, 0 if that is not known."""
        types = (settings.draft_type_k, settings.draft_type_v)
        self.draft_context.fill(draft_contexts(n_ctx, settings.draft_n_ctx), settings.draft_n_ctx)
        offered = dict.fromkeys((SAME_MEMORY, *MEMORIES, types))
        self.draft_memory.fill(((t, draft_memory_words(*t)) for t in offered), types)
        with QSignalBlocker(self.draft_threads):
            self.draft_threads.show_number(settings.draft_n_threads, tr("As the model's"))

    def on_ngram_first(self, is_first: bool) -> None:
        """Put n-gram before the drafter that is chosen, or take it away."""
        self.chosen.emit({"spec_types": ("ngram", *self._models) if is_first else self._models})

    def showEvent(self, event: QShowEvent) -> None:
        """Fit what has its size from now on only."""
        super().showEvent(event)
        self._fit()

    def hideEvent(self, event: QHideEvent) -> None:
        """Tell that it has been closed, whichever way."""
        super().hideEvent(event)
        if not event.spontaneous():
            self.closed.emit()


def _heading(words: str) -> QLabel:
    label = QLabel(words)
    label.setFont(text_font(bold=True))
    return label


def _rows(pairs: Sequence[tuple[str, QWidget]]) -> QGridLayout:
    """Lay out widgets with their names before them; a name's underlined letter goes to its widget."""
    grid = QGridLayout()
    grid.setHorizontalSpacing(2 * GRID)
    grid.setVerticalSpacing(GRID)
    grid.setColumnStretch(1, 1)
    for row, (words, widget) in enumerate(pairs):
        label = QLabel(words)
        label.setBuddy(widget)
        label.setMinimumWidth(_LABEL_PX)
        grid.addWidget(label, row, 0)
        grid.addWidget(widget, row, 1)
    return grid
