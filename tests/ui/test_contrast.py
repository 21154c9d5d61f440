"""Contrast of our own colours, computed as WCAG 2 does, in all themes: 4.5 to 1, and 7 to 1 where it is to be high."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QPushButton, QRadioButton, QSpinBox, QTextEdit

from app.ui.chart_style import N_SERIES, look
from app.ui.context_gauge import ContextGauge, ContextUse
from app.ui.marking import CURRENT, FOUND
from app.ui.theme import HIGH_DARK, HIGH_LIGHT, SCHEMES, colours
from app.ui.token_colours import MARKS
from tests.ui.test_token_colours import contrast

LEAST_EDGE = 3.0

schemes = pytest.mark.parametrize("scheme", SCHEMES, ids=["light", "dark", "high-light", "high-dark"])


def least(scheme):
    return 7.0 if scheme.is_high else 4.5


@schemes
def test_texts_can_be_read_on_every_ground(scheme):
    grounds = {name: getattr(scheme, name) for name in ("window", "base", "raised")}
    texts = ("text", "muted", "accent", "plain", "warning", "danger")
    poor = {
        (text, ground): contrast(getattr(scheme, text), colour)
        for text in texts
        for ground, colour in grounds.items()
        if contrast(getattr(scheme, text), colour) < least(scheme)
    }
    assert not poor


@schemes
def test_code_can_be_read_on_its_ground(scheme):
    for role in ("code_keyword", "code_string", "code_comment", "code_number", "code_name"):
        assert contrast(getattr(scheme, role), scheme.base) >= least(scheme), role


@schemes
def test_what_is_found_and_what_is_pressed_can_be_read(scheme):
    for ground, text in (FOUND[scheme.is_dark], CURRENT[scheme.is_dark], (scheme.accent, scheme.on_accent)):
        assert contrast(text, ground) >= least(scheme)
    assert contrast(CURRENT[scheme.is_dark][0], scheme.base) >= LEAST_EDGE
    assert contrast(CURRENT[scheme.is_dark][0], FOUND[scheme.is_dark][0]) >= LEAST_EDGE


@schemes
def test_tokens_and_code_can_be_read_on_what_marks_them(scheme):
    for mark in MARKS[scheme.is_dark].values():
        for role in ("text", *(name for name in scheme._fields if name.startswith("code_"))):
            assert contrast(getattr(scheme, role), mark.ground) >= least(scheme), (role, mark.ground)


@pytest.mark.parametrize("scheme", [HIGH_LIGHT, HIGH_DARK], ids=["light", "dark"])
def test_edges_can_be_seen_where_contrast_is_high(scheme):
    for ground in ("window", "base", "raised"):
        assert contrast(scheme.border, getattr(scheme, ground)) >= 7.0


@schemes
@pytest.mark.parametrize("kind", [QCheckBox, QRadioButton, QLineEdit, QComboBox, QPushButton, QSpinBox, QTextEdit])
def test_the_edge_of_a_control_can_be_seen(qapp, put, theme, scheme, kind):
    theme.choose("dark" if scheme.is_dark else "light", "high" if scheme.is_high else "normal")
    qapp.processEvents()  # only then have the widgets their palettes
    control = put(kind(), 200, 40)
    picture = control.parentWidget().grab(control.geometry()).toImage()
    drawn = {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}
    for ground in (scheme.window, scheme.base):
        assert max(contrast(colour, ground) for colour in drawn) >= LEAST_EDGE, ground


@schemes
def test_what_is_full_of_the_context_differs_from_what_is_free(qapp, put, theme, scheme):
    theme.choose("dark" if scheme.is_dark else "light", "high" if scheme.is_high else "normal")
    gauge = put(ContextGauge())
    gauge.show_use(ContextUse(0, 2000, 4000, 1000))
    qapp.processEvents()
    bar = gauge._bar
    picture = bar.grab().toImage()
    full, free = (picture.pixelColor(round(bar.width() * part), bar.height() // 2).name() for part in (0.25, 0.75))
    assert contrast(full, free) >= LEAST_EDGE


def test_high_contrast_is_put_on_and_taken_off(theme):
    theme.choose("dark", "high")
    assert colours() is HIGH_DARK
    theme.choose("light")
    assert colours() is HIGH_LIGHT
    assert all(contrast(look(n).colour, HIGH_LIGHT.base) >= LEAST_EDGE for n in range(N_SERIES))
    theme.choose("light", "normal")
    assert not colours().is_high
