import pytest

from app.chat.chat_settings import (
    Constraint,
    ConversationSettings,
    Preset,
    changed_fields,
    presets_from_json,
    presets_json,
)
from app.chat.sampling import sampling_for
from app.errors import ExportError, StoreError
from app.protocol import Sampling
from app.settings import Settings
from tests.fair_time import FairWatch

OWN = ConversationSettings(
    system_prompt="Be brief.",
    temperature=0.2,
    stop=("END",),
    constraint=Constraint(kind="gbnf", text='root ::= "yes"'),
    reasoning=False,
    reasoning_effort="high",
    n_ctx=8192,
    template="{{ messages }}",
)


def test_folders_are_made_ordered_named_and_opened(store):
    work, home = store.folders.create("Work"), store.folders.create("  At   home ")
    assert [folder.name for folder in store.folders.all()] == ["Work", "At home"]
    store.folders.order([home.id, work.id])
    store.folders.rename(work.id, "Office")
    store.folders.show(work.id, is_open=False)
    assert [(folder.name, folder.is_open) for folder in store.folders.all()] == [("At home", True), ("Office", False)]
    with pytest.raises(StoreError, match="name"):
        store.folders.create("  ")


def test_conversations_go_in_and_out_of_folders_and_outlive_them(store):
    folder = store.folders.create("Work")
    first, second = store.create("first", folder_id=folder.id), store.create("second")
    store.move([second.id], folder.id)
    assert {head.folder_id for head in store.heads()} == {folder.id}
    assert store.folders.all()[0].n_conversations == 2
    store.move([first.id], None)
    assert store.load(first.id).folder_id is None
    assert store.folders.delete(folder.id) == (second.id,)
    assert {head.id for head in store.heads()} == {first.id, second.id}
    assert store.load(second.id).folder_id is None


def test_pinned_conversations_come_first(store):
    old, new = store.create("old"), store.create("new")
    store.pin(old.id, is_pinned=True)
    assert [(head.title, head.is_pinned) for head in store.heads()] == [("old", True), ("new", False)]
    assert store.load(old.id).is_pinned
    store.pin(old.id, is_pinned=False)
    assert [head.id for head in store.heads()] == [new.id, old.id]


def test_a_title_that_a_person_chose_is_not_replaced(store):
    chat = store.create()
    assert store.suggest_title(chat.id, "Automatic")
    store.rename(chat.id, "Mine")
    assert not store.suggest_title(chat.id, "Automatic again")
    assert (store.load(chat.id).title, store.load(chat.id).is_named) == ("Mine", True)
    store.rename(chat.id, " ")
    assert store.suggest_title(chat.id, "Automatic again")


def test_deleted_conversations_are_listed_until_they_are_old_enough_to_erase(store):
    chat = store.create("gone")
    store.delete(chat.id)
    (head,) = store.deleted()
    assert head.title == "gone"
    assert head.deleted_at is not None
    assert store.purge(older_than_s=3600) == 0
    assert store.purge() == 1
    assert store.deleted() == ()


def test_settings_of_a_conversation_come_back(store, reopened):
    chat = store.create(settings=OWN)
    store.save_settings(store.create("other").id, ConversationSettings(top_k=1))
    store.close()
    with reopened() as again:
        assert again.load(chat.id).settings == OWN
        assert again.load(chat.id + 1).settings == ConversationSettings(top_k=1)


def test_a_setting_that_a_newer_version_wrote_otherwise_costs_only_itself(store):
    chat = store.create()
    with store.transaction() as db:
        db.execute("""UPDATE conversation SET settings = '{"temperature": 0.3, "top_k": "many", "new": [1]}'""")
    assert store.load(chat.id).settings == ConversationSettings(temperature=0.3)


def test_sampling_is_the_conversations_own_else_the_programs():
    defaults = Settings(temperature=1.5, top_k=7)
    assert sampling_for(ConversationSettings(), defaults, 5) == Sampling(seed=5, temperature=1.5, top_k=7)
    own = sampling_for(OWN, defaults, 5)
    assert (own.temperature, own.top_k, own.grammar) == (0.2, 7, 'root ::= "yes"')
    wants_json = ConversationSettings(constraint=Constraint(kind="json"))
    assert sampling_for(wants_json, defaults, 5).grammar.startswith("root ::= object | array")
    assert sampling_for(ConversationSettings(seed=0, temperature=0), defaults, 5).seed == 0
    assert changed_fields(ConversationSettings(top_k=0, stop=())) == ("top_k", "stop")


def test_presets_are_saved_replaced_renamed_and_deleted(store):
    first = store.presets.save("Brief", OWN)
    assert store.presets.save("brief", ConversationSettings()).id == first.id
    other = store.presets.save("Other", OWN)
    with pytest.raises(StoreError, match="already"):
        store.presets.rename(other.id, "BRIEF")
    store.presets.rename(first.id, "Short")
    assert [(preset.name, preset.settings) for preset in store.presets.all()] == [
        ("Other", OWN),
        ("Short", ConversationSettings()),
    ]
    store.presets.delete(other.id)
    assert len(store.presets.all()) == 1


def test_presets_go_out_and_come_in_beside_those_that_are_there(store):
    store.presets.save("Brief", OWN)
    file = presets_json(store.presets.all())
    store.presets.add(presets_from_json(file))
    assert [preset.name for preset in store.presets.all()] == ["Brief"]
    store.presets.add([Preset(name="BRIEF", settings=ConversationSettings(top_k=3))])
    assert [preset.name for preset in store.presets.all()] == ["Brief", "BRIEF 2"]


@pytest.mark.parametrize(
    ("there", "comes"),
    [
        ("My preset", "My  preset"),
        ("My preset", " my preset\n"),
        ("x" * 80, "x" * 81),
        ("x" * 74 + "y", "x" * 74 + "Y"),
        ("a", "a\0b"),
        ("\ud800", "?"),
    ],
)
def test_a_preset_that_comes_in_takes_the_place_of_none(store, there, comes):
    kept = store.presets.save(there, ConversationSettings(top_k=1))
    for _ in range(2):
        store.presets.add([Preset(name=comes, settings=ConversationSettings(top_k=k)) for k in (99, 98)])
    assert kept in store.presets.all()
    assert sorted(preset.settings.top_k for preset in store.presets.all()) == [1, 98, 99]
    assert all(len(preset.name) <= 80 for preset in store.presets.all())


def test_presets_without_a_name_are_left_out(store):
    store.presets.add([Preset(name=name, settings=OWN) for name in ("", " ", "\0", "Brief")])
    assert [preset.name for preset in store.presets.all()] == ["Brief"]


def test_many_presets_of_one_name_come_in_soon_and_can_be_cancelled(store):
    presets = [Preset(name="Brief", settings=ConversationSettings(top_k=k)) for k in range(3000)]

    def stop(n_done, n_all):
        assert n_all == 3000
        if n_done == 2000:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        store.presets.add(presets, stop)
    assert store.presets.all() == ()
    watch = FairWatch()
    store.presets.add(presets)
    assert len(store.presets.all()) == 3000
    assert watch.took_s < 1.5


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b'{"schema": "slipstream.presets/9", "presets": []}',
        b'{"schema": "slipstream.presets/1", "presets": [{"name": "x", "settings": {"top_p": 7}}]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_what_is_no_file_of_presets_is_refused_with_a_hint(data):
    with pytest.raises(ExportError) as caught:
        presets_from_json(data)
    assert caught.value.hint


def test_the_draft_of_a_conversation_that_has_not_begun_is_kept(store, reopened):
    assert store.draft(None) == ""
    store.save_draft(None, "half a thought")
    store.close()
    with reopened() as again:
        assert again.draft(None) == "half a thought"
