"""The page about devices and runtimes, and what is offered when a device fails."""

from __future__ import annotations

import asyncio
import platform

import msgspec
import pytest
from PySide6.QtWidgets import QLineEdit, QListWidget, QPushButton, QTreeWidget

from app.engine.probe import Device
from app.errors import EngineDiedError
from app.host.device_book import Standing
from app.host.device_trial import DeviceTrial, PlaceSpeed
from app.host.packs import BUILT_IN
from app.host.runtimes import Runtimes
from app.host.survey import DeviceReport
from app.ui.devices_dialog import DevicesDialog
from app.ui.dialog_size import FRAME
from app.ui.engine_control import RESTART, USE_PROCESSOR
from tests.fair_time import FairWatch
from tests.fixtures import packs
from tests.hub_server import HubServer
from tests.release_server import ReleaseServer, packed

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
        await program.until(lambda: len(program.engines) == 2 and not devices.is_busy)
        await program.controller.engine.settled()
        await program.until(lambda: not devices.is_busy)
        assert devices.dialog.runtime.currentText() == "mine"
        assert Runtimes().in_use().name == "mine"
        devices.remove()
        await program.until(lambda: len(program.engines) == 3 and not devices.is_busy)
        assert Runtimes().in_use().name == BUILT_IN
        await program.controller.engine.settled()

    program.run(story)


def test_a_hostile_runtime_is_refused_in_words(program, tmp_path):
    folder = packs.with_llama(tmp_path / "bad", packs.ABORTS, is_whole=False)

    async def story():
        devices = program.controller.devices
        devices.open()
        await program.until(lambda: devices.dialog.states() and not devices.is_busy)
        devices.add(folder)
        await program.until(lambda: not devices.is_busy)
        assert "SIGABRT" in devices.dialog.busy.text()
        assert devices.dialog.runtime.currentText() == BUILT_IN
        assert len(program.engines) == 1

    program.run(story)


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

    program.run(story)


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

    program.run(story)


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


# --- official builds ----------------------------------------------------------------------------------


@pytest.fixture
def release(monkeypatch, tmp_path):
    """Offer one build on a server of this machine."""
    import huggingface_hub

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    folder = tmp_path / "server"
    folder.mkdir()
    with HubServer() as hub:
        server = ReleaseServer(hub, folder)
        archive = packed(packs.pack(tmp_path / "pack"), folder / "llama-b1-bin-test.tar.gz")
        build = server.publish(archive)
        here = msgspec.structs.replace(build, system=platform.system(), machine=machine())
        monkeypatch.setenv("SLIPSTREAM_RUNTIMES", str(server.mirror(here)))
        yield server
        huggingface_hub.close_session()


def machine() -> str:
    return {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]


def test_an_official_build_is_fetched_stopped_gone_on_with_and_used(program, release):
    release.hub.rate_bytes_s = 4e6

    async def story():
        devices = program.controller.devices
        devices.open()
        await program.until(lambda: devices.dialog.states() and not devices.is_busy)
        (action,) = devices.dialog.fetch_button.menu().actions()
        assert action.text() == "CPU: test"
        action.trigger()
        await program.until(lambda: "Getting llama-b1-bin-test.tar.gz" in devices.dialog.busy.text())
        await program.until(lambda: devices.dialog.progress.value() > 0)
        devices.dialog.cancel_button.click()
        await program.until(lambda: not devices.is_busy)
        assert not devices.dialog.progress.isVisibleTo(devices.dialog)
        assert Runtimes().shelf().packs == ()
        release.hub.rate_bytes_s = None
        action.trigger()
        await program.until(lambda: len(program.engines) == 2 and not devices.is_busy)
        assert max(seen.first for seen in release.hub.seen) > 0  # it went on where it was
        assert devices.dialog.runtime.currentText() == "llama-b1-bin-test"
        await program.controller.engine.settled()
        await program.until(lambda: not devices.is_busy)

    program.run(story)


def test_a_build_that_cannot_be_had_is_said_in_words(program, release):
    release.tell_ref({"object": {"sha": "f" * 40}})

    async def story():
        devices = program.controller.devices
        devices.open()
        await program.until(lambda: devices.dialog.states() and not devices.is_busy)
        devices.fetch("test")
        await program.until(lambda: "is of commit fffffff" in devices.dialog.busy.text())
        assert devices.dialog.runtime.currentText() == BUILT_IN
        assert devices.dialog.fetch_button.isEnabled()

    program.run(story)


# --- other computers ----------------------------------------------------------------------------------


def test_a_server_is_added_and_removed_and_one_elsewhere_only_after_asking(program):
    async def story():
        devices = program.controller.devices
        devices.open()
        await program.until(lambda: devices.dialog.states() and not devices.is_busy)
        panel = devices.dialog.servers
        assert "neither encrypted nor authenticated" in panel.danger.text()
        assert panel.list.count() == 0
        assert not panel.add_button.isEnabled()
        panel.address.setText("not an address")
        panel.on_add()
        assert "is no address" in devices.dialog.busy.text()
        panel.address.setText("127.0.0.1:50052")
        panel.on_add()
        await program.until(lambda: panel.list.count() == 1 and not devices.is_busy)
        assert devices.asking is None
        panel.address.setText("lab.example:50052")
        panel.on_add()
        assert "lab.example:50052" in devices.asking.text()
        assert "neither encrypted nor authenticated" in devices.asking.informativeText()
        devices.asking.reject()
        await program.until(lambda: not devices.is_busy)
        assert Runtimes().shelf().servers == ("127.0.0.1:50052",)
        panel.on_add()
        next(b for b in devices.asking.buttons() if b.text() == "Borrow its devices").click()
        await program.until(lambda: panel.list.count() == 2 and not devices.is_busy)
        panel.list.setCurrentRow(0)
        panel.remove_button.click()
        await program.until(lambda: panel.list.count() == 1 and not devices.is_busy)
        assert Runtimes().shelf().servers == ("lab.example:50052",)

    program.run(story)


def test_the_page_fits_a_small_screen_and_every_control_has_a_name(window):
    dialog = DevicesDialog(window)
    reports = [report("cpu", "untried"), report("gpu", "wrong", "With a tiny model it chose token 3 instead of 17.")]
    dialog.show_devices(reports, "Snapdragon X Elite", ["Get the driver."] * 3)
    dialog.offer_builds([("win-opencl-adreno-arm64", "CPU and Adreno GPU")])
    dialog.layout().activate()
    least = dialog.minimumSizeHint().expandedTo(dialog.minimumSize())
    assert least.width() <= 853 - FRAME.width()
    assert least.height() <= 533 - FRAME.height()
    for kind in (QPushButton, QLineEdit, QListWidget, QTreeWidget):
        for part in dialog.findChildren(kind):
            assert part.accessibleName() or part.text(), part
    dialog.deleteLater()


@pytest.mark.full
def test_a_runtime_that_hangs_is_given_up_in_half_a_minute_and_the_window_never_stalls(program, tmp_path):
    folder = packs.with_llama(tmp_path / "asleep", packs.SLEEPS, is_whole=False)

    async def story():
        devices = program.controller.devices
        devices.open()
        await program.until(lambda: devices.dialog.states() and not devices.is_busy)
        devices.add(folder)
        gaps, whole = [], FairWatch()
        while devices.is_busy:
            watch = FairWatch()
            await asyncio.sleep(0.01)
            gaps.append(watch.took_s)
        assert whole.took_s < 30
        assert max(gaps) < 0.5
        assert "longer than 20 seconds" in devices.dialog.busy.text()
        assert devices.dialog.runtime.currentText() == BUILT_IN

    program.run(story)
