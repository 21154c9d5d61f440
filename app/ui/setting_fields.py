"""What the settings dialog offers: each setting with its words, its help, and what it can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.settings import MAX_FONT_EXTRA_PT, MIN_FONT_EXTRA_PT
from app.ui.language import language_name, languages
from app.ui.tr import tr

Kind = Literal["switch", "choice", "number", "text"]
Page = Literal["appearance", "chat", "hub", "data"]


@dataclass(frozen=True, slots=True)
class Field:
    """One setting.

    Attributes:
        name: its field of :class:`app.settings.Settings`.
        words, help: what it is called, and what it does.
        choices: values with their words, for a choice.
        limits: least and most, for a number; ``unit`` is written behind it.
        hint: what an empty text means.
    """

    name: str
    page: Page
    kind: Kind
    words: str
    help: str
    choices: tuple[tuple[str, str], ...] = ()
    limits: tuple[int, int] = (0, 0)
    unit: str = ""
    hint: str = ""


FIELDS: tuple[Field, ...] = (
    Field(
        "theme",
        "appearance",
        "choice",
        tr("Colours"),
        tr("Light, dark, or what the system has."),
        choices=(("system", tr("As the system")), ("light", tr("Light")), ("dark", tr("Dark"))),
    ),
    Field(
        "contrast",
        "appearance",
        "choice",
        tr("Contrast"),
        tr("High: every text stands at least 7 to 1 against its ground, and edges are drawn strongly."),
        choices=(("system", tr("As the system")), ("normal", tr("Normal")), ("high", tr("High"))),
    ),
    Field(
        "font_extra_pt",
        "appearance",
        "number",
        tr("Font size"),
        tr(
            "Larger or smaller than the system's font. Ctrl with plus and minus changes it "
            "anywhere, Ctrl+0 takes it back."
        ),
        limits=(MIN_FONT_EXTRA_PT, MAX_FONT_EXTRA_PT),
        unit="pt",
    ),
    Field(
        "motion",
        "appearance",
        "choice",
        tr("Motion"),
        tr(
            "Reduced: nothing blinks or fades, and answers and charts grow in calm steps. Windows itself can ask for"
            " it."
        ),
        choices=(("system", tr("As the system")), ("full", tr("Full")), ("reduced", tr("Reduced"))),
    ),
    Field(
        "language",
        "appearance",
        "choice",
        tr("Language"),
        tr(
            "Another language is used from the next start of the program on. What comes from models, servers and"
            " the engine stays as it is."
        ),
        choices=(("system", tr("As the system")), *((code, language_name(code)) for code in languages())),
    ),
    Field(
        "formula_sources",
        "appearance",
        "switch",
        tr("Show formulas as their source"),
        tr("The LaTeX that the model wrote, not drawn. It is what is copied and exported either way."),
    ),
    Field(
        "enter_sends",
        "chat",
        "switch",
        tr("Enter sends the message"),
        tr("Shift+Enter starts a new line then. Switched off, Enter starts a new line and Ctrl+Enter sends."),
    ),
    Field(
        "token_colours",
        "chat",
        "switch",
        tr("Colour tokens by who drafted them"),
        tr("From the next answer on: drafted and kept, corrected, or plain. It costs a little time for each token."),
    ),
    Field(
        "slide",
        "chat",
        "switch",
        tr("Go on in a full context"),
        tr("The model no longer sees the oldest turns; they stay on the screen. Otherwise a full context is the end."),
    ),
    Field(
        "notify",
        "chat",
        "switch",
        tr("Say when a long answer has ended"),
        tr(
            "On the desktop, after 10 seconds in the background. It names the conversation, never what the answer says."
        ),
    ),
    Field(
        "recommend",
        "hub",
        "switch",
        tr("Suggest a pair for this machine"),
        tr("In an empty conversation, as long as no model but the starter is here."),
    ),
    Field(
        "hub_endpoint",
        "hub",
        "text",
        tr("Address of the model hub"),
        tr("For a mirror or a hub of your own. The token goes to this address alone."),
        hint=tr("https://huggingface.co, or HF_ENDPOINT"),
    ),
    Field(
        "offline",
        "hub",
        "switch",
        tr("Offline"),
        tr("The hub is never asked: nothing is searched for or downloaded. What is here works as ever."),
    ),
)
PAGES: dict[Page, str] = {
    "appearance": tr("Appearance"),
    "chat": tr("Chat"),
    "hub": tr("Models and hub"),
    "data": tr("Data"),
}
"""The pages with their words, in order."""
