"""The settings of a conversation as a person meets them: words, help, ranges, and what each is without any choice."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.chat.chat_settings import Constraint
from app.protocol import Sampling
from app.settings import Settings
from app.ui.conversation_boxes import ChoiceBox, FormatBox, NumberBox, SeedBox, TextBox, stop_lines, stop_of
from app.ui.theme import GRID, IconButton, named, text_font
from app.ui.tr import tr

REASONING: tuple[tuple[object, str], ...] = ((None, tr("As the model likes")), (True, tr("On")), (False, tr("Off")))
EFFORTS: tuple[tuple[object, str], ...] = (
    (None, tr("As the model likes")),
    ("low", tr("Low")),
    ("medium", tr("Medium")),
    ("high", tr("High")),
)
_CONTEXTS = (2048, 4096, 8192, 16384, 32768, 65536, 131072)
_PLAIN = Sampling(seed=0)


Box = NumberBox | TextBox | ChoiceBox | SeedBox | FormatBox
"""What a value is entered in; ``picked`` tells the one that was chosen."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a setting is called, on which page it stands, and what it does, in plain language."""

    page: str
    label: str
    help: str


WORDS: dict[str, Words] = {
    "system_prompt": Words(
        tr("Instructions"),
        tr("System prompt"),
        tr("What the model is told before the conversation: who it is, what it should heed. Not every model obeys."),
    ),
    "reasoning": Words(
        tr("Instructions"),
        tr("Reasoning"),
        tr(
            "Whether the model thinks before it answers. Thinking takes time and often helps with "
            "sums, code and riddles."
        ),
    ),
    "reasoning_effort": Words(
        tr("Instructions"),
        tr("Reasoning effort"),
        tr("How long a model that can be asked for it thinks. More takes longer, and often helps with what is hard."),
    ),
    "temperature": Words(
        tr("Sampling"),
        tr("Temperature"),
        tr("How daring the choice of words is. 0 always takes the most likely word; 0.8 is lively; 1.5 falls apart."),
    ),
    "top_k": Words(
        tr("Sampling"),
        tr("Top-k"),
        tr("Only so many of the most likely words are considered. Fewer is safer. 0 considers all."),
    ),
    "top_p": Words(
        tr("Sampling"),
        tr("Top-p"),
        tr("Only the most likely words that together have this probability are considered. 1 considers all."),
    ),
    "min_p": Words(
        tr("Sampling"),
        tr("Min-p"),
        tr("Words less likely than this share of the most likely one are not considered. 0 considers all."),
    ),
    "seed": Words(
        tr("Sampling"),
        tr("Seed"),
        tr(
            "Where chance begins. The same seed, question and settings give the same answer,"
            " with speculation or without."
        ),
    ),
    "repeat_penalty": Words(
        tr("Repetition"),
        tr("Repetition penalty"),
        tr("Makes words that were just used less likely. 1 is off; 1.1 is gentle."),
    ),
    "frequency_penalty": Words(
        tr("Repetition"), tr("Frequency penalty"), tr("Makes a word less likely each time that it was used. 0 is off.")
    ),
    "presence_penalty": Words(
        tr("Repetition"),
        tr("Presence penalty"),
        tr("Makes a word less likely once it was used, however often. 0 is off."),
    ),
    "penalty_last_n": Words(
        tr("Repetition"),
        tr("Looking back"),
        tr("How many of the last tokens the three penalties look at. 0 switches them off."),
    ),
    "max_tokens": Words(
        tr("Length"),
        tr("Longest answer"),
        tr("Tokens after which an answer stops; it can be continued. A token is about ¾ of a word."),
    ),
    "stop": Words(
        tr("Length"),
        tr("Stop at"),
        tr("Texts that end an answer, one a line; they are not shown. \\n is a line break, \\\\ a backslash."),
    ),
    "n_ctx": Words(
        tr("Length"),
        tr("Context length"),
        tr("How much of the conversation the model can look at. Longer takes more memory, and a new load."),
    ),
    "constraint": Words(
        tr("Format"),
        tr("Format"),
        tr(
            "Makes the answer keep to a form, word for word. The model only chooses what the form allows; say in the"
            " message, too, what you want."
        ),
    ),
}
PAGES = tuple(dict.fromkeys(words.page for words in WORDS.values()))


_NUMBERS = {
    "temperature": (0, 100, 0.05),
    "top_p": (0, 1, 0.01),
    "min_p": (0, 1, 0.01),
    "repeat_penalty": (0.01, 100, 0.05),
    "frequency_penalty": (-100, 100, 0.1),
    "presence_penalty": (-100, 100, 0.1),
}
_WHOLE_NUMBERS = {"top_k": (0, 1 << 20, 8), "penalty_last_n": (0, 1 << 20, 8), "max_tokens": (1, 1 << 30, 256)}
"""From, to, and by how much an arrow changes it."""


def box_of(name: str) -> Box:
    """Make what a setting is entered in."""
    match name:
        case "system_prompt":
            return TextBox(160)
        case "stop":
            return TextBox(72, write=stop_lines, read=stop_of, is_code=True)
        case "seed":
            return SeedBox()
        case "constraint":
            return FormatBox()
        case "reasoning" | "reasoning_effort":
            return ChoiceBox(WORDS[name].label, "", REASONING if name == "reasoning" else EFFORTS)
        case "n_ctx":
            return ChoiceBox(WORDS[name].label, "", ())
    if name in _WHOLE_NUMBERS:
        return NumberBox(*_WHOLE_NUMBERS[name], is_whole=True)
    return NumberBox(*_NUMBERS[name])


def default_of(name: str, settings: Settings) -> object:
    """Return what holds where a conversation sets nothing: the program's setting, or the engine's."""
    match name:
        case "seed" | "reasoning" | "reasoning_effort":
            return None
        case "stop":
            return ()
        case "constraint":
            return Constraint()
    return getattr(settings, name) if hasattr(settings, name) else getattr(_PLAIN, name)


def default_words(name: str, settings: Settings) -> str:
    """Say what holds where a conversation sets nothing."""
    value = default_of(name, settings)
    match name:
        case "seed":
            return tr("new for each answer")
        case "reasoning" | "reasoning_effort":
            return tr("as the model likes")
        case "stop" | "constraint":
            return tr("none")
        case "system_prompt":
            return tr("that of the program") if value else tr("none")
        case "n_ctx":
            return context_words(value) if isinstance(value, int) else ""
    return f"{value:,}"  # a number


def context_words(n_ctx: int) -> str:
    """Say how long a context is."""
    return tr("{n_ctx:,} tokens").format(n_ctx=n_ctx) if n_ctx else tr("as long as the model can")


def contexts(n_ctx_train: int, *present: int) -> tuple[tuple[object, str], ...]:
    """Offer the context lengths that a model can have, and those that are set."""
    fitting = {n for n in _CONTEXTS if not n_ctx_train or n <= n_ctx_train} | {n_ctx_train, *present}
    longest = (
        0,
        tr("As long as the model can: {n_ctx_train:,} tokens").format(n_ctx_train=n_ctx_train)
        if n_ctx_train
        else tr("As long as the model can"),
    )
    return (*((n, context_words(n)) for n in sorted(fitting - {0})), longest)


class Field(QWidget):
    """One setting: its name, whether it was changed, its box, its help, and what is wrong with it."""

    changed = Signal(str, object)  # name, value; None is the program's

    def __init__(self, name: str) -> None:
        super().__init__()
        words = WORDS[name]
        self.name, self._default, self._help = name, object(), words.help
        self.box = box_of(name)
        self.label = QLabel(words.label)
        self.label.setBuddy(self.box)
        self.tag = named(QLabel(), "muted")
        self.reset = IconButton("restart", tr("Reset {label}").format(label=words.label))
        self.help = named(QLabel(words.help, wordWrap=True), "muted")
        self.help.setFont(text_font(-0.5))
        self.error = named(QLabel(wordWrap=True), "error")
        self.error.hide()
        if not self.box.accessibleName():
            self.box.setAccessibleName(words.label)
        self.box.picked.connect(self.on_picked)
        self.reset.clicked.connect(self.on_reset)
        self._build()

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(self.label)
        head.addWidget(self.tag)
        head.addWidget(self.reset)
        head.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, GRID)
        column.setSpacing(GRID // 2)
        column.addLayout(head)
        if isinstance(self.box, NumberBox | ChoiceBox):
            column.addWidget(self.box, 0, Qt.AlignmentFlag.AlignLeft)
        else:
            column.addWidget(self.box, 0 if isinstance(self.box, SeedBox) else 1)
        column.addWidget(self.error)
        column.addWidget(self.help)

    def show_value(self, value: object, default: object, words: str) -> None:
        """Show a setting.

        Args:
            value: what the conversation sets, ``None`` for nothing.
            default: what holds then.
            words: the same in words.
        """
        self._default = default
        is_own = value is not None
        self.box.show_value(value if is_own else default)
        self.label.setFont(text_font(bold=is_own))
        self.tag.setText(tr("• changed; without it: {words}").format(words=words) if is_own else "")
        self.reset.setVisible(is_own)
        said = tr("Changed. Without it: {words}. {help}") if is_own else "{help}"
        self.box.setAccessibleDescription(said.format(words=words, help=self._help))

    def show_fault(self, words: str) -> None:
        """Say what is wrong with it; "" if nothing is."""
        self.error.setText(words)
        self.error.setVisible(bool(words))
        if words:
            self.box.setAccessibleDescription(words)

    def flush(self) -> None:
        """Take what is typed and not told yet."""
        if isinstance(self.box, TextBox | FormatBox):
            self.box.flush()

    def on_picked(self, value: object) -> None:
        """Tell what was chosen; the program's own value is no choice."""
        self.changed.emit(self.name, None if value == self._default else value)

    def on_reset(self) -> None:
        """Let the program's setting hold again."""
        if isinstance(self.box, TextBox):
            self.box.put(self._default)
        self.changed.emit(self.name, None)
        self.box.setFocus()
