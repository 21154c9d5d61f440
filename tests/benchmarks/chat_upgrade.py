"""How the window fares while it brings a large chat database to the newest format.

The messages are those of :mod:`tests.benchmarks.chat_search`, thoughts and files among them, in a database of format 4.
The window opens it as at a start: measured are the whole time, how long the window stays without a word of it, and the
longest gap of its event loop after that.

    python -m tests.benchmarks.chat_upgrade [--turns N] [--messages N] [--json]
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from app.chat.database import connect
from app.chat.rows import message_values
from app.chat.schema import MIGRATIONS, migrate
from app.ui.main_window import MainWindow
from app.ui.store_opening import open_store_behind
from app.ui.work_dialog import WorkDialog
from tests.benchmarks.chat_search import messages
from tests.benchmarks.figures import Figure, arguments, end_by_targets, report

MOST_SILENT_S, MOST_GAP_S = 0.5, 0.1
_OLD_FORMAT = 4
_AT = "2026-01-01T00:00:00+00:00"


def fill_old(path: Path, n_messages: int) -> None:
    """Write conversations of 50 messages each as the format before the newest had them."""
    with closing(connect(path)) as db:
        migrate(db, MIGRATIONS[:_OLD_FORMAT])
        db.execute("BEGIN")
        for n, message in enumerate(messages(n_messages, seed=7)):
            number, is_first = n // 50 + 1, n % 50 == 0
            if is_first:
                db.execute(
                    "INSERT INTO conversation(id, title, created_at, updated_at) VALUES (?, ?, ?, ?)",
                    (number, f"Conversation {number}", _AT, _AT),
                )
            db.execute(
                "INSERT INTO message(id, conversation_id, parent_id, role, text, state, created_at, stats, reasoning,"
                " reasoning_s, model, attachments) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (n + 1, number, None if is_first else n, *message_values(message)),
            )
            db.execute("UPDATE conversation SET leaf_id = ? WHERE id = ?", (n + 1, number))
        db.execute("COMMIT")


@dataclass(slots=True)
class Watch:
    """What the event loop sees of an opening."""

    window: MainWindow
    started_s: float = field(default_factory=time.perf_counter)
    silent_s: float = 0.0
    longest_gap_s: float = 0.0

    async def run(self) -> None:
        """Look every few milliseconds."""
        last_s = 0.0
        while True:
            now_s = time.perf_counter()
            if last_s:
                self.longest_gap_s = max(self.longest_gap_s, now_s - last_s)
            last_s = now_s
            if not self.silent_s and any(one.isVisible() for one in self.window.findChildren(WorkDialog)):
                self.silent_s = now_s - self.started_s
            await asyncio.sleep(0.002)


async def open_watched(window: MainWindow) -> tuple[float, Watch]:
    """Open the conversations; return how long that took, and what was seen of it."""
    watch = Watch(window)
    opening = asyncio.ensure_future(open_store_behind(window))
    await asyncio.sleep(0)  # it waits for what opens at once
    watching = asyncio.ensure_future(watch.run())
    store = await opening
    took_s = time.perf_counter() - watch.started_s
    watching.cancel()
    if store is None or len(store.search("marmalade")) == 0:
        raise SystemExit("the upgraded database does not have what was in it")
    if not watch.silent_s:  # a window that never says a word is as silent as can be
        watch.silent_s = took_s
    store.close()
    return took_s, watch


def figures(home: Path, n_messages: int, n_turns: int) -> list[Figure]:
    """Measure, each turn on a copy of the same database."""
    import qasync

    from app.ui.app import make_application

    os.environ["SLIPSTREAM_HOME"] = str(home)
    old, path = home / "old.db", home / "data" / "chats.db"
    path.parent.mkdir(parents=True)
    fill_old(old, n_messages)
    application = make_application()
    window = MainWindow()
    window.build()
    window.show()
    took, silent, gaps = list[float](), list[float](), list[float]()
    with qasync.QEventLoop(application) as loop:
        for _ in range(n_turns):
            for one in path.parent.glob("chats.db*"):
                one.unlink()
            shutil.copyfile(old, path)
            took_s, watch = loop.run_until_complete(open_watched(window))
            took.append(took_s)
            silent.append(1000 * watch.silent_s)
            gaps.append(1000 * watch.longest_gap_s)
    window.allow_close()
    window.close()
    return [
        Figure("upgrade", tuple(took), "s"),
        Figure("size before", (old.stat().st_size / 1e6,), "MB"),
        Figure("until the window says so", tuple(silent), "ms", f"<= {1000 * MOST_SILENT_S:g}"),
        Figure("longest gap of the event loop", tuple(gaps), "ms", f"<= {1000 * MOST_GAP_S:g}"),
    ]


def main() -> None:
    """Measure and report."""
    parser = arguments(__doc__ or "", n_turns=1)
    parser.add_argument("--messages", type=int, default=100_000, help="messages in the database (default: %(default)s)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = figures(Path(folder), chosen.messages, chosen.turns)
    report(found, as_json=chosen.json)
    end_by_targets(found)


if __name__ == "__main__":
    main()
