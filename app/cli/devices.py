"""``devices``: what models can run on here, what works of it, and what to do about the rest."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import typer

from app.cli import options
from app.cli.terminal import note
from app.host.device_trial import DeviceTrial, measure_devices, places
from app.host.signature import NpuCode
from app.host.soc import Driver
from app.host.survey import DeviceReport, Survey, survey


@dataclass(frozen=True, slots=True)
class DevicesOptions:
    """What ``devices`` can be told."""

    prove: Annotated[
        bool, typer.Option("--prove", help="Try each device with a tiny model; on a GPU the first time takes minutes.")
    ] = False
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Look anew, also at what ended its process the last time; with --prove try each device anew.",
        ),
    ] = False
    measure: Annotated[
        bool, typer.Option("--measure", help="Measure where the starter answers fastest; takes up to a minute.")
    ] = False
    model: Annotated[str, typer.Option("--model", metavar="MODEL", help="Measure with another model.")] = "starter"
    as_json: options.FactsAsJson = False


def devices(chosen: DevicesOptions) -> None:
    """List the devices with what is known of each, and what would make more of them work."""
    known = survey(again=chosen.again, prove=chosen.prove)
    trial = asyncio.run(measure_devices(places(known), note, target=chosen.model)) if chosen.measure else None
    if chosen.as_json:
        document = as_document(known) | ({} if trial is None else {"trial": msgspec.to_builtins(trial)})
        sys.stdout.write(msgspec.json.encode(document).decode() + "\n")
        return
    _show(known)
    if trial is not None:
        sys.stdout.write("\n" + "\n".join(trial_lines(trial)) + "\n")


def trial_lines(trial: DeviceTrial) -> list[str]:
    """Say what was measured, fastest first, and what to choose."""
    said = [
        f"{speed.place}: {speed.fault}"
        if speed.fault
        else f"{speed.place}: {speed.decode_tps:.1f} tok/s, prompt {speed.prefill_tps:.0f} tok/s"
        for speed in trial.speeds
    ]
    return [*said, f"choose: --compute {trial.choice}" if trial.choice else "nothing could be measured"]


def as_document(known: Survey) -> dict[str, Any]:
    """Return the survey as JSON has it: what the native library says of itself on top, the rest beside."""
    runtime: dict[str, Any] = msgspec.to_builtins(known.found.runtime)
    return runtime | {
        "runtime": known.runtime,
        "why_not": known.why_not,
        "soc": msgspec.to_builtins(known.soc),
        "drivers": msgspec.to_builtins(known.drivers),
        "devices": [
            msgspec.to_builtins(report.device) | msgspec.to_builtins(report.standing) for report in known.devices
        ],
        "backends": [
            {"name": backend.name, "state": backend.state, "reason": backend.reason} for backend in known.found.backends
        ],
        "npu_code": msgspec.to_builtins(known.npu_code),
        "switches": known.switches,
        "advice": known.advice,
    }


def _show(known: Survey) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("device", "kind", "backend", "memory free", "of", "state", "description"):
        table.add_column(heading, justify="right" if heading in ("memory free", "of") else "left")
    for report in known.devices:
        device = report.device
        free, total = memory(device.memory_free_bytes), memory(device.memory_total_bytes)
        row = (device.name, device.kind, device.backend, free, total, report.standing.state, device.description)
        table.add_row(*row)
    console = Console(highlight=False, markup=False)
    console.print(table)
    for line in lines(known):
        console.print(line)


def lines(known: Survey) -> list[str]:
    """Say what goes below the table: chip, runtime, and what may help."""
    runtime = known.found.runtime
    said = [
        f"{report.device.name}: {report.standing.reason}"
        for report in known.devices
        if _has_trouble(report) and report.standing.reason
    ]
    said += [f"{backend.name}: {backend.reason}" for backend in known.found.backends if backend.reason]
    said += [known.why_not] if known.why_not else []
    chip = [known.soc.name, known.soc.cores, known.soc.gpu]
    chip += [f"Hexagon v{known.soc.npu_version}"] if known.soc.npu_version else []
    chip += [f"{known.soc.bandwidth_gb_s} GB/s"] if known.soc.bandwidth_gb_s else []
    said.append(", ".join(part for part in chip if part))
    said += [_about(driver) for driver in known.drivers]
    if known.npu_code.files:
        said.append(_about_code(known.npu_code))
    said.append(
        f"runtime: {known.runtime}, llama-cpp-python {runtime.llama_cpp_python}, llama.cpp {runtime.commit}, "
        f"ggml {runtime.ggml}"
    )
    said.append(f"processor: {runtime.features}")
    return said + [f"→ {line}" for line in known.advice]


def _about(driver: Driver) -> str:
    more = ", ".join(part for part in (driver.date, driver.inf) if part)
    return f"{driver.kind} driver: {driver.device} {driver.version}" + (f" ({more})" if more else "")


def _about_code(code: NpuCode) -> str:
    """Say what of the runtime is for the NPU, and how it is signed."""
    if code.signature is None:
        return f"code for the NPU: {', '.join(code.files)}; no catalogue"
    signer = f" by {code.signature.signer}" if code.signature.signer else ""
    unnamed = f"; it does not name {', '.join(code.unnamed)}" if code.unnamed else ""
    names = ", ".join(code.files)
    return f"code for the NPU: {names}; signature of the catalogue: {code.signature.state}{signer}{unnamed}"


def _has_trouble(report: DeviceReport) -> bool:
    return report.standing.state in ("wrong", "failing")


def memory(n_bytes: int) -> str:
    """Say how much memory; some devices do not tell."""
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes else "unknown"
