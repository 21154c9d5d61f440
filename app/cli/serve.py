"""``serve``: the OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options
from app.cli.hosting import load
from app.cli.load_options import LoadOptions
from app.cli.terminal import note
from app.errors import UsageError
from app.host import Host, PairChoice
from app.metrics.recorder import SessionLog
from app.models.library import Library
from app.protocol import Sampling, Speculation

if TYPE_CHECKING:
    from app.server.options import ServerOptions

SERVING = "Serving"
KEPT_RUNS = 1000
KEY_VARIABLE = "SLIPSTREAM_API_KEY"

Model = Annotated[
    str,
    typer.Argument(metavar="[MODEL]", help="What answers requests that name no model: a library name or a GGUF file."),
]
Address = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS[:PORT]",
        help="Where to listen. Another address than this machine's own needs a key.",
        rich_help_panel=SERVING,
    ),
]
Port = Annotated[
    int | None,
    typer.Option("--port", metavar="N", min=0, max=65535, help="The port; 0 is a free one.", rich_help_panel=SERVING),
]
Key = Annotated[
    str,
    typer.Option(
        "--key",
        metavar="KEY",
        envvar=KEY_VARIABLE,
        show_envvar=True,
        help="What clients have to send as a bearer token.",
        rich_help_panel=SERVING,
    ),
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        metavar="NAME",
        help="Another name that clients may call this server by.",
        rich_help_panel=SERVING,
    ),
]
Cors = Annotated[
    list[str] | None,
    typer.Option(
        "--cors-origin",
        metavar="ORIGIN",
        help="A web page that may ask, as https://chat.example; none without it.",
        rich_help_panel=SERVING,
    ),
]
KeepAlive = Annotated[
    int,
    typer.Option(
        "--keepalive",
        metavar="S",
        min=0,
        help="Free the models after so many seconds without a request; 0 keeps them.",
        rich_help_panel=SERVING,
    ),
]
MayPull = Annotated[
    bool, typer.Option("--pull", help="Requests may have models from the hub downloaded.", rich_help_panel=SERVING)
]
MaxWaiting = Annotated[
    int,
    typer.Option(
        "--max-waiting",
        metavar="N",
        min=0,
        max=10_000,
        help="Requests that may wait for their turn; more are told to come back (429).",
        rich_help_panel=SERVING,
    ),
]
MaxTokens = Annotated[
    int,
    typer.Option(
        "--max-tokens", metavar="N", min=0, help="Longest answer where a request does not say; 0 is up to the context."
    ),
]
Later = Annotated[bool, typer.Option("--later", help="Load the model with the first request.", rich_help_panel=SERVING)]


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What ``serve`` can be told. Drafting and sampling hold for requests that do not say."""

    model: Model = "starter"
    host: Address = "127.0.0.1"
    port: Port = None
    key: Key = ""
    allow_host: AllowHost = None
    cors_origin: Cors = None
    keepalive: KeepAlive = 300
    pull: MayPull = False
    later: Later = False
    max_waiting: MaxWaiting = 128
    draft_model: options.DraftModel = None
    spec_type: options.SpecTypes = None
    draft_tokens: options.DraftTokens = "auto"
    draft_min: options.DraftMin = 0
    draft_p_min: options.DraftPMin = 0.0
    exact: options.Exact = True
    temperature: options.Temperature = options.DEFAULTS.temperature
    top_k: options.TopK = options.DEFAULTS.top_k
    top_p: options.TopP = options.DEFAULTS.top_p
    min_p: options.MinP = options.DEFAULTS.min_p
    max_tokens: MaxTokens = 0
    how: LoadOptions = field(default_factory=LoadOptions)

    def pair(self) -> PairChoice:
        """What answers requests that name no model.

        Raises:
            UsageError: the words do not go together.
        """
        return self.how.pair(self.model, self.draft_model)

    def speculation(self) -> Speculation:
        """How to draft.

        Raises:
            UsageError: the words do not go together.
        """
        return options.chosen_speculation(self)

    def sampling(self) -> Sampling:
        """How to draw."""
        return Sampling(seed=0, temperature=self.temperature, top_k=self.top_k, top_p=self.top_p, min_p=self.min_p)

    def server(self) -> ServerOptions:
        """How to serve.

        Raises:
            UsageError: the words do not go together, or would leave the machine open.
        """
        from app.server.options import PORT, Defaults, Limits, ServerOptions

        address, port = _address(self.host)
        defaults = Defaults(self.pair(), self.speculation(), self.sampling(), self.max_tokens)
        made = ServerOptions(
            lambda: defaults,
            address=address,
            port=next((one for one in (self.port, port) if one is not None), PORT),
            key=self.key,
            allowed_hosts=tuple(self.allow_host or ()),
            cors_origins=tuple(self.cors_origin or ()),
            keep_alive_s=self.keepalive,
            may_pull=self.pull,
            limits=Limits(n_waiting=self.max_waiting),
        )
        made.check()
        return made


def serve(chosen: ServeOptions) -> None:
    """Answer the OpenAI API on this machine, until Ctrl-C."""
    try:
        import app.server.serving  # noqa: F401 - said here what is missing, before anything is loaded
    except ImportError as fault:
        raise UsageError(
            f"The server's packages are not installed ({fault.name}).",
            "Install them: pip install slipstream-chat[server]",
        ) from fault
    made = chosen.server()
    logging.getLogger("app.server").setLevel(logging.INFO)
    asyncio.run(_serve(chosen, made))


async def _serve(chosen: ServeOptions, made: ServerOptions) -> None:
    from app.server.serving import Server

    library = Library()
    owner = Host(library=library)
    owner.session.subscribe(lambda: _forget_old_runs(owner.session))
    server = Server(owner, library, made)
    ended = asyncio.Event()
    try:
        with _ends(ended):
            await server.start()
            if not chosen.later:
                loading = asyncio.ensure_future(load(owner, chosen.pair()))
                ending = asyncio.ensure_future(ended.wait())
                await asyncio.wait((loading, ending), return_when=asyncio.FIRST_COMPLETED)
                ending.cancel()
                if not loading.done():
                    loading.cancel()
                    return
                loading.result()
            _say(server.url, made)
            await ended.wait()
    finally:
        await server.stop()
        await owner.close()


def _forget_old_runs(session: SessionLog) -> None:
    """Begin the session anew after so many runs: nobody exports them, and a server may run for months."""
    if len(session.runs) >= KEPT_RUNS:
        session.begin_anew()


def _say(url: str, made: ServerOptions) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    words = "Clients need the key." if made.key else "Only this computer reaches it."
    note(f"OpenAI clients: {url}/v1. {words} Open {url} for the description. Ctrl-C ends it.")


@contextmanager
def _ends(ended: asyncio.Event) -> Iterator[None]:
    """Set the event on Ctrl-C or SIGTERM; a second Ctrl-C leaves at once."""
    loop = asyncio.get_running_loop()

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if ended.is_set():
            os._exit(128 + number)
        loop.call_soon_threadsafe(ended.set)

    before = [(number, signal.signal(number, on_signal)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _address(text: str) -> tuple[str, int | None]:
    """Read an address with perhaps a port, as ``127.0.0.1:18181`` or ``[::1]:18181``.

    Raises:
        UsageError: the port is none.
    """
    address, colon, port = text.rpartition(":")
    if not colon or (":" in address and not address.endswith("]")):
        return text.strip("[]"), None
    if not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"--host {text}: {port or 'nothing'} is not a port.", "Write it as 127.0.0.1:18181.")
    return address.strip("[]"), int(port)
