"""Models that requests have pulled: once for all who wait, beside the queue, and for nobody who has left."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.host import PairChoice
from app.protocol import Generate
from app.server.options import Limits
from tests.doubles import Answer
from tests.hub_server import HubServer
from tests.server.conftest import ASK, serving
from tests.server.test_queue import queue, send, until

N_FIRST = 40_000
"""Bytes that come before the storage stalls."""


@pytest.fixture
def hub(monkeypatch, tiny_pair, tmp_path):
    import huggingface_hub

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "no-login"))
    with HubServer() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.endpoint)
        running.add("org/tiny-GGUF", "tiny-Q8_0.gguf", tiny_pair.target)
        running.add("org/small-GGUF", "small-Q8_0.gguf", tiny_pair.draft)
        yield running
        running.released.set()
        huggingface_hub.close_session()


def n_fetched(hub, repo: str) -> int:
    return sum(seen.origin == "storage" and seen.method == "GET" and repo in seen.path for seen in hub.seen)


def asks(running, **fields):
    return running.post({**ASK, **fields})[0]


def test_two_who_want_the_same_draft_have_it_pulled_once_and_nobody_else_waits(hub):
    hub.stall_at = N_FIRST
    fields = {"spec_type": "draft-simple"}
    names = ("org/small-GGUF", "org/small-GGUF:Q8_0", "org/small-GGUF:q8_0")
    with serving([Answer()], may_pull=True) as running, ThreadPoolExecutor(len(names)) as pool:
        waiting = [pool.submit(asks, running, spec_draft_model=name, **fields) for name in names]
        until(lambda: n_fetched(hub, "small") == 1)
        assert queue(running) == 0
        assert asks(running) == 200  # who wants what is here
        assert asks(running, model="org/tiny-GGUF") == 200  # who wants another model pulled
        assert not any(one.done() for one in waiting)
        hub.released.set()  # the connection breaks, and the download goes on
        assert [one.result(20) for one in waiting] == [200] * len(names)
        assert running.host.state.pair.draft.endswith("small-Q8_0.gguf")
    assert n_fetched(hub, "small") == 2  # before the break, and behind it
    assert (
        sum(seen.n_sent for seen in hub.seen if "small" in seen.path)
        < 2 * hub.repos["org/small-GGUF"].files["small-Q8_0.gguf"].n_bytes
    )


def test_so_many_are_pulled_at_once_and_others_wait_or_come_back(hub, tiny_pair, tmp_path):
    third = tmp_path / "third-Q8_0.gguf"
    third.write_bytes(tiny_pair.draft.read_bytes() + bytes(32))  # another file, since pulls go by what is in them
    hub.add("org/third-GGUF", third.name, third)
    hub.stall_at = N_FIRST
    limits = Limits(n_pulls=1, n_waiting_pulls=1)

    def pulls(running) -> tuple[int, int]:
        _, text = running.get("/metrics")
        (counted,) = (line for line in text.decode().splitlines() if line.startswith("slipstream_pulls "))
        return running.get("/health")[1]["pulls"], int(float(counted.split()[1]))

    with serving([Answer()], limits=limits, may_pull=True) as running, ThreadPoolExecutor(2) as pool:
        first = pool.submit(asks, running, model="org/tiny-GGUF")
        until(lambda: n_fetched(hub, "tiny") == 1)
        second = pool.submit(asks, running, model="org/small-GGUF")
        until(lambda: pulls(running) == (2, 2))
        status, answer = running.post({**ASK, "model": "org/third-GGUF"})
        assert (status, answer["error"]["code"]) == (429, "queue_full")
        assert "2 models are being pulled" in answer["error"]["message"]
        assert not n_fetched(hub, "small")
        assert asks(running) == 200  # who wants what is here
        hub.released.set()
        assert [first.result(20), second.result(20)] == [200, 200]
        until(lambda: pulls(running) == (0, 0))
        assert asks(running, model="org/third-GGUF") == 200


def test_one_who_leaves_waits_no_more_and_the_other_has_it(hub):
    hub.stall_at = N_FIRST
    with serving([Answer()], may_pull=True) as running, ThreadPoolExecutor(1) as pool:
        leaving = send(running, model="org/tiny-GGUF")
        until(lambda: n_fetched(hub, "tiny") == 1)
        staying = pool.submit(asks, running, model="org/tiny-GGUF")
        until(lambda: sum(seen.origin == "hub" and "tiny" in seen.path for seen in hub.seen) >= 2)
        leaving.close()
        hub.released.set()
        assert staying.result(20) == 200
        assert sum(isinstance(command, Generate) for command in running.engine.commands) == 1


def test_what_nobody_waits_for_is_pulled_no_more_and_goes_on_with_the_next(hub):
    hub.stall_at = N_FIRST
    with serving([Answer()], may_pull=True) as running:
        leaving = send(running, model="org/tiny-GGUF")
        until(lambda: any(seen.n_sent == N_FIRST for seen in hub.seen))
        leaving.close()
        until(lambda: not any("download" in thread.name for thread in threading.enumerate()))
        assert asks(running, model="org/tiny-GGUF") == 200  # the first connection hangs still, and nobody waits for it
        assert max(seen.first for seen in hub.seen) > 0
        assert running.server.log.entries()[-1].model == "tiny-Q8_0"


def test_what_cannot_be_pulled_is_told_to_all_who_wait(hub):
    with serving([Answer()], may_pull=True) as running, ThreadPoolExecutor(3) as pool:
        told = list(pool.map(lambda _: running.post({**ASK, "model": "org/none-GGUF"}), range(3)))
    assert {status for status, _ in told} == {404}
    assert all("org/none-GGUF" in json.dumps(answer) for _, answer in told)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"spec_type": "nonsense"}, "not known"),
        ({"spec_type": "draft-simple"}, "needs a draft model"),
        ({"spec_type": "ngram", "spec_draft_model": "org/small-GGUF"}, "does not use it"),
        ({"spec_type": "ngram", "spec_n_min": 8, "spec_n_max": 4}, "spec_n_min is 8"),
        ({"spec_draft_model": "org/small-GGUF", "spec_n_min": 8, "spec_n_max": 4}, "spec_n_min is 8"),
    ],
)
@pytest.mark.parametrize("draft", [None, "starter"])
def test_what_no_file_makes_right_is_refused_before_anything_is_pulled(hub, fields, words, draft):
    with serving([Answer()], PairChoice("starter", draft=draft), may_pull=True) as running:
        status, answer = running.post({**ASK, "model": "org/tiny-GGUF", **fields})
    assert (status, words in answer["error"]["message"]) == (400, True), answer
    assert not hub.seen


@pytest.mark.parametrize(
    ("draft", "words"),
    [
        ("no-such-model", "No model is called"),
        ("/no/such/model.gguf", "no model at that path"),
        ("org/none-GGUF", "org/none-GGUF"),
    ],
)
def test_a_draft_that_is_not_there_is_told_before_the_target_is_pulled(hub, draft, words):
    with serving([Answer()], may_pull=True) as running:
        status, answer = running.post({**ASK, "model": "org/tiny-GGUF", "spec_draft_model": draft})
    assert (status, words in answer["error"]["message"]) == (404, True), answer
    assert not n_fetched(hub, "tiny")
