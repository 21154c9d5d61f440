"""What can be done with the open conversation's settings, prompt and answer, for the window's list of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.ui.actions import Group, WindowAction
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.branching import Branching
    from app.ui.chats_deleting import ChatsDeleting
    from app.ui.conversation_control import ConversationControl


def conversation_actions(
    control: ConversationControl, branching: Branching, deleting: ChatsDeleting
) -> tuple[WindowAction, ...]:
    """List them."""
    group: Group = "conversation"
    go_on, settings = branching.go_on_with_last, lambda: control.open()
    return (
        WindowAction(
            "chat.go_on", tr("Continue the last answer"), go_on, group, ("Ctrl+Shift+G",), also=tr("go on resume")
        ),
        WindowAction(
            "chat.settings",
            tr("Conversation settings…"),
            settings,
            group,
            ("Ctrl+Shift+O",),
            also=tr("system prompt preset sampling temperature seed grammar schema reasoning"),
        ),
        WindowAction(
            "chat.prompt",
            tr("Show the prompt…"),
            control.prompt.open,
            group,
            ("Ctrl+Shift+U",),
            also=tr("chat template"),
        ),
        WindowAction(
            "chat.deleted", tr("Deleted conversations…"), deleting.open_dialog, group, also=tr("bin trash restore")
        ),
    )
