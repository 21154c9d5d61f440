"""Which system on a chip this is, what its drivers are, and what to do so that its GPU and NPU can be used.

Where the facts come from is a seam (:class:`Facts`): the registry on Windows, ``/proc`` and ``/sys`` elsewhere. What
the names mean is read here from the text alone, so captured reports can be tried anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from app.engine.discovery import Found
from app.host.signature import NO_CODE, NpuCode
from app.paths import resource

DriverKind = Literal["gpu", "npu"]


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver that the system has installed, by the name of its device; ``date`` and ``inf`` as Windows has them."""

    kind: DriverKind
    device: str
    version: str
    date: str = ""
    inf: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a system tells; "" and ``None`` where it does not.

    ``core_classes`` counts cores by speed, the fastest class first; ``is_test_mode`` tells whether Windows accepts
    drivers with signatures of the person's own; ``has_npu_library`` whether the driver store holds the library that
    the NPU's driver is reached by.
    """

    processor: str
    system: str
    core_classes: tuple[int, ...] = ()
    drivers: tuple[Driver, ...] = ()
    is_test_mode: bool | None = None
    has_npu_library: bool | None = None


class Soc(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chip; ``npu_version`` is Hexagon's generation, 0 where there is none that is known."""

    name: str
    part: str = ""
    cores: str = ""
    gpu: str = ""
    npu_version: int = 0
    bandwidth_gb_s: int = 0


class _Part(msgspec.Struct, frozen=True):
    pattern: str
    name: str
    peak_gb_s: int


_PART = re.compile(r"\bX(?:1[EP]?|2[EP])[- ]?\d{2}[- ]?\d*\b", re.IGNORECASE)
_GPUS = (  # the first that fits
    (r"X1E", "Adreno X1-85"),
    (r"X1P6", "Adreno X1-85"),
    (r"X1P4|X126", "Adreno X1-45"),
    (r"X2P", "Adreno X2-45"),
    (r"X2E8[0-4]|X2E7", "Adreno X2-85"),
    (r"X2E", "Adreno X2-90"),
)
_HEXAGON = ((r"X1", 73), (r"X2", 81))
_MAKERS = re.compile(r"qualcomm|adreno|hexagon|snapdragon", re.IGNORECASE)
_MARKS = re.compile(r"\((?:R|TM)\)|[®™]")


def soc_of(facts: Facts) -> Soc:
    """Return the chip that a processor's name tells of; for others than Snapdragon X just that name."""
    text = " ".join(_MARKS.sub(" ", facts.processor).split())
    found = _PART.search(text)
    if found is None:
        return Soc(text, cores=_cores(facts.core_classes))
    part = re.sub(r"[- ]", "", found[0]).upper()
    model = text.split(" - ")[0] if " - " in text else f"Snapdragon {part}"
    rows = msgspec.json.decode(resource("bandwidth.json").read_bytes(), type=list[_Part])
    known = next((row for row in rows if re.search(row.pattern, part)), None)
    if " - " not in text and known is not None:
        model = known.name
    n_cores = sum(facts.core_classes)
    if model == "Snapdragon X Plus" and n_cores == 8:
        model = "Snapdragon X Plus 8-core"
    return Soc(
        name=model,
        part=part,
        cores=_cores(facts.core_classes),
        gpu=next((name for pattern, name in _GPUS if re.match(pattern, part)), "Adreno"),
        npu_version=next((version for pattern, version in _HEXAGON if part.startswith(pattern)), 0),
        bandwidth_gb_s=known.peak_gb_s if known is not None else 0,
    )


def _cores(classes: Sequence[int]) -> str:
    if not classes:
        return ""
    number, split = sum(classes), " + ".join(map(str, classes))
    if len(classes) > 1:
        return f"{number} cores ({split})"
    return f"{number} cores" if number > 1 else "1 core"


@dataclass(frozen=True, slots=True)
class Pieces:
    """What the runtime in use brings, as far as advice needs it."""

    backends: tuple[str, ...] = ()
    npu_versions: tuple[int, ...] = ()
    code: NpuCode = NO_CODE
    is_built_in: bool = True


def advice(facts: Facts, soc: Soc, pieces: Pieces, found: Found | None = None) -> tuple[str, ...]:
    """Return what a person can do so that more of the machine works, most useful first; nothing if all does."""
    said: list[str] = []
    if found is not None:
        said += [_about_backend(name, state, why) for name, state, why in _troubles(found)]
    if not soc.npu_version:
        return tuple(said)
    said += (_about_gpu(facts, soc, pieces), _about_npu(facts, soc, pieces))
    return tuple(line for line in said if line)


def _troubles(found: Found) -> list[tuple[str, str, str]]:
    return [(b.name, b.state, b.reason) for b in found.backends if b.state != "found"]


def _about_backend(name: str, state: str, reason: str) -> str:
    words = {
        "died": "ended the process that loaded it",
        "hung": "kept the process that loaded it busy for ever",
        "refused": "cannot be used",
    }[state]
    update = " Update the driver of the device, then look again." if state in ("died", "hung") else ""
    return f"The {name} backend {words}: {reason}{update}"


def _driver(facts: Facts, kind: DriverKind) -> Driver | None:
    """Return the driver of the chip's own GPU or NPU: adapters of remote sessions and docks do not stand for it."""
    return next((one for one in facts.drivers if one.kind == kind and _MAKERS.search(one.device)), None)


def _about_gpu(facts: Facts, soc: Soc, pieces: Pieces) -> str:
    if facts.system == "Windows" and _driver(facts, "gpu") is None:
        return (
            f"No driver for the {soc.gpu} GPU is installed: get the Adreno graphics driver from Windows Update or from "
            "the maker of the laptop."
        )
    if "opencl" not in pieces.backends:
        return (
            f"The {soc.gpu} GPU needs a runtime with OpenCL: add llama.cpp's own zip for Windows on ARM64 with Adreno, "
            "of the same build, as a runtime."
        )
    return ""


def _about_npu(facts: Facts, soc: Soc, pieces: Pieces) -> str:
    if facts.system == "Windows" and _driver(facts, "npu") is None:
        return "No driver for the Hexagon NPU is installed: get it from Windows Update or from the maker of the laptop."
    if facts.system == "Windows" and facts.has_npu_library is False:
        return (
            "The driver of the Hexagon NPU is installed, but its library (libcdsprpc.dll) is not in the driver store: "
            "install the driver again."
        )
    if "hexagon" not in pieces.backends:
        return (
            "The Hexagon NPU needs a runtime with Hexagon code that Windows accepts; llama.cpp publishes none for "
            "Windows, so it must be built and signed, or come from a maker who did."
        )
    if soc.npu_version not in pieces.npu_versions:
        has = ", ".join(f"v{version}" for version in pieces.npu_versions) or "none"
        return f"This runtime has no code for the NPU of this chip (v{soc.npu_version}; it has {has})."
    return _about_signature(pieces.code, facts.is_test_mode) if facts.system == "Windows" else ""


def _about_signature(code: NpuCode, is_test_mode: bool | None) -> str:
    """Say why Windows would not load a runtime's code for the NPU; "" where it would, or nothing is known."""
    if code.signature is None:
        return (
            "This runtime's code for the NPU has no catalogue (libggml-htp.cat): Windows loads only what a trusted "
            "signature names there."
        )
    if code.unnamed:
        return (
            f"The catalogue of this runtime does not name {', '.join(code.unnamed)}: the files are of another build "
            "than the catalogue, and Windows does not load them. Take all of them from one build."
        )
    signer = f" by {code.signature.signer}" if code.signature.signer else ""
    match code.signature.state:
        case "none":
            return "The catalogue of this runtime (libggml-htp.cat) is not signed: Windows loads nothing that it names."
        case "altered":
            return f"The catalogue of this runtime was changed after it was signed{signer}: get the runtime again."
        case "not trusted" if not code.signature.is_own:
            return f"Windows does not trust the certificate that the catalogue of this runtime is signed with{signer}."
        case "not trusted":
            mode = ", turn test mode on (bcdedit /set TESTSIGNING ON; Secure Boot may forbid it)"
            mode = "" if is_test_mode else mode
            return (
                f"The catalogue of this runtime is signed{signer}, a certificate of somebody's own. If you trust it, "
                f"import it into Trusted Root and Trusted Publishers{mode}, and start Windows again."
            )
        case "unknown" if is_test_mode is False:
            return (
                "Windows is not in test mode: the catalogue of this runtime must be signed by a certificate that "
                "Windows trusts; one of your own is accepted in test mode only."
            )
        case _:
            return ""
