"""A newer version is tried and then the old one again: nothing is lost, and what cannot be is said in clear words."""

from __future__ import annotations

import json

import pytest

from app.chat.conversation import Message, now
from app.chat.opening import open_database
from app.chat.schema import MIGRATIONS
from app.chat.store import ChatStore, store_path
from app.chat.upgrading import How
from app.errors import StoreError
from app.paths import data_dir
from app.settings import Settings, load_settings, save_settings, settings_path


def _next_step(db, _note) -> None:
    """Do what the next version's format might ask for."""
    db.execute("ALTER TABLE message ADD COLUMN mood TEXT")


NEXT = (*MIGRATIONS, _next_step)


def saved_chat() -> int:
    store = ChatStore()
    try:
        conversation = store.create("Kept")
        store.add(conversation.id, Message(role="user", text="What stays?", created_at=now()))
        return conversation.id
    finally:
        store.close()


def test_chats_are_copied_before_an_upgrade_and_the_old_version_leaves_the_new_file_alone():
    # GIVEN data of this version
    number = saved_chat()
    # WHEN the next version opens it, it says that a copy is kept
    opened = open_database(store_path(), How(NEXT))
    opened.check.stop()
    opened.connection.close()
    assert opened.notice is not None
    (copy,) = data_dir().glob("chats.db.format-*")
    assert copy.name in opened.notice.hint
    upgraded = store_path().read_bytes()
    # AND this version again: it refuses in words and touches nothing
    with pytest.raises(StoreError, match="newer version") as caught:
        ChatStore()
    assert "not touched" in caught.value.hint
    assert copy.name in caught.value.hint
    assert store_path().read_bytes() == upgraded
    # THEN the copy holds all that there was, for this version
    store = ChatStore(copy)
    try:
        assert [message.text for message in store.load(number).messages] == ["What stays?"]
    finally:
        store.close()
    # AND the next version still reads its own
    opened = open_database(store_path(), How(NEXT))
    opened.check.stop()
    assert opened.connection.execute("SELECT text, mood FROM message").fetchall()[0]["text"] == "What stays?"
    opened.connection.close()


def test_settings_of_a_newer_version_outlive_the_older_one():
    # GIVEN settings that the next version has added to
    save_settings(Settings(temperature=0.3))
    values = json.loads(settings_path().read_bytes())
    settings_path().write_text(json.dumps({**values, "mood": {"of": ["the", "day"]}}))
    # WHEN this version reads them and saves a change
    settings, problem = load_settings()
    assert (settings.temperature, problem) == (0.3, "")
    save_settings(Settings(temperature=0.5))
    # THEN its own change is there, and what it does not know as well
    values = json.loads(settings_path().read_bytes())
    assert values["temperature"] == 0.5
    assert values["mood"] == {"of": ["the", "day"]}


def test_models_and_partial_downloads_are_never_touched_by_opening():
    part = data_dir() / "models" / ".downloads" / "abc.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"half")
    saved_chat()
    opened = open_database(store_path(), How(NEXT))
    opened.check.stop()
    opened.connection.close()
    assert part.read_bytes() == b"half"
