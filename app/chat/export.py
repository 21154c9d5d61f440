"""Conversations for other programs and for people: Markdown, HTML, plain text, and our own JSON."""

from __future__ import annotations

import html
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from app.chat.archive import ConversationRecord, Shelf, archive_json, record_of
from app.chat.conversation import Conversation, Message, fenced
from app.chat.progress import Progress, no_progress
from app.chat.store import ChatStore
from app.errors import ExportError

ExportKind = Literal["md", "json", "html", "txt"]
KINDS: tuple[ExportKind, ...] = ("md", "json", "html", "txt")

NAMES = {"system": "System", "user": "You", "assistant": "Assistant"}
_MAX_NAME = 80
_NOT_IN_NAMES = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
article { margin: 1.5rem 0; padding: 0 1rem; overflow-wrap: anywhere; }
article.user { background: color-mix(in srgb, currentColor 7%, transparent); border-radius: 8px; padding: .5rem 1rem; }
h2 { font-size: 1rem; margin: .5rem 0; }
pre { overflow-x: auto; padding: .75rem; border-radius: 6px; }
pre { background: color-mix(in srgb, currentColor 9%, transparent); }
code { font-family: ui-monospace, monospace; font-size: .9em; }
table { border-collapse: collapse; } td, th { border: 1px solid currentColor; padding: .25rem .5rem; }
.facts, time { font-size: .85rem; opacity: .75; }
"""


def export(
    store: ChatStore,
    conversation_ids: Sequence[int],
    kind: ExportKind,
    note: Progress = no_progress,
    shelf: Shelf | None = None,
) -> bytes:
    """Return conversations as one file.

    Args:
        store: where they are.
        conversation_ids: which.
        kind: of file.
        note: is told how many are read, and may raise to stop.
        shelf: what goes with them, where the kind has a place for that: our own JSON.

    Raises:
        StoreError: one does not exist.
    """
    ids = _noted(conversation_ids, note)
    if kind == "json":
        return archive_json((record_of(store, conversation_id) for conversation_id in ids), shelf)
    conversations = [store.load(conversation_id) for conversation_id in ids]
    if kind == "html":
        return html_page(conversations).encode("utf-8", "replace")
    make = markdown if kind == "md" else plain_text
    return "\n\n".join(map(make, conversations)).encode("utf-8", "replace")


def _noted(conversation_ids: Sequence[int], note: Progress) -> Iterator[int]:
    for number, conversation_id in enumerate(conversation_ids):
        note(number, len(conversation_ids))
        yield conversation_id


def kind_of(ending: str) -> ExportKind:
    """Return the kind of export that the ending of a file's name says; Markdown if it says none."""
    ending = ending.lower().removeprefix(".")
    return next((kind for kind in KINDS if kind == ending), "html" if ending == "htm" else "md")


def export_records(records: Iterable[ConversationRecord]) -> bytes:
    """Return conversations that are in no store as our own JSON."""
    return archive_json(records)


def file_name(title: str, kind: ExportKind) -> str:
    """Make a name that every system takes of a title."""
    name = " ".join(_NOT_IN_NAMES.sub(" ", title).split())[:_MAX_NAME].strip(" .")
    if not name or _RESERVED.match(name):
        name = f"conversation {name}".strip()
    return f"{name}.{kind}"


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a crash at any moment leaves the old one or the new one, never half of one.

    Raises:
        ExportError: it cannot be written.
    """
    new: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
        new = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as fault:
        if new is not None:
            new.unlink(missing_ok=True)
        raise ExportError(
            f"Cannot write {path}: {fault.strerror or fault}.", "Choose another place, or free some space."
        ) from fault


# --- Markdown and text --------------------------------------------------------------------------------


def markdown(conversation: Conversation) -> str:
    """Return the path that is read as Markdown: a heading a message, files in fences, the text as it was written."""
    parts = [f"# {' '.join(conversation.title.split())}", f"*{conversation.created_at:%Y-%m-%d %H:%M} UTC*"]
    for message in conversation.messages:
        parts += [f"## {NAMES[message.role]}", *_files(message)]
        if message.reasoning:
            parts.append("\n".join(f"> {line}".rstrip() for line in message.reasoning.rstrip().split("\n")))
        parts.append(message.text.rstrip())
        if message.state != "complete":
            parts.append("*(interrupted)*")
    return "\n\n".join(part for part in parts if part) + "\n"


def plain_text(conversation: Conversation) -> str:
    """Return the path that is read as text."""
    parts = [conversation.title, "=" * len(conversation.title), f"{conversation.created_at:%Y-%m-%d %H:%M} UTC"]
    for message in conversation.messages:
        files = [f"[{attachment.name}]\n{attachment.text.rstrip()}" for attachment in message.attachments]
        end = ["(interrupted)"] if message.state != "complete" else []
        parts.append("\n\n".join([f"{NAMES[message.role]}:", *files, message.text.rstrip(), *end]))
    return "\n\n".join(parts) + "\n"


def _files(message: Message) -> list[str]:
    return [f"{attachment.name}:\n\n{fenced(attachment.text)}" for attachment in message.attachments]


# --- HTML ---------------------------------------------------------------------------------------------


def html_page(conversations: Sequence[Conversation]) -> str:
    """Return a page that needs nothing beside it, runs nothing and fetches nothing, whatever the messages say."""
    title = conversations[0].title if len(conversations) == 1 else f"{len(conversations)} conversations"
    body = "\n".join(_conversation_html(conversation) for conversation in conversations)
    return (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_escaped(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _conversation_html(conversation: Conversation) -> str:
    parts = [f"<h1>{_escaped(conversation.title)}</h1>", _time_html(conversation)]
    parts += [_message_html(message) for message in conversation.messages]
    return "<section>\n" + "\n".join(parts) + "\n</section>"


def _time_html(conversation: Conversation) -> str:
    at = conversation.created_at
    return f'<time datetime="{at.isoformat()}">{at:%Y-%m-%d %H:%M} UTC</time>'


def _message_html(message: Message) -> str:
    parts = [f"<h2>{NAMES[message.role]}</h2>"]
    parts += [_folded(attachment.name, attachment.text) for attachment in message.attachments]
    if message.reasoning:
        parts.append(_folded("Reasoning", message.reasoning))
    parts.append(_rendered(message.text) if message.role == "assistant" else _paragraphs(message.text))
    facts = [message.model] if message.model else []
    if message.stats is not None and message.stats.decode_tps:
        facts.append(f"{message.stats.decode_tps:.1f} tokens/s")
    if message.stats is not None and message.stats.is_lossy:
        facts.append("lossy: lenient acceptance may have changed its words")
    if message.state != "complete":
        facts.append("interrupted")
    if facts:
        parts.append(f'<p class="facts">{_escaped(" · ".join(facts))}</p>')
    return f'<article class="{message.role}">\n' + "\n".join(parts) + "\n</article>"


def _rendered(text: str) -> str:
    """Render Markdown; raw HTML in it is shown as text, images as links, and links only lead to harmless places."""
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    return str(renderer.render(_CONTROL.sub("\ufffd", text)))


def _paragraphs(text: str) -> str:
    return f'<p style="white-space: pre-wrap">{_escaped(text)}</p>'


def _folded(name: str, text: str) -> str:
    return f"<details><summary>{_escaped(name)}</summary><pre><code>{_escaped(text)}</code></pre></details>"


def _escaped(text: str) -> str:
    return html.escape(_CONTROL.sub("\ufffd", text))
