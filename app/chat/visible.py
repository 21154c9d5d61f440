"""Text from a model made safe to look at: what would act unseen becomes a sign that can be read.

Control characters do nothing in a text view but hide things; overrides and isolates of the writing direction let words
read otherwise than they are ("Trojan source"). The text itself, as it is stored and copied as Markdown, stays as it is.
"""

from __future__ import annotations

import re

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff\ufff9-\ufffc\U000e0000-\U000e007f]"
)

_NAMES = {0x00: "NUL", 0x07: "BEL", 0x08: "BS", 0x0C: "FF", 0x0D: "CR", 0x1B: "ESC", 0x7F: "DEL"}


def visible(text: str) -> str:
    """Return the text with signs in place of controls; CR LF becomes LF."""
    if _UNSEEN.search(text) is None:
        return text
    return _UNSEEN.sub(_sign, text.replace("\r\n", "\n"))


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"⟨{_NAMES.get(code, f'U+{code:04X}')}⟩"
