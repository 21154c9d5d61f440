"""``chats``: conversations in and out, and everything in one file."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.chat.archive import Added, add_records, add_shelf, shelf_of
from app.chat.backup import Manifest, back_up
from app.chat.backup import restore as restore_backup
from app.chat.conversation import counted
from app.chat.export import KINDS, ExportKind, export, write_whole
from app.chat.importing import read_path
from app.chat.store import ChatStore
from app.chat.upgrading import How, InUseError
from app.cli import options
from app.cli.command import command
from app.cli.terminal import note
from app.errors import ExportError, StoreError, UsageError


class Format(StrEnum):
    """The kinds of export, as typer lists them."""

    MD = "md"
    JSON = "json"
    HTML = "html"
    TXT = "txt"


@dataclass(frozen=True, slots=True)
class ChatsListOptions:
    """What ``chats list`` can be told."""

    query: Annotated[str, typer.Argument(metavar="[WORDS]", help='Words, "phrases", beginnings*.')] = ""
    as_json: options.FactsAsJson = False


@dataclass(frozen=True, slots=True)
class ChatsExportOptions:
    """What ``chats export`` can be told."""

    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where to; the ending says how.")]
    ids: Annotated[list[int] | None, typer.Argument(metavar="[ID]...", help="Numbers from chats list.")] = None
    everything: Annotated[bool, typer.Option("--all", help="All conversations.")] = False
    kind: Annotated[
        Format | None, typer.Option("--format", help="md, json (loses nothing), html or txt; else by the ending.")
    ] = None
    as_json: options.FactsAsJson = False


@dataclass(frozen=True, slots=True)
class ChatsImportOptions:
    """What ``chats import`` can be told."""

    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files, or folders of Jan's or LM Studio's.")]
    as_json: options.FactsAsJson = False


@dataclass(frozen=True, slots=True)
class ChatsBackupOptions:
    """What ``chats backup`` and ``chats restore`` can be told."""

    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")]
    as_json: options.FactsAsJson = False


class ListedChat(msgspec.Struct, frozen=True):
    """One conversation, as JSON has it."""

    id: int
    title: str
    updated_at: datetime
    n_messages: int
    snippet: str


class ExportedChats(msgspec.Struct, frozen=True):
    """What was exported, as JSON has it."""

    path: str
    format: str
    n_conversations: int
    n_bytes: int


class ImportedFile(msgspec.Struct, frozen=True):
    """What was imported of one file, as JSON has it."""

    path: str
    format: str
    ids: tuple[int, ...]
    n_messages: int
    left_out: dict[str, int]


def program() -> typer.Typer:
    """Put the subcommands together."""
    chats = typer.Typer(
        help="List, export and import conversations; back up and restore everything.", no_args_is_help=True
    )
    chats.command("list")(command(ChatsListOptions, list_chats))
    chats.command("export")(command(ChatsExportOptions, export_chats))
    chats.command("import")(command(ChatsImportOptions, import_chats))
    chats.command("backup")(command(ChatsBackupOptions, backup_chats))
    chats.command("restore")(command(ChatsBackupOptions, restore_chats))
    return chats


def list_chats(chosen: ChatsListOptions) -> None:
    """List conversations, or find them by the words in them."""
    with closing(_open()) as store:
        heads = store.heads(chosen.query, 100 if chosen.query else -1)
    if chosen.as_json:
        _print([ListedChat(h.id, h.title, h.updated_at, h.n_messages, h.snippet) for h in heads])
        return
    for head in heads:
        at = f"{head.updated_at.astimezone():%Y-%m-%d %H:%M}"
        sys.stdout.write(f"{head.id:6}  {at}  {_line(head.title)}\n")
        if head.snippet:
            sys.stdout.write(f"{'':26}{_line(head.snippet)}\n")
    if not heads:
        sys.stdout.write("No conversation holds that.\n" if chosen.query else "There is no conversation yet.\n")


def export_chats(chosen: ChatsExportOptions) -> None:
    """Write conversations into one file: Markdown, HTML or text for reading, JSON with all branches for importing."""
    kind = _kind(chosen)
    if bool(chosen.ids) == chosen.everything:
        raise UsageError("Say which conversations: their numbers, or --all.", "chats list has the numbers.")
    with closing(_open()) as store:
        ids = chosen.ids or [head.id for head in store.heads(limit=-1)]
        data = export(store, ids, kind, shelf=shelf_of(store) if chosen.everything else None)
    write_whole(chosen.out, data)
    if chosen.as_json:
        _print(ExportedChats(str(chosen.out), kind, len(ids), len(data)))
    else:
        sys.stdout.write(f"{counted(len(ids), 'conversation')} written to {chosen.out}.\n")


def import_chats(chosen: ChatsImportOptions) -> None:
    """Add conversations of Slipstream, OpenAI, ChatGPT, LM Studio or Jan to yours; nothing is replaced.

    All files are read before any is added, and all are added, or none.
    """
    read = [(path, read_path(path)) for path in chosen.files]
    done, added = [], Added()
    with closing(_open()) as store, store.transaction():
        for path, found in read:
            came = add_records(store, found.records).joined(add_shelf(store, found.shelf))
            added = added.joined(came)
            n_messages = sum(len(record.messages) for record in found.records)
            done.append(
                ImportedFile(str(path), found.format_name, came.conversation_ids, n_messages, dict(found.left_out))
            )
    if chosen.as_json:
        _print(done)
    else:
        sys.stdout.write("".join(f"{path}: {found.words()}\n" for path, found in read))
        numbers = {"folder": len(added.folder_ids), "preset": len(added.preset_ids)}
        if things := ", ".join(counted(n, what) for what, n in numbers.items() if n):
            sys.stdout.write(f"Also added: {things}.\n")


def backup_chats(chosen: ChatsBackupOptions) -> None:
    """Write chats, presets, settings and baselines into one file; models are left out."""
    manifest = back_up(chosen.file)
    if chosen.as_json:
        _print(manifest)
        return
    sys.stdout.write(
        f"{chosen.file} holds {_contents(manifest)},"
        f" and {counted(sum(file.path != 'data/chats.db' for file in manifest.files), 'other file')}.\n"
    )


def restore_chats(chosen: ChatsBackupOptions) -> None:
    """Put what a backup holds in the place of what is there, which is kept in a folder. Close the window first."""
    restored = restore_backup(chosen.file)
    if chosen.as_json:
        _print(restored)
        return
    sys.stdout.write(f"Restored {_contents(restored.manifest)}.\nWhat was there before is in {restored.kept_in}.\n")


def _contents(manifest: Manifest) -> str:
    return f"{counted(manifest.n_conversations, 'conversation')} with {counted(manifest.n_messages, 'message')}"


def _open() -> ChatStore:
    """Open the chats; refuse ones that are not on disk.

    Raises:
        StoreError: they cannot be written.
    """
    store = ChatStore(how=How(wait=_Wait().say))
    if not store.is_on_disk:
        store.close()
        raise store.notice or StoreError("The chats cannot be written.", "Check the permissions of their folder.")
    for said in (store.damage, store.notice):
        if said is not None:
            sys.stderr.write(f"{_line(said.message)} {_line(said.hint)}\n")
    return store


class _Wait:
    """Says once what is waited for; Ctrl+C ends that."""

    def __init__(self) -> None:
        self._is_said = False

    def say(self, fault: InUseError) -> None:
        if not self._is_said:
            self._is_said = True
            note(f"{fault.message} Waiting for it; Ctrl+C ends that.")


def _kind(chosen: ChatsExportOptions) -> ExportKind:
    wanted = chosen.kind.value if chosen.kind is not None else chosen.out.suffix.lower().lstrip(".")
    wanted = {"markdown": "md", "htm": "html", "text": "txt"}.get(wanted, wanted)
    for kind in KINDS:
        if kind == wanted:
            return kind
    raise ExportError(
        f"{chosen.out} does not say how to export.", f"End its name in one of {', '.join(KINDS)}, or say --format."
    )


def _line(text: str) -> str:
    """Return a text that is safe on a terminal: one line, no control characters."""
    return "".join(character if character.isprintable() else " " for character in text)


def _print(facts: object) -> None:
    sys.stdout.write(msgspec.json.encode(facts).decode() + "\n")
