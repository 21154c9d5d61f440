"""A server of releases on this machine: the tests' hub, whose links redirect to a storage with faults to order."""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path

import msgspec

from app.models.release import Build, Source
from tests.hub_server import HubServer, Repo

TAG, COMMIT = "b11312", "0c1e57098bba43ac29e6e3b677cdceebdd22334f"
REPO = "ggml-org/llama.cpp"


class ReleaseServer:
    """What ``resources/runtimes.json`` describes, with one build in it; told and true hashes can differ."""

    def __init__(self, hub: HubServer, folder: Path) -> None:
        self.hub, self._folder = hub, folder
        self.hub.repos[REPO] = Repo(commit=TAG)
        at = f"{hub.endpoint}/{REPO}/resolve/{TAG}/"
        self.source = Source(COMMIT, TAG, f"{at}ref.json", f"{at}release.json", f"{at}{{file}}", ())
        self.tell_ref({"object": {"sha": COMMIT, "type": "commit"}})

    def tell_ref(self, document: object) -> None:
        self._put("ref.json", json.dumps(document).encode())

    def tell_release(self, document: object) -> None:
        self._put("release.json", json.dumps(document).encode())

    def tell_release_bytes(self, body: bytes) -> None:
        self._put("release.json", body)

    def _put(self, name: str, body: bytes) -> None:
        path = self._folder / name
        path.write_bytes(body)
        self.hub.add(REPO, name, path, is_lfs=False)

    def publish(self, archive: Path, **told: object) -> Build:
        """Put an archive into the release; ``told`` is what the release says of it that is not so."""
        stored = self.hub.add(REPO, archive.name, archive)
        asset = {"name": archive.name, "size": stored.n_bytes, "digest": f"sha256:{stored.sha256}"} | told
        self.tell_release({"assets": [{"name": "other.zip", "size": 1, "digest": None}, asset]})
        return Build("test", "Linux", "x64", archive.name, "CPU")

    def mirror(self, *builds: Build) -> Path:
        """Write the file that ``SLIPSTREAM_RUNTIMES`` names."""
        path = self._folder / "runtimes.json"
        path.write_bytes(msgspec.json.encode(msgspec.structs.replace(self.source, builds=builds)))
        return path


def packed(folder: Path, archive: Path) -> Path:
    """Pack a runtime's folder, as official releases have it."""
    if archive.name.endswith(".zip"):
        with zipfile.ZipFile(archive, "w") as file:
            for path in sorted(folder.iterdir()):
                file.write(path, path.name)
        return archive
    with tarfile.open(archive, "w:gz", compresslevel=1) as file:
        for path in sorted(folder.iterdir()):
            file.add(path, f"llama-{TAG}/{path.name}")
    return archive
