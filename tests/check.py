"""Everything that a change must pass: format, lint, types, import contracts, tests. ``python -m tests.check``.

Arguments go to pytest: ``python -m tests.check -m full``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STEPS = {
    "format": ["-m", "ruff", "format", "--check", "."],
    "lint": ["-m", "ruff", "check", "."],
    "types": ["-m", "mypy"],
    "imports": ["lint-imports", "--no-cache"],
    "tests": ["-m", "pytest"],
}


def run(step: str, arguments: list[str]) -> bool:
    """Run one step and say how it went."""
    print(f"=== {step}", flush=True)
    began_s = time.monotonic()
    command = [sys.executable, *STEPS[step], *arguments]
    if step == "imports":  # it has no module form
        program = shutil.which(STEPS[step][0], path=str(Path(sys.executable).parent)) or STEPS[step][0]
        command = [program, *STEPS[step][1:]]
    environment = {"QT_QPA_PLATFORM": "offscreen", "PYTHONUTF8": "1", **os.environ}
    passed = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0
    print(f"=== {step}: {'passed' if passed else 'FAILED'} in {time.monotonic() - began_s:.0f} s", flush=True)
    return passed


def main() -> int:
    """Run all steps, also after one has failed; return the exit code."""
    failed = [step for step in STEPS if not run(step, sys.argv[1:] if step == "tests" else [])]
    print(f"=== {'failed: ' + ', '.join(failed) if failed else 'all passed'}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
