"""The files of translations are what the source and each other say."""

from __future__ import annotations

import re
import shutil
import string
from xml.etree import ElementTree

import pytest
import translations
from bundle.pruning import rules, stays

FILES = sorted(translations.FOLDER.glob("slipstream_*.ts"))


def messages(ts):
    return list(ElementTree.parse(ts).iter("message"))


def sources(ts):
    return [(one.findtext("source"), one.get("numerus") == "yes") for one in messages(ts)]


def places(text):
    """Return the placeholders of a text with how they are written, in any order."""
    return sorted((name, spec, conversion) for _, name, spec, conversion in string.Formatter().parse(text) if name)


def forms(message):
    translation = message.find("translation")
    found = [form.text or "" for form in translation.iter("numerusform")] or [translation.text or ""]
    return [form for form in found if form]


@pytest.mark.parametrize("ts", FILES, ids=lambda path: path.stem)
def test_a_language_knows_the_texts_of_the_source(ts, tmp_path):
    copy = tmp_path / ts.name
    shutil.copy(ts, copy)
    translations.collect(copy)
    assert sources(copy) == sources(ts), "run: python packaging/translations.py"


@pytest.mark.parametrize("ts", FILES, ids=lambda path: path.stem)
def test_what_the_program_reads_is_made_of_what_translators_write(ts, tmp_path):
    made = tmp_path / "made.qm"
    translations.release(ts, made)
    assert made.read_bytes() == ts.with_suffix(".qm").read_bytes(), "run: python packaging/translations.py"


@pytest.mark.parametrize("ts", FILES, ids=lambda path: path.stem)
def test_translations_have_the_places_and_the_marks_of_their_texts(ts):
    for message in messages(ts):
        text = message.findtext("source")
        for form in forms(message):
            assert places(form) == places(text), text
            assert ("&" in re.sub(r"&\w+;", "", form)) == ("&" in re.sub(r"&\w+;", "", text)), text
            assert form.count("<") == text.count("<"), text
            assert "(s)" not in form, text
            assert form[:1] == text[:1] or not text[:1].isspace(), text


@pytest.mark.parametrize(("platform", "folder"), [("linux", "PySide6/Qt"), ("windows", "PySide6")])
def test_a_bundle_has_qts_own_texts_in_each_language(platform, folder):
    names = [f"site-packages/{folder}/translations/qtbase_{ts.stem.rpartition('_')[2]}.qm" for ts in FILES]
    assert [name for name in names if not stays(name, rules(platform))] == []


def test_no_translation_is_left_without_its_other_half():
    assert {path.stem for path in FILES} == {path.stem for path in translations.FOLDER.glob("*.qm")}
