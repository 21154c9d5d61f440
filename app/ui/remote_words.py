"""Models of other servers, as the model picker and the words of state have them."""

from __future__ import annotations

from collections.abc import Iterable

from app.host.remote_wire import ServerModel, read_address
from app.settings import ModelServer
from app.ui.pair_bar import ModelOption
from app.ui.tr import tr

_MARK = "\0server\0"
"""No file's name can hold a null character, and no address."""

NOT_MEASURED = tr("is the server's own business; nothing of its answers is measured here")
NO_GOING_ON = tr("A server cannot go on with an answer.")
ASK_AGAIN = tr("Let it answer again, or choose a model of this computer and continue.")


def picker_name(remote: ServerModel) -> str:
    """Return what stands for a server's model in a picker."""
    return f"{_MARK}{remote.url}\0{remote.model}"


def picked_server(name: str) -> ServerModel | None:
    """Return the server's model that a picker's name stands for, ``None`` if it is one of this computer."""
    if not name.startswith(_MARK):
        return None
    url, _, model = name.removeprefix(_MARK).partition("\0")
    return ServerModel(url, model)


def server_options(servers: Iterable[ModelServer], chosen: ServerModel | None) -> list[ModelOption]:
    """Return the models of all servers, as they are picked; the chosen one also if its server has forgotten it."""
    known = [ServerModel(server.url, model) for server in servers for model in server.models]
    if chosen is not None and chosen not in known:
        known.append(chosen)
    return [_option(one) for one in known]


def _option(remote: ServerModel) -> ModelOption:
    detail = tr("Answers come from {place}.").format(place=read_address(remote.url).words)
    return ModelOption(picker_name(remote), remote.words, detail)


def ready_words(remote: ServerModel) -> str:
    """Say who answers, and where what is written goes."""
    address = read_address(remote.url)
    if address.is_here:
        words = tr("{model} answers, from the server at {place}. Everything stays on this computer.")
    elif address.is_open_to_others:
        words = tr("{model} answers. What you write goes to {place}, and anybody on the network can read it.")
    else:
        words = tr("{model} answers. What you write goes to {place}, encrypted.")
    return words.format(model=remote.model, place=address.words)
