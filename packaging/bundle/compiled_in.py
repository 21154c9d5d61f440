"""What was compiled into a wheel's libraries, as the wheel says itself: its own bills of materials (PEP 770).

cryptography holds OpenSSL, and wheels that are written in Rust hold some dozens of crates. None of them is a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from license_expression import BaseSymbol, ExpressionError, LicenseExpression, get_spdx_licensing
from packageurl import PackageURL

from bundle.components import Part, embedded, is_of_the_gpl, plain
from bundle.project import PACKAGES, PACKAGING

TEXTS = PACKAGING / "texts"
ONLY_FOR_BUILDING = "excluded"
OF_THE_WHEEL_ITSELF = "file:"
"""Where the parts of a wheel's own source come from; those are under the wheel's licence."""


def parts(root: Path, carriers: Sequence[Part]) -> list[Part]:
    """Read the bills of materials of a bundle's wheels.

    Raises:
        SystemExit: one cannot be read, or the licence of what it names, or that licence's text, is not known.
    """
    by_name = {carrier.name: carrier for carrier in carriers}
    found: dict[tuple[str, str], Part] = {}
    for path in sorted((root / PACKAGES).glob("*.dist-info/sboms/*.json")):
        carrier = by_name[plain(path.parent.parent.name.split("-")[0])]
        for told in _components(path):
            part = _part(told, carrier.name)
            found.setdefault((carrier.name, part.purl), part)
    return list(found.values())


def _components(path: Path) -> Iterator[dict[str, Any]]:
    try:
        told = msgspec.json.decode(path.read_bytes())["components"]
    except (msgspec.MsgspecError, KeyError, TypeError) as fault:
        raise SystemExit(f"{path.name} is no bill of materials: {fault}") from fault
    for one in told:
        url = PackageURL.from_string(one["purl"])
        if one.get("scope") != ONLY_FOR_BUILDING and not _address(url).startswith(OF_THE_WHEEL_ITSELF):
            yield one


def _part(told: dict[str, Any], carrier: str) -> Part:
    name, version, url = told["name"], told["version"], PackageURL.from_string(told["purl"])
    licence = taken(_licence(told), name)
    texts = tuple(TEXTS / f"{symbol}.txt" for symbol in get_spdx_licensing().license_keys(licence))
    source = _address(url) or (f"https://crates.io/crates/{name}/{version}" if url.type == "cargo" else "")
    bare = PackageURL(url.type, url.namespace, url.name, url.version).to_string()
    return Part(name, version, licence, "library", texts, source, carrier, bare)


def _address(url: PackageURL) -> str:
    return str((url.qualifiers or {}).get("download_url", ""))


def _licence(told: dict[str, Any]) -> str:
    """Return the licence that a bill names, else the one of packaging/embedded.toml; "" if there is none."""
    named = [one.get("expression") or one.get("license", {}).get("id", "") for one in told.get("licenses", ())]
    return " AND ".join(f"({one})" for one in named if one) or str(embedded()["licences"].get(told["name"], ""))


def taken(licence: str, name: str) -> str:
    """Return what is taken of a licence with choices: the first of each that fits and has its text here.

    Raises:
        SystemExit: it is no SPDX expression, or nothing of a choice is fit and has its text there.
    """
    try:
        tree = get_spdx_licensing().parse(licence, validate=True, strict=True)
    except ExpressionError as fault:
        raise SystemExit(f"{name}: {licence} is no SPDX expression ({fault})") from fault
    chosen = _taken(tree) if tree is not None else None
    if chosen is None:
        raise SystemExit(f"{name}: {licence or 'no licence'} does not fit, or its text is not in packaging/texts")
    return str(chosen)


def _taken(tree: LicenseExpression) -> LicenseExpression | None:
    if isinstance(tree, BaseSymbol):
        return tree if (TEXTS / f"{tree}.txt").is_file() and not is_of_the_gpl(str(tree)) else None
    parts_of = [_taken(argument) for argument in tree.args]
    if tree.operator.strip() == "OR":
        return next((one for one in parts_of if one is not None), None)
    return None if None in parts_of else type(tree)(*parts_of)
