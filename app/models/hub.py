"""The model hub: search, what a repository holds, and the header of a file there.

All calls block and may run in any thread. What they return are the values of :mod:`app.models.remote`; what goes wrong
is said in words (:mod:`app.models.hub_faults`), after some patience with what may go away.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from app.errors import UsageError
from app.models.hub_api import Query, ask, read_repository, read_search, repository_query, search_query, understood
from app.models.hub_choice import Sidecar, Wanted, choose, read_name, sidecar
from app.models.hub_faults import Asked, PassingError, not_a_hub
from app.models.hub_http import Access, Reply, open_range
from app.models.hub_place import checked_endpoint, hub_address
from app.models.hub_token import Token, find_token
from app.models.patience import Patience
from app.models.remote import FoundModel, Item, RemoteFile, Repository, check_repo
from app.models.remote_file import RemoteSource

N_API_TRIES = 3
"""How often a question to the hub is asked; a person waits for the answer."""

T = TypeVar("T")


class Hub:
    """One hub, asked as one person; the default is what was chosen and the token that :func:`find_token` finds."""

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        find: Callable[[], Token | None] = find_token,
        patience: Patience | None = None,
    ) -> None:
        self.endpoint = checked_endpoint(endpoint, "The hub's address") if endpoint else hub_address()
        self.patience = Patience() if patience is None else patience
        self._find = find
        self._known_token: tuple[Token | None] | None = None

    def search(self, words: str, limit: int = 30) -> list[FoundModel]:
        """Find repositories with GGUF models, the most downloaded first.

        Raises:
            SlipstreamError: the hub gave no list.
        """
        asked = Asked(self.endpoint, self._token())
        return self._asked(asked, search_query(words, limit), lambda body: read_search(body, limit))

    def repository(self, repo: str, revision: str | None = None) -> Repository:
        """Return what a repository holds, at its newest commit or at ``revision``.

        Raises:
            SlipstreamError: there is none, or this person may not see it.
        """
        asked = Asked(self.endpoint, self._token(), check_repo(repo))
        query = repository_query(repo, revision)
        return self._asked(asked, query, lambda body: read_repository(body, asked, revision))

    def resolve(self, name: str) -> Item:
        """Return what ``org/name[:quant]``, or an address of a repository or a file, means; as llama.cpp's ``-hf``.

        Raises:
            UsageError: the words are no name.
            SlipstreamError: the hub has no such thing, or does not say.
        """
        wanted = read_name(name, self.endpoint)
        found = self.repository(wanted.repo, wanted.revision)
        return _item(wanted, choose(found.files, wanted))

    def with_sidecar(self, name: str, keyword: Sidecar) -> Item:
        """Return a model and its companion in the same repository, such as its MTP heads, as one item.

        Raises:
            UsageError: the words are no name, or there is no such companion.
            SlipstreamError: the hub has no such model, or does not say.
        """
        wanted = read_name(name, self.endpoint)
        found = self.repository(wanted.repo, wanted.revision)
        files = choose(found.files, wanted)
        companion = sidecar(found.files, files[0], keyword, wanted.tag)
        if companion is None:
            raise UsageError(
                f"{wanted.repo} has no file of the kind {keyword.strip('-')} beside {files[0].path}.",
                "Pull the model alone, or name a draft model with --draft-model.",
            )
        item = _item(wanted, files)
        return Item(f"{item.title} + {companion.name}", (*files, companion))

    def source(self, file: RemoteFile) -> RemoteSource:
        """Return a file as a source of bytes for :func:`app.engine.gguf.parse_header`."""
        return RemoteSource(self._access(), file, self.patience)

    def open(self, file: RemoteFile, first: int) -> AbstractContextManager[Reply]:
        """Ask for the bytes of a file from ``first`` on; for faults see :func:`open_range`."""
        return open_range(self._access(), file, first)

    def look_for_token(self) -> Token | None:
        """Look again for a token, as after a new one was kept; until then the one found first is used.

        Raises:
            HubAccessError: there is one that cannot be a token.
        """
        self._known_token = (self._find(),)
        return self._known_token[0]

    def _token(self) -> Token | None:
        return self.look_for_token() if self._known_token is None else self._known_token[0]

    def _access(self) -> Access:
        return Access(self.endpoint, self._token(), self.patience.silence_s)

    def _asked(self, asked: Asked, query: Query, read: Callable[[bytes], T]) -> T:
        n_tries = min(N_API_TRIES, self.patience.n_tries)
        for n_failures in range(n_tries):
            try:
                body = ask(self._access(), asked, query, self.patience.answer_s)
                return understood(asked, body, read)
            except PassingError as passing:
                if n_failures + 1 == n_tries:
                    raise passing.fault from None
                time.sleep(min(self.patience.delay_s(n_failures, passing.asked_s), self.patience.answer_s))
        raise not_a_hub(asked)


def _item(wanted: Wanted, files: tuple[RemoteFile, ...]) -> Item:
    return Item(f"{wanted.repo}:{wanted.path}" if wanted.path else wanted.title, files)
