"""Which folder is ours: where downloads go and what may be deleted. A setting moves it from the data folder."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from app.errors import SettingsError
from app.paths import models_dir
from app.settings import Settings, load_settings, save_settings, settings_path

logger = logging.getLogger(__name__)


class _Chosen(msgspec.Struct, frozen=True):
    """The one setting that is read here, whatever state the others are in."""

    models_folder: str = ""


def models_folder() -> Path:
    """Return our models folder; the default one is made if missing, a chosen one is not: its disk may be away."""
    chosen = chosen_folder()
    return Path(chosen) if chosen else models_dir()


def chosen_folder() -> str:
    """Return what the settings say, "" for the default. Read each time: a command may change it beside the window."""
    try:
        return msgspec.json.decode(settings_path().read_bytes(), type=_Chosen).models_folder
    except FileNotFoundError:
        return ""
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        logger.info("the models folder is the default one: %s", fault)
        return ""


def choose_folder(folder: Path) -> None:
    """Take another folder for ours from now on; nothing is moved.

    Raises:
        SettingsError: the settings cannot be written, or hold something that cannot be read.
    """
    settings, problem = load_settings()
    if problem:
        raise SettingsError(problem, "Open the window once to look at the settings, then choose the folder again.")
    is_default = folder.absolute() == models_dir().absolute()
    save_settings(_with_folder(settings, "" if is_default else str(folder.absolute())))


def _with_folder(settings: Settings, folder: str) -> Settings:
    return msgspec.structs.replace(settings, models_folder=folder)
