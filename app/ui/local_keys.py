"""Keys that parts of the window hear themselves, while the keyboard is there; the list of shortcuts shows them, too."""

from __future__ import annotations

from app.ui.tr import tr

MODELS_WINDOW = (
    ("Ctrl+1", tr("Discover")),
    ("Ctrl+2", tr("Library")),
    ("Ctrl+3", tr("Downloads")),
    ("Ctrl+F", tr("Search the hub")),
)

LOCAL_KEYS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        tr("Message field"),
        (
            ("Return", tr("Send; a new line, if that is chosen in the settings")),
            ("Shift+Return", tr("New line")),
            ("Ctrl+Return", tr("Send")),
        ),
    ),
    (tr("List of conversations"), (("Return", tr("Open")), ("F2", tr("Rename")), ("Del", tr("Delete")))),
    (
        tr("Find bar"),
        (("Return", tr("Next place")), ("Shift+Return", tr("Previous place")), ("Esc", tr("Close the search"))),
    ),
    (tr("Models window"), MODELS_WINDOW),
    (
        tr("Speed charts"),
        (
            ("+", tr("Closer")),
            ("-", tr("Wider")),
            ("Left", tr("Back in time")),
            ("Right", tr("On in time")),
            ("Home", tr("Everything")),
            ("End", tr("Follow the newest")),
        ),
    ),
)
"""Where, and which keys do what."""
