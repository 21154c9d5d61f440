"""``runtime``: which build of llama.cpp models run on; packs with more devices are added, chosen and removed."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.cli import options
from app.cli.fetching import fetch
from app.cli.terminal import note
from app.errors import UsageError
from app.host.addresses import check_address
from app.host.packs import BUILT_IN, Shelf
from app.host.runtimes import Runtimes

_SWITCH = re.compile(r"((?:GGML|LLAMA|ADSP|OMP|GOMP)_[A-Z0-9_]+)=([^\0\n]*)")


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """What ``runtime`` can be told."""

    add: Annotated[
        Path | None,
        typer.Option("--add", metavar="PATH", help="A folder with llama.cpp's libraries, or a zip or tar.gz of one."),
    ] = None
    fetch: Annotated[
        bool,
        typer.Option(
            "--fetch",
            help="Get the official build of llama.cpp that fits this program, and add it; its hash is checked. Ctrl-C "
            "keeps what has arrived.",
        ),
    ] = False
    build: Annotated[
        str,
        typer.Option("--build", metavar="NAME", help="Which one to get; the most able for this machine if not given."),
    ] = ""
    tag: Annotated[
        str, typer.Option("--tag", metavar="TAG", help="Of which release; of the one that fits if not given.")
    ] = ""
    use: Annotated[
        str | None,
        typer.Option("--use", metavar="NAME", help=f"Use it from now on; {BUILT_IN} is the one that came along."),
    ] = None
    remove: Annotated[str | None, typer.Option("--remove", metavar="NAME", help="Take it off the list.")] = None
    server: Annotated[
        list[str] | None,
        typer.Option(
            "--server",
            metavar="HOST:PORT",
            help="Borrow the devices of a llama.cpp RPC server; several times for several. What is sent there, your "
            "text too, is neither encrypted, nor does the server prove who it is.",
        ),
    ] = None
    switch: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="An environment variable for the native libraries, as GGML_OPENCL_Q40_MC3=1 or "
            "GGML_HEXAGON_VERBOSE=1; NAME= sets it no more.",
        ),
    ] = None
    no_servers: Annotated[bool, typer.Option("--no-servers", help="Borrow no devices any more.")] = False
    as_json: options.FactsAsJson = field(default=False)


def runtime(chosen: RuntimeOptions) -> None:
    """Say which runtimes there are and which is used; add, choose or remove one. A running engine keeps its own."""
    runtimes = Runtimes()
    servers = tuple(chosen.server or ())
    for server in servers:
        check_address(server)
    switches = [_SWITCH.fullmatch(words) for words in chosen.switch or ()]
    if not all(switches):
        raise UsageError(
            "--set takes NAME=VALUE, with a name that begins with GGML_, LLAMA_, ADSP_, OMP_ or GOMP_.",
            "As in --set GGML_HEXAGON_VERBOSE=1.",
        )
    if (chosen.build or chosen.tag) and not chosen.fetch:
        raise UsageError("--build and --tag say what --fetch gets.", "Add --fetch.")
    if chosen.remove is not None:
        runtimes.remove(chosen.remove)
    if chosen.add is not None:
        pack = runtimes.add(chosen.add)
        note(f"{pack.name} is added; --use {pack.name} makes models run on it.")
    if chosen.fetch:
        name = fetch(runtimes, chosen.build, chosen.tag)
        note(f"{name} is added; --use {name} makes models run on it.")
    if chosen.use is not None:
        runtimes.use(chosen.use)
    if servers or chosen.no_servers:
        runtimes.set_servers(servers)
    if switches:
        runtimes.set_switches({match[1]: match[2] for match in switches if match})
    _show(runtimes.shelf(), as_json=chosen.as_json)


def _show(shelf: Shelf, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(msgspec.json.encode(shelf).decode() + "\n")
        return
    said = [f"{'*' if shelf.active == BUILT_IN else ' '} {BUILT_IN}"]
    for pack in shelf.packs:
        mark = "*" if shelf.active == pack.name else " "
        said.append(f"{mark} {pack.name}: {pack.folder}" + (f"; not used: {pack.fault}" if pack.fault else ""))
    said += [
        f"  devices of {server} are borrowed; the link is neither encrypted nor authenticated"
        for server in shelf.servers
    ]
    said += [f"  {name}={value}" for name, value in sorted(shelf.switches.items())]
    sys.stdout.write("\n".join(said) + "\n")
