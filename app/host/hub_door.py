"""The window's way to the model hub: one hub, asked beside the event loop, as the person whose token was given."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from app.errors import HubAccessError, SlipstreamError
from app.host.background import beside

if TYPE_CHECKING:
    from app.models.hub import Hub
    from app.models.hub_token import Token

T = TypeVar("T")

N_QUESTIONS = 3
"""How many questions are with the hub at the same time."""


class HubDoor:
    """Makes the hub when it is first needed, and takes a token from the person; for one event loop."""

    def __init__(self, hub: Hub | None = None) -> None:
        self._hub = hub
        self._slots = asyncio.Semaphore(N_QUESTIONS)
        self._session_token: Token | None = None

    def hub(self) -> Hub:
        """Return the hub; nothing is asked yet.

        Raises:
            NetworkError: what was chosen as its address is none.
        """
        if self._hub is None:
            from app.models.hub import Hub  # at the start of the window nobody needs it

            self._hub = Hub(find=self._find)
        return self._hub

    def look_again(self) -> None:
        """Ask the hub that is chosen now from the next question on; what is under way ends where it began."""
        self._hub = None

    async def ask(self, work: Callable[[Hub], T]) -> T:
        """Do blocking work with the hub beside the loop; its client takes a second to import the first time.

        Raises:
            SlipstreamError: the hub does not give what was asked for.
        """
        async with self._slots:
            return await beside(lambda: work(self.hub()), "hub")

    async def give_token(self, text: str, repo: str = "") -> str:
        """Try a token, and if the hub knows it keep it in the keyring, or where there is none until the program ends.

        Args:
            text: what the person gave.
            repo: the repository that it is for.

        Returns:
            Where it is kept, as a sentence.

        Raises:
            SlipstreamError: it cannot be a token, the hub does not accept it, or cannot be asked.
        """
        return await self.ask(lambda hub: self._try(hub, text, repo))

    async def forget_token(self) -> None:
        """Forget the token that was given, also in the keyring."""

        def forget(hub: Hub) -> None:
            from app.models.hub_token import forget_token

            self._session_token = None
            forget_token()
            hub.look_for_token()

        await self.ask(forget)

    def _try(self, hub: Hub, text: str, repo: str) -> str:
        from app.models.hub_token import checked, keep_token

        before, self._session_token = self._session_token, checked(text.strip(), "the entry")
        hub.look_for_token()
        try:
            if repo:
                hub.repository(repo)
            else:
                hub.search("gguf", 1)
        except SlipstreamError:
            self._session_token = before
            hub.look_for_token()
            raise
        try:
            keep_token(self._session_token.value)
        except HubAccessError:
            return "This system has no keyring, so the token is kept until the program ends."
        return "The token is kept in the keyring of this system."

    def _find(self) -> Token | None:
        from app.models.hub_token import find_token

        return self._session_token or find_token()
