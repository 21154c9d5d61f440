"""Behind the page about other servers: adds, tests and removes them, keeps their keys, picks one of their models."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.errors import SlipstreamError
from app.host.background import beside
from app.host.remote_servers import ServerKeys, look
from app.host.remote_wire import ServerModel, read_address
from app.settings import ModelServer
from app.ui.latest import Latest
from app.ui.remote_dialog import RemoteDialog
from app.ui.said import fault_words
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.choices import Choices
    from app.ui.engine_control import EngineControl
    from app.ui.main_window import MainWindow

TRYING = tr("Asking {place} what it has…")
NOT_KEPT = tr("This system has no keyring: the key is forgotten when the program ends.")


class RemoteControl(QObject):
    """Between the page on one side, settings, keyring and servers on the other."""

    def __init__(self, window: MainWindow, choices: Choices, engine: EngineControl, keys: ServerKeys) -> None:
        super().__init__(window)
        self._window, self._choices, self._engine, self._keys = window, choices, engine, keys
        self._states: dict[str, str] = {}
        self._work, self._forgetting = Latest(), Latest()
        self.is_answering: Callable[[], bool] = lambda: False
        self.dialog: RemoteDialog | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a server is being asked."""
        return self._work.is_running or self._forgetting.is_running

    async def close(self) -> None:
        """Wait for no server any more."""
        await self._work.close()
        await self._forgetting.close()
        if self.dialog is not None:
            self.dialog.close()

    def open(self) -> None:
        """Show the page; no server is asked for that."""
        if self.dialog is None:
            self.dialog = self._make()
        self.dialog.open()
        self.refresh()

    def _make(self) -> RemoteDialog:
        dialog = RemoteDialog(self._window)
        dialog.add_requested.connect(lambda address, key: self._work.run(self._add(address, key)))
        dialog.test_requested.connect(lambda url: self._work.run(self._test(url)))
        dialog.remove_requested.connect(self.remove)
        dialog.server_shown.connect(self.show_models)
        dialog.model_chosen.connect(self.choose)
        dialog.finished.connect(self.on_closed)
        return dialog

    def on_closed(self) -> None:
        """Forget the page, and wait for no server that is being tried."""
        self._work.cancel()
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    # --- doing ----------------------------------------------------------------------------------------

    async def _add(self, address: str, key: str) -> None:
        """Add a server that answers; one that does not stays in the fields, with the reason."""
        try:
            url = read_address(address).url
        except SlipstreamError as fault:
            self._say(fault_words(fault))
            return
        is_there = any(server.url == url for server in self._choices.servers)
        known = "" if key or not is_there else await beside(lambda: self._keys.find(url), "keyring")
        if not await self._ask(url, key or known):
            return
        is_kept = await beside(lambda: self._keys.keep(url, key), "keyring")
        if self.dialog is not None:
            self.dialog.address.clear()
            self.dialog.key.clear()
            self.dialog.show_state(self._states[url] if is_kept else f"{self._states[url]} {NOT_KEPT}")

    async def _test(self, url: str) -> None:
        await self._ask(url, await beside(lambda: self._keys.find(url), "keyring"))

    async def _ask(self, url: str, key: str) -> bool:
        """Ask a server what it has and keep the answer; return whether it gave one."""
        place = read_address(url).words
        self._say(TRYING.format(place=place), is_busy=True)
        try:
            server = await look(url, key)
        except SlipstreamError as fault:
            words = fault_words(fault)
            self._states[url] = tr("does not answer as it should")
            self.refresh(url)
            self._say(words)
            return False
        n = len(server.models)
        self._states[url] = tr("answers, and has %n model(s)", None, n) if n else tr("answers, but has no model")
        self._keep(server)
        self.refresh(url)
        self._say(self._states[url])
        return True

    def _keep(self, server: ModelServer) -> None:
        """Put a server in its place in the list, or at its end."""
        servers = self._choices.servers
        is_new = all(one.url != server.url for one in servers)
        kept = (*servers, server) if is_new else tuple(server if one.url == server.url else one for one in servers)
        self._choices.change(servers=kept)
        self._engine.show_pickers()

    def remove(self, url: str) -> None:
        """Forget a server and its key; if it answers, a model of this computer does from now on."""
        remote = self._choices.remote
        self._choices.change(servers=tuple(one for one in self._choices.servers if one.url != url))
        self._states.pop(url, None)
        self._forgetting.run(beside(lambda: self._keys.forget(url), "keyring"))
        if remote is not None and remote.url == url:
            self._engine.pick_target(self._choices.settings.target)
        else:
            self._engine.show_pickers()
        self.refresh()
        self._say(tr("{place} was removed, and its key was forgotten.").format(place=read_address(url).words))

    def choose(self, url: str, model: str) -> None:
        """Let a model of a server answer from now on."""
        if self.is_answering():
            self._say(tr("An answer is being written. Wait for it, or stop it in the conversation (Esc)."))
            return
        self._engine.pick_server(ServerModel(url, model))
        if self.dialog is not None:
            self.dialog.close()
        self._window.composer.take_focus()

    # --- saying ---------------------------------------------------------------------------------------

    def _say(self, words: str, *, is_busy: bool = False) -> None:
        if self.dialog is not None:
            self.dialog.show_state(words, is_busy=is_busy)

    def refresh(self, url: str = "") -> None:
        """Show the servers and what is known of them."""
        if self.dialog is None:
            return
        servers = self._choices.servers
        known = {server.url: self._states.get(server.url) or _remembered(server) for server in servers}
        shown = [(server.url, read_address(server.url).words) for server in servers]
        remote = self._choices.remote
        self.dialog.show_servers(shown, known, url or (remote.url if remote is not None else ""))
        addresses = [read_address(server.url) for server in servers]
        self.dialog.show_danger([address.words for address in addresses if address.is_open_to_others])

    def show_models(self, url: str) -> None:
        """Show what a server has."""
        server = next((one for one in self._choices.servers if one.url == url), None)
        remote = self._choices.remote
        if self.dialog is not None and server is not None:
            current = remote.model if remote is not None and remote.url == url else ""
            self.dialog.show_models(server.models, current)
            self.dialog.show_state(self._states.get(url) or _remembered(server))


def _remembered(server: ModelServer) -> str:
    return tr("not asked since the program began; had %n model(s)", None, len(server.models))
