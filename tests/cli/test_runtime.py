"""``runtime``, ``devices`` and ``doctor`` as a person types them."""

from __future__ import annotations

import json
import shutil

import pytest

from app.cli.doctor import private
from tests.cli.commands import run
from tests.fixtures import packs

pytestmark = pytest.mark.linux


def test_a_runtime_is_added_chosen_and_told_of(tmp_path):
    folder = packs.pack(tmp_path / "my build")
    assert "my build is added" in run("runtime", "--add", str(folder)).stderr
    used = json.loads(run("runtime", "--use", "my build", "--json").stdout)
    assert used["active"] == "my build"
    told = json.loads(run("devices", "--json").stdout)
    assert (told["runtime"], told["folder"]) == ("my build", str(folder))
    shutil.rmtree(folder)
    told = json.loads(run("devices", "--json").stdout)
    assert told["runtime"] == "built-in"
    assert "my build is not used" in told["why_not"]


def test_a_hostile_runtime_is_one_line_and_a_hint(tmp_path):
    folder = packs.with_llama(tmp_path / "bad", packs.ABORTS, is_whole=False)
    done = run("runtime", "--add", str(folder))
    assert done.returncode == 1
    line, hint = done.stderr.splitlines()
    assert "SIGABRT" in line
    assert hint.startswith("hint: ")


@pytest.mark.parametrize("server", ["nowhere", "127.0.0.1:0", "127.0.0.1:70000", "a b:1", "-H:1"])
def test_what_is_no_address_is_refused(server):
    assert run("runtime", f"--server={server}").returncode == 2


def test_a_server_is_told_to_be_neither_private_nor_proved():
    assert "neither encrypted nor authenticated" in run("runtime", "--server", "127.0.0.1:50052").stdout
    assert run("runtime", "--no-servers").stdout.split() == ["*", "built-in"]


def test_switches_are_set_for_the_engine_shown_by_the_doctor_and_set_no_more():
    assert run("runtime", "--set", "PATH=/tmp").returncode == 2
    assert "GGML_HEXAGON_VERBOSE=1" in run("runtime", "--set", "GGML_HEXAGON_VERBOSE=1").stdout
    assert "GGML_HEXAGON_VERBOSE=1 (set for the engine)" in run("doctor").stdout
    assert "GGML" not in run("runtime", "--set", "GGML_HEXAGON_VERBOSE=").stdout


def test_devices_are_proved_when_asked():
    states = [device["state"] for device in json.loads(run("devices", "--json").stdout)["devices"]]
    assert states == ["untried"]
    states = [device["state"] for device in json.loads(run("devices", "--prove", "--json").stdout)["devices"]]
    assert states == ["works"]


def test_the_doctor_writes_one_page_with_nothing_private_in_it(tmp_path, home):
    folder = packs.with_backend(tmp_path / "pack", packs.ABORTS)
    run("runtime", "--add", str(folder), "--use", "pack", "--server", "127.0.0.1:50052")
    page = run("doctor").stdout
    for words in ("# Slipstream doctor", "llama.cpp 0c1e570", "| CPU | cpu |", "evil: died", "sha256", "SIGABRT"):
        assert words in page
    for secret in (str(tmp_path), str(home), "127.0.0.1"):
        assert secret not in page
    assert len(page.splitlines()) < 60


def test_accounts_and_addresses_are_not_told():
    page = private(
        "GGML_X=/home/ada/lib C:\\Users\\Ada Lovelace\\x \\Users\\ada\\y at 192.168.1.7:50052 and lab:9 /opt/mine/lib",
        ("/opt/mine", "lab:9"),
    )
    for secret in ("ada", "Ada", "Lovelace", "192.168", "lab:9", "mine"):
        assert secret not in page


def test_the_doctor_tells_switches_and_not_where_they_lead(monkeypatch):
    monkeypatch.setenv("GGML_OPENCL_PLATFORM", "1")
    monkeypatch.setenv("LLAMA_CACHE", "/srv/lovelace/models")
    page = run("doctor").stdout
    assert "- GGML_OPENCL_PLATFORM=1\n" in page
    assert "- LLAMA_CACHE=(folder)\n" in page
    assert "lovelace" not in page
