"""How the machine is powered: battery or mains, and the power mode. A laptop decodes at another speed on each of them.

Where readings come from is a seam. Windows tells its power mode through ``powrprof``, Linux through ``/sys``; a machine
without a battery tells nothing of a supply.
"""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_POWER_MODES = {  # overlay schemes of Windows 10 and 11; the balanced one is all zeros
    "00000000-0000-0000-0000-000000000000": "balanced",
    "961cc777-2547-4f9d-8174-7d86181b8a7a": "best power efficiency",
    "ded574b5-45a0-4f42-8737-46345c09c238": "best performance",
}
_MODE_FILES = (
    Path("/sys/firmware/acpi/platform_profile"),
    Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
)


@dataclass(frozen=True, slots=True)
class Power:
    """What powers the machine; ``None`` and "" where the system does not tell."""

    on_battery: bool | None = None
    power_mode: str = ""


class PowerSource(Protocol):
    """Where it is read."""

    def read(self) -> Power:
        """Look now; takes less than a millisecond."""


class SystemPower:
    """This machine."""

    def read(self) -> Power:
        """Look now."""
        import psutil  # not before the first window is painted

        battery = psutil.sensors_battery()
        is_plugged = None if battery is None else battery.power_plugged  # None: neither is known
        return Power(None if is_plugged is None else not is_plugged, _power_mode())


def power_change(before: Power, after: Power) -> str:
    """Say how the machine's power changed during an answer, "" if it did not, or nobody knows."""
    if None not in (before.on_battery, after.on_battery) and before.on_battery != after.on_battery:
        if after.on_battery:
            return "the power supply changed from mains to battery meanwhile"
        return "the power supply changed from battery to mains meanwhile"
    if before.power_mode and after.power_mode and before.power_mode != after.power_mode:
        return f"the power mode changed from {before.power_mode} to {after.power_mode} meanwhile"
    return ""


def _power_mode() -> str:
    if sys.platform == "win32":
        return _windows_power_mode()
    for place in _MODE_FILES:
        with contextlib.suppress(OSError):
            return place.read_text(encoding="ascii", errors="replace").strip()
    return ""


if sys.platform == "win32":

    def _windows_power_mode() -> str:
        import ctypes
        import uuid

        scheme = (ctypes.c_ubyte * 16)()
        if ctypes.windll.powrprof.PowerGetEffectiveOverlayScheme(ctypes.byref(scheme)) != 0:
            return ""
        return _POWER_MODES.get(str(uuid.UUID(bytes_le=bytes(scheme))), "")
