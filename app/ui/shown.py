"""A message as it is shown, where that is more than its text."""

from __future__ import annotations

from msgspec import structs

from app.chat.conversation import Message
from app.chat.going_on import with_marks
from app.ui.tr import tr


def shown_of(message: Message) -> Message:
    """Return a message with the text that is shown of it: its thoughts, or the names of its files, before it."""
    if message.reasoning:
        return structs.replace(message, text=with_marks(message))
    if message.attachments:
        names = "\n".join(
            tr("[{name}, {n_bytes:.1f} kB]").format(name=file.name, n_bytes=file.n_bytes / 1000)
            for file in message.attachments
        )
        return structs.replace(message, text="\n\n".join(part for part in (names, message.text) if part))
    return message
