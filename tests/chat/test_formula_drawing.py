"""The process that draws formulas: what models write, what cannot be drawn, and that nothing outlives its limit."""

from __future__ import annotations

import re
import threading
import time
from contextlib import suppress

import psutil
import pytest

from app.chat.formula_drawing import DRAW_LIMIT_S, EM, MOST_CHARS, Drawer, Undrawn
from tests.fair_time import FairWatch

NESTED = r"\frac{1}{1+" * 14 + "x" + "}" * 14  # each level takes the library twice the time of the one inside of it

WRITTEN = [
    r"\int_0^1 x\,dx = \frac{1}{2}",
    r"\begin{aligned} a &= b + c \\ &= d \end{aligned}",
    r"\begin{align} a &= b \\ c &= d \end{align}",
    r"\begin{equation} a = b \label{one} \end{equation}",
    r"f(x) = \begin{cases} 1 & \text{if } x < 0 \\ 0 & \text{otherwise} \end{cases}",
    r"\left[\begin{array}{cc} 1 & 2 \\ 3 & 4 \end{array}\right]\begin{pmatrix} x \\ y \end{pmatrix}",
    r"\hat\theta = \operatorname*{arg\,max}_\theta \sum_{i=1}^n \log p(x_i \mid \theta)",
    r"\mathbb{E}[X] \approx \mathcal{O}(n \log n) \xrightarrow{n \to \infty} \boldsymbol{v}^\top \cdot \vec{w}",
    r"\boxed{P(A \mid B) = \dfrac{P(B \mid A)\,P(A)}{P(B)}}",
    r"\lim_{x\to0} \sqrt[3]{\binom{n}{k}} \quad\implies\quad \underbrace{a + b}_{n} \neq \overline{AB}",
    r"50\% \text{ of } \$1{,}000",
]

UNDRAWABLE = [
    "",
    "   ",
    r"\frac{1}{",
    r"\foo{x}",
    r"\ce{H2O}",
    r"\input{/etc/passwd}",
    r"\includegraphics{/etc/hostname}",
    r"\url{http://127.0.0.1:9/}",
    r"\def\a{\a\a}\a",
    r"\newcommand{\a}{\a\a}\a",
    r"\colorbox{red}{x}",
    r"\text{速度} = v",
    "{" * 900 + "}" * 900,
    r"\text{a & b < c}",
    "\ud800",
    "\0",
    "x" * (MOST_CHARS + 1),
    "{" * 10_000,
]

HOSTILE = [
    "<svg><image href='file:///etc/passwd'/></svg>",
    r"\href{http://127.0.0.1:9/}{x}",
    r"\text{a <image href='file:///etc/passwd'/> b}",
    r"\text{a <svg><use href='x.svg#a'/></svg> b}",
    r"\text{a <mglyph src='file:///etc/passwd'/> b}",
    r"\class{http://127.0.0.1:9/}{x}",
]


@pytest.fixture
def drawer():
    made = Drawer()
    yield made
    made.give_up()
    made.rest()


def processes() -> list[psutil.Process]:
    """Return those that draw now; one may end while it is looked at."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if child.status() != psutil.STATUS_ZOMBIE and child.cmdline()[-1:] == ["formula"]:
                found.append(child)
    return found


def test_a_formula_is_drawn_on_its_base_line(drawer):
    plain, deep = (drawer.draw(tex, is_display=True) for tex in ("x", r"\frac{x}{y}"))
    assert plain is not None
    assert deep is not None
    assert plain.paths.count("<path") == 1
    assert -EM < plain.top < 0
    assert plain.descent < 0.15 * EM < deep.descent
    assert deep.height > 1.5 * plain.height
    assert len(processes()) == 1
    drawer.rest()
    assert not processes()
    assert drawer.draw("x", is_display=True) == plain


def test_what_models_write_is_drawn(drawer):
    for tex in WRITTEN:
        drawing = drawer.draw(tex, is_display=True)
        assert drawing is not None, tex
        assert drawing.paths.count("<path") >= 3
        assert drawing.width > EM


def test_a_sign_without_anything_on_its_left_stands_close(drawer):
    close, apart, words = (
        drawer.draw(tex, is_display=True) for tex in ("x = -b", "x - = b", r"\text{a = -b} = {a = -b}")
    )
    assert close.width < apart.width - 0.2 * EM
    assert words is not None


def test_what_cannot_be_drawn_harms_nothing(drawer):
    for tex in UNDRAWABLE:
        assert drawer.draw(tex, is_display=True) is None, tex
    assert drawer.draw("x", is_display=True) is not None


def test_a_drawing_is_outlines_alone(drawer):
    drawings = [drawer.draw(tex, is_display=True) for tex in HOSTILE]
    drawn = [drawing.paths for drawing in drawings if drawing is not None]
    assert drawn
    for paths in drawn:
        assert set(re.findall(r"<(\w+)", paths)) <= {"path", "rect", "g", "line"}
        assert not re.search(r"href|url\(|src|style|on\w+=", paths)


def test_one_that_takes_too_long_is_ended_and_the_next_is_drawn(drawer):
    drawer.draw("x", is_display=True)
    (before,) = processes()
    watch = FairWatch()
    assert drawer.draw(NESTED, is_display=True) is None
    assert watch.took_s < DRAW_LIMIT_S + 3
    assert not before.is_running()
    assert drawer.fault is Undrawn.LATE
    assert drawer.draw("x", is_display=True) is not None


def test_one_that_is_killed_at_work_or_at_rest_is_started_again(drawer):
    drawer.draw("x", is_display=True)
    (child,) = processes()
    child.kill()
    child.wait(5)
    assert drawer.draw("y", is_display=True) is not None
    (child,) = processes()
    threading.Timer(0.3, child.kill).start()
    assert drawer.draw(NESTED, is_display=True) is None
    assert drawer.draw("z", is_display=True) is not None
    assert drawer.draw("\\foo", is_display=True) is None
    assert drawer.fault is Undrawn.REFUSED


def test_giving_up_ends_the_wait(drawer):
    drawer.draw("x", is_display=True)
    found: list[object] = []
    waiting = threading.Thread(target=lambda: found.append(drawer.draw(NESTED, is_display=True)))
    waiting.start()
    time.sleep(0.2)
    watch = FairWatch()
    drawer.give_up()
    waiting.join(10)
    assert watch.took_s < 1.0
    assert found == [None]
    assert drawer.draw("x", is_display=True) is None
    assert not processes()
