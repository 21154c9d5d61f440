"""Components, licences and bill of materials are read from what is there; what does not fit stops a build."""

import json

import pytest
from bundle import compiled_in, components, finish, sbom
from bundle.components import Part
from bundle.native import SystemLibrary
from bundle.project import version
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from app.components import of_bundle


def part(licence, name="one"):
    return Part(name, "1", licence, "python", ())


@pytest.mark.parametrize(
    "licence",
    ["MIT", "LGPL-3.0-only", "BSD-3-Clause AND 0BSD", "GPL-3.0-or-later WITH GCC-exception-3.1", "MPL-2.0 AND MIT"],
)
def test_what_may_be_in_a_bundle(licence):
    assert components.unfit([part(licence)]) == []


@pytest.mark.parametrize(
    "licence",
    [
        "GPL-3.0-or-later",
        "AGPL-3.0-only",
        "MIT AND GPL-2.0-only",
        "LGPL-3.0-only OR GPL-2.0-only",
        "GPL-2.0-only WITH Classpath-exception-2.0",
        "Freeware",
        "",
    ],
)
def test_what_may_not(licence):
    assert len(components.unfit([part(licence)])) == 1


def distribution(root, name, fields, *, text=True):
    folder = root / "site-packages" / f"{name}-1.0.dist-info"
    (folder / "licenses").mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{fields}\n", encoding="utf-8")
    if text:
        (folder / "licenses" / "LICENSE").write_text(f"the licence of {name}", encoding="utf-8")


def test_a_bundle_lists_what_is_in_it_and_the_program_reads_that(tmp_path):
    # GIVEN a bundle of our own distribution, one more, and a library of the system
    distribution(tmp_path, "slipstream_chat", "License-Expression: Apache-2.0")
    distribution(tmp_path, "Other.Thing", "License-Expression: MIT")
    text = tmp_path / "copyright"
    text.write_text("of zlib", encoding="utf-8")
    library = Part("zlib1g", "1.3", "Zlib", "library", (text,), "https://example.org/", "", "pkg:deb/debian/zlib1g@1.3")
    # WHEN it is described
    found = components.distributions(tmp_path, {"other-thing": "ab" * 32})
    written = components.write(tmp_path, [*found, library])
    place = sbom.write(tmp_path, written)
    # THEN About finds each with its text
    shown = {one.name: one for one in of_bundle(tmp_path)}
    assert {name: one.licence for name, one in shown.items()} == {
        "other-thing": "MIT",
        "slipstream-chat": "Apache-2.0",
        "zlib1g": "Zlib",
    }
    assert shown["other-thing"].text(tmp_path) == "the licence of Other.Thing"
    assert shown["zlib1g"].text(tmp_path) == "of zlib"
    # AND the bill of materials is a valid document with the same components, licences and hashes
    words = place.read_text(encoding="utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(words) is None
    bom = json.loads(words)
    assert bom["metadata"]["component"]["name"] == "slipstream-chat"
    listed = {one["name"]: one for one in bom["components"]}
    assert listed.keys() == {"other-thing", "zlib1g"}
    assert listed["other-thing"]["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]
    assert listed["other-thing"]["licenses"][0]["license"]["id"] == "MIT"


# --- what wheels say was compiled into them -----------------------------------------------------------


def wheel_with(root, name, *told):
    """Make a distribution whose wheel brings a bill of materials of its own."""
    distribution(root, name, "License-Expression: MIT")
    place = root / "site-packages" / f"{name}-1.0.dist-info" / "sboms" / "own.cyclonedx.json"
    place.parent.mkdir()
    place.write_text(json.dumps({"bomFormat": "CycloneDX", "components": told}), encoding="utf-8")


def crate(name, licence="MIT OR Apache-2.0", scope="required", purl=""):
    licences = [{"expression": licence}] if licence else []
    purl = purl or f"pkg:cargo/{name}@2.0"
    return {"type": "library", "name": name, "version": "2.0", "scope": scope, "licenses": licences, "purl": purl}


def test_what_was_compiled_into_a_wheel_is_listed_with_licence_text_and_carrier(tmp_path):
    # GIVEN a wheel that holds OpenSSL, a crate, a part of its own source, and was built with another crate
    address = "https://example.org/openssl-4.0.3.tar.gz"
    distribution(tmp_path, "slipstream_chat", "License-Expression: Apache-2.0")
    wheel_with(
        tmp_path,
        "Rusty.Thing",
        crate("openssl", licence="", purl=f"pkg:generic/openssl@4.0.3?download_url={address}"),
        crate("self_cell", licence="Apache-2.0 OR GPL-2.0-only"),
        crate("own-part", purl="pkg:cargo/own-part@2.0?download_url=file://own"),
        crate("cc", scope="excluded"),
    )
    # WHEN the bundle is described
    finish.describe(tmp_path, {}, [])
    # THEN what it holds is there, with what is taken of a choice, and nothing else
    shown = {one.name: one for one in of_bundle(tmp_path) if one.within}
    assert {name: (one.licence, one.within) for name, one in shown.items()} == {
        "openssl": ("Apache-2.0", "rusty-thing"),
        "self_cell": ("Apache-2.0", "rusty-thing"),
    }
    assert shown["openssl"].source == address
    assert "Apache License" in shown["self_cell"].text(tmp_path)
    # AND the bill of materials of the bundle hangs it below its carrier
    words = (tmp_path / "sbom.cdx.json").read_text(encoding="utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(words) is None
    needs = {one["ref"]: one.get("dependsOn", []) for one in json.loads(words)["dependencies"]}
    assert needs["slipstream-chat@1.0"] == ["rusty-thing@1.0"]
    assert sorted(needs["rusty-thing@1.0"]) == ["rusty-thing/openssl@2.0", "rusty-thing/self_cell@2.0"]


@pytest.mark.parametrize("licence", ["GPL-3.0-only", "Freeware", "", "MIT AND AGPL-3.0-only", "Sleepycat"])
def test_what_was_compiled_in_under_a_licence_that_does_not_fit_stops_the_build(tmp_path, licence):
    wheel_with(tmp_path, "rusty", crate("mystery", licence=licence))
    with pytest.raises(SystemExit, match="mystery: "):
        finish.describe(tmp_path, {}, [])


def test_a_wheels_bill_that_cannot_be_read_stops_the_build(tmp_path):
    wheel_with(tmp_path, "rusty")
    (place,) = tmp_path.rglob("own.cyclonedx.json")
    place.write_text("{", encoding="utf-8")
    with pytest.raises(SystemExit, match="no bill of materials"):
        compiled_in.parts(tmp_path, components.distributions(tmp_path, {}))


def test_a_library_without_what_should_hold_it_stops_the_build(tmp_path):
    place = tmp_path / "python" / "sqlite3.dll"
    place.parent.mkdir()
    place.touch()
    with pytest.raises(SystemExit, match="SQLite is there without Python"):
        components.inside(tmp_path, [])


@pytest.mark.parametrize(("fields", "text"), [("License: Freeware", True), ("License-Expression: MIT", False)])
def test_a_distribution_without_a_known_licence_or_its_text_stops_the_build(tmp_path, fields, text):
    distribution(tmp_path, "mystery", fields, text=text)
    with pytest.raises(SystemExit, match="mystery has no licence"):
        components.distributions(tmp_path, {})


def test_a_system_library_without_a_known_licence_stops_the_build(tmp_path):
    with pytest.raises(SystemExit, match="libmystery1"):
        components.of_system([SystemLibrary("libmystery.so.1", tmp_path, "libmystery1", "1")])


def test_a_library_built_again_for_64_bit_times_has_the_licence_that_it_had(tmp_path):
    (found,) = components.of_system([SystemLibrary("libssl.so.3", tmp_path, "libssl3t64", "3.0.13")])
    assert (found.name, found.licence) == ("libssl3t64", "Apache-2.0")
    assert found.purl.endswith("/libssl3t64@3.0.13")


def test_all_licences_that_are_written_down_by_hand_fit():
    import tomllib

    from bundle.project import PACKAGING

    told = components.embedded()
    native = tomllib.loads((PACKAGING / "native_licences.toml").read_text(encoding="utf-8"))
    licences = {**told["licences"], **native, **{one["name"]: one["licence"] for one in told["inside"]}}
    assert components.unfit([part(licence, name) for name, licence in licences.items()]) == []
    texts = {text for one in told["inside"] for text in one["texts"]} | {t for ts in told["texts"].values() for t in ts}
    assert [text for text in texts if not (PACKAGING / "texts" / text).is_file()] == []


def test_every_distribution_that_a_bundle_is_built_with_has_a_known_licence_and_its_text(tmp_path):
    import sysconfig
    from pathlib import Path

    from bundle.wheels import CONSTRAINTS

    lines = [line for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    pinned = {components.plain(line.split("==")[0]) for line in lines}
    (tmp_path / "site-packages").mkdir()
    for folder in Path(sysconfig.get_path("purelib")).glob("*.dist-info"):
        if components.plain(folder.name.split("-")[0]) in {*pinned, "cryptography"}:
            (tmp_path / "site-packages" / folder.name).symlink_to(folder, target_is_directory=True)
    found = components.distributions(tmp_path, {})
    assert {"prompt-toolkit", "wcwidth", "cryptography", "numpy"} <= {one.name for one in found}
    assert components.unfit(found) == []


def test_there_is_one_place_for_the_version():
    import re

    from bundle.project import ROOT

    pattern = re.compile(rf"(?<![\d.]){re.escape(version())}(?![\d.])")
    files = [*(ROOT / "app").rglob("*.py"), *(path for path in (ROOT / "packaging").rglob("*") if path.is_file())]
    texts = [path for path in files if path.suffix not in (".txt", ".pyc", ".png")]
    named = [path for path in texts if pattern.search(path.read_text("utf-8"))]
    assert [path.name for path in named] == []


def test_tools_of_the_builds_have_the_bounds_that_the_project_has():
    from bundle.project import PACKAGING, project
    from packaging.requirements import Requirement

    table = project()
    lists = [table["dependencies"], *table["optional-dependencies"].values()]
    bounds = {components.plain(one.name): one for one in (Requirement(line) for lines in lists for line in lines)}
    lines = (PACKAGING / "requirements.txt").read_text(encoding="utf-8").splitlines()
    tools = [Requirement(line) for line in lines if not line.startswith("#")]
    assert {"msgspec", "cryptography", "cyclonedx-python-lib"} <= {tool.name for tool in tools}
    for tool in tools:
        known = bounds.get(components.plain(tool.name))
        assert known is None or known.specifier == tool.specifier, tool


def test_constraints_pin_versions_within_the_projects_bounds():
    from bundle.project import requirements, starter_requirement
    from bundle.wheels import CONSTRAINTS
    from packaging.requirements import Requirement

    lines = [line for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    pinned = {components.plain(line.split("==")[0]): line.split("==")[1] for line in lines}
    for line in (*requirements(), starter_requirement()):
        wanted = Requirement(line)
        name = components.plain(wanted.name)
        assert name in pinned or name == "cryptography", line
        assert name not in pinned or wanted.specifier.contains(pinned[name]), line
