import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from app.chat.conversation import AnswerStats, Attachment
from app.chat.drafts import OpenEdit
from app.chat.schema import MIGRATIONS, migrate, version_of
from app.chat.store import ChatStore
from app.errors import StoreError
from app.protocol import Engagement
from tests.fair_time import FairWatch


def reopened(path):
    return closing(ChatStore(path))


def test_a_conversation_comes_back_as_it_was_written(path, store):
    made = store.create("Streams")
    question = store.append(made.id, "user", "What is a slipstream?")
    stats = AnswerStats(n_tokens=3, decode_tps=12.5, engagement=Engagement(True, "ngram", 4), stop_reason="eos")
    answer = store.append(made.id, "assistant", "Air behind a body.", stats=stats)
    store.close()
    with reopened(path) as again:
        read = again.load(made.id)
    assert (read.title, read.created_at) == ("Streams", made.created_at)
    assert read.messages == (question, answer)
    assert answer.parent_id == question.id
    assert question.parent_id is None


def test_an_answer_grows_and_ends(store):
    made = store.create()
    growing = store.append(made.id, "assistant", "", "streaming")
    store.update(growing.id, "half", "streaming")
    assert store.load(made.id).messages[0].text == "half"
    store.update(growing.id, "half and whole", "complete", AnswerStats(n_tokens=5))
    (ended,) = store.load(made.id).messages
    assert (ended.text, ended.state, ended.stats.n_tokens) == ("half and whole", "complete", 5)


def test_what_a_crash_left_streaming_is_interrupted_and_searchable(path, store):
    made = store.create()
    growing = store.append(made.id, "assistant", "", "streaming")
    store.update(growing.id, "a zeppelin is", "streaming")
    store.close()
    with reopened(path) as again:
        assert again.recover() == 1
        assert again.load(made.id).messages[0].state == "interrupted"
        assert [head.id for head in again.heads("zeppelin")] == [made.id]
        assert again.recover() == 0


def test_heads_are_newest_first(store):
    first, second = store.create("first"), store.create("second")
    store.append(first.id, "user", "hello")
    assert [(head.title, head.n_messages) for head in store.heads()] == [("first", 1), ("second", 0)]
    store.append(second.id, "user", "hello")
    assert [head.title for head in store.heads()] == ["second", "first"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("slipstream", True),
        ("STREAM", True),
        ("ips", True),
        ("speed slip", True),
        ("speed missing", False),
        ("速度", True),
        ("of", True),
        ('"quoted"', True),
        ("100%", True),
        ("100_", False),
        ("AND", False),
        ("(", False),
        ("title", True),
        ("", True),
    ],
)
def test_search(store, query, found):
    made = store.create("A title")
    store.append(made.id, "user", 'Speed of a slipstream, "quoted", 100% sure: 速度很快')
    assert [head.id for head in store.heads(query)] == ([made.id] if found else [])


def test_search_shows_where_it_matched(store):
    made = store.create()
    store.append(made.id, "user", "word " * 50 + "needle in\nhay " + "word " * 50)
    (head,) = store.heads("needle")
    assert head.snippet.startswith("…")
    assert "needle in hay" in head.snippet


def test_search_follows_changes(store):
    made = store.create()
    said = store.append(made.id, "assistant", "albatross")
    store.update(said.id, "pelican", "complete")
    assert store.heads("albatross") == ()
    assert len(store.heads("pelican")) == 1
    store.remove_message(said.id)
    assert store.heads("pelican") == ()


def test_delete_hides_undelete_restores_purge_erases(path, store):
    made = store.create("Secret plan")
    store.append(made.id, "user", "the albatross flies at dawn")
    store.delete(made.id)
    assert store.heads() == store.heads("albatross") == ()
    store.undelete(made.id)
    assert len(store.heads("albatross")) == 1
    store.delete(made.id)
    assert store.purge() == 1
    with pytest.raises(StoreError, match="does not exist"):
        store.load(made.id)
    store.close()
    assert b"albatross" not in path.read_bytes(), "an erased chat is still in the file"


def test_removing_the_last_message_leaves_its_parent_as_the_end(store):
    made = store.create()
    question = store.append(made.id, "user", "q")
    answer = store.append(made.id, "assistant", "")
    store.remove_message(answer.id)
    assert store.load(made.id).messages == (question,)
    assert store.append(made.id, "assistant", "again").parent_id == question.id


def test_rename_and_draft(store):
    made = store.create()
    store.rename(made.id, "  Better ")
    store.save_draft(made.id, "half a thought")
    assert store.load(made.id).title == "Better"
    assert store.draft(made.id) == "half a thought"
    assert store.draft(made.id + 1) == ""


def test_files_and_open_edits_of_what_is_not_sent_are_kept_until_it_is(store):
    made, files = store.create(), (Attachment(name="a.txt", text="one"), Attachment(name="b.txt", text="\ud83d"))
    for conversation_id in (made.id, None):
        assert store.drafts.files(conversation_id) == ()
        store.drafts.save_files(conversation_id, files)
        assert [(file.name, file.text) for file in store.drafts.files(conversation_id)] == [
            ("a.txt", "one"),
            ("b.txt", "?"),
        ]
        store.drafts.save_files(conversation_id, ())
        assert store.drafts.files(conversation_id) == ()
    store.drafts.save_edit(made.id, OpenEdit(7, "so"))
    assert store.drafts.edit(made.id) == OpenEdit(7, "so")
    store.drafts.save_edit(made.id, None)
    assert store.drafts.edit(made.id) is None
    store.drafts.save_files(made.id + 1, files)  # erased meanwhile
    assert store.drafts.files(made.id + 1) == ()
    store.drafts.save_files(made.id, files)
    store.delete(made.id)
    store.purge()
    assert store.drafts.files(made.id) == ()


def n_bytes_written(store, write):
    """How much longer the log of a database is after something was written."""
    log = store.path.with_name(f"{store.path.name}-wal")
    before = log.stat().st_size
    write()
    return log.stat().st_size - before


def test_a_file_that_joins_others_is_all_that_is_written(path):
    large = tuple(Attachment(name=f"{n}.txt", text=f"{n} words " * 100_000) for n in range(3))
    small = Attachment(name="small.txt", text="one")
    with closing(ChatStore(path)) as store:
        made = store.create()
        store._db.connection.execute("PRAGMA wal_autocheckpoint = 0")
        store.drafts.save_files(made.id, large)
        assert n_bytes_written(store, lambda: store.drafts.save_files(made.id, (*large, small))) < 100_000
        assert store.drafts.files(made.id) == (*large, small)
        assert store.drafts.has_files(made.id, (*large, small))
        assert not store.drafts.has_files(made.id, (small, *large))
        assert n_bytes_written(store, lambda: store.drafts.forget_files(made.id)) < 100_000
        assert store.drafts.files(made.id) == ()
        assert store.drafts.has_files(made.id, ())
        store.drafts.sweep(made.id)
        assert store._db.connection.execute("SELECT count(*) FROM draft_file").fetchone()[0] == 0


def test_another_connection_to_the_file_works_in_a_thread(path):
    def work(conversation_id):
        with closing(store.beside()) as other:
            return other.append(conversation_id, "user", "from a thread").id

    with closing(ChatStore(path)) as store, ThreadPoolExecutor(1) as pool:
        made = store.create()
        assert pool.submit(work, made.id).result() == store.load(made.id).messages[-1].id


def test_damaged_file_is_set_aside_and_kept(path, expect_log):
    expect_log("database was damaged")
    path.write_bytes(b"this is no database, but somebody's text" * 100)
    with reopened(path) as store:
        assert "damaged" in store.damage.message
        assert store.damage.hint
        store.append(store.create().id, "user", "goes on")
    (kept,) = path.parent.glob("chats.db.damaged-*")
    assert kept.read_bytes().startswith(b"this is no database")


def test_damaged_page_is_found_at_opening(path, store, expect_log):
    expect_log("database was damaged")
    for n in range(200):
        store.append(store.create(f"c{n}").id, "user", f"text {n} " * 50)
    store.close()
    with path.open("r+b") as file:
        for page in range(3, 20):
            file.seek(page * 4096)
            file.write(os.urandom(4096))
    with reopened(path) as again:
        assert "conversations with" in again.damage.message
        assert 100 < len(again.heads()) <= 200
        assert again.integrity() == "ok"
    assert len(list(path.parent.glob("chats.db.damaged-*"))) == 1


def test_newer_format_is_refused_and_not_touched(path, store):
    store.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="newer version") as caught:
        ChatStore(path)
    assert caught.value.hint
    assert path.read_bytes() == before


def test_folder_that_is_missing_is_an_error_with_a_hint(tmp_path):
    with pytest.raises(StoreError) as caught:
        ChatStore(tmp_path / "missing" / "chats.db")
    assert "folder" in caught.value.hint


def test_locked_database_is_an_error_with_a_hint_and_the_next_try_works(path, store):
    made = store.create()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        watch = FairWatch()
        with pytest.raises(StoreError) as caught:
            store.append(made.id, "user", "hello")
        assert watch.took_s < 1
        other.execute("ROLLBACK")
    assert "Another program" in caught.value.hint
    assert store.append(made.id, "user", "hello").text == "hello"


def test_full_database_is_an_error_with_a_hint_and_nothing_is_half_written(store):
    made = store.create()
    store.append(made.id, "user", "kept")
    store._db.connection.execute("PRAGMA max_page_count = 1")  # SQLite's own way to be out of space
    with pytest.raises(StoreError) as caught:
        store.append(made.id, "user", "x" * 1_000_000)
    assert "full" in caught.value.hint
    assert [m.text for m in store.load(made.id).messages] == ["kept"]


def test_in_memory_store_says_that_it_will_not_last():
    with closing(ChatStore.in_memory()) as store:
        store.append(store.create().id, "user", "x")
        assert not store.is_on_disk


def test_a_failing_step_leaves_the_version_before_it(tmp_path):
    def breaks(db, _note):
        db.execute("CREATE TABLE extra(x)")
        db.execute("SELECT * FROM nowhere")

    with closing(sqlite3.connect(tmp_path / "x.db", isolation_level=None)) as db:
        with pytest.raises(sqlite3.OperationalError):
            migrate(db, (*MIGRATIONS, breaks))
        assert version_of(db) == len(MIGRATIONS)
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'extra'").fetchone() == (0,)


WRITER = """
import sys, time
from pathlib import Path
from app.chat.store import ChatStore
store = ChatStore(Path(sys.argv[1]))
chat = store.create("killed")
for turn in range(1000):
    store.append(chat.id, "user", f"question {turn}")
    answer = store.append(chat.id, "assistant", "", "streaming")
    text = ""
    for word in range(20):
        text += f"word{word} "
        store.update(answer.id, text, "streaming")
        print(turn, word, flush=True)
    store.update(answer.id, text, "complete")
"""


def killed_writer(path, lines):
    """Run a process that writes, kill it with SIGKILL after ``lines`` lines, return the last line it printed."""
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, cwd=root, text=True) as writer:
        last = ""
        for _ in range(lines):
            last = writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        for line in writer.stdout:
            last = line if line.endswith("\n") else last
    return [int(number) for number in last.split()]


@pytest.mark.linux
@pytest.mark.parametrize("lines", [1, 7, 40, 133, 300])
def test_killed_writer_loses_nothing_it_had_written(path, lines):
    turn, word = killed_writer(path, lines)
    with reopened(path) as store:
        assert store.damage is None
        store.recover()
        (head,) = store.heads()
        messages = store.load(head.id).messages
        questions = [m.text for m in messages if m.role == "user"]
        answers = [m for m in messages if m.role == "assistant"]
        assert questions[: turn + 1] == [f"question {n}" for n in range(turn + 1)]
        assert answers[turn].text.startswith("".join(f"word{n} " for n in range(word + 1)))
        assert all(answer.state in ("complete", "interrupted") for answer in answers)
        assert store.integrity() == "ok"
