"""The catalog is sound in itself, and its check says what a hub no longer has."""

from __future__ import annotations

import json

import jsonschema
import pytest

from app.engine.architectures import KNOWN
from app.engine.gguf import GgufHeader
from app.errors import HubAccessError, HubNotFoundError, NetworkError
from app.models.catalog import STARTER, Catalog, CatalogModel, check
from app.models.hub_choice import read_name
from app.models.remote import RemoteFile, Repository, check_repo, is_safe_path
from app.paths import resource

CATALOG = Catalog.load()
SHARE_FOR_A_PAIR = 0.7
"""Part of a laptop's memory that a pair may take: the rest is the system's and other programs'."""


def test_it_has_the_shape_that_is_told():
    told = json.loads(resource("catalog.schema.json").read_text(encoding="utf-8"))
    facts = json.loads(resource("catalog.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(told)
    jsonschema.validate(facts, told)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**facts, "pairs": [{**facts["pairs"][0], "sources": []}]}, told)


def test_each_laptop_has_pairs_of_several_kinds():
    for size in (16, 32, 64):
        assert {pair.kind for pair in CATALOG.for_laptop(size)} == {
            *("assistant", "heads in a file", "embedded heads", "draft model")
        } - ({"heads in a file"} if size == 16 else set())
    families = " ".join(pair.id for pair in CATALOG.pairs)
    assert all(
        name in families for name in ("gemma-4-26b", "qwen3.5", "qwen3.6", "qwen3.8", "qwen2.5", "llama-3", "smollm2")
    )


@pytest.mark.parametrize("pair", CATALOG.pairs, ids=lambda pair: pair.id)
def test_a_pair_is_sound(pair):
    assert pair.architecture in KNOWN
    assert pair.spec_type == ("draft-simple" if pair.kind == "draft model" else "draft-mtp")
    assert (pair.draft is None) == (pair.kind == "embedded heads")
    models = [model for model in (pair.target, pair.draft) if model is not None and model.repo != STARTER]
    known_bytes = 0
    for model in models:
        assert read_name(f"{check_repo(model.repo)}:{model.quantisation}").repo == model.repo
        assert model.files
        for file in model.files:
            assert is_safe_path(file.path)
            known_bytes += file.n_bytes or 0
    assert pair.memory_bytes > known_bytes
    assert tuple(size for size in (16, 32, 64) if pair.memory_bytes <= size * 1e9 * SHARE_FOR_A_PAIR) == pair.laptops_gb
    named = " ".join(source.where for source in pair.sources)
    assert any(model.repo in named for model in models) or "github.com" in named


def test_ids_and_targets_are_told_once():
    assert len({pair.id for pair in CATALOG.pairs}) == len(CATALOG.pairs)
    assert len({(pair.target.repo, pair.draft and pair.draft.repo) for pair in CATALOG.pairs}) == len(CATALOG.pairs)


def test_a_target_at_hand_is_found_by_size_or_name():
    wanted = next(pair for pair in CATALOG.pairs if pair.id == "gemma-4-26b-a4b")
    (file,) = wanted.target.files

    def header(architecture: str, n_bytes: int) -> GgufHeader:
        return GgufHeader("m", n_bytes, 3, "little", {"general.architecture": architecture}, (), 0)

    assert CATALOG.for_target(header("gemma4", file.n_bytes)) == [wanted]
    assert CATALOG.for_target(header("gemma4", 1), file.path) == [wanted]
    assert CATALOG.for_target(header("llama", file.n_bytes), file.path) == []


# --- against a hub ----------------------------------------------------------------------------------


class Shelf:
    """A hub that has exactly what the catalog says, but for what a test changes."""

    def __init__(self, **changes: object) -> None:
        self._changes = changes
        self.asked: list[str] = []

    def repository(self, repo: str, revision: str | None = None) -> Repository:
        self.asked.append(repo)
        change = self._changes.get(repo.split("/")[1])
        if isinstance(change, Exception):
            raise change
        models = [m for pair in CATALOG.pairs for m in (pair.target, pair.draft) if m is not None and m.repo == repo]
        files = tuple(self._file(model, i) for model in models for i in range(len(model.files)))
        known = Repository(repo, "c" * 40, is_gated=False, licence=models[0].licence, files=files)
        return change(known) if callable(change) else known

    def _file(self, model: CatalogModel, index: int) -> RemoteFile:
        file = model.files[index]
        return RemoteFile(model.repo, "c" * 40, file.path, file.n_bytes or 1, f"sha256:{file.sha256 or 64 * 'a'}")


def problems(hub: Shelf) -> dict[str, str]:
    return {finding.path: finding.problem for finding in check(CATALOG.pairs, hub) if finding.problem}


def test_what_is_as_it_should_be_is_no_problem():
    hub = Shelf()
    findings = check(CATALOG.pairs, hub)
    assert {finding.problem for finding in findings} == {""}
    assert len(findings) == sum(
        len(m.files) for pair in CATALOG.pairs for m in (pair.target, pair.draft) if m is not None
    )
    assert len(hub.asked) == len(set(hub.asked)), "a repository is asked for once"
    assert STARTER not in hub.asked


def changed(**fields: object):
    def change(known: Repository) -> Repository:
        file = known.files[0]
        facts = {name: getattr(file, name) for name in file.__struct_fields__} | fields
        return Repository(known.repo, known.commit, False, known.licence, (RemoteFile(**facts), *known.files[1:]))

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (HubNotFoundError("There is no repository Qwen/Qwen3-8B-GGUF."), "There is no repository"),
        (HubAccessError("It is gated."), "It is gated"),
        (changed(path="other.gguf"), "There is no such file"),
        (changed(n_bytes=5), "It has 5 bytes; the catalog says 5027783488"),
        (changed(digest="sha256:" + "b" * 64), "another hash"),
        (lambda known: Repository(known.repo, known.commit, False, "mit", known.files), "Its licence is mit"),
    ],
)
def test_what_changed_at_the_hub_is_said(change, words):
    found = problems(Shelf(**{"Qwen3-8B-GGUF": change}))
    assert list(found) == ["Qwen3-8B-Q4_K_M.gguf"]
    assert words in found["Qwen3-8B-Q4_K_M.gguf"]


def test_no_network_is_not_a_fault_of_the_catalog():
    with pytest.raises(NetworkError):
        check(CATALOG.pairs, Shelf(**{"Qwen3-8B-GGUF": NetworkError("No connection.")}))
