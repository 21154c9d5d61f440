"""The page about devices and runtimes, and what is offered when a device fails."""

from __future__ import annotations

import pytest

from app.engine.probe import Device
from app.errors import EngineDiedError
from app.host.device_book import Standing
from app.host.device_trial import DeviceTrial, PlaceSpeed
from app.host.runtimes import BUILT_IN, Runtimes
from app.host.survey import DeviceReport
from app.ui.devices_dialog import DevicesDialog
from app.ui.engine_control import RESTART, USE_PROCESSOR
from tests.fixtures import packs

pytestmark = [pytest.mark.linux, pytest.mark.qt_log_ignore("does not support propagateSizeHints")]


def report(kind, state, reason="", backend="x", memory=1 << 30) -> DeviceReport:
    return DeviceReport(Device(kind.upper(), kind, "what it is", backend, memory, memory), Standing(state, reason))


def test_every_state_has_words(window):
    dialog = DevicesDialog(window)
    reports = [
        report("cpu", "untried"),
        report("gpu", "works", backend="RPC"),
        report("npu", "wrong", "With a tiny model it chose token 3.", memory=0),
        report("igpu", "failing", "It ended."),
        report("accelerator", "untried"),
    ]
    dialog.show_devices(reports, "Snapdragon X Elite", ["Get the driver."])
    assert dialog.states() == {
        "CPU": "always there",
        "GPU": "works: a tiny model answered rightly",
        "NPU": "does not work: With a tiny model it chose token 3.",
        "IGPU": "failed while it worked: It ended.",
        "ACCELERATOR": "not tried yet",
    }
    assert dialog.advice.text() == "Get the driver."
    assert "neither encrypted" in dialog.list.topLevelItem(1).text(4)
    assert dialog.list.topLevelItem(2).text(3) == "unknown"
    for part in (dialog.list, dialog.target, dialog.draft, dialog.runtime, dialog.progress):
        assert part.accessibleName()
    dialog.deleteLater()


def test_the_page_says_what_is_here_and_a_runtime_is_added_and_removed(program, tmp_path):
    folder = packs.pack(tmp_path / "mine")

    async def story():
        devices = program.controller.devices
        devices.open()
        await program.until(lambda: devices.dialog.states() and not devices.is_busy)
        assert devices.dialog.states() == {"CPU": "always there"}
        assert devices.dialog.runtime.currentText() == BUILT_IN
        assert not devices.dialog.remove_button.isEnabled()
        devices.add(folder)
        await program.until(lambda: devices.dialog.progress.isVisibleTo(devices.dialog))
        await program.until(lambda: len(program.engines) == 2 and not devices.is_busy, 20)
        await program.controller.engine.settled()
        await program.until(lambda: not devices.is_busy)
        assert devices.dialog.runtime.currentText() == "mine"
        assert Runtimes().in_use().name == "mine"
        devices.remove()
        await program.until(lambda: len(program.engines) == 3 and not devices.is_busy, 20)
        assert Runtimes().in_use().name == BUILT_IN
        await program.controller.engine.settled()

    program.run(story, limit_s=60)


def test_a_hostile_runtime_is_refused_in_words(program, tmp_path):
    folder = packs.with_llama(tmp_path / "bad", packs.ABORTS, is_whole=False)

    async def story():
        devices = program.controller.devices
        devices.open()
        await program.until(lambda: devices.dialog.states() and not devices.is_busy)
        devices.add(folder)
        await program.until(lambda: not devices.is_busy, 20)
        assert "SIGABRT" in devices.dialog.busy.text()
        assert devices.dialog.runtime.currentText() == BUILT_IN
        assert len(program.engines) == 1

    program.run(story, limit_s=60)


def test_a_device_that_is_not_here_leaves_all_as_it_was(program):
    async def story():
        devices = program.controller.devices
        devices.open()
        await program.until(lambda: devices.dialog.states() and not devices.is_busy)
        devices.dialog.target_placed.emit("gpu")
        await program.controller.engine.settled()
        assert "No GPU was found here" in program.window.notice.words
        assert program.controller.choices.settings.compute == "cpu"
        assert program.host.state.loaded is not None

    program.run(story, limit_s=60)


def test_what_was_measured_is_said_and_recommended(window):
    dialog = DevicesDialog(window)
    speeds = (PlaceSpeed("RPC0", 20.0, 100.0, 3), PlaceSpeed("cpu", 10.0, 90.0, 3), PlaceSpeed("HTP0", fault="broke"))
    dialog.show_trial(DeviceTrial("starter", speeds, "RPC0"))
    assert dialog.measured.text() == (
        "Measured with starter: RPC0 20.0 tok/s; the processor (CPU) 10.0 tok/s; HTP0 broke. Recommended: RPC0."
    )
    dialog.deleteLater()


def test_a_measurement_ends_with_the_page(program):
    async def story():
        devices = program.controller.devices
        devices.open()
        await program.until(lambda: devices.dialog.states() and not devices.is_busy)
        devices.dialog.measure_button.click()
        await program.until(lambda: "Measuring cpu" in devices.dialog.busy.text())
        assert not devices.dialog.measure_button.isEnabled()
        devices.dialog.reject()
        await program.until(lambda: not devices.is_busy)

    program.run(story, limit_s=60)


def test_when_a_device_fails_one_click_goes_on_with_the_processor(program):
    async def story():
        engine, choices = program.controller.engine, program.controller.choices
        engine.say_died(EngineDiedError("It died."))
        assert program.window.notice._action.text() == RESTART
        choices.change(compute="gpu")
        engine.say_died(EngineDiedError("It died."))
        assert program.window.notice._action.text() == USE_PROCESSOR
        program.window.notice._action.click()
        await engine.settled()
        assert choices.settings.compute == "cpu"
        assert program.host.state.loaded is not None
        assert len(program.engines) == 2

    program.run(story)
