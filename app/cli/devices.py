"""``devices``: what the native library finds to run on."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import msgspec

from app.cli import options
from app.engine.probe import Runtime, probe


@dataclass(frozen=True, slots=True)
class DevicesOptions:
    """What ``devices`` can be told."""

    as_json: options.FactsAsJson = False


def devices(chosen: DevicesOptions) -> None:
    """List the devices and say which native library runs on them; this version uses the CPU."""
    runtime = probe()
    if chosen.as_json:
        sys.stdout.write(msgspec.json.encode(runtime).decode() + "\n")
    else:
        _show(runtime)


def _show(runtime: Runtime) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("device", "kind", "backend", "memory free", "of", "description"):
        table.add_column(heading, justify="right" if heading in ("memory free", "of") else "left")
    for device in runtime.devices:
        table.add_row(
            device.name,
            device.kind,
            device.backend,
            _memory(device.memory_free_bytes),
            _memory(device.memory_total_bytes),
            device.description,
        )
    console = Console(highlight=False, markup=False)
    console.print(table)
    console.print(f"llama-cpp-python {runtime.llama_cpp_python}, llama.cpp {runtime.commit}, ggml {runtime.ggml}")
    console.print(f"processor: {runtime.features}")


def _memory(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes else "unknown"
