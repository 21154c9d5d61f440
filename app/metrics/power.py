"""How the machine is powered: battery or mains, and the power mode. A laptop decodes at another speed on each of them.

Where readings come from is a seam. Windows tells its power mode through ``powrprof``, Linux through ``/sys``; a machine
without a battery tells nothing of a supply. Reading never raises: what a container or a sandbox hides is not known.
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

SUPPLIES = Path("/sys/class/power_supply")
"""Folders of the kernel's power supplies; those of mice and headsets are among them (``scope`` Device)."""


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

    def __init__(self, supplies: Path = SUPPLIES) -> None:
        self._supplies = supplies

    def read(self) -> Power:
        """Look now; ``None`` and "" for what cannot be read."""
        on_battery = _linux_on_battery(self._supplies) if sys.platform == "linux" else _on_battery()
        return Power(on_battery, _power_mode())


def power_change(before: Power, after: Power) -> str:
    """Say how the machine's power changed during an answer, "" if it did not, or nobody knows."""
    if None not in (before.on_battery, after.on_battery) and before.on_battery != after.on_battery:
        if after.on_battery:
            return "the power supply changed from mains to battery meanwhile"
        return "the power supply changed from battery to mains meanwhile"
    if before.power_mode and after.power_mode and before.power_mode != after.power_mode:
        return f"the power mode changed from {before.power_mode} to {after.power_mode} meanwhile"
    return ""


def _linux_on_battery(root: Path) -> bool | None:
    """Tell from the supplies of the machine itself; psutil takes the battery of a mouse for the machine's.

    A battery that is neither charged nor discharged, as at the limit that somebody has set, leaves it to what is
    plugged in: a power supply of its own, or one over USB, as most laptops with Snapdragon have.
    """
    try:
        supplies = [path for path in sorted(root.iterdir()) if _text(path / "scope") != "Device"]
    except OSError:
        return None
    states = {_text(path / "status") for path in supplies if _text(path / "type") == "Battery"}
    online = {_text(path / "online") for path in supplies if _text(path / "type") == "Mains"}
    over_usb = {_text(path / "online") for path in supplies if _text(path / "type") == "USB"}
    if not states:
        return None
    if "1" in online or "Discharging" in states:
        return "1" not in online
    if states & {"Charging", "Full"} or "1" in over_usb:
        return False
    return True if "0" in online else None


def _on_battery() -> bool | None:
    import psutil  # not before the first window is painted

    with contextlib.suppress(OSError, AttributeError, ValueError, RuntimeError, psutil.Error):
        battery = psutil.sensors_battery()
        if battery is not None and battery.power_plugged is not None:
            return not battery.power_plugged
    return None


def _text(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text(encoding="ascii", errors="replace").strip()
    return ""


def _power_mode() -> str:
    if sys.platform == "win32":
        with contextlib.suppress(OSError, AttributeError):  # before version 1709 it was not told
            return _windows_power_mode()
        return ""
    return next((mode for place in _MODE_FILES if (mode := _text(place))), "")


if sys.platform == "win32":

    def _windows_power_mode() -> str:
        import ctypes
        import uuid

        scheme = (ctypes.c_ubyte * 16)()
        if ctypes.windll.powrprof.PowerGetEffectiveOverlayScheme(ctypes.byref(scheme)) != 0:
            return ""
        return _POWER_MODES.get(str(uuid.UUID(bytes_le=bytes(scheme))), "")
