"""The shape of the source: small modules, small functions, plain names, light imports, licences that fit."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted((ROOT / "app").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_modules_are_small():
    lengths = {relative(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: n for name, n in lengths.items() if n > 400} == {}


def test_functions_are_small():
    long = {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno - node.lineno + 1 > 50:
                long[f"{relative(path)}:{node.name}"] = node.end_lineno - node.lineno + 1
    assert long == {}


def test_no_module_is_named_after_nothing():
    forbidden = re.compile(r"(^|_)(utils?|helpers?|common|managers?|misc)(_|$)")
    names = [relative(path) for path in [*MODULES, *(ROOT / "tests").rglob("*.py")] if forbidden.search(path.stem)]
    assert [name for name in names if not name.endswith("model_manager.py")] == []


def test_the_top_level_is_as_agreed():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode != 0:  # a source archive
        return
    top = {line.split("/")[0] for line in tracked.stdout.splitlines()}
    assert top <= {"app", "resources", "tests", "packaging", ".ci", ".github", ".gitignore"} | {
        "pyproject.toml",
        "README.md",
        "LICENSE",
    }


def test_nothing_is_left_to_do_and_no_path_is_of_one_machine():
    pattern = re.compile(r"\b(TODO|FIXME|XXX)\b|NotImplementedError|(?<![\w.])/(opt|work|root|home/\w+)/")
    found = [
        f"{relative(path)}:{number}: {line.strip()}"
        for path in MODULES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


# --- imports ----------------------------------------------------------------------------------------

HEAVY = ("pyqtgraph", "huggingface_hub", "numpy", "llama_cpp", "jinja2", "rich", "typer", "keyring", "pypdf")


@pytest.mark.parametrize("module", ["app.__main__", "app.ui.app"])
def test_the_window_starts_light(module):
    code = f"import sys, {module}; print(*[name for name in {HEAVY} if name in sys.modules])"
    output = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True, timeout=60)
    assert output.split() == []


# --- licences ---------------------------------------------------------------------------------------

UNFIT = re.compile(r"(?<!L)(?<!Lesser )\b(A?GPL|GNU (Affero )?General Public|SSPL|BUSL)", re.IGNORECASE)
CHOICE = re.compile(r"LGPL|Lesser|MIT|BSD|Apache", re.IGNORECASE)
FORBIDDEN = {"pyqt5", "pyqt6", "pyside6", "pyside6-addons", "pyside6-fluent-widgets", "pyqt-charts", "pyqt6-charts"}


def dependencies(extras: tuple[str, ...]) -> dict[str, metadata.Distribution]:
    """Return every distribution that the program brings along, by lower-case name."""
    waiting = [Requirement(text) for text in PROJECT["dependencies"]]
    waiting += [Requirement(text) for extra in extras for text in PROJECT["optional-dependencies"][extra]]
    found: dict[str, metadata.Distribution] = {}
    while waiting:
        wanted = waiting.pop()
        name = wanted.name.lower().replace("_", "-")
        if name in found:
            continue
        found[name] = metadata.distribution(wanted.name)
        for text in found[name].requires or ():
            inner = Requirement(text)
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in wanted.extras or {""}):
                waiting.append(inner)
    return found


def licence(distribution: metadata.Distribution) -> str:
    about = distribution.metadata
    classifiers = [text for text in about.get_all("Classifier") or () if text.startswith("License ::")]
    return " / ".join([about.get("License-Expression") or (about.get("License") or "")[:80], *classifiers])


def test_no_dependency_forces_its_licence_on_us():
    found = {name: licence(distribution) for name, distribution in dependencies(("starter", "server")).items()}
    assert set(found) & FORBIDDEN == set()
    assert {name: text for name, text in found.items() if not text.strip(" /")} == {}
    assert {name: text for name, text in found.items() if UNFIT.search(text) and not CHOICE.search(text)} == {}


def test_our_own_licence_is_there():
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "Version 2.0" in text
    assert PROJECT["license"] == "Apache-2.0"


# --- the frame --------------------------------------------------------------------------------------


def block(marker: str) -> str:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.search(rf"<!-- {marker} -->\n```\w*\n(.*?)\n```", readme, re.DOTALL)[1]


def test_the_readme_has_one_command_for_each_of_the_two_jobs():
    for marker in ("needs", "main", "tests"):
        assert len(block(marker).splitlines()) == 1
    for marker in ("main", "tests"):
        assert block(marker).startswith("python3 -m venv .venv && .venv/bin/python -m pip install -e ")


@pytest.mark.linux
def test_ci_runs_what_the_readme_says():
    # GIVEN the function of .ci/run that reads the README
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    function = re.search(r"^block\(\) \{\n.*?^\}$", script, re.DOTALL | re.MULTILINE)[0]
    for marker in ("needs", "tests"):
        output = subprocess.check_output(["bash", "-c", f"{function}\nblock {marker}"], cwd=ROOT, text=True, timeout=20)
        assert output.strip() == block(marker)
    # THEN it runs that and nothing else, and so does the workflow
    assert script.count("block tests") == script.count("exec ") == script.count("bash -c") == 1
    assert script.rstrip().endswith('exec bash -c "$command"')
    assert ".ci/run" in (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")


def test_the_wheel_is_whole(tmp_path):
    script = ROOT / "packaging" / "check_wheel.py"
    finished = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, timeout=100, check=False
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "whole" in finished.stdout
