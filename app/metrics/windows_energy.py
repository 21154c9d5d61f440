"""Windows' energy meters (EMI): what the hardware counts for the processor or for the whole machine.

A driver offers a meter as a device interface; requests to it return its version, the names of its channels, and what
each has counted, in picowatt-hours (``emi.h``; Microsoft's *Energy Metering Interface*). Which channels a machine has
is its maker's choice. Those of Intel and AMD packages are named ``RAPL_Package0_PKG``; Snapdragon X counts ``SYS`` or
its CPU clusters and GPU. Untried: none of this has run on Windows yet.
"""

from __future__ import annotations

import ctypes
import logging
import re
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

GET_VERSION, GET_METADATA_SIZE, GET_METADATA, GET_MEASUREMENT = 0x224000, 0x224004, 0x224008, 0x22400C
"""``CTL_CODE(FILE_DEVICE_UNKNOWN, 0 to 3, METHOD_BUFFERED, FILE_READ_ACCESS)``."""

INTERFACE = (0x45BD8344, 0x7ED6, 0x49CF, bytes((0xA4, 0x40, 0xC2, 0x76, 0xC9, 0x33, 0xB0, 0x53)))
"""``GUID_DEVICE_ENERGY_METER``."""

_V1, _V2 = 1, 2
_NAMES_BYTES = 2 * 16 * 2  # maker and model, 16 UTF-16 units each
_MOST_BYTES, _MOST_CHANNELS = 64 * 1024, 256
_PICOWATT_HOURS = 0
_J_PER_PICOWATT_HOUR = 3600e-12

_WHOLE = re.compile(r"SYS(TEM)?", re.IGNORECASE)
_PACKAGE = re.compile(r".*_PKG|.*PACKAGE\d*", re.IGNORECASE)
_PARTS = re.compile(r"CPU_CLUSTER_?\d+|GPU|NPU", re.IGNORECASE)
_CHOICES = ((_WHOLE, "whole machine"), (_PACKAGE, "processor package"), (_PARTS, "processor, its counted parts"))

logger = logging.getLogger(__name__)


class MeterDevice(Protocol):
    """An open meter of the system."""

    def ask(self, code: int, n_bytes: int) -> bytes | None:
        """Return the answer to a request, at most so long; ``None`` where it gives none."""


class WindowsMeter:
    """The energy meters of the system, as one: the whole machine if that is counted, else the processor."""

    least_j = 0.0

    def __init__(self, devices: Sequence[MeterDevice] | None = None) -> None:
        self._devices = open_devices() if devices is None else devices
        self._channels = [channels_of(device) for device in self._devices]
        self._wanted, self.source = _choice([name for names in self._channels for name in names])

    def joules(self) -> float | None:
        """Add up the chosen channels; ``None`` where there are none, or one does not answer."""
        if self._wanted is None:
            return None
        counted = 0
        for device, names in zip(self._devices, self._channels, strict=True):
            numbers = [n for n, name in enumerate(names) if self._wanted.fullmatch(name)]
            if numbers:
                counts = measured(device, len(names))
                if counts is None:
                    return None
                counted += sum(counts[n] for n in numbers)
        return counted * _J_PER_PICOWATT_HOUR


def _choice(names: Sequence[str]) -> tuple[re.Pattern[str] | None, str]:
    """Return which channels to add up; never such that one counts what another does, too."""
    for pattern, source in _CHOICES:
        if any(pattern.fullmatch(name) for name in names):
            return pattern, source
    return None, ""


def channels_of(device: MeterDevice) -> list[str]:
    """Return the names of a meter's channels in their order; none if it is of a kind that is not known."""
    version = device.ask(GET_VERSION, 2)
    size = device.ask(GET_METADATA_SIZE, 4)
    if version is None or size is None or len(version) != struct.calcsize("<H") or len(size) != struct.calcsize("<I"):
        return []
    n_bytes = struct.unpack("<I", size)[0]
    told = device.ask(GET_METADATA, n_bytes) if 0 < n_bytes <= _MOST_BYTES else None
    if told is None:
        return []
    try:
        return _channels(struct.unpack("<H", version)[0], told)
    except (struct.error, UnicodeDecodeError, ValueError) as fault:
        logger.info("an energy meter's description was not understood: %s", fault)
        return []


def _channels(version: int, told: bytes) -> list[str]:
    """Read ``EMI_METADATA_V1`` or ``EMI_METADATA_V2``.

    Raises:
        ValueError: it counts in another unit, or says more than it holds.
        struct.error: it ends too early.
    """
    if version == _V1:
        unit, n_name = struct.unpack_from("<i", told)[0], struct.unpack_from("<H", told, 4 + _NAMES_BYTES + 2)[0]
        return [_name(unit, told, 4 + _NAMES_BYTES + 4, n_name)]
    if version != _V2:
        raise ValueError(f"version {version}")
    n_channels, at, names = struct.unpack_from("<H", told, _NAMES_BYTES + 2)[0], _NAMES_BYTES + 4, []
    if n_channels > _MOST_CHANNELS:
        raise ValueError(f"{n_channels} channels")
    for _ in range(n_channels):
        unit, n_name = struct.unpack_from("<iH", told, at)
        names.append(_name(unit, told, at + 6, n_name))
        at += 6 + n_name  # the next one follows without a gap (EMI_CHANNEL_V2_NEXT_CHANNEL)
    return names


def _name(unit: int, told: bytes, at: int, n_bytes: int) -> str:
    if unit != _PICOWATT_HOURS or at + n_bytes > len(told):
        raise ValueError(f"unit {unit}, a name of {n_bytes} bytes at {at} of {len(told)}")
    return told[at : at + n_bytes].decode("utf-16-le").rstrip("\0")


def measured(device: MeterDevice, n_channels: int) -> list[int] | None:
    """Return what each channel has counted, in picowatt-hours."""
    told = device.ask(GET_MEASUREMENT, 16 * n_channels)
    if told is None or len(told) != 16 * n_channels:
        return None
    return [struct.unpack_from("<Q", told, 16 * n)[0] for n in range(n_channels)]


if sys.platform == "win32":
    from ctypes import wintypes

    _GENERIC_READ, _SHARE, _OPEN_EXISTING = 0x80000000, 0x3, 3
    _PRESENT = 0  # CM_GET_DEVICE_INTERFACE_LIST_PRESENT

    class _Guid(ctypes.Structure):
        _fields_ = (("a", ctypes.c_uint32), ("b", ctypes.c_uint16), ("c", ctypes.c_uint16), ("d", ctypes.c_ubyte * 8))

    class _Device:
        """A meter behind a handle, open as long as the program runs."""

        def __init__(self, path: str) -> None:
            self._kernel = ctypes.WinDLL("kernel32", use_last_error=True)
            self._kernel.CreateFileW.restype = wintypes.HANDLE
            self._handle = self._kernel.CreateFileW(path, _GENERIC_READ, _SHARE, None, _OPEN_EXISTING, 0, None)
            if self._handle in (None, wintypes.HANDLE(-1).value):
                raise ctypes.WinError(ctypes.get_last_error())

        def ask(self, code: int, n_bytes: int) -> bytes | None:
            """Send a request that has no input."""
            answer, n_told = ctypes.create_string_buffer(n_bytes), wintypes.DWORD()
            told = self._kernel.DeviceIoControl(
                wintypes.HANDLE(self._handle), code, None, 0, answer, n_bytes, ctypes.byref(n_told), None
            )
            return answer.raw[: n_told.value] if told else None


def open_devices() -> list[MeterDevice]:
    """Open the meters of this system; those that refuse are left out."""
    found: list[MeterDevice] = []
    if sys.platform == "win32":
        a, b, c, d = INTERFACE
        guid, n_units = _Guid(a, b, c, (ctypes.c_ubyte * 8)(*d)), wintypes.ULONG()
        manager = ctypes.WinDLL("cfgmgr32")
        if manager.CM_Get_Device_Interface_List_SizeW(ctypes.byref(n_units), ctypes.byref(guid), None, _PRESENT):
            return found
        names = ctypes.create_unicode_buffer(n_units.value)
        if manager.CM_Get_Device_Interface_ListW(ctypes.byref(guid), None, names, n_units, _PRESENT):
            return found
        for path in filter(None, "".join(names[:]).split("\0")):
            with suppress(OSError):
                found.append(_Device(path))
    return found
