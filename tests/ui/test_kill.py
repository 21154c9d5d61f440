"""Kill the window at random moments of all that writes: nothing shown for two seconds is gone.

It streams, edits and branches, drafts are typed, files attached, messages changed and put in line meanwhile; and it
starts on databases of older versions, which it upgrades.
"""

import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from app.chat.database import connect
from app.chat.schema import MIGRATIONS, migrate, version_of
from app.chat.store import ChatStore
from app.chat.upgrading import KEPT_COPIES
from app.ui.shown import shown_of
from tests.chat.test_opening import old_database

ROOT = Path(__file__).parents[2]
N_KILLS = int(os.environ.get("SLIPSTREAM_TEST_KILLS", "200"))
FIRST_KILL = int(os.environ.get("SLIPSTREAM_TEST_FIRST_KILL", "0"))
"""Where a part of them begins: parts let others have the machine in between."""

TICK_S, KEPT_S, MOST_WAIT_S = 0.05, 2.0, 120
AT, FILE = "2026-01-01T00:00:00+00:00", '[{"name":"a.txt","text":"some words"}]'
UNSENT = ("draft", "files", "edit")
HOLDS = (*UNSENT, "line")
"""What is held until the kill. What is in line is sent in its turn: it is looked for among what was said, too."""

NEXT = "What is next, "
"""How each message begins that is put in line: where a stop puts them back, a change that was refused may join them."""

SHORT_ANSWERS = 60
"""Tokens: some end while something is in line, which is sent then."""

NOTHING = {"is_held": False, "texts": [], "draft": "", "files": [], "edit": None, "line": []}

# The real program; a timer plays the person, and what is on the screen is reported every 50 ms.
SCRIPT = """
import json, random, sys
from PySide6.QtCore import QTimer
from app.chat.conversation import Attachment
from app.ui import app
from app.ui.main_window import MainWindow

built = MainWindow.build
def build(self):
    built(self)
    self.timer = QTimer(self, interval=50)
    self.timer.timeout.connect(lambda: play(self))
    self.timer.start()
MainWindow.build = build

draw, hold, next_words, is_held = random.Random(int(sys.argv[1])), sys.argv[2], sys.argv[3], False

def play(window):
    composer, n = window.composer, len(window.transcript.texts())
    if hold == "line" and composer._is_answering:
        composer.stopped.emit() if draw.random() < 0.01 else put_in_line(composer)
    elif hold not in ("", "line") and not is_held and n > 1:
        if "ready" in window.status:
            begin_to_hold(window, composer, n)
    elif hold == "edit" and n > 1:
        pass
    elif not hold and draw.random() < 0.03:
        write(window, composer, n)
    elif composer.is_editing:
        draw.choice([composer.end_edit, composer.on_submit])() if draw.random() < 0.02 else None
    elif "ready" in window.status:
        act(window, n)
    elif draw.random() < 0.02:
        composer.stopped.emit()
    edit = composer.edit
    print(json.dumps({
        "is_held": is_held,
        "texts": window.transcript.texts(),
        "draft": composer.waiting_text,
        "files": [file.name for file in composer.waiting_files],
        "edit": [edit.message_id, edit.text] if edit is not None else None,
        "line": list(composer.queued),
    }), flush=True)

def put_in_line(composer):
    global is_held
    if len(composer.queued) < 4:
        is_held = True
        if not composer.draft:  # else a stop has put there what was in line
            name = f"{next_words}{draw.random()}"
            composer.editor.setPlainText(name)
            text = "a line of words\\n" * draw.choice([10, 10, 40_000])
            composer.files.add(Attachment(name=f"{name}.txt", text=text))
        composer.on_submit()

def begin_to_hold(window, composer, n):
    global is_held
    is_held = True
    composer.end_edit()
    if hold == "draft":
        composer.editor.setPlainText(f"What I am typing, {draw.random()}")
    elif hold == "files":
        text = "a line of words\\n" * draw.choice([10, 40_000])
        composer.files.add(Attachment(name=f"{draw.random()}.txt", text=text))
    else:
        window.transcript.asked.emit(draw.randrange(n), "edit")
        composer.editor.setPlainText(f"What it is to say, {draw.random()}")

def write(window, composer, n):
    what = draw.choice(["draft", "small", "large", "edit", "leave", "submit"])
    if what == "draft":
        composer.editor.setPlainText(f"What I am typing, {draw.random()}")
    elif what in ("small", "large"):
        size = 40_000 if what == "large" else 10
        composer.files.add(Attachment(name=f"{draw.random()}.txt", text="a line of words\\n" * size))
    elif what == "edit" and n and "ready" in window.status:
        window.transcript.asked.emit(draw.randrange(n), "edit")
    elif what == "leave":
        composer.end_edit()
        composer.take_files()
    elif what == "submit" and (composer.is_editing or "ready" in window.status):
        composer.on_submit()

def act(window, n):
    what = draw.choice(["ask", "edit", "regenerate", "go_on", "earlier", "later", "answer"]) if n > 1 else "ask"
    at = draw.randrange(0, n, 2) if n else 0
    if what == "ask":  # as an example does: what is written stays
        window.composer.send_beside(f"Tell me a long story, number {n}.")
    elif what in ("edit", "answer"):
        window.composer.edited.emit(at + (what == "answer"), f"Tell me another one, number {draw.random()}.")
    else:
        window.transcript.asked.emit(min(at + 1, n - 1), what)

sys.exit(app.main())
"""


class Shown:
    """What the program had on its screen, and when."""

    def __init__(self, stream):
        self.moments = [(float("-inf"), NOTHING)]  # a window may be killed before it has shown anything for long
        self._thread = threading.Thread(target=self._read, args=(stream,))
        self._thread.start()

    def _read(self, stream):
        for line in stream:
            if line.endswith("\n"):
                self.moments.append((time.monotonic(), json.loads(line)))

    def join(self):
        self._thread.join()

    def has_begun(self, hold):
        """Whether there is what is to be held, or else an answer; beside an edit that is held none may come."""
        screens = [screen for _at, screen in self.moments]
        return any(s["is_held"] if hold else len(s["texts"]) > 1 and s["texts"][-1] for s in screens)

    def has_held(self, hold):
        """Whether what is held has been there for as long as it takes to be told of."""
        return not hold or bool(self.before(time.monotonic(), KEPT_S).get(hold))

    def before(self, moment, for_s):
        """Return what had been there for so long at a moment, by the clock and by the program's own ticks.

        What is not sent is sent, changed or let go at times: only what has stayed as it was since then is told of.
        """
        known = [(at, screen) for at, screen in self.moments if at <= moment]
        old = known[: max(1, len(known) - round(for_s / TICK_S))]
        n_old = len([at for at, _ in old if at <= moment - for_s])
        shown = known[n_old - 1][1]
        stayed = [name for name in UNSENT if all(screen[name] == shown[name] for _, screen in known[n_old - 1 :])]
        return {"texts": shown["texts"], "line": shown["line"], **{name: shown[name] for name in stayed}}


def until(holds, words):
    """Wait until something holds, long enough for a busy machine."""
    deadline = time.monotonic() + MOST_WAIT_S
    while not holds():
        assert time.monotonic() < deadline, words
        time.sleep(0.002)


def choose_length(path, n_tokens):
    """Let answers be that long, or as long as they are without a choice."""
    path.parent.mkdir(parents=True, exist_ok=True)
    chosen = json.loads(path.read_text()) if path.exists() else {}
    chosen.pop("max_tokens", None)
    path.write_text(json.dumps(chosen if n_tokens is None else {**chosen, "max_tokens": n_tokens}))


def kill_after(home, wait_s, seed=1, hold=""):
    """Run the program, kill it ``wait_s`` after the first word of an answer; return what had been shown 2 s before.

    Args:
        home: where everything is.
        wait_s: how long after that it is killed.
        seed: of what is done.
        hold: what is not sent, written then and left as it is ("draft", "files" or "edit"), or put in line again and
            again ("line"); the time counts from when the program, however slow the machine, has shown it for as long as
            it may take to be kept.
    """
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "SLIPSTREAM_HOME": str(home)}
    choose_length(home / "config" / "settings.json", SHORT_ANSWERS if hold == "line" else None)
    command = [sys.executable, "-c", SCRIPT, str(seed), hold, NEXT]
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True) as process:
        shown = Shown(process.stdout)
        try:
            until(lambda: shown.has_begun(hold), "no answer began")
            until(lambda: shown.has_held(hold), "what was written did not stay")
            time.sleep(wait_s)
        finally:
            children = psutil.Process(process.pid).children(recursive=True)
            killed_s = time.monotonic()
            process.kill()
        process.wait()
        shown.join()
    _gone, alive = psutil.wait_procs(children, timeout=40)
    assert not alive, f"left behind: {alive}"
    return shown.before(killed_s, KEPT_S)


def check(home, shown):
    """Look for what was shown; return what of it was not sent."""
    with closing(ChatStore(home / "data" / "chats.db")) as store:
        assert store.damage is None
        assert store.integrity() == "ok"
        store.recover()
        newest = store.heads()[0].id
        messages = store.all_messages(newest)
        draft, edit, files = store.draft(newest), store.drafts.edit(newest), store.drafts.files(newest)
        with store.transaction() as db:
            db.execute("INSERT INTO message_text(message_text, rank) VALUES ('integrity-check', 1)")
    texts = [shown_of(message).text for message in messages]
    for n, text in enumerate(shown["texts"]):
        assert not text or any(one.startswith(text) for one in texts), f"message {n} was lost: {text!r}"
    assert all(message.state != "streaming" for message in messages)
    assert all(file.text for file in files)
    known = {
        "draft": draft,
        "files": [file.name for file in files],
        "edit": [edit.message_id, edit.text] if edit is not None else None,
    }
    for name in UNSENT:
        assert known[name] == shown.get(name, known[name]), name
    all_texts = (draft, *(message.text for message in messages))
    all_files = {file.name for file in (*files, *(file for message in messages for file in message.attachments))}
    for text in shown["line"]:
        assert any(text in one for one in all_texts), f"what was in line was lost: {text!r}"
        names = {f"{part}.txt" for part in text.split("\n\n") if part.startswith(NEXT)}
        assert names <= all_files, f"files that were in line were lost: {names - all_files}"
    return [name for name in HOLDS if shown.get(name)]


def old_chats(path, version, n_messages):
    """Make a database of an older version."""
    path.parent.mkdir(parents=True)
    if version == 1:
        old_database(path, n_messages)
        return
    with closing(connect(path)) as db:
        migrate(db, MIGRATIONS[:version])
        db.execute("INSERT INTO conversation(id, title, created_at, updated_at) VALUES (1, 'Old', ?, ?)", (AT, AT))
        db.execute("BEGIN")
        db.executemany(
            "INSERT INTO message(conversation_id, role, text, state, created_at, reasoning, attachments)"
            " VALUES (1, 'user', ?, 'complete', ?, 'a thought', ?)",
            [(f"albatross {n}", AT, FILE) for n in range(1, n_messages + 1)],
        )
        db.execute("COMMIT")


def kill_while_upgrading(home, version, wait_s, n_messages=3000):
    """Start the program on an old database and kill it, wherever its upgrade is then: the next start has everything.

    Args:
        home: where everything is.
        version: of the database.
        wait_s: how long after the beginning of the upgrade, which copies the database first.
        n_messages: in it.

    Returns:
        Whether the upgrade was not at its end.
    """
    path = home / "data" / "chats.db"
    old_chats(path, version, n_messages)
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "SLIPSTREAM_HOME": str(home)}

    def copies():
        return [one for kind in ("copying*", "format-*") for one in path.parent.glob(f"chats.db.{kind}")]

    with subprocess.Popen([sys.executable, "-m", "app"], cwd=ROOT, env=environ) as process:
        try:
            until(copies, "no upgrade began")
            time.sleep(wait_s)
        finally:
            children = psutil.Process(process.pid).children(recursive=True)
            process.kill()
    psutil.wait_procs(children, timeout=40)
    with closing(sqlite3.connect(path)) as db:
        is_hit = bool(copies()) and version_of(db) < len(MIGRATIONS)
    with closing(ChatStore(path)) as store:
        assert store.damage is None
        assert store.integrity() == "ok"
        assert {f"albatross {n}" for n in range(1, n_messages + 1)} <= {m.text for m in store.all_messages(1)}
        assert store.search("albatross 2999")
        assert len(list(path.parent.glob("chats.db.format-*"))) <= KEPT_COPIES
        assert version == 1 or store.search("some words")
    return is_hit


@pytest.mark.linux
@pytest.mark.timeout(500)
def test_a_few_kills_lose_nothing(home, tmp_path):
    check(home, kill_after(home, 0.3))
    assert "files" in check(home, kill_after(home, 0.2, 2, "files"))
    assert "edit" in check(home, kill_after(home, 0.2, 3, "edit"))
    assert "line" in check(home, kill_after(home, 0.5, 4, "line"))
    assert any(kill_while_upgrading(tmp_path / str(n), 4, 0.03) for n in range(3)), "no kill hit an upgrade"


@pytest.mark.linux
@pytest.mark.full
@pytest.mark.timeout(3600)
def test_two_hundred_kills_of_the_window_lose_nothing(home):
    moments, n_seen = random.Random(20 + FIRST_KILL), Counter()
    for seed in range(FIRST_KILL, FIRST_KILL + N_KILLS):
        hold = ("", *HOLDS)[seed % 5]
        n_seen.update(check(home, kill_after(home, moments.uniform(0, 3 if hold else 5), seed, hold)))
    assert all(n_seen[name] >= max(1, N_KILLS // 10) for name in HOLDS), f"what is not sent was hardly seen: {n_seen}"


@pytest.mark.linux
@pytest.mark.full
@pytest.mark.timeout(1200)
def test_forty_kills_while_the_window_upgrades_lose_nothing(tmp_path):
    moments, n_hit = random.Random(21), 0
    for n in range(40):
        n_hit += kill_while_upgrading(tmp_path / str(n), 1 if n % 2 else 4, moments.uniform(0, 0.3))
    assert n_hit >= 3, "hardly any kill hit an upgrade"
