"""A large font that was chosen and taken back leaves nothing behind."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
)

from app.chat.conversation import Attachment
from app.settings import MAX_FONT_EXTRA_PT
from app.ui.attaching import AttachmentBar
from app.ui.font_size import choose_font_size
from app.ui.parting import PartingQuestion
from app.ui.theme import IconButton
from app.ui.welcome import Welcome

KINDS = (QComboBox, QAbstractSpinBox, QLineEdit, QPushButton)


def heights(window):
    """How tall the controls of the dialogs are that can be seen, and want to be."""
    return {
        (kind.__name__, n): (control.height(), control.sizeHint().height(), control.minimumSizeHint().height())
        for dialog in QApplication.topLevelWidgets()
        if dialog.isVisible() and dialog is not window
        for kind in KINDS
        for n, control in enumerate(dialog.findChildren(kind))
        if control.isVisible()
    }


async def close_all(window):
    for dialog in QApplication.topLevelWidgets():
        if dialog.isVisible() and dialog is not window:
            dialog.close()
    await asyncio.sleep(0.05)


@pytest.mark.qt_log_ignore("does not support (raise|grabbing|propagateSizeHints)")
@pytest.mark.parametrize("name", ["program.settings", "chat.settings", "models.options"])
def test_no_control_stays_tall(program, name):
    async def story():
        window = program.window
        window.action_list.run(name)
        await program.until(lambda: heights(window))
        await asyncio.sleep(0.1)
        before = heights(window)
        await close_all(window)
        choose_font_size(12)
        window.action_list.run(name)
        await program.until(lambda: heights(window) not in ({}, before))
        await asyncio.sleep(0.1)
        choose_font_size(0)
        for _ in range(200):
            if heights(window) == before:
                break
            await asyncio.sleep(0.01)
        assert heights(window) == before
        await close_all(window)

    program.run(story)


@pytest.mark.qt_log_ignore("does not support propagateSizeHints")
@pytest.mark.parametrize("name", ["palette.open", "shortcuts.open"])
def test_names_of_actions_can_be_read_whole_where_texts_are_large(program, name):
    async def story():
        choose_font_size(QApplication.font().pointSizeF() / 2)  # twice the size takes more than this screen
        program.window.action_list.run(name)
        found = program.controller.palette.dialog.finder.list
        await program.until(found.isVisible)
        await asyncio.sleep(0.1)
        texts = [found.topLevelItem(n).text(0) for n in range(found.topLevelItemCount())]
        assert found.columnWidth(0) >= max(map(found.fontMetrics().horizontalAdvance, texts))
        await close_all(program.window)

    program.run(story)


@pytest.mark.qt_log_ignore("does not support propagateSizeHints")
def test_the_answers_to_the_question_at_the_end_are_not_cut_where_texts_are_large(program):
    async def story():
        choose_font_size(QApplication.font().pointSizeF())
        question = PartingQuestion(program.window, 3, "Why.")
        question.open()
        await program.until(question.isVisible)
        await asyncio.sleep(0.05)
        for button in (question.again, question.file, question.quit):
            assert button.width() >= button.sizeHint().width()
        question.done(0)
        question.deleteLater()

    program.run(story)


def test_nothing_in_the_speed_panel_is_cut_where_texts_are_large(program):
    async def story():
        window, before = program.window, program.window.panel.minimumWidth()
        await program.ask("one")
        window.resize(1400, 800)
        choose_font_size(QApplication.font().pointSizeF())
        await asyncio.sleep(0.1)
        area = window.panel.findChild(QScrollArea)
        assert area.widget().minimumSizeHint().width() <= area.viewport().width()
        assert window.panel.foot.minimumSizeHint().width() <= window.panel.width()
        choose_font_size(0)
        assert window.panel.minimumWidth() == before

    program.run(story)


def test_the_chat_keeps_its_room_where_texts_are_large(program):
    async def story():
        window = program.window
        window.resize(1280, 770)
        window.sidebar.show()  # a screen as narrow as the platform's starts without it
        assert not window.panel.isHidden()
        choose_font_size(QApplication.font().pointSizeF())
        await asyncio.sleep(0.1)
        assert window.panel.isHidden(), "it makes room, and can be had in place of the list"
        for width in (1280, 700):
            window.resize(width, 770)
            await asyncio.sleep(0.1)
            welcome = window.findChild(Welcome)
            assert welcome.isVisible()
            assert welcome.widget().minimumSizeHint().width() <= welcome.viewport().width()
        window.resize(1280, 770)
        await asyncio.sleep(0.1)
        captions = [one for one in window.pair_bar.findChildren(QLabel) if one.objectName() == "caption"]
        assert len(captions) == 2
        assert all(one.width() >= one.sizeHint().width() for one in captions)
        choose_font_size(0)
        assert not window.panel.isHidden()

    program.run(story)


def test_a_file_with_a_long_name_keeps_its_size_and_its_button(put):
    bar = put(AttachmentBar(), 260, 100)
    choose_font_size(QApplication.font().pointSizeF())
    bar.add(Attachment(name="measurements_of_the_last_experiment.txt", text="x" * 5000))
    bar.add(Attachment(name="b.txt", text="x"))
    for width in (260, 900, 260):
        bar.resize(width, 100)
        chips = [one for one in bar.children() if isinstance(one, QFrame) and one.objectName() == "chip"]
        assert [chip.geometry().right() < width for chip in chips] == [True, True]
        for chip, size in zip(chips, ("5.0 kB", "0.0 kB"), strict=True):
            assert chip.findChild(QLabel).text().endswith(size)
            assert chip.findChild(IconButton).geometry().right() < chip.width()
            assert chip.findChild(QLabel).width() >= chip.findChild(QLabel).sizeHint().width()
        assert (chips[0].findChild(QLabel).text().startswith("measurements_of_the_last_exp")) == (width == 900)


@pytest.mark.qt_log_ignore("does not support (raise|grabbing|propagateSizeHints)")
def test_names_of_models_can_be_told_apart_where_texts_are_large(program):
    async def story():
        choose_font_size(QApplication.font().pointSizeF())
        program.window.action_list.run("models.open")
        manager = program.controller.models.manager
        await program.until(manager.isVisible)
        await asyncio.sleep(0.1)
        for tree in (manager.discover.tree, manager.library.tree):
            assert tree.columnWidth(0) >= 18 * tree.fontMetrics().averageCharWidth()
        for card in (manager.discover.card, manager.library.card):
            area = card if isinstance(card, QScrollArea) else card.findChild(QScrollArea)
            assert area.horizontalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAsNeeded
        await close_all(program.window)

    program.run(story)


@pytest.mark.qt_log_ignore("does not support (raise|grabbing|propagateSizeHints)")
def test_what_is_chosen_in_the_settings_can_be_read_whole_where_texts_are_large(program):
    async def story():
        choose_font_size(MAX_FONT_EXTRA_PT)
        program.window.action_list.run("program.settings")
        await program.until(lambda: program.controller.settings.dialog is not None)
        await asyncio.sleep(0.1)
        choices = program.controller.settings.dialog.findChildren(QComboBox)
        assert len(choices) > 3
        assert all(one.width() >= one.sizeHint().width() for one in choices)
        await close_all(program.window)

    program.run(story)
