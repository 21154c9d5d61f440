"""What colouring tokens costs where it is on, and that it costs nothing where it is off.

Engine: decode speed of the starter with and without token details, by turns. Window: time to show the chunks of an
answer with and without marks; without, nothing is kept of a token and the line that crosses the pipe has no field more.

    python -m tests.benchmarks.token_colours [--turns N] [--tokens N] [--json]
"""

from __future__ import annotations

import os
import time

from app.engine.cancel import CancelFlag
from app.engine.session import Session
from app.engine.template import Renderer
from app.metrics import stats
from app.metrics.token_trace import TokenTrace
from app.models.library import Library
from app.protocol import Chunk, encode
from tests.benchmarks.figures import Figure, arguments, ratios, report
from tests.engine.sessions import load, request

TEXT = (
    "Here is **a list** of things:\n\n- one `thing`\n- another\n\n"
    "```python\ndef f(x):\n    return x\n```\n\nSo it ends.\n\n"
)


def decode_tps(session: Session, n_tokens: int, *, token_details: bool) -> tuple[float, list[Chunk]]:
    """Answer a prompt; return the decode speed and the chunks."""
    command = request("Once upon a time", max_tokens=n_tokens, token_details=token_details, reuse_memory=False)
    events = session.generate(command, received_s=time.perf_counter(), cancel=CancelFlag())
    chunks = [event for event in events if isinstance(event, Chunk)]
    return stats.decode_tps([chunk.step for chunk in chunks]) or 0.0, chunks


def show_s(chunks: list[Chunk], *, is_marked: bool) -> float:
    """Show chunks in an answer, a frame each, as the window does; return the seconds that took."""
    from PySide6.QtWidgets import QApplication

    from app.ui.message import AnswerView

    view = AnswerView()
    view.resize(700, 500)
    view.show()
    trace = TokenTrace() if is_marked else None
    if trace is not None:
        view.trace_tokens(trace)
    started_s = time.perf_counter()
    for chunk in chunks:
        if trace is not None:
            trace.add(chunk)
        view.add_text(chunk.text)
        view.flush()
        QApplication.processEvents()
    view.close_text()
    took_s = time.perf_counter() - started_s
    view.close()
    view.deleteLater()
    return took_s


def spread(chunks: list[Chunk], text: str) -> list[Chunk]:
    """Give chunks this text instead of their own, four characters a token."""
    from msgspec import structs

    from app.token_details import TokenDetail

    pieces = [text[i : i + 4] for i in range(0, len(text), 4)]
    return [
        structs.replace(chunk, text=piece, details=(TokenDetail(len(piece), 0.5),))
        for chunk, piece in zip(chunks, pieces, strict=False)
    ]


def main() -> None:
    """Measure and report."""
    parser = arguments(__doc__ or "", n_turns=7)
    parser.add_argument("--tokens", type=int, default=200, help="tokens of an answer (default: %(default)s)")
    chosen = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    app = QApplication([])
    session = Session(Renderer())
    try:
        load(session, Library().resolve("starter").path, n_threads=0)
        off, on, window_off, window_on, bytes_off = [], [], [], [], []
        for turn in range(chosen.turns):
            for is_on in (turn % 2 == 0, turn % 2 == 1):
                tps, chunks = decode_tps(session, chosen.tokens, token_details=is_on)
                (on if is_on else off).append(tps)
                shown = spread(chunks, TEXT * (1 + 4 * len(chunks) // len(TEXT)))
                (window_on if is_on else window_off).append(show_s(shown, is_marked=is_on) / len(shown) * 1e3)
                if not is_on:
                    bytes_off.append(float(sum(encode(chunk).count(b"details") for chunk in chunks)))
    finally:
        session.close()
    app.quit()
    report(
        [
            Figure("decode speed, on ÷ off", ratios(on, off), "", ">= 0.97"),
            Figure("window, off", tuple(window_off), "ms/step"),
            Figure("window, on", tuple(window_on), "ms/step"),
            Figure("fields on the wire, off", tuple(bytes_off), "", "0"),
        ],
        as_json=chosen.json,
    )


if __name__ == "__main__":
    main()
