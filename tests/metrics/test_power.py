"""How the machine is powered is a condition of every verdict: battery, mains and power modes do not mix."""

from __future__ import annotations

import json
import sys

import msgspec
import pytest

from app.errors import UsageError
from app.metrics.baseline import BaselineStore, differences, record
from app.metrics.energy import LinuxBatteryMeter
from app.metrics.export import metrics_json, read_json, write_json
from app.metrics.power import Power, SystemPower, power_change
from app.metrics.recorder import RunRecorder, SessionLog
from app.metrics.tables import write_runs_csv
from app.metrics.verdict import usable
from tests.metrics.sessions import GREEDY, HELLO, NGRAM, Powered, events, loaded, plain_steps, run_of, session

MAINS, BATTERY = Power(on_battery=False, power_mode="balanced"), Power(on_battery=True, power_mode="balanced")
SAVING, UNKNOWN = Power(on_battery=False, power_mode="low-power"), Power()


def plain(log, power, n=6):
    return [log.add(run_of(plain_steps(40, 50.0 + i % 3), power=power)) for i in range(n)]


def drafted(log, power, n=6):
    return [log.add(run_of(plain_steps(40, 80.0), speculation=NGRAM, power=power)) for _ in range(n)]


def test_an_answer_knows_how_the_machine_was_powered(tmp_path):
    log = session(tmp_path)
    (run,) = plain(log, BATTERY, 1)
    assert (run.surroundings.on_battery, run.surroundings.power_mode) == (True, "balanced")
    assert (run.conditions.on_battery, run.conditions.power_mode) == (True, "balanced")


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (MAINS, BATTERY, "it ran on mains power, not on battery"),
        (BATTERY, MAINS, "it ran on battery, not on mains power"),
        (MAINS, SAVING, "the power mode was balanced, not low-power"),
        (SAVING, MAINS, "the power mode was low-power, not balanced"),
    ],
)
def test_differently_powered_answers_are_no_pair_and_it_is_said_why(tmp_path, one, other, reason):
    log = session(tmp_path)
    before = plain(log, one)
    after = drafted(log, other)

    (comparison,) = log.comparisons()
    assert (comparison.n_pairs, comparison.verdict) == (0, "cannot tell")
    assert differences(before[0].conditions, after[0].conditions) == [reason]
    assert log.live_baseline(after[0]) is None
    (baseline,) = record(before, prompt_set="x")
    assert differences(baseline, after[0].conditions) == [reason]


@pytest.mark.parametrize("other", [MAINS, BATTERY, SAVING])
@pytest.mark.parametrize("is_plain_known", [True, False])
def test_what_is_not_known_refuses_nothing(tmp_path, other, is_plain_known):
    log = session(tmp_path)
    plain(log, other if is_plain_known else UNKNOWN)
    drafted(log, UNKNOWN if is_plain_known else other)
    assert log.comparisons()[0].n_pairs == 6


def test_a_recorded_baseline_of_another_supply_is_no_half_of_pairs(tmp_path):
    log = session(tmp_path, power=MAINS)
    (log.baseline,) = record(plain(log, MAINS), prompt_set="x")
    log.begin_anew()
    drafted(log, BATTERY)
    assert log.comparisons()[0].n_pairs == 0
    assert log.current_baseline() is None, "nor is it the band behind the speed"
    drafted(log, MAINS)
    on_battery, on_mains = log.comparisons()
    assert (on_battery.n_pairs, on_mains.n_pairs) == (0, 6)
    assert (on_battery.conditions.on_battery, on_mains.conditions.on_battery) == (True, False)


def test_the_baseline_of_the_supply_is_taken_up_when_it_changes(tmp_path):
    log = session(tmp_path, power=MAINS)
    for power in (MAINS, BATTERY):
        (baseline,) = record(plain(log, power), prompt_set=str(power.on_battery))
        log.baselines.save(baseline)
    later = session(tmp_path, power=MAINS)
    assert later.baseline.on_battery is False
    drafted(later, BATTERY)
    assert later.baseline.on_battery is True
    drafted(later, MAINS)
    assert [c.n_pairs for c in later.comparisons()] == [6, 6]
    assert later.baseline.on_battery is False


def test_a_recording_on_both_is_averaged_of_neither(tmp_path):
    log = session(tmp_path)
    with pytest.raises(UsageError, match="ran on battery, not on mains power"):
        record([*plain(log, MAINS, 3), *plain(log, BATTERY, 3)], prompt_set="x")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (MAINS, BATTERY, "the power supply changed from mains to battery meanwhile"),
        (BATTERY, MAINS, "the power supply changed from battery to mains meanwhile"),
        (MAINS, SAVING, "the power mode changed from balanced to low-power meanwhile"),
        (MAINS, MAINS, ""),
        (UNKNOWN, BATTERY, ""),
        (SAVING, UNKNOWN, ""),
    ],
)
def test_an_answer_during_which_the_power_changed_counts_nowhere(before, after, words):
    assert power_change(before, after) == words
    recorder = RunRecorder(label="", speculation=NGRAM, sampling=GREEDY, power=Powered(before, after))
    for event in events(plain_steps(40, 50.0), engaged=True):
        recorder.on_event(event)
    run = recorder.finish()
    assert run.excluded == words
    assert usable(run) == (not words)


def test_it_is_exported_and_verdicts_recompute_from_it(tmp_path):
    log = session(tmp_path)
    plain(log, MAINS)
    drafted(log, BATTERY)
    write_json(log.to_metrics(), tmp_path / "m.json")
    found = read_json(tmp_path / "m.json")
    assert found == log.to_metrics()
    assert [run.conditions.on_battery for run in found.runs] == [False] * 6 + [True] * 6
    (comparison,) = found.comparisons
    assert (comparison.conditions.on_battery, comparison.conditions.power_mode) == (True, "balanced")
    write_runs_csv(found.runs, tmp_path / "m.csv")
    header, first, *_, last = (tmp_path / "m.csv").read_text(encoding="utf-8").splitlines()
    place = header.split(",").index("on_battery")
    assert (first.split(",")[place], last.split(",")[place]) == ("False", "True")


def test_exports_and_baselines_of_older_versions_still_open(tmp_path):
    log = session(tmp_path)
    (log.baseline,) = record(plain(log, UNKNOWN), prompt_set="x")
    drafted(log, UNKNOWN)
    document = json.loads(b"".join(metrics_json(log.to_metrics())))
    del document["baselines"]
    for comparison in document["comparisons"]:
        del comparison["conditions"], comparison["draft_min"], comparison["p_min"]
    for run in document["runs"]:
        del run["surroundings"], run["sampler"], run["draft_min"], run["p_min"]
    for conditions in (*(run["conditions"] for run in document["runs"]), document["baseline"]):
        del conditions["on_battery"], conditions["power_mode"], conditions["sampler"]
    for sample in document["baseline"]["samples"]:
        del sample["steps"]
    (tmp_path / "old.json").write_text(json.dumps(document), encoding="utf-8")
    old = read_json(tmp_path / "old.json")
    assert [run.decode_tps for run in old.runs] == [run.decode_tps for run in log.runs]
    assert (old.runs[0].surroundings, old.runs[0].conditions.on_battery) == (None, None)
    assert (old.baseline.samples[0].steps, old.comparisons[0].conditions) == ((), None)
    kept = tmp_path / "baselines" / f"{old.baseline.id}.json"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps(document["baseline"]), encoding="utf-8")
    (found,) = session(tmp_path).baselines.all()
    later = session(tmp_path)
    later.begin_anew()
    drafted(later, BATTERY)
    assert later.comparisons()[0].n_pairs == 6, "what it was recorded on is not known, and refuses nothing"
    assert msgspec.structs.replace(found, samples=()) == msgspec.structs.replace(old.baseline, samples=())


def test_this_machine_can_be_asked():
    told = SystemPower().read()
    assert told.on_battery in (None, True, False)
    assert isinstance(told.power_mode, str)


LAPTOP = {"AC": {"type": "Mains", "online": "1"}, "BAT0": {"type": "Battery", "status": "Full"}}
USB = {"type": "USB", "online": "1"}
AT_LIMIT = {"type": "Battery", "status": "Not charging"}
MOUSE = {"hidpp_battery_0": {"type": "Battery", "scope": "Device", "status": "Discharging", "capacity": "80"}}


def supplies(folder, told):
    for name, files in told.items():
        (folder / name).mkdir()
        for field, text in files.items():
            (folder / name / field).write_text(text + "\n", encoding="ascii")
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's files")
@pytest.mark.parametrize(
    ("told", "on_battery"),
    [
        ({}, None),
        (MOUSE, None),
        ({"AC": LAPTOP["AC"], **MOUSE}, None),
        (LAPTOP, False),
        (LAPTOP | MOUSE, False),
        (LAPTOP | {"AC": {"type": "Mains", "online": "0"}, "BAT0": {"type": "Battery", "status": "Discharging"}}, True),
        ({"BAT0": {"type": "Battery", "status": "Discharging"}} | MOUSE, True),
        ({"BAT0": {"type": "Battery", "scope": "System", "status": "Charging"}}, False),
        ({"BAT0": {"type": "Battery", "status": "Not charging"}}, None),
        ({"BAT0": {"type": "Battery"}}, None),
        (
            {"AC": {"type": "Mains", "online": "0"}, "USB": USB, "BAT0": {"type": "Battery", "status": "Not charging"}},
            False,
        ),
        ({"USB": USB, "BAT0": {"type": "Battery", "status": "Discharging"}}, True),
        ({"USB": USB | {"scope": "Device"}, "BAT0": {"type": "Battery", "status": "Not charging"}}, None),
    ],
)
def test_the_machines_own_supplies_count_and_those_of_a_mouse_do_not(tmp_path, told, on_battery):
    assert SystemPower(supplies(tmp_path, told)).read().on_battery is on_battery


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's files")
@pytest.mark.parametrize("name", ["none", "a file", "BAT0"])
def test_where_nothing_can_be_read_the_supply_is_not_known_and_answers_come(tmp_path, name):
    """A container has no such folder, a sandbox refuses to list it, a driver's files cannot be read."""
    (tmp_path / "a file").touch()
    (tmp_path / "BAT0" / "BAT0" / "type").mkdir(parents=True)
    power = SystemPower(tmp_path / name)
    assert power.read().on_battery is None
    log = SessionLog(BaselineStore(tmp_path / "baselines"), power)
    log.set_loaded(HELLO, loaded(tmp_path / "target.gguf"))
    recorder = RunRecorder(label="", speculation=NGRAM, sampling=GREEDY, power=power)
    for event in events(plain_steps(40, 50.0), engaged=True):
        recorder.on_event(event)
    assert usable(log.add(recorder.finish()))
    assert LinuxBatteryMeter(tmp_path / name).joules() is None
