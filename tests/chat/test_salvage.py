import random
import shutil
import sqlite3
import struct
from contextlib import closing

import pytest

from app.chat.conversation import Attachment, Message, now
from app.chat.pages import rows
from app.chat.store import ChatStore
from app.chat.token_marks import StoredToken


def fill(path, n_conversations=40, n_messages=12):
    """Write conversations of all kinds; return what was said by message id."""
    said = {}
    with closing(ChatStore(path)) as store:
        folder = store.folders.create("Folder")
        store.presets.save("Preset", store.create("settings").settings)
        for n in range(n_conversations):
            chat = store.create(f"Conversation {n}", folder_id=folder.id if n % 3 else None)
            for m in range(n_messages):
                # every few messages one that is longer than a page, and one far longer
                text = f"message {n}/{m} é中文 " * (900 if m == 5 else 90 if m == 3 else 3)
                message = store.add(
                    chat.id,
                    Message(
                        role="assistant" if m % 2 else "user",
                        text=text,
                        created_at=now(),
                        reasoning="thought" if m % 4 == 1 else "",
                        reasoning_s=0.5 if m % 4 == 1 else None,
                        model="tiny",
                        attachments=(Attachment(name="a", text="b"),) if m == 0 else (),
                    ),
                )
                said[message.id] = message
            store.save_tokens(message.id, [StoredToken(0, "accepted", 0, 1, 1, "ngram", 1.0)])
        store.drafts.save_files(chat.id, (Attachment(name="a", text="b"),))
    return said


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "chats.db"
    return path, fill(path)


@pytest.fixture
def copied(whole, path):
    shutil.copyfile(whole[0], path)
    return path, whole[1]


def spoil(path, pages):
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * 4096)
            file.write(random.Random(page).randbytes(4096))


def saved(path):
    """Open a damaged database; return the messages that were saved, by id, and what is said about it."""
    with closing(ChatStore(path)) as store:
        assert store.damage is not None
        assert store.integrity() == "ok"
        found = {m.id: m for head in store.heads(limit=-1) for m in store.all_messages(head.id)}
        for head in store.heads(limit=-1):  # every conversation can be opened, and ends somewhere
            assert bool(store.load(head.id).messages) == bool(store.all_messages(head.id))
        return found, store.damage


def test_the_rows_of_a_whole_file_are_read_as_sqlite_reads_them(whole):
    path, _ = whole
    with closing(sqlite3.connect(path)) as db:
        expected = {row[0]: row[1:] for row in db.execute("SELECT * FROM message")}
    found = {n: values[1:] for n, values in rows(path) if len(values) == 13 and values[3] in ("user", "assistant")}
    assert found == expected


@pytest.mark.parametrize("seed", range(4))
def test_what_is_on_pages_that_are_whole_is_saved_to_the_letter(copied, seed, expect_log):
    expect_log("database was damaged")
    path, said = copied
    n_pages = path.stat().st_size // 4096
    spoil(path, random.Random(seed).sample(range(2, n_pages + 1), n_pages // 20))
    found, damage = saved(path)
    for n, message in found.items():
        assert (message.text, message.role, message.reasoning, message.attachments) == (
            said[n].text, said[n].role, said[n].reasoning, said[n].attachments)  # fmt: skip
    assert len(found) > 0.4 * len(said)  # a message of many pages is lost with any of them
    assert f"{len(found)} messages" in damage.message
    (kept,) = path.parent.glob("chats.db.damaged-*")
    assert kept.stat().st_size == n_pages * 4096


def test_everything_is_saved_when_only_the_way_to_it_is_spoilt(copied, expect_log):
    expect_log("database was damaged")
    path, said = copied
    with closing(sqlite3.connect(path)) as db:
        roots = [
            row[0] for row in db.execute("SELECT rootpage FROM sqlite_master WHERE name IN ('message', 'conversation')")
        ]
    spoil(path, [1, *roots])
    found, _ = saved(path)
    # a page holds the rows of one table; the root of a small table may hold rows itself
    assert found.keys() == said.keys()
    assert all(found[n].text == said[n].text for n in said)


def test_folders_presets_colours_and_titles_are_saved(copied, expect_log):
    expect_log("database was damaged")
    path, said = copied
    spoil(path, [1])
    with closing(ChatStore(path)) as store:
        assert [folder.name for folder in store.folders.all()] == ["Folder"]
        assert [preset.name for preset in store.presets.all()] == ["Preset"]
        heads = store.heads(limit=-1)
        assert {head.title for head in heads} == {"settings", *(f"Conversation {n}" for n in range(40))}
        assert sum(head.folder_id is not None for head in heads) == 26
        assert store.tokens(max(said))
        assert store.search("message 39/11")
        newest = next(head.id for head in heads if head.title == "Conversation 39")
        assert store.drafts.files(newest) == (Attachment(name="a", text="b"),)


def test_what_was_for_a_conversation_that_had_not_begun_is_saved(copied, expect_log):
    expect_log("database was damaged")
    path, _ = copied
    files = (Attachment(name="a.txt", text="c" * 9000),)
    with closing(ChatStore(path)) as store:
        store.save_draft(None, "half a thought")
        store.drafts.save_files(None, files)
    spoil(path, [1])
    with closing(ChatStore(path)) as store:
        assert store.damage is not None
        assert (store.draft(None), store.drafts.files(None)) == ("half a thought", files)


def test_a_file_cut_in_half_gives_its_half(copied, expect_log):
    expect_log("database was damaged")
    path, said = copied
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    found, _ = saved(path)
    assert found
    assert all(found[n].text == said[n].text for n in found)


def test_what_was_only_in_the_log_is_saved(copied, tmp_path, expect_log):
    expect_log("database was damaged")
    path, _ = copied
    with closing(ChatStore(path)) as store:
        late = store.append(store.heads()[0].id, "user", "said last")
        crashed = tmp_path / "crashed" / "chats.db"
        crashed.parent.mkdir()
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{path}{suffix}", f"{crashed}{suffix}")
    in_file = {values[4] for _n, values in rows(crashed) if len(values) == 13}
    assert "said last" in in_file, "the log was not read"
    spoil(crashed, [1])
    found, _ = saved(crashed)
    assert found[late.id].text == "said last"


def test_what_hung_on_a_lost_message_hangs_on_the_one_before_it(path, expect_log):
    expect_log("database was damaged")
    with closing(ChatStore(path)) as store:
        chat = store.create("gap")
        ids = [store.append(chat.id, "user", f"text {n}").id for n in range(6)]
        store.branches.switch(ids[0])
        db = store.branches._database.connection
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("DELETE FROM message WHERE id IN (?, ?)", (ids[2], ids[5]))
        db.execute("DELETE FROM conversation")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as file:
        file.write(b"spoilt header, magic gone")
    with closing(ChatStore(path)) as store:
        (head,) = store.heads()
        assert [m.text for m in store.load(head.id).messages] == ["text 0", "text 1", "text 3", "text 4"]
        assert "missing" in store.damage.message


def test_a_file_that_never_was_a_database_is_kept_and_named(path, expect_log):
    expect_log("database was damaged")
    path.write_bytes(b"this is no database, but somebody's text" * 1000)
    found, damage = saved(path)
    assert found == {}
    assert "Nothing in it could be read" in damage.message
    (kept,) = path.parent.glob("chats.db.damaged-*")
    assert kept.name in damage.message


@pytest.mark.parametrize("seed", range(10))
def test_pages_that_mean_harm_are_read_to_an_end(path, seed):
    """Leaf pages with cells of any length, anywhere, and overflow chains that run in rings."""
    draw = random.Random(seed)
    file = bytearray(b"SQLite format 3\0" + draw.randbytes(84) + bytes(4096 * 8 - 100))
    struct.pack_into(">H", file, 16, 4096)
    for page in range(8):
        at = page * 4096 + (100 if page == 0 else 0)
        struct.pack_into(">BHHHB", file, at, 13, 0, draw.randrange(3000), draw.randrange(65536), 0)
        for cell in range(400):
            struct.pack_into(">H", file, at + 8 + 2 * cell, draw.randrange(4096))
        for spot in range(at + 808, page * 4096 + 4090, 6):
            struct.pack_into(">I", file, spot, draw.choice([page + 1, 0x8FFFFFFF, 2, draw.randrange(1 << 32)]))
    path.write_bytes(file)
    list(rows(path))
