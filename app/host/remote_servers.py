"""The servers that a person has added: how their models are named, where their keys are, and what is asked of them.

A key is kept in the keyring of the system, for its very address, and is sent there and nowhere else. Where there is no
keyring it holds until the program ends.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from contextlib import suppress

import msgspec

from app.chat.chat_settings import Constraint
from app.errors import UsageError
from app.host.remote import RemoteServer
from app.host.remote_wire import RemoteRequest, ServerModel, read_address
from app.host.values import ChatRequest
from app.protocol import Sampling
from app.settings import ModelServer

logger = logging.getLogger(__name__)

SERVICE = "slipstream"
MAX_MODELS = 1000

_USUAL = Sampling(seed=0)
_SAMPLING = {
    "temperature": ("temperature",),
    "top_k": ("top_k",),
    "top_p": ("top_p",),
    "min_p": ("min_p",),
    "repeat_penalty": ("repeat_penalty", "repetition_penalty"),
    "frequency_penalty": ("frequency_penalty",),
    "presence_penalty": ("presence_penalty",),
}
"""Our names of how to draw, and what servers call it: llama.cpp's has another name for one than vLLM and SGLang."""


class ServerKeys:
    """Keys by the servers' addresses."""

    def __init__(self) -> None:
        self._held: dict[str, str] = {}

    def find(self, url: str) -> str:
        """Return the key of a server, "" if none is known. May wait for the system's keyring."""
        if url in self._held:
            return self._held[url]
        try:
            import keyring

            found: str | None = keyring.get_password(SERVICE, _account(url))
        except Exception as fault:  # whatever ails the desktop's keyring, a server without a key can be asked
            logger.info("the keyring was not read: %s", type(fault).__name__)
            return ""
        return found or ""

    def keep(self, url: str, key: str) -> bool:
        """Keep the key of a server; return whether there is a keyring for it. Without one it holds until the end."""
        if not key:
            return True
        self._held[url] = key
        try:
            import keyring

            keyring.set_password(SERVICE, _account(url), key)
        except Exception as fault:
            logger.info("the keyring keeps no key: %s", type(fault).__name__)
            return False
        return True

    def forget(self, url: str) -> None:
        """Take the key of a server out of the keyring; none there is fine."""
        self._held.pop(url, None)
        try:
            import keyring

            keyring.delete_password(SERVICE, _account(url))
        except Exception as fault:
            logger.info("no key to forget: %s", type(fault).__name__)


def _account(url: str) -> str:
    return f"key of {url}"


def readable(servers: Iterable[ModelServer]) -> tuple[ModelServer, ...]:
    """Return the servers with addresses that are some: a file of settings can be edited by hand."""
    kept = []
    for server in servers:
        with suppress(UsageError):
            read_address(server.url)
            kept.append(server)
    return tuple(kept)


async def look(url: str, key: str) -> ModelServer:
    """Ask a server what it has.

    Raises:
        SlipstreamError: it cannot be reached, refuses, or has no model.
    """
    models = await RemoteServer(url, key).models()
    fit = tuple(dict.fromkeys(name for name in models if name and name.isprintable() and len(name) <= 1000))
    return ModelServer(url=url, models=fit[:MAX_MODELS])


def find_model(words: str, servers: Iterable[ModelServer]) -> ServerModel | None:
    """Return what ``model@host:port`` means among the servers that were added, ``None`` if it is no such name.

    Raises:
        UsageError: the server is among them, and has another model.
    """
    name, _, place = words.rpartition("@")
    server = next((one for one in readable(servers) if place and read_address(one.url).place == place), None)
    if server is None:
        return None
    if not name and server.models:
        return ServerModel(server.url, server.models[0])
    if name not in server.models:
        known = ", ".join(server.models[:20])
        raise UsageError(
            f"The server at {place} has no model {name}.", f"It has: {known}." if known else "Ask it anew."
        )
    return ServerModel(server.url, name)


def asked_of(
    request: ChatRequest,
    model: str,
    extra: dict[str, object],
    constraint: Constraint | None = None,
    said: Collection[str] = tuple(_SAMPLING),
) -> RemoteRequest:
    """Return a request as the API has it.

    Args:
        request: what is asked.
        model: whom.
        extra: more fields of the API.
        constraint: what the answer has to keep to, where that is known in the API's own words.
        said: which settings of the sampling somebody chose or sees, and relies on; those that are as usual a server
            that does not know them may be asked without.
    """
    fields: dict[str, object] = {"max_completion_tokens": request.max_tokens}
    if request.templating.reasoning is not None:
        fields["chat_template_kwargs"] = {"enable_thinking": request.templating.reasoning}
    if request.templating.reasoning_effort is not None:
        fields["reasoning_effort"] = request.templating.reasoning_effort
    if request.stop:
        fields["stop"] = list(request.stop)
    optional: list[str] = []
    if (sampling := request.sampling) is not None:
        fields["seed"] = sampling.seed
        for name, names in _SAMPLING.items():
            value = getattr(sampling, name)
            is_usual = value == getattr(_USUAL, name)
            if name in said or not is_usual:
                fields |= dict.fromkeys(names, value)
                optional += names if is_usual else names[1:]
        if sampling.grammar:
            fields["grammar"] = sampling.grammar
    if constraint is not None and constraint.kind in ("json", "json_schema"):
        fields.pop("grammar", None)
        fields["response_format"] = _format(constraint)
    messages = tuple({"role": message.role, "content": message.content} for message in request.messages)
    return RemoteRequest(model, messages, {**extra, **fields}, tuple(optional))


def _format(constraint: Constraint) -> dict[str, object]:
    if constraint.kind == "json":
        return {"type": "json_object"}
    schema = msgspec.json.decode(constraint.text)
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
