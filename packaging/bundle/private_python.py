"""A private interpreter on Linux: the one that runs this, copied, and shut off from the machine's own.

``python._pth`` beside the interpreter does what it does in Windows' embeddable Python: the search path is exactly what
stands in it, and environment variables and the person's own packages do not count.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path

from bundle.project import PACKAGES, PACKAGING, PYTHON

_SKIPPED = shutil.ignore_patterns(
    "__pycache__", "site-packages", "dist-packages", "sitecustomize.py", "config-*", "*.a"
)


def copy_python(root: Path) -> Path:
    """Copy the interpreter into a bundle; return its path there."""
    short = f"python{sys.version_info.major}.{sys.version_info.minor}"
    source = Path(sysconfig.get_path("stdlib"))
    home = root / PYTHON
    library = home / "lib" / short
    shutil.copytree(source, library, ignore=_SKIPPED)
    program = home / "bin" / short
    program.parent.mkdir(parents=True)
    shutil.copy2(Path(sys.base_prefix, "bin", short).resolve(), program)
    shared = Path(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("INSTSONAME") or "")
    if sysconfig.get_config_var("Py_ENABLE_SHARED") and shared.is_file():
        shutil.copy2(shared, home / "lib" / shared.name)
    own = library / "sitecustomize.py"
    shutil.copy2(PACKAGING / "linux" / "sitecustomize.py", own)
    lines = (f"../lib/{short}", f"../lib/{short}/lib-dynload", f"../../{PACKAGES}", "import site")
    program.with_name(f"{short}._pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return program


def licence_text() -> Path:
    """Return the licence of the interpreter that runs this.

    Raises:
        SystemExit: it does not say where that is.
    """
    short = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for path in (Path(sysconfig.get_path("stdlib"), "LICENSE.txt"), Path("/usr/share/doc", short, "copyright")):
        if path.is_file():
            return path
    raise SystemExit("the licence of this Python is not where it should be (LICENSE.txt in its library)")
