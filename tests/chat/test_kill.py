"""Kill whoever writes, at random moments of everything that is written: nothing that was there is gone.

The writer says what it has saved once it has; the window promises less: two seconds (``tests/ui/test_kill.py``).
"""

import json
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from app.chat.backup import back_up
from app.chat.schema import MIGRATIONS, version_of
from app.chat.store import ChatStore
from app.settings import Settings, load_settings, save_settings
from tests.chat.test_opening import old_database

pytestmark = pytest.mark.linux

ROOT = Path(__file__).parents[2]

WRITER = """
import json, random, sys
from pathlib import Path
from app.chat.chat_settings import ConversationSettings
from app.chat.conversation import Attachment, Message, now
from app.chat.drafts import OpenEdit
from app.chat.store import ChatStore

def say(**fact):
    print(json.dumps(fact), flush=True)

say(is_opening=True)
store = ChatStore(Path(sys.argv[1]))
store.recover()
say(is_open=True)
draw = random.Random(int(sys.argv[2]))
chats = [head.id for head in store.heads(limit=-1)] or [store.create("first").id]
count = max(store.load(chat).settings.top_k or 0 for chat in chats)

def stream(message):
    text = message.text
    for _ in range(draw.randint(1, 12)):
        text += f"word{draw.randint(0, 99)} " * draw.randint(1, 40)
        store.update(message.id, text, "streaming")
        say(message=message.id, text=text)
    store.update(message.id, text, "complete")

while True:
    count += 1
    chat = draw.choice(chats)
    path = store.load(chat).messages
    what = draw.choice(["ask", "ask", "again", "edit", "keep", "resume", "switch", "chat", "copy", "fork", "settings",
                        "unsent", "folder", "delete"])
    if what == "ask" or not path:
        say(message=(made := store.append(chat, "user", f"question {count}")).id, text=made.text)
        stream(store.append(chat, "assistant", "", "streaming"))
    elif what == "again":
        stream(store.branches.add_beside(draw.choice(path).id, Message(role="assistant", text="", state="streaming",
                                                                       created_at=now(), reasoning="hm")))
    elif what in ("edit", "keep"):
        made = store.branches.edit(draw.choice(path).id, f"edit {count}", keep_following=what == "keep")
        say(message=made.id, text=made.text)
    elif what == "resume":
        stream(store.branches.resume(draw.choice(path).id))
    elif what == "switch":
        store.branches.switch(draw.choice(store.all_messages(chat)).id)
    elif what == "chat":
        chats.append(store.create(f"chat {count}").id)
    elif what in ("copy", "fork") and len(path) < 40 and len(chats) < 12:
        made = store.duplicate(chat) if what == "copy" else store.fork(draw.choice(path).id)
        chats.append(made.id)
        for message in made.messages:
            say(message=message.id, text=message.text)
    elif what == "settings":
        store.save_settings(chat, ConversationSettings(top_k=count))
        say(chat=chat, count=count)
        store.save_draft(chat, str(count))
        say(chat=chat, draft=count)
    elif what == "unsent":
        store.drafts.save_files(chat, (Attachment(name=str(count), text="line " * draw.randint(1, 4000)),))
        say(chat=chat, files=count)
        store.drafts.save_edit(chat, OpenEdit(draw.choice(path).id, str(count)))
        say(chat=chat, edit=count)
    elif what == "folder":
        store.move([chat], store.folders.create(f"folder {count}").id)
    elif what == "delete" and len(chats) > 8:
        chats.remove(chat)
        say(gone=[message.id for message in store.all_messages(chat)], chat=chat)
        store.delete(chat)
        store.purge()
"""


class Facts:
    """What the writers have said that they saved."""

    def __init__(self):
        self.texts, self.counts, self.drafts, self.files, self.edits = {}, {}, {}, {}, {}
        self.phase = ""

    def take(self, line):
        fact = json.loads(line)
        if "message" in fact:
            self.texts[fact["message"]] = fact["text"]
        elif "gone" in fact:
            for message in fact["gone"]:
                self.texts.pop(message, None)
            for known in (self.counts, self.drafts, self.files, self.edits):
                known.pop(fact["chat"], None)
        elif "count" in fact:
            self.counts[fact["chat"]] = fact["count"]
        elif "draft" in fact:
            self.drafts[fact["chat"]] = fact["draft"]
        elif "files" in fact:
            self.files[fact["chat"]] = fact["files"]
        elif "edit" in fact:
            self.edits[fact["chat"]] = fact["edit"]
        else:
            self.phase = next(iter(fact))

    def check(self, path):
        with closing(ChatStore(path)) as store:
            assert store.damage is None
            assert store.integrity() == "ok"
            store.recover()
            with store.transaction() as db:
                assert db.execute("PRAGMA foreign_key_check").fetchall() == []
                db.execute("INSERT INTO message_text(message_text, rank) VALUES ('integrity-check', 1)")
                stored = dict(db.execute("SELECT id, text FROM message").fetchall())
                streaming = db.execute("SELECT count(*) FROM message WHERE state = 'streaming'").fetchone()[0]
            for message, text in self.texts.items():
                assert stored.get(message, "").startswith(text), f"message {message} lost {text[-60:]!r}"
            assert streaming == 0
            for chat, count in self.counts.items():
                assert store.load(chat).settings.top_k >= count
            for chat, draft in self.drafts.items():
                assert int(store.draft(chat)) >= draft
            for chat, count in self.files.items():
                (file,) = store.drafts.files(chat)
                assert int(file.name) >= count
                assert file.text.endswith("line ")
            for chat, count in self.edits.items():
                assert int(store.drafts.edit(chat).text) >= count
            for head in store.heads(limit=-1):
                path_ids = [m.id for m in store.load(head.id).messages]
                assert bool(path_ids) == bool(store.all_messages(head.id)), "a conversation has lost its end"


def run_and_kill(path, seed, wait_s, facts, until="is_open"):
    """Run a writer, kill it ``wait_s`` after it has come to ``until``."""
    command = [sys.executable, "-c", WRITER, str(path), str(seed)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as writer:
        lines = []
        for line in writer.stdout:
            lines.append(line)
            if until in line:
                break
        assert lines, writer.stderr.read()
        time.sleep(wait_s)
        writer.send_signal(signal.SIGKILL)
        lines += writer.stdout.readlines()
        assert "Error" not in (said := writer.stderr.read()), said
    for line in lines:
        if line.endswith("\n"):
            facts.take(line)


def kill_while_writing(path, n_kills, seed):
    facts, draw = Facts(), random.Random(seed)
    for n in range(n_kills):
        run_and_kill(path, seed * 1000 + n, draw.uniform(0, 0.3), facts)
        facts.check(path)
    assert len(facts.texts) > n_kills
    assert facts.files
    assert facts.edits


def kill_while_upgrading(folder, n_kills, seed):
    """Kill at moments that are spread over the whole upgrade; return how often it was not done yet."""
    draw, n_early = random.Random(seed), 0
    original = folder / "old.db"
    old_database(original, 3000)
    for n in range(n_kills):
        path = folder / f"{n}" / "chats.db"
        path.parent.mkdir()
        path.write_bytes(original.read_bytes())
        facts = Facts()
        run_and_kill(path, n, draw.uniform(0, 0.12), facts, until="is_opening")
        n_early += facts.phase == "is_opening"
        with closing(ChatStore(path)) as store:
            assert version_of(store.branches._database.connection) == len(MIGRATIONS)
            assert {f"albatross {k}" for k in range(1, 3001)} <= {m.text for m in store.all_messages(1)}
        facts.check(path)
        for file in path.parent.iterdir():
            file.unlink()
    return n_early


def killed_after(wait_s, script, *arguments):
    """Run a script, kill it so long after it says that it begins."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        time.sleep(wait_s)
        process.kill()


REPAIR = "import sys; from pathlib import Path; from app.chat.store import ChatStore; print('now', flush=True);"
REPAIR += "ChatStore(Path(sys.argv[1])).close()"
RESTORE = "import sys; from pathlib import Path; from app.chat.backup import restore; print('now', flush=True);"
RESTORE += "restore(Path(sys.argv[1]))"


def kill_while_repairing(folder, n_kills, seed, expect_log):
    expect_log("database was damaged")
    draw, original = random.Random(seed), folder / "whole.db"
    with closing(ChatStore(original)) as store:
        for n in range(60):
            store.append(store.create(f"c{n}").id, "user", f"albatross {n} " * 100)
    spoilt = bytearray(original.read_bytes())
    spoilt[:100] = bytes(100)
    for n in range(n_kills):
        path = folder / f"repair-{n}" / "chats.db"
        path.parent.mkdir()
        path.write_bytes(spoilt)
        killed_after(draw.uniform(0, 0.06), REPAIR, path)
        with closing(ChatStore(path)) as store:
            assert len(store.heads()) == 60
            assert store.integrity() == "ok"
        assert any(p.read_bytes() == spoilt for p in path.parent.glob("chats.db.damaged-*"))
    path.write_bytes(spoilt)
    ChatStore(path).close()  # that damage is found at all


def kill_while_restoring(folder, n_kills, seed):
    draw = random.Random(seed)

    def fill(word):
        with closing(ChatStore()) as store:
            store.append(store.create(word).id, "user", f"{word} " * 500)
        save_settings(Settings(system_prompt=word))

    fill("albatross")
    back_up(folder / "all.zip")
    for n in range(n_kills):
        fill(f"pelican {n}")
        killed_after(draw.uniform(0, 0.05), RESTORE, folder / "all.zip")
        with closing(ChatStore()) as store:
            assert store.damage is None
            assert store.integrity() == "ok"
            assert {head.title for head in store.heads()} & {"albatross", f"pelican {n}"}
        assert load_settings()[0].system_prompt in ("albatross", f"pelican {n}")


@pytest.mark.timeout(200)
def test_kills_while_repairing_and_restoring_lose_nothing(tmp_path, expect_log):
    kill_while_repairing(tmp_path, 4, 4, expect_log)
    kill_while_restoring(tmp_path, 4, 5)


@pytest.mark.full
@pytest.mark.timeout(900)
def test_many_kills_while_repairing_and_restoring_lose_nothing(tmp_path, expect_log):
    kill_while_repairing(tmp_path, 60, 6, expect_log)
    kill_while_restoring(tmp_path, 60, 7)


@pytest.mark.timeout(200)
def test_fourteen_kills_while_writing_lose_nothing(path):
    kill_while_writing(path, 14, seed=1)


@pytest.mark.timeout(200)
def test_six_kills_while_upgrading_lose_nothing(tmp_path):
    assert kill_while_upgrading(tmp_path, 6, seed=2) > 0


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_two_hundred_kills_lose_nothing(path, tmp_path):
    for seed in range(14):  # a fresh file now and then, so that it does not only grow
        kill_while_writing(path.with_name(f"chats-{seed}.db"), 10, seed=100 + seed)
    assert kill_while_upgrading(tmp_path, 60, seed=3) > 5
