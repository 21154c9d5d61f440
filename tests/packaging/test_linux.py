"""The Linux build's small parts, and, under the marker full, the whole bundle."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from bundle import archive
from bundle.components import plain
from bundle.project import PACKAGING

from app.components import of_bundle

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.linux


def test_an_archive_is_the_same_for_the_same_content(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    root = tmp_path / "thing"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "file").write_text("x")
    (root / "start").write_text("#!/bin/sh")
    (root / "start").chmod(0o700)
    archive.pack(root, tmp_path / "one.tar.gz")
    os.utime(root / "sub" / "file", (1, 1))
    archive.pack(root, tmp_path / "two.tar.gz")
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()
    with tarfile.open(tmp_path / "one.tar.gz") as packed:
        modes = {item.name: (item.mode, item.uid, item.mtime) for item in packed}
    assert modes["thing/start"] == (0o755, 0, 1700000000)
    assert modes["thing/sub/file"] == (0o644, 0, 1700000000)


def bundle(place):
    """Make a folder with the bundle's scripts and a Python that prints what it was asked."""
    (place / "python" / "bin").mkdir(parents=True)
    (place / "share" / "applications").mkdir(parents=True)
    (place / "share" / "icons" / "hicolor" / "scalable" / "apps").mkdir(parents=True)
    for name in ("slipstream", "add-to-menu"):
        (place / name).write_bytes((PACKAGING / "linux" / name).read_bytes())
        (place / name).chmod(0o755)
    desktop = "slipstream.desktop"
    (place / "share" / "applications" / desktop).write_bytes((PACKAGING / "linux" / desktop).read_bytes())
    (place / "share" / "icons" / "hicolor" / "scalable" / "apps" / "slipstream.svg").write_text("<svg/>")
    python = place / "python" / "bin" / "python3.11"
    python.write_text('#!/bin/sh\nprintf "%s|" "$0" "$@"\n')
    python.chmod(0o755)
    return place


def test_the_launcher_starts_its_own_python_from_any_folder_and_through_a_link(tmp_path):
    place = bundle(tmp_path / "Slip $stream ü")
    link = tmp_path / "link"
    link.symlink_to(place / "slipstream")
    for launcher in (place / "slipstream", link):
        said = subprocess.check_output([launcher, "infer", "a b"], text=True, cwd="/", timeout=20)
        assert said == f"{place}/python/bin/python3.11|-m|app|infer|a b|"


def test_a_launcher_without_its_python_says_so(tmp_path):
    place = bundle(tmp_path / "x")
    (place / "python" / "bin" / "python3.11").unlink()
    done = subprocess.run([place / "slipstream"], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 1
    assert "not complete" in done.stderr


def test_a_menu_entry_leads_to_the_launcher_and_goes_again(tmp_path):
    place = bundle(tmp_path / 'Slip "$tream" 100% `ü`')
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "share")}
    subprocess.run([place / "add-to-menu"], env=environment, check=True, timeout=20)
    entry = tmp_path / "share" / "applications" / "slipstream.desktop"
    (line,) = [line for line in entry.read_text().splitlines() if line.startswith("Exec=")]
    # THEN reading it as the specification says gives the path: first the file's escapes, then those of the quotes
    value = line.removeprefix("Exec=").replace("\\\\", "\\")
    quoted = value[1 : value.rindex('"')]
    for character in '\\"`$':
        quoted = quoted.replace(f"\\{character}", character)
    assert quoted.replace("%%", "%") == str(place / "slipstream")
    assert value.endswith('" %F')
    subprocess.run([place / "add-to-menu", "--remove"], env=environment, check=True, timeout=20)
    assert not entry.exists()


@pytest.mark.full
def test_desktop_file_and_appstream_data_are_valid(tmp_path):
    from build_linux import add_desktop_data

    # GIVEN the data where a distribution would lay it
    add_desktop_data(tmp_path / "usr")
    entry = tmp_path / "usr" / "share" / "applications" / "slipstream.desktop"
    # THEN both are valid, and the desktop file that the data name is there and fits
    subprocess.run(["desktop-file-validate", entry], check=True, timeout=60)
    words = ["appstreamcli", "validate-tree", "--no-net", tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "io.github.slipstream_chat.slipstream" in done.stdout


def test_a_folder_that_no_menu_entry_can_name_is_refused_in_words(tmp_path):
    place = bundle(tmp_path / "two\nlines")
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "share")}
    done = subprocess.run(
        [place / "add-to-menu"], env=environment, capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 1
    assert "line break" in done.stderr
    assert not (tmp_path / "share").exists()


# --- the whole bundle -----------------------------------------------------------------------------------


@pytest.mark.full
def test_the_bundle_lists_exactly_what_is_in_it(bundle_folder):
    everything = of_bundle(bundle_folder)
    shown = {one.name: one for one in everything if not one.within}
    texts = (path.read_text(encoding="utf-8") for path in bundle_folder.glob("site-packages/*.dist-info/METADATA"))
    names = {plain(re.search(r"^Name: (.+)$", text, re.MULTILINE)[1]) for text in texts}
    assert names == {name for name, one in shown.items() if one.kind in ("python", "model")}
    files = {path.name for path in (bundle_folder / "lib").iterdir()}
    assert files > {"libxcb-cursor.so.0", "libgomp.so.1"}
    assert [one.name for one in everything if len(one.text(bundle_folder)) < 200] == []
    # AND what is compiled into its files, where that can be seen from outside
    held = {(one.within, one.name) for one in everything}
    assert {("cryptography", "openssl"), ("pydantic-core", "regex"), ("pyside6-essentials", "PCRE2")} <= held
    bills = bundle_folder.glob("site-packages/*.dist-info/sboms/*.json")
    assert {path.parent.parent.name.split("-")[0] for path in bills} <= {within.replace("-", "_") for within, _ in held}


@pytest.mark.full
def test_no_component_of_the_bundle_is_under_the_gpl(bundle_folder):
    from bundle.components import Part, unfit

    shown = of_bundle(bundle_folder)
    assert len(shown) > 50
    assert unfit([Part(one.name, one.version, one.licence, one.kind, ()) for one in shown]) == []


@pytest.mark.full
def test_every_native_file_finds_all_it_needs_in_the_bundle_or_the_c_library(bundle_folder):
    from bundle.native import C_LIBRARY, EVERYWHERE, LIBRARIES, OPTIONAL, libraries, needed

    files = [path for path in libraries(bundle_folder) if not OPTIONAL.search(path.as_posix())]
    here = {path.name for path in libraries(bundle_folder)} | {
        path.name for path in (bundle_folder / LIBRARIES).iterdir()
    }
    lacking = {(path.name, name) for path in files for name in needed(path) if name not in here}
    assert {(who, name) for who, name in lacking if not C_LIBRARY.fullmatch(name) and name not in EVERYWHERE} == set()


LANGUAGES = """
import functools, json
from PySide6.QtCore import QCollator, QDate, QLocale, QStringConverter, QStringDecoder, QTimeZone
words, told = "zebra Äpfel apfel Zoo éclair eclair ñandú nube ž öl offen ß ss 日本 中国 한국 ча да".split(), []
for name in "C en_US de_DE sv_SE fr_FR es_ES tr_TR ja_JP zh_CN ru_RU lt_LT ko_KR th_TH".split():
    one, zone = QLocale(name), QTimeZone(b"Europe/Berlin")
    told += sorted(words, key=functools.cmp_to_key(QCollator(one).compare))
    told += [one.toUpper("istanbul ß"), one.toLower("İSTANBUL I"), one.toCurrencyString(12.5)]
    told += [one.nativeLanguageName()]
    told += [one.toString(QDate(2026, 3, 5), QLocale.LongFormat), one.toString(1234567.891)]
    told += [zone.displayName(QTimeZone.StandardTime, QTimeZone.LongName, one)]
told += QStringConverter.availableCodecs()
told += [QStringDecoder(name).isValid() for name in ("gb18030", "Shift_JIS", "KOI8-R", "EUC-KR")]
print(json.dumps(told))
"""


@pytest.mark.full
def test_the_bundles_qt_knows_the_same_of_languages_as_the_whole_one(bundle_folder):
    python = next((bundle_folder / "python" / "bin").glob("python3*[0-9]"))
    said = [subprocess.check_output([one, "-c", LANGUAGES], timeout=60) for one in (python, sys.executable)]
    assert said[0] == said[1]
    assert "Äpfel" in json.loads(said[0])


@pytest.mark.full
@pytest.mark.parametrize("name", ["semi;colon", 'quo"te', "back\\slash", "new\nline", "100% it's `$HOME` ü:"])
def test_the_bundle_finds_its_own_parts_in_a_folder_of_any_name(bundle_folder, tmp_path, name):
    place = tmp_path / name
    shutil.copytree(bundle_folder, place, symlinks=True, copy_function=os.link)
    code = "from app.ui.app import make_application; print(make_application().platformName())"
    python = next((place / "python" / "bin").glob("python3*[0-9]"))
    environment = {"PATH": "/usr/bin:/bin", "SLIPSTREAM_HOME": str(tmp_path / "home"), "QT_QPA_PLATFORM": "offscreen"}
    for words in ([python, "-c", code], [place / "slipstream", "list"]):
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.full
@pytest.mark.timeout(900)
def test_the_bundle_passes_its_smoke_test(bundle_folder):
    words = [sys.executable, str(ROOT / "packaging" / "smoke.py"), str(bundle_folder)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLIPSTREAM_", "QT_"))}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=800, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
