"""Facts about the machine, as far as they bear on speed; no name, no account, no address."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from functools import cache
from pathlib import Path

from app.metrics.values import MachineInfo


def machine(device: str) -> MachineInfo:
    """Describe this machine and the device that the models run on."""
    import psutil  # not before the first window is painted

    return MachineInfo(
        os=os_name(),
        cpu=cpu_name(),
        cores=psutil.cpu_count(logical=False) or os.cpu_count() or 1,
        memory_bytes=psutil.virtual_memory().total,
        device=device,
    )


@cache
def os_name() -> str:
    """Name and version of the system, with the architecture."""
    name = f"{platform.system()} {platform.release()}"
    if sys.platform == "win32":
        name = f"Windows {platform.release()} ({platform.version()})"
    elif sys.platform == "linux":
        with contextlib.suppress(OSError, KeyError):
            name = f"{platform.freedesktop_os_release()['PRETTY_NAME']}, Linux {platform.release()}"
    return f"{name}, {platform.machine()}"


@cache
def cpu_name() -> str:
    """Marketing name of the processor, or the best that the system says."""
    if sys.platform == "win32":
        import winreg

        place = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with contextlib.suppress(OSError), winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
            if name := str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip():
                return name
        return platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "Model", "Hardware"))]
    return names[0] if names else platform.processor() or platform.machine()
