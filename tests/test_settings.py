"""Settings survive: crashes, older files, broken files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.errors import SettingsError
from app.memory_types import ELEMENT_TYPES
from app.settings import Settings, load_settings, save_settings, settings_path


def test_a_first_start_has_defaults():
    assert load_settings() == (Settings(), "")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.builds(
        Settings,
        target=st.text(st.characters(exclude_categories=["Cs"])),
        temperature=st.floats(0, 5),
        spec_types=st.lists(st.sampled_from(["ngram", "draft-simple"])).map(tuple),
        theme=st.sampled_from(["system", "light", "dark"]),
        type_k=st.sampled_from(ELEMENT_TYPES),
        draft_type_v=st.sampled_from(["", *ELEMENT_TYPES]),
        flash_attention=st.sampled_from(["auto", "on", "off"]),
        slide=st.booleans(),
    )
)
def test_what_is_saved_is_loaded(home, chosen):
    save_settings(chosen)
    assert load_settings() == (chosen, "")


def test_an_older_file_takes_defaults_for_what_it_does_not_know():
    settings_path().write_text('{"target": "other"}')
    assert load_settings() == (Settings(target="other"), "")


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"n_ctx": "many"}', b"\xff\xfe", b'{"theme": "mauve"}', b'{"type_k": "q1"}', b"[]"]
)
def test_a_broken_file_is_kept_aside_and_said(content):
    settings_path().write_bytes(content)
    loaded, said = load_settings()
    assert loaded == Settings()
    assert "settings.json.broken" in said
    assert settings_path().with_name("settings.json.broken").read_bytes() == content
    assert load_settings() == (Settings(), "")


@pytest.mark.parametrize(
    "content",
    [
        b'{"n_ctx": -1}',
        b'{"n_ctx": 999999999999999999999}',
        b'{"n_threads": 100000}',
        b'{"temperature": 1e300}',
        b'{"top_p": 1.5}',
        b'{"repeat_penalty": 0}',
        b'{"max_tokens": 0}',
    ],
)
def test_a_number_with_which_no_answer_can_begin_is_broken(content):
    settings_path().write_bytes(content)
    loaded, said = load_settings()
    assert loaded == Settings()
    assert content.split(b'"')[1].decode() in said


def test_what_of_a_broken_file_can_be_read_is_kept():
    """As of one that a newer version wrote, which knows more words."""
    content = b'{"target": "mine", "type_k": "q2_9", "n_ctx": 512, "slide": true, "draft_tokens": [], "new": {}}'
    settings_path().write_bytes(content)
    kept = Settings(target="mine", n_ctx=512, slide=True)
    loaded, said = load_settings()
    assert loaded == kept
    assert "q2_9" in said or "draft_tokens" in said
    assert settings_path().with_name("settings.json.broken").read_bytes() == content
    assert load_settings() == (kept, "")


def test_a_second_broken_file_does_not_replace_the_first():
    for content in (b"{first", b"{second", b"{third"):
        settings_path().write_bytes(content)
        loaded, said = load_settings()
        assert loaded == Settings()
        assert said
    kept = sorted(path.read_bytes() for path in settings_path().parent.glob("settings.json.broken*"))
    assert kept == [b"{first", b"{second", b"{third"]


def test_a_file_nested_without_end_is_broken_like_any_other():
    settings_path().write_bytes(b'{"unknown":' + b"[" * 200_000)
    assert load_settings()[0] == Settings()


@pytest.mark.linux
def test_a_broken_file_that_cannot_be_put_aside_is_said_and_kept(tmp_path, monkeypatch):
    folder = tmp_path / "config"
    folder.mkdir()
    monkeypatch.chdir(folder)  # the folders above belong to the superuser alone
    path = Path("settings.json")
    path.write_bytes(b"{")
    folder.chmod(0o555)
    was = os.geteuid()
    try:
        if was == 0:
            os.seteuid(65534)
        with pytest.raises(SettingsError, match="not readable"):
            load_settings(path)
    finally:
        os.seteuid(was)
        folder.chmod(0o755)
    assert path.read_bytes() == b"{"


def test_a_failed_save_changes_nothing_and_leaves_nothing(tmp_path):
    path = tmp_path / "settings.json"
    (path / "inside").mkdir(parents=True)  # a folder that cannot be replaced by a file
    with pytest.raises(SettingsError, match="Cannot write") as caught:
        save_settings(Settings(), path)
    assert caught.value.hint
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith("settings")] == ["settings.json"]


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(SettingsError, match="Cannot write"):
        save_settings(Settings(), tmp_path / "gone" / "settings.json")


@pytest.mark.linux
def test_a_file_that_may_not_be_read_is_said_and_kept():
    save_settings(Settings(target="mine"))
    settings_path().chmod(0)
    was = os.geteuid()
    try:
        path = settings_path()
        if was == 0:  # the superuser may read anything
            os.seteuid(65534)
        with pytest.raises(SettingsError, match="Cannot read"):
            load_settings(path)
    finally:
        os.seteuid(was)
    path.chmod(0o600)
    assert load_settings()[0].target == "mine"
