"""Reading files of conversations, whoever wrote them: what format it is, is found out by looking."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import msgspec

from app.chat import foreign
from app.chat.archive import SCHEMA, Archive, ConversationRecord, MessageRecord, Shelf
from app.chat.conversation import Conversation, counted
from app.chat.zip_faults import BROKEN
from app.errors import ExportError
from app.named_files import read_named

MAX_BYTES = 1 << 30
"""A longer file is refused: it is read into memory as a whole."""

_PATH_SCHEMA = "slipstream.conversation/1"
"""What Slipstream wrote before: one conversation, one path."""
_CHATGPT_FILE = "conversations.json"
_MANIFEST = "slipstream-backup.json"


_NOTHING_BESIDE = Shelf()


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file holds. ``format_name`` is for a person; ``left_out`` is what has no place here, with its number."""

    records: tuple[ConversationRecord, ...]
    format_name: str
    left_out: tuple[tuple[str, int], ...] = ()
    shelf: Shelf = _NOTHING_BESIDE

    def words(self) -> str:
        """Say what was found."""
        n = sum(len(record.messages) for record in self.records)
        said = f"{counted(len(self.records), 'conversation')} with {counted(n, 'message')} ({self.format_name})."
        missing = ", ".join(f"{number} {name}" for name, number in self.left_out)
        return f"{said} Left out: {missing}." if missing else said


def read_path(path: Path) -> Imported:
    """Read a file of conversations, or a folder of Jan's or LM Studio's.

    Raises:
        ExportError: it cannot be read, or is in no format known here.
    """
    try:
        if path.is_dir():
            return _read_folder(path)
        if path.stat().st_size > MAX_BYTES or len(data := read_named(path, MAX_BYTES)) > MAX_BYTES:
            raise _unknown(f"{path.name} is larger than {MAX_BYTES >> 20} MB.")
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault
        raise ExportError(f"Cannot read {path}: {reason}.", "Check the name and the permissions.") from fault
    return read_chats(data, path)


def read_chats(data: bytes, path: Path | None = None) -> Imported:
    """Read a file's content; ``path`` is where it is from, for what may lie beside it.

    Raises:
        ExportError: it is in no format known here.
    """
    if data[:4] == b"PK\x03\x04":
        data = _from_zip(data)
    left_out: Counter[str] = Counter()
    value, lines = _parse(data)
    found = _read_value(value, data, left_out) if lines is None else _read_lines(lines, path, left_out)
    if found is None:
        raise _unknown("There is no conversation in this file.")
    format_name, records = found
    kept = tuple(record for record in records if record is not None)
    shelf = _shelf_in(value, data)
    if not (kept or shelf):
        raise _unknown(f"There is no message in this file ({format_name}).")
    return Imported(kept, format_name, tuple(left_out.most_common()), shelf)


def _shelf_in(value: object, data: bytes) -> Shelf:
    """Read what a document of ours, which has been read without a fault, holds beside conversations."""
    is_ours = isinstance(value, dict) and value.get("schema") == SCHEMA
    return msgspec.json.decode(data, type=Shelf) if is_ours else _NOTHING_BESIDE


def _parse(data: bytes) -> tuple[object, list[object] | None]:
    """Return the document, or, if it is none, its lines as documents."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        value = _decoded(data)
    except (ValueError, RecursionError) as fault:
        lines = [line for line in data.split(b"\n") if line.strip()]
        if len(lines) < 2:
            raise _unknown(f"This is not JSON ({fault}).") from fault
        try:
            return None, [_decoded(line) for line in lines]
        except (ValueError, RecursionError) as second:
            raise _unknown(f"This is not JSON ({second}).") from second
    # A file of one line is a document and lines alike: what Jan writes is known by its content.
    return (None, [value]) if foreign.is_jan([value]) else (value, None)


def _decoded(data: bytes) -> object:
    """Decode JSON; halves of characters, which some programs write, become ``?``.

    Raises:
        ValueError: it is none.
        RecursionError: it is too deep.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return json.loads(json.dumps(json.loads(data), ensure_ascii=False).encode("utf-8", "replace"))


_Found = tuple[str, Sequence[ConversationRecord | None]] | None


def _read_value(value: object, data: bytes, left_out: Counter[str]) -> _Found:
    """Read a document."""
    if isinstance(value, dict):
        schema = value.get("schema")
        if isinstance(schema, str) and schema.startswith("slipstream."):
            return "Slipstream", _read_ours(schema, data)
        if isinstance(value.get("mapping"), dict):
            return "ChatGPT", [foreign.from_mapping(value, left_out)]
        if foreign.is_lm_studio(value):
            return "LM Studio", [foreign.from_lm_studio(value, left_out)]
        if foreign.is_message_list(value.get("messages")):
            return "OpenAI", [foreign.from_messages(value["messages"], left_out, value)]
        if isinstance(value.get("conversations"), list):
            return _read_value(value["conversations"], data, left_out)
        return None
    if not isinstance(value, list) or not value:
        return None
    if foreign.is_jan(value):
        return "Jan", [foreign.from_jan(value, {}, left_out)]
    if foreign.is_message_list(value):
        return "OpenAI", [foreign.from_messages(value, left_out, {})]
    return _read_list(value, data, left_out)


def _read_list(values: Sequence[object], data: bytes, left_out: Counter[str]) -> _Found:
    """Read a list of documents, each a conversation; what is none is left out."""
    names: Counter[str] = Counter()
    records: list[ConversationRecord | None] = []
    for value in values:
        one = _read_value(value, data, left_out) if _is_conversation(value) else None
        if one is None:
            left_out["entries that are no conversation"] += 1
            continue
        names[one[0]] += 1
        records += one[1]
    return (names.most_common(1)[0][0], records) if names else None


def _is_conversation(value: object) -> bool:
    """Whether an entry is one conversation, not a list of lists of lists."""
    is_plain = isinstance(value, dict) and "schema" not in value and "conversations" not in value
    return is_plain or foreign.is_message_list(value)


def _read_lines(lines: list[object], path: Path | None, left_out: Counter[str]) -> _Found:
    if foreign.is_jan(lines):
        return "Jan", [foreign.from_jan(lines, _thread_beside(path), left_out)]
    if foreign.is_message_list(lines):
        return "OpenAI", [foreign.from_messages(lines, left_out, {})]
    return _read_list(lines, b"", left_out)


def _thread_beside(path: Path | None) -> Mapping[str, object]:
    """Return what Jan's ``thread.json`` says, if it lies beside the messages."""
    if path is None:
        return {}
    try:
        value = msgspec.json.decode(read_named(path.with_name("thread.json"), MAX_BYTES))
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _read_ours(schema: str, data: bytes) -> Sequence[ConversationRecord]:
    try:
        if schema == SCHEMA:
            return msgspec.json.decode(data, type=Archive).conversations
        if schema == _PATH_SCHEMA:
            return [_record_of_path(msgspec.json.decode(data, type=_Path).conversation)]
    except (msgspec.MsgspecError, RecursionError) as fault:
        raise ExportError(
            f"This file of Slipstream's is damaged, or a newer version wrote it: {fault}.", "Export it again."
        ) from fault
    raise _unknown(f"This file has the format {schema!r}.")


class _Path(msgspec.Struct, frozen=True, kw_only=True):
    schema: str
    conversation: Conversation


def _record_of_path(conversation: Conversation) -> ConversationRecord:
    """Read the format before this one: the messages of one path."""
    numbers: dict[int | None, int] = {message.id: n for n, message in enumerate(conversation.messages, 1)}
    return ConversationRecord(
        title=conversation.title,
        created_at=conversation.created_at,
        updated_at=conversation.updated_at,
        leaf=len(conversation.messages) or None,
        messages=tuple(
            MessageRecord(
                id=n,
                parent=numbers.get(m.parent_id),
                role=m.role,
                text=m.text,
                state=m.state,
                created_at=m.created_at,
                stats=m.stats,
            )
            for n, m in enumerate(conversation.messages, 1)
        ),
    )


def _read_folder(folder: Path) -> Imported:
    """Read every conversation of Jan's or LM Studio's below a folder; a file that cannot be read is left out."""
    paths = sorted([*folder.rglob("messages.jsonl"), *folder.rglob("*.conversation.json")])
    records: list[ConversationRecord] = []
    left_out: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for path in paths:
        try:
            one = read_path(path)
        except ExportError:
            left_out["files that could not be read"] += 1
            continue
        records += one.records
        names[one.format_name] += 1
        left_out.update(dict(one.left_out))
    if not records:
        raise _unknown(f"There is no conversation of Jan's or LM Studio's in {folder}.")
    return Imported(tuple(records), " and ".join(names), tuple(left_out.most_common()))


def _from_zip(data: bytes) -> bytes:
    """Return ChatGPT's ``conversations.json`` out of the archive that its export comes in."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = archive.namelist()
            if _MANIFEST in names:
                raise ExportError(
                    "This is a backup of everything.", "Restore it, instead of importing it: chats restore FILE."
                )
            name = next((name for name in names if Path(name).name == _CHATGPT_FILE), None)
            if name is None or archive.getinfo(name).file_size > MAX_BYTES:
                raise _unknown("There are no conversations in this archive.")
            return archive.read(name)
    except BROKEN as fault:
        raise _unknown(f"This archive is damaged ({fault}).") from fault


def _unknown(what: str) -> ExportError:
    return ExportError(
        what, "Slipstream reads its own JSON, OpenAI messages, and the exports of ChatGPT, LM Studio and Jan."
    )
