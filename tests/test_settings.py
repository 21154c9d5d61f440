"""Settings survive: crashes, older files, broken files."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.errors import SettingsError
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
    )
)
def test_what_is_saved_is_loaded(home, chosen):
    save_settings(chosen)
    assert load_settings() == (chosen, "")


def test_an_older_file_takes_defaults_for_what_it_does_not_know():
    settings_path().write_text('{"target": "other"}')
    assert load_settings() == (Settings(target="other"), "")


@pytest.mark.parametrize("content", [b"", b"{", b'{"n_ctx": "many"}', b"\xff\xfe", b'{"theme": "mauve"}'])
def test_a_broken_file_is_kept_aside_and_said(content):
    settings_path().write_bytes(content)
    loaded, said = load_settings()
    assert loaded == Settings()
    assert "settings.json.broken" in said
    assert settings_path().with_name("settings.json.broken").read_bytes() == content
    assert load_settings() == (Settings(), "")


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
