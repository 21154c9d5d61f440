"""``servers``: other servers with OpenAI's API whose models can answer; added, tried and removed."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass
from typing import Annotated

import msgspec
import typer

from app.cli import options
from app.cli.listing import printable
from app.cli.terminal import note
from app.errors import SlipstreamError, UsageError
from app.host.remote_servers import ServerKeys, look, readable
from app.host.remote_wire import read_address
from app.settings import ModelServer, load_settings, save_settings

API_KEY = "SLIPSTREAM_API_KEY"


@dataclass(frozen=True, slots=True)
class ServersOptions:
    """What ``servers`` can be told."""

    add: Annotated[
        str | None,
        typer.Option(
            "--add",
            metavar="URL",
            help="Add a server once it has told what it has; infer MODEL@HOST:PORT then asks it. Its key, if it wants "
            "one, comes from SLIPSTREAM_API_KEY or --key, and is kept in the keyring.",
        ),
    ] = None
    ask_key: Annotated[bool, typer.Option("--key", help="Ask for the key, which is not shown; with --add.")] = False
    test: Annotated[bool, typer.Option("--test", help="Ask each server what it has now.")] = False
    remove: Annotated[str | None, typer.Option("--remove", metavar="URL", help="Forget a server, and its key.")] = None
    as_json: options.FactsAsJson = False


class Listed(msgspec.Struct, frozen=True):
    """One server; ``fault`` is why it did not answer when it was tried."""

    url: str
    models: tuple[str, ...]
    fault: str = ""


def servers(chosen: ServersOptions) -> None:
    """List the other servers whose models can answer; add, try or remove one. None is asked unless you say so."""
    if chosen.ask_key and chosen.add is None:
        raise UsageError("--key is the key of the server that --add adds.", "Add --add URL.")
    if chosen.remove is not None:
        _remove(read_address(chosen.remove).url)
    if chosen.add is not None:
        _add(read_address(chosen.add).url, _key(is_asked=chosen.ask_key))
    known = readable(load_settings()[0].servers)
    alone = known[0].url if len(known) == 1 else ""
    is_tried = chosen.test
    listed = [_tried(one, alone) if is_tried else Listed(one.url, one.models) for one in known]
    _show(listed, as_json=chosen.as_json)


def _key(*, is_asked: bool) -> str:
    if not is_asked:
        return os.environ.get(API_KEY, "").strip()
    if sys.stdin is not None and sys.stdin.isatty():
        return str(typer.prompt("Key", hide_input=True, err=True)).strip()
    return sys.stdin.readline().strip() if sys.stdin is not None else ""


def _add(url: str, key: str) -> None:
    """Add a server that answers.

    Raises:
        SlipstreamError: it does not.
    """
    keys = ServerKeys()
    server = asyncio.run(look(url, key or keys.find(url)))
    _keep(server)
    note(f"{read_address(url).words} is added.")
    if not keys.keep(url, key):
        note(f"This system has no keyring to keep the key in: set {API_KEY} each time.")
    if read_address(url).is_open_to_others:
        note(f"notice: what is sent to {read_address(url).words} is not encrypted.")


def _keep(server: ModelServer) -> None:
    settings = load_settings()[0]
    others = tuple(one for one in settings.servers if one.url != server.url)
    save_settings(msgspec.structs.replace(settings, servers=(*others, server)))


def _remove(url: str) -> None:
    settings = load_settings()[0]
    left = tuple(one for one in settings.servers if one.url != url)
    if left == settings.servers:
        raise UsageError(f"{url} is not among the servers.", "servers lists them.")
    save_settings(msgspec.structs.replace(settings, servers=left))
    ServerKeys().forget(url)
    note(f"{read_address(url).words} is removed, and its key is forgotten.")


def _tried(server: ModelServer, alone: str) -> Listed:
    """Ask a server anew. The key of the environment is one server's: it goes nowhere while there are several."""
    key = ServerKeys().find(server.url)
    if not key and server.url == alone:
        key = os.environ.get(API_KEY, "").strip()
    try:
        found = asyncio.run(look(server.url, key))
    except SlipstreamError as fault:
        return Listed(server.url, server.models, f"{fault.message} {fault.hint}".strip())
    settings = load_settings()[0]
    kept = tuple(found if one.url == found.url else one for one in settings.servers)
    save_settings(msgspec.structs.replace(settings, servers=kept))
    return Listed(found.url, found.models)


def _show(listed: list[Listed], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(msgspec.json.encode({"servers": listed}).decode() + "\n")
        return
    if not listed:
        sys.stdout.write("No other servers. servers --add URL adds one.\n")
    for server in listed:
        sys.stdout.write(printable(server.url) + (f": {printable(server.fault)}" if server.fault else "") + "\n")
        place = read_address(server.url).place
        sys.stdout.writelines(f"  {printable(f'{model}@{place}')}\n" for model in server.models)
