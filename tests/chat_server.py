"""A small server with OpenAI's chat API, and faults to order: the model's name says what it does."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

WORDS = ["The ", "slow ", "train ", "**leaves** ", "the ", "station."]
USAGE = {
    "prompt_tokens": 12,
    "completion_tokens": 6,
    "total_tokens": 18,
    "prompt_tokens_details": {"cached_tokens": 3},
    "completion_tokens_details": {"accepted_prediction_tokens": 14, "rejected_prediction_tokens": 61},
}
TIMINGS = {"predicted_per_second": 42.5, "draft_n": 75, "draft_n_accepted": 14, "drafter": "ngram", "not_engaged": ""}
MODELS = (
    *("speaks", "thinks", "whole", "endless", "breaks", "page", "fault", "bare", "refuses", "hostile", "flood"),
    *("torrent", "echoes", "empty", "moves", "mute", "gigabyte", "nonsense"),
    *("marked", "overflows", "rambles"),
    *("vllm", "fastapi", "strict", "strange", "parts", "midway"),
)


class ChatServer:
    """Runs on a free port of this machine; keeps what it was asked, and whether the reader went away."""

    def __init__(self, key: str = "") -> None:
        self.key = key
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.gone = threading.Event()
        self.moved_to = ""
        outer = self

        class Handler(_Handler):
            server_of_test = outer

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of_test: ChatServer

    def log_message(self, *_args: object) -> None:
        pass

    def do_GET(self) -> None:
        self.server_of_test.keys.append(self.headers.get("Authorization", ""))
        if not self._is_admitted():
            return
        self._json(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server_of_test.asked.append(body)
        self.server_of_test.keys.append(self.headers.get("Authorization", ""))
        if not self._is_admitted():
            return
        with suppress(ConnectionError):
            getattr(self, f"_{body['model']}", self._unknown)(body)

    def _is_admitted(self) -> bool:
        """Tell whether the key is right; if not, repeat what was sent, as some servers do."""
        given = self.headers.get("Authorization", "")
        if not self.server_of_test.key or given == f"Bearer {self.server_of_test.key}":
            return True
        self._json(401, {"error": {"message": f"Incorrect API key provided: {given}", "code": "invalid_api_key"}})
        return False

    def _json(self, status: int, document: object, kind: str = "application/json") -> None:
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _begin_bare(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def _begin(self) -> None:
        self._begin_bare()
        self._delta({"role": "assistant", "content": ""})

    def _send(self, document: object) -> None:
        self.wfile.write(b"data: " + json.dumps(document).encode() + b"\n\n")
        self.wfile.flush()

    def _delta(self, delta: dict[str, Any], finish: str | None = None, **more: object) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        self._send({"object": "chat.completion.chunk", "model": "told", "choices": [choice], **more})

    def _finish(self, **more: object) -> None:
        self._delta({}, "stop", **more)
        self._send({"choices": [], "model": "told", "usage": USAGE})
        self.wfile.write(b"data: [DONE]\n\n")

    def _unknown(self, body: dict[str, Any]) -> None:
        self._json(404, {"error": {"message": f"The model {body['model']} does not exist.", "code": "model_not_found"}})

    def _speaks(self, _body: dict[str, Any]) -> None:
        self._begin()
        self.wfile.write(b": still there\n\n")
        for word in WORDS:
            self._delta({"content": word})
        self._finish(timings=TIMINGS)

    def _thinks(self, _body: dict[str, Any]) -> None:
        self._begin()
        self._delta({"reasoning_content": "A train, "})
        self._delta({"reasoning_content": "then."})
        self._delta({"content": "It leaves."})
        not_engaged = "The vocabularies differ."
        self._finish(
            timings={**TIMINGS, "draft_n": 0, "draft_n_accepted": 0, "drafter": "", "not_engaged": not_engaged}
        )

    def _bare(self, _body: dict[str, Any]) -> None:
        self._begin()
        self._delta({"content": "Bare."})
        self._delta({}, "length")
        self.wfile.write(b"data: [DONE]\n\n")

    def _whole(self, _body: dict[str, Any]) -> None:
        message = {"role": "assistant", "content": "All at once."}
        self._json(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": USAGE})

    def _endless(self, _body: dict[str, Any]) -> None:
        self._begin()
        try:
            while True:
                self._delta({"content": "word "})
                time.sleep(0.01)
        except OSError:
            self.server_of_test.gone.set()

    def _breaks(self, _body: dict[str, Any]) -> None:
        self._begin()
        self._delta({"content": "Half an "})

    def _page(self, _body: dict[str, Any]) -> None:
        self._json(200, b"<html>hello</html>", "text/html")

    def _fault(self, _body: dict[str, Any]) -> None:
        self._begin()
        self._delta({"content": "Half an "})
        self._send({"error": {"message": "out of memory", "hint": "Shorten it."}})

    def _refuses(self, _body: dict[str, Any]) -> None:
        self._json(429, {"error": {"message": "Too many wait already."}})

    def _vllm(self, _body: dict[str, Any]) -> None:
        words = "The model's context holds 10 tokens."
        self._json(400, {"object": "error", "message": words, "type": "BadRequestError", "param": None, "code": 400})

    def _fastapi(self, _body: dict[str, Any]) -> None:
        faults = [{"loc": ["body", "seed"], "msg": "Input should be less"}, {"loc": ["body", "n", 0], "msg": "No"}]
        self._json(422, {"detail": faults})

    def _strange(self, _body: dict[str, Any]) -> None:
        self._json(500, {"error": {"message": None, "code": ["odd"]}, "detail": 5})

    def _strict(self, body: dict[str, Any]) -> None:
        if unknown := sorted({"top_k", "min_p", "repeat_penalty", "repetition_penalty"} & set(body)):
            self._json(400, {"error": {"message": f"Unrecognized request argument supplied: {unknown[0]}"}})
        else:
            self._speaks(body)

    def _parts(self, body: dict[str, Any]) -> None:
        thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
        said = [
            {"type": "text", "text": "In "},
            {"type": "image_url", "image_url": {}},
            {"type": "text", "text": "two."},
        ]
        if body["messages"][0]["content"] == "whole":
            message = {"role": "assistant", "content": [thought, *said]}
            self._json(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
            return
        self._begin()
        for part in (thought, *said):
            self._delta({"content": [part]})
        self._finish()

    def _midway(self, _body: dict[str, Any]) -> None:
        self._begin()
        self._delta({"content": "Half an "})
        self._send({"object": "error", "message": "CUDA out of memory", "code": 500})

    def _hostile(self, _body: dict[str, Any]) -> None:
        self._begin()
        self._delta({"content": "a\x1b]0;mine\x07b\x1b[2Jc\u202ed [x](http://e.example/\x1b[31m)\n"})
        self._finish(timings={"draft_n": -5, "draft_n_accepted": 10**30, "predicted_per_second": "fast"})

    def _torrent(self, _body: dict[str, Any]) -> None:
        self._begin()
        try:
            while True:
                self._delta({"content": "word "})
        except OSError:
            self.server_of_test.gone.set()

    def _echoes(self, _body: dict[str, Any]) -> None:
        self._begin()
        self._send({"error": {"message": f"not for {self.headers['Authorization']}", "hint": "really"}})

    def _empty(self, _body: dict[str, Any]) -> None:
        self._begin()
        self._finish()

    def _moves(self, _body: dict[str, Any]) -> None:
        self.send_response(307)
        self.send_header("Location", f"{self.server_of_test.moved_to}/v1/chat/completions")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _mute(self, _body: dict[str, Any]) -> None:
        self.close_connection = True

    def _gigabyte(self, _body: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(1 << 30))
        self.end_headers()
        with suppress(OSError):
            for _ in range(1 << 10):
                self.wfile.write(bytes(1 << 20))

    def _nonsense(self, _body: dict[str, Any]) -> None:
        self.wfile.write(self.headers["Authorization"].encode() * 500 + b"\r\n\r\n")
        self.close_connection = True

    def _marked(self, _body: dict[str, Any]) -> None:
        self._begin_bare()
        self.wfile.write(b"\xef\xbb\xbf")
        self._delta({"content": "All of it."})
        self._finish()

    def _overflows(self, _body: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"f" * 24 + b"\r\ndata: ")
        self.close_connection = True

    def _rambles(self, _body: dict[str, Any]) -> None:
        self._begin()
        self._delta({"content": "Hi."}, "so\ndraft accept: 9/9 " * 500)

    def _flood(self, _body: dict[str, Any]) -> None:
        self._begin()
        self.wfile.write(b"data: ")
        with suppress(OSError):
            while True:
                self.wfile.write(b"x" * 65536)
