"""Folders of conversations, and named presets: what orders and repeats, beside what is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from app.chat.chat_settings import PRESET_NAME_LENGTH, ConversationSettings, Preset
from app.chat.conversation import Folder
from app.chat.database import Database, now, time_out
from app.chat.progress import Progress, no_progress
from app.chat.rows import json_out, settings_in, storable
from app.errors import StoreError

FOLDER_NAME_LENGTH = 80


class Folders:
    """The folders of a store, in a person's order. A folder that is deleted lets its conversations go, unharmed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> tuple[Folder, ...]:
        """List them, with how many conversations each has."""
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT id, name, is_open, (SELECT count(*) FROM conversation"
                "  WHERE folder_id = folder.id AND deleted_at IS NULL) AS n FROM folder ORDER BY position, id"
            ).fetchall()
        return tuple(
            Folder(id=r["id"], name=r["name"], is_open=bool(r["is_open"]), n_conversations=r["n"]) for r in rows
        )

    def create(self, name: str) -> Folder:
        """Make a folder behind the others.

        Raises:
            StoreError: it has no name.
        """
        name = _named(folder_name(name), "A folder needs a name.")
        with self._database.writing() as db:
            row = db.execute(
                "INSERT INTO folder(name, position) SELECT ?, coalesce(max(position), 0) + 1 FROM folder", (name,)
            )
        return Folder(id=int(row.lastrowid or 0), name=name)

    def rename(self, folder_id: int, name: str) -> None:
        """Give a folder another name."""
        name = _named(folder_name(name), "A folder needs a name.")
        with self._database.writing() as db:
            db.execute("UPDATE folder SET name = ? WHERE id = ?", (name, folder_id))

    def show(self, folder_id: int, *, is_open: bool) -> None:
        """Remember whether the list shows what is in it."""
        with self._database.writing() as db:
            db.execute("UPDATE folder SET is_open = ? WHERE id = ?", (is_open, folder_id))

    def order(self, folder_ids: Sequence[int]) -> None:
        """Put folders in this order."""
        with self._database.writing() as db:
            db.executemany("UPDATE folder SET position = ? WHERE id = ?", list(enumerate(folder_ids, 1)))

    def delete(self, folder_id: int) -> tuple[int, ...]:
        """Delete a folder; return the conversations that were in it, for an undo."""
        with self._database.writing() as db:
            rows = db.execute("SELECT id FROM conversation WHERE folder_id = ?", (folder_id,)).fetchall()
            db.execute("DELETE FROM folder WHERE id = ?", (folder_id,))
        return tuple(int(row["id"]) for row in rows)


class Presets:
    """The named settings of a store. Names differ by more than capitals."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> tuple[Preset, ...]:
        """List them by name."""
        with self._database.reading() as db:
            rows = db.execute("SELECT id, name, settings FROM preset ORDER BY name").fetchall()
        return tuple(Preset(id=row["id"], name=row["name"], settings=settings_in(row["settings"])) for row in rows)

    def save(self, name: str, settings: ConversationSettings) -> Preset:
        """Keep settings under a name; one that has it already takes these instead."""
        name = _named(_cleaned(name, PRESET_NAME_LENGTH), "A preset needs a name.")
        with self._database.writing() as db:
            db.execute(
                "INSERT INTO preset(name, settings, updated_at) VALUES (?, ?, ?)"
                " ON CONFLICT(name) DO UPDATE SET settings = excluded.settings, updated_at = excluded.updated_at",
                (name, json_out(settings), time_out(now())),
            )
            row = db.execute("SELECT id, name FROM preset WHERE name = ?", (name,)).fetchone()
        return Preset(id=row["id"], name=row["name"], settings=settings)

    def rename(self, preset_id: int, name: str) -> None:
        """Give a preset another name.

        Raises:
            StoreError: another has it, or it is empty.
        """
        name = _named(_cleaned(name, PRESET_NAME_LENGTH), "A preset needs a name.")
        with self._database.writing() as db:
            if db.execute("SELECT 1 FROM preset WHERE name = ? AND id <> ?", (name, preset_id)).fetchone():
                raise StoreError(f"There is a preset “{name}” already.", "Choose another name.")
            db.execute("UPDATE preset SET name = ? WHERE id = ?", (name, preset_id))

    def delete(self, preset_id: int) -> None:
        """Delete a preset; conversations that took it over keep what they took."""
        with self._database.writing() as db:
            db.execute("DELETE FROM preset WHERE id = ?", (preset_id,))

    def add(self, presets: Sequence[Preset], note: Progress = no_progress) -> tuple[Preset, ...]:
        """Add imported presets; one whose name is taken by other settings gets a number behind its name.

        Returns:
            Those that were not there.

        Args:
            presets: what is to be there; one without a name is left out.
            note: is told how many are; what it raises leaves none of them.
        """
        added = []
        with self._database.writing():
            present = {have.name.casefold(): have for have in self.all()}
            numbers: Counter[str] = Counter()
            for n_done, preset in enumerate(presets):
                note(n_done, len(presets))
                name = _cleaned(preset.name, PRESET_NAME_LENGTH)  # as it is kept: only so is it known which is there
                if not name:
                    continue
                place = _place(name, preset.settings, present, numbers)
                if place.casefold() not in present:
                    present[place.casefold()] = self.save(place, preset.settings)
                    added.append(present[place.casefold()])
        return tuple(added)


def folder_name(name: str) -> str:
    """Return a name as a folder of that name has it, "" if it says nothing."""
    return _cleaned(name, FOLDER_NAME_LENGTH)


def _named(name: str, refusal: str) -> str:
    if not name:
        raise StoreError(refusal, "Type one.")
    return name


def _cleaned(name: str, length: int) -> str:
    # SQLite compares names to their first NUL only
    return " ".join(storable(name).replace("\0", " ").split())[:length].strip()


def _place(name: str, settings: ConversationSettings, present: Mapping[str, Preset], numbers: Counter[str]) -> str:
    """Return a name that is free, or has these settings already; ``numbers`` remembers which have been tried."""
    stem, place = name[: PRESET_NAME_LENGTH - 6].strip(), name
    while (have := present.get(place.casefold())) is not None and have.settings != settings:
        numbers[stem] += 1
        place = f"{stem} {numbers[stem] + 1}"
    return place
