"""The one door from the command line to what Qt draws."""

from __future__ import annotations

import os
import sys
from types import ModuleType

from app.errors import SlipstreamError, import_hint


def renderer() -> ModuleType:
    """Return :mod:`app.ui.render`; without a screen Qt draws into memory.

    Raises:
        SlipstreamError: Qt or the charts cannot be imported here.
    """
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    try:
        import app.ui.render as render
    except ImportError as fault:
        raise SlipstreamError(f"Pictures cannot be drawn: {fault}.", import_hint(fault)) from fault
    return render
