import io
import json
import sqlite3
from contextlib import closing

import pytest

from app.chat.schema import MIGRATIONS, version_of
from app.chat.store import ChatStore, store_path
from app.cli import program
from app.errors import SlipstreamError
from tests.chat.test_opening import migrate_held, old_database
from tests.cli.commands import run as run_process

TALK = [{"role": "user", "content": "What is a zeppelin?"}, {"role": "assistant", "content": "An **airship**.\x1b[31m"}]


@pytest.fixture
def run(capsys):
    """Run a command in this process, which is far faster, and return what it wrote."""

    def in_process(*arguments):
        assert program.run(["chats", *map(str, arguments)]) == 0
        return capsys.readouterr().out

    return in_process


@pytest.fixture
def talk(tmp_path):
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(TALK), encoding="utf-8")
    return path


def test_chats_come_in_are_listed_go_out_and_come_back(run, talk, tmp_path):
    assert "1 conversation with 2 messages (OpenAI)" in run("import", talk)
    listed = json.loads(run("list", "--json"))
    assert [(chat["title"], chat["n_messages"]) for chat in listed] == [("What is a zeppelin?", 2)]
    found = run("list", "airship")
    assert "airship" in found
    assert "\x1b" not in found
    assert "No conversation" in run("list", "submarine")
    for ending in ("md", "json", "html", "txt"):
        out = tmp_path / f"out.{ending}"
        facts = json.loads(run("export", "1", "--out", out, "--json"))
        assert (facts["format"], facts["n_bytes"]) == (ending, out.stat().st_size)
    again = json.loads(run("import", tmp_path / "out.json", talk, "--json"))
    assert [file["ids"] for file in again] == [[2], [3]]
    assert "3 conversations" in run("export", "--all", "-o", tmp_path / "x", "--format", "txt")


def test_what_comes_in_beside_conversations_is_said_where_it_was_not_there(run, tmp_path):
    document = {"schema": "slipstream.chats/1", "exported_at": "2026-01-01T00:00:00Z", "conversations": []}
    presets = [{"name": "Brief", "settings": {"top_k": 1}}]
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for file, folders in zip(files, (["A"], ["A", "B"]), strict=True):
        file.write_text(json.dumps({**document, "folders": folders, "presets": presets}))
    assert run("import", *files).splitlines()[-1] == "Also added: 2 folders, 1 preset."
    assert "Also" not in run("import", *files)


def test_one_file_that_cannot_be_read_keeps_all_out(run, talk, tmp_path):
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(SlipstreamError):
        run("import", talk, tmp_path / "broken.json")
    assert "no conversation yet" in run("list")


class Heard(io.StringIO):
    """An output of errors that acts as soon as something is said in it."""

    def __init__(self, act):
        super().__init__()
        self._act = act

    def flush(self):
        act, self._act = self._act, None
        if act is not None:
            act()


def test_a_database_that_another_program_upgrades_is_waited_for(run, capsys, monkeypatch):
    old_database(store_path())
    with closing(sqlite3.connect(store_path(), isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")

        def upgrade_and_let_go():
            migrate_held(holder)
            holder.execute("COMMIT")

        said = Heard(upgrade_and_let_go)
        monkeypatch.setattr("sys.stderr", said)
        assert "Old" in run("list")
        assert version_of(holder) == len(MIGRATIONS)
    assert said.getvalue().count("Another program is using the chat database") == 1
    assert "Ctrl+C" in said.getvalue()


def test_everything_goes_into_one_file_and_comes_back(run, talk, tmp_path):
    run("import", talk)
    assert json.loads(run("backup", tmp_path / "all.zip", "--json"))["n_messages"] == 2
    run("import", talk)
    with closing(ChatStore()) as store:
        # a window has the chats open
        refused = run_process("chats", "restore", tmp_path / "all.zip")
        assert refused.returncode == 1
        assert "as it was" in refused.stderr
        assert "hint: Close" in refused.stderr
        assert len(store.heads()) == 2
    assert "Restored 1 conversation with 2 messages" in run("restore", tmp_path / "all.zip")
    with closing(ChatStore()) as store:
        assert len(store.heads()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("export", "--out", "x.md"), "Say which"),
        (("export", "1", "--all", "--out", "x.md"), "Say which"),
        (("export", "7", "--out", "x.md"), "does not exist"),
        (("export", "--all", "--out", "x.docx"), "does not say how"),
        (("import", "nowhere.json"), "Cannot read"),
        (("restore", "nowhere.zip"), "Cannot read nowhere.zip: No such file"),
    ],
)
def test_what_cannot_be_done_is_said_with_a_hint(run, arguments, words):
    with pytest.raises(SlipstreamError, match=words) as caught:
        run(*arguments)
    assert caught.value.hint
