"""Somebody who announces versions: a key pair, signed documents, and a server on this machine."""

from __future__ import annotations

import base64
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


class Publisher:
    """Signs with a key of its own."""

    def __init__(self) -> None:
        self._private = Ed25519PrivateKey.generate()
        self.key = self._private.public_key().public_bytes_raw()

    def document(self, **fields: str) -> bytes:
        """Return a signed announcement."""
        return self.signed(json.dumps({"version": "99.0", "page": "https://example.org/get", **fields}).encode())

    def signed(self, payload: bytes) -> bytes:
        """Return any bytes, signed."""
        both = {"signed": payload, "signature": self._private.sign(payload)}
        return json.dumps({name: base64.b64encode(value).decode() for name, value in both.items()}).encode()


@contextmanager
def served(body: bytes, status: int = 200, headers: dict[str, str] | None = None):
    """Serve one answer to everything; give the address and what was asked so far."""
    asked: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append({"path": self.path, **self.headers})
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/newest.json", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
