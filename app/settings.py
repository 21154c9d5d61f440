"""What a person has chosen, as one typed value in one file, saved atomically.

A missing key takes its default, so an older file needs no migration. A file that cannot be understood is set
aside as ``settings.json.broken`` (nothing is lost); what of it can be, as in one that a newer version wrote, is kept,
the rest takes its defaults, with the reason.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from app.errors import SettingsError
from app.memory_types import ElementType, FlashAttention
from app.paths import config_dir
from app.protocol import DraftTokens, SpecType

Theme = Literal["system", "light", "dark"]
Contrast = Literal["system", "normal", "high"]
Motion = Literal["system", "full", "reduced"]

MIN_FONT_EXTRA_PT, MAX_FONT_EXTRA_PT = -3, 12


class ModelServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server with OpenAI's API that a person has added; ``models`` are those that it had when it last said so."""

    url: Annotated[str, Meta(min_length=1, max_length=2000)]
    models: Annotated[tuple[str, ...], Meta(max_length=1000)] = ()


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings. Models are names as :mod:`app.models.library` resolves them, or paths.

    ``compute`` says where a model runs (:mod:`app.host.computing`), ``draft_compute`` where a draft does, "" the same.
    ``type_k``, ``type_v`` and ``flash_attention`` hold for both models of a pair, but that ``draft_type_k`` and
    ``draft_type_v`` are the types of what drafts, "" the same; so are ``draft_n_threads`` and a draft model's
    ``draft_n_ctx``, 0 the same. With ``slide`` a conversation that is longer than the context goes on without its
    oldest turns; ``exact`` keeps drafts from changing a word. With ``trees`` a model drafts token trees where the
    target can verify them; ``fixed_shape`` and ``lenient`` are as in :class:`app.protocol.Speculation`. The ranges are
    the engine's: a file with a number outside of them
    would fail every load or every answer.
    ``models_folder``: where models are kept, "" for the data folder; ``recommend``: suggest a pair for this machine as
    long as only the starter is here; ``look_for_updates``: ask once a day whether there is a newer version.
    ``server_open`` lets other computers ask, ``server_keyed`` has this one's programs show the key, too.
    ``templates``: chat templates in place of models' own, by the models' names.
    ``formula_sources`` shows formulas as they were written.
    ``language`` is the window's, as ``de``, or the system's. ``font_extra_pt`` is added to the system's font size.
    ``hub_endpoint`` is the address of the model hub, "" for ``HF_ENDPOINT`` or the usual one; ``offline`` asks no hub
    at all. ``servers`` are other engines; with ``server_url``, ``server_model`` of that one answers in the target's
    place. ``notify`` says on the desktop that a long answer has ended while the window was in the background.
    """

    target: str = "starter"
    draft: str | None = None
    speculation: bool = True
    spec_types: tuple[SpecType, ...] = ("ngram",)
    draft_tokens: DraftTokens = "auto"
    n_ctx: Annotated[int, Meta(ge=0, le=1 << 30)] = 4096
    n_threads: Annotated[int, Meta(ge=0, le=512)] = 0
    type_k: ElementType = "f16"
    type_v: ElementType = "bf16"
    flash_attention: FlashAttention = "auto"
    draft_n_ctx: Annotated[int, Meta(ge=0, le=1 << 30)] = 0
    draft_n_threads: Annotated[int, Meta(ge=0, le=512)] = 0
    draft_type_k: ElementType | Literal[""] = ""
    draft_type_v: ElementType | Literal[""] = ""
    compute: str = "cpu"
    draft_compute: str = ""
    slide: bool = False
    exact: bool = True
    trees: bool = False
    fixed_shape: bool = False
    lenient: Annotated[float, Meta(ge=0, le=1)] = 0.0
    temperature: Annotated[float, Meta(ge=0, le=100)] = 0.8
    top_k: Annotated[int, Meta(ge=0, le=1 << 30)] = 40
    top_p: Annotated[float, Meta(ge=0, le=1)] = 0.95
    min_p: Annotated[float, Meta(ge=0, le=1)] = 0.05
    repeat_penalty: Annotated[float, Meta(ge=0.01, le=100)] = 1.0
    max_tokens: Annotated[int, Meta(ge=1, le=1 << 30)] = 1024
    system_prompt: str = ""
    theme: Theme = "system"
    contrast: Contrast = "system"
    motion: Motion = "system"
    font_extra_pt: Annotated[int, Meta(ge=MIN_FONT_EXTRA_PT, le=MAX_FONT_EXTRA_PT)] = 0
    language: Annotated[str, Meta(max_length=20)] = "system"
    enter_sends: bool = True
    notify: bool = True
    hub_endpoint: Annotated[str, Meta(max_length=2000)] = ""
    offline: bool = False
    token_colours: bool = False
    formula_sources: bool = False
    models_folder: str = ""
    recommend: bool = True
    server_port: Annotated[int, Meta(ge=1024, le=65535)] = 18181
    server_open: bool = False
    server_keyed: bool = False
    servers: tuple[ModelServer, ...] = ()
    server_url: Annotated[str, Meta(max_length=2000)] = ""
    server_model: Annotated[str, Meta(max_length=1000)] = ""
    look_for_updates: bool = False
    templates: dict[str, str] = {}


def settings_path() -> Path:
    """Path of the settings file."""
    return config_dir() / "settings.json"


def load_settings(path: Path | None = None) -> tuple[Settings, str]:
    """Read the settings; return them and, when the file was unusable, a sentence that says so (else "").

    Raises:
        SettingsError: the file exists but the system does not let us read it, or put it aside.
    """
    path = path or settings_path()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Settings), ""
    except FileNotFoundError:
        return Settings(), ""
    except OSError as fault:
        raise SettingsError(f"Cannot read {path}: {fault.strerror}", "Check the permissions of that file.") from fault
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        kept = _readable_part(path)
        aside = set_aside(path, fault)
        if kept != Settings():
            save_settings(kept, path)
        return kept, f"The settings file was not readable ({fault}); it was kept as {aside}."


def _readable_part(path: Path) -> Settings:
    """Return the settings of a broken file, each that can be understood."""
    try:
        values = msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OSError):
        return Settings()
    kept = Settings()
    for name in values.keys() & set(Settings.__struct_fields__):
        try:
            one = msgspec.json.decode(msgspec.json.encode({name: values[name]}), type=Settings)
        except (msgspec.MsgspecError, RecursionError):
            continue
        kept = msgspec.structs.replace(kept, **{name: getattr(one, name)})
    return kept


def set_aside(path: Path, fault: Exception | str) -> str:
    """Rename a file that is not readable, to a name that none before it has; return the name.

    Raises:
        SettingsError: it cannot be renamed.
    """
    aside = path.with_name(f"{path.name}.broken")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.broken-{number}")
    try:
        path.replace(aside)
    except OSError as refusal:
        raise SettingsError(
            f"{path} is not readable ({fault}) and cannot be put aside: {refusal.strerror}.",
            "Check the permissions of its folder.",
        ) from refusal
    return aside.name


def _unknown(path: Path) -> dict[str, msgspec.Raw]:
    """Return what stands in the file and is not of this version; nothing where that cannot be told."""
    try:
        values = msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OSError):
        return {}
    return {name: value for name, value in values.items() if name not in Settings.__struct_fields__}


def save_settings(settings: Settings, path: Path | None = None) -> None:
    """Write the settings so that a crash at any moment leaves the old file or the new one, never half of one.

    What a newer version has put there and this one does not know stays.

    Raises:
        SettingsError: the file cannot be written.
    """
    path = path or settings_path()
    new: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        new = Path(name)
        with os.fdopen(handle, "wb") as file:
            values = {**_unknown(path), **msgspec.to_builtins(settings)}
            file.write(msgspec.json.format(msgspec.json.encode(values), indent=2))
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as fault:
        if new is not None:
            new.unlink(missing_ok=True)
        raise SettingsError(f"Cannot write {path}: {fault.strerror}", "Is the disk full?") from fault
