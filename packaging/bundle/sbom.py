"""The bill of materials of a bundle, as a CycloneDX document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from bundle.components import Part
from bundle.project import DISTRIBUTION, SBOM

_TYPES = {
    "python": ComponentType.LIBRARY,
    "library": ComponentType.LIBRARY,
    "interpreter": ComponentType.PLATFORM,
    "model": ComponentType.MACHINE_LEARNING_MODEL,
}


def write(root: Path, parts: Sequence[Part]) -> Path:
    """Write the document into a bundle; return its path."""
    own = next(part for part in parts if part.name == DISTRIBUTION)
    bom = Bom()
    bom.metadata.component = _component(own, ComponentType.APPLICATION)
    others = {part: _component(part, _TYPES[part.kind]) for part in parts if part is not own}
    for component in others.values():
        bom.components.add(component)
    bom.register_dependency(bom.metadata.component, [one for part, one in others.items() if not part.within])
    for carrier, component in others.items():
        if held := [one for part, one in others.items() if part.within == carrier.name and not carrier.within]:
            bom.register_dependency(component, held)
    path = root / SBOM
    path.write_text(JsonV1Dot6(bom).output_as_string(indent=1), encoding="utf-8")
    return path


def _component(part: Part, kind: ComponentType) -> Component:
    references = (
        [ExternalReference(type=ExternalReferenceType.DISTRIBUTION, url=XsUri(part.source))] if part.source else []
    )
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=part.sha256)] if part.sha256 else []
    return Component(
        name=part.name,
        version=part.version,
        type=kind,
        bom_ref="/".join(filter(None, (part.within, f"{part.name}@{part.version}"))),
        purl=PackageURL.from_string(part.purl) if part.purl else None,
        licenses=[LicenseFactory().make_from_string(part.licence)],
        hashes=hashes,
        external_references=references,
    )
