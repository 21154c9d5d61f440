"""Pictures without a screen: they hold the real thing."""

import asyncio
import re
from contextlib import aclosing
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QColor, QImage

from app.chat.conversation import Conversation, Message, now
from app.errors import ExportError
from app.host import ChatRequest, Host, PairChoice
from app.host.answer_stats import stats_of
from app.metrics.baseline import record
from app.protocol import Engagement, Speculation
from app.ui.chart_style import look
from app.ui.passing_state import passing_state
from app.ui.render import CHART_SIZE, WINDOW_SIZE, draws_formula, render_chart, render_window
from app.ui.theme import DARK, LIGHT
from tests.doubles import POEM, Answer, ScriptedEngine

NEAR = 24
WAYS = (Speculation(), Speculation(types=("ngram",), draft_tokens=4))


@pytest.fixture
def session():
    """Twelve answers by turns, and their baseline."""

    async def measure():
        host = Host(make_engine=lambda: ScriptedEngine([Answer(text=f"{POEM} {POEM}")]))
        await host.load(PairChoice("starter"))
        for n in range(6):
            for way in WAYS:
                request = ChatRequest(prompt="x", label=f"p{n}", speculation=way)
                async with aclosing(host.answer(request)) as events:
                    async for _event in events:
                        pass
        await host.close()
        return host.session

    session = asyncio.run(measure())
    session.baseline = record([r for r in session.runs if r.spec_type == "none"], prompt_set="test")[0]
    return session


@pytest.fixture
def conversation(session):
    at = now()
    stats = stats_of(session.runs[-1], Engagement(True, "ngram", 4))
    text = "# Title\n\nText.\n\n```python\ndef f(x):\n    return x\n```\n"
    return Conversation(
        id=1,
        title="A conversation",
        created_at=at,
        updated_at=at,
        messages=(
            Message(id=1, role="user", text="Show me.", created_at=at),
            Message(id=2, role="assistant", text=text, created_at=at, stats=stats),
        ),
    )


def count(image, name, area=(0, 0, 1, 1)):
    """Count the pixels near a colour (thin lines and letters are blended), in (left, top, right, bottom) shares."""
    width, height = image.width(), image.height()
    pixels = np.frombuffer(image.convertToFormat(QImage.Format.Format_RGB888).constBits(), np.uint8)
    pixels = pixels.reshape(height, -1)[:, : width * 3].reshape(height, width, 3).astype(int)
    left, top, right, bottom = area
    part = pixels[round(top * height) : round(bottom * height), round(left * width) : round(right * width)]
    wanted = QColor(name)
    distance = np.abs(part - [wanted.red(), wanted.green(), wanted.blue()]).max(axis=2)
    return int((distance < NEAR).sum())


@pytest.mark.parametrize(("theme_name", "scheme"), [("light", LIGHT), ("dark", DARK)])
def test_the_window_shows_conversation_and_charts(session, conversation, tmp_path, theme, theme_name, scheme):
    path = tmp_path / "window.png"
    render_window(session, conversation, path, theme=theme_name)
    image = QImage(str(path))
    assert image.size() == WINDOW_SIZE
    panel, transcript, sidebar = (0.77, 0.1, 1, 0.85), (0.18, 0.08, 0.75, 0.9), (0, 0, 0.17, 0.3)
    assert count(image, scheme.accent, panel) > 100, "no curve"
    assert count(image, scheme.code_keyword, transcript) > 5, "no coloured code"
    assert count(image, scheme.raised, transcript) > 500, "no question"
    assert count(image, scheme.accent, sidebar) > 20, "no open conversation in the list"


def test_the_chart_shows_drafted_and_plain_answers(session, tmp_path, theme):
    path = tmp_path / "chart.png"
    render_chart(session.to_metrics(), path)
    image = QImage(str(path))
    assert image.size() == CHART_SIZE
    speed = (0, 0.05, 1, 0.38)
    assert count(image, LIGHT.accent, speed) > 100
    assert count(image, LIGHT.plain, speed) > 50
    assert count(image, LIGHT.accent, (0, 0.43, 1, 0.68)) > 50, "no acceptance"
    assert count(image, look(0).colour, (0, 0.72, 1, 1)) > 50, "no draft length"


def test_a_session_without_runs_is_drawn_too(tmp_path, theme):
    from app.metrics.recorder import SessionLog

    render_chart(SessionLog().to_metrics(), tmp_path / "chart.png")
    at = now()
    render_window(SessionLog(), Conversation(created_at=at, updated_at=at), tmp_path / "window.png")
    assert QImage(str(tmp_path / "window.png")).size() == WINDOW_SIZE


def test_a_picture_that_cannot_be_written_is_an_error_with_a_hint(session, tmp_path, theme):
    with pytest.raises(ExportError) as caught:
        render_chart(session.to_metrics(), tmp_path / "missing" / "chart.png")
    assert caught.value.hint


@pytest.mark.parametrize(("tex", "is_drawn"), [(r"\frac{1}{2}", True), (r"\foo{x}", False)])
def test_whether_formulas_are_drawn_here_is_found_out_by_drawing_one(theme, tex, is_drawn):
    assert draws_formula(tex) is is_drawn


def test_state_that_nobody_keeps_leaves_nothing_and_no_device_is_replaced(qapp):
    with passing_state() as state:
        folder = Path(state.fileName()).parent
        state.setValue("window/open", 3)
        assert int(state.value("window/open")) == 3
    del state
    assert not folder.exists()


def test_no_settings_are_kept_in_a_device():
    """Qt would replace it by a file, if the rights are there, and break the machine: so it is not tried."""
    root = Path(__file__).resolve().parents[2]
    sources = [*root.glob("app/**/*.py"), *root.glob("tests/benchmarks/*.py")]
    assert len(sources) > 300
    assert not [path for path in sources if re.search(r"QSettings\((str\()?(os\.)?devnull", path.read_text())]
