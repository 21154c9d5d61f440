"""Files that go with a message as their text: reading them, refusing what is no text, and the chips that show them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from app.chat.conversation import Attachment
from app.chat.pdf_text import Watch
from app.chat.word_text import text_of_word
from app.errors import NotTextError
from app.named_files import NoFileError, open_named, read_named
from app.ui.pdf_reading import read_pdf
from app.ui.said import said
from app.ui.theme import GRID, IconButton, named, text_font
from app.ui.tr import tr

MOST_BYTES = 4_000_000
_LOOKED_AT = 65_536
_ODD = frozenset(range(32)) - {9, 10, 12, 13, 27}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read_text_file(path: Path, watch: Watch = lambda _page, _n_pages: True) -> Attachment:
    """Read a file that goes with a message; ``watch`` is told the pages of a PDF.

    Raises:
        NotTextError: it is a folder, too large, no text, or cannot be read.
    """
    try:
        if path.is_dir():
            raise NotTextError(tr("“{name}” is a folder.").format(name=path.name), tr("Choose the files in it."))
        size = path.stat().st_size
        if path.suffix.lower() == ".pdf":
            open_named(path).close()  # where it may not be read, this says why
            return Attachment(name=path.name, text=read_pdf(path, size, watch))
        data = b"" if size > MOST_BYTES else read_named(path, MOST_BYTES)
        if (n_bytes := max(size, len(data))) > MOST_BYTES:  # some of the system's files say that they are empty
            words = tr("“{name}” has {size:.1f} MB; {most_bytes:.0f} MB of text are the most.").format(
                name=path.name, size=n_bytes / 1e6, most_bytes=MOST_BYTES / 1e6
            )
            raise NotTextError(words, tr("Cut out the part that matters."))
    except NoFileError as fault:
        raise NotTextError(
            tr("“{name}” is a pipe or a device, not a file.").format(name=path.name),
            tr("Save what comes out of it as a file, and attach that."),
        ) from fault
    except OSError as fault:
        raise NotTextError(
            tr("“{name}” cannot be read: {strerror}.").format(name=path.name, strerror=fault.strerror),
            tr("Check that it is still there."),
        ) from fault
    decode = _word if path.suffix.lower() == ".docx" else _decode
    return Attachment(name=path.name, text=decode(path.name, data))


def _word(name: str, data: bytes) -> str:
    try:
        return text_of_word(data)
    except ValueError as fault:
        raise NotTextError(
            tr("“{name}” cannot be read: {strerror}.").format(name=name, strerror=said(str(fault))),
            tr("Save it again as .docx or as text, without a password."),
        ) from fault


def _decode(name: str, data: bytes) -> str:
    encoding = "utf-16" if data[:2] in _UTF16 else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        if _is_binary(data):
            raise NotTextError(
                tr("“{name}” is not text, so the model cannot read it.").format(name=name),
                tr("Text, code, Word documents (.docx) and PDFs can be attached."),
            ) from None
        text = data.decode("cp1252", errors="replace")  # what old Windows programs write
    if _is_binary(text[:_LOOKED_AT].encode("utf-8", "replace")):
        raise NotTextError(
            tr("“{name}” is not text, so the model cannot read it.").format(name=name),
            tr("Text, code, Word documents (.docx) and PDFs can be attached."),
        )
    return text.replace("\r\n", "\n")


def _is_binary(data: bytes) -> bool:
    looked_at = data[:_LOOKED_AT]
    return b"\0" in looked_at or sum(byte in _ODD for byte in looked_at) * 50 > len(looked_at)


class _Chip(QFrame):
    """One file: its name, its size, a button that takes it away."""

    removed = Signal()

    def __init__(self, file: Attachment) -> None:
        super().__init__()
        named(self, "chip")
        self.file, self._size = file, ""
        self._words = QLabel()
        self._words.setFont(text_font(-0.5))
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        close = IconButton("close", tr("Remove {name}").format(name=file.name))
        close.clicked.connect(self.removed)
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._words)
        row.addWidget(close)
        self.show_size(None)

    def show_size(self, n_tokens: int | None) -> None:
        """Say how large it is: in tokens once they are counted."""
        size = (
            tr("{n_bytes:.1f} kB").format(n_bytes=self.file.n_bytes / 1000)
            if n_tokens is None
            else tr("{n_tokens:,} token(s)", None, n_tokens).format(n_tokens=n_tokens)
        )
        self._size = size
        self.fit()
        self._words.setToolTip(self.file.name)
        self.setAccessibleName(tr("Attached file {name}, {size}").format(name=self.file.name, size=size))

    def fit(self, width_px: int | None = None) -> None:
        """Shorten the name so that the size and the button have room, too."""
        name = self.file.name if len(self.file.name) <= 32 else self.file.name[:29] + "…"
        self._words.setText(f"{name}  ·  {self._size}")
        if width_px is not None and (n_over := self.sizeHint().width() - width_px) > 0:
            metrics = self._words.fontMetrics()
            room_px = max(0, metrics.horizontalAdvance(name) - n_over)
            name = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, room_px)
            self._words.setText(f"{name}  ·  {self._size}")


class AttachmentBar(QWidget):
    """The files of the message that is being written, in as many rows as they need; hidden without any."""

    changed = Signal()
    stop_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chips: list[_Chip] = []
        self._work = named(QLabel(self), "status")
        self._work.setFont(text_font(-0.5))
        self._work.setTextFormat(Qt.TextFormat.PlainText)
        self._work.hide()
        self._stop = IconButton("close", tr("Stop reading"))
        self._stop.setParent(self)
        self._stop.clicked.connect(self.stop_wanted)
        self._stop.hide()
        self.setAccessibleName(tr("Attached files"))
        self.hide()

    @property
    def files(self) -> tuple[Attachment, ...]:
        """The files, in the order in which they came."""
        return tuple(chip.file for chip in self._chips)

    def add(self, file: Attachment) -> None:
        """Put one more in; one with the same name and text is there already."""
        if file in self.files:
            return
        chip = _Chip(file)
        chip.setParent(self)
        chip.removed.connect(lambda: self.remove(chip))
        chip.show()
        self._chips.append(chip)
        self._arrange()
        self.changed.emit()

    def remove(self, chip: _Chip) -> None:
        """Take one out."""
        self._chips.remove(chip)
        chip.hide()
        chip.deleteLater()
        self._arrange()
        self.changed.emit()

    def set_files(self, files: tuple[Attachment, ...]) -> None:
        """Have these and no others."""
        for chip in list(self._chips):
            self.remove(chip)
        for file in files:
            self.add(file)

    def show_sizes(self, sizes: dict[Attachment, int]) -> None:
        """Say how many tokens the files have, as far as that is known."""
        for chip in self._chips:
            chip.show_size(sizes.get(chip.file))
        self._arrange()

    def say(self, words: str, *, can_stop: bool = False) -> None:
        """Say what is being done with the files, "" if nothing, and let it be stopped."""
        self._work.setText(words)
        self._work.setAccessibleName(words)
        self._work.setVisible(bool(words))
        self._stop.setVisible(can_stop)
        self._arrange()

    @property
    def words(self) -> str:
        """What is being done with the files."""
        return str(self._work.text())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the rows anew."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        at, row = QPoint(0, 0), 0
        for chip in self._chips:
            chip.fit(self.width())
        parts: list[QWidget] = [*self._chips, *(part for part in (self._work, self._stop) if not part.isHidden())]
        for part in parts:
            size: QSize = part.sizeHint()
            if at.x() and at.x() + size.width() > self.width():
                at, row = QPoint(0, at.y() + row + GRID // 2), 0
            row = max(row, size.height())
            part.setGeometry(QRect(at, QSize(size.width(), row)))
            at.setX(at.x() + size.width() + GRID // 2)
        self.setVisible(bool(parts))
        if parts and self.height() != at.y() + row:
            self.setFixedHeight(at.y() + row)
