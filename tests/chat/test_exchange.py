"""Conversations out and in: nothing of ours is lost, and what others wrote is read."""

import html.parser
import io
import json
import os
import re
import zipfile
from contextlib import closing

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.chat.archive import Shelf, add_records, add_shelf, record_of
from app.chat.chat_settings import ConversationSettings
from app.chat.conversation import AnswerStats, Attachment, Message, now, text_for_model
from app.chat.export import export, file_name, write_whole
from app.chat.importing import read_chats, read_path
from app.chat.store import ChatStore
from app.chat.token_marks import StoredToken
from app.errors import ExportError
from app.paths import resource
from app.protocol import Engagement


def said(role, text, **facts):
    return Message(role=role, text=text, created_at=now(), **facts)


def rich(store):
    """Make a conversation with everything that there is."""
    folder = store.folders.create("Work")
    chat = store.create(
        "Ünïcode & <tags>", settings=ConversationSettings(temperature=0.5, stop=("x",)), folder_id=folder.id
    )
    question = store.add(chat.id, said("user", "q", attachments=(Attachment(name="a.py", text="```\n"),)))
    answer = store.add(
        chat.id,
        said(
            "assistant",
            "**a**\0",
            stats=AnswerStats(n_tokens=2, decode_tps=9.5),
            reasoning="hm",
            reasoning_s=1.0,
            model="m",
        ),
    )
    store.save_tokens(answer.id, [StoredToken(0, "accepted", 0, 1, 2, "ngram", 1.0)])
    store.branches.add_beside(answer.id, said("assistant", "another", state="interrupted"))
    store.branches.edit(question.id, "edited")
    store.branches.switch(answer.id)
    store.pin(chat.id, is_pinned=True)
    store.rename(chat.id, "Ünïcode & <tags>")
    store.save_draft(chat.id, "half a thought")
    store.drafts.save_files(chat.id, (Attachment(name="a.txt", text="one"),))
    return chat.id


def test_ours_goes_out_and_in_without_loss(store, tmp_path):
    chat = rich(store)
    record = record_of(store, chat)
    data = export(store, [chat], "json")
    jsonschema.validate(json.loads(data), json.loads(resource("chats.schema.json").read_text()))
    with closing(ChatStore(tmp_path / "other.db")) as other:
        found = read_chats(data)
        assert found.format_name == "Slipstream"
        (new,) = add_records(other, found.records).conversation_ids
        assert record_of(other, new) == record
        assert [m.text for m in other.load(new).messages] == ["q", "**a**\0"]
        add_records(other, found.records)
        assert len(other.folders.all()) == 1
    assert len(record.messages) == 4


def test_folders_that_come_in_are_those_that_are_there_however_their_names_are_spaced(store):
    store.folders.create("A B")
    names = ("A  B", " A B", "A B\0", "", " ", "x" * 81, "x" * 80)
    add_shelf(store, Shelf(folders=names))
    add_shelf(store, Shelf(folders=names))
    record = record_of(store, store.create("one").id)
    add_records(store, [msgspec.structs.replace(record, folder=name) for name in names])
    assert [(folder.name, folder.n_conversations) for folder in store.folders.all()] == [("A B", 3), ("x" * 80, 2)]
    assert len(store.heads()) == 8


STEPS = st.tuples(st.sampled_from(["ask", "beside", "edit", "switch"]), st.integers(0, 99), st.text(max_size=20))


@settings(max_examples=20)
@given(st.lists(STEPS, min_size=1, max_size=15))
def test_any_tree_goes_out_and_in_without_loss(steps):
    store, other = ChatStore.in_memory(), ChatStore.in_memory()
    chat = store.create()
    ids = [store.append(chat.id, "user", "start").id]
    for what, pick, text in steps:
        target = ids[pick % len(ids)]
        text = text.encode("utf-8", "replace").decode()
        if what == "ask":
            ids.append(store.append(chat.id, "assistant", text).id)
        elif what == "beside":
            ids.append(store.branches.add_beside(target, said("user", text)).id)
        elif what == "edit":
            ids.append(store.branches.edit(target, text).id)
        else:
            store.branches.switch(target)
    (new,) = add_records(other, read_chats(export(store, [chat.id], "json")).records).conversation_ids
    assert record_of(other, new) == record_of(store, chat.id)
    assert [m.text for m in other.load(new).messages] == [m.text for m in store.load(chat.id).messages]
    store.close()
    other.close()


def test_what_slipstream_wrote_before_is_read(store):
    at = "2026-01-01T00:00:00Z"
    messages = [
        {
            "id": 7,
            "parent_id": None,
            "role": "user",
            "text": "Hi",
            "state": "complete",
            "created_at": at,
            "stats": None,
        },
        {"id": 9, "parent_id": 7, "role": "assistant", "text": "Hel", "state": "interrupted", "created_at": at},
    ]
    conversation = {"id": 3, "title": "Greetings", "created_at": at, "updated_at": at, "messages": messages}
    found = read_chats(json.dumps({"schema": "slipstream.conversation/1", "conversation": conversation}).encode())
    (new,) = add_records(store, found.records).conversation_ids
    assert [(m.text, m.state) for m in store.load(new).messages] == [("Hi", "complete"), ("Hel", "interrupted")]


def test_all_are_added_or_none(store):
    good = read_chats(export(store, [rich(store)], "json")).records
    bad = msgspec.structs.replace(good[0], messages=(msgspec.structs.replace(good[0].messages[0], role="pirate"),))
    before = len(store.heads())
    with pytest.raises(Exception, match="CHECK"):
        add_records(store, [*good, bad])
    assert len(store.heads()) == before


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.values = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.values += [(name, value or "") for name, value in attrs]


TAGS = """
    html head meta title style body section article time h1 h2 p a em strong s details summary pre code
    ul ol li blockquote hr br table thead tbody tr th td
"""
HOSTILE = """<script>alert(1)</script> <img src=x onerror=alert(1)> [a](javascript:alert(1)) [b](vbscript:x)
![c](http://tracker/x.png) [d](data:text/html;base64,PHNjcmlwdD4=) <https://ok.example> <a href="javascript:x">y</a>
```html"><script>alert(2)</script>
</code></pre><script>alert(3)</script>
```
[ref]: javascript:alert(4)
[ref] &lt;script&gt; \u202e\x1b[31m</section></body>
| a | <b onclick=x>b</b> |
|---|---|
| 1 | 2 |"""


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_a_page_runs_nothing_and_fetches_nothing(store, role):
    chat = store.create(f"</title><script>{HOSTILE}")
    store.add(
        chat.id,
        said(role, HOSTILE, reasoning=HOSTILE, model=HOSTILE, attachments=(Attachment(name=HOSTILE, text=HOSTILE),)),
    )
    page = Page(export(store, [chat.id], "html").decode())
    assert set(page.tags) <= set(TAGS.split())
    assert {name for name, _ in page.values} <= {
        "charset",
        "http-equiv",
        "content",
        "name",
        "datetime",
        "class",
        "style",
        "href",
    }
    assert all(v.startswith(("http:", "https:", "mailto:")) for name, v in page.values if name == "href")
    assert (
        "default-src 'none'" in dict(page.values).get("content", "")
        or ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.values
    )


def test_a_page_calls_a_lossy_answer_so(store):
    chat = store.create("Chat")
    for drafter in ("ngram,lossy", "ngram"):
        stats = AnswerStats(n_tokens=9, decode_tps=30.0, engagement=Engagement(True, drafter, 4))
        store.add(chat.id, said("assistant", "a", model="T4", stats=stats))
    lossy, lossless = re.findall('class="facts">(.*?)<', export(store, [chat.id], "html").decode())
    assert lossy == "T4 · 30.0 tokens/s · lossy: lenient acceptance may have changed its words"
    assert lossless == "T4 · 30.0 tokens/s"


def test_markdown_and_text_are_for_reading(store):
    chat = rich(store)
    text = export(store, [chat], "md").decode()
    assert text.startswith("# Ünïcode & <tags>\n")
    assert "## You\n\na.py:\n\n````\n```\n````\n\nq\n" in text
    assert "> hm\n\n**a**" in text
    plain = export(store, [chat], "txt").decode()
    assert "You:\n\n[a.py]\n```\n\nq\n" in plain
    both = export(store, [chat, chat], "html").decode()
    assert both.count("<section>") == 2


def test_lone_surrogates_do_not_stop_an_export(store):
    """SQLite and UTF-8 refuse halves of characters, which a broken paste or another program's file may have."""
    found = read_chats(b'[{"role": "user", "content": "a \\ud83d b"}]')
    (new,) = add_records(store, found.records).conversation_ids
    message = said("user", "\ud83d", attachments=(Attachment(name="\ud83d", text="\ude00"),), reasoning="\ud83d")
    store.add(new, message)
    store.save(msgspec.structs.replace(message, id=store.append(new, "user", "x\ud83d").id))
    store.update(store.append(new, "user", "").id, "\ud83d", "complete")
    store.rename(new, "\ud83d")
    store.save_draft(new, "\ud83d")
    store.folders.create("\ud83d")
    store.save_settings(new, ConversationSettings(system_prompt="\ud83d"))
    store.search("\ud83d")
    for kind in ("md", "json", "html", "txt"):
        assert export(store, [new], kind)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("a/b\\c: d?", "a b c d.md"),
        ("", "conversation.md"),
        ("CON", "conversation CON.md"),
        ("com1.txt", "conversation com1.txt.md"),
        ("...", "conversation.md"),
        ("x" * 300, "x" * 80 + ".md"),
        ("日本語", "日本語.md"),
    ],
)
def test_a_title_makes_a_name_that_every_system_takes(title, name):
    assert file_name(title, "md") == name


def test_a_file_that_cannot_be_written_is_an_error_with_a_hint(tmp_path):
    with pytest.raises(ExportError) as caught:
        write_whole(tmp_path / "missing" / "x.md", b"x")
    assert caught.value.hint
    write_whole(tmp_path / "x.md", b"x")
    assert [p.name for p in tmp_path.iterdir()] == ["x.md"]


# --- what others wrote ------------------------------------------------------------------------------


def texts(record):
    return [(m.role, m.text) for m in record.messages]


HI = [{"role": "user", "content": "Hi there, what is air?"}, {"role": "assistant", "content": "A gas."}]


@pytest.mark.parametrize(
    "value",
    [
        HI,
        {"messages": HI},
        {"model": "gpt", "messages": HI, "temperature": 0.5, "top_p": 9, "stop": "END", "max_completion_tokens": 7},
        [{"messages": HI}, "junk", 7],
        {"conversations": [{"messages": HI}]},
    ],
)
def test_openai_messages(value):
    found = read_chats(json.dumps(value).encode())
    assert (found.format_name, len(found.records)) == ("OpenAI", 1)
    assert texts(found.records[0]) == [("user", "Hi there, what is air?"), ("assistant", "A gas.")]
    assert found.records[0].title == "What is air?"
    assert not found.records[0].is_named
    if isinstance(value, dict) and "model" in value:
        assert found.records[0].settings == ConversationSettings(temperature=0.5, stop=("END",), max_tokens=7)
        assert found.records[0].messages[1].model == "gpt"


def test_openai_parts_tools_and_reasoning():
    value = [
        {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {"url": "http://x"}},
                                     {"type": "text", "text": "two"}]},
        {"role": "assistant", "content": None, "tool_calls": [{}]},
        {"role": "tool", "content": "42"},
        {"role": "assistant", "content": "so", "reasoning_content": "hm"},
    ]  # fmt: skip
    found = read_chats(json.dumps(value).encode())
    assert texts(found.records[0]) == [("system", "Be brief."), ("user", "one\n\ntwo"), ("assistant", "so")]
    assert found.records[0].messages[2].reasoning == "hm"
    assert found.records[0].messages[2].parent == 2
    assert dict(found.left_out)["tool calls"] == 1
    assert "image_url" in found.words()


def test_json_lines():
    lines = "\n".join(json.dumps({"messages": HI}) for _ in range(3)) + "\n"
    assert len(read_chats(lines.encode()).records) == 3
    one = "\n".join(json.dumps(message) for message in HI)
    assert len(read_chats(one.encode()).records[0].messages) == 2
    assert len(read_chats(b"\xef\xbb\xbf" + json.dumps(HI).encode()).records) == 1


def chatgpt():
    def node(parent, children, role=None, parts=(), kind="text", **metadata):
        content = (
            {"content_type": kind, "parts": list(parts)}
            if kind == "text"
            else {"content_type": kind, **metadata.pop("content")}
        )
        message = role and {
            "author": {"role": role},
            "content": content,
            "create_time": 1700000000.5,
            "metadata": metadata,
        }
        return {"parent": parent, "children": children, "message": message or None}

    thoughts = {"thoughts": [{"summary": "s", "content": "think hard"}]}
    mapping = {
        "root": node(None, ["sys"]),
        "sys": node("root", ["q", "q2"], "system", [""], is_visually_hidden_from_conversation=True),
        "q": node("sys", ["t", "a2"], "user", ["first"]),
        "t": node("q", ["a"], "assistant", kind="thoughts", content=thoughts),
        "a": node("t", [], "assistant", ["answer one"], model_slug="gpt-x"),
        "a2": node("q", ["tool"], "assistant", ["answer two"]),
        "tool": node("a2", ["end"], "tool", ["result"]),
        "end": node("tool", [], "assistant", ["after", {"content_type": "image_asset_pointer"}]),
        "q2": node("sys", [], "user", ["edited"]),
    }
    return {
        "title": "From afar",
        "create_time": 1700000000,
        "update_time": 1700000100,
        "mapping": mapping,
        "current_node": "a",
    }


def test_chatgpts_tree_keeps_its_branches(store):
    found = read_chats(json.dumps([chatgpt(), chatgpt()]).encode())
    assert (found.format_name, len(found.records)) == ("ChatGPT", 2)
    record = found.records[0]
    (new,) = add_records(store, [record]).conversation_ids
    read = store.load(new)
    assert (read.title, read.is_named) == ("From afar", True)
    assert [(m.text, m.reasoning, m.model) for m in read.messages] == [
        ("first", "", ""),
        ("answer one", "think hard", "gpt-x"),
    ]
    assert {m.text for m in store.all_messages(new)} == {"first", "answer one", "answer two", "after", "edited"}
    assert [len(ids) for ids in read.alternatives.values()] == [2, 2]
    assert read.messages[0].created_at.timestamp() == 1700000000.5
    assert sum(dict(found.left_out).values()) == 4


def test_chatgpts_archive():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("export/conversations.json", json.dumps([chatgpt()]))
        archive.writestr("chat.html", "<html>")
    assert read_chats(data.getvalue()).records[0].title == "From afar"


def test_chatgpts_archive_with_broken_bytes_is_refused_in_words():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([chatgpt()]))
    whole = data.getvalue()
    at = whole.index(b"conversations.json") + len(b"conversations.json")
    with pytest.raises(ExportError, match="This archive is damaged"):
        read_chats(whole[:at] + b"\xff" * 8 + whole[at + 8 :])


@pytest.mark.linux
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "chats.json")
    with pytest.raises(ExportError, match="it is a pipe or a device, not a file"):
        read_path(tmp_path / "chats.json")
    (tmp_path / "jan").mkdir()
    os.mkfifo(tmp_path / "jan" / "messages.jsonl")
    with pytest.raises(ExportError, match="no conversation"):
        read_path(tmp_path / "jan")


def test_ten_thousand_nodes_in_a_row_and_rings_are_read():
    mapping = {str(n): {"parent": str(n - 1) if n else None, "children": [str(n + 1)],
                        "message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["x"]}}}
               for n in range(10_000)}  # fmt: skip
    mapping["9999"]["children"] = ["0"]
    mapping["0"]["parent"] = "9999"
    assert len(read_chats(json.dumps({"mapping": mapping}).encode()).records[0].messages) == 10_000


def lm_studio():
    def version(text):
        return {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": text}]}

    def answer(*blocks):
        steps = [{"type": "contentBlock", "content": [{"type": "text", "text": text}], **more} for text, more in blocks]
        return {"type": "multiStep", "role": "assistant", "steps": [*steps, {"type": "debugInfoBlock"}]}

    first = answer(("mull", {"style": {"type": "thinking"}}), ("one", {"genInfo": {"identifier": "qwen"}}))
    return {
        "name": "Local talk",
        "pinned": True,
        "createdAt": 1700000000000,
        "systemPrompt": "Be kind.",
        "messages": [
            {"versions": [version("hello")], "currentlySelected": 0},
            {"versions": [first, answer(("two", {}))], "currentlySelected": 0},
            {"versions": [version("bye")], "currentlySelected": 0},
        ],
    }


def test_lm_studios_versions_become_alternatives(store):
    found = read_chats(json.dumps(lm_studio()).encode())
    assert found.format_name == "LM Studio"
    (new,) = add_records(store, found.records).conversation_ids
    read = store.load(new)
    assert [(m.text, m.reasoning, m.model) for m in read.messages] == [
        ("hello", "", ""),
        ("one", "mull", "qwen"),
        ("bye", "", ""),
    ]
    assert [len(ids) for ids in read.alternatives.values()] == [2]
    assert (read.title, read.is_pinned, read.settings.system_prompt) == ("Local talk", True, "Be kind.")


def jan(folder):
    folder.mkdir(parents=True)
    thread = {"id": "t", "title": "Jan's talk", "created": 1700000000, "updated": 1700000009,
              "assistants": [{"instructions": "Help.", "model": {"id": "llama"}}]}  # fmt: skip
    (folder / "thread.json").write_text(json.dumps(thread))
    lines = [{"object": "thread.message", "role": role, "created_at": 1700000000000 + n,
              "content": [{"type": "text", "text": {"value": text, "annotations": []}}]}
             for n, (role, text) in enumerate((("user", "hello"), ("assistant", "yes")))]  # fmt: skip
    (folder / "messages.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")


def test_jans_threads(tmp_path):
    jan(tmp_path / "threads" / "jan_1")
    jan(tmp_path / "threads" / "jan_2")
    (tmp_path / "threads" / "talk.conversation.json").write_text(json.dumps(lm_studio()))
    (tmp_path / "threads" / "broken.conversation.json").write_text("{")
    found = read_path(tmp_path / "threads" / "jan_1" / "messages.jsonl")
    (record,) = found.records
    assert (found.format_name, record.title, record.settings.system_prompt) == ("Jan", "Jan's talk", "Help.")
    assert texts(record) == [("user", "hello"), ("assistant", "yes")]
    assert record.messages[1].model == "llama"
    whole = read_path(tmp_path)
    assert len(whole.records) == 3
    assert dict(whole.left_out) == {"files that could not be read": 1}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\xff",
        b"null",
        b"[]",
        b"{}",
        b'"text"',
        b"[[[]]]",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b'{"schema": "slipstream.chats/7"}',
        b'{"schema": "slipstream.chats/1", "conversations": [{"messages": 1}]}',
        b'{"schema": "slipstream.metrics/1"}',
        b'{"mapping": {"a": null, "b": 1, "c": {"message": 7, "children": "x", "parent": ["y"]}}}',
        b'{"messages": [{"role": "user", "content": ""}]}',
        b'{"messages": [{"versions": 3}]}',
        b'{"messages": [{"role": {"a": 1}, "content": {"b": 2}}]}',
        b"PK\x03\x04 broken archive",
        b"a\nb\nc",
    ],
)
def test_what_holds_no_conversation_is_refused_with_a_hint(data):
    with pytest.raises(ExportError) as caught:
        read_chats(data)
    assert caught.value.hint


KEYS = (
    "role content messages mapping versions parent children message author parts text title name created_at "
    "create_time object steps type stop current_node currentlySelected systemPrompt model value"
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS.split()) | st.text(max_size=4), inner, max_size=5)
    ),
    max_leaves=25,
)


@settings(max_examples=60)
@given(JSON)
def test_whatever_json_it_is_it_is_read_or_refused_in_words(value):
    store = ChatStore.in_memory()
    try:
        found = read_chats(json.dumps(value).encode())
    except ExportError:
        pass
    else:
        add_records(store, found.records)
        assert store.heads()
    store.close()


def test_a_file_in_a_message_is_fenced_so_that_nothing_in_it_ends_the_fence():
    message = said("user", "What is this?", attachments=(Attachment(name="a.md", text="```\n````\nx"),))
    assert text_for_model(message) == "a.md:\n`````\n```\n````\nx\n`````\n\nWhat is this?"
