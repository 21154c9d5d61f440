"""Curated pairs: which target, which drafter, from where, and with what to start.

The catalog ships with the program (``resources/catalog.json``, shape in ``catalog.schema.json``). It holds only what
public sources confirm, with the source and the date in each entry; :func:`check` holds it against a hub.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import msgspec

from app.engine.gguf import GgufHeader
from app.errors import HubAccessError, HubNotFoundError, ModelFileError, SlipstreamError
from app.models.remote import Repository
from app.paths import resource
from app.protocol import SpecType

STARTER = "starter"
"""Stands for the model that comes with the program, in place of a repository."""

LaptopSize = Literal[16, 32, 64]


class CatalogFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a repository; None where no source names the size or the hash."""

    path: str
    n_bytes: int | None
    sha256: str | None


class CatalogModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One model; split ones have several files, the starter none."""

    repo: str
    quantisation: str
    licence: str
    files: tuple[CatalogFile, ...]


class CatalogSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where something was confirmed, and when it was read."""

    what: str
    where: str
    read: str


class CatalogPair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One pair; ``memory_bytes`` is about what it takes with a context of 4,096 tokens."""

    id: str
    title: str
    kind: Literal["assistant", "heads in a file", "embedded heads", "draft model"]
    architecture: str
    target: CatalogModel
    draft: CatalogModel | None
    spec_type: SpecType
    draft_tokens: int
    memory_bytes: int
    laptops_gb: tuple[LaptopSize, ...]
    note: str
    sources: tuple[CatalogSource, ...]

    @property
    def drafter_words(self) -> str:
        """What drafts, in words."""
        if self.draft is None:
            return "heads in the target"
        return "the starter" if self.draft.repo == STARTER else self.draft.files[0].path.rsplit("/", 1)[-1]


class _Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    schema: Literal[1]
    updated: str
    pairs: tuple[CatalogPair, ...]


class Asks(Protocol):
    """The part of a hub that the check needs."""

    def repository(self, repo: str, revision: str | None = None) -> Repository:
        """Return what a repository holds."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """All curated pairs."""

    updated: str
    pairs: tuple[CatalogPair, ...]

    @classmethod
    def load(cls) -> Catalog:
        """Read the catalog that ships with the program.

        Raises:
            ModelFileError: it is damaged.
        """
        try:
            shape = msgspec.json.decode(resource("catalog.json").read_bytes(), type=_Shape)
        except (OSError, msgspec.MsgspecError) as fault:
            raise ModelFileError(f"The catalog cannot be read: {fault}.", "Install the program again.") from fault
        return cls(shape.updated, shape.pairs)

    def for_laptop(self, size_gb: LaptopSize) -> list[CatalogPair]:
        """Return the pairs that suit a laptop with so much memory."""
        return [pair for pair in self.pairs if size_gb in pair.laptops_gb]

    def for_target(self, header: GgufHeader, name: str = "") -> list[CatalogPair]:
        """Return the pairs whose target is, by architecture and size or name, the file with this header."""
        size = header.n_file_bytes
        return [
            pair
            for pair in self.pairs
            if pair.architecture == header.architecture
            and any(file.n_bytes == size or file.path.rsplit("/", 1)[-1] == name for file in pair.target.files)
        ]


# --- held against a hub -----------------------------------------------------------------------------


class Finding(msgspec.Struct, frozen=True):
    """What became of one file of the catalog at the hub; ``problem`` is "" if it is as the catalog says."""

    pair: str
    repo: str
    path: str
    problem: str


def check(pairs: Sequence[CatalogPair], hub: Asks) -> list[Finding]:
    """Compare every file with what a hub has; one finding a file.

    Raises:
        SlipstreamError: the hub cannot be asked at all.
    """
    known: dict[str, Repository | SlipstreamError] = {}
    findings = []
    for pair in pairs:
        for model in (pair.target, pair.draft):
            if model is None or model.repo == STARTER:
                continue
            if model.repo not in known:
                known[model.repo] = _ask(hub, model.repo)
            has = known[model.repo]
            findings += [Finding(pair.id, model.repo, file.path, _problem(model, file, has)) for file in model.files]
    return findings


def _ask(hub: Asks, repo: str) -> Repository | SlipstreamError:
    try:
        return hub.repository(repo)
    except (HubNotFoundError, HubAccessError) as fault:
        return fault


def _problem(model: CatalogModel, file: CatalogFile, has: Repository | SlipstreamError) -> str:
    if isinstance(has, SlipstreamError):
        return has.message
    found = next((remote for remote in has.files if remote.path == file.path), None)
    if found is None:
        return "There is no such file."
    if file.n_bytes is not None and found.n_bytes != file.n_bytes:
        return f"It has {found.n_bytes} bytes; the catalog says {file.n_bytes}."
    if file.sha256 is not None and found.digest.removeprefix("sha256:") != file.sha256:
        return "It has another hash than the catalog says: the file was changed."
    if has.licence and has.licence != model.licence:
        return f"Its licence is {has.licence}; the catalog says {model.licence}."
    return ""
