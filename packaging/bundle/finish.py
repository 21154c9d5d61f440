"""The steps that all platforms share once a bundle's files are in place."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bundle import compiled_in, components, pruning, sbom
from bundle.archive import made_date, n_bytes
from bundle.components import Part
from bundle.project import MARKER, PACKAGES, PYTHON, STARTER, version

WITH_SOURCE = ("app", "PySide6", "shiboken6")
LIMIT_BYTES = 250_000_000
"""What a bundle may take without the starter."""


def trim(root: Path, platform: str) -> None:
    """Leave out what the list says.

    Raises:
        SystemExit: a rule matches nothing, so the list is not about these files.
    """
    freed, unused = pruning.prune(root, pruning.rules(platform))
    if unused:
        raise SystemExit("rules of packaging/prune.txt that match nothing: " + ", ".join(unused))
    print(f"pruned {freed / 1e6:.0f} MB")


def describe(root: Path, hashes: dict[str, str], others: Sequence[Part]) -> None:
    """Write components, licences and the bill of materials.

    Raises:
        SystemExit: a licence is missing or may not be in a bundle.
    """
    carriers = [*components.distributions(root, hashes), *others]
    parts = [*carriers, *components.inside(root, carriers), *compiled_in.parts(root, carriers)]
    if faults := components.unfit(parts):
        raise SystemExit("licences that do not fit: " + "; ".join(faults))
    written = components.write(root, parts)
    sbom.write(root, written)
    print(f"{len(written)} components")


def mark(root: Path, platform: str, updates: dict[str, str]) -> None:
    """Say what this folder is, and where newer versions are announced, if anywhere."""
    about = {"version": version(), "platform": platform, "made": made_date(), **updates}
    (root / MARKER).write_bytes(msgspec.json.format(msgspec.json.encode(about), indent=1) + b"\n")


def compile_all(root: Path, python: Path) -> None:
    """Compile all modules, never to be compared with their sources again: an installed folder is not writable.

    Sources of other people's modules go, all but Qt's, which may be exchanged: both forms of them would be too much.

    Raises:
        SystemExit: a module does not compile.
    """
    common = [str(python), "-m", "compileall", "-q", "-j", "2", "-s", str(root)]
    own = [str(root / PACKAGES / name) for name in WITH_SOURCE]
    alone = ["-b", "-x", rf"{PACKAGES}[\\/]({'|'.join(WITH_SOURCE)})[\\/]"]
    for words in (["--invalidation-mode", "unchecked-hash", *own], [*alone, str(root / PYTHON), str(root / PACKAGES)]):
        if subprocess.run([*common, *words], check=False, stdout=sys.stderr).returncode:
            raise SystemExit("some modules do not compile")
    for path in [*(root / PYTHON).rglob("*.py"), *(root / PACKAGES).rglob("*.py")]:
        if path.with_suffix(".pyc").is_file():
            path.unlink()


def check_size(root: Path) -> None:
    """Compare what the bundle takes, the starter left out, with what it may.

    Raises:
        SystemExit: it is too large.
    """
    starter = n_bytes(root / PACKAGES / STARTER.replace("-", "_"))
    taken = n_bytes(root) - starter
    print(f"{taken / 1e6:.1f} MB, and {starter / 1e6:.1f} MB for the starter")
    if taken > LIMIT_BYTES:
        raise SystemExit(f"the bundle is larger than {LIMIT_BYTES / 1e6:.0f} MB")
