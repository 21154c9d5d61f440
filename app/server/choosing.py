"""Which pair a request means: names of the library, repositories that are pulled, absolute paths, and nothing else."""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.errors import ModelError, ModelNotFoundError, UsageError
from app.host import HostState, PairChoice
from app.host.background import beside
from app.models.library import STARTER, Library, LibraryEntry
from app.models.names import is_meant
from app.protocol import SpecType
from app.server.asking import spec_types, speculation_of
from app.server.options import Defaults, ServerOptions
from app.server.pulls import Pulls
from app.server.wire import Asked

_REPO = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}(?::[\w.-]{1,64})?", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SHOWN = 80
_BY_FILE: frozenset[SpecType] = frozenset({"draft-simple", "draft-mtp", "tree"})
_KNOWN_S = 5.0
"""How long a name is believed to mean the same file: looking through all places takes a while."""
_N_KNOWN = 64


@dataclass(frozen=True, slots=True)
class Chosen:
    """A pair, and who drafts; ``types`` is None where neither the request nor the file that drafts says.

    ``to_load`` is what the request has loaded when its turn comes: nothing where that is a person's choice, who may
    choose another model while it waits.
    """

    pair: PairChoice
    types: tuple[SpecType, ...] | None
    to_load: PairChoice | None


class Chooser:
    """Finds what requests name; for the server's loop."""

    def __init__(self, library: Library, options: ServerOptions, state: Callable[[], HostState]) -> None:
        self._library, self._options, self._state = library, options, state
        self._pulls = Pulls(options.limits.n_pulls, options.limits.n_waiting_pulls)
        self._found: dict[str, tuple[float, Path]] = {}

    @property
    def n_pulls(self) -> int:
        """How many models are being pulled for requests, or wait for that."""
        return self._pulls.n_wanted

    async def models(self) -> list[LibraryEntry]:
        """Return the models that can be asked for; the one that is the default comes first."""
        entries = await beside(self._library.entries, "listing models")
        target = self._options.defaults().pair.target
        return sorted(entries, key=lambda entry: target not in (entry.name, str(entry.path)))

    async def choose(self, request: Asked, defaults: Defaults) -> Chosen:
        """Return the pair that a request wants.

        Raises:
            UsageError: its words do not go together, or it asks for what this server does not do.
            ModelError: there is no such model.
        """
        base = defaults.pair
        _check_drafting(request, defaults)
        needs_draft = "draft-simple" in (spec_types(request) or ()) and request.spec_draft_model is None
        if request.spec_draft_model not in (None, base.draft):
            await self._check_there_is(request.spec_draft_model or "")
        target = await self._target(request.model, base, needs_draft=needs_draft)
        draft, types = await self._drafter(request, defaults, target)
        pair = replace(base, target=target, draft=draft)
        if request.nctx is not None:
            pair = replace(pair, n_ctx=request.nctx)
        if request.compute is not None:
            pair = replace(pair, compute=request.compute, draft_compute="")
        if request.ngl is not None:
            pair = replace(pair, n_device_layers=request.ngl)
        if self._options.may_switch:
            return Chosen(pair, types, pair)
        self._check_is_loaded(pair)
        state = self._state()
        is_nothing_there = state.loaded is None and state.phase not in ("loading", "starting")
        return Chosen(pair, types, pair if is_nothing_there else None)

    async def _drafter(
        self, request: Asked, defaults: Defaults, target: str
    ) -> tuple[str | None, tuple[SpecType, ...] | None]:
        """Return the file that drafts, and who does, by what is in it where the request does not say."""
        types, base = spec_types(request), defaults.pair
        is_base = target == base.target
        draft = base.draft if is_base else None
        if request.spec_draft_model is not None:
            draft = await self._draft(request.spec_draft_model, base)
            named = draft
            if request.spec_type is None and await beside(lambda: self._library.are_heads(named), "reading a header"):
                types = ("draft-mtp",)
        elif types and "draft-simple" in types and draft is None:
            raise _no_draft_model()
        elif not _BY_FILE & set(types if types is not None else defaults.speculation.types if is_base else ()):
            draft = self._loaded_draft(target, draft)  # nobody drafts with it: leave what is there
        return draft, types

    def _loaded_draft(self, target: str, draft: str | None) -> str | None:
        loaded = self._state().pair
        return loaded.draft if loaded is not None and loaded.target == target else draft

    def _check_is_loaded(self, pair: PairChoice) -> None:
        loaded = self._state().pair
        if loaded is not None and pair != loaded:
            raise UsageError(
                "That would have another model, draft, context or device loaded than the window has.",
                "Choose it in the window, or leave these fields out.",
            )

    async def _target(self, words: str, base: PairChoice, *, needs_draft: bool) -> str:
        if words in ("", base.target):
            return base.target
        path = await self._known_or_found(words, needs_draft=needs_draft)
        there = await beside(lambda: _path_of(self._library, base.target), "finding a model")
        return base.target if path == there else STARTER if words == STARTER else str(path)

    async def _draft(self, words: str, base: PairChoice) -> str:
        if words == base.draft:
            return words
        return str(await self._known_or_found(words))

    async def _check_there_is(self, words: str) -> None:
        """Look for a draft model, here or on the hub, before a target is pulled for it, which may take an hour.

        Raises:
            SlipstreamError: there is none.
        """
        if await self._known(words) is None:
            await self._pulls.look(words)

    async def _known_or_found(self, words: str, *, needs_draft: bool = False) -> Path:
        """Return the file of what a client names, which is pulled if it is not here.

        Raises:
            ModelNotFoundError: there is none.
            UsageError: it would be pulled for a request that needs a draft model and has none.
        """
        if (path := await self._known(words)) is not None:
            return path
        if needs_draft:
            raise _no_draft_model()
        return self._keep(words, await self._pulls.get(words))

    async def _known(self, words: str) -> Path | None:
        found_s, path = self._found.get(words, (-_KNOWN_S, None))
        if path is not None and time.monotonic() - found_s < _KNOWN_S:
            return path
        path = await self._find(words)
        return None if path is None else self._keep(words, path)

    def _keep(self, words: str, path: Path) -> Path:
        if len(self._found) >= _N_KNOWN:
            self._found.clear()
        self._found[words] = (time.monotonic(), path)
        return path

    async def _find(self, words: str) -> Path | None:
        """Return the file of what a client names, None where it may be pulled.

        Raises:
            ModelNotFoundError: there is none; where one can be pulled, the hint says how.
        """
        if _CONTROL.search(words) or "\\\\" in words or words.startswith(("//", "~")):
            raise _unknown(words)
        if Path(words).is_absolute():
            return await beside(lambda: self._at(Path(words)), "finding a model")
        entries, names = await beside(self._all, "finding a model")
        if (meant := is_meant(words, entries)) is not None:
            return meant.path
        if not _REPO.fullmatch(words) or ".." in words:
            raise _unknown(words, names)
        if not self._options.may_pull:
            raise ModelNotFoundError(
                f"{words} is not on this computer.",
                f"Get it with: slipstream pull {words} (or start the server with --pull)",
            )
        return None

    def _all(self) -> tuple[list[LibraryEntry], list[str]]:
        contents = self._library.contents()
        entries = [*contents.models, *contents.drafters]
        return entries, [entry.name for entry in entries]

    def _at(self, path: Path) -> Path:
        """Return an absolute path if a model is there; who asks learns nothing about other files."""
        if path.suffix.lower() != ".gguf" or ".." in path.parts:
            raise _unknown(str(path))
        try:
            return self._library.resolve(str(path)).path
        except (ModelError, OSError):
            raise ModelNotFoundError("There is no model at that path that can be loaded.") from None


def _check_drafting(request: Asked, defaults: Defaults) -> None:
    """Refuse what no file could make right, before any is looked for or pulled.

    Raises:
        UsageError: says what it is.
    """
    types = spec_types(request)
    if request.spec_draft_model is not None:
        if types is not None and not _BY_FILE & set(types):
            raise UsageError(
                "spec_draft_model is given, but spec_type does not use it.",
                "Add draft-simple, draft-mtp or tree to spec_type.",
            )
    elif types and "draft-simple" in types and defaults.pair.draft is None:
        raise _no_draft_model()
    surely = tuple(kind for kind in defaults.speculation.types if kind != "draft-simple")
    speculation_of(request, defaults.speculation, surely if types is None else types)


def _no_draft_model() -> UsageError:
    return UsageError("spec_type draft-simple needs a draft model.", "Name one in spec_draft_model.")


def _path_of(library: Library, name: str) -> Path | None:
    try:
        return library.resolve(name).path
    except ModelError:
        return None


def _unknown(words: str, names: Sequence[str] = ()) -> ModelNotFoundError:
    shown = _CONTROL.sub("?", words)[:_SHOWN]
    close = difflib.get_close_matches(words, names, n=1)
    hint = f"Did you mean {close[0]}?" if close else "GET /v1/models lists what is here."
    return ModelNotFoundError(f"No model is called {shown!r}.", hint)
