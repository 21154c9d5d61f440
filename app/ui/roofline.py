"""The roofline gauge: how near decoding is to what the memory lets through, and what speculation makes of that."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.engine.gguf import GgufHeader, read_header
from app.errors import SlipstreamError
from app.metrics import bandwidth, stats
from app.metrics.baseline import staleness
from app.metrics.machine import cpu_name
from app.metrics.roofline import Roofline, active_weight_bytes, known_part, traffic
from app.metrics.values import Run, is_plain
from app.metrics.verdict import usable
from app.ui.theme import GRID, colours, follow, named, number_font
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.host import Host
    from app.metrics.bandwidth import Bandwidth
    from app.ui.main_window import MainWindow

logger = logging.getLogger(__name__)

MEANING = tr(
    "A plain token reads every active weight once, and the keys and values of all positions before it. "
    "Memory bandwidth ÷ those bytes is a ceiling that plain decoding cannot pass. A target pass with a draft reads the "
    "weights once for several tokens, so speculation can."
)
_LABELS = ("plain", "speculation")
_REFRESH_MS = 300


@dataclass(frozen=True, slots=True)
class Gauge:
    """What the gauge shows: the limit, and speeds as shares of it; None where there is none yet."""

    roof: Roofline
    plain_tps: float | None = None
    speculative_tps: float | None = None
    speculative_limit_tps: float | None = None

    def words(self) -> str:
        """All of it in sentences."""
        read, limit = self.roof.traffic, self.roof.limit_tps
        speed = tr("{bandwidth:.1f} GB/s").format(bandwidth=self.roof.bandwidth / 1e9)
        size = tr("{size} at position {n_ctx:,}").format(size=_size(read.n_bytes), n_ctx=read.n_ctx)
        lines = [
            tr("A plain token reads {size}; memory moves {speed}: at most {limit:.1f} tok/s.").format(
                size=size, speed=speed, limit=limit
            )
        ]
        if self.plain_tps is not None:
            lines.append(
                tr("Plain decoding reaches {plain_tps:.1f} ({share:.0%}).").format(
                    plain_tps=self.plain_tps, share=self.roof.share(self.plain_tps)
                )
            )
        else:
            lines.append(tr("An answer without speculation will show how near plain decoding comes."))
        if self.speculative_tps is not None:
            share = self.roof.share(self.speculative_tps)
            if self.plain_tps is not None and self.speculative_tps > self.plain_tps:
                words = tr("Speculation lifts it to {tps:.1f} ({facts}).")
            else:
                words = tr("Speculation makes it {tps:.1f} ({facts}).")
            facts = [tr("{share:.0%} of the plain ceiling").format(share=share)]
            if self.speculative_limit_tps:
                facts.append(tr("its own ceiling {tps:.1f}").format(tps=self.speculative_limit_tps))
            lines.append(words.format(tps=self.speculative_tps, facts=", ".join(facts)))
        return " ".join(lines)


class _Bars(QWidget):
    """Plain above speculative, both against the ceiling."""

    def __init__(self) -> None:
        super().__init__()
        self.gauge: Gauge | None = None
        self.setFont(number_font(-0.5))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Room for two bars, each as high as its name."""
        return QSize(160, 2 * self.fontMetrics().height() + 3)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the bars and the ceiling."""
        if self.gauge is None:
            return
        scheme, roof = colours(), self.gauge.roof
        shares = [
            (roof.share(tps) if tps is not None else 0.0, colour)
            for tps, colour in ((self.gauge.plain_tps, scheme.plain), (self.gauge.speculative_tps, scheme.accent))
        ]
        row_px, left = self.fontMetrics().height(), self.fontMetrics().horizontalAdvance(_LABELS[1]) + GRID
        scale = (self.width() - left - 2) / max(1.05, *(1.05 * share for share, _ in shares))
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for n, (share, colour) in enumerate(shares):
            y = n * (row_px + 3)
            painter.setPen(QColor(scheme.muted))
            painter.drawText(QRectF(0, y, left, row_px), Qt.AlignmentFlag.AlignVCenter, _LABELS[n])
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(scheme.raised))
            painter.drawRect(QRectF(left, y + 3, scale, row_px - 6))
            painter.setBrush(QBrush(QColor(colour), Qt.BrushStyle.Dense2Pattern if n else Qt.BrushStyle.SolidPattern))
            painter.drawRect(QRectF(left, y + 3, scale * share, row_px - 6))
        painter.setPen(QPen(QColor(scheme.text), 2))
        painter.drawLine(round(left + scale), 0, round(left + scale), self.height())


class RooflineGauge(QWidget):
    """The gauge with its words, or what to do to get one."""

    measure_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel(tr("Memory limit"))
        self._title.setFont(number_font(-0.5, bold=True))
        self._bars = _Bars()
        self._words = named(QLabel(wordWrap=True), "muted")
        self._words.setFont(number_font(-0.5))
        self._words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.measure = QPushButton(tr("Measure memory speed"))
        self.measure.setToolTip(tr("Takes some seconds, once for this machine; nothing else should run meanwhile"))
        self.measure.clicked.connect(self.measure_requested)
        self.setToolTip(MEANING)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID // 2, 0, 0)
        column.setSpacing(GRID // 2)
        for part in (self._title, self._bars, self._words, self.measure):
            column.addWidget(part)
        self.show_missing("", can_measure=False)
        follow(self._bars.update)

    @property
    def words(self) -> str:
        """What is said."""
        return str(self._words.text())

    def show_gauge(self, gauge: Gauge, beside: str = "") -> None:
        """Show the limit and the speeds; ``beside`` is what is known of the part."""
        self.show()
        self._bars.gauge = gauge
        self._bars.show()
        self._bars.update()
        self.measure.hide()
        words = gauge.words() + (f" {beside}" if beside else "")
        self._words.setText(words)
        self._bars.setAccessibleName(tr("Memory limit: {words}").format(words=words))

    def show_missing(self, words: str, *, can_measure: bool) -> None:
        """Say why there is no gauge yet, and offer to measure."""
        self._bars.gauge = None
        self._bars.hide()
        self._words.setText(words)
        self.measure.setVisible(can_measure)
        self.setVisible(bool(words))


class RooflineControl(QObject):
    """Between the host's runs and the gauge."""

    def __init__(self, window: MainWindow, host: Host) -> None:
        super().__init__(window)
        self._window, self._host = window, host
        self._bandwidth: Bandwidth | None = None
        self._headers: dict[str, GgufHeader | None] = {}
        self._task: asyncio.Task[None] | None = None
        self.gauge = RooflineGauge()
        window.panel.below.addWidget(self.gauge)
        self._later = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._later.timeout.connect(self.refresh)
        self._unsubscribe = host.session.subscribe(self._later.start)
        self.gauge.measure_requested.connect(self.measure)

    def start(self) -> None:
        """Take what was measured before."""
        self._bandwidth = bandwidth.cached()
        self._later.start()

    async def close(self) -> None:
        """Wait for what is running."""
        self._unsubscribe()
        self._later.stop()
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    def measure(self) -> None:
        """Measure the memory, unless an answer is being written."""
        if self._host.state.phase != "idle":
            self._window.notice.say("info", tr("The engine is busy; measure when it is not."), expires_s=6)
            return
        self._run(self._measure())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(work)
        else:
            work.close()

    async def _measure(self) -> None:
        self.gauge.show_missing(tr("Measuring the memory…"), can_measure=False)
        try:
            self._bandwidth = await asyncio.to_thread(bandwidth.measure)
        except SlipstreamError as fault:
            self._window.notice.say("error", fault.message, fault.hint)
        await self._show()

    def refresh(self) -> None:
        """Show everything anew."""
        if self._host.state.loaded is not None:
            self._run(self._show())

    async def _show(self) -> None:
        loaded, pair = self._host.state.loaded, self._host.state.pair
        if loaded is None or pair is None:
            return
        if self._bandwidth is None:
            self.gauge.show_missing(tr("How near decoding is to what the memory lets through:"), can_measure=True)
            return
        header = await self._header(loaded.target.path)
        draft = await self._header(loaded.draft.path) if loaded.draft is not None else None
        if self._host.state.loaded is not loaded:  # another was loaded meanwhile
            await self._show()
            return
        if header is None or header.split[1] > 1:
            self.gauge.show_missing("", can_measure=False)
            return
        plain, drafted = self._latest()
        position = _middle_position(drafted or plain)
        roof = Roofline(traffic(header, position, pair.memory), self._bandwidth.bytes_per_s)
        baseline, now = self._host.session.current_baseline(), self._host.session.conditions_now()
        is_of_now = baseline is not None and now is not None and not staleness(baseline, now)
        plain_tps = baseline.decode_tps.median if baseline and is_of_now else plain.decode_tps if plain else None
        draft_bytes = active_weight_bytes(draft) if draft is not None else 0
        self.gauge.show_gauge(
            Gauge(
                roof,
                plain_tps,
                drafted.decode_tps if drafted else None,
                _own_limit(roof, drafted, draft_bytes) if drafted else None,
            ),
            beside=_part_words(),
        )

    async def _header(self, path: str) -> GgufHeader | None:
        if path not in self._headers:
            try:
                self._headers[path] = await asyncio.to_thread(read_header, Path(path))
            except SlipstreamError as fault:
                logger.info("no roofline for %s: %s", path, fault.message)
                self._headers[path] = None
        return self._headers[path]

    def _latest(self) -> tuple[Run | None, Run | None]:
        """Return the newest answers of what is loaded that can be judged: a plain one and one that was drafted."""
        plain = drafted = None
        now = self._host.session.conditions_now()
        for run in reversed(self._host.session.runs):
            on = run.conditions
            if not usable(run) or now is None or on is None or on.target_fingerprint != now.target_fingerprint:
                continue
            if is_plain(run):
                plain = plain or run
            elif run.engaged:
                drafted = drafted or run
            if plain and drafted:
                break
        return plain, drafted


def _own_limit(roof: Roofline, run: Run, draft_bytes: int) -> float | None:
    per_step = stats.tokens_per_step(run.steps)
    if per_step is None:
        return None
    return roof.speculative_limit_tps(per_step, run.proposed / len(run.steps), draft_bytes)


def _middle_position(run: Run | None) -> int:
    """The context position that a decode speed is of, on average; 1 before any answer."""
    return (run.steps[0].n_ctx + run.steps[-1].n_ctx) // 2 if run is not None else 1


def _part_words() -> str:
    part = known_part(cpu_name())
    return (
        tr("{name}: {peak_gb_s:g} GB/s at its peak ({memory}).").format(
            name=part.name, peak_gb_s=part.peak_gb_s, memory=part.memory
        )
        if part is not None
        else ""
    )


def _size(n_bytes: int) -> str:
    return (
        tr("{n_bytes:.2f} GB").format(n_bytes=n_bytes / 1e9)
        if n_bytes >= 1e9
        else tr("{n_bytes:.0f} MB").format(n_bytes=n_bytes / 1e6)
    )
