"""Try a built bundle in a minimal Debian: no Python, no X libraries, no network, a folder nobody may write to.

    python packaging/check_bare.py BUNDLE --root CHROOT [--display N] [--pictures DIR]

CHROOT is what ``debootstrap --variant=minbase bookworm CHROOT`` makes; the bundle is copied into it, to a path with
spaces and letters beyond ASCII. Needs root here; the program runs as an unprivileged person. Needs besides what
``smoke.py`` does; the window appears on a screen of this machine.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import smoke

PLACE = "opt/Slip stream für alle"
LACKING = r"|Fontconfig error: Cannot load default config file.*|qt\.xkb\.compose: .*"
"""What Qt says where there are no fonts and no tables of dead keys, unlike with a desktop; text is boxes then."""

PERSON = 4711
"""The number of a person without a name, a home or rights."""


def install(bundle: Path, root: Path) -> Path:
    """Copy the bundle, for everybody to read and nobody to write; return its folder."""
    place = root / PLACE
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(bundle, place, symlinks=True)
    for path in [place, *place.rglob("*")]:
        path.chmod(path.stat().st_mode & 0o555)
    return place


def check_bare(root: Path) -> None:
    """Make sure that the system is as bare as it should be.

    Raises:
        SystemExit: it has a Python, or libraries of X.
    """
    for pattern in ("usr/bin/python3*", "usr/lib/*/libpython*", "usr/lib/*/libX11.so*", "usr/lib/*/libGL.so*"):
        if found := next(root.glob(pattern), None):
            raise SystemExit(f"{root} is not bare: {found.relative_to(root)}")


def through(root: Path) -> list[str]:
    """Return the words that put a command into the bare system, without rights and without a network."""
    person = [f"--userspec={PERSON}:{PERSON}", str(root)]
    return ["unshare", "--net", "--mount", "--propagation", "private", "chroot", *person]


def mount(root: Path) -> list[Path]:
    """Give the bare system /proc, some devices, and the screens' sockets; return what was mounted."""
    made = []
    for source, place in (("/proc", "proc"), ("/dev", "dev"), ("/tmp/.X11-unix", "tmp/.X11-unix")):  # noqa: S108
        target = root / place
        target.mkdir(parents=True, exist_ok=True)
        Path(source).mkdir(exist_ok=True)
        subprocess.run(["mount", "--bind", source, str(target)], check=True)
        made.append(target)
    return made


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Try a built bundle in a minimal Debian.")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--root", type=Path, required=True, help="folder of the minimal Debian")
    parser.add_argument("--display", type=int, default=97, help="number of the virtual screen")
    parser.add_argument("--pictures", type=Path, help="folder for pictures of the screen")
    return parser.parse_args()


def main() -> int:
    """Try it; return the exit code."""
    options = parse()
    root: Path = options.root.resolve()
    if os.geteuid():
        raise SystemExit("this needs root, for chroot and the network's absence")
    check_bare(root)
    install(options.bundle.resolve(), root)
    with tempfile.TemporaryDirectory(dir=root / "tmp", prefix="Zu Hause ü ") as home:
        os.chown(home, PERSON, PERSON)
        inner = f"/tmp/{Path(home).name}"  # noqa: S108 - inside the bare system
        tried = smoke.Tried(f"/{PLACE}/slipstream", Path(home), inner, through(root), options.pictures, LACKING)
        mounted = mount(root)
        try:
            smoke.window(tried, options.display)
            smoke.selftest(tried)
        finally:
            for target in reversed(mounted):
                subprocess.run(["umount", str(target)], check=False)
    print("bare: all is well")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
