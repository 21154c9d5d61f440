from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

import pytest

from app.metrics.energy import (
    EnergySpan,
    LinuxBatteryMeter,
    PackageMeter,
    Used,
    _BatteryState,
    battery_joules,
    meters,
    tokens_per_wh,
)


def zone(root, name, energy_uj, most_uj=1_000_000_000):
    folder = root / name
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "energy_uj").write_text(f"{energy_uj}\n")
    (folder / "max_energy_range_uj").write_text(f"{most_uj}\n")
    return folder


def test_packages_are_added_up_without_what_is_inside_of_them(tmp_path):
    for name in ("intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0"):
        zone(tmp_path, name, 500)
    meter = PackageMeter(tmp_path)
    span = EnergySpan([meter])
    zone(tmp_path, "intel-rapl:0", 2_000_500)
    zone(tmp_path, "intel-rapl:1", 3_000_500)
    zone(tmp_path, "intel-rapl:0:0", 9_000_500)
    assert span.end() == Used(5.0, "processor package")


def test_a_counter_that_wrapped_around_goes_on(tmp_path):
    zone(tmp_path, "intel-rapl:0", 999_000_000)
    span = EnergySpan([PackageMeter(tmp_path)])
    zone(tmp_path, "intel-rapl:0", 4_000_000)
    assert span.end().joules == pytest.approx(5.0)


def battery(root, energy_uwh, status="Discharging"):
    folder = root / "BAT0"
    folder.mkdir(exist_ok=True)
    (folder / "energy_now").write_text(f"{energy_uwh}\n")
    (folder / "status").write_text(f"{status}\n")
    (root / "AC").mkdir(exist_ok=True)


def test_a_battery_tells_what_has_gone_out_of_it(tmp_path):
    battery(tmp_path, 50_000_000)
    span = EnergySpan([LinuxBatteryMeter(tmp_path)])
    battery(tmp_path, 49_800_000)
    assert span.end().joules == pytest.approx(720.0)


def test_less_than_a_battery_can_tell_apart_is_not_told(tmp_path):
    battery(tmp_path, 50_000_000)
    span = EnergySpan([LinuxBatteryMeter(tmp_path)])
    battery(tmp_path, 49_990_000)
    assert span.end() is None


@pytest.mark.parametrize("status", ["Charging", "Full", "Not charging"])
def test_on_mains_a_battery_tells_nothing(tmp_path, status):
    battery(tmp_path, 50_000_000, status)
    assert LinuxBatteryMeter(tmp_path).joules() is None


def test_plugging_in_on_the_way_leaves_no_figure(tmp_path):
    battery(tmp_path, 50_000_000)
    span = EnergySpan([LinuxBatteryMeter(tmp_path)])
    battery(tmp_path, 40_000_000, "Charging")
    assert span.end() is None


def test_a_machine_without_meters_has_no_figure(tmp_path):
    span = EnergySpan([PackageMeter(tmp_path / "none"), LinuxBatteryMeter(tmp_path / "none")])
    assert span.end() is None
    assert EnergySpan([]).end() is None
    for meter in meters():
        assert meter.joules() is None or isinstance(meter.joules(), float)


@dataclass
class Scripted:
    """A meter that tells these values, one after the other."""

    source: str
    told: list[float | None]
    least_j: float = field(default=0.0)

    def joules(self):
        return self.told.pop(0)


def test_the_first_meter_that_tells_at_both_ends_is_taken():
    silent, broken, good = Scripted("a", [None]), Scripted("b", [1.0, None]), Scripted("c", [10.0, 12.5])
    assert EnergySpan([silent, broken, good]).end() == Used(2.5, "c")


@pytest.mark.parametrize(
    ("fields", "joules"),
    [
        ({"battery_present": 1, "discharging": 1, "remaining_capacity": 40_000}, -144_000.0),
        ({"battery_present": 1, "ac_on_line": 1, "remaining_capacity": 40_000}, None),
        ({"discharging": 1}, None),
    ],
)
def test_the_battery_state_of_windows_is_read(fields, joules):
    state = _BatteryState(**fields)
    assert ctypes.sizeof(state) == 32
    assert battery_joules(bytes(state)) == joules


def test_tokens_per_watt_hour():
    assert tokens_per_wh(100, 3600.0) == 100.0
    assert tokens_per_wh(100, None) is None
    assert tokens_per_wh(0, 5.0) is None
