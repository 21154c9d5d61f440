"""About says what the program is made of, with licences; looking for a newer version asks first."""

from __future__ import annotations

import json
from importlib import metadata

import pytest
from PySide6.QtWidgets import QMessageBox

from app import components
from app.components import Component
from app.host.updates import Feed
from app.ui.about import AboutDialog
from app.ui.updates import UpdatesControl, UpdatesQuestion
from tests.announcements import Publisher, served
from tests.ui.conftest import shows_dialog


@pytest.fixture
def _online(monkeypatch):
    from huggingface_hub import constants
    from huggingface_hub.utils import close_session

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    close_session()
    yield
    close_session()


# --- components -------------------------------------------------------------------------------------


def test_from_source_it_lists_what_is_installed_and_needed():
    found = {one.name.lower(): one for one in components.components()}
    assert {"slipstream-chat", "llama_cpp_python", "pyside6_essentials", "numpy"} <= found.keys()
    assert not {"pytest", "ruff", "llm"} & found.keys()  # of the developer; of a package that only lends its file
    assert found["numpy"].version == metadata.version("numpy")
    assert "LGPL" in found["pyside6_essentials"].licence
    assert "Copyright" in found["numpy"].text(None)


def test_a_damaged_list_of_a_bundle_is_no_list(tmp_path):
    assert components.of_bundle(tmp_path) == ()
    (tmp_path / "licences").mkdir()
    (tmp_path / "licences" / "components.json").write_text("{")
    assert components.of_bundle(tmp_path) == ()


def test_a_text_that_is_gone_is_said_to_be(tmp_path):
    one = Component("x", "1", "MIT", texts=("x/LICENSE",))
    assert "cannot be read" in one.text(tmp_path)


@shows_dialog
def test_about_shows_each_component_and_the_licence_of_the_chosen_one(qtbot, theme, home):
    dialog = AboutDialog()
    qtbot.addWidget(dialog)
    dialog.show()
    rows = [dialog.list.topLevelItem(n) for n in range(dialog.list.topLevelItemCount())]
    assert len(rows) == len(components.components())
    numpy = next(row for row in rows if row.text(0) == "numpy")
    dialog.list.setCurrentItem(numpy)
    assert "BSD" in numpy.text(2)
    assert "Redistribution and use" in dialog.text.toPlainText()
    assert str(home) in dialog.folders.text()
    for widget in (dialog.list, dialog.text):
        assert widget.accessibleName()


# --- updates ----------------------------------------------------------------------------------------


def question_of(program) -> UpdatesQuestion:
    (found,) = [child for child in program.window.children() if isinstance(child, UpdatesQuestion)]
    return found


def test_a_copy_without_an_address_says_so_and_asks_nobody(program):
    async def story():
        program.controller.updates.open()
        assert "does not know" in program.window.notice.words

    program.run(story)


@shows_dialog
@pytest.mark.usefixtures("_online")
@pytest.mark.parametrize("is_daily", [False, True])
def test_it_asks_first_then_offers_the_page(program, is_daily):
    publisher = Publisher()
    with served(publisher.document(notes="Faster.")) as (address, asked):

        async def story():
            control = UpdatesControl(program.window, program.controller.choices, Feed(address, publisher.key))
            control.open()
            question = question_of(program)
            assert "127.0.0.1" in question.informativeText()
            assert not question.daily.isChecked()
            assert asked == []
            question.daily.setChecked(is_daily)
            question.look.click()
            await program.until(lambda: "99.0 is there" in program.window.notice.words)
            assert "Faster." in program.window.notice.words
            assert program.controller.choices.settings.look_for_updates is is_daily
            await control.close()

        program.run(story)
        assert len(asked) == 1


@shows_dialog
def test_cancel_asks_nobody_and_changes_nothing(program):
    with served(b"") as (address, asked):

        async def story():
            control = UpdatesControl(program.window, program.controller.choices, Feed(address, b""))
            control.open()
            question = question_of(program)
            question.daily.setChecked(True)
            question.button(QMessageBox.StandardButton.Cancel).click()
            assert not program.controller.choices.settings.look_for_updates
            await control.close()

        program.run(story)
        assert asked == []


@pytest.mark.usefixtures("_online")
@pytest.mark.parametrize("is_allowed", [False, True])
def test_by_itself_it_looks_only_where_that_was_allowed_and_once_a_day(program, is_allowed):
    publisher = Publisher()
    with served(publisher.document()) as (address, asked):

        async def story():
            choices = program.controller.choices
            choices.change(look_for_updates=is_allowed)
            control = UpdatesControl(program.window, choices, Feed(address, publisher.key))
            control.on_time()
            if is_allowed:
                await program.until(lambda: "99.0 is there" in program.window.notice.words)
            control.on_time()
            await control.close()

        program.run(story)
        assert len(asked) == int(is_allowed)


@shows_dialog
@pytest.mark.usefixtures("_online")
def test_a_wrong_signature_is_told_as_an_error(program):
    document = json.loads(Publisher().document())
    with served(json.dumps(document).encode()) as (address, _):

        async def story():
            control = UpdatesControl(program.window, program.controller.choices, Feed(address, Publisher().key))
            control.open()
            question_of(program).look.click()
            await program.until(lambda: "wrong signature" in program.window.notice.words)
            await control.close()

        program.run(story)
