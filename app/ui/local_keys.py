"""Keys that parts of the window hear themselves, while the keyboard is there; the list of shortcuts shows them, too."""

from __future__ import annotations

MODELS_WINDOW = (("Ctrl+1", "Discover"), ("Ctrl+2", "Library"), ("Ctrl+3", "Downloads"), ("Ctrl+F", "Search the hub"))

LOCAL_KEYS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Message field",
        (
            ("Return", "Send; a new line, if that is chosen in the settings"),
            ("Shift+Return", "New line"),
            ("Ctrl+Return", "Send"),
        ),
    ),
    ("List of conversations", (("Return", "Open"), ("F2", "Rename"), ("Del", "Delete"))),
    ("Find bar", (("Return", "Next place"), ("Shift+Return", "Previous place"), ("Esc", "Close the search"))),
    ("Models window", MODELS_WINDOW),
    (
        "Speed charts",
        (
            ("+", "Closer"),
            ("-", "Wider"),
            ("Left", "Back in time"),
            ("Right", "On in time"),
            ("Home", "Everything"),
            ("End", "Follow the newest"),
        ),
    ),
)
"""Where, and which keys do what."""
