"""What the settings dialog offers: each setting with its words, its help, and what it can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.settings import MAX_FONT_EXTRA_PT, MIN_FONT_EXTRA_PT

Kind = Literal["switch", "choice", "number", "text"]
Page = Literal["Appearance", "Chat", "Models and hub", "Data"]


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
        "Appearance",
        "choice",
        "Colours",
        "Light, dark, or what the system has.",
        choices=(("system", "As the system"), ("light", "Light"), ("dark", "Dark")),
    ),
    Field(
        "contrast",
        "Appearance",
        "choice",
        "Contrast",
        "High: every text stands at least 7 to 1 against its ground, and edges are drawn strongly.",
        choices=(("system", "As the system"), ("normal", "Normal"), ("high", "High")),
    ),
    Field(
        "font_extra_pt",
        "Appearance",
        "number",
        "Font size",
        "Larger or smaller than the system's font. Ctrl with plus and minus changes it anywhere, Ctrl+0 takes it back.",
        limits=(MIN_FONT_EXTRA_PT, MAX_FONT_EXTRA_PT),
        unit="pt",
    ),
    Field(
        "motion",
        "Appearance",
        "choice",
        "Motion",
        "Reduced: nothing blinks or fades, and answers and charts grow in calm steps. Windows itself can ask for it.",
        choices=(("system", "As the system"), ("full", "Full"), ("reduced", "Reduced")),
    ),
    Field(
        "enter_sends",
        "Chat",
        "switch",
        "Enter sends the message",
        "Shift+Enter starts a new line then. Switched off, Enter starts a new line and Ctrl+Enter sends.",
    ),
    Field(
        "token_colours",
        "Chat",
        "switch",
        "Colour tokens by who drafted them",
        "From the next answer on: drafted and kept, corrected, or plain. It costs a little time for each token.",
    ),
    Field(
        "slide",
        "Chat",
        "switch",
        "Go on in a full context",
        "The model no longer sees the oldest turns; they stay on the screen. Otherwise a full context is the end.",
    ),
    Field(
        "notify",
        "Chat",
        "switch",
        "Say when a long answer has ended",
        "On the desktop, after 10 seconds in the background. It names the conversation, never what the answer says.",
    ),
    Field(
        "recommend",
        "Models and hub",
        "switch",
        "Suggest a pair for this machine",
        "In an empty conversation, as long as no model but the starter is here.",
    ),
    Field(
        "hub_endpoint",
        "Models and hub",
        "text",
        "Address of the model hub",
        "For a mirror or a hub of your own. The token goes to this address alone.",
        hint="https://huggingface.co, or HF_ENDPOINT",
    ),
    Field(
        "offline",
        "Models and hub",
        "switch",
        "Offline",
        "The hub is never asked: nothing is searched for or downloaded. What is here works as ever.",
    ),
)
PAGES: tuple[Page, ...] = ("Appearance", "Chat", "Models and hub", "Data")
