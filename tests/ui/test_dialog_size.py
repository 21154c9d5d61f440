"""Dialogs open no larger than the screen, and can be used on a small one: 1280 x 800 at 150 %."""

from pathlib import Path

import pytest

from app.ui.baselines import BaselineDialog
from app.ui.conversation_dialog import ConversationDialog
from app.ui.devices_dialog import DevicesDialog
from app.ui.dialog_size import FRAME
from app.ui.drop import DropDialog
from app.ui.profile_dialog import ProfileDialog
from app.ui.serving_dialog import ServingDialog
from app.ui.sessions import CompareDialog
from app.ui.settings_dialog import SettingsDialog

SMALL_PX = (853, 533)


@pytest.mark.parametrize(
    "make",
    [
        lambda parent: BaselineDialog((), parent),
        ProfileDialog,
        CompareDialog,
        DevicesDialog,
        ServingDialog,
        SettingsDialog,
        ConversationDialog,
        lambda parent: DropDialog([Path(f"{n}.gguf") for n in range(9)], parent),
    ],
    ids=["baselines", "profile", "compare", "devices", "serving", "settings", "conversation", "drop"],
)
def test_dialogs_fit_the_screen_and_a_small_one(window, make):
    dialog = make(window)
    room = window.screen().availableGeometry().size() - FRAME
    assert dialog.width() <= room.width()
    assert dialog.height() <= room.height()
    dialog.layout().activate()
    least = dialog.minimumSizeHint().expandedTo(dialog.minimumSize())
    assert least.width() <= SMALL_PX[0] - FRAME.width()
    assert least.height() <= SMALL_PX[1] - FRAME.height()


def test_a_first_window_fits_the_screen_with_its_frame(window):
    room = window.screen().availableGeometry().size() - FRAME
    assert window.width() <= room.width()
    assert window.height() <= room.height()
