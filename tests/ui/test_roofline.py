from __future__ import annotations

import pytest

from app.engine.gguf import read_header
from app.metrics import bandwidth
from app.metrics.atomic import replacing
from app.metrics.roofline import Roofline, Traffic, traffic
from app.ui.roofline import Gauge, RooflineGauge
from tests.doubles import Answer

ROOF = Roofline(Traffic(900_000_000, 100_000_000, 512), 50e9)
LONG = " ".join(["word"] * 60)


def test_the_words_give_bytes_limit_and_shares():
    words = Gauge(ROOF, 30.0, 60.0, 95.5).words()
    assert "1.00 GB at position 512" in words
    assert "at most 50.0 tok/s" in words
    assert "reaches 30.0 (60%)" in words
    assert "lifts it to 60.0 (120% of the plain ceiling, its own ceiling 95.5)" in words


def test_speculation_that_costs_does_not_lift():
    assert "makes it 20.0" in Gauge(ROOF, 30.0, 20.0).words()


def test_without_a_plain_answer_it_says_what_would_show_it():
    assert "without speculation will show" in Gauge(ROOF).words()


def test_the_gauge_says_aloud_what_it_draws_and_fits_what_passes_the_limit(put):
    gauge = put(RooflineGauge(), 260, 200)
    gauge.show_gauge(Gauge(ROOF, 30.0, 90.0), beside="Peak 135 GB/s.")
    assert gauge._bars.accessibleName().endswith("Peak 135 GB/s.")
    picture = gauge._bars.grab().toImage()
    columns = {picture.pixelColor(x, 7).name() for x in range(picture.width())}
    assert len(columns) >= 3  # plain, the rest up to the limit, the limit


def test_nothing_is_shown_for_a_model_that_cannot_be_read(put):
    gauge = put(RooflineGauge(), 260, 200)
    gauge.show_missing("", can_measure=False)
    assert gauge.isHidden()


@pytest.fixture
def measured():
    """A machine whose memory was measured before."""
    found = bandwidth.Bandwidth(20e9, "read", 2, 1 << 30, True)
    path = bandwidth._path()
    with replacing(path) as file:
        file.write(bandwidth.msgspec.json.encode(bandwidth._Kept(bandwidth._VERSION, bandwidth._machine(), found)))
    yield found
    path.unlink()


def test_answers_move_the_gauge(program, measured):
    program.answers = (Answer(LONG, pace_s=0.001),)

    async def story():
        gauge = program.controller.roofline.gauge
        await program.until(lambda: "20.0 GB/s" in gauge.words)
        assert "without speculation will show" in gauge.words
        program.controller.choices.change(speculation=False)
        await program.ask("Plain")
        await program.until(lambda: "Plain decoding reaches" in gauge.words)
        program.controller.choices.change(speculation=True)
        await program.ask("Drafted")
        await program.until(lambda: "Speculation" in gauge.words.partition("reaches")[2])

    program.run(story)


def test_the_speed_of_one_model_is_not_drawn_below_the_limit_of_another(program, measured, tiny_pair):
    program.answers = (Answer(LONG),)

    async def story():
        gauge, engine = program.controller.roofline.gauge, program.controller.engine
        program.controller.choices.change(speculation=False)
        await program.ask("Plain")
        await program.until(lambda: "Plain decoding reaches" in gauge.words)
        engine.pick_target(str(tiny_pair.target))
        await program.until(lambda: not engine.is_loading)
        await program.until(lambda: "without speculation will show" in gauge.words)

    program.run(story)


def test_a_model_that_is_loaded_while_another_is_looked_at_is_the_one_that_is_shown(program, measured, tiny_pair):
    async def story():
        roofline, engine = program.controller.roofline, program.controller.engine
        for target in (str(tiny_pair.target), "starter"):  # both are known afterwards, and loaded in a moment
            engine.pick_target(target)
            await program.until(lambda: not engine.is_loading)
        await program.until(lambda: "20.0 GB/s" in roofline.gauge.words)
        roofline._headers.clear()
        roofline._later.setInterval(0)
        roofline.refresh()  # reads a large vocabulary, and the other model is there before that
        engine.pick_target(str(tiny_pair.target))
        await program.until(lambda: not engine.is_loading)
        roof = Roofline(traffic(read_header(tiny_pair.target), 1, program.host.state.pair.memory), measured.bytes_per_s)
        await program.until(lambda: roofline.gauge.words.startswith(Gauge(roof).words()), limit_s=5)

    program.run(story)


def test_without_a_measurement_it_offers_one(program):
    async def story():
        gauge = program.controller.roofline.gauge
        await program.until(lambda: gauge.words)
        assert not gauge.measure.isHidden()

    program.run(story)
