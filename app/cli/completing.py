"""Words that a shell may complete."""

from __future__ import annotations


def model_names(incomplete: str) -> list[str]:
    """Return the names of models of this machine that begin so; none rather than an error in somebody's shell."""
    return _names(incomplete, with_drafters=False)


def answering_names(incomplete: str) -> list[str]:
    """Return the names of models that begin so, those of servers too, for commands that have servers answer."""
    return [*model_names(incomplete), *_of_servers(incomplete)]


def draft_names(incomplete: str) -> list[str]:
    """Return the names of files that can draft, and of models, that begin so."""
    return _names(incomplete, with_drafters=True)


def _names(incomplete: str, *, with_drafters: bool) -> list[str]:
    from app.errors import SlipstreamError
    from app.models.library import Library

    try:
        contents = Library().contents()
    except (OSError, SlipstreamError):
        return []
    entries = (*contents.drafters, *contents.models) if with_drafters else contents.models
    begins = incomplete.lower()
    return [entry.name for entry in entries if entry.name.lower().startswith(begins) and entry.name.isprintable()]


def _of_servers(incomplete: str) -> list[str]:
    from app.errors import SlipstreamError
    from app.host.remote_servers import readable
    from app.host.remote_wire import ServerModel
    from app.settings import load_settings

    try:
        servers = readable(load_settings()[0].servers)
    except SlipstreamError:
        return []
    names = [ServerModel(server.url, model).words for server in servers for model in server.models]
    return [name for name in names if name.lower().startswith(incomplete.lower()) and name.isprintable()]


def spec_types(incomplete: str) -> list[str]:
    """Return what can stand in ``--spec-type``, after the last comma."""
    from app.cli.options import SPEC_TYPES

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{kind}" for kind in SPEC_TYPES if kind.startswith(last)]


def compute_units(incomplete: str) -> list[str]:
    """Return the words that say where a model runs."""
    return [word for word in ("cpu", "gpu", "npu", "hybrid") if word.startswith(incomplete.lower())]
