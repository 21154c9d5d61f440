"""The verdicts of a session: which answers are held against which, in the order in which they came.

The other half of a pair is a plain answer under like conditions: first of all one of a baseline by its definition, with
no drafter loaded. Somebody who turns speculation off and on has others: answers with the draft model in memory, where
nothing was fed to it. They are held against drafted answers with the same draft file in memory only, where no answer
of a baseline waits, and the comparison says of how many of its pairs that is so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from app.metrics.baseline import Baseline, differences
from app.metrics.export import Comparison
from app.metrics.values import Conditions, Run, RunConditions, beside_words, has_draft_of, is_plain
from app.metrics.verdict import Pair, Sample, judge, pair_up, sample_of, usable

Stored = Sequence[tuple[int, Baseline]]
"""Recorded baselines in the order in which they came, each with the number of answers there were by then."""


_Way = tuple[object, ...]


class Verdicts:
    """The comparisons of a session. Each is made when it is first asked for, so that a long session is judged at once.

    Attributes:
        plain: the answers that may be other halves, each with its place in the session.
    """

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        self.plain: list[tuple[int, Run]] = []
        self._halves: dict[RunConditions, list[tuple[int, Sample, bool]]] = {}  # of the plain ones, by their conditions
        self._groups: dict[_Way, list[tuple[int, Run]]] = {}
        self._ways: dict[str, _Way] = {}
        self._made: dict[_Way, Comparison] = {}
        self._here: set[str] = set()
        self._n = 0
        for run in runs:
            self.add(run)

    def add(self, run: Run) -> None:
        """Take the next answer of the session."""
        place, self._n = self._n, self._n + 1
        self._here.add(run.id)
        if not usable(run) or run.conditions is None:
            return
        if is_plain(run):
            self.plain.append((place, run))
            self._halves.setdefault(run.conditions, []).append((place, sample_of(run), False))
            self._made.clear()
            return
        way = _way_of(run, run.conditions)
        self._groups.setdefault(way, []).append((place, run))
        self._ways[run.id] = way
        self._made.pop(way, None)

    def forget_made(self) -> None:
        """Make every comparison anew: what answers are held against has changed."""
        self._made.clear()

    def of(self, run: Run, stored: Stored) -> Comparison | None:
        """Return the comparison that a speculative answer belongs to; ``None`` if it enters none."""
        way = self._ways.get(run.id)
        return None if way is None else self._comparison(way, stored)

    def all(self, stored: Stored) -> tuple[Comparison, ...]:
        """Return every comparison, the oldest first."""
        return tuple(self._comparison(way, stored) for way in self._groups)

    def _comparison(self, way: _Way, stored: Stored) -> Comparison:
        if way not in self._made:
            self._made[way] = self._compare(self._groups[way], stored)
        return self._made[way]

    def _compare(self, group: Sequence[tuple[int, Run]], stored: Stored) -> Comparison:
        first = group[0][1]
        conditions = first.conditions
        if conditions is None:
            raise ValueError(f"run {first.id} has no conditions")
        pairs = self._pairs(group, conditions, stored)
        n_stored = sum(pair.plain.run_id not in self._here for pair in pairs)
        verdict = judge([pair.log_ratio for pair in pairs], n_stored)
        n_beside = sum(pair.plain.is_beside_draft for pair in pairs)
        return Comparison(
            spec_type=first.spec_type,
            draft_tokens=first.draft_tokens,
            n_exact=first.n_exact,
            draft_min=first.draft_min,
            fixed_shape=first.fixed_shape,
            p_min=first.p_min,
            temperature=first.temperature,
            target_file=conditions.target_file,
            draft_file=conditions.draft_file,
            n_pairs=verdict.n_pairs,
            speedup=verdict.speedup,
            drift=verdict.drift,
            verdict=verdict.word,
            pairs_needed=verdict.pairs_needed,
            sentence=verdict.sentence,
            n_beside_draft=n_beside,
            against=beside_words(n_beside, len(pairs)),
            pairs=tuple((pair.speculative.run_id, pair.plain.run_id) for pair in pairs),
            conditions=msgspec.structs.replace(conditions, context_bucket=0),
        )

    def _pairs(self, group: Sequence[tuple[int, Run]], conditions: RunConditions, stored: Stored) -> list[Pair]:
        """Pair up in the order in which answers were given and baselines came: what comes later takes nothing back."""
        taken = set(self._here)
        arrivals: list[tuple[int, Sample, bool]] = []
        for place, baseline in stored:
            if not differences(baseline, conditions, bucket=False):
                samples = [sample for sample in baseline.as_samples() if sample.run_id not in taken]
                arrivals += [(place, sample, False) for sample in samples]
                taken |= {sample.run_id for sample in samples}
        answers = [(place, sample_of(run), True) for place, run in group]
        for on, halves in self._halves.items():
            if can_be_halves(on, conditions):
                answers += halves
        in_order = sorted([*arrivals, *answers], key=lambda one: one[0])  # what is stored comes before the answer there
        return pair_up([(sample, is_drafted) for _, sample, is_drafted in in_order])


def _way_of(run: Run, on: RunConditions) -> _Way:
    """Return what the answers of one verdict have in common."""
    asked = (run.spec_type, run.draft_tokens, run.draft_min, run.p_min, run.temperature, run.n_exact, run.fixed_shape)
    return (*asked, on.draft_file, on.draft_fingerprint, on.draft_device, shared(on))


def shared(conditions: Conditions) -> tuple[object, ...]:
    """What drafted answers of one verdict share, but for the context bucket, by which pairs are made."""
    fields = (name for name in Conditions.__struct_fields__ if name != "context_bucket")
    return tuple(getattr(conditions, name) for name in fields)


def can_be_halves(plain: RunConditions, drafted: RunConditions) -> bool:
    """Whether a plain answer can be the other half of a pair, at whatever context length."""
    if differences(plain, drafted, bucket=False):
        return False
    return plain.draft_file is None or has_draft_of(plain, drafted)
