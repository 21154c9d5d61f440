"""A server with OpenAI's API as a client sees it: what is asked, what is understood, and what is not believed."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import RemoteError, SlipstreamError, UsageError
from app.host import ChatRequest
from app.host.remote import MAX_UNREAD, RemoteServer
from app.host.remote_servers import asked_of
from app.host.remote_wire import (
    MAX_LINE_BYTES,
    RemoteEnd,
    RemoteRequest,
    RemoteText,
    read_address,
    read_fault,
    read_stream,
    read_whole,
)
from app.protocol import ChatMessage, Sampling
from tests.chat_server import MODELS, ChatServer
from tests.fair_time import FairWatch


@pytest.fixture
def server():
    with ChatServer() as running:
        yield running


def ask(url: str, model: str, key: str = "", words: str = "Hi", **extra: object):
    """Return all events of an answer."""
    return events_of(url, RemoteRequest(model, ({"role": "user", "content": words},), extra), key)


def events_of(url: str, request: RemoteRequest, key: str = ""):
    async def work():
        turn = RemoteServer(url, key).begin(request)
        async with aclosing(turn.events()) as events:
            return [event async for event in events]

    return asyncio.run(work())


def text_of(events) -> str:
    return "".join(event.text for event in events if isinstance(event, RemoteText))


@pytest.mark.parametrize(
    ("url", "words", "root"),
    [
        ("http://127.0.0.1:18181", "http://127.0.0.1:18181", "/v1"),
        ("127.0.0.1:18181/", "http://127.0.0.1:18181", "/v1"),
        ("https://box.example/v1/", "https://box.example", "/v1"),
        ("http://box/some/path", "http://box", "/some/path/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080", "/v1"),
    ],
)
def test_an_address_is_read_as_people_write_it(url, words, root):
    address = read_address(url)
    assert (address.words, address.root) == (words, root)


@pytest.mark.parametrize(
    "url",
    ["", "ftp://box", "http://", "http://a b", "http://box:99999", "http://bo\nx", "[::1", f"http://{'a' * 3000}"],
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(UsageError, match="is not the address of a server"):
        read_address(url)


@pytest.mark.parametrize("url", ["http://me:secret@box", "http://:secret@box", "http://box?key=secret"])
def test_an_address_with_a_secret_in_it_is_refused_without_repeating_it(url):
    with pytest.raises(UsageError, match="holds no name, password or query") as caught:
        read_address(url)
    assert "secret" not in caught.value.message + caught.value.hint


def test_a_stream_is_text_and_at_its_end_what_the_server_reports(server):
    events = ask(server.url, "speaks", temperature=0.5)

    assert text_of(events) == "The slow train **leaves** the station."
    end = events[-1]
    assert isinstance(end, RemoteEnd)
    assert (end.finish_reason, end.model) == ("stop", "told")
    assert (end.reported.prompt_tokens, end.reported.cached_tokens, end.reported.tokens) == (12, 3, 6)
    assert (end.reported.proposed, end.reported.accepted, end.reported.decode_tps) == (75, 14, 42.5)
    (asked,) = server.asked
    assert asked["stream_options"] == {"include_usage": True}
    assert (asked["temperature"], asked["messages"]) == (0.5, [{"role": "user", "content": "Hi"}])


def test_drafts_are_read_of_the_usage_where_there_are_no_timings(server):
    end = ask(server.url, "whole")[-1]
    assert (end.reported.accepted, end.reported.proposed, end.reported.drafter) == (14, 75, "")


def test_a_mark_before_the_first_line_costs_nothing_and_a_reason_that_rambles_is_cut(server):
    assert text_of(ask(server.url, "marked")) == "All of it."
    reason = ask(server.url, "rambles")[-1].finish_reason
    assert reason.startswith("so draft accept: 9/9 so")
    assert len(reason) == 100


def test_thoughts_come_apart(server):
    events = ask(server.url, "thinks")
    assert "".join(e.reasoning for e in events if isinstance(e, RemoteText)) == "A train, then."
    assert events[-1].reported.not_engaged == "The vocabularies differ."


@pytest.mark.parametrize("form", ["streamed", "whole"])
def test_an_answer_may_come_in_parts(server, form):
    events = ask(server.url, "parts", words=form)
    assert text_of(events) == "In two."
    assert "".join(event.reasoning for event in events if isinstance(event, RemoteText)) == "Hm."


SEEN = ("temperature", "top_k", "top_p", "min_p", "repeat_penalty", "repetition_penalty", "frequency_penalty")


def test_what_a_person_sees_is_sent_also_where_it_is_as_usual_here(server):
    request = ChatRequest(messages=(ChatMessage("user", "Hi"),), sampling=Sampling(seed=4))
    body = msgspec.json.decode(asked_of(request, "speaks", {}).body())
    assert {name: body[name] for name in SEEN} == {
        "temperature": 0.8,
        "top_k": 40,
        "top_p": 0.95,
        "min_p": 0.05,
        "repeat_penalty": 1.0,
        "repetition_penalty": 1.0,
        "frequency_penalty": 0.0,
    }
    chosen = asked_of(request, "speaks", {}, said=("top_k",))
    assert {name for name in SEEN if name in chosen.extra} == {"top_k"}
    hot = ChatRequest(messages=request.messages, sampling=Sampling(seed=4, temperature=1.5))
    assert {name for name in SEEN if name in asked_of(hot, "speaks", {}, said=()).extra} == {"temperature"}


@pytest.mark.parametrize(
    ("sampling", "is_taken"), [(Sampling(seed=4), True), (Sampling(seed=4, repeat_penalty=1.2), False)]
)
def test_a_server_that_does_not_know_a_setting_is_asked_without_and_that_is_said(server, sampling, is_taken):
    request = asked_of(ChatRequest(messages=(ChatMessage("user", "Hi"),), sampling=sampling), "strict", {})
    if not is_taken:  # somebody chose it, and relies on it
        with pytest.raises(RemoteError, match="repeat_penalty"):
            events_of(server.url, request)
        return
    events = events_of(server.url, request)
    assert text_of(events) == "The slow train **leaves** the station."
    assert "does not take all of" in events[-1].notices[-1]
    assert "min_p" in events[-1].notices[-1]
    first, second = server.asked
    assert ("top_k" in first, "top_k" in second, second["seed"]) == (True, False, 4)


def test_figures_that_are_none_cost_the_figures_only(server):
    events = ask(server.url, "hostile")
    assert text_of(events).startswith("a")
    assert (events[-1].reported.proposed, events[-1].reported.decode_tps) == (75, None)  # of the usage, which is sound


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("breaks", "broke off in mid-answer"),
        ("page", "is not OpenAI's API"),
        ("mute", "RemoteDisconnected|closed connection|broke off"),
        ("gigabyte", "is not OpenAI's API"),
        ("fault", "could not go on: out of memory"),
        ("refuses", r"refuses \(429\): Too many wait already"),
        ("nobody", r"refuses \(404\): The model nobody does not exist"),
        ("vllm", r"refuses \(400\): The model's context holds 10 tokens\."),
        ("fastapi", r"refuses \(422\): seed: Input should be less; n\.0: No\."),
        ("strange", r"refuses \(500\)\.$"),
        ("midway", "could not go on: CUDA out of memory"),
        ("flood", "sends without end"),
        ("overflows", "is not OpenAI's API"),
    ],
)
def test_what_goes_wrong_is_said(server, model, words):
    with pytest.raises(RemoteError, match=words):
        ask(server.url, model)


def test_a_key_is_needed_and_goes_to_the_server():
    with ChatServer(key="secret-of-the-test") as server:
        with pytest.raises(RemoteError, match="Incorrect API key") as caught:
            ask(server.url, "speaks")
        assert "SLIPSTREAM_API_KEY" in caught.value.hint
        assert text_of(ask(server.url, "speaks", "secret-of-the-test"))
        assert server.keys == ["", "Bearer secret-of-the-test"]
    with pytest.raises(RemoteError, match="no HTTP header can carry"):
        RemoteServer(server.url, "two\r\nlines")


@pytest.mark.parametrize("model", ["echoes", "nonsense"])
def test_a_key_that_a_server_repeats_is_not_said(model):
    key = "sk-secret/of+the=test"
    with ChatServer() as server, pytest.raises(RemoteError) as caught:
        ask(server.url, model, key)
    assert "(the key)" in caught.value.message
    assert key[:9] not in caught.value.message + caught.value.hint  # nor half of it
    assert len(caught.value.message) <= 1000


def test_a_key_goes_nowhere_else_when_a_server_sends_on():
    with ChatServer() as here, ChatServer() as there:
        here.moved_to = there.url
        with pytest.raises(RemoteError, match=r"refuses \(307\)"):
            ask(here.url, "moves", "sk-secret-of-the-test")
        assert (there.asked, there.keys) == ([], [])


def test_nobody_there_is_said():
    with ChatServer() as server:
        url = server.url
    with pytest.raises(RemoteError, match="There is no server at"):
        ask(url, "speaks")


def test_its_models_are_listed(server):
    assert asyncio.run(RemoteServer(server.url).models()) == MODELS


def test_closing_the_iterator_lets_the_server_know(server):
    async def work():
        turn = RemoteServer(server.url).begin(RemoteRequest("endless", (), {}))
        async with aclosing(turn.events()) as events:
            async for _event in events:
                break

    asyncio.run(work())
    assert server.gone.wait(60)


def test_a_stop_ends_the_events(server):
    async def work():
        turn = RemoteServer(server.url).begin(RemoteRequest("endless", (), {}))
        n = 0
        async with aclosing(turn.events()) as events:
            async for _event in events:
                n += 1
                if n == 3:
                    turn.stop()

    watch = FairWatch()
    asyncio.run(work())
    assert watch.took_s < 5


def test_a_server_that_talks_faster_than_one_reads_has_to_wait_and_stops_at_once(server):
    async def work():
        turn = RemoteServer(server.url).begin(RemoteRequest("torrent", (), {}))
        n = n_after = 0
        async with aclosing(turn.events()) as events:
            async for _event in events:
                n += 1
                if n == 100:
                    await asyncio.sleep(0.3)  # the server says ten thousands meanwhile
                    turn.stop()
                n_after += n > 100
        return n_after

    assert asyncio.run(work()) <= MAX_UNREAD
    assert server.gone.wait(60)


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_any_bytes_are_an_answer_or_an_error_in_words(lines):
    said: list[str] = []
    for form in (lines, [b"data: " + line for line in lines]):
        try:
            list(read_stream(form))
        except SlipstreamError as fault:
            said.append(fault.message)
    assert all(said)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["usage", "timings", "choices", "delta", "content", "error", "draft_n", "detail", "object"]
            ),
            inner,
        )
    ),
    max_leaves=20,
)


@given(_json)
def test_any_document_is_an_answer_or_an_error_in_words(document):
    data, said = json.dumps(document).encode(), list[str]()
    for read in (lambda: list(read_whole(data)), lambda: read_fault(500, data, "here")):
        try:
            read()
        except SlipstreamError as fault:
            said.append(fault.message)
    assert all(said)


def test_a_document_of_brackets_is_an_error_in_words():
    with pytest.raises(RemoteError):
        list(read_stream([b"data: " + b"[" * (MAX_LINE_BYTES // 2)]))
