"""The window's way to the model hub: one hub, asked beside the event loop, as the person whose token was given."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from app.errors import HubAccessError
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
            NetworkError: HF_ENDPOINT is no address.
        """
        if self._hub is None:
            from app.models.hub import Hub  # at the start of the window nobody needs it

            self._hub = Hub(find=self._find)
        return self._hub

    async def ask(self, work: Callable[[Hub], T]) -> T:
        """Do blocking work with the hub beside the loop; its client takes a second to import the first time.

        Raises:
            SlipstreamError: the hub does not give what was asked for.
        """
        async with self._slots:
            return await beside(lambda: work(self.hub()), "hub")

    async def give_token(self, text: str) -> str:
        """Keep a token in the keyring and use it from now on; where there is no keyring, until the program ends.

        Returns:
            Where it is kept, as a sentence.

        Raises:
            HubAccessError: it cannot be a token.
        """
        return await self.ask(lambda hub: self._keep(hub, text))

    def _keep(self, hub: Hub, text: str) -> str:
        from app.models.hub_token import checked, keep_token

        token = checked(text.strip(), "the entry")
        try:
            keep_token(token.value)
        except HubAccessError:
            self._session_token = token
            said = "This system has no keyring, so the token is kept until the program ends."
        else:
            self._session_token = None
            said = "The token is kept in the keyring of this system."
        hub.look_for_token()
        return said

    def _find(self) -> Token | None:
        from app.models.hub_token import find_token

        return self._session_token or find_token()
