"""The language of the window: which there are, which is wanted, and its texts put in before any of them is read.

The settings are read here as bare JSON: their own reader is loaded after the first paint.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLocale, QTranslator

from app.paths import config_dir, resource
from app.ui.display import qt_folder

SOURCE_LANGUAGE = "en"
SYSTEM = "system"

_PREFIX = "slipstream_"


def translations_dir() -> Path:
    """Folder of the translations that ship with the program."""
    return resource("translations")


def languages() -> tuple[str, ...]:
    """Return the languages that there are, English first, as codes like ``de``."""
    found = sorted(path.stem.removeprefix(_PREFIX) for path in translations_dir().glob(f"{_PREFIX}*.qm"))
    return (SOURCE_LANGUAGE, *found)


def language_name(code: str) -> str:
    """Return what the speakers of a language call it."""
    name = str(QLocale(code).nativeLanguageName())
    return "English" if code == SOURCE_LANGUAGE else name[:1].upper() + name[1:]


def wanted_language(settings: Path | None = None) -> str:
    """Return the language that was chosen in the settings, :data:`SYSTEM` where none was or they cannot be read."""
    try:
        values = json.loads((settings or config_dir() / "settings.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return SYSTEM
    chosen = values.get("language") if isinstance(values, dict) else None
    return chosen if isinstance(chosen, str) else SYSTEM


def language_for(wanted: str, preferred: Iterable[str]) -> str:
    """Return the language to use: the wanted one, or the first that the system prefers and that there is.

    Args:
        wanted: a code, or :data:`SYSTEM`.
        preferred: the system's languages, as ``de-AT``, the dearest first.
    """
    there = languages()
    for name in preferred if wanted == SYSTEM else (wanted,):
        code = name.replace("_", "-").partition("-")[0].lower()
        if code in there:
            return code
    return SOURCE_LANGUAGE


def install_language(app: QCoreApplication) -> str:
    """Have the texts of the window in the wanted language from now on; return its code.

    It comes before the import of any module with texts: those at module level are translated there and then.
    """
    code = language_for(wanted_language(), QLocale.system().uiLanguages())
    if code != SOURCE_LANGUAGE:
        qt = str(qt_folder("translations"))
        for name, folder in ((f"qtbase_{code}", qt), (f"{_PREFIX}{code}", str(translations_dir()))):
            translator = QTranslator(app)
            if translator.load(name, folder):
                app.installTranslator(translator)
    return code
