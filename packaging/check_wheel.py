"""Build the wheel, install it away from the source, and check that it is whole.

Needs no network: the build backend comes with the ``dev`` extra.

    python packaging/check_wheel.py [FOLDER]        the wheel goes to FOLDER (default: dist)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

INSPECT = """
import importlib.metadata, json, pathlib, app
from app.paths import resource
root = resource()
print(json.dumps({
    "app": app.__file__,
    "version": app.__version__,
    "resources": sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()),
    "modules": sorted(
        p.relative_to(pathlib.Path(app.__file__).parent).as_posix()
        for p in pathlib.Path(app.__file__).parent.rglob("*.py")
    ),
    "commands": sorted(e.name for e in importlib.metadata.distribution("slipstream-chat").entry_points),
    "licence": importlib.metadata.metadata("slipstream-chat")["License-Expression"],
}))
"""


def build(folder: Path) -> Path:
    """Build the wheel into a folder; return its path."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    before = set(folder.glob("*.whl"))
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)], check=True
    )
    made = [wheel for wheel in folder.glob("*.whl") if wheel not in before] or list(
        folder.glob("slipstream_chat-*.whl")
    )
    return made[0]


def inspect(wheel: Path) -> dict[str, object]:
    """Install the wheel, without its dependencies, into a folder of its own; return what the installed copy says."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", folder, str(wheel)], check=True)
        answer = subprocess.run(
            [sys.executable, "-c", INSPECT],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": folder},
            check=True,
            capture_output=True,
            text=True,
        )
        found: dict[str, object] = json.loads(answer.stdout)
        if not Path(str(found["app"])).is_relative_to(Path(folder).resolve()):
            raise SystemExit(f"looked at {found['app']}, not at the installed copy")
    return found


def expected() -> dict[str, object]:
    """Return what the source says."""

    def files(folder: str, pattern: str) -> list[str]:
        found = (path for path in (ROOT / folder).rglob(pattern) if path.is_file() and "__pycache__" not in path.parts)
        return sorted(path.relative_to(ROOT / folder).as_posix() for path in found)

    return {
        "resources": files("resources", "*"),
        "modules": files("app", "*.py"),
        "commands": ["slipstream", "slipstream-window"],
        "licence": "Apache-2.0",
    }


def main() -> int:
    """Build, inspect, compare; return the exit code."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist")
    folder.mkdir(parents=True, exist_ok=True)
    wheel = build(folder)
    found, faults = inspect(wheel), []
    for what, want in expected().items():
        if found[what] != want:
            faults.append(f"{what}: {found[what]} instead of {want}")
    for fault in faults:
        print(f"fault: {fault}", file=sys.stderr)
    print(f"{wheel.name}: {wheel.stat().st_size / 1e3:.0f} kB, {'NOT WHOLE' if faults else 'whole'}")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
