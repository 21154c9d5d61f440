"""Which folder is ours: where downloads go and what may be deleted. A setting moves it from the data folder."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from app.errors import SettingsError
from app.paths import models_dir
from app.settings import load_settings, save_settings, settings_path

logger = logging.getLogger(__name__)


class _Chosen(msgspec.Struct, frozen=True):
    """The one setting that is read here, whatever state the others are in."""

    models_folder: str = ""


def models_folder() -> Path:
    """Return our models folder; the default one is made if missing, a chosen one is not: its disk may be away."""
    chosen = chosen_folder()
    return Path(chosen) if chosen else models_dir()


def chosen_folder(otherwise: str = "") -> str:
    """Return what the settings say, "" for the default. Read each time: a command may change it beside the window.

    Args:
        otherwise: what holds while the settings cannot be read.
    """
    try:
        return msgspec.json.decode(settings_path().read_bytes(), type=_Chosen).models_folder
    except FileNotFoundError:
        return ""
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        logger.info("the models folder is not known: %s", fault)
        return otherwise


def choose_folder(folder: Path, *, moved_from: Path | None = None) -> None:
    """Take another folder for ours from now on; settings that name a file in ``moved_from`` follow it.

    Raises:
        SettingsError: the settings cannot be written, or hold something that cannot be read.
    """
    settings, problem = load_settings()
    if problem:
        raise SettingsError(problem, "Open the window once to look at the settings, then choose the folder again.")
    folder = folder.absolute()
    is_default = folder == models_dir().absolute()
    values: dict[str, str | None] = {"models_folder": "" if is_default else str(folder)}
    if moved_from is not None:
        values["target"] = _follow(settings.target, moved_from, folder)
        values["draft"] = settings.draft and _follow(settings.draft, moved_from, folder)
    save_settings(msgspec.structs.replace(settings, **values))


def _follow(name: str, old: Path, new: Path) -> str:
    path = Path(name)
    return str(new / path.relative_to(old)) if path.is_absolute() and path.is_relative_to(old) else name
