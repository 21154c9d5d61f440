"""A large font that was chosen and taken back leaves nothing behind."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QComboBox, QLineEdit, QPushButton

from app.ui.font_size import choose_font_size

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
