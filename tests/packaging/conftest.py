"""The build scripts are found as they find each other: from their own folder."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "packaging"))


@pytest.fixture(scope="session")
def bundle_folder(tmp_path_factory):
    """Return a built bundle: the one in SLIPSTREAM_TEST_BUNDLE, else one that is built now (minutes)."""
    import os
    import subprocess

    if given := os.environ.get("SLIPSTREAM_TEST_BUNDLE"):
        return Path(given)
    out = tmp_path_factory.mktemp("dist")
    script = ROOT / "packaging" / "build_linux.py"
    subprocess.run([sys.executable, str(script), "--out", str(out)], check=True, timeout=1500)
    return next(path for path in out.glob("slipstream-*") if path.is_dir())
