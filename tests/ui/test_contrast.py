"""Contrast of our own colours, computed as WCAG 2 does, in both themes."""

from __future__ import annotations

import pytest

from app.ui.marking import CURRENT, FOUND
from app.ui.theme import DARK, LIGHT
from tests.ui.test_token_colours import contrast

LEAST = 4.5
LEAST_EDGE = 3.0


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_can_be_read_on_every_ground(scheme):
    grounds = {name: getattr(scheme, name) for name in ("window", "base", "raised")}
    texts = ("text", "muted", "accent", "warning", "danger")
    poor = {
        (text, ground): contrast(getattr(scheme, text), colour)
        for text in texts
        for ground, colour in grounds.items()
        if contrast(getattr(scheme, text), colour) < LEAST
    }
    assert not poor


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_code_can_be_read_on_its_ground(scheme):
    for role in ("code_keyword", "code_string", "code_comment", "code_number", "code_name"):
        assert contrast(getattr(scheme, role), scheme.base) >= LEAST, role


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_what_is_found_and_what_is_pressed_can_be_read(scheme):
    for ground, text in (FOUND[scheme.is_dark], CURRENT[scheme.is_dark], (scheme.accent, scheme.on_accent)):
        assert contrast(text, ground) >= LEAST
    assert contrast(CURRENT[scheme.is_dark][0], scheme.base) >= LEAST_EDGE
    assert contrast(CURRENT[scheme.is_dark][0], FOUND[scheme.is_dark][0]) >= LEAST_EDGE
