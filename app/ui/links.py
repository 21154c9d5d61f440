"""Links in what a model wrote: never followed without asking, and some not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QDesktopServices

from app.chat.visible import visible
from app.ui.tr import tr

if TYPE_CHECKING:
    from PySide6.QtCore import QUrl
    from PySide6.QtGui import QTextDocument

    from app.ui.notice import NoticeBar

_OPENABLE = frozenset({"http", "https", "mailto"})
_SHOWN_CHARS = 300


def address_words(url: QUrl) -> str:
    """Return an address as it really is: letters of other scripts that look like Latin ones are encoded."""
    words = visible(bytes(url.toEncoded().data()).decode("ascii", "replace"))
    return words if len(words) <= _SHOWN_CHARS else f"{words[:_SHOWN_CHARS]}…"


def ask_to_open(url: QUrl, notice: NoticeBar) -> None:
    """Show where a link leads and offer to open it outside; links to files, shares and programs are refused."""
    words, scheme = address_words(url), url.scheme().lower()
    if scheme not in _OPENABLE or (scheme != "mailto" and not url.host()):
        notice.say(
            "warning", tr("This link is not opened: {words}").format(words=words), tr("Only web and mail links are.")
        )
        return
    where = " " + tr("It leads to {words_of_host}.").format(words_of_host=words_of_host(url)) if url.userInfo() else ""
    notice.say(
        "info",
        tr("Open {words} in the browser?{where}").format(words=words, where=where),
        action=(tr("Open"), lambda: QDesktopServices.openUrl(url)),
    )


def links_in(document: QTextDocument) -> list[tuple[str, str]]:
    """Return the words and the address of each link of a document, in the order in which they stand."""
    found: list[tuple[str, str]] = []
    block = document.begin()
    while block.isValid():
        walk, before = block.begin(), ""
        while not walk.atEnd():
            shape, text = walk.fragment().charFormat(), walk.fragment().text()
            address = shape.anchorHref() if shape.isAnchor() and not shape.isImageFormat() else ""
            if address and address == before:
                found[-1] = (found[-1][0] + text, address)  # words in another look are a fragment of their own
            elif address:
                found.append((text, address))
            before = address
            walk += 1
        block = block.next()
    return found


def words_of_host(url: QUrl) -> str:
    """Return the host of an address, encoded."""
    from PySide6.QtCore import QUrl as Url

    return str(url.host(Url.ComponentFormattingOption.FullyEncoded))
