"""What can be done with the open conversation's settings, prompt and answer, by name and key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from app.ui.branching import Branching
    from app.ui.chats_deleting import ChatsDeleting
    from app.ui.conversation_control import ConversationControl


class ConversationAction(NamedTuple):
    """Something to do: what it is known by and called, what does it, and its keys, "" for none."""

    name: str
    words: str
    run: Callable[[], object]
    keys: str = ""


def conversation_actions(
    control: ConversationControl, branching: Branching, deleting: ChatsDeleting
) -> tuple[ConversationAction, ...]:
    """List them."""
    return (
        ConversationAction("chat.go_on", "Continue the last answer", branching.go_on_with_last, "Ctrl+Shift+G"),
        ConversationAction("chat.settings", "Conversation settings…", lambda: control.open(), "Ctrl+Shift+O"),
        ConversationAction("chat.prompt", "Show the prompt…", control.prompt.open, "Ctrl+Shift+U"),
        ConversationAction("chat.deleted", "Deleted conversations…", deleting.open_dialog),
    )
