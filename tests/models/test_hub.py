"""The hub over its real client: what it has, who may have it, and what is said when it does not answer well."""

from __future__ import annotations

import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from app.engine.gguf import parse_header
from app.errors import (
    HubAccessError,
    HubError,
    HubNotFoundError,
    NetworkError,
    RateLimitError,
    UsageError,
)
from app.models.hub import Hub
from app.models.hub_token import Token, checked, find_token, forget_token, keep_token
from app.models.library import Library
from app.models.patience import Patience
from tests.fair_time import FairWatch
from tests.hub_server import Repo, Stored
from tests.models.conftest import SOON

REPO = "org/some-GGUF"
SECRET = "hf_secretsecretsecret"


@pytest.fixture
def gated(server, blob):
    server.add(REPO, "some-Q4_K_M.gguf", blob(1000))
    server.repos[REPO].gated = "manual"
    return server


def as_person(server, value: str | None) -> Hub:
    return Hub(server.endpoint, find=lambda: Token(value, "HF_TOKEN") if value else None, patience=SOON)


def refusal(hub: Hub) -> HubError:
    with pytest.raises(HubError) as caught, hub.open(hub.resolve(REPO).files[0], 0):
        pass
    return caught.value


# --- what there is -----------------------------------------------------------------------------------


def test_search_finds_by_words(server, hub, blob):
    for name in ("org/Qwen3-8B-GGUF", "org/qwen3-0.6b-gguf", "org/gemma-GGUF"):
        server.add(name, "m.gguf", blob(10))
    found = hub.search("qwen3")

    assert [model.repo for model in found] == ["org/Qwen3-8B-GGUF", "org/qwen3-0.6b-gguf"]
    assert (found[0].licence, found[0].n_downloads, found[0].updated) == ("apache-2.0", 1000, "2026-11-01")
    assert [model.repo for model in hub.search("qwen3", limit=1)] == ["org/Qwen3-8B-GGUF"]


def test_a_repository_has_sizes_hashes_licence_and_gate(gated, hub):
    stored = gated.repos[REPO].files["some-Q4_K_M.gguf"]
    found = hub.repository(REPO)
    (file,) = found.files

    assert (found.licence, found.is_gated, found.commit) == ("apache-2.0", True, gated.repos[REPO].commit)
    assert (file.path, file.n_bytes, file.digest) == ("some-Q4_K_M.gguf", 1000, f"sha256:{stored.sha256}")


def test_files_that_could_be_written_elsewhere_are_not_even_listed(server, hub, blob):
    for path in ("../x.gguf", "a/../../x.gguf", "con.gguf", "ok.gguf", "a\\b.gguf", "/abs.gguf"):
        server.add(REPO, path, blob(10))

    assert [file.path for file in hub.repository(REPO).files] == ["ok.gguf"]


def test_a_sidecar_comes_with_its_model_as_one_item(server, hub, blob):
    for path in ("some-Q4_K_M.gguf", "mtp-some-Q4_K_M.gguf", "mtp-some-Q8_0.gguf"):
        server.add(REPO, path, blob(10))
    item = hub.with_sidecar(f"{REPO}:Q4_K_M", "mtp-")

    assert [file.path for file in item.files] == ["some-Q4_K_M.gguf", "mtp-some-Q4_K_M.gguf"]
    with pytest.raises(UsageError, match="no file of the kind eagle3"):
        hub.with_sidecar(REPO, "eagle3-")


# --- the header of a remote file ---------------------------------------------------------------------


def test_the_header_of_15_gb_takes_a_few_megabytes(server, hub, tmp_path):
    # GIVEN the starter's header, and 15 GB behind it
    starter = Library().resolve("starter").path
    big = tmp_path / "big.gguf"
    with starter.open("rb") as source, big.open("wb") as file:
        file.write(source.read(8 << 20))
        file.truncate(15_000_000_000)
    server.repos[REPO] = Repo({"big-Q8_0.gguf": Stored(big, "a" * 64)})
    source = hub.source(hub.resolve(REPO).files[0])

    watch = FairWatch()
    header = parse_header(source)

    assert watch.took_s < 2
    assert header.architecture == "llama"
    assert header.n_file_bytes == 15_000_000_000
    assert 0 < source.n_fetched_bytes < 16 << 20
    assert server.count("storage") < 8


def test_a_remote_header_is_that_of_the_file(server, hub, tiny_pair):
    server.add(REPO, "tiny.gguf", tiny_pair.target)
    server.cuts = [100, 5000, 9000]
    source = hub.source(hub.resolve(REPO).files[0])
    with tiny_pair.target.open("rb") as file:
        content = file.read()

    assert source.read(0, 20) == content[:20]
    assert source.read(len(content) - 5, 50) == content[-5:]
    assert source.read(len(content), 50) == b""
    assert parse_header(source).architecture == "llama"


def test_far_ranges_are_read_without_what_lies_between(server, hub, tmp_path):
    big = tmp_path / "big.gguf"
    with big.open("wb") as file:
        file.truncate(1 << 30)
        file.seek(900 << 20)
        file.write(b"here")
    server.repos[REPO] = Repo({"big.gguf": Stored(big, "a" * 64)})
    source = hub.source(hub.resolve(REPO).files[0])

    assert source.read(900 << 20, 4) == b"here"
    assert source.read(30 << 20, 4) == b"\0\0\0\0"
    assert source.n_fetched_bytes == 8


def test_a_server_without_ranges_can_still_be_read(server, hub, tiny_pair):
    server.add(REPO, "tiny.gguf", tiny_pair.target)
    server.ignores_ranges = True

    assert parse_header(hub.source(hub.resolve(REPO).files[0])).architecture == "llama"


# --- who may have it ---------------------------------------------------------------------------------


def test_gated_without_a_token_names_the_page_and_how_to_give_one(gated):
    fault = refusal(as_person(gated, None))

    assert type(fault) is HubAccessError
    assert "no token says who you are" in fault.message
    assert f"{gated.endpoint}/{REPO}" in fault.hint
    assert "HF_TOKEN" in fault.hint


def test_gated_with_a_wrong_token_says_which_and_where_to_make_one(gated):
    fault = refusal(as_person(gated, SECRET))

    assert type(fault) is HubAccessError
    assert "does not accept the token from HF_TOKEN" in fault.message
    assert f"{gated.endpoint}/settings/tokens" in fault.hint


def test_gated_with_the_token_of_somebody_not_admitted_names_the_page(gated):
    gated.tokens = {SECRET}
    fault = refusal(as_person(gated, SECRET))

    assert "has not been admitted" in fault.message
    assert f"{gated.endpoint}/{REPO}" in fault.hint


def test_gated_with_the_right_token_opens(gated, blob):
    gated.tokens = gated.repos[REPO].admitted = {SECRET}
    hub = as_person(gated, SECRET)
    with hub.open(hub.resolve(REPO).files[0], 0) as reply:
        assert b"".join(reply.blocks) == blob(1000).read_bytes()


def test_the_token_goes_to_the_hub_alone_and_shows_nowhere(gated, caplog):
    caplog.set_level(logging.DEBUG)
    for name in ("httpx", "httpx2", "httpcore", "httpcore2", "huggingface_hub"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    gated.tokens = {SECRET}
    hub = as_person(gated, SECRET)
    said = repr(refusal(hub)) + refusal(hub).message + refusal(hub).hint
    gated.repos[REPO].admitted = {SECRET}
    with hub.open(hub.resolve(REPO).files[0], 0) as reply:
        assert len(b"".join(reply.blocks)) == 1000
    gated.tokens = set()
    said += repr(refusal(hub)) + repr(hub.look_for_token()) + str(hub.look_for_token())

    with_token = {seen.origin for seen in gated.seen if SECRET in json.dumps(seen.headers)}
    assert with_token == {"hub"}
    assert gated.count("storage") == 1
    assert SECRET not in said
    assert SECRET not in caplog.text
    assert "Signature" not in caplog.text


@pytest.mark.parametrize("text", ["hf_abc\nX-Evil: 1", "hf abc", "hf_ä", '"hf_abc"'])
def test_a_token_that_cannot_be_one_is_said_without_showing_it(text, monkeypatch):
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setenv("HF_TOKEN", text)
    with pytest.raises(HubAccessError) as caught:
        find_token()
    assert "HF_TOKEN" in caught.value.message
    assert text not in caught.value.message


def test_the_keyring_comes_first_then_the_environment_then_the_login(monkeypatch, tmp_path):
    import keyring
    from keyring.backend import KeyringBackend

    class Memory(KeyringBackend):
        priority = 1
        kept: ClassVar[dict] = {}

        def get_password(self, service, username):
            return self.kept.get((service, username))

        def set_password(self, service, username, password):
            self.kept[service, username] = password

        def delete_password(self, service, username):
            del self.kept[service, username]

    before = keyring.get_keyring()
    keyring.set_keyring(Memory())
    try:
        monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "token"))
        monkeypatch.delenv("HF_TOKEN", raising=False)
        assert find_token() is None
        (tmp_path / "token").write_text("hf_login\n")
        assert find_token() == checked("hf_login", "the login")
        monkeypatch.setenv("HF_TOKEN", "hf_environment")
        assert find_token() == checked("hf_environment", "HF_TOKEN")
        keep_token(" hf_keyring ")
        assert find_token() == checked("hf_keyring", "the keyring")
        forget_token()
        assert find_token() == checked("hf_environment", "HF_TOKEN")
    finally:
        keyring.set_keyring(before)


# --- what goes wrong ---------------------------------------------------------------------------------


def test_no_such_repository(server, hub):
    with pytest.raises(HubNotFoundError, match="no public repository org/none"):
        hub.repository("org/none")
    server.tokens = {SECRET}
    with pytest.raises(HubNotFoundError, match="no repository org/none"):
        as_person(server, SECRET).repository("org/none")


def test_a_hub_that_wants_to_know_who_asks(gated, hub):
    gated.statuses = [("hub", 401, {})]
    with pytest.raises(HubAccessError, match="only people it knows"):
        hub.search("x")


def test_no_such_revision(gated, hub):
    with pytest.raises(HubNotFoundError, match="no longer has the version"):
        hub.repository(REPO, "b" * 40)


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_fault_of_the_hub_that_passes_is_not_told(gated, hub, status):
    gated.statuses = [("hub", status, {})]
    assert hub.repository(REPO).repo == REPO


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [(429, RateLimitError, "too many requests"), (503, HubError, "a fault of its own"), (418, HubError, "status 418")],
)
def test_a_fault_of_the_hub_that_stays_is_told(gated, hub, status, kind, words):
    gated.statuses = [("hub", status, {})] * 9
    with pytest.raises(kind, match=words) as caught:
        hub.repository(REPO)
    assert caught.value.hint


@pytest.mark.parametrize("question", [lambda hub: hub.repository(REPO), lambda hub: hub.search("x")])
def test_a_person_waits_for_three_tries_and_no_more(gated, hub, question):
    gated.statuses = [("hub", 503, {})] * 9
    watch = FairWatch()
    with pytest.raises(HubError, match="a fault of its own"):
        question(hub)
    assert gated.count("hub") == 3
    assert watch.took_s < 3


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("question", [lambda hub: hub.repository(REPO), lambda hub: hub.search("x")])
def test_no_network(question):
    hub = Hub("http://127.0.0.1:9", find=lambda: None, patience=SOON)
    watch = FairWatch()
    with pytest.raises(NetworkError, match="The connection to the hub broke"):
        question(hub)
    assert watch.took_s < 3


@pytest.mark.parametrize("content", [b"[" * 200_000, b'{"a":' * 200_000, b"null", b"[null]", b"{", b'{"id": 5}'])
@pytest.mark.parametrize("question", [lambda hub: hub.repository(REPO), lambda hub: hub.search("x")])
def test_an_answer_that_nobody_can_read_is_none_of_a_hub(gated, hub, question, content):
    gated.bodies = [content]
    with pytest.raises(HubError, match="does not answer as a model hub does"):
        question(hub)


@pytest.mark.parametrize("question", [lambda hub: hub.repository(REPO), lambda hub: hub.search("x")])
def test_a_hub_that_sends_us_round_in_circles(gated, hub, question):
    gated.statuses = [("hub", 302, {"Location": "/api/models"})] * 50
    with pytest.raises(HubError, match="does not answer as a model hub does"):
        question(hub)


def test_offline_by_choice():
    with pytest.raises(NetworkError, match="Offline mode") as caught:
        Hub("http://127.0.0.1:9", find=lambda: None, patience=SOON).search("x")
    assert "HF_HUB_OFFLINE" in caught.value.hint


@pytest.mark.parametrize("text", ["huggingface.co", "ftp://hub", "http://", "http://[x", "http://a:99999"])
def test_an_endpoint_that_is_no_address(text, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", text)
    with pytest.raises(NetworkError, match="no address"):
        Hub()


class _Page(BaseHTTPRequestHandler):
    """A network that wants a person to sign in first answers everything with a page."""

    body = b"<html>Welcome to the hotel</html>"
    kind = "text/html"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", self.kind)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_):
        pass


@pytest.fixture
def answering(server):
    """Return a maker of servers that answer everything with the same bytes."""
    running = []

    def make(body: bytes, kind: str = "application/json") -> str:
        handler = type("Handler", (_Page,), {"body": body, "kind": kind})
        web = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=web.serve_forever, args=(0.02,))
        thread.start()
        running.append((web, thread))
        return f"http://127.0.0.1:{web.server_port}"

    yield make
    for web, thread in running:
        web.shutdown()
        web.server_close()
        thread.join()


@pytest.mark.parametrize(
    "body",
    [b"<html>", b"[1, 2]", b"null", b"{}", b'{"id": 5, "siblings": 3}', b'{"id": "a/b", "siblings": [{}]}', b"\xff"],
)
def test_something_else_that_answers_is_no_hub(answering, body):
    hub = Hub(answering(body), find=lambda: None, patience=SOON)
    with pytest.raises((HubError, UsageError)) as caught:
        hub.repository(REPO)
    assert caught.value.hint


def test_a_sign_in_page_in_place_of_a_file(gated, hub, answering):
    file = hub.resolve(REPO).files[0]
    page = Hub(answering(b"<html>Welcome</html>", "text/html"), find=lambda: None, patience=SOON)
    with pytest.raises(NetworkError, match="A web page came in place of"), page.open(file, 0):
        pass


def test_proxies_of_the_environment_are_used(answering, monkeypatch, gated):
    monkeypatch.setenv("HTTP_PROXY", answering(json.dumps({"id": REPO, "sha": "c" * 40, "siblings": []}).encode()))
    monkeypatch.setenv("NO_PROXY", "")
    import huggingface_hub

    huggingface_hub.close_session()
    hub = Hub("http://hub.invalid", find=lambda: None, patience=Patience(n_tries=1))

    assert hub.repository(REPO).commit == "c" * 40
