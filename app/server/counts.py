"""Counters for Prometheus: requests, tokens, drafts, times. Nothing of what was said."""

from __future__ import annotations

import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from app.metrics.values import Run
from app.server.desk import Desk
from app.server.request_log import Entry

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_TTFT_S = (0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_PREFIX = "slipstream"


class Counts:
    """The counters of one server."""

    def __init__(self, desk: Desk, n_pulls: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()

        def counter(name: str, words: str, *labels: str) -> Counter:
            return Counter(f"{_PREFIX}_{name}", words, labels, registry=self._registry)

        self._requests = counter("requests", "Requests for an answer, by how they ended.", "path", "end")
        self._prompt = counter("prompt_tokens", "Prompt tokens, those from the cache included.")
        self._cached = counter("cached_prompt_tokens", "Prompt tokens that were in the cache.")
        self._tokens = counter("completion_tokens", "Tokens that were generated.")
        self._proposed = counter("draft_tokens", "Draft tokens sent to the target.")
        self._accepted = counter("accepted_draft_tokens", "Draft tokens that were kept.")
        self._decoding_s = counter("decode_seconds", "Time from first to last tokens, on the engine's clock.")
        self._ttft = Histogram(
            f"{_PREFIX}_time_to_first_token_seconds",
            "From the request to the first token, the queue included.",
            buckets=_TTFT_S,
            registry=self._registry,
        )
        taken = Gauge(f"{_PREFIX}_requests_in_queue", "Waiting or being answered.", registry=self._registry)
        taken.set_function(lambda: desk.n_taken)
        pulls = Gauge(f"{_PREFIX}_pulls", "Models being downloaded, or waiting for that.", registry=self._registry)
        pulls.set_function(n_pulls)
        started = Gauge(f"{_PREFIX}_start_time_seconds", "When the server started.", registry=self._registry)
        started.set(time.time())

    def note(self, entry: Entry, run: Run | None) -> None:
        """Count a request that has ended."""
        self._requests.labels(entry.path, entry.fault or "done").inc()
        if entry.first_s is not None:
            self._ttft.observe(entry.first_s - entry.began_s)
        if run is None:
            return
        self._prompt.inc(run.prompt_tokens)
        self._cached.inc(run.cached_tokens)
        self._tokens.inc(run.tokens)
        self._proposed.inc(run.proposed)
        self._accepted.inc(run.accepted)
        if run.answer_s is not None and run.ttft_s is not None:
            self._decoding_s.inc(run.answer_s - run.ttft_s)

    def text(self) -> bytes:
        """Return all of them in Prometheus' own format."""
        return bytes(generate_latest(self._registry))
