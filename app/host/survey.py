"""Everything that is known of this machine's devices in one value: what ``devices``, ``doctor`` and the window show."""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.engine.discovery import Found
from app.engine.probe import Device
from app.engine.runtime_files import backend_libraries, npu_architectures
from app.host.device_book import DeviceBook, Standing
from app.host.packs import BUILT_IN, Shelf
from app.host.runtimes import InUse, Runtimes
from app.host.signature import NpuCode, npu_code
from app.host.soc import Driver, Pieces, Soc, advice, soc_of
from app.host.system_facts import system_facts


class DeviceReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A device and what is known of it."""

    device: Device
    standing: Standing


class Survey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The machine's devices; ``why_not`` says why the runtime in use is not the one that was chosen."""

    soc: Soc
    drivers: tuple[Driver, ...]
    runtime: str
    why_not: str
    shelf: Shelf
    found: Found
    devices: tuple[DeviceReport, ...]
    advice: tuple[str, ...]
    switches: dict[str, str]
    npu_code: NpuCode = NpuCode()


def survey(
    runtimes: Runtimes | None = None, book: DeviceBook | None = None, *, again: bool = False, prove: bool = False
) -> Survey:
    """Look at everything; blocks for a second, with ``prove`` for as long as a tiny model takes on each device.

    Args:
        runtimes: which there are.
        book: what is known.
        again: look anew, also at what ended its process before.
        prove: try every device that nobody has tried, or that failed; with ``again`` every one.

    Raises:
        SlipstreamError: not even the built-in runtime can be asked.
    """
    facts = system_facts()
    runtimes, book = runtimes or Runtimes(), book or DeviceBook()
    shelf, in_use = runtimes.shelf(), runtimes.in_use()
    found = book.find(in_use, shelf.servers, again=again)
    reports = tuple(_report(book, in_use, found, device, prove=prove, again=again) for device in found.devices)
    soc, code = soc_of(facts), npu_code(Path(found.runtime.folder))
    return Survey(
        soc=soc,
        drivers=facts.drivers,
        runtime=in_use.name,
        why_not=in_use.why_not,
        shelf=shelf,
        found=found,
        devices=reports,
        advice=advice(facts, soc, pieces_of(found, in_use, code), found),
        switches=in_use.surroundings.switches,
        npu_code=code,
    )


def pieces_of(found: Found, in_use: InUse, code: NpuCode | None = None) -> Pieces:
    """Return what the runtime in use brings; its code for the NPU is looked at, if that was not done before."""
    folder = Path(found.runtime.folder)
    built_in = {device.backend.lower() for device in found.runtime.devices}
    names = {*backend_libraries(folder), *built_in} | ({"hexagon"} if "htp" in built_in else set())
    return Pieces(
        backends=tuple(sorted(names)),
        npu_versions=npu_architectures(folder),
        code=code or npu_code(folder),
        is_built_in=in_use.name == BUILT_IN,
    )


def _report(book: DeviceBook, in_use: InUse, found: Found, device: Device, *, prove: bool, again: bool) -> DeviceReport:
    standing = book.standing(in_use, device)
    if prove and (again or standing.state != "works"):
        standing = book.prove(in_use, found, device)
    return DeviceReport(device, standing)
