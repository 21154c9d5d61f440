"""Downloads over the real client from a hub on this machine that has faults to order."""

from __future__ import annotations

import asyncio
import random
import shutil
import time
from contextlib import aclosing

import msgspec
import pytest

from app.errors import DiskFullError, DownloadError, HubError, NetworkError, RateLimitError
from app.models.download import Downloads, Progress
from app.models.hub import Hub
from app.models.library import Library
from app.models.patience import Patience
from app.models.remote import Item, pair
from app.paths import models_dir
from tests.hub_server import Repo, Stored
from tests.models.conftest import SOON

MIB = 1 << 20
REPO = "org/some-GGUF"


async def collect(downloads: Downloads, item: Item) -> list[Progress]:
    async with aclosing(downloads.get(item)) as steps:
        return [step async for step in steps]


def pull(hub, folder, item, **how) -> list[Progress]:
    async def run():
        return await collect(Downloads(hub, folder, spare_bytes=0, **how), item)

    return asyncio.run(run())


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "models"


@pytest.fixture
def item(server, hub, blob):
    server.add(REPO, "some-Q4_K_M.gguf", blob(8 * MIB))
    return hub.resolve(f"{REPO}:Q4_K_M")


def place(folder, item):
    return folder / REPO / item.files[0].path


def names(folder):
    """Everything in the folder that a person would call a file."""
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() and p.suffix == ".gguf")


def leftovers(folder):
    return sorted(p.name for p in (folder / ".downloads").iterdir())


def test_a_file_arrives_whole(server, hub, folder, item, blob):
    steps = pull(hub, folder, item)

    assert place(folder, item).read_bytes() == blob(8 * MIB).read_bytes()
    assert steps[-1].phase == "done"
    assert steps[-1].paths == (place(folder, item),)
    assert steps[-1].n_bytes == steps[-1].n_total_bytes == 8 * MIB
    assert leftovers(folder) == []
    assert server.n_sent == 8 * MIB


def test_what_is_there_is_not_fetched_again(server, hub, folder, item):
    pull(hub, folder, item)
    n_sent = server.n_sent

    assert pull(hub, folder, item)[-1].phase == "done"
    assert server.n_sent == n_sent


@pytest.mark.parametrize("cuts_are_resets", [False, True])
def test_fifty_cuts(server, hub, folder, item, blob, cuts_are_resets):
    server.cuts_are_resets = cuts_are_resets
    chosen = random.Random(7)
    server.cuts = [chosen.randrange(8 * MIB) for _ in range(50)]
    pull(hub, folder, item)

    assert place(folder, item).read_bytes() == blob(8 * MIB).read_bytes()
    assert server.cuts == []
    assert server.n_sent - 8 * MIB <= 50 * MIB


# --- pausing and going on ----------------------------------------------------------------------------


def pause_after(hub, folder, item, n_bytes):
    """Get an item until so many bytes are there, then close the iterator; return the last progress."""

    async def run():
        async with aclosing(Downloads(hub, folder, spare_bytes=0).get(item)) as steps:
            async for step in steps:
                if step.n_bytes >= n_bytes:
                    return step
        return None

    return asyncio.run(run())


def test_closing_pauses_and_the_next_goes_on(server, hub, folder, item, blob):
    server.rate_bytes_s = 8 * MIB
    step = pause_after(hub, folder, item, 2 * MIB)
    downloads = Downloads(hub, folder, spare_bytes=0)

    # THEN what has arrived is kept, nothing is in the library, and nobody holds it
    assert step.phase == "downloading"
    assert names(folder) == []
    (unfinished,) = downloads.unfinished()
    assert unfinished.item == item
    assert unfinished.n_bytes >= 2 * MIB
    assert not unfinished.is_running

    # WHEN it is gone on with
    server.rate_bytes_s = None
    pull(hub, folder, item)

    assert place(folder, item).read_bytes() == blob(8 * MIB).read_bytes()
    assert server.n_sent <= 9 * MIB
    assert downloads.unfinished() == []


def test_pace_and_time_left_are_told(server, hub, folder, item):
    server.rate_bytes_s = 8 * MIB
    began_s = time.monotonic()
    steps = [step for step in pull(hub, folder, item) if step.phase == "downloading"]
    on_the_whole_bytes_s = 8 * MIB / (time.monotonic() - began_s)  # less than the server allows if others are busy

    assert 0.4 * on_the_whole_bytes_s < steps[-1].rate_bytes_s < 12 * MIB
    assert any(step.eta_s is not None and step.eta_s < 3 for step in steps)
    assert [step.n_bytes for step in steps] == sorted(step.n_bytes for step in steps)


def test_cancelling_the_task_pauses(server, hub, folder, item):
    server.rate_bytes_s = 4 * MIB

    async def run():
        task = asyncio.ensure_future(collect(Downloads(hub, folder, spare_bytes=0), item))
        await asyncio.sleep(0.6)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(run())
    assert Downloads(hub, folder).unfinished()[0].n_bytes > 0


def test_closing_does_not_wait_for_a_silent_server(server, hub, folder, item):
    server.stall_at = 3 * MIB

    async def run():
        loop = asyncio.get_running_loop()
        async with aclosing(Downloads(hub, folder, spare_bytes=0).get(item)) as steps:
            async for step in steps:
                if step.n_bytes == 3 * MIB:
                    began_s = loop.time()
                    break
        return loop.time() - began_s

    assert asyncio.run(run()) < 3  # it would wait 5 s for a byte


def test_silence_is_given_up_in_the_end(server, hub, folder, item, blob):
    server.stall_at = 3 * MIB
    impatient = Hub(
        server.endpoint, find=lambda: None, patience=Patience(base_s=0.01, cap_s=0.05, n_tries=3, silence_s=0.5)
    )
    pull(impatient, folder, item)

    assert place(folder, item).read_bytes() == blob(8 * MIB).read_bytes()


def test_an_unfinished_one_can_be_discarded(server, hub, folder, item):
    server.rate_bytes_s = 8 * MIB
    pause_after(hub, folder, item, MIB)
    Downloads(hub, folder).discard(item)

    assert leftovers(folder) == []
    assert Downloads(hub, folder).unfinished() == []


def test_two_do_not_get_the_same_file_at_once(server, hub, folder, item):
    server.rate_bytes_s = 8 * MIB

    async def run():
        async with aclosing(Downloads(hub, folder, spare_bytes=0).get(item)) as steps:
            async for step in steps:
                if step.n_bytes > MIB:
                    break
            with pytest.raises(DownloadError, match="another window or command"):
                await collect(Downloads(hub, folder, spare_bytes=0), item)
            with pytest.raises(DownloadError, match="another window or command"):
                Downloads(hub, folder).discard(item)
            assert Downloads(hub, folder).unfinished()[0].is_running
            server.rate_bytes_s = None
            return [step async for step in steps]

    assert asyncio.run(run())[-1].phase == "done"


# --- servers that misbehave --------------------------------------------------------------------------


def test_a_server_without_ranges(server, hub, folder, item, blob):
    server.ignores_ranges = True
    server.cuts = [2 * MIB, 5 * MIB]
    steps = pull(hub, folder, item)

    assert place(folder, item).read_bytes() == blob(8 * MIB).read_bytes()
    assert [step.n_bytes for step in steps] == sorted(step.n_bytes for step in steps)
    assert server.n_sent == (2 + 5 + 8) * MIB


@pytest.mark.parametrize("origin", ["hub", "storage"])
@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_fault_that_passes(server, hub, folder, item, origin, status):
    server.statuses = [(origin, status, {"Retry-After": "0"}), (origin, status, {})]

    assert pull(hub, folder, item)[-1].phase == "done"
    assert server.statuses == []


def test_what_the_server_asks_to_wait_is_waited(server, hub, folder, item):
    patient = Hub(server.endpoint, find=lambda: None, patience=Patience(base_s=0.01, cap_s=0.05))
    server.statuses = [("storage", 429, {"Retry-After": "1"})]
    steps = pull(patient, folder, item)

    said = [step.detail for step in steps if step.phase == "retrying"]
    assert said
    assert said[0] == "The hub says: too many requests for now. Next try in 1 s."


@pytest.mark.parametrize(("status", "kind"), [(429, RateLimitError), (503, HubError), (500, HubError)])
def test_a_fault_that_stays(server, hub, folder, item, status, kind):
    server.rate_bytes_s = 8 * MIB
    pause_after(hub, folder, item, 2 * MIB)
    server.rate_bytes_s = None
    server.statuses = [("storage", status, {})] * SOON.n_tries
    with pytest.raises(kind) as caught:
        pull(hub, folder, item)

    assert caught.value.hint
    assert names(folder) == []
    assert pull(hub, folder, item)[-1].phase == "done"
    assert server.n_sent <= 9 * MIB


def test_expired_links_are_asked_for_anew(server, hub, folder, item):
    server.cuts = [2 * MIB]
    server.n_links_expired = 2

    assert pull(hub, folder, item)[-1].phase == "done"
    assert server.count("hub") >= 4


def test_links_that_always_expire_end_in_words(server, hub, folder, item):
    server.n_links_expired = 100
    with pytest.raises(HubError, match=r"refused some-Q4_K_M\.gguf"):
        pull(hub, folder, item)


def test_a_corrupt_byte_never_reaches_the_library(server, hub, folder, item, expect_log):
    expect_log("WARNING app.models.transfer: some-Q4_K_M.gguf of org/some-GGUF arrived damaged")
    server.corrupt_at = 5 * MIB + 17
    with pytest.raises(DownloadError, match="arrived damaged"):
        pull(hub, folder, item)
    assert names(folder) == []
    server.corrupt_at = None

    assert pull(hub, folder, item)[-1].phase == "done"


def test_a_part_that_was_changed_on_the_disk(server, hub, folder, item, expect_log):
    expect_log("arrived damaged")
    server.rate_bytes_s = 8 * MIB
    pause_after(hub, folder, item, 2 * MIB)
    (part,) = (folder / ".downloads").glob("*.part")
    with part.open("r+b") as file:
        file.write(b"\0\0\0\0")
    server.rate_bytes_s = None

    with pytest.raises(DownloadError, match="arrived damaged"):
        pull(hub, folder, item)
    assert names(folder) == []


@pytest.mark.parametrize("boot", ["another run of the machine", "1000000000"])
def test_after_an_end_of_the_machine_it_goes_on_from_what_was_synced(server, hub, folder, item, blob, boot):
    # GIVEN a part of which the last bytes were on their way to the disk when the machine ended
    server.rate_bytes_s = 8 * MIB
    pause_after(hub, folder, item, 3 * MIB)
    (part,) = (folder / ".downloads").glob("*.part")
    (note,) = (folder / ".downloads").glob("*.synced")
    assert msgspec.json.decode(note.read_bytes())["n_bytes"] == part.stat().st_size  # it was paused in order
    note.write_bytes(msgspec.json.encode({"boot": boot, "n_bytes": 2 * MIB}))
    with part.open("r+b") as file:
        file.seek(2 * MIB)
        file.write(bytes(MIB))

    # WHEN it is gone on with, THEN it is right, and only what was in doubt came again
    server.rate_bytes_s = None
    pull(hub, folder, item)
    assert place(folder, item).read_bytes() == blob(8 * MIB).read_bytes()
    assert server.seen[-1].first == 2 * MIB
    assert leftovers(folder) == []


def test_a_file_that_changed_on_the_hub(server, hub, folder, item, blob):
    # GIVEN a part of the old version
    server.rate_bytes_s = 8 * MIB
    pause_after(hub, folder, item, 2 * MIB)
    server.rate_bytes_s = None

    # WHEN the publisher replaces the file by one that is as long
    server.add(REPO, "some-Q4_K_M.gguf", blob(8 * MIB, "new.bin", seed=2))

    # THEN going on with what was asked for says so
    with pytest.raises(DownloadError, match="changed on the hub"):
        pull(hub, folder, item)
    # and asking anew gets the new one, and says that it started anew
    new = hub.resolve(f"{REPO}:Q4_K_M")
    steps = pull(hub, folder, new)
    assert place(folder, new).read_bytes() == blob(8 * MIB, "new.bin", seed=2).read_bytes()
    assert any("changed on the hub" in step.detail for step in steps)
    assert leftovers(folder) == []


def test_a_new_version_takes_the_place_of_a_pulled_one(server, hub, folder, item, blob):
    pull(hub, folder, item)
    server.add(REPO, "some-Q4_K_M.gguf", blob(8 * MIB, "new.bin", seed=2))
    new = hub.resolve(f"{REPO}:Q4_K_M")
    pull(hub, folder, new)

    assert place(folder, new).read_bytes() == blob(8 * MIB, "new.bin", seed=2).read_bytes()


def test_a_storage_that_speaks_of_another_length(server, hub, folder, item):
    server.total_said = 9 * MIB
    with pytest.raises(DownloadError, match="changed on the hub"):
        pull(hub, folder, item)


def test_a_commit_that_is_gone(server, hub, folder, item):
    server.repos[REPO].commit = "d" * 40
    with pytest.raises(HubError, match="no longer has the version"):
        pull(hub, folder, item)


def test_no_server_at_all(folder, hub, item, server):
    gone = Hub("http://127.0.0.1:9", find=lambda: None, patience=SOON)
    with pytest.raises(NetworkError) as caught:
        pull(gone, folder, item)
    assert "nothing is lost" in caught.value.hint


# --- disk --------------------------------------------------------------------------------------------


def test_no_byte_is_fetched_without_room(server, hub, folder, item):
    folder.mkdir()
    with pytest.raises(DiskFullError, match=r"It needs 8\.4 MB"):
        asyncio.run(collect(Downloads(hub, folder, spare_bytes=1 << 60), item))
    assert server.n_sent == 0


def test_room_counts_all_that_is_queued(server, hub, folder, tmp_path):
    # GIVEN two files of 4 GiB and room for one and a half
    folder.mkdir()
    for name in ("a", "b"):
        sparse = tmp_path / name
        with sparse.open("wb") as file:
            file.truncate(4 << 30)
        server.repos.setdefault(f"org/{name}", Repo()).files["x.gguf"] = Stored(sparse, name * 64)
    server.rate_bytes_s = MIB
    downloads = Downloads(hub, folder, spare_bytes=shutil.disk_usage(folder).free - (6 << 30))

    async def run():
        async with aclosing(downloads.get(hub.resolve("org/a"))) as steps:
            async for step in steps:
                if step.phase == "downloading":
                    break
            with pytest.raises(DiskFullError, match=r"and 4\.\d GB more are on their way there"):
                await collect(downloads, hub.resolve("org/b"))
        async with aclosing(downloads.get(hub.resolve("org/b"))) as steps:  # alone it fits
            async for step in steps:
                if step.phase == "downloading":
                    break

    asyncio.run(run())


def test_a_file_that_was_not_pulled_is_never_overwritten(server, hub, folder, item, blob):
    place(folder, item).parent.mkdir(parents=True)
    place(folder, item).write_bytes(b"somebody's only copy")
    with pytest.raises(DownloadError, match="Another file is in the place"):
        pull(hub, folder, item)
    assert place(folder, item).read_bytes() == b"somebody's only copy"
    assert server.n_sent == 0


def test_the_same_file_put_there_by_hand_is_taken_as_it_is(server, hub, folder, item, blob):
    place(folder, item).parent.mkdir(parents=True)
    shutil.copy(blob(8 * MIB), place(folder, item))

    assert pull(hub, folder, item)[-1].phase == "done"
    assert server.n_sent == 0


def test_a_folder_that_cannot_be_written(server, hub, folder, item):
    folder.write_text("in the way")
    with pytest.raises(DownloadError) as caught:
        pull(hub, folder, item)
    assert caught.value.hint


# --- items of several files --------------------------------------------------------------------------


def test_a_split_model_is_one_item(server, hub, folder, blob):
    for part in (1, 2, 3):
        server.add(REPO, f"Q8_0/big-Q8_0-0000{part}-of-00003.gguf", blob(2 * MIB, f"p{part}", seed=part))
    item = hub.resolve(f"{REPO}:Q8_0")
    server.cuts = [MIB, MIB + 5]
    steps = pull(hub, folder, item)

    assert steps[-1].n_bytes == 6 * MIB
    assert [path.name[-19:-5] for path in steps[-1].paths] == ["00001-of-00003", "00002-of-00003", "00003-of-00003"]
    assert [path.read_bytes() for path in steps[-1].paths] == [
        blob(2 * MIB, f"p{part}", seed=part).read_bytes() for part in (1, 2, 3)
    ]


def test_a_pair_is_one_item_and_comes_whole_or_not_at_all(server, hub, folder, item, blob):
    server.add("org/small-GGUF", "small-Q8_0.gguf", blob(2 * MIB, "small", seed=3))
    both = pair(item, hub.resolve("org/small-GGUF"))
    server.rate_bytes_s = 4 * MIB
    pause_after(hub, folder, both, 5 * MIB)  # the small one is there by now
    assert names(folder) == []
    server.rate_bytes_s = None
    steps = pull(hub, folder, both)

    assert steps[-1].n_total_bytes == 10 * MIB
    assert names(folder) == ["org/small-GGUF/small-Q8_0.gguf", "org/some-GGUF/some-Q4_K_M.gguf"]


def test_several_items_at_once(server, hub, folder, blob):
    items = []
    for name in "abcd":
        server.add(f"org/{name}", f"{name}.gguf", blob(MIB, name, seed=ord(name)))
        items.append(hub.resolve(f"org/{name}"))
    downloads = Downloads(hub, folder, spare_bytes=0, n_at_once=2)

    async def run():
        return await asyncio.gather(*(collect(downloads, item) for item in items))

    assert [steps[-1].phase for steps in asyncio.run(run())] == ["done"] * 4


def test_a_small_file_outside_lfs_is_checked_by_gits_hash(server, hub, folder, blob, expect_log):
    expect_log("arrived damaged")
    server.add(REPO, "tiny.gguf", blob(1000, "tiny"), is_lfs=False)
    item = hub.resolve(f"{REPO}:tiny")
    server.corrupt_at = 10
    with pytest.raises(DownloadError, match="arrived damaged"):
        pull(hub, folder, item)
    server.corrupt_at = None

    assert pull(hub, folder, item)[-1].phase == "done"


@pytest.mark.parametrize(
    "path", ["../out.gguf", "/etc/out.gguf", "a/../../out.gguf", "C:/out.gguf", "a\\b.gguf", ".x.gguf"]
)
def test_a_path_that_leads_out_of_the_folder(hub, folder, item, path):
    evil = Item("evil", (msgspec.structs.replace(item.files[0], path=path),))
    with pytest.raises(DownloadError, match="no path that can be kept"):
        pull(hub, folder, evil)


# --- the library -------------------------------------------------------------------------------------


def test_a_pulled_model_is_in_the_library_and_a_half_one_is_not(server, hub, tmp_path, tiny_pair):
    server.add("org/tiny-GGUF", "tiny-Q8_0.gguf", tiny_pair.target)
    item = hub.resolve("org/tiny-GGUF")
    server.rate_bytes_s = item.n_bytes * 2
    pause_after(hub, models_dir(), item, 1)
    assert "tiny-Q8_0" not in [entry.name for entry in Library().entries()]
    server.rate_bytes_s = None
    pull(hub, models_dir(), item)

    entry = Library().resolve("tiny-Q8_0")
    assert entry.path == models_dir() / "org/tiny-GGUF/tiny-Q8_0.gguf"
    assert entry.source == "folder"


def test_a_file_that_is_put_there_meanwhile_is_kept(server, hub, folder, item):
    server.rate_bytes_s = 8 * MIB
    own = place(folder, item)

    async def run():
        async with aclosing(Downloads(hub, folder, spare_bytes=0).get(item)) as steps:
            async for step in steps:
                if step.n_bytes and not own.exists():
                    own.parent.mkdir(parents=True)
                    own.write_bytes(b"somebody's only copy")

    with pytest.raises(DownloadError, match="Another file is in the place"):
        asyncio.run(run())
    assert own.read_bytes() == b"somebody's only copy"
    own.unlink()
    pull(hub, folder, item)
    assert server.n_sent < 9 * MIB
