"""``doctor``: one page about this machine and program that can go into a bug report."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from app import __version__
from app.cli.devices import lines, memory
from app.errors import SlipstreamError
from app.host.survey import Survey, survey
from app.metrics.machine import machine
from app.paths import cache_dir, config_dir, data_dir, person_dir

_SWITCH = re.compile(r"^(GGML|LLAMA|MTMD|ADSP|GOMP|OMP)_")
_HOME = re.compile(r"(?:[A-Za-z]:)?[/\\](?:home|Users)[/\\](?:[^/\\\n\"':;,]+(?=[/\\])|[^/\\\s\"':;,]+)", re.IGNORECASE)
_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """What ``doctor`` can be told."""

    prove: Annotated[
        bool, typer.Option("--prove", help="Try each device with a tiny model; on a GPU the first time takes minutes.")
    ] = False


def doctor(chosen: DoctorOptions) -> None:
    """Print one page about this machine and program for a bug report; no folder, account or address is in it."""
    try:
        known = survey(prove=chosen.prove)
    except SlipstreamError as fault:
        page = [*_program(), "", "## Devices", "", f"They cannot be looked for: {fault.message}"]
        secrets: tuple[str, ...] = ()
    else:
        page = [*_program(), *_devices(known), *_environment(known)]
        folders = (known.found.runtime.folder, *(pack.folder for pack in known.shelf.packs))
        secrets = (*folders, *known.shelf.servers)
    sys.stdout.write(private("\n".join(page), secrets) + "\n")


def _program() -> list[str]:
    here = machine("")
    return [
        "# Slipstream doctor",
        "",
        f"- program {__version__}, Python {platform.python_version()} for {platform.machine()}",
        f"- system: {here.os}",
        f"- processor: {here.cpu}, {here.cores} cores, {memory(here.memory_bytes)} of memory",
    ]


def _devices(known: Survey) -> list[str]:
    said = [
        "",
        "## Devices",
        "",
        "| device | kind | backend | free | of | state | can |",
        "|---|---|---|---|---|---|---|",
    ]
    for report in known.devices:
        device, free = report.device, memory(report.device.memory_free_bytes)
        cells = (device.name, device.kind, device.backend, free, memory(device.memory_total_bytes))
        said.append(f"| {' | '.join(cells)} | {report.standing.state} | {', '.join(device.capabilities)} |")
    said += ["", "## Backends", ""]
    said += [f"- {backend.name}: {backend.state}" for backend in known.found.backends] or ["- only what is built in"]
    return [*said, "", "## What was found", "", *(f"- {line}" for line in lines(known))]


def _environment(known: Survey) -> list[str]:
    given = {name: value for name, value in os.environ.items() if _SWITCH.match(name)}
    said = ["", "## Switches", ""]
    said += [
        f"- {name}={_without_folders(value)} (set for the engine)" for name, value in sorted(known.switches.items())
    ]
    said += [
        f"- {name}={_without_folders(value)}" for name, value in sorted(given.items()) if name not in known.switches
    ]
    if len(said) == 3:
        said.append("- none")
    hashes = [
        f"- {pack.name}: {f'sha256 {pack.sha256}' if pack.sha256 else 'not used yet'}{_fault(pack.fault)}"
        for pack in known.shelf.packs
    ]
    return [*said, *(["", "## Runtimes", "", *hashes] if hashes else [])]


def _without_folders(value: str) -> str:
    """Return a switch's value, but not where on this machine it leads to; whether it does tells enough."""
    return "(folder)" if "/" in value or "\\" in value else value


def _fault(fault: str) -> str:
    return f"; not used: {fault}" if fault else ""


def private(page: str, secrets: Iterable[str]) -> str:
    """Return the page without what is the person's own: folders, account, addresses."""
    own = {str(path): word for path, word in ((data_dir(), "DATA"), (config_dir(), "CONFIG"), (cache_dir(), "CACHE"))}
    own |= {str(home): "~"} if (home := person_dir()) else {}
    own |= {secret: "(runtime)" if Path(secret).is_absolute() else "(server)" for secret in secrets if secret}
    for text in sorted(own, key=len, reverse=True):
        if len(text) > 1:
            page = page.replace(text, own[text])
    return _ADDRESS.sub("(address)", _HOME.sub("~", page))
