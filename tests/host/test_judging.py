"""What is said of models before anything is loaded or pulled: from the catalog, this computer and the hub."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
from dataclasses import replace

import pytest

from app.engine.gguf import read_header
from app.errors import HubAccessError, NetworkError
from app.host import PairChoice, ways
from app.host.candidates import MAX_KEPT, Candidates
from app.host.hub_door import HubDoor
from app.host.hub_drafters import likely, size_in_name
from app.host.judging import MOST_MODELS, Judging
from app.host.look import Look
from app.models.catalog import CatalogFile, CatalogModel, CatalogPair
from app.models.hub import Hub
from app.models.library import Library
from app.models.pairs import Candidate, candidate_of_file
from app.models.remote import FoundModel
from app.paths import models_dir
from tests.fair_time import FairWatch
from tests.fixtures import tiny, tiny_mtp
from tests.host.test_pulling import SOON, hub, server, tokens  # noqa: F401 - fixtures

REPO = "org/tiny-GGUF"
HOW = PairChoice("", n_ctx=512)


@pytest.fixture
def judging(hub):  # noqa: F811
    return Judging(HubDoor(hub), Library())


def put(source, name):
    place = models_dir() / "org" / "tiny" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, place)
    return place


def curated(target, draft) -> CatalogPair:
    def model(path):
        return CatalogModel(REPO, "Q8_0", "mit", (CatalogFile(path.name, path.stat().st_size, None),))

    return CatalogPair(
        id="tiny",
        title="Tiny pair",
        kind="draft model",
        architecture="llama",
        target=model(target),
        draft=model(draft),
        spec_type="draft-simple",
        draft_tokens=4,
        memory_bytes=1 << 20,
        laptops_gb=(16,),
        note="",
        sources=(),
    )


def test_the_catalog_is_there_without_a_hub():
    judging = Judging(HubDoor(), Library())
    cards, room = asyncio.run(judging.catalog())
    assert len(cards) > 10
    assert room.total_bytes > room.free_bytes > 0
    assert not any(card.is_here for card in cards)


def test_a_curated_pair_is_judged_by_its_headers_on_the_hub(server, judging, tiny_pair):  # noqa: F811
    for path in (tiny_pair.target, tiny_pair.draft):
        server.add(REPO, path.name, path)
    offers = asyncio.run(judging.curated(curated(tiny_pair.target, tiny_pair.draft), HOW))
    (offer,) = offers.offers
    assert offer.judgement.fits
    assert offer.judgement.memory.draft.weights_bytes > 0
    assert not offer.judgement.memory.is_exact
    assert [file.path for file in offers.files_to_pull(offer)] == [tiny_pair.target.name, tiny_pair.draft.name]
    assert offers.what_to_pull(offer) is offers.pair


def test_a_curated_pair_that_is_here_is_judged_here_and_weighed(server, judging, tiny_pair):  # noqa: F811
    for path in (tiny_pair.target, tiny_pair.draft):
        put(path, path.name)

    async def story():
        offers = await judging.curated(curated(tiny_pair.target, tiny_pair.draft), HOW)
        assert offers.what_to_pull(offers.offers[0]) is None
        return await judging.weigh(offers, offers.offers[0], HOW)

    offer = asyncio.run(story())
    assert offer.judgement.memory.is_exact
    assert offer.draft == tiny_pair.draft.stem
    assert server.seen == []


def test_drafters_of_a_model_here_come_best_first_and_those_that_do_not_fit_last(judging, tiny_pair):
    put(tiny_pair.target, "target.gguf")
    put(tiny_pair.draft, "draft.gguf")
    offers = asyncio.run(judging.local("target", HOW))
    said = [(offer.judgement.draft or offer.judgement.kind, offer.judgement.fits) for offer in offers.offers]
    assert said == [("n-gram", True), ("draft", True), ("starter", False)]
    assert all(offer.judgement.reasons for offer in offers.offers)
    assert offers.target == "target"
    assert offers.what_to_pull(offers.offers[1]) is None


def n_candidates() -> int:
    return sum(isinstance(one, Candidate) for one in gc.get_objects())


def test_of_a_large_library_only_what_is_said_of_it_is_kept(tiny_pair):
    place = put(tiny_pair.draft, "draft-000.gguf")
    for n in range(1, 200):
        os.link(place, place.with_name(f"draft-{n:03d}.gguf"))
    gc.collect()
    candidates, n_before, n_alive = Candidates(), n_candidates(), []
    target = candidate_of_file(tiny_pair.target, "target")

    def watched():
        for n, drafter in enumerate(ways.here(Library(), candidates, target)):
            if n == 150:
                n_alive.append(n_candidates() - n_before)
            yield drafter

    offers = ways.offers_for(target, watched(), HOW)
    assert len(offers) == 202  # with n-grams, and the starter
    assert n_alive[0] <= MAX_KEPT + 20


def test_a_vocabulary_that_cannot_matter_is_not_read_and_one_that_can_is_read_later(tiny_pair):
    candidates, starter = Candidates(), Library().resolve("starter")
    target = candidate_of_file(tiny_pair.target, "target")
    assert candidates.of_entry(starter, target.header).texts is None
    assert candidates.of_entry(starter, candidates.of_entry(starter, target.header).header).texts is not None
    assert candidates.of_entry(starter, target.header).texts is not None


def test_the_catalogs_drafter_for_a_model_that_is_here_is_named_until_it_is_here_too(judging, tmp_path):
    pair = tiny_mtp.gemma4_pair(tmp_path)
    put(pair.target, "gemma-4-E4B-it-Q4_0.gguf")
    offers = asyncio.run(judging.local("gemma-4-E4B-it-Q4_0", HOW))
    assert "mtp-gemma-4-E4B-it-Q4_0.gguf" in offers.note
    put(pair.draft, "mtp-gemma-4-E4B-it-Q4_0.gguf")
    offers = asyncio.run(judging.local("gemma-4-E4B-it-Q4_0", HOW))
    assert offers.note == ""
    assert offers.offers[0].judgement.kind == "assistant"


def test_heads_in_the_target_lead(judging, tmp_path):
    put(tiny_mtp.qwen35_embedded(tmp_path / "embedded.gguf"), "embedded.gguf")
    offers = asyncio.run(judging.local("embedded", HOW))
    assert offers.offers[0].judgement.kind == "embedded heads"
    assert offers.offers[0].where == "in the target"


def test_a_repository_lists_its_models_and_marks_the_one_that_llama_cpp_takes(server, judging, tiny_pair):  # noqa: F811
    for name in ("some-Q4_0.gguf", "some-Q4_K_M.gguf", "mmproj-some.gguf"):
        server.add(REPO, name, tiny_pair.target)
    listing = asyncio.run(judging.listing(REPO))
    assert [model.tag for model in listing.models] == ["Q4_0", "Q4_K_M"]
    assert listing.preferred == 1
    assert (listing.licence, listing.is_gated) == ("apache-2.0", False)
    assert asyncio.run(judging.listing(f"{REPO}:Q4_0")).preferred == 0


def test_of_a_repository_with_very_many_models_the_preferred_one_is_listed(server, judging, tiny_pair):  # noqa: F811
    for n in range(MOST_MODELS + 5):
        server.add(REPO, f"some-{n:03d}.gguf", tiny_pair.draft)
    server.add(REPO, "some-Q4_K_M.gguf", tiny_pair.target)
    listing = asyncio.run(judging.listing(REPO))
    assert (len(listing.models), listing.n_more) == (MOST_MODELS, 6)
    assert listing.models[listing.preferred].tag == "Q4_K_M"


def test_a_model_of_the_hub_is_judged_with_heads_beside_it_and_drafters_here(server, judging, tmp_path):  # noqa: F811
    pair = tiny_mtp.qwen35_pair(tmp_path)
    server.add(REPO, "some-Q8_0.gguf", pair.target)
    server.add(REPO, "mtp-some-Q8_0.gguf", pair.draft)

    async def story():
        listing = await judging.listing(REPO)
        return await judging.remote(listing.models[0], listing, HOW)

    offers = asyncio.run(story())
    first = offers.offers[0]
    assert (first.judgement.kind, first.where) == ("heads in a file", "in the same repository")
    pulled = offers.what_to_pull(first)
    assert [file.path for file in pulled.files] == ["some-Q8_0.gguf", "mtp-some-Q8_0.gguf"]
    starter = next(offer for offer in offers.offers if offer.draft == "starter")
    assert not starter.judgement.fits
    assert offers.what_to_pull(starter) is offers.item


def looked(judging, name, look=None):
    """Return what a look for drafters of a model here brings."""
    look = look or Look()

    async def story():
        offers = await judging.local(name, HOW)
        await judging.look(offers, look)
        return await judging.found(offers, look, HOW)

    return asyncio.run(story())


def family(server, tmp_path):  # noqa: F811
    """Put a target here, and smaller ones of its family, larger ones and strangers on the hub."""
    pair = tiny.llama_pair(tmp_path)
    put(tiny.llama(tmp_path / "Tiny-1M-instruct.gguf"), "Tiny-target.gguf")
    server.add("org/Tiny-0.001M-GGUF", "Tiny-Q8_0.gguf", pair.draft)
    server.add("org/Tiny-70B-GGUF", "Tiny-Q8_0.gguf", pair.target)
    server.add("org/other-0.001M-GGUF", "other-Q8_0.gguf", pair.draft)


def test_smaller_siblings_on_the_hub_are_offered(server, judging, tmp_path):  # noqa: F811
    family(server, tmp_path)
    look = Look()
    offers = looked(judging, "Tiny-target", look)
    assert [(offer.where, offer.item.files[0].repo) for offer in offers] == [("on the hub", "org/Tiny-0.001M-GGUF")]
    assert offers[0].judgement.fits
    assert look.is_whole


def test_drafters_for_a_model_that_is_on_the_hub_itself_are_found_there(server, judging, tmp_path):  # noqa: F811
    family(server, tmp_path)
    server.add("org/Tiny-1M-GGUF", "Tiny-1M-Q8_0.gguf", tiny.llama(tmp_path / "Tiny-1M.gguf"))

    async def story():
        listing = await judging.listing("org/Tiny-1M-GGUF")
        offers = await judging.remote(listing.models[0], listing, HOW)
        look = Look()
        await judging.look(offers, look)
        (found,) = await judging.found(offers, look, HOW)
        return offers.what_to_pull(found)

    item = asyncio.run(story())
    assert [file.repo for file in item.files] == ["org/Tiny-1M-GGUF", "org/Tiny-0.001M-GGUF"]


def test_heads_are_found_in_the_repository_that_a_model_came_from_and_by_search(server, judging, tmp_path):  # noqa: F811
    pair = tiny_mtp.gemma4_pair(tmp_path)
    put(pair.target, "tiny-gemma4.gguf")
    server.add("org/tiny", "mtp-tiny-gemma4-Q8_0.gguf", pair.draft)
    offers = looked(judging, "tiny-gemma4")
    assert [(offer.where, offer.judgement.kind, offer.judgement.fits) for offer in offers] == [
        ("in its repository on the hub", "assistant", True)
    ]


def test_a_look_that_is_stopped_or_late_keeps_what_was_found(server, judging, tmp_path):  # noqa: F811
    family(server, tmp_path)
    stopped = Look()
    stopped.stop()
    assert looked(judging, "Tiny-target", stopped) == ()
    assert not stopped.is_whole
    watch = FairWatch()
    server.stall_at = 100
    late = Look(limit_s=0.6)
    assert looked(judging, "Tiny-target", late) == ()
    assert watch.took_s < 3
    assert not late.is_whole


def test_repositories_are_chosen_by_their_names(tmp_path):
    header = read_header(tiny.llama(tmp_path / "m.gguf"))
    factor = round(8e9 / header.n_params)
    header = replace(
        header, tensors=tuple(replace(t, shape=(*t.shape[:-1], t.shape[-1] * factor)) for t in header.tensors)
    )
    size_b = header.n_params / 1e9

    def found(*names):
        return [FoundModel(f"org/{name}", False, "", 1000 - n, 0, "") for n, name in enumerate(names)]

    names = (
        f"Some-{size_b:.0f}B-it",
        f"Some-{size_b / 2:.0f}B-it",
        f"Some-{size_b / 4:.1f}B",
        f"Some-{size_b / 4:.1f}B-it",
        f"Some-{size_b / 4:.1f}B-it-by-another",
        f"Some-{size_b / 20:.2f}B-it",
        f"Some-{size_b:.0f}B-it-assistant",
        f"Some-{size_b * 8:.0f}B-it-assistant",
        "Some-mini",
    )
    chosen = likely(found(*names), header, f"Some-{size_b:.0f}B-it-Q4_0.gguf", f"org/{names[0]}")
    assert [one.repo.removeprefix("org/") for one in chosen] == [names[6], names[3], names[5]]


def test_a_gated_header_is_refused_in_words(server, judging, tiny_pair):  # noqa: F811
    server.add(REPO, tiny_pair.target.name, tiny_pair.target)
    server.repos[REPO].gated = "manual"

    async def story():
        listing = await judging.listing(REPO)
        assert listing.is_gated
        await judging.remote(listing.models[0], listing, HOW)

    with pytest.raises(HubAccessError):
        asyncio.run(story())


def test_no_address_of_a_hub_is_said_when_it_is_asked(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "nonsense")
    judging = Judging(HubDoor(), Library())
    assert len(asyncio.run(judging.catalog())[0]) > 10
    with pytest.raises(NetworkError):
        asyncio.run(judging.search("qwen"))


def test_a_header_is_fetched_once(server, hub, tiny_pair):  # noqa: F811
    for path in (tiny_pair.target, tiny_pair.draft):
        server.add(REPO, path.name, path)
    judging = Judging(HubDoor(Hub(server.endpoint, find=lambda: None, patience=SOON)), Library())

    async def story():
        pair = curated(tiny_pair.target, tiny_pair.draft)
        await judging.curated(pair, HOW)
        n = server.count("storage")
        await judging.curated(pair, HOW)
        assert server.count("storage") == n > 0

    asyncio.run(story())


@pytest.mark.parametrize(
    ("repo", "size"),
    [
        ("Qwen/Qwen2.5-0.5B-Instruct-GGUF", 0.5e9),
        ("org/SmolLM2-135M-Instruct", 135e6),
        ("org/gemma-4-26B-A4B", 26e9),
        ("org/Phi-mini", 0),
    ],
)
def test_a_size_is_read_from_a_name(repo, size):
    assert size_in_name(repo) == size
