"""Strictness for every test, and the fixtures that several of them share.

A test fails if it logs a warning that it did not announce, if it leaves a thread, a process or a window behind, or if
it reaches for the network beyond this machine. Each has its own data folder, so none sees what another (or the person
whose machine this is) has saved.
"""

from __future__ import annotations

import gc
import ipaddress
import os
import sys
from pathlib import Path

import pytest

from tests import leftovers
from tests.expected_logs import ExpectedLogs
from tests.fixtures import tiny

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before anything makes a QApplication
os.environ.setdefault("GOMP_SPINCOUNT", "2000")  # see fixtures/bare.py; before anything loads llama.cpp
os.environ["SLIPSTREAM_ONLY_OWN"] = "1"  # what other programs have on this machine is no business of the tests
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):  # the tests start hundreds of processes: none compiles it all again
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode"))


# --- selection --------------------------------------------------------------------------------------


def pytest_collection_modifyitems(config, items):
    """Leave out the long forms and what needs a runtime unless asked for, and what needs Linux elsewhere."""
    if not os.environ.get("SLIPSTREAM_TEST_RUNTIME"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("runtime")])
        items[:] = [item for item in items if not item.get_closest_marker("runtime")]
    if os.environ.get("SLIPSTREAM_FULL") != "1" and "full" not in config.option.markexpr:
        long_forms = [item for item in items if item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=long_forms)
        items[:] = [item for item in items if not item.get_closest_marker("full")]
    if sys.platform != "linux":
        for item in items:
            if item.get_closest_marker("linux"):
                item.add_marker(pytest.mark.skip(reason="needs Linux"))


# --- garbage ----------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    """Let what a test with a window made die on this thread: another test's thread would collect it, and crash.

    A closed loop of qasync is such a cycle, with timers in it. The end of a fixture would be too early: the test's
    arguments live on until everything is torn down, and what a failed one had in its frames until the next one.
    """
    result = yield
    if "qapp" in getattr(item, "fixturenames", ()):
        for name in ("last_type", "last_value", "last_traceback", "last_exc"):  # pytest puts a failure there
            vars(sys).pop(name, None)
        gc.collect()
    return result


# --- network ----------------------------------------------------------------------------------------


def _is_here(host: object) -> bool:
    if host in (None, "", "localhost", b"localhost"):
        return True
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else str(host)).is_loopback
    except ValueError:
        return False


def _guard_network(event: str, args: tuple) -> None:
    """Refuse names and addresses that are not this machine's."""
    if event == "socket.getaddrinfo" and not _is_here(args[0]):
        raise PermissionError(f"a test asked for the address of {args[0]!r}")
    if event in ("socket.connect", "socket.sendto") and isinstance(args[1], tuple) and not _is_here(args[1][0]):
        raise PermissionError(f"a test reached for {args[1]!r}")


sys.addaudithook(_guard_network)


# --- surroundings -----------------------------------------------------------------------------------


@pytest.fixture(scope="session", autouse=True)
def _session_home(tmp_path_factory):
    """Keep fixtures of a wider scope out of the person's own folders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLIPSTREAM_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("desktop")))  # the trash is the person's own
        yield


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Give the test an empty place for data, settings, cache and logs; return its path."""
    folder = tmp_path / "home"
    monkeypatch.setenv("SLIPSTREAM_HOME", str(folder))
    return folder


@pytest.fixture(autouse=True)
def _no_keyring():
    """Let every test find a machine without a keyring; the library keeps for good what one test has chosen."""
    import keyring
    from keyring.backends import fail

    keyring.set_keyring(fail.Keyring())


@pytest.fixture(autouse=True)
def _nothing_left_behind(request):
    before = leftovers.Snapshot.take(has_window="qapp" in request.fixturenames)
    yield
    if found := leftovers.since(before):
        pytest.fail("left behind: " + "; ".join(found), pytrace=False)


@pytest.fixture(autouse=True)
def expect_log():
    """Announce a warning: ``expect_log("regular expression")``. Unannounced ones fail the test, missing ones too."""
    with ExpectedLogs() as logs:
        yield logs.expect
    if faults := logs.faults():
        pytest.fail("\n".join(faults), pytrace=False)


# --- models -----------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def tiny_k_quants(tmp_path_factory):
    """A target of Q4_K."""
    return tiny.k_quants(tmp_path_factory.mktemp("tiny-k") / "tiny-llama-Q4_K.gguf")


@pytest.fixture(scope="session")
def tiny_pair(tmp_path_factory) -> tiny.TinyPair:
    """Target and draft of the llama architecture, Q8_0, history matters, three drafts of four are right."""
    return tiny.llama_pair(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def tiny_pair_q4(tmp_path_factory) -> tiny.TinyPair:
    """Return the same pair in Q4_0."""
    return tiny.llama_pair(tmp_path_factory.mktemp("tiny"), quantisation="Q4_0")
