"""Text from a model made safe to look at: what would act unseen becomes a sign that can be read.

Control characters do nothing in a text view but hide things; overrides and isolates of the writing direction let words
read otherwise than they are ("Trojan source"). The text itself, as it is stored and copied as Markdown, stays as it is.
"""

from __future__ import annotations

import re
from html.entities import html5

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff\ufff9-\ufffc\U000e0000-\U000e007f]"
)

_ENTITY = re.compile(r"&(?:#(?:[xX](?P<hex>[0-9a-fA-F]+)|(?P<number>[0-9]+))|(?P<name>[A-Za-z][A-Za-z0-9]{1,40}));")
_LAST = 0x10FFFF

_NAMES = {0x00: "NUL", 0x07: "BEL", 0x08: "BS", 0x0C: "FF", 0x0D: "CR", 0x1B: "ESC", 0x7F: "DEL"}


def visible(text: str) -> str:
    """Return the text with signs in place of controls; CR LF becomes LF."""
    if _UNSEEN.search(text) is None:
        return text
    return _UNSEEN.sub(_sign, text.replace("\r\n", "\n"))


def visible_markdown(markdown: str) -> str:
    """Return Markdown made safe likewise, with what its entities stand for; those in code are made signs of, too."""
    text = visible(markdown)
    return _ENTITY.sub(_decoded_sign, text) if "&" in text else text


def _decoded_sign(found: re.Match[str]) -> str:
    if found["name"]:
        letters = html5.get(f"{found['name']};", "")
    else:
        digits = found["hex"] or found["number"]
        code = int(digits[-9:], 16 if found["hex"] else 10) if len(digits.lstrip("0")) < 9 else _LAST + 1
        if code > _LAST or 0xD800 <= code < 0xE000:
            return f"⟨{found[0][1:-1]}⟩"
        letters = chr(code)
    return "".join(_sign_of(ord(letter)) for letter in letters) if _UNSEEN.search(letters) else found[0]


def _sign(found: re.Match[str]) -> str:
    return _sign_of(ord(found[0]))


def _sign_of(code: int) -> str:
    return f"⟨{_NAMES.get(code, f'U+{code:04X}')}⟩"
