"""Where things are kept: data, configuration, cache, logs, and the resources that ship with us.

Everything a person made lives under ``data_dir``. ``SLIPSTREAM_HOME`` moves all four folders under one. So does a file
``portable.txt`` beside the launcher of an installed bundle: then they are in a folder beside it.
"""

from __future__ import annotations

import os
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


def _folder(kind: str, default: Path) -> Path:
    home = home_dir(bundle_dir())
    folder = home / kind if home else default
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def data_dir() -> Path:
    """Folder of chats, baselines and our own models; made if missing."""
    return _folder("data", Path(platformdirs.user_data_path(APP_NAME, appauthor=False)))


def config_dir() -> Path:
    """Folder of the settings file; made if missing."""
    return _folder("config", Path(platformdirs.user_config_path(APP_NAME, appauthor=False)))


def cache_dir() -> Path:
    """Folder of things that can be made again; made if missing."""
    return _folder("cache", Path(platformdirs.user_cache_path(APP_NAME, appauthor=False)))


def log_dir() -> Path:
    """Folder of log files; made if missing."""
    return _folder("logs", Path(platformdirs.user_log_path(APP_NAME, appauthor=False)))


def models_dir() -> Path:
    """Folder where our own downloads go; made if missing."""
    folder = data_dir() / "models"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


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
