"""Who may ask, how much, and in what time."""

from __future__ import annotations

import json
import socket
import time

import pytest

from app.errors import UsageError
from app.models.library import Library
from app.server.options import Limits
from app.server.serving import Server, network_address
from tests.doubles import Answer
from tests.fair_time import FairWatch
from tests.server.conftest import ASK, options, read_all, serving
from tests.server.test_queue import until

SHORT = Limits(header_s=0.8, body_s=0.8, idle_s=1.0, send_s=0.5, n_body_bytes=4096)


@pytest.fixture(scope="module")
def local():
    with serving([Answer()], limits=SHORT) as running:
        yield running


@pytest.fixture(scope="module")
def keyed():
    with serving([Answer()], address="0.0.0.0", key="a-good-long-key", allowed_hosts=("box.example",)) as running:
        yield running


# --- who ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "evil.example:18181", "127.0.0.1.evil.example", "192.168.0.7", ""])
def test_another_name_is_refused(local, host):
    status, answer = local.post(ASK, host=host)
    assert (status, answer["error"]["code"]) == (403, "host")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:80", "localhost."])
def test_this_machines_names_are_not(local, host):
    assert local.get("/health", host=host)[0] == 200


def test_where_others_may_reach_it_numbers_and_allowed_names_are_ours(keyed):
    bearer = {"authorization": "Bearer a-good-long-key"}
    for host in ("192.168.0.7:18181", "box.example", socket.gethostname()):
        assert keyed.get("/v1/models", host=host, **bearer)[0] == 200, host
    assert keyed.get("/v1/models", host="evil.example", **bearer)[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:3000"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"},
        {"sec_fetch_site": "same-site", "sec_fetch_mode": "cors"},
    ],
)
def test_other_web_pages_are_refused(local, headers):
    status, answer = local.post(ASK, **headers)
    assert (status, answer["error"]["code"]) == (403, "origin")
    assert local.get("/metrics", **headers)[0] == 403


def test_a_page_that_was_allowed_may_ask_and_no_other():
    with serving([Answer()], cors_origins=("https://chat.example",)) as running:
        connection = running.connection()
        asked = {
            "Origin": "https://chat.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type,x-stainless-os,x-stainless-retry-count",
        }
        connection.request("OPTIONS", "/v1/chat/completions", headers=asked)
        response = connection.getresponse()
        assert response.status == 200
        assert response.getheader("access-control-allow-origin") == "https://chat.example"
        connection.close()
        assert running.post(ASK, origin="https://chat.example", sec_fetch_site="cross-site")[0] == 200
        assert running.post(ASK, origin="https://other.example")[0] == 403


def test_an_origin_may_be_written_with_capitals():
    with serving([Answer()], cors_origins=("https://Chat.Example",)) as running:
        connection = running.connection()
        as_json = {"Origin": "https://chat.example", "Content-Type": "application/json"}
        connection.request("POST", "/v1/chat/completions", json.dumps(ASK), as_json)
        response = connection.getresponse()
        assert (response.status, response.getheader("access-control-allow-origin")) == (200, "https://chat.example")
        connection.close()


def test_a_page_that_may_ask_can_read_why_it_is_refused_and_no_other_can():
    ours, other = "https://chat.example", "https://other.example"
    key = "a-good-long-key"

    def refused(running, origin, body=ASK, path="/v1/chat/completions", **headers):
        connection = running.connection()
        connection.request("POST", path, json.dumps(body), {"Origin": origin, **headers})
        response = connection.getresponse()
        response.read()
        connection.close()
        return response.status, response.getheader("access-control-allow-origin"), response.getheader("vary")

    as_json, bearer = {"Content-Type": "application/json"}, {"Authorization": f"Bearer {key}"}
    with serving([Answer()], cors_origins=(ours,), key=key, limits=Limits(n_body_bytes=10_000)) as running:
        told = [
            refused(running, ours, **as_json),
            refused(running, ours, **bearer),
            refused(running, ours, {**ASK, "x": "x" * 10_000}, **as_json, **bearer),
            refused(running, ours, **as_json, **bearer, Host="evil.example"),
            refused(running, ours, {**ASK, "temperature": -1}, **as_json, **bearer),
            refused(running, ours, {**ASK, "model": "nobody"}, **as_json, **bearer),
        ]
        assert [status for status, *_ in told] == [401, 415, 413, 403, 400, 404]
        assert {(origin, vary) for _, origin, vary in told} == {(ours, "Origin")}
        assert refused(running, other, **as_json, **bearer)[:2] == (403, None)


def test_a_form_that_a_page_can_send_without_asking_is_no_json(local):
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        status, answer = local.post(json.dumps(ASK).encode(), content_type=kind)
        assert (status, answer["error"]["code"]) == (415, "content_type")


@pytest.mark.parametrize(
    "given",
    [None, "Bearer", "Bearer wrong", "Basic a-good-long-key", "a-good-long-key", "Bearer a-good-long-key2", "Bearer é"],
)
def test_without_the_key_nothing_is_told(keyed, given):
    headers = {} if given is None else {"authorization": given.encode("latin-1").decode("latin-1")}
    for path in ("/v1/models", "/metrics", "/openapi.json", "/", "/nothing"):
        status, answer = keyed.get(path, **headers)
        assert (status, answer["error"]["code"]) == (401, "invalid_api_key"), path
    assert keyed.post(ASK, **headers)[0] == 401
    assert keyed.get("/health", **headers)[0] == 200


@pytest.mark.parametrize("name", ["0.0.0.0", "192.168.0.7", "::", "box.example"])
def test_an_address_that_others_reach_needs_a_key(name):
    with pytest.raises(UsageError, match="a key is needed"):
        options(address=name).check()
    options(address=name, key="a-good-long-key").check()


@pytest.mark.parametrize("key", ["short", "with a blank", "ключ-ключ"])
def test_a_key_that_cannot_be_one_is_refused(key):
    with pytest.raises(UsageError, match="key"):
        options(key=key).check()


def test_two_hosts_are_a_trick(local):
    answer = local.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("field", ["model", "spec_draft_model"])
@pytest.mark.parametrize(
    "path",
    [
        "../../../etc/passwd",
        "/etc/passwd",
        "/etc/../etc/passwd.gguf",
        "..\\..\\secret.gguf",
        "\\\\host\\share\\model.gguf",
        "//host/share/model.gguf",
        "file:///etc/passwd",
        "~/model.gguf",
        "a/../b",
        "starter\x00.gguf",
        "/no/such/model.gguf",
        "./model.gguf",
        "x" * 1000,
    ],
)
def test_tricks_with_paths_find_nothing_and_tell_nothing(local, field, path):
    status, answer = local.post({**ASK, field: path})
    assert (status, answer["error"]["code"]) == (404, "model_not_found")
    assert "is not a GGUF" not in answer["error"]["message"]


def test_a_file_that_is_no_model_looks_like_one_that_is_not_there(local, tmp_path):
    (tmp_path / "text.gguf").write_text("no model")
    _, there = local.post({**ASK, "spec_draft_model": str(tmp_path / "text.gguf")})
    _, missing = local.post({**ASK, "spec_draft_model": str(tmp_path / "none.gguf")})
    assert there == missing


# --- how much, and in what time -------------------------------------------------------------------------


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(local):
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    assert b" 413 " in local.raw(head + b"Content-Length: 5000000000\r\n\r\n")
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n" + (b"400\r\n" + b"x" * 1024 + b"\r\n") * 6
    assert b" 413 " in local.raw(chunked)


def test_a_head_that_never_ends_is_hung_up_on(local):
    watch = FairWatch()
    with socket.create_connection(("127.0.0.1", local.port), timeout=20) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        try:
            for _ in range(60):
                connection.sendall(b"X: y\r\n")
                time.sleep(0.03)
        except ConnectionError:
            pass
        assert read_all(connection).startswith((b"HTTP/1.1 408", b""))
    assert watch.took_s < 4


def test_nor_is_one_kept_that_begins_a_second_request_and_stops(local):
    with socket.create_connection(("127.0.0.1", local.port), timeout=20) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /hea")
        watch = FairWatch()
        answer = read_all(connection)
        assert answer.startswith(b"HTTP/1.1 200")
        assert watch.took_s < 3


def test_a_body_that_never_comes_is_hung_up_on(local):
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    assert local.raw(head + b"Content-Length: 100\r\n\r\n{").startswith(b"HTTP/1.1 408")


def test_a_head_that_is_too_long_is_refused(local):
    answer = local.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 200_000)
    assert answer == b"" or b" 400 " in answer or b" 431 " in answer
    assert local.get("/health")[0] == 200


def test_a_connection_with_nothing_to_ask_is_closed(local):
    watch = FairWatch()
    assert local.raw(b"") in (b"", b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
    assert watch.took_s < 3


def test_connections_are_counted():
    with serving([Answer()], limits=Limits(n_connections=3)) as running:
        held = [socket.create_connection(("127.0.0.1", running.port)) for _ in range(3)]
        assert running.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 503")
        for one in held:
            one.close()
        until(lambda: running.get("/health")[0] == 200)


def test_nothing_that_was_said_is_logged(local, caplog):
    caplog.set_level("DEBUG")
    local.post({"messages": [{"role": "user", "content": "my secret words"}]}, authorization="Bearer my-secret-key")
    local.post({"messages": "my secret words"})
    local.post(b'{"my secret words')
    assert "secret" not in caplog.text
    assert any("/v1/chat/completions" in record.getMessage() for record in caplog.records)


def test_others_are_told_an_address_of_the_network(keyed, local):
    assert local.server.url_for_others == ""
    address = network_address()
    assert keyed.server.url_for_others == (f"http://{address}:{keyed.port}" if address else "")
    assert not address.startswith(("127.", "169.254."))


# --- what a body may hold -------------------------------------------------------------------------------

ENDLESS = {"$defs": {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 4} for n in range(20)} | {"a20": {}}}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (b'{"messages": [{"role": "user", "content": "x"}], "max_tokens": 4, "max_tokens": "x"}', "max_tokens"),
        (b'{"messages": [{"role": "user", "content": "x"}], "temperature": NaN}', "finite"),
        (b'{"messages": [{"role": "user", "content": "x"}], "temperature": 1e999}', "finite"),
        (b'{"messages": [{"role": "user", "content": "x"}], "seed": ' + b"9" * 3000 + b"}", "seed"),
        ({"n": 10**9}, "n"),
        ({"stop": ["x"] * 500}, "stop"),
        ({"grammar": "root ::= " + "(" * 300 + '"a"' + ")" * 300}, "nests"),
        ({"grammar": "root ::= root"}, "left recursion"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {"$ref": "#/$defs/a0", **ENDLESS}}}},
            "can begin",
        ),
    ],
)
def test_what_would_hold_the_engine_up_is_refused_before_it_hears_of_it(local, fields, words):
    n_asked = len(local.engines[-1].commands) if local.engines else 0
    watch = FairWatch()
    status, answer = local.post(fields if isinstance(fields, bytes) else {**ASK, **fields})
    assert (status, words in answer["error"]["message"]) == (400, True), answer
    assert watch.took_s < 2
    assert len(local.engines[-1].commands if local.engines else ()) == n_asked


def test_a_grammar_that_is_too_ambiguous_is_the_clients_own_fault(starter):
    ambiguous = 'root ::= "a" root "b" | "a" root "c"'
    status, answer = starter.post({**ASK, "grammar": ambiguous, "max_tokens": 40})
    assert (status, answer["error"]["type"]) == (400, "invalid_request_error"), answer
    assert "too ambiguous" in answer["error"]["message"]
    assert starter.post({**ASK, "max_tokens": 4})[0] == 200


@pytest.mark.parametrize(
    ("fields", "param", "words"),
    [
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages.0.content.0.type", "'text'"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages.0.content", "valid string, or: "),
        ({"spec_n_max": "AUTO"}, "spec_n_max", "'auto' or 'rolling'"),
        ({"tool_choice": "maybe"}, "tool_choice", "'required'"),
        ({"tool_choice": {"type": "function", "function": {}}}, "tool_choice.function.name", "required"),
        ({"max_tokens": 0}, "max_tokens", "greater than or equal to 1"),
    ],
)
def test_what_is_wrong_with_a_field_is_told_by_its_own_name(local, fields, param, words):
    status, answer = local.post({**ASK, **fields})
    assert (status, answer["error"]["param"]) == (400, param), answer
    assert words in answer["error"]["message"]


def test_what_is_no_http_is_told_in_the_form_of_all_errors(local):
    for data in (
        b"GET /health HTTP/1.1\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: a\r\nHost\r\n\r\n",
    ):
        head, _, body = local.raw(data, wait_s=5).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        assert json.loads(body)["error"]["code"] == "http"


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("grammar", [r"root ::= [^\x00-\U0010ffff]", r'root ::= "a" [^\x00-\U0010ffff]'])
def test_a_grammar_that_allows_nothing_is_the_clients_own_fault(starter, grammar, is_stream):
    body = {**ASK, "grammar": grammar, "max_tokens": 40, "stream": is_stream}
    status, answer = starter.post(body)
    if is_stream:  # it had begun
        assert status == 200
        answer = json.loads(answer.split(b"data: ")[-1])
    else:
        assert status == 400
    assert (answer["error"]["type"], answer["error"]["code"]) == ("invalid_request_error", "grammar"), answer
    assert "allows no token" in answer["error"]["message"]
    assert starter.post({**ASK, "max_tokens": 4})[0] == 200


def test_it_serves_on_the_sixth_version_too_and_two_do_not_share_a_port():
    with serving([Answer()], address="::1") as running:
        assert running.url.startswith("http://[::1]:")
        with socket.create_connection(("::1", running.port), timeout=5) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n")
            assert read_all(connection).startswith(b"HTTP/1.1 200")
        other = Server(running.host, Library(), options(address="::1", port=running.port))
        with pytest.raises(UsageError, match="Cannot serve on ::1"):
            running.do(other.start())
