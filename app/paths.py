"""Where things are kept: data, configuration, cache, logs, and the resources that ship with us.

Everything a person made lives under ``data_dir``. ``SLIPSTREAM_HOME`` moves all four folders under one. So does a file
``portable.txt`` beside the launcher of an installed bundle: then they are in a folder beside it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import platformdirs

APP_NAME = "Slipstream"
BUNDLE_MARKER, PORTABLE_MARKER, PORTABLE_HOME = "bundle.json", "portable.txt", "Slipstream data"


def bundle_dir() -> Path | None:
    """Folder of the bundle that this program is part of; None where it runs from source or is a plain package."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / BUNDLE_MARKER).is_file() else None


def home_dir(bundle: Path | None) -> Path | None:
    """Folder that holds all of ours, None for the platform's own folders.

    Args:
        bundle: what :func:`bundle_dir` says.
    """
    if home := os.environ.get("SLIPSTREAM_HOME"):
        return Path(home)
    is_portable = bundle is not None and (bundle / PORTABLE_MARKER).is_file()
    return bundle / PORTABLE_HOME if bundle is not None and is_portable else None


def way_to_write(bundle: Path | None) -> str:
    """Say what to do where our folders cannot be made.

    Args:
        bundle: what :func:`bundle_dir` says.
    """
    if bundle is not None and home_dir(bundle) == bundle / PORTABLE_HOME:
        return f"Move the program's folder to where you may write, or delete {PORTABLE_MARKER} in it."
    return "Set SLIPSTREAM_HOME to a folder that can be written, or make room for this one."


def person_dir() -> Path | None:
    """Home folder of the person; None where the system knows of none."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def _folder(kind: str, of_platform: Callable[..., Path]) -> Path:
    home = home_dir(bundle_dir())
    folder = home / kind if home else _of_person(of_platform)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _of_person(of_platform: Callable[..., Path]) -> Path:
    try:
        folder = of_platform(APP_NAME, appauthor=False)
    except RuntimeError:  # platformdirs knows no home
        folder = Path("~")
    if not folder.is_absolute():
        raise FileNotFoundError(errno.ENOENT, "no home folder is known, HOME is not set or is not a whole path", "~")
    return folder


def way_to_install(requirement: str, bundle: Path | None) -> str:
    """Say how a part of the program that is not there is got: pip's way; a bundle has no pip, and is whole or damaged.

    Args:
        requirement: what pip would be told.
        bundle: what :func:`bundle_dir` says.
    """
    if bundle is not None:
        return "Unpack or install Slipstream again; conversations, settings and models stay."
    return f"Install it with: pip install {requirement}"


def data_dir() -> Path:
    """Folder of chats, baselines and our own models; made if missing."""
    return _folder("data", platformdirs.user_data_path)


def config_dir() -> Path:
    """Folder of the settings file; made if missing."""
    return _folder("config", platformdirs.user_config_path)


def cache_dir() -> Path:
    """Folder of things that can be made again; made if missing."""
    return _folder("cache", platformdirs.user_cache_path)


def log_dir() -> Path:
    """Folder of log files; made if missing."""
    return _folder("logs", platformdirs.user_log_path)


def models_dir() -> Path:
    """Folder where our own downloads go; made if missing."""
    folder = data_dir() / "models"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def is_whole() -> bool:
    """Tell whether our resources are where they were: a program's folder may be moved while it runs."""
    try:
        return resource().is_dir()
    except FileNotFoundError:
        return False


def resource(*parts: str) -> Path:
    """Path of a file that ships with the program.

    Raises:
        FileNotFoundError: no resources folder lies inside the package or beside it.
    """
    here = Path(__file__).resolve().parent
    for root in (here / "resources", here.parent / "resources"):  # installed, from source
        if root.is_dir():
            return root.joinpath(*parts)
    raise FileNotFoundError(here.parent / "resources")
