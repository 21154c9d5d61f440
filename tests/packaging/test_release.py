"""What a release needs besides the builds: signed announcements, and workflows that run what is there."""

import base64
import re
import stat
import sys

import announce
import pytest
import yaml
from bundle import archive
from bundle.project import ROOT, version

from app.host.updates import verified


def test_the_program_believes_what_the_release_script_signs(tmp_path):
    place = tmp_path / "private"
    public = announce.new_key(place)
    text = announce.signed(place, "https://example.org/get", "Faster.")
    found = verified(text.encode(), base64.b64decode(public))
    assert (found.version, found.page, found.notes) == (version(), "https://example.org/get", "Faster.")
    if sys.platform != "win32":
        assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_a_key_is_never_replaced(tmp_path):
    place = tmp_path / "private"
    announce.new_key(place)
    before = place.read_bytes()
    with pytest.raises(FileExistsError):
        announce.new_key(place)
    assert place.read_bytes() == before


@pytest.mark.parametrize("name", ["ci.yml", "bundles.yml"])
def test_a_workflow_can_be_read_and_its_scripts_are_there(name):
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    for job in jobs.values():
        assert job["runs-on"]
        assert job["timeout-minutes"] <= 120
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    for script in re.findall(r"packaging[/\\](\w+\.py)", text):
        assert (ROOT / "packaging" / script).is_file()
    assert not re.search(r"uses: \S+@(master|main)\b", text)


def test_the_linux_workflow_installs_what_the_readme_asks_for():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    needs = re.search(r"<!-- needs -->\n```sh\n(.*?)\n```", readme, re.DOTALL)[1]
    text = (ROOT / ".github" / "workflows" / "bundles.yml").read_text(encoding="utf-8")
    packages = {word for word in needs.split() if not word.startswith("-")} - {"apt-get", "install"}
    assert {name for name in packages if name not in text} == set()


def test_a_tag_makes_a_draft_that_has_what_each_build_left_under_names_of_their_own(tmp_path):
    text = (ROOT / ".github" / "workflows" / "bundles.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert set(jobs["release"]["needs"]) == jobs.keys() - {"release"}
    for job in jobs.values():
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/upload-artifact"):
                assert {"dist/*.sha256", "dist/*.cdx.json"} <= set(step["with"]["path"].split())
    made = []
    for name in ("slipstream-1.0-linux-x86_64", "slipstream-1.0-windows-arm64"):
        root = tmp_path / name
        root.mkdir()
        (root / "sbom.cdx.json").write_text(name)
        made.append(archive.bom_beside(root))
    assert [path.name for path in made] == [
        "slipstream-1.0-linux-x86_64.cdx.json",
        "slipstream-1.0-windows-arm64.cdx.json",
    ]
    assert [path.read_text() for path in made] == [path.name.removesuffix(".cdx.json") for path in made]


def test_the_installer_that_a_workflow_makes_has_the_runtime_for_adreno():
    text = (ROOT / ".github" / "workflows" / "bundles.yml").read_text(encoding="utf-8")
    assert "--without-opencl" not in text
    assert re.search(r"--branch v\d", text), "the headers of OpenCL are those of a release"
