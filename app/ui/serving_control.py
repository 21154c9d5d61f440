"""Behind the page about the server: starts and ends it over the window's own host, keeps what was chosen."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from importlib import import_module
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer

from app.errors import SlipstreamError, UsageError
from app.host import Host
from app.host.background import beside
from app.models.library import Library
from app.ui.garbage import what_came_stays
from app.ui.said import fault_words
from app.ui.serving_dialog import ServingDialog
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.server.options import Defaults, ServerOptions
    from app.server.serving import Server
    from app.ui.choices import Choices
    from app.ui.main_window import MainWindow

OFF, STARTING, ENDING = tr("Off."), tr("Starting…"), tr("Ending…")
_LOG_INTERVAL_MS = 250
_EVERYWHERE = "0.0.0.0"  # noqa: S104 - chosen by the person, and only with a key


class ServingControl(QObject):
    """Between the page on one side, the server and the settings on the other."""

    def __init__(self, window: MainWindow, host: Host, library: Library, choices: Choices) -> None:
        super().__init__(window)
        self._window, self._host, self._library, self._choices = window, host, library, choices
        self._server: Server | None = None
        self._task: asyncio.Task[None] | None = None
        self._key = ""
        self._fault = ""
        self._n_shown = (-1, 0)
        self.dialog: ServingDialog | None = None
        self._look = QTimer(self, interval=_LOG_INTERVAL_MS)
        self._look.timeout.connect(self.refresh_log)

    @property
    def url(self) -> str:
        """Where it serves, "" while it does not."""
        return self._server.url if self._server is not None else ""

    @property
    def is_busy(self) -> bool:
        """Whether it is being started or ended."""
        return self._task is not None and not self._task.done()

    async def close(self) -> None:
        """End the server."""
        await self._settled()
        server, self._server = self._server, None
        if server is not None:
            await server.stop()
        if self.dialog is not None:
            self.dialog.close()

    def open(self) -> None:
        """Show the page."""
        if self.dialog is None:
            self.dialog = self._make()
        self.dialog.open()
        self.refresh()
        self.refresh_log()
        self._look.start()

    def _make(self) -> ServingDialog:
        dialog = ServingDialog(self._window)
        dialog.switched.connect(self.on_switched)
        dialog.port_chosen.connect(lambda port: self._change(server_port=port))
        dialog.open_chosen.connect(lambda is_open: self._change(server_open=is_open))
        dialog.keyed_chosen.connect(lambda is_keyed: self._change(server_keyed=is_keyed))
        dialog.new_key_requested.connect(self.on_new_key)
        dialog.finished.connect(self.on_closed)
        return dialog

    def on_closed(self) -> None:
        """Forget the page; the server goes on."""
        self._look.stop()
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog, self._n_shown = None, (-1, 0)

    # --- starting and ending ------------------------------------------------------------------------------

    def on_switched(self, is_on: bool) -> None:
        """Serve, or serve no more."""
        self._run(self._serve(is_on=is_on))

    def on_new_key(self) -> None:
        """Take another key; whoever has the old one is refused from now on."""
        self._run(self._take_new_key())

    def _change(self, **values: bool | int) -> None:
        """Keep a choice, and serve anew with it."""
        settings = self._choices.settings
        if any(getattr(settings, name) != value for name, value in values.items()):
            self._choices.change(**values)
            self._run(self._serve_anew())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        before = self._task

        async def after() -> None:
            if before is not None and not before.done():
                await asyncio.wait([before])
            await work

        self._task = asyncio.get_running_loop().create_task(after())

    async def _settled(self) -> None:
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def _take_new_key(self) -> None:
        from app.server.key import keep_key, new_key

        self._key = new_key()
        await beside(lambda: keep_key(self._key), "keyring")
        await self._serve_anew()

    async def _serve_anew(self) -> None:
        """Serve with what is chosen now, if anything serves when it comes to that: a start may be on its way."""
        await self._serve(is_on=self._server is not None)

    async def _serve(self, *, is_on: bool) -> None:
        """End what serves, and begin anew if that is wanted."""
        self._fault = ""
        server, self._server = self._server, None
        if server is not None:
            self._say(ENDING)
            await server.stop()
        try:
            if self._needs_key and not self._key:
                await self._find_key()
            if is_on:
                self._say(STARTING)
                self._server = await self._begin()
        except SlipstreamError as fault:
            self._fault = fault_words(fault)
        self.refresh()

    async def _begin(self) -> Server:
        is_new = "app.server.serving" not in sys.modules
        try:
            await beside(lambda: import_module("app.server.serving"), "server packages")  # they take a second to load
        except ImportError as fault:
            raise UsageError(
                tr("The server's packages are not installed ({name}).").format(name=fault.name),
                tr("Install them: pip install slipstream-chat[server]"),
            ) from fault
        from app.server.serving import Server

        if is_new:
            what_came_stays()
        server = Server(self._host, self._library, self._options())
        await server.start()
        return server

    @property
    def _needs_key(self) -> bool:
        return self._choices.settings.server_open or self._choices.settings.server_keyed

    async def _find_key(self) -> None:
        from app.server.key import keep_key, kept_key, new_key

        self._key = await beside(kept_key, "keyring")
        if not self._key:
            self._key = new_key()
            await beside(lambda: keep_key(self._key), "keyring")

    def _options(self) -> ServerOptions:
        from app.server.options import ServerOptions

        chosen = self._choices.settings
        return ServerOptions(
            self._defaults,
            address=_EVERYWHERE if chosen.server_open else "127.0.0.1",
            port=chosen.server_port,
            key=self._key if self._needs_key else "",
            may_switch=False,  # what is loaded is the person's choice here
        )

    def _defaults(self) -> Defaults:
        """Return what the window is set to; called on the server's thread, and the settings are a value."""
        from app.server.options import Defaults

        pair = self._host.state.pair or self._choices.pair()
        template = self._choices.settings.templates.get(pair.target)
        return Defaults(pair, self._choices.speculation(), self._choices.sampling(0), template=template)

    # --- saying -------------------------------------------------------------------------------------------

    def _say(self, words: str) -> None:
        if self.dialog is not None:
            self.dialog.show_state(words, self.url, is_on=words == STARTING)

    def refresh(self) -> None:
        """Show whether it serves, and what is chosen."""
        if self.dialog is None:
            return
        chosen = self._choices.settings
        address = f"{self._server.url_for_others or self.url}/v1" if self._server is not None else ""
        words = (
            tr("On. Other computers reach it, too.") if chosen.server_open else tr("On. Only this computer reaches it.")
        )
        self.dialog.show_choices(
            chosen.server_port, self._key, is_open=chosen.server_open, is_keyed=chosen.server_keyed
        )
        self.dialog.show_state(
            words if self._server is not None else self._fault or OFF, address, is_on=self._server is not None
        )

    def refresh_log(self) -> None:
        """Show what was asked, if that has changed."""
        if self.dialog is None or self._server is None:
            return
        entries = self._server.log.entries()
        n_shown = (entries[-1].number if entries else 0, sum(entry.ended_s is not None for entry in entries))
        if n_shown != self._n_shown:
            self._n_shown = n_shown
            self.dialog.show_log(entries)
