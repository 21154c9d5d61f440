"""The model hub: search, what a repository holds, and the header of a file there.

All calls block and may run in any thread. What they return are the values of :mod:`app.models.remote`; what goes wrong
is said in words (:mod:`app.models.hub_faults`), after some patience with what may go away.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from app import __version__
from app.errors import NetworkError, UsageError
from app.models.hub_choice import Sidecar, Wanted, choose, read_name, sidecar
from app.models.hub_faults import Asked, PassingError, in_words, not_a_hub, of_status
from app.models.hub_http import Access, Reply, open_range, quiet_client
from app.models.hub_token import Token, find_token
from app.models.patience import Patience
from app.models.remote import FoundModel, Item, RemoteFile, Repository, check_repo, is_safe_path
from app.models.remote_file import RemoteSource

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import ModelInfo, RepoSibling

DEFAULT_ENDPOINT = "https://huggingface.co"
API_TIMEOUT_S = 30.0
N_API_TRIES = 3
"""How often a question to the hub is asked; a person waits for the answer."""

_EXPANDED = ["downloads", "likes", "gated", "lastModified", "tags", "cardData"]

T = TypeVar("T")


class Hub:
    """One hub, asked as one person; the default is ``HF_ENDPOINT`` and the token that :func:`find_token` finds."""

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        find: Callable[[], Token | None] = find_token,
        patience: Patience | None = None,
    ) -> None:
        self.endpoint = _checked_endpoint(endpoint or os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT)
        self.patience = Patience() if patience is None else patience
        self._find = find
        self._known_token: tuple[Token | None] | None = None

    def search(self, words: str, limit: int = 30) -> list[FoundModel]:
        """Find repositories with GGUF models, the most downloaded first.

        Raises:
            SlipstreamError: the hub gave no list.
        """
        asked, url = Asked(self.endpoint, self._token()), f"{self.endpoint}/api/models"
        how: dict[str, str | int | list[str]] = {
            "search": words,
            "filter": "gguf",
            "sort": "downloads",
            "limit": limit,
            "expand": _EXPANDED,
        }

        def ask(_api: HfApi) -> list[FoundModel]:
            # HfApi.list_models does the same, but asks five more times by itself, for 23 s without a word.
            from huggingface_hub import ModelInfo, get_session

            answer = get_session().get(url, params=how, headers=self._access().headers(url), timeout=API_TIMEOUT_S)
            if not answer.is_success:
                raise of_status(answer.status_code, answer.headers, asked)
            facts = ({"siblings": None, **one} for one in answer.json()[:limit])
            return [_found(ModelInfo(**one)) for one in facts]  # type: ignore[no-untyped-call]

        return self._asked(asked, ask)

    def repository(self, repo: str, revision: str | None = None) -> Repository:
        """Return what a repository holds, at its newest commit or at ``revision``.

        Raises:
            SlipstreamError: there is none, or this person may not see it.
        """
        asked = Asked(self.endpoint, self._token(), check_repo(repo))

        def ask(api: HfApi) -> Repository:
            info = api.model_info(repo, revision=revision, files_metadata=True, timeout=API_TIMEOUT_S)
            if info.siblings is None:
                raise not_a_hub(asked)
            commit = info.sha or revision or "main"
            files = (_file(info.id, commit, sibling) for sibling in info.siblings)
            return Repository(info.id, commit, bool(info.gated), _licence(info), tuple(filter(None, files)))

        return self._asked(asked, ask)

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

    def _asked(self, asked: Asked, ask: Callable[[HfApi], T]) -> T:
        quiet_client()
        from huggingface_hub import HfApi, get_session

        get_session().timeout = API_TIMEOUT_S  # its own is none, and not every call takes one
        token = asked.token.value if asked.token else False
        api = HfApi(self.endpoint, token=token, library_name="slipstream", library_version=__version__)
        n_tries = min(N_API_TRIES, self.patience.n_tries)
        for n_failures in range(n_tries):
            try:
                return _answer(asked, lambda: ask(api))
            except PassingError as passing:
                if n_failures + 1 == n_tries:
                    raise passing.fault from None
                time.sleep(min(self.patience.delay_s(n_failures, passing.asked_s), API_TIMEOUT_S))
        raise not_a_hub(asked)


def _answer(asked: Asked, ask: Callable[[], T]) -> T:
    """Ask once; an answer that cannot be read is not one of a hub."""
    from huggingface_hub.errors import HFValidationError

    with in_words(asked):
        try:
            return ask()
        except HFValidationError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
            raise not_a_hub(asked) from fault


def _checked_endpoint(text: str) -> str:
    endpoint = text.strip().rstrip("/")
    try:
        parts = urlsplit(endpoint)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_address = False
    if not is_address:
        raise NetworkError(f"HF_ENDPOINT is {text!r}, which is no address.", f"Unset it, or set {DEFAULT_ENDPOINT}")
    return endpoint


def _item(wanted: Wanted, files: tuple[RemoteFile, ...]) -> Item:
    return Item(f"{wanted.repo}:{wanted.path}" if wanted.path else wanted.title, files)


def _file(repo: str, commit: str, sibling: RepoSibling) -> RemoteFile | None:
    """Return a file of the hub's list; None for what could not be kept safely or has no size."""
    size = sibling.lfs.size if sibling.lfs else sibling.size
    if size is None or size < 0 or not is_safe_path(sibling.rfilename):
        return None
    digest = f"sha256:{sibling.lfs.sha256}" if sibling.lfs else f"git:{sibling.blob_id}"
    return RemoteFile(check_repo(repo), commit, sibling.rfilename, size, digest.lower())


def _found(model: ModelInfo) -> FoundModel:
    updated = model.last_modified.date().isoformat() if model.last_modified else ""
    return FoundModel(model.id, bool(model.gated), _licence(model), model.downloads or 0, model.likes or 0, updated)


def _licence(model: ModelInfo) -> str:
    """Return the licence that the publisher names; "other" has its name beside it."""
    card = model.card_data
    named = [card.get("license_name"), card.get("license")] if card is not None else []
    named += _of_tags(model.tags or ())
    return next((word for word in named if isinstance(word, str) and word), "")


def _of_tags(tags: Iterable[str]) -> list[str]:
    return [tag.removeprefix("license:") for tag in tags if tag.startswith("license:")]
