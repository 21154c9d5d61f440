"""Files that SQLite takes for whole and that are not: broken characters, columns by another name, another program's."""

import sqlite3
from contextlib import closing

import pytest

from app.chat.schema import MIGRATIONS
from app.chat.store import ChatStore
from app.errors import StoreError


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "chats.db"
    with closing(ChatStore(path)) as store:
        for chat in (store.create("one"), store.create("two")):
            for n in range(4):
                store.append(chat.id, "assistant" if n % 2 else "user", f"message number {n} of {chat.title}")
    return path


def put(path, old, new):
    """Change bytes of the file, wherever they stand."""
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))


def texts(store):
    return [message.text for head in store.heads() for message in store.load(head.id).messages]


def test_a_broken_character_costs_one_character(path):
    put(path, b"number 1 of one", b"number \xff of one")
    with closing(ChatStore(path)) as store:
        assert len(texts(store)) == 8
        assert "message number \ufffd of one" in texts(store)
        assert len(store.search("message")) == 8
        assert store.heads("message")
        store.append(store.heads()[0].id, "user", "it goes on")


@pytest.mark.parametrize("byte", [b"\xfd", b"~", b"%"])
def test_a_schema_with_a_broken_character_is_repaired(path, byte, expect_log):
    expect_log("database was damaged")
    put(path, b"CREATE TABLE message (", b"CREATE TABLE mes" + byte + b"age (")
    with closing(ChatStore(path)) as store:
        assert store.damage is not None
        assert len(texts(store)) == 8
    with closing(ChatStore(path)) as store:
        assert store.damage is None


def test_a_column_by_another_name_is_damage(path, expect_log):
    expect_log("database was damaged")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET sql = replace(sql, 'chosen_id', 'chosan_id')")
        db.commit()
    with closing(ChatStore(path)) as store:
        assert "chosen_id" in store.damage.message
        assert len(texts(store)) == 8
        store.append(store.heads()[0].id, "user", "it goes on")


def test_a_file_that_lost_its_version_is_repaired(path, expect_log):
    expect_log("database was damaged")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 0")
    with closing(ChatStore(path)) as store:
        assert store.damage is not None
        assert len(texts(store)) == 8


def test_the_database_of_another_program_is_kept_beside(tmp_path, expect_log):
    expect_log("database was damaged")
    path = tmp_path / "chats.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE recipes(name)")
        db.execute("INSERT INTO recipes VALUES ('soup')")
        db.commit()
    with closing(ChatStore(path)) as store:
        assert "another program" in store.damage.message
        store.append(store.create("new").id, "user", "x")
    (kept,) = tmp_path.glob("chats.db.damaged-*")
    with closing(sqlite3.connect(kept)) as db:
        assert db.execute("SELECT name FROM recipes").fetchall() == [("soup",)]
        assert db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)


def test_a_version_from_the_future_with_a_broken_schema_is_not_touched(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="newer version"):
        ChatStore(path)
    assert path.read_bytes() == before
