"""A hub that means harm, or something else in its place: bounded in bytes and time, and nothing of it believed."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import socket
import threading
import tracemalloc
from contextlib import aclosing, suppress

import pytest

from app.errors import DownloadError, HubError, HubNotFoundError, NetworkError, RateLimitError
from app.models.download import Downloads
from app.models.hub import Hub
from app.models.hub_api import MAX_API_BYTES
from app.models.hub_choice import Wanted, choose, models_of
from app.models.hub_token import Token
from app.models.part_file import PartFile
from app.models.patience import Patience
from app.models.remote import Item, RemoteFile
from app.models.shelf import Shelf
from tests.fair_time import FairWatch
from tests.models.conftest import SOON

REPO = "org/some-GGUF"
SECRET = "hf_secretsecretsecret"
HURRIED = Patience(base_s=0.01, cap_s=0.05, n_tries=2, silence_s=1.0, answer_s=1.0)
SHA = "ab" * 32
QUESTIONS = [lambda hub: hub.repository(REPO), lambda hub: hub.search("x")]


class RawServer:
    """Answers each connection by ``answer(connection)``, until it is closed; ``seen`` holds what was asked."""

    def __init__(self, answer) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.seen: list[bytes] = []
        self.is_over = threading.Event()
        self._threads = [threading.Thread(target=self._accept)]

    def __enter__(self):
        self._threads[0].start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection):
        with connection, suppress(OSError):
            self.seen.append(connection.recv(65536))
            self._answer(self, connection)


def head(more: str = "") -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{more}\r\n".encode()


def endless(server, connection):
    connection.sendall(head("Transfer-Encoding: chunked\r\n"))
    block = b'{"id":"org/name","x":"' + b"a" * (1 << 20)
    while not server.is_over.is_set():
        connection.sendall(b"%x\r\n" % len(block) + block + b"\r\n")


def trickling_body(server, connection):
    connection.sendall(head("Content-Length: 100000\r\n"))
    while not server.is_over.wait(0.1):
        connection.sendall(b" ")


def trickling_headers(server, connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not server.is_over.wait(0.1):
        connection.sendall(b"a")


def packed(_server, connection):
    body = gzip.compress(b" " * (64 << 20))
    connection.sendall(head(f"Content-Encoding: gzip\r\nContent-Length: {len(body)}\r\n") + body)


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_endless_answer_is_cut_off(question, server):
    with RawServer(endless) as raw:
        hub = Hub(raw.endpoint, find=lambda: None, patience=SOON)
        tracemalloc.start()
        with pytest.raises(HubError, match="without an end"):
            question(hub)
        assert tracemalloc.get_traced_memory()[1] < 4 * MAX_API_BYTES
        tracemalloc.stop()


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("answer", [trickling_body, trickling_headers])
def test_an_answer_that_trickles_is_given_up(question, answer, server):
    with RawServer(answer) as raw:
        watch = FairWatch()
        with pytest.raises(NetworkError, match="did not answer within 1 s"):
            question(Hub(raw.endpoint, find=lambda: None, patience=HURRIED))
        assert watch.took_s < 3


@pytest.mark.parametrize("answer", [trickling_body, trickling_headers])
def test_a_header_that_trickles_is_given_up(answer, server):
    file = RemoteFile(REPO, "c" * 40, "some-Q4_K_M.gguf", 100_000, f"sha256:{SHA}")
    with RawServer(answer) as raw:
        watch = FairWatch()
        with pytest.raises(NetworkError):
            Hub(raw.endpoint, find=lambda: None, patience=HURRIED).source(file).read(0, 100)
        assert watch.took_s < 6


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_packed_answer_is_not_unpacked(question, server):
    with RawServer(packed) as raw, pytest.raises(HubError, match="packs the hub's answers"):
        question(Hub(raw.endpoint, find=lambda: None, patience=SOON))


@pytest.mark.parametrize(
    "bomb",
    [
        b'{"id":"org/some-GGUF","x":' + b"[" * 5_000_000 + b"]" * 5_000_000 + b"}",
        b'{"id":"org/some-GGUF","siblings":[],"x":[' + b"[]," * 4_000_000 + b"0]}",
        b'{"id":"org/some-GGUF","siblings":[],"downloads":' + b"9" * 5_000_000 + b"}",
        b'{"id":"org/some-GGUF","siblings":[{"rfilename":"a","size":1e400}]}',
    ],
    ids=["deep", "wide", "a number of five million digits", "infinite"],
)
def test_what_grows_when_it_is_decoded_does_not(server, hub, bomb):
    server.bodies = [bomb]
    tracemalloc.start()
    watch = FairWatch()
    with suppress(HubError):
        assert hub.repository(REPO).files == ()
    assert watch.took_s < 3
    assert tracemalloc.get_traced_memory()[1] < 4 * len(bomb) + (8 << 20)
    tracemalloc.stop()


def test_questions_that_are_sent_on_to_another_host_go_there_without_the_token(server, blob):
    server.add(REPO, "some-Q4_K_M.gguf", blob(1000))
    server.tokens.add(SECRET)
    person = Hub(server.endpoint, find=lambda: Token(SECRET, "HF_TOKEN"), patience=SOON)

    def answer(_server, connection):
        body = json.dumps({"id": REPO, "sha": "c" * 40, "siblings": []}).encode()
        connection.sendall(head(f"Content-Length: {len(body)}\r\n") + body)

    with RawServer(answer) as raw:
        server.statuses = [("hub", 307, {"Location": f"{raw.endpoint}/api/models/{REPO}"})]
        assert person.repository(REPO).commit == "c" * 40
        assert raw.seen
        assert SECRET.encode() not in b"".join(raw.seen)
    assert SECRET in server.seen[0].headers["authorization"]


def test_a_repository_that_was_renamed_is_found(server, hub, blob):
    server.add("org/new-GGUF", "some-Q4_K_M.gguf", blob(1000))
    server.statuses = [("hub", 307, {"Location": "/api/models/org/new-GGUF?blobs=true"})]
    assert hub.repository("org/old-GGUF").repo == "org/new-GGUF"


# --- what it says of its files ----------------------------------------------------------------------


def told(hub, server, *siblings, **more):
    server.bodies = [json.dumps({"id": REPO, "sha": "c" * 40, "siblings": siblings, **more}).encode()]
    return hub.repository(REPO)


def lfs(name, sha=SHA, size=1000):
    return {"rfilename": name, "size": size, "lfs": {"sha256": sha, "size": size, "pointerSize": 135}}


@pytest.mark.parametrize(
    "name",
    [
        *("../up.gguf", "a/../../up.gguf", "/etc/up.gguf", "C:/up.gguf", "C:up.gguf", "\\\\host\\up.gguf", "a\\b.gguf"),
        *("a\0b.gguf", "a\nb.gguf", "a\x1b[2J.gguf", "CON.gguf", "nul", "com1.Q4.gguf", "aux/x.gguf", "x.gguf:stream"),
        *("", ".", "..", "a//b.gguf", "./a.gguf", ".hidden.gguf", "dot./x.gguf", "space /x.gguf", "a/" * 3000 + "b"),
        *("CONIN$.gguf", "a\u202eb.gguf", "ö" * 120 + ".gguf"),
    ],
)
def test_names_that_could_do_harm_are_not_listed(server, hub, name):
    assert [file.path for file in told(hub, server, lfs(name), lfs("good.gguf")).files] == ["good.gguf"]


def test_of_two_names_that_are_one_on_windows_the_first_is_listed(server, hub):
    found = told(hub, server, lfs("Model.gguf"), lfs("model.GGUF", "cd" * 32), lfs("stra\u00dfe.gguf"))
    assert [file.path for file in found.files] == ["Model.gguf", "stra\u00dfe.gguf"]


@pytest.mark.parametrize("sha", ["../../../../outside", "/" + "a" * 63, "", "z" * 64, "ab" * 31 + "/x", "AB" * 32])
def test_a_hash_that_is_none_names_no_file_of_ours(server, hub, tmp_path, sha):
    found = told(hub, server, lfs("some-Q4_K_M.gguf", sha))
    folder = tmp_path / "deep" / "er" / "models"
    if sha == "AB" * 32:
        assert found.files[0].digest == f"sha256:{SHA}"
        return
    with pytest.raises(DownloadError, match="names no hash"):
        PartFile(folder, found.files[0])
    with pytest.raises(DownloadError, match="names no hash"):
        PartFile(folder, RemoteFile(REPO, "c" * 40, "some.gguf", 10, f"sha256:{sha}"))
    assert [path.name for path in tmp_path.iterdir()] in ([], ["home"])  # the home is where settings are looked for
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_note_that_was_written_by_somebody_else_is_not_followed(tmp_path):
    shelf = Shelf(tmp_path / "models")
    good = RemoteFile(REPO, "c" * 40, "some.gguf", 10, f"sha256:{SHA}")
    shelf.remember(Item("good", (good,)))
    for n, change in enumerate(({"digest": "sha256:../../../x"}, {"path": "../x.gguf"}, {"repo": "../.."})):
        fields = {name: getattr(good, name) for name in good.__struct_fields__} | change
        shelf.remember(Item(f"bad {n}", (RemoteFile(**fields),)))
        assert shelf.remembered(f"bad {n}") is None
    assert [item.title for item in shelf.unfinished()] == ["good"]


@pytest.mark.linux
def test_a_note_that_is_no_file_is_not_waited_for(tmp_path):
    notes = tmp_path / "models/.downloads"
    notes.mkdir(parents=True)
    os.mkfifo(notes / "a.json")
    (notes / "b.json").write_bytes(b"[" * (2 << 20))
    assert list(Shelf(tmp_path / "models").unfinished()) == []


def test_a_size_that_is_none_is_not_listed_and_one_beyond_all_disks_is_refused(server, hub, tmp_path):
    sizes = (-1, 1 << 63, None)
    assert told(hub, server, *(lfs(f"some-{n}.gguf", size=size) for n, size in enumerate(sizes[:2]))).files == ()
    (huge,) = told(hub, server, lfs("some-Q8_0.gguf", size=1 << 60)).files

    async def get():
        async for _ in Downloads(hub, tmp_path / "models").get(Item("huge", (huge,))):
            pass

    with pytest.raises(DownloadError) as caught:
        asyncio.run(get())
    assert caught.value.hint
    assert server.n_sent == 0


@pytest.mark.parametrize(
    "name", ["../..", "org/../x", "a", "org/na\x1b[2Jme", "org/" + "n" * 500, "-/.", "org/x.gguf/y"]
)
def test_repositories_whose_names_are_none_are_not_found(server, hub, name):
    server.bodies = [
        json.dumps([{"id": name}, {"id": REPO}]).encode(),
        json.dumps({"id": name, "siblings": []}).encode(),
    ]
    assert [one.repo for one in hub.search("x")] == [REPO]
    with pytest.raises(HubError, match="does not answer as a model hub does"):
        hub.repository(REPO)


def test_a_card_that_makes_no_sense_does_not_hide_the_others(server, hub):
    odd = [{"id": "org/a", "tags": 7}, {"id": REPO, "cardData": [1], "tags": [None]}, {"id": "org/b-GGUF"}]
    server.bodies = [json.dumps(odd).encode()]
    assert [one.repo for one in hub.search("x")] == ["org/a", REPO, "org/b-GGUF"]


@pytest.mark.parametrize("licence", ["\x1b[2J", "x" * 5000, {"a": 1}, ["mit"], 5, None])
def test_a_licence_is_some_plain_words_or_none(server, hub, licence):
    card = {"license": licence, "license_name": licence}
    found = told(hub, server, lfs("a.gguf"), cardData=card, tags=[f"license:{licence}"] if licence != ["mit"] else None)
    assert found.licence.isprintable()
    assert len(found.licence) <= 100


def test_a_commit_that_leads_elsewhere_is_no_commit(server, hub):
    server.bodies = [json.dumps({"id": REPO, "sha": "../../api", "siblings": [lfs("a.gguf")]}).encode()]
    with pytest.raises(HubError, match="does not answer as a model hub does"):
        hub.repository(REPO)


def test_a_split_model_that_claims_parts_which_are_not_there(server, hub):
    files = told(hub, server, lfs("m-00001-of-99999.gguf")).files
    with pytest.raises(HubNotFoundError, match="lacks part 2 of 99999"):
        choose(files, Wanted(REPO))


def test_a_repository_of_tens_of_thousands_of_split_models_is_read_in_a_moment(server, hub):
    names = [f"m{n}-{part:05d}-of-00002.gguf" for n in range(10_000) for part in (1, 2)]
    watch = FairWatch()
    found = told(hub, server, *map(lfs, names))
    assert len(models_of(found.files)) == 10_000
    assert watch.took_s < 5


def sends_to(location: bytes):
    def answer(_server, connection):
        connection.sendall(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n")

    return answer


NO_ADDRESSES = [b"http://[bad", b"http://h:99999/", b"http://h:x/", b"http://..../", b"http://" + b"a" * 300 + b"/"]


@pytest.mark.parametrize("location", [*NO_ADDRESSES, b"//", b"http://", b"javascript:1", b"http://h/" + b"a" * 70_000])
@pytest.mark.parametrize("token", [None, Token(SECRET, "a test")])
def test_being_sent_to_what_is_no_address_ends_in_words(server, location, token):
    file = RemoteFile(REPO, "c" * 40, "some-Q4_K_M.gguf", 100_000, f"sha256:{SHA}")
    with RawServer(sends_to(location)) as raw:
        hub = Hub(raw.endpoint, find=lambda: token, patience=HURRIED)
        for question in (*QUESTIONS, lambda hub: hub.source(file).read(0, 100)):
            with pytest.raises((NetworkError, HubError)) as caught:
                question(hub)
            assert caught.value.hint
            assert SECRET not in f"{caught.value} {caught.value.hint}"


def test_thousands_of_models_that_claim_parts_which_are_not_there_cost_no_time(server, hub):
    files = told(hub, server, *(lfs(f"m{n}-00001-of-99999.gguf") for n in range(10_000))).files
    watch = FairWatch()
    assert models_of(files) == []
    assert watch.took_s < 2


def test_a_header_is_not_waited_for_longer_than_an_answer(server):
    def busy(_server, connection):
        connection.sendall(b"HTTP/1.1 429 Busy\r\nContent-Length: 0\r\nRetry-After: 120\r\n\r\n")

    file = RemoteFile(REPO, "c" * 40, "some-Q4_K_M.gguf", 100_000, f"sha256:{SHA}")
    with RawServer(busy) as raw:
        watch = FairWatch()
        with pytest.raises(RateLimitError, match="too many requests"):
            Hub(raw.endpoint, find=lambda: None, patience=Patience(answer_s=1.0)).source(file).read(0, 100)
        assert watch.took_s < 2


def test_pausing_does_not_wait_for_a_server_that_takes_the_call_and_says_nothing(server, tmp_path):
    file = RemoteFile(REPO, "c" * 40, "some-Q4_K_M.gguf", 100_000, f"sha256:{SHA}")

    async def run(hub):
        async with aclosing(Downloads(hub, tmp_path / "models", spare_bytes=0).get(Item("some", (file,)))) as steps:
            async for step in steps:
                if step.phase == "downloading":
                    break
            watch = FairWatch()
        return watch.took_s

    with RawServer(lambda server, _connection: server.is_over.wait(20)) as raw:
        assert asyncio.run(run(Hub(raw.endpoint, find=lambda: None))) < 2
