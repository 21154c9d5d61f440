"""What answers at an address need not be llama.cpp's server: it is named in time, and the rest is found all the same.

``SLIPSTREAM_TEST_RUNTIME=DIR python -m pytest -m runtime``, as ``test_second_device``.
"""

from __future__ import annotations

import time

import pytest

from app.engine.discovery import discover
from app.engine.surroundings import Surroundings
from app.host.device_book import DeviceBook
from app.host.runtimes import Runtimes
from tests.fixtures import lent
from tests.fixtures.rogue import rogue

pytestmark = [pytest.mark.runtime, pytest.mark.linux]


@pytest.mark.parametrize(
    ("how", "limit_s"),
    [
        ({"says_hello": False}, 4.0),
        ({"garbage": b"HTTP/1.1 400 Bad Request\r\n\r\n"}, 20.0),
        ({"garbage": bytes(1 << 20)}, 20.0),
        ({"n_devices": 0}, 20.0),
        ({"n_devices": 100}, 20.0),
        ({"n_devices": (1 << 32) - 1}, 20.0),
    ],
    ids=["silent", "another protocol", "zeros", "no device", "a hundred", "four billion"],
)
def test_a_server_that_is_none_is_named_and_another_is_used(how, limit_s):
    surroundings = Surroundings(str(lent.folder()))
    with lent.lender() as sound, rogue(**how) as bad:
        began_s = time.monotonic()
        found = discover(surroundings, servers=(bad.address, sound.address), limit_s=limit_s)
        assert time.monotonic() - began_s < 30
    (backend,) = [backend for backend in found.backends if backend.name == "rpc"]
    assert bad.address in backend.reason
    assert [device.description for device in backend.devices] == [sound.address]


def test_a_server_that_closes_at_once_is_named():
    with rogue(says_hello=False) as bad:
        address = bad.address
    found = discover(Surroundings(str(lent.folder())), servers=(address,))
    (backend,) = [backend for backend in found.backends if backend.name == "rpc"]
    assert (backend.state, backend.devices) == ("refused", ())
    assert address in backend.reason


def test_one_that_comes_back_with_another_memory_is_tried_anew(tmp_path):
    with rogue() as one:
        runtimes, book = lent.use(one.address), DeviceBook(tmp_path / "devices.json", drivers={})
        in_use = runtimes.in_use()

        def look():
            (device,) = [d for d in book.find(in_use, (one.address,)).devices if d.backend == "RPC"]
            return device

        book.note_failure(in_use, look(), "It ended.")
        assert book.standing(in_use, look()).state == "failing"
        one.total_bytes = 16 << 30
        device = look()
        assert device.memory_total_bytes == 16 << 30
        assert book.standing(in_use, device).state == "untried"
        one.total_bytes = 8 << 30
        assert book.standing(in_use, look()).state == "failing"
    assert Runtimes().shelf().servers == (one.address,)
