"""A disk that really fills up: a small one of its own, in a process that may mount it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import environment
from tests.fixtures.raw_gguf import small

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20

CODE = """
import asyncio, subprocess, sys
from contextlib import aclosing
from pathlib import Path
from app.errors import DiskFullError
from app.models.download import Downloads
from app.models.hub import Hub

endpoint, folder, source = sys.argv[1:]
mount = ["mount", "-t", "tmpfs", "-o"]
subprocess.run([*mount, "size=5m", "none", folder], check=True)
hub = Hub(endpoint, find=lambda: None)
item = hub.resolve("org/some-GGUF")
downloads = Downloads(hub, Path(folder), spare_bytes=-(1 << 40))  # as if somebody else had filled the disk meanwhile

async def get():
    async with aclosing(downloads.get(item)) as steps:
        return [step async for step in steps][-1]

try:
    asyncio.run(get())
except DiskFullError as fault:
    print("full:", fault.message)
print("kept:", downloads.unfinished()[0].n_bytes)
subprocess.run([*mount, "remount,size=50m", "none", folder], check=True)
print("right:", asyncio.run(get()).paths[0].read_bytes() == Path(source).read_bytes())
"""


@pytest.mark.linux
def test_it_is_said_what_arrived_is_kept_and_it_goes_on(server, blob, tmp_path):
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
        return  # who may not mount a disk has test_a_disk_that_takes_no_more_is_said_and_nothing_is_lost
    source = blob(12 * MIB)
    server.add("org/some-GGUF", "some-Q4_K_M.gguf", source)
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["unshare", "-rm", sys.executable, "-c", CODE, server.endpoint, str(folder), str(source)],
        cwd=ROOT,
        env=environment(HF_HUB_OFFLINE="0"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    lines = done.stdout.splitlines()

    assert lines[0] == "full: The disk is full. What has arrived is kept.", done.stderr
    assert 4 * MIB < int(lines[1].removeprefix("kept: ")) <= 5 * MIB
    assert lines[2] == "right: True"
    assert server.n_sent - 12 * MIB <= MIB


COPYING = """
import os, subprocess, sys
from pathlib import Path
from app.errors import DiskFullError
from app.models.importing import Import
from app.models.models_folder import choose_folder, models_folder
from app.models.relocation import Relocation

how, disk, elsewhere, source = sys.argv[1], *map(Path, sys.argv[2:])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "none", str(disk)], check=True)
unlimited = {"spare_bytes": -(1 << 40)}  # as if somebody else had filled the disk meanwhile
if how == "import":
    choose_folder(disk)
    work = Import(source, **unlimited)
else:
    choose_folder(elsewhere)
    for name in ("a-small.gguf", "b-large.gguf"):
        (elsewhere / name).write_bytes(source.read_bytes()[: 2_000_000 if "small" in name else None])
    work = Relocation(disk, **unlimited)
try:
    work.run()
except DiskFullError as fault:
    print("full:", fault.message)
left = [path for path in disk.rglob("*") if path.is_file() and path.suffix in (".gguf", ".part", ".moving")]
print("left:", left, models_folder() == (disk if how == "import" else elsewhere), sorted(os.listdir(elsewhere)))
"""


@pytest.mark.linux
@pytest.mark.parametrize("how", ["import", "move"])
def test_a_disk_that_fills_up_in_the_middle_of_a_copy_leaves_all_as_it_was(how, blob, tmp_path):
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
        return
    source = tmp_path / "source.gguf"
    source.write_bytes(small().bytes() + blob(12 * MIB).read_bytes())
    disk, elsewhere = tmp_path / "disk", tmp_path / "elsewhere"
    disk.mkdir()
    elsewhere.mkdir()
    done = subprocess.run(
        ["unshare", "-rm", sys.executable, "-c", COPYING, how, str(disk), str(elsewhere), str(source)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    lines = done.stdout.splitlines()

    assert lines[0].startswith("full: There is no room for "), done.stderr
    kept = [] if how == "import" else ["a-small.gguf", "b-large.gguf"]
    assert lines[1] == f"left: [] True {kept}"
