"""A model hub on this machine: the hub's API on one origin, the bytes on another, and faults to order.

It speaks what the real huggingface-hub client and our own download loop ask for: the list of models, a model's files
with LFS hashes, ``resolve`` with ``x-repo-commit`` and ``x-linked-*``, a redirect with a signature to the storage, and
ranges there. Like the hub it lets gated repositories' files be seen, but not had.

    python -m tests.hub_server FILE…      serves files as org/served and prints the endpoint, until its input ends
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import struct
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "c0ffee" + "0" * 34
_RANGE = re.compile(r"bytes=(\d+)-(\d*)$")


@dataclass
class Stored:
    """One file of a repository."""

    source: Path
    sha256: str
    is_lfs: bool = True

    @property
    def n_bytes(self) -> int:
        return self.source.stat().st_size


@dataclass
class Repo:
    """One repository; ``admitted`` holds the tokens that may have a gated one."""

    files: dict[str, Stored] = field(default_factory=dict)
    gated: str | bool = False
    admitted: set[str] = field(default_factory=set)
    licence: str = "apache-2.0"
    commit: str = COMMIT


@dataclass
class Seen:
    """One request, and how many bytes of a file went out for it."""

    origin: str
    method: str
    path: str
    headers: dict[str, str]
    first: int = 0
    n_sent: int = 0


class HubServer:
    """The two origins, what they hold, and the faults that are due."""

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.tokens: set[str] = set()
        self.seen: list[Seen] = []
        self.cuts: list[int] = []  # the connection ends when this byte of a file is due; each once
        self.statuses: list[tuple[str, int, dict[str, str]]] = []  # (origin, status, headers) of the next answers
        self.bodies: list[bytes] = []  # what the hub's next questions are answered with
        self.cuts_are_resets = False  # else an early end that looks in order
        self.ignores_ranges = False
        self.n_links_expired = 0  # so many of the next links do not work
        self.corrupt_at: int | None = None
        self.total_said: int | None = None  # what the storage says that a file's length is
        self.rate_bytes_s: float | None = None
        self.stall_at: int | None = None  # after this byte nothing comes, for one connection
        self.released = threading.Event()
        self._lock = threading.Lock()
        self._servers = [_Server(self, origin) for origin in ("hub", "storage")]
        self.endpoint = f"http://127.0.0.1:{self._servers[0].server_port}"
        self.storage = f"http://localhost:{self._servers[1].server_port}"

    def __enter__(self) -> Self:
        self._threads = [threading.Thread(target=s.serve_forever, args=(0.02,)) for s in self._servers]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        for server in self._servers:
            server.shutdown()
            server.close_all()
        for thread in self._threads:
            thread.join()

    def add(self, repo: str, path: str, source: Path, *, is_lfs: bool = True) -> Stored:
        """Put a file into a repository, which is made if need be."""
        with source.open("rb") as file:
            stored = Stored(source, hashlib.file_digest(file, "sha256").hexdigest(), is_lfs)
        self.repos.setdefault(repo, Repo()).files[path] = stored
        return stored

    def take_status(self, origin: str) -> tuple[int, dict[str, str]] | None:
        with self._lock:
            if self.statuses and self.statuses[0][0] == origin:
                return self.statuses.pop(0)[1:]
        return None

    def take_body(self) -> bytes | None:
        with self._lock:
            return self.bodies.pop(0) if self.bodies else None

    def take_expired(self) -> bool:
        with self._lock:
            self.n_links_expired -= 1
            return self.n_links_expired >= 0

    def take_cut(self, first: int, end: int) -> int | None:
        """Return the byte at which this answer ends early."""
        with self._lock:
            due = [at for at in self.cuts if first <= at < end]
            if due:
                self.cuts.remove(min(due))
            return min(due, default=None)

    @property
    def n_sent(self) -> int:
        """Bytes of files that went out in all."""
        return sum(seen.n_sent for seen in self.seen)

    def count(self, origin: str, method: str = "GET") -> int:
        """How many requests there were."""
        return Counter((seen.origin, seen.method) for seen in self.seen)[origin, method]


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, hub: HubServer, origin: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hub, self.origin = hub, origin
        self.open: set[socket.socket] = set()

    def process_request(self, request, client_address):
        request.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 << 10)  # what is under way when it breaks is little
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        self.open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def close_all(self) -> None:
        """End the connections that wait for another request, and their threads."""
        for request in list(self.open):
            try:
                request.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def _serve(self) -> None:
        hub = self.server.hub
        seen = Seen(self.server.origin, self.command, self.path, {k.lower(): v for k, v in self.headers.items()})
        hub.seen.append(seen)
        if (status := hub.take_status(self.server.origin)) is not None:
            self._answer(status[0], b"", status[1])
        elif self.server.origin == "storage":
            self._storage(seen)
        elif not self._is_known():
            self._refuse(401, "", "Invalid credentials in Authorization header")
        elif self.path.startswith("/api/models"):
            body = hub.take_body()
            self._api() if body is None else self._answer(200, body, {"Content-Type": "application/json"})
        else:
            self._resolve(seen)

    # --- answers --------------------------------------------------------------------------------------

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _refuse(self, status: int, code: str, message: str) -> None:
        headers = {"X-Error-Message": message, **({"X-Error-Code": code} if code else {})}
        self._answer(status, json.dumps({"error": message}).encode(), headers)

    def _token(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    def _is_known(self) -> bool:
        return not self._token() or self._token() in self.server.hub.tokens

    def _no_repo(self) -> None:
        if self._token():
            self._refuse(404, "RepoNotFound", "Repository not found")
        else:
            self._refuse(401, "", "Invalid username or password.")

    # --- the hub --------------------------------------------------------------------------------------

    def _api(self) -> None:
        hub, parts = self.server.hub, urlsplit(self.path)
        name = unquote(parts.path.removeprefix("/api/models").strip("/"))
        if not name:
            words = parse_qs(parts.query).get("search", [""])[0].lower()
            limit = int(parse_qs(parts.query).get("limit", ["1000"])[0])
            found = [self._about(n, repo, files=False) for n, repo in hub.repos.items() if words in n.lower()]
            self._answer(200, json.dumps(found[:limit]).encode(), {"Content-Type": "application/json"})
            return
        name, _, revision = name.partition("/revision/")
        if name not in hub.repos:
            self._no_repo()
        elif revision not in ("", "main", hub.repos[name].commit):
            self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        else:
            about = json.dumps(self._about(name, hub.repos[name], files=True)).encode()
            self._answer(200, about, {"Content-Type": "application/json"})

    @staticmethod
    def _about(name: str, repo: Repo, *, files: bool) -> dict[str, object]:
        about: dict[str, object] = {
            "_id": "0",
            "id": name,
            "modelId": name,
            "sha": repo.commit,
            "lastModified": "2026-11-01T12:00:00.000Z",
            "private": False,
            "gated": repo.gated,
            "downloads": 1000,
            "likes": 10,
            "tags": ["gguf", f"license:{repo.licence}"],
            "cardData": {"license": repo.licence},
        }
        if files:
            about["siblings"] = [_sibling(path, stored) for path, stored in repo.files.items()]
        return about

    def _resolve(self, seen: Seen) -> None:
        hub = self.server.hub
        owner, name, _, revision, path = (unquote(urlsplit(self.path).path).strip("/").split("/", 4) + [""] * 5)[:5]
        repo = hub.repos.get(f"{owner}/{name}")
        if repo is None:
            self._no_repo()
        elif repo.gated and not self._token():
            self._refuse(401, "GatedRepo", f"Access to model {owner}/{name} is restricted.")
        elif repo.gated and self._token() not in repo.admitted:
            self._refuse(403, "GatedRepo", f"Access to model {owner}/{name} is restricted.")
        elif revision not in ("main", repo.commit):
            self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        elif path not in repo.files:
            self._refuse(404, "EntryNotFound", "Entry not found")
        elif not repo.files[path].is_lfs:
            self._bytes(repo.files[path], seen)
        else:
            stored = repo.files[path]
            headers = {
                "Location": f"{hub.storage}/{owner}/{name}/{path}?sha={stored.sha256}&X-Amz-Signature=5ecre7",
                "X-Repo-Commit": repo.commit,
                "X-Linked-Size": str(stored.n_bytes),
                "X-Linked-ETag": f'"{stored.sha256}"',
            }
            self._answer(302, b"", headers)

    # --- the storage ----------------------------------------------------------------------------------

    def _storage(self, seen: Seen) -> None:
        parts = urlsplit(self.path)
        owner, name, path = unquote(parts.path).strip("/").split("/", 2)
        if "X-Amz-Signature" not in parts.query or self.server.hub.take_expired():
            self._answer(403, b"<Error><Code>AccessDenied</Code></Error>")
            return
        self._bytes(self.server.hub.repos[f"{owner}/{name}"].files[path], seen)

    def _bytes(self, stored: Stored, seen: Seen) -> None:
        hub, n_bytes = self.server.hub, stored.n_bytes
        asked = None if hub.ignores_ranges else _RANGE.match(self.headers.get("range", ""))
        first = int(asked[1]) if asked else 0
        end = min(int(asked[2]) + 1, n_bytes) if asked and asked[2] else n_bytes
        if first >= n_bytes and n_bytes:
            self._answer(416, b"", {"Content-Range": f"bytes */{n_bytes}"})
            return
        total = n_bytes if hub.total_said is None else hub.total_said
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{end - 1}/{total}")
        self.send_header("Content-Length", str(end - first if asked else total))
        self.send_header("ETag", '"of-the-storage"')
        self.end_headers()
        seen.first = first
        if self.command != "HEAD":
            self._send(stored, seen, first, end)

    def _send(self, stored: Stored, seen: Seen, first: int, end: int) -> None:
        hub = self.server.hub
        cut = hub.take_cut(first, end)
        stop = end if cut is None else cut
        with stored.source.open("rb") as source:
            at = first
            while at < stop:
                n = self._send_some(source.fileno(), at, stop)
                at += n
                seen.n_sent += n
        if cut is not None:
            self.close_connection = True
            self._break_off()

    def _break_off(self) -> None:
        if not self.server.hub.cuts_are_resets:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())

    def _send_some(self, source: int, at: int, stop: int) -> int:
        hub = self.server.hub
        if hub.stall_at is not None and at <= hub.stall_at < stop:
            if at == hub.stall_at:
                hub.stall_at = None
                hub.released.wait(60)
                raise ConnectionAbortedError
            stop = hub.stall_at
        if hub.corrupt_at == at:
            self.connection.sendall(bytes([os.pread(source, 1, at)[0] ^ 1]))
            return 1
        if hub.corrupt_at is not None and at < hub.corrupt_at < stop:
            stop = hub.corrupt_at
        rate_bytes_s = hub.rate_bytes_s  # which a test changes at any moment
        n = min(stop - at, 64 << 10 if rate_bytes_s else 1 << 30)
        if rate_bytes_s:
            hub.released.wait(n / rate_bytes_s)
        return os.sendfile(self.connection.fileno(), source, at, n)


def _sibling(path: str, stored: Stored) -> dict[str, object]:
    content = b"" if stored.is_lfs else stored.source.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    about: dict[str, object] = {"rfilename": path, "size": stored.n_bytes, "blobId": blob}
    if stored.is_lfs:
        about["lfs"] = {"sha256": stored.sha256, "size": stored.n_bytes, "pointerSize": 135}
    return about


def main() -> None:
    """Serve files until the input ends."""
    with HubServer() as hub:
        for name in sys.argv[1:]:
            hub.add("org/served", Path(name).name, Path(name))
        print(hub.endpoint, hub.storage, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
