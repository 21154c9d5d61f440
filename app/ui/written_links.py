"""The links of a message, found in what was written: nothing is laid out, and a text that means harm costs little."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from app.ui.links import links_in
from app.ui.seen import rendered, rendered_pieces

if TYPE_CHECKING:
    from app.ui.blocks import Block

MOST_LINKS = 40
MOST_READ_CHARS = 60_000
"""Of a message only so much is read as Markdown to list its links, what is on the screen first."""

_MAY_LINK = re.compile(r"\]\(|\]\[|\]:|://|www\.|\w@\w|<[A-Za-z][A-Za-z0-9+.-]*:")


def written_links(blocks: Iterable[tuple[int, Block]]) -> list[tuple[str, str]]:
    """Return the words and the address of the links of numbered blocks, in the order of their numbers.

    Reading ends after :data:`MOST_LINKS` links or :data:`MOST_READ_CHARS` characters that may be some.
    """
    found: list[tuple[int, list[tuple[str, str]]]] = []
    n_found = n_read = 0
    for n, text in ((n, text) for n, block in blocks for text in _pieces(block)):
        if n_found >= MOST_LINKS or n_read >= MOST_READ_CHARS:
            break
        n_read += len(text)
        here = links_in(rendered(text))[: MOST_LINKS - n_found]
        n_found += len(here)
        found.append((n, here))
    return [link for _, links in sorted(found, key=lambda one: one[0]) for link in links]


def _pieces(block: Block) -> Iterator[str]:
    """Yield what may have links of a block, as it is rendered: by the piece, or as a whole."""
    if block.kind == "prose" and _MAY_LINK.search(block.text):
        yield from (piece for piece in rendered_pieces(block) or () if _MAY_LINK.search(piece))
