"""How the pair is loaded and drafts, to be chosen in a popup at the pair bar, in words.

What is chosen is kept at once; what needs the model to be loaded again has that done once, when the popup closes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QHideEvent, QStandardItemModel
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.memory_types import FlashAttention, is_quantised
from app.protocol import DraftTokens, SpecType
from app.ui.font_size import font_bus
from app.ui.switch import Switch
from app.ui.theme import GRID, named, text_font
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.settings import Settings

DRAFT_LENGTHS: tuple[DraftTokens, ...] = ("auto", "rolling", *range(1, 9), 12, 16)
CONTEXTS = (2048, 4096, 8192, 16384, 32768, 65536, 131072)
LENIENT_SHARES = (0.0, 0.3, 0.1, 0.03)
"""From which probability on a draft token is kept at the latest; 0 is off. 0.3 is what its authors take."""

MEMORIES = (("f16", "bf16"), ("q8_0", "q8_0"), ("q4_0", "q4_0"))
"""Types of K and V that are offered; others come from the settings file."""

RELOAD = tr("A change needs a reload, which begins when this closes.")
BUSY = tr("These can be changed when the answer is complete.")

_FLASH: dict[FlashAttention, str] = {"auto": tr("Left to llama.cpp"), "on": tr("On"), "off": tr("Off")}
_WIDTH_PX, _LABEL_PX = 400, 136


def length_words(draft_tokens: DraftTokens) -> str:
    """A draft length as it is offered."""
    if draft_tokens == "auto":
        return tr("What pays, chosen as it goes")
    if draft_tokens == "rolling":
        return tr("3 to 8, by how many were kept")
    return tr("%n token(s)", None, draft_tokens)


def memory_words(type_k: str, type_v: str) -> str:
    """How exactly a conversation is kept in memory, by the types of K and V."""
    match type_k, type_v:
        case "f16", "bf16":
            return tr("16 bits, the most exact")
        case "q8_0", "q8_0":
            return tr("8 bits, half the size")
        case "q4_0", "q4_0":
            return tr("4 bits, a quarter; answers can suffer")
        case _:
            return tr("K {type_k}, V {type_v}").format(type_k=type_k, type_v=type_v)


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
        self.threads = QSpinBox()
        self.threads.setKeyboardTracking(False)
        self.threads.setAccessibleName(tr("Threads"))
        self.threads.setToolTip(tr("Processor threads to compute with. More than there are fast cores seldom helps."))
        self._reload = named(QLabel(RELOAD, wordWrap=True), "muted")
        self._reload.setFont(text_font(-0.5))
        self._at_load = (self.context, self.memory, self.flash, self.threads, self.trees)
        for widget in self._at_load:
            widget.setAccessibleDescription(RELOAD)
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

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * GRID, GRID + 4, 2 * GRID, GRID + 4)
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
        at_load = (tr("&Context length"), tr("Conversation &memory"), tr("&Flash attention"), tr("&Threads"))
        column.addLayout(_rows(list(zip(at_load, self._at_load, strict=False))))
        column.addWidget(self.trees)
        column.addSpacing(GRID // 2)
        column.addLayout(self._buttons())
        self._fit()
        font_bus().changed.connect(self._fit)

    def _fit(self) -> None:
        """Be as large as the texts want."""
        self.threads.setMinimumHeight(self.context.sizeHint().height())
        self.setFixedWidth(max(_WIDTH_PX, self.sizeHint().width()))

    def _buttons(self) -> QHBoxLayout:
        defaults, done = QPushButton(tr("Defa&ults")), QPushButton(tr("D&one"))
        defaults.setToolTip(tr("All of these as they were in the beginning."))
        defaults.clicked.connect(self.defaults_wanted)
        done.clicked.connect(self.close)
        row = QHBoxLayout()
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
        self.context.fill(_contexts(n_ctx_train, settings.n_ctx), settings.n_ctx)
        self.memory.fill(((t, memory_words(*t)) for t in dict.fromkeys((*MEMORIES, types))), types)
        self.flash.fill(_FLASH.items(), settings.flash_attention)
        self.flash.allow("off", is_allowed=not is_quantised(settings.type_v))
        self._models = tuple(kind for kind in settings.spec_types if kind not in ("ngram", "none"))
        self.ngram_first.setEnabled(bool(self._models))
        self.exact.setToolTip(exact_words(n_rows_alike))
        shares = sorted(dict.fromkeys((*LENIENT_SHARES, settings.lenient)), key=lambda share: -share or -2.0)
        self.lenient.fill(((share, lenient_words(share)) for share in shares), settings.lenient)
        self.trees.setToolTip(trees_tip(tree_words if settings.trees else ""))
        with ExitStack() as stack:
            for one in (self.slide, self.exact, self.threads, self.ngram_first, self.fixed_shape, self.trees):
                stack.enter_context(QSignalBlocker(one))
            self.exact.setChecked(settings.exact)
            self.fixed_shape.setChecked(settings.fixed_shape)
            self.trees.setChecked(settings.trees)
            self.ngram_first.setChecked(bool(self._models) and "ngram" in settings.spec_types)
            self.slide.setChecked(settings.slide)
            self.threads.setRange(0, max(os.cpu_count() or 1, settings.n_threads))
            chosen = f": {n_threads}" if n_threads and not settings.n_threads else ""
            self.threads.setSpecialValueText(tr("Chosen for me{chosen}").format(chosen=chosen))
            self.threads.setValue(settings.n_threads)
        self._reload.setText(RELOAD if can_load else BUSY)
        for widget in self._at_load:
            widget.setEnabled(can_load)

    def on_ngram_first(self, is_first: bool) -> None:
        """Put n-gram before the drafter that is chosen, or take it away."""
        self.chosen.emit({"spec_types": ("ngram", *self._models) if is_first else self._models})

    def hideEvent(self, event: QHideEvent) -> None:
        """Tell that it has been closed, whichever way."""
        super().hideEvent(event)
        if not event.spontaneous():
            self.closed.emit()


def exact_words(n_rows_alike: int) -> str:
    """Say what the restriction means with the model that is loaded."""
    why = tr(
        "A longer draft is as right, but is computed with other rounding: it can tip a near tie between two words."
    )
    match n_rows_alike:
        case 0:
            return why
        case 1:
            return tr("{why} With this model, on this device, no draft is so short, so this changes nothing.").format(
                why=why
            )
        case n:
            return tr("{why} With this model, on this device: drafts of up to {n} tokens.").format(why=why, n=n - 1)


def lenient_words(share: float) -> str:
    """How lenient acceptance is, as it is offered."""
    return tr("Lossy: what is {share:.3g} % likely").format(share=100 * share) if share else tr("Off")


def trees_tip(tree_words: str) -> str:
    """Say what token trees are, and what came of trying them with the model that is loaded."""
    why = tr(
        "All branches are checked at once; the answer stays the same. For a draft model or one MTP head, and targets "
        "with attention layers only; elsewhere a chain is drafted, and the reason is said."
    )
    if not tree_words:
        return why
    return tr("{why} With this model, on this device: {tree_words}").format(why=why, tree_words=tree_words)


def _contexts(n_ctx_train: int, current: int) -> Iterator[tuple[int, str]]:
    """Yield the context lengths that the model can have, and the present one."""
    offered = {n for n in CONTEXTS if not n_ctx_train or n < n_ctx_train} | {n_ctx_train, current}
    for n in sorted(offered - {0}):
        yield n, tr("{n:,} tokens").format(n=n)
    yield (
        0,
        tr("As long as the model can: {n_ctx_train:,} tokens").format(n_ctx_train=n_ctx_train)
        if n_ctx_train
        else tr("As long as the model can"),
    )


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
