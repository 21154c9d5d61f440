"""Model files as far as pairs need to know them, each read once, wherever it is."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from app.engine.gguf import GgufHeader
from app.models.library import LibraryEntry
from app.models.pairs import Candidate, candidate_of_file, candidate_of_sources, needs_texts

if TYPE_CHECKING:
    from app.models.hub import Hub
    from app.models.remote import Item

MAX_KEPT = 40
"""A large vocabulary takes some megabytes; what was read first is dropped first."""


class Candidates:
    """Keeps what was read of files; any thread may ask."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, Candidate] = {}

    def of_entry(self, entry: LibraryEntry, target: GgufHeader | None = None) -> Candidate:
        """Read a file on this computer; as a drafter for ``target`` no more of it than is needed to judge it.

        Raises:
            ModelError: it is gone, or cannot be loaded.
        """
        try:
            state = entry.path.stat()
            key = (str(entry.path), entry.name, state.st_size, state.st_mtime_ns)
        except OSError:
            return candidate_of_file(entry.path, entry.name, entry.n_bytes)  # which says in words what is wrong
        known = self._kept.get(key)
        if known is not None and known.texts is None and needs_texts(known.header, target):
            self._kept.pop(key, None)  # another target did not need its vocabulary
        return self._get(key, lambda: candidate_of_file(entry.path, entry.name, entry.n_bytes, target=target))

    def of_item(self, hub: Hub, item: Item) -> Candidate:
        """Read the header of a model on the hub.

        Raises:
            SlipstreamError: the hub does not give it, or it is no sound model.
        """
        key = tuple((file.repo, file.path, file.digest) for file in item.files)
        name = item.title
        return self._get(key, lambda: candidate_of_sources([hub.source(file) for file in item.files], name))

    def _get(self, key: Hashable, read: Callable[[], Candidate]) -> Candidate:
        known = self._kept.get(key)
        if known is None:
            known = self._kept[key] = read()
            while len(self._kept) > MAX_KEPT:
                self._kept.pop(next(iter(self._kept)), None)
        return known
