"""Deleted conversations are erased after their time, on a connection of their own, beside whoever writes."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing

import pytest

from app.chat.erasing import Erasing
from app.chat.store import KEEP_DELETED_S, ChatStore
from app.errors import StoreError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "chats.db"


def titles(path):
    with closing(sqlite3.connect(path)) as db:
        return [row[0] for row in db.execute("SELECT title FROM conversation ORDER BY id")]


def deleted(store, title, *, days_ago):
    made = store.create(title)
    store.append(made.id, "user", f"about {title}")
    store.delete(made.id)
    with store.transaction() as db:
        db.execute(
            "UPDATE conversation SET deleted_at = strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', ?) WHERE id = ?",
            (f"-{days_ago} days", made.id),
        )
    return made.id


def test_only_what_was_deleted_long_ago_is_erased(path):
    with closing(ChatStore(path)) as store:
        store.create("here")
        deleted(store, "young", days_ago=29)
        deleted(store, "old", days_ago=31)
        assert Erasing(path, older_than_s=KEEP_DELETED_S).run() == 1
        assert titles(path) == ["here", "young"]
        assert store.heads("old") == ()
        assert store.integrity() == "ok"


def test_chosen_ones_are_erased_at_once_and_others_never(path):
    with closing(ChatStore(path)) as store:
        here = store.create("here").id
        young = deleted(store, "young", days_ago=0)
        deleted(store, "other", days_ago=0)
        assert Erasing(path, only=(young, here, 4711)).run() == 1
        assert titles(path) == ["here", "other"]


def test_the_window_writes_meanwhile(path):
    with closing(ChatStore(path)) as store:
        for n in range(25):
            deleted(store, f"old {n}", days_ago=40)
        erasing = Erasing(path, older_than_s=KEEP_DELETED_S)
        thread = threading.Thread(target=erasing.run)
        thread.start()
        chat = store.create("here")
        n_written = 0
        while thread.is_alive():
            store.append(chat.id, "user", "and on")
            n_written += 1
            time.sleep(0.002)  # nobody writes without a breath, and who waits for the database needs one to get in
        thread.join()
        assert titles(path) == ["here"]
        assert len(store.load(chat.id).messages) == n_written > 0


def test_a_round_that_is_stopped_leaves_the_rest_for_the_next(path):
    with closing(ChatStore(path)) as store:
        for n in range(3):
            deleted(store, f"old {n}", days_ago=40)
        erasing = Erasing(path, older_than_s=KEEP_DELETED_S)
        erasing.stop()
        assert erasing.run() == 0
        assert len(titles(path)) == 3


def test_a_database_that_cannot_be_opened_is_said(tmp_path):
    with pytest.raises(StoreError):
        Erasing(tmp_path / "nowhere" / "chats.db").run()
