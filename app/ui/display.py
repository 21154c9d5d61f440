"""Whether Qt will find a screen, known before Qt tries.

Qt ends the process with an abort when its platform plugin cannot load or finds no display. Here the same two
things are tried first, in this process and cheaply: the plugin's libraries are loaded, and the display is asked for a
connection. Windows and macOS always have a screen.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from app.errors import NoDisplayError

SELFTEST_HINT = "Without a screen, the command `selftest --out DIR` runs the main job and draws the window to a file."

_SCREENLESS = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs", "vkkhrdisplay", "minimalegl")
_PACKAGES = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
}


def require_display(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> None:
    """Make sure that Qt can open a window.

    Raises:
        NoDisplayError: it cannot; the hint says what to install, or to set, and how to do without.
    """
    if platform != "linux":
        return
    wanted = environ.get("QT_QPA_PLATFORM", "").partition(":")[0].partition(";")[0]
    if wanted in _SCREENLESS:
        return
    wayland = "" if wanted == "xcb" else _wayland_fault(environ)
    if not wayland and wanted != "xcb":
        return
    if wanted.startswith("wayland"):
        raise NoDisplayError(f"There is no Wayland display: {wayland}.", SELFTEST_HINT)
    if not environ.get("DISPLAY"):
        raise NoDisplayError(
            "There is no display: neither DISPLAY nor WAYLAND_DISPLAY is set.",
            f"Start it from a desktop session, or with `ssh -X`, or under `xvfb-run`. {SELFTEST_HINT}",
        )
    if fault := plugin_fault("xcb"):
        raise fault
    _connect_to_x(environ["DISPLAY"])


def _wayland_fault(environ: Mapping[str, str]) -> str:
    """Say why there is no Wayland display to connect to, "" if there is one."""
    name = environ.get("WAYLAND_DISPLAY", "")
    if not name:
        return "WAYLAND_DISPLAY is not set"
    import socket  # here, because most starts need none of this

    path = Path(environ.get("XDG_RUNTIME_DIR", "")) / name
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(str(path))
    except OSError as fault:
        return f"{path}: {fault.strerror or fault}"
    missing = plugin_fault("wayland")
    return missing.message if missing else ""


def qt_folder(name: str) -> Path:
    """Return a folder of the wheel's Qt, as ``plugins``."""
    import PySide6

    root = Path(PySide6.__file__).parent
    return root / "Qt" / name if (root / "Qt").is_dir() else root / name


def show_qt_its_plugins() -> None:
    """Tell Qt where its plugins are; to be called before the application is made.

    The wheel tells it in the form of an INI file, whose syntax takes a path with ``;``, ``"``, a backslash or the end
    of a line in it for something else. Qt would find no plugin, and end the process.
    """
    from PySide6.QtCore import QCoreApplication

    plugins = qt_folder("plugins")
    if plugins.is_dir() and str(plugins) not in QCoreApplication.libraryPaths():
        QCoreApplication.addLibraryPath(str(plugins))


def plugin_fault(name: str) -> NoDisplayError | None:
    """Load Qt's platform plugin as Qt would; return what is wrong with it, with the package that is missing."""
    import ctypes

    plugin = qt_folder("plugins") / "platforms" / f"libq{name}.so"
    if not plugin.is_file():
        return None  # another build of Qt; it will speak for itself
    try:
        ctypes.CDLL(str(plugin))
    except OSError as fault:
        return NoDisplayError(
            f"Qt's {name} plugin cannot load: {fault}.", f"{_install_words(str(fault))} {SELFTEST_HINT}"
        )
    return None


def _install_words(fault: str) -> str:
    """Say what to install. The loader names one library; all that are missing are named, so that one try is enough."""
    import ctypes

    packages = []
    for library, package in _PACKAGES.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            packages.append(package)
    if packages:
        return f"On Debian or Ubuntu: sudo apt-get install {' '.join(packages)}."
    return f"Install {fault.partition(':')[0].strip()}."


def _connect_to_x(display: str) -> None:
    """Open and close a connection to an X server, with the library that the plugin has just loaded."""
    import ctypes

    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError as fault:
        hint = f"On Debian or Ubuntu: sudo apt-get install libxcb1. {SELFTEST_HINT}"
        raise NoDisplayError(f"The X library cannot load: {fault}.", hint) from fault
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(display.encode(), None)
    error = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    if error:
        raise NoDisplayError(
            f"The display {display} does not answer.",
            f"Is the X server running, and may you use it (xauth, `ssh -X`)? {SELFTEST_HINT}",
        )
