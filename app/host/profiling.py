"""Runs the pair profiler: several ways to draft for one target, by turns, plain decoding beside each in every round.

Ways that need the same draft model are measured together, so that it is loaded once a round; the order of the models
turns from round to round, and inside of one the ways alternate (:func:`app.host.trials.one_round`).
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.engine.gguf import read_header
from app.errors import SlipstreamError
from app.host.host import Host
from app.host.trials import Measured, OnEvent, is_off, measure, one_round, warm_up
from app.host.values import PairChoice
from app.metrics import profile
from app.metrics.profile import Candidate, Profile, Row, TrainingLine, Trialled
from app.metrics.prompts import Prompt
from app.metrics.roofline import memory_bytes
from app.metrics.verdict import MIN_PAIRS
from app.models.library import LibraryEntry
from app.protocol import DraftTokens, Loaded, Sampling, SpecType, Speculation

logger = logging.getLogger(__name__)

LENGTHS: tuple[DraftTokens, ...] = ("auto", 2, 4, 8)
NGRAM_LENGTHS: tuple[DraftTokens, ...] = ("auto", 8)
MOST_OF_TARGET = 0.6
"""A draft model with more than this share of the target's bytes cannot pay, and is not tried by itself."""

_PLAIN = Speculation()


@dataclass(frozen=True, slots=True)
class ProfilePlan:
    """What to try: draft models by name, lengths for them and for n-gram, over which prompts and how often."""

    pair: PairChoice
    prompts: tuple[Prompt, ...]
    sampling: Sampling
    drafts: tuple[str, ...] = ()
    lengths: tuple[DraftTokens, ...] = LENGTHS
    ngram_lengths: tuple[DraftTokens, ...] = NGRAM_LENGTHS
    max_tokens: int = 128
    rounds: int = 3


@dataclass(frozen=True, slots=True)
class ProfileProgress:
    """How far it has come, in words, with the ranking so far."""

    fraction: float
    words: str
    rows: tuple[Row, ...]


@dataclass(slots=True)
class _Group:
    """The ways that share a draft model (None: no other than the target)."""

    draft: str | None
    candidates: list[Candidate]
    is_warm: bool = False


def within_one_rounding(lengths: Sequence[DraftTokens], n_rows_alike: int) -> tuple[DraftTokens, ...]:
    """Return the lengths as the engine will have them: it keeps drafts so short that they cannot tip a near tie."""
    if n_rows_alike <= 1:
        return tuple(lengths)
    kept = (length if isinstance(length, str) else min(length, n_rows_alike - 1) for length in lengths)
    return tuple(dict.fromkeys(kept))


@dataclass(slots=True)
class Profiler:
    """One profile through the host. ``training`` is filled with the plain answers as they come.

    ``is_last``: the program ends, and nothing is loaded again afterwards.
    """

    host: Host
    plan: ProfilePlan
    on_event: OnEvent
    training: dict[str, TrainingLine] = field(default_factory=dict)
    unfit: dict[str, str] = field(default_factory=dict)
    is_last: bool = False
    _groups: list[_Group] = field(default_factory=list)
    _trials: list[Trialled] = field(default_factory=list)
    _dropped: dict[Candidate, int] = field(default_factory=dict)
    _n_done: int = 0

    async def run(self) -> AsyncGenerator[ProfileProgress, None]:
        """Measure; yield after every answer. Afterwards, also after a cancel, the plan's own pair is loaded.

        Raises:
            SlipstreamError: the target cannot be loaded, or the engine is gone.
        """
        try:
            yield self._progress("Looking which drafters fit…")
            await self._find_candidates()
            for round_ in range(self.plan.rounds):
                for group in self._order(round_):
                    async with aclosing(self._measure(group, round_, is_repeat=False)) as steps:
                        async for step in steps:
                            yield step
                self._drop(round_ + 1)
            async with aclosing(self._repeat_best()) as steps:
                async for step in steps:
                    yield step
        finally:
            is_there = self.host.state.pair == self.plan.pair or self.host.state.phase == "died"
            if not is_there and not self.is_last:
                await self.host.load(self.plan.pair)

    def rows(self) -> tuple[Row, ...]:
        """The ranking so far."""
        found = [c for group in self._groups for c in group.candidates]
        return profile.ranked(profile.row_of(c, self._trials, self._dropped.get(c, 0)) for c in found)

    def result(self) -> Profile:
        """What has been measured so far, and what follows from it."""
        metrics, rows = self.host.session.to_metrics(), self.rows()
        return Profile(
            app=metrics.app,
            machine=metrics.machine,
            target=metrics.target,
            prompts=tuple(prompt.name for prompt in self.plan.prompts),
            temperature=self.plan.sampling.temperature,
            seed=self.plan.sampling.seed,
            max_tokens=self.plan.max_tokens,
            n_rounds=self.plan.rounds,
            rows=rows,
            unfit=dict(self.unfit),
            recommended=profile.recommended(rows),
            advice=profile.advice(rows, self.unfit),
            trials=tuple(self._trials),
        )

    # --- what to try ------------------------------------------------------------------------------------

    async def _find_candidates(self) -> None:
        bare = await self.host.load(replace(self.plan.pair, draft=None))
        self._add_group(None, bare.drafters, bare.n_rows_alike)
        for name in self.plan.drafts:
            try:
                loaded = await self.host.load(replace(self.plan.pair, draft=name))
            except SlipstreamError as fault:
                logger.info("%s is not tried: %s", name, fault.message)
                self.unfit[name] = fault.message
                continue
            kinds = tuple(kind for kind in loaded.drafters if kind not in bare.drafters)
            if not kinds:
                reason = loaded.not_engageable.get("draft-simple", "It drafts nothing that the target does not.")
                self.unfit[name] = reason
            n_bytes = await asyncio.to_thread(_memory_of, loaded, self.plan.pair)
            self._add_group(name, kinds, loaded.n_rows_alike, n_bytes)

    def _add_group(self, draft: str | None, kinds: Sequence[SpecType], n_rows_alike: int, n_bytes: int = 0) -> None:
        lengths = {"ngram": self.plan.ngram_lengths}
        found = [
            Candidate(spec_type=kind, draft_tokens=length, draft=draft, memory_bytes=n_bytes)
            for kind in kinds
            if kind not in ("none", "tree")
            for length in within_one_rounding(lengths.get(kind, self.plan.lengths), n_rows_alike)
        ]
        if found:
            self._groups.append(_Group(draft, found))

    def _order(self, round_: int) -> list[_Group]:
        """Begin each round with another draft model, every other one backwards."""
        n = round_ // 2 % max(1, len(self._groups))
        turned = [*self._groups[n:], *self._groups[:n]]
        return turned[::-1] if round_ % 2 else turned

    def _still_in(self, group: _Group) -> list[Candidate]:
        return [candidate for candidate in group.candidates if candidate not in self._dropped]

    def _drop(self, n_rounds: int) -> None:
        """Give up what is surely slower; the last round drops nothing, there is no more to save."""
        if n_rounds < self.plan.rounds:
            for candidate in profile.surely_slower(self.rows()):
                self._dropped.setdefault(candidate, n_rounds)

    # --- measuring --------------------------------------------------------------------------------------

    async def _measure(
        self, group: _Group, round_: int, *, is_repeat: bool, only: Candidate | None = None
    ) -> AsyncGenerator[ProfileProgress, None]:
        """Answer every prompt plain and each way, and pair them up."""
        chosen = [only] if only is not None else self._still_in(group)
        if not chosen:
            return
        await self.host.load(replace(self.plan.pair, draft=group.draft))
        ways = (_PLAIN, *(candidate.speculation for candidate in chosen))
        if not group.is_warm:
            yield self._progress(f"warming up: {group.draft or 'no draft model'}")
            await warm_up(self.host, self.plan.prompts[0], ways, self.plan.sampling, self.on_event)
            group.is_warm = True
        wanted = one_round(self.plan.prompts, ways, round_)
        done: list[Measured] = []
        async with aclosing(
            measure(self.host, wanted, self.plan.sampling, self.plan.max_tokens, self.on_event)
        ) as answers:
            async for one in answers:
                done.append(one)
                self._n_done += 1
                self._keep_for_training(one)
                prompt, way = one.trial.prompt.name, self._way_words(one, chosen)
                words = f"round {round_ + 1} of {self.plan.rounds}: {prompt}, {way}"
                yield self._progress(f"measured again: {prompt}, {way}" if is_repeat else words)
        self._pair_up(done, chosen, is_repeat=is_repeat)

    async def _repeat_best(self) -> AsyncGenerator[ProfileProgress, None]:
        """Measure the best again, with fresh plain answers: the best of several looks better than it is."""
        rows = self.rows()
        best = rows[0] if rows and rows[0].verdict != "costs" and rows[0].n_pairs else None
        if best is None or len(rows) < 2:
            return
        group = next(group for group in self._groups if best.candidate in group.candidates)
        for n in range(math.ceil(MIN_PAIRS / len(self.plan.prompts))):
            repeat = self._measure(group, self.plan.rounds + n, is_repeat=True, only=best.candidate)
            async with aclosing(repeat) as steps:
                async for step in steps:
                    yield step

    def _pair_up(self, done: Sequence[Measured], chosen: Sequence[Candidate], *, is_repeat: bool) -> None:
        plain = {one.trial.prompt.name: one.run for one in done if is_off(one.trial.speculation)}
        by_way = {candidate.speculation: candidate for candidate in chosen}
        for one in done:
            if (candidate := by_way.get(one.trial.speculation)) is not None:
                self._trials.append(
                    Trialled(
                        candidate=candidate,
                        prompt=one.trial.prompt.name,
                        round=one.trial.round,
                        speculative=one.run,
                        plain=plain[one.trial.prompt.name],
                        is_repeat=is_repeat,
                    )
                )

    def _keep_for_training(self, one: Measured) -> None:
        prompt = one.trial.prompt
        if is_off(one.trial.speculation) and one.text.strip():
            self.training.setdefault(prompt.name, profile.training_line(prompt.messages, one.text, one.run.stop_reason))

    @staticmethod
    def _way_words(one: Measured, chosen: Sequence[Candidate]) -> str:
        return next((c.words for c in chosen if c.speculation == one.trial.speculation), "plain")

    def _progress(self, words: str) -> ProfileProgress:
        n_prompts = len(self.plan.prompts)
        rounds = sum(len(self._still_in(group)) + 1 for group in self._groups) * self.plan.rounds
        total = (rounds + 2 * math.ceil(MIN_PAIRS / n_prompts)) * n_prompts
        return ProfileProgress(min(1.0, self._n_done / max(1, total)), words, self.rows())


def drafts_to_try(entries: Sequence[LibraryEntry], target: LibraryEntry) -> tuple[str, ...]:
    """Return the models of a library that are small enough to draft for the target, smallest first."""
    small = [e for e in entries if e.path != target.path and e.n_bytes <= target.n_bytes * MOST_OF_TARGET]
    return tuple(entry.name for entry in sorted(small, key=lambda entry: entry.n_bytes))


def _memory_of(loaded: Loaded, pair: PairChoice) -> int:
    """Bytes that a draft model takes: weights, and K and V of its context."""
    if loaded.draft is None:
        return 0
    header = read_header(Path(loaded.draft.path))
    return loaded.draft.n_bytes + memory_bytes(header, loaded.n_ctx, pair.draft_memory)
