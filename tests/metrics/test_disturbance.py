"""Paging and a shared bus: causes that are told from what was measured."""

from __future__ import annotations

import msgspec
import pytest

from app.metrics import prediction as p
from app.metrics.disturbance import paging, shared_bus
from app.metrics.outlook import outlook
from app.metrics.values import Interval, Surroundings
from app.protocol import Step
from tests.metrics.test_outlook import BASELINE, MIXED, PLAIN, run_of

GB = 10**9


def answer(*, target_bytes=4 * GB, device="CPU", **told):
    run = run_of("a", [None] * 50, target_bytes=target_bytes, device=device)  # 50 passes of 20 ms
    return msgspec.structs.replace(run, surroundings=Surroundings(**told))


def test_faults_that_waited_for_the_disk_are_paging():
    run = answer(n_major_faults=5000, n_faults=9000, resident_bytes=11 * GB // 10)
    assert paging(run) == (
        "memory paging: 5,000 page faults waited for the disk, the engine's process had 1.1 GB in memory for "
        "weights of 4.0 GB"
    )


def test_of_weights_on_a_device_the_process_says_nothing():
    run = answer(device="GPU", n_major_faults=5000, n_faults=9000, resident_bytes=GB // 10)
    assert paging(run) == "memory paging: 5,000 page faults waited for the disk"


@pytest.mark.parametrize(
    "told",
    [
        {"n_major_faults": 0, "n_faults": 10**6, "resident_bytes": GB // 10},  # pages came back, none from the disk
        {"n_major_faults": 300, "n_faults": 300, "resident_bytes": 4 * GB},  # 30 ms of 1 s
        {},
        {"n_faults": 10**6, "resident_bytes": 4 * GB},  # Windows: all is there
        {"n_faults": 10**5, "resident_bytes": GB},  # a part of a file that nobody reads
        {"n_faults": 10**7},
    ],
)
def test_little_or_unknown_is_no_paging(told):
    assert paging(answer(**told)) == ""


def test_an_older_run_tells_nothing():
    assert paging(PLAIN) == ""


def test_a_working_set_below_the_weights_that_is_faulted_in_again_is_paging_where_faults_are_not_told_apart():
    run = answer(n_faults=50 * 60_000, resident_bytes=3 * GB)  # 245 MB in each of 50 passes
    assert paging(run) == (
        "memory paging: the engine's process had only 3.0 GB in memory for weights of 4.0 GB, 3,000,000 page faults "
        "brought back the rest"
    )


def one_row(verify_s, draft_s=0.0):
    return Step(0.0, 1, 4, 0, 0, 0, draft_s, verify_s, 50, "")


ALONE = [one_row(0.1)] * 20


def test_passes_beside_a_working_drafter_that_are_dearer_than_alone_share_the_bus():
    assert shared_bus([one_row(0.14, 0.03)] * 8, ALONE) == (
        "bus shared: passes after drafting took 1.40 × the same passes without it"
    )


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([one_row(0.14, 0.03)] * 8 + [one_row(0.14)] * 8, "with the drafter at rest it is as slow: a slower machine"),
        ([one_row(0.14, 0.0001)] * 20, "an n-gram look-up takes no bus"),
        ([one_row(0.105, 0.03)] * 20, "within the noise"),
        ([one_row(0.14, 0.03)] * 3, "too few to tell"),
        ([Step(0.0, 1, 4, 4, 1, 0, 0.03, 0.14, 50, "draft-simple")] * 20, "what these rows cost alone is not known"),
    ],
)
def test_what_does_not_show_it_is_not_called_so(steps, why):
    assert shared_bus(steps, ALONE) == "", why


def test_an_answers_own_passes_at_rest_say_what_they_cost_alone():
    steps = [one_row(0.14, 0.03)] * 8 + [one_row(0.12)] * 8
    assert "took 1.17 ×" in shared_bus(steps, ALONE)


def test_the_cause_names_the_bus_instead_of_a_slower_machine():
    costs = p.PassCosts({1: 0.1, 3: 0.15}, 0.01)
    steps = [Step(0.0, 3, 2, 2, 2, 2, 0.02, 0.15, 50, "draft-simple"), *[one_row(0.14, 0.02)] * 9]
    told = p.Evidence(steps, 0.1, None, ALONE)
    found = p.predict_chosen(1.0, told, costs)
    words = p.cause(found, Interval(0.6, 0.59, 0.61), told, costs)
    assert words.startswith("bus shared: passes after drafting took 1.40 ×")
    at_rest = p.Evidence([steps[0], *[one_row(0.14)] * 9], 0.1, None, ALONE)
    assert "slower machine" in p.cause(found, Interval(0.7, 0.69, 0.71), at_rest, costs)


def test_on_a_cost_curve_both_are_dearer_together_than_alone():
    curve = p.PassCosts({1: 0.1, 3: 0.15}, 0.01, is_alone=True)
    steps = [Step(0.0, n + 1, 2, 2, min(2, n + 1), n, 0.03, 0.3, 50, "draft-simple") for n in (0, 0, 1, 2)]
    told, found = p.Evidence(steps, 0.1, 2), p.predict_fixed(0.5, 2, curve)
    assert p.cause(found, Interval(0.53, 0.52, 0.54), told, curve) == (
        "bus shared: in answers with a drafter a pass took 2.00 × and a drafted token 1.50 × what each took alone"
    )
    only_target = [msgspec.structs.replace(step, draft_s=0.02) for step in steps]
    told = p.Evidence(only_target, 0.1, 2)
    assert p.cause(found, Interval(0.55, 0.54, 0.56), told, curve).startswith("target compute-bound at 3 rows")
    measured_together = p.PassCosts(curve.rows_s, curve.draft_token_s)
    told = p.Evidence(steps, 0.1, 2)
    assert "bus shared" not in p.cause(found, Interval(0.53, 0.52, 0.54), told, measured_together)


def test_the_cause_names_paging_before_all_that_is_slow():
    costs = p.PassCosts({1: 0.1, 3: 0.15}, 0.01)
    steps = [Step(0.0, n + 1, 2, 2, min(2, n + 1), n, 0.02, 0.3, 50, "draft-simple") for n in (0, 0, 1, 2)]
    told = p.Evidence(steps, 0.1, 2, paging="memory paging: 9 page faults waited for the disk")
    found = p.predict_fixed(0.5, 2, costs)
    assert p.cause(found, Interval(0.55, 0.54, 0.56), told, costs) == told.paging
    gain = p.Evidence([msgspec.structs.replace(step, verify_s=0.07) for step in steps], 0.1, 2, paging=told.paging)
    assert "paging" not in p.cause(found, Interval(1.9, 1.8, 2.0), gain, costs)


def test_an_outlook_says_it_of_an_answer_and_of_a_way_that_cannot_pay():
    before = [run_of(f"b{n}", MIXED) for n in range(4)]
    slow = run_of("slow", MIXED, verify_s=0.09)
    slow = msgspec.structs.replace(slow, surroundings=Surroundings(n_major_faults=4000, resident_bytes=0))
    told = outlook(slow, [PLAIN, *before, slow], BASELINE)
    assert told.cause.startswith("memory paging: 4,000 page faults waited for the disk")
    all_slow = run_of("a", MIXED, verify_s=0.11)
    all_slow = msgspec.structs.replace(all_slow, surroundings=Surroundings(n_major_faults=4000, resident_bytes=0))
    assert outlook(all_slow, [PLAIN, all_slow], None).hopeless.startswith("memory paging")
