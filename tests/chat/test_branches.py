from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.chat.conversation import AnswerStats, Attachment, Message, now
from app.chat.store import ChatStore
from app.chat.token_marks import StoredToken
from app.chat.tree import MessageTree
from app.errors import StoreError


def said(role, text, **facts):
    return Message(role=role, text=text, created_at=now(), **facts)


@pytest.fixture
def talk(store):
    """q1 → a1 → q2 → a2."""
    chat = store.create("talk")
    messages = [store.append(chat.id, role, text) for role, text in
                (("user", "q1"), ("assistant", "a1"), ("user", "q2"), ("assistant", "a2"))]  # fmt: skip
    return chat.id, messages


def texts(store, chat_id):
    return [m.text for m in store.load(chat_id).messages]


def test_another_answer_stands_beside_the_first_and_both_can_be_read(store, talk):
    chat, (_q1, _a1, _q2, a2) = talk
    other = store.branches.add_beside(a2.id, said("assistant", "a2 again"))
    assert texts(store, chat) == ["q1", "a1", "q2", "a2 again"]
    assert store.load(chat).alternatives == {other.id: (a2.id, other.id)}
    store.branches.switch(a2.id)
    assert texts(store, chat) == ["q1", "a1", "q2", "a2"]
    assert store.load(chat).alternatives == {a2.id: (a2.id, other.id)}


def test_an_edited_question_begins_a_branch_and_the_old_one_stays_whole(store, talk):
    chat, (q1, *_rest) = talk
    edited = store.branches.edit(q1.id, "q1 better", [Attachment(name="a.txt", text="x")])
    assert texts(store, chat) == ["q1 better"]
    assert edited.attachments[0].name == "a.txt"
    store.append(chat, "assistant", "a1 better")
    store.branches.switch(q1.id)
    assert texts(store, chat) == ["q1", "a1", "q2", "a2"]
    store.branches.switch(edited.id)
    assert texts(store, chat) == ["q1 better", "a1 better"]
    assert len(store.all_messages(chat)) == 6


def test_switching_goes_on_along_what_was_read_there_last(store, talk):
    chat, (q1, _a1, q2, a2) = talk
    store.branches.add_beside(a2.id, said("assistant", "a2 again"))
    store.branches.switch(a2.id)  # the older of the two was read last
    edited = store.branches.edit(q1.id, "elsewhere")
    assert store.branches.switch(q2.id) == a2.id
    store.branches.switch(edited.id)
    store.branches.switch(q1.id)
    assert texts(store, chat)[-1] == "a2"


def test_a_jump_leads_to_a_message_on_another_branch(store, talk):
    chat, (q1, _a1, q2, _a2) = talk
    store.branches.edit(q1.id, "elsewhere")
    (hit,) = store.search("q2")
    store.branches.switch(hit.message_id)
    assert q2.id in [m.id for m in store.load(chat).messages]


def test_an_answer_is_edited_and_what_follows_it_can_be_kept(store, talk):
    chat, (_q1, a1, *_rest) = talk
    store.save_tokens(_rest[1].id, [StoredToken(0, "plain", 0, 1, 0, "", 0.5)])
    edited = store.branches.edit(a1.id, "a1 corrected", keep_following=True)
    assert texts(store, chat) == ["q1", "a1 corrected", "q2", "a2"]
    assert store.tokens(store.load(chat).messages[-1].id)
    assert edited.stats is None
    store.branches.switch(a1.id)
    assert texts(store, chat) == ["q1", "a1", "q2", "a2"]


def test_an_edit_keeps_the_files_unless_told_otherwise(store):
    chat = store.create()
    question = store.add(chat.id, said("user", "q", attachments=(Attachment(name="a", text="1"),)))
    assert store.branches.edit(question.id, "q!").attachments == question.attachments
    assert store.branches.edit(question.id, "q?", ()).attachments == ()


def test_an_answer_at_the_end_goes_on_in_its_place_and_another_as_an_alternative(store, talk):
    chat, (_q1, a1, _q2, a2) = talk
    assert store.branches.resume(a2.id).id == a2.id
    assert store.branches.message(a2.id).state == "streaming"
    store.update(a2.id, "a2 and more", "complete")
    again = store.branches.resume(a1.id)
    assert again.id not in (a1.id, a2.id)
    assert (again.text, again.state, again.parent_id) == ("a1", "streaming", a1.parent_id)
    assert store.branches.message(a1.id).state == "complete"
    store.branches.switch(a1.id)
    assert texts(store, chat) == ["q1", "a1", "q2", "a2 and more"]


def test_an_answer_without_a_word_is_taken_back_to_the_answer_before_it(store, talk):
    chat, (_q1, _a1, _q2, a2) = talk
    empty = store.branches.add_beside(a2.id, said("assistant", "", state="streaming"))
    store.remove_message(empty.id)
    assert texts(store, chat) == ["q1", "a1", "q2", "a2"]
    assert store.load(chat).alternatives == {}


def test_what_something_follows_cannot_be_taken_back(store, talk):
    chat, (q1, *_rest) = talk
    with pytest.raises(StoreError) as caught:
        store.remove_message(q1.id)
    assert caught.value.hint
    assert len(texts(store, chat)) == 4


def test_a_duplicate_has_all_branches_and_is_its_own(store, talk):
    chat, (_q1, a1, _q2, a2) = talk
    store.branches.add_beside(a2.id, said("assistant", "a2 again", reasoning="hm", reasoning_s=1.5, model="m"))
    store.branches.add_beside(a1.id, said("assistant", "a1 again"))
    store.branches.switch(a2.id)
    copy = store.duplicate(chat)
    assert copy.title == "talk (copy)"
    assert [m.text for m in copy.messages] == ["q1", "a1", "q2", "a2"]
    assert [len(ids) for ids in copy.alternatives.values()] == [2, 2]
    store.branches.switch(copy.alternatives[copy.messages[1].id][1])
    assert texts(store, copy.id) == ["q1", "a1 again"]
    assert texts(store, chat) == ["q1", "a1", "q2", "a2"]
    before = [(m.text, m.reasoning, m.reasoning_s, m.model) for m in store.all_messages(chat)]
    assert [(m.text, m.reasoning, m.reasoning_s, m.model) for m in store.all_messages(copy.id)] == before


def test_a_fork_holds_the_way_to_a_message(store, talk):
    chat, (_q1, a1, _q2, _a2) = talk
    forked = store.fork(a1.id)
    assert [m.text for m in forked.messages] == ["q1", "a1"]
    store.append(forked.id, "user", "else")
    assert texts(store, chat) == ["q1", "a1", "q2", "a2"]


def test_everything_that_is_known_of_a_message_comes_back(store, path, reopened):
    chat = store.create()
    answer = store.add(
        chat.id,
        said(
            "assistant",
            "yes",
            stats=AnswerStats(n_tokens=3, draft_model="small"),
            reasoning="let me think",
            reasoning_s=2.25,
            model="SmolLM2",
            attachments=(Attachment(name="naïve.py", text="x = 1\n"),),
        ),
    )
    kinds = ("corrected", "accepted", "accepted")
    tokens = tuple(StoredToken(3 * n, kinds[n % 3], n // 3, n % 3 + 1, 2, "ngram", n % 256 / 255) for n in range(500))
    store.save_tokens(answer.id, tokens)
    store.close()
    with reopened() as again:
        assert again.load(chat.id).messages == (answer,)
        assert again.tokens(answer.id) == tokens
        size = again.branches._database.connection.execute("SELECT length(data) FROM message_tokens").fetchone()[0]
    assert size < 4 * len(tokens)
    assert answer.attachments[0].n_bytes == 6


def test_damaged_token_colours_cost_nothing_but_themselves(store):
    message = store.append(store.create().id, "assistant", "x")
    with store.transaction() as db:
        db.execute("INSERT INTO message_tokens VALUES (?, ?)", (message.id, b"\x78junk"))
    assert store.tokens(message.id) == ()


# --- the tree itself --------------------------------------------------------------------------------


PARENTS = st.lists(st.integers(0, 40), max_size=40).map(
    lambda picks: {n + 1: (pick % (n + 1)) or None for n, pick in enumerate(picks)}
)


@given(PARENTS, st.data())
def test_every_message_can_be_reached_and_is_on_its_own_path(parents, data):
    tree = MessageTree(parents)
    for message in parents:
        leaf = tree.leaf_below(message)
        way = tree.path(leaf)
        assert message in way
        assert tree.children(leaf) == ()
        assert message in tree.alternatives(message)
        assert all(tree.parents[child] == parent for parent, child in pairwise(way))


def test_rings_and_lost_parents_have_an_end():
    assert set(MessageTree({1: 2, 2: 1}).path(1)) == {1, 2}
    assert MessageTree({5: 99}).path(5) == (5,)
    assert MessageTree({1: 2, 2: 1}, {1: 2, 2: 1}).leaf_below(1) in (1, 2)


def test_a_ring_in_the_file_does_not_hang_the_opening(store, talk):
    chat, (q1, _a1, _q2, a2) = talk
    with store.transaction() as db:
        db.execute("UPDATE message SET parent_id = ? WHERE id = ?", (a2.id, q1.id))
    assert len(store.load(chat).messages) == 4


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from(["ask", "beside", "edit", "keep", "switch", "resume"]), st.integers(0, 99)),
        max_size=25,
    )
)
def test_whatever_is_done_nothing_that_was_said_is_lost(steps):
    store = ChatStore.in_memory()
    chat = store.create()
    texts = {store.append(chat.id, "user", "text 0").id: "text 0"}
    for n, (what, pick) in enumerate(steps, 1):
        target = sorted(texts)[pick % len(texts)]
        text = f"text {n}"
        if what == "ask":
            made = store.append(chat.id, "user", text)
        elif what == "beside":
            made = store.branches.add_beside(target, said("assistant", text))
        elif what in ("edit", "keep"):
            made = store.branches.edit(target, text, keep_following=what == "keep")
        elif what == "resume":
            made = store.branches.resume(target)
        else:
            store.branches.switch(target)
            assert target in [m.id for m in store.load(chat.id).messages]
            continue
        assert made.id in [m.id for m in store.load(chat.id).messages]
        texts |= {m.id: m.text for m in store.all_messages(chat.id) if m.id not in texts}
    assert {m.id: m.text for m in store.all_messages(chat.id)} == texts
    store.close()
