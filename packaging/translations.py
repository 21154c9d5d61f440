"""Keep the translations: collect the texts of the window into the .ts files, and make the .qm files of those.

    python packaging/translations.py             after a text of the window or a translation has changed
    python packaging/translations.py --add fr    begins another language

The .ts files are edited with Qt Linguist (``pyside6-linguist``). The .qm files are what the program reads; both are
kept in the repository, so that neither a start from source nor a wheel needs these tools.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import PySide6

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "translations"


def _tool(name: str) -> str:
    return str(Path(PySide6.__file__).parent / (f"{name}.exe" if sys.platform == "win32" else name))


def sources() -> list[Path]:
    """Return the modules with texts."""
    return sorted((ROOT / "app" / "ui").glob("*.py"))


def collect(ts: Path) -> None:
    """Bring a .ts file to the texts of the source: new ones are added untranslated, old ones go.

    Raises:
        subprocess.CalledProcessError: lupdate did not like a source.
    """
    language = ts.stem.rpartition("_")[2]
    command = [_tool("lupdate"), "-silent", "-locations", "none", "-no-obsolete", "-source-language", "en"]
    command += ["-target-language", language, *map(str, sources()), "-ts", str(ts)]
    subprocess.run(command, check=True)


def release(ts: Path, qm: Path) -> None:
    """Make the file that the program reads.

    Raises:
        subprocess.CalledProcessError: lrelease did not like the .ts file.
    """
    subprocess.run([_tool("lrelease"), "-silent", str(ts), "-qm", str(qm)], check=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring all languages up to date; return the exit code."""
    parser = argparse.ArgumentParser(description="Collect texts and make the files of translations.")
    parser.add_argument("--add", metavar="CODE", help="begin a language, as fr")
    wanted = parser.parse_args(arguments)
    FOLDER.mkdir(parents=True, exist_ok=True)
    files = set(FOLDER.glob("slipstream_*.ts"))
    if wanted.add:
        files.add(FOLDER / f"slipstream_{wanted.add}.ts")
    for ts in sorted(files):
        collect(ts)
        release(ts, ts.with_suffix(".qm"))
        print(ts.name)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
