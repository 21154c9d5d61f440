"""``serve``: the OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options
from app.cli.completing import model_names
from app.cli.hosting import load
from app.cli.load_options import LoadOptions
from app.cli.sampling_options import SamplingOptions
from app.cli.terminal import note
from app.errors import ModelError, UsageError
from app.host import Host, PairChoice
from app.metrics.recorder import SessionLog
from app.models.library import Library
from app.protocol import Sampling, SpecType, Speculation

if TYPE_CHECKING:
    from app.server.options import ServerOptions

SERVING = "Serving"
KEPT_RUNS = 1000
_HEADS: tuple[SpecType, ...] = ("draft-mtp",)
KEY_VARIABLE = "SLIPSTREAM_API_KEY"

Model = Annotated[
    str,
    typer.Argument(
        metavar="[MODEL]",
        help="What answers requests that name no model: a library name or a GGUF file.",
        autocompletion=model_names,
    ),
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
    fixed_shape: options.FixedShape = False
    lenient: options.Lenient = 0.0
    draws: SamplingOptions = field(default_factory=SamplingOptions)
    max_tokens: MaxTokens = 0
    how: LoadOptions = field(default_factory=LoadOptions)

    def pair(self) -> PairChoice:
        """What answers requests that name no model.

        Raises:
            UsageError: the words do not go together.
        """
        return replace(self.how.pair(self.model, self.draft_model), trees="tree" in self.speculation().types)

    def speculation(self) -> Speculation:
        """How to draft.

        Raises:
            UsageError: the words do not go together.
        """
        drafts = options.chosen_speculation(self, self.fixed_shape + self.lenient)
        if self.spec_type is None and self.draft_model and _are_heads(self.draft_model):
            drafts = options.by_file(drafts, _HEADS)
        return options.with_ways(drafts, fixed_shape=self.fixed_shape, lenient=self.lenient)

    def sampling(self) -> Sampling:
        """How to draw."""
        return self.draws.sampling(0)

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


def _are_heads(name: str) -> bool:
    """Tell whether a file that drafts holds heads; what is wrong with it is said when it is loaded."""
    try:
        return Library().are_heads(name)
    except ModelError:
        return False


def _forget_old_runs(session: SessionLog) -> None:
    """Begin the session anew after so many runs: nobody exports them, and a server may run for months."""
    if len(session.runs) >= KEPT_RUNS:
        session.begin_anew()


def _say(url: str, made: ServerOptions) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    words = "Clients need the key." if made.key else "Only this computer reaches it."
    note(f"OpenAI clients: {url}/v1. {words} Open {url} for the description. Ctrl-C ends it.")
    if made.defaults().speculation.lenient:
        note("notice: acceptance is lenient, which is lossy: answers may not be the model's own words.")


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
