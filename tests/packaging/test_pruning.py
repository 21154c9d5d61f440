"""What a bundle leaves out is what the list says, and the list keeps all that the program asks for."""

import re
from pathlib import Path

import pytest
from bundle.pruning import Rule, prune, rules, stays

ROOT = Path(__file__).resolve().parents[2]


def test_the_last_rule_that_matches_decides():
    chosen = rules("linux", "- qt/*\n[linux]\n+ qt/lib*  # kept\n- qt/libdebug*\n[windows]\n- all/*\n")
    assert chosen == [Rule("qt/*", False), Rule("qt/lib*", True), Rule("qt/libdebug*", False)]
    kept = [path for path in ("qt/a", "qt/libcore", "qt/libdebug", "all/x", "other") if stays(path, chosen)]
    assert kept == ["qt/libcore", "all/x", "other"]


@pytest.mark.parametrize("line", ["qt/*", "-qt/*", "* qt"])
def test_a_line_that_is_no_rule_is_refused(line):
    with pytest.raises(ValueError, match="not a rule"):
        rules("linux", line)


def test_it_deletes_what_does_not_stay_and_says_which_rules_are_of_no_use(tmp_path):
    for name in ("qt/a/one", "qt/lib/two", "other/three"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"12345")
    n_bytes, unused = prune(tmp_path, rules("linux", "- qt/*\n+ qt/lib/*\n- gone/*\n"))
    assert (n_bytes, unused) == (5, ["gone/*"])
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == [
        "other",
        "other/three",
        "qt",
        "qt/lib",
        "qt/lib/two",
    ]


ONLY_ON_LINUX = {"QtDBus"}
OF_PYQTGRAPH = {"QtOpenGL", "QtOpenGLWidgets"}


@pytest.mark.parametrize(("platform", "suffix"), [("linux", "abi3.so"), ("windows", "pyd")])
def test_every_part_of_qt_that_the_program_imports_stays(platform, suffix):
    words = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py"))
    imported = set(re.findall(r"from PySide6\.(\w+) import", words))
    assert "QtWidgets" in imported
    chosen = rules(platform)
    wanted = (imported | OF_PYQTGRAPH) - (ONLY_ON_LINUX if platform == "windows" else set())
    gone = [name for name in wanted if not stays(f"site-packages/PySide6/{name}.{suffix}", chosen)]
    assert gone == []


def test_nothing_of_qml_and_nothing_that_links_the_gpl_stays():
    chosen = rules("linux")
    for path in (
        "site-packages/PySide6/QtQml.abi3.so",
        "site-packages/PySide6/Qt/lib/libQt6Quick.so.6",
        "site-packages/PySide6/Qt/qml/QtQuick/x.so",
        "python/lib/python3.11/lib-dynload/readline.cpython-311-x86_64-linux-gnu.so",
        "python/lib/python3.11/lib-dynload/_gdbm.cpython-311-x86_64-linux-gnu.so",
    ):
        assert not stays(path, chosen), path
