"""Windows' energy meters, from the bytes that their drivers answer with (``emi.h``)."""

from __future__ import annotations

import struct

import pytest

from app.metrics.energy import EnergySpan
from app.metrics.windows_energy import (
    GET_MEASUREMENT,
    GET_METADATA,
    GET_METADATA_SIZE,
    GET_VERSION,
    WindowsMeter,
    channels_of,
    open_devices,
)

NAMES = "maker".encode("utf-16-le").ljust(32, b"\0") + "model".encode("utf-16-le").ljust(32, b"\0")
WH = 10**12  # picowatt-hours


def text(words):
    return (words + "\0").encode("utf-16-le")


def v2(*channels, unit=0, n_channels=None):
    body = b"".join(struct.pack("<iH", unit, len(text(name))) + text(name) for name in channels)
    return NAMES + struct.pack("<HH", 1, len(channels) if n_channels is None else n_channels) + body


def v1(name, unit=0):
    return struct.pack("<i", unit) + NAMES + struct.pack("<HH", 1, len(text(name))) + text(name)


class Device:
    def __init__(self, version, metadata, counts):
        self.answers = {
            GET_VERSION: struct.pack("<H", version),
            GET_METADATA_SIZE: struct.pack("<I", len(metadata)),
            GET_METADATA: metadata,
        }
        self.counts = list(counts)

    def ask(self, code, n_bytes):
        if code == GET_MEASUREMENT:
            return b"".join(struct.pack("<QQ", count, 7) for count in self.counts)[:n_bytes]
        answer = self.answers.get(code)
        return answer if answer is None or len(answer) <= n_bytes else None


def test_the_package_is_counted_once_not_its_parts_again():
    device = Device(2, v2("RAPL_Package0_PKG", "RAPL_Package0_PP0", "RAPL_Package0_DRAM"), [WH, WH // 2, WH // 4])
    meter = WindowsMeter([device])
    span = EnergySpan([meter])
    device.counts = [WH + WH // 100, WH, WH]
    used = span.end()
    assert used is not None
    assert used.joules == pytest.approx(36.0)
    assert used.source == "processor package"


def test_the_whole_machine_comes_first():
    device = Device(2, v2("CPU_CLUSTER_0", "CPU_CLUSTER_1", "GPU", "SYS"), [1 * WH, 2 * WH, 3 * WH, 10 * WH])
    meter = WindowsMeter([device])
    assert meter.joules() == pytest.approx(36_000)
    assert meter.source == "whole machine"


def test_clusters_of_several_meters_add_up():
    devices = [Device(1, v1("CPU_CLUSTER_0"), [WH]), Device(2, v2("CPU_CLUSTER_1", "Display"), [2 * WH, 50 * WH])]
    meter = WindowsMeter(devices)
    assert meter.joules() == pytest.approx(3 * 3600)
    assert meter.source == "processor, its counted parts"


@pytest.mark.parametrize(
    "device",
    [
        Device(3, v2("SYS"), [WH]),
        Device(2, v2("SYS", unit=5), [WH]),
        Device(2, v2("SYS", n_channels=40), [WH]),
        Device(2, v2("SYS", n_channels=60_000), [WH]),
        Device(2, v2("SYS")[:-4], [WH]),
        Device(2, b"", [WH]),
        Device(1, NAMES[:10], [WH]),
        Device(2, NAMES + struct.pack("<HH", 1, 1) + struct.pack("<iH", 0, 2) + b"\x00\xd8", [WH]),
    ],
)
def test_what_is_not_understood_tells_nothing(device):
    assert channels_of(device) == []
    assert WindowsMeter([device]).joules() is None


def test_a_meter_that_falls_silent_tells_nothing():
    device = Device(2, v2("SYS"), [WH])
    meter = WindowsMeter([device])
    device.counts = []
    assert meter.joules() is None


def test_unknown_channels_are_not_guessed_at():
    assert WindowsMeter([Device(2, v2("PSU_USB", "Display"), [WH, WH])]).joules() is None


def test_elsewhere_there_are_none():
    assert open_devices() == [] or WindowsMeter().source
