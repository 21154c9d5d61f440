"""What an answer cost in energy, where the system tells: tokens per watt-hour.

Linux counts the energy of the processor package (powercap; often readable by the administrator only), Windows that of
what the machine's maker gave a meter (:mod:`app.metrics.windows_energy`). A battery that is discharging tells what the
whole machine takes, on both, in coarse steps: short answers have no figure.
Elsewhere, and on mains without a counter, there is none, and none is made up.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from app.metrics.windows_energy import WindowsMeter

POWERCAP = Path("/sys/class/powercap")
BATTERIES = Path("/sys/class/power_supply")

LEAST_BATTERY_J = 360.0
"""A battery's counter goes in steps of 10 mWh (36 J) or so: below ten of them the figure says nothing."""

_WH_J = 3600.0


class Meter(Protocol):
    """A counter of energy.

    Attributes:
        source: what it measures, in words.
        least_j: a smaller difference is within its steps.
    """

    source: str
    least_j: float

    def joules(self) -> float | None:
        """Energy used since some moment; ``None`` while it does not tell."""


class PackageMeter:
    """Energy of all processor packages, from the kernel's powercap zones; its counters wrap around."""

    source = "processor package"
    least_j = 0.0

    def __init__(self, root: Path = POWERCAP) -> None:
        zones: list[Path] = []
        with contextlib.suppress(OSError):  # a sandbox may hide them
            zones = sorted(root.glob("intel-rapl:*"))
        self._zones = [zone for zone in zones if zone.name.count(":") == 1]
        self._last: dict[Path, int] = {}
        self._sum_uj = 0

    def joules(self) -> float | None:
        """Add up what has been used since the last look."""
        for zone in self._zones:
            now = _number(zone / "energy_uj")
            if now is None:
                return None
            before = self._last.get(zone, now)
            wrap = (_number(zone / "max_energy_range_uj") or 0) if now < before else 0
            self._sum_uj += now - before + wrap
            self._last[zone] = now
        return self._sum_uj / 1e6 if self._zones else None


class LinuxBatteryMeter:
    """What has gone out of the batteries, while one is discharging and none is on mains."""

    source = "whole machine, from the battery"
    least_j = LEAST_BATTERY_J

    def __init__(self, root: Path = BATTERIES) -> None:
        supplies: list[Path] = []
        with contextlib.suppress(OSError):  # a sandbox may hide them
            supplies = [path for path in sorted(root.iterdir()) if _text(path / "scope") != "Device"]
        self._batteries = [path for path in supplies if _number(path / "energy_now") is not None]

    def joules(self) -> float | None:
        """What is missing since the counter was full, as a falling charge: only differences mean something."""
        if not any(_text(path / "status") == "Discharging" for path in self._batteries):
            return None
        left_uwh = [_number(path / "energy_now") for path in self._batteries]
        if any(left is None for left in left_uwh):
            return None
        return -sum(left or 0 for left in left_uwh) * _WH_J / 1e6


class _BatteryState(ctypes.Structure):
    """``SYSTEM_BATTERY_STATE`` of winnt.h; capacities in mWh."""

    _fields_ = (
        ("ac_on_line", ctypes.c_ubyte),
        ("battery_present", ctypes.c_ubyte),
        ("charging", ctypes.c_ubyte),
        ("discharging", ctypes.c_ubyte),
        ("spare", ctypes.c_ubyte * 3),
        ("tag", ctypes.c_ubyte),
        ("max_capacity", ctypes.c_uint32),
        ("remaining_capacity", ctypes.c_uint32),
        ("rate", ctypes.c_int32),
        ("estimated_time", ctypes.c_uint32),
        ("default_alert_1", ctypes.c_uint32),
        ("default_alert_2", ctypes.c_uint32),
    )


def battery_joules(state: bytes) -> float | None:
    """Read Windows' battery state: what is missing of the charge; ``None`` on mains or without a battery."""
    told = _BatteryState.from_buffer_copy(state)
    if told.ac_on_line or not told.battery_present or not told.discharging:
        return None
    return -float(told.remaining_capacity) * _WH_J / 1e3


class WindowsBatteryMeter:
    """What has gone out of the battery, from ``CallNtPowerInformation``."""

    source = "whole machine, from the battery"
    least_j = LEAST_BATTERY_J

    def joules(self) -> float | None:
        """As :func:`battery_joules` has it."""
        if sys.platform == "win32":
            state, system_battery_state = _BatteryState(), 5
            status = ctypes.windll.powrprof.CallNtPowerInformation(
                system_battery_state, None, 0, ctypes.byref(state), ctypes.sizeof(state)
            )
            return battery_joules(bytes(state)) if status == 0 else None
        return None


@cache
def meters() -> Sequence[Meter]:
    """The meters that this system could have, the most exact first."""
    if sys.platform == "win32":
        return (WindowsMeter(), WindowsBatteryMeter())
    return (PackageMeter(), LinuxBatteryMeter()) if sys.platform == "linux" else ()


@dataclass(frozen=True, slots=True)
class Used:
    """Energy that something took, and what it was measured on."""

    joules: float
    source: str


class EnergySpan:
    """The energy between its making and :meth:`end`, by the first meter that tells at both."""

    def __init__(self, wanted: Sequence[Meter] | None = None) -> None:
        self._meters = meters() if wanted is None else wanted
        self._started = [(meter, start) for meter in self._meters if (start := meter.joules()) is not None]

    def end(self) -> Used | None:
        """Return what was used; ``None`` where no meter tells, or less was used than it can tell apart."""
        for meter, start in self._started:
            now = meter.joules()
            if now is not None and now - start > meter.least_j:
                return Used(now - start, meter.source)
        return None


def tokens_per_wh(n_tokens: int, energy_j: float | None) -> float | None:
    """Tokens ÷ watt-hours."""
    return n_tokens / (energy_j / _WH_J) if energy_j and n_tokens else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:  # most kernels let only the administrator read a package's energy
        return ""


def _number(path: Path) -> int | None:
    words = _text(path)
    return int(words) if words.isdecimal() else None
