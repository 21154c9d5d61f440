"""Which draft is worth it? Ways to draft for one target, ranked by what they save of the time of whole answers.

Each speculative answer is held against the plain one to the same prompt in the same round. Where the two differ in
length (a kernel's rounding turned the text), both are timed to the token that the shorter one has. The log-ratios of a
way get the interval of :mod:`app.metrics.verdict`, which may be looked at after every round: so a way that is surely
slower than another is dropped early, and the best is measured again after the choice, since the best of several looks
better than it is.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from app.metrics import stats
from app.metrics.atomic import replacing
from app.metrics.baseline import are_powered_alike
from app.metrics.tables import as_text
from app.metrics.values import AppInfo, Interval, MachineInfo, ModelFacts, Run, RunStop, VerdictWord, is_sound
from app.metrics.verdict import MIN_PAIRS, judge
from app.protocol import ChatMessage, DraftTokens, SpecType, Speculation, Step

SCHEMA = "slipstream.profile/1"

LOW_ACCEPTANCE = 0.55
"""Acceptance of a model drafter below which another draft gains more than another length."""

_OWN_ENDS: frozenset[RunStop] = frozenset({"eos", "stop"})


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A way to draft: who, with which model (None: none besides the target), how long.

    ``memory_bytes`` is what it takes besides the target: weights, K and V.
    """

    spec_type: SpecType
    draft_tokens: DraftTokens
    draft: str | None = None
    memory_bytes: int = 0

    @property
    def speculation(self) -> Speculation:
        """As the engine is asked for it."""
        return Speculation(types=(self.spec_type,), draft_tokens=self.draft_tokens)

    @property
    def words(self) -> str:
        """How a person reads it."""
        n, draft = self.draft_tokens, self.draft
        if self.spec_type == "draft-mtp":
            return f"MTP heads {draft}, length {n}" if draft else f"MTP heads, length {n}"
        if self.spec_type == "draft-simple":
            return f"draft model {draft}, length {n}"
        return f"n-gram, length {n}"


class Trialled(msgspec.Struct, frozen=True, kw_only=True):
    """A speculative answer and the plain one beside it. ``is_repeat``: measured again, after the choice."""

    candidate: Candidate
    prompt: str
    round: int
    speculative: Run
    plain: Run
    is_repeat: bool = False

    @property
    def log_ratio(self) -> float | None:
        """Logarithm of plain ÷ speculative answer time; None where one does not count, or nothing drafted.

        Nor is there one of answers between which the machine was plugged in, or out.
        """
        runs = (self.speculative, self.plain)
        n = min(run.tokens for run in runs)
        if not all(is_sound(run) for run in runs) or not self.speculative.engaged or not n:
            return None
        if not are_powered_alike(self.plain, self.speculative):
            return None
        return math.log(time_to(self.plain.steps, n) / time_to(self.speculative.steps, n))


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured of a candidate. ``speedup`` is that of the answer time, above 1 is faster.

    ``confirmed`` is the same from the answers after the choice alone. ``dropped_after`` counts the rounds of a
    candidate that was given up early, 0 if it was not.
    """

    candidate: Candidate
    n_pairs: int
    speedup: Interval | None
    verdict: VerdictWord
    sentence: str
    answer_s: Interval | None
    decode_tps: Interval | None
    acceptance: float | None
    alpha: float | None
    tokens_per_step: float | None
    not_engaged: str = ""
    confirmed: Interval | None = None
    confirmed_sentence: str = ""
    dropped_after: int = 0


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The result, with every answer that it rests on; ``rows`` are in the order of rank.

    ``unfit`` says of each draft model that could not be tried why. ``recommended`` is None where plain decoding is
    best, or nothing can be told yet.
    """

    schema: str = SCHEMA
    app: AppInfo
    machine: MachineInfo
    target: ModelFacts | None
    prompts: tuple[str, ...]
    temperature: float
    seed: int
    max_tokens: int
    n_rounds: int
    rows: tuple[Row, ...]
    unfit: dict[str, str]
    recommended: Candidate | None
    advice: tuple[str, ...]
    trials: tuple[Trialled, ...] = ()


class TrainingLine(msgspec.Struct, frozen=True):
    """A line of training data in the form that fine-tuning tools read; ``finish_reason`` ``length``: cut off."""

    messages: tuple[ChatMessage, ...]
    finish_reason: str


def time_to(steps: Sequence[Step], n_tokens: int) -> float:
    """Return when the ``n_tokens``-th token of an answer was there, counted from the request.

    Raises:
        ValueError: the answer has fewer.
    """
    emitted = 0
    for step in steps:
        emitted += step.emitted
        if emitted >= n_tokens:
            return step.t_s
    raise ValueError(f"{emitted} tokens, {n_tokens} were asked for")


def log_ratios(trials: Iterable[Trialled]) -> list[float]:
    """Return the log-ratios of the trials that have one."""
    return [ratio for trial in trials if (ratio := trial.log_ratio) is not None]


def row_of(candidate: Candidate, trials: Sequence[Trialled], dropped_after: int = 0) -> Row:
    """Sum up the trials of a candidate: the verdict from all, ``confirmed`` from those after the choice."""
    own = [trial for trial in trials if trial.candidate == candidate]
    runs = [trial.speculative for trial in own if is_sound(trial.speculative)]
    steps = [step for run in runs for step in run.steps]
    ratios = log_ratios(own)
    verdict = judge(ratios)
    again = judge(log_ratios(trial for trial in own if trial.is_repeat))
    return Row(
        candidate=candidate,
        n_pairs=len(ratios),
        speedup=verdict.speedup or stats.median_interval([math.exp(ratio) for ratio in ratios]),
        verdict=verdict.word,
        sentence=verdict.sentence,
        answer_s=stats.median_interval([run.answer_s for run in runs if run.answer_s is not None]),
        decode_tps=stats.median_interval([run.decode_tps for run in runs if run.decode_tps is not None]),
        acceptance=stats.acceptance(steps),
        alpha=stats.alpha(steps),
        tokens_per_step=stats.tokens_per_step(steps),
        not_engaged=next((t.speculative.not_engaged for t in own if t.speculative.not_engaged), ""),
        confirmed=again.speedup,
        confirmed_sentence=again.sentence if again.speedup else "",
        dropped_after=dropped_after,
    )


def ranked(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Order rows by the answer time that they save, those without a figure last; memory decides between equals."""

    def key(row: Row) -> tuple[float, int]:
        return (-row.speedup.median if row.speedup else math.inf, row.candidate.memory_bytes)

    return tuple(sorted(rows, key=key))


def surely_slower(rows: Sequence[Row]) -> tuple[Candidate, ...]:
    """Return the candidates whose interval ends below where the best one's begins, or below plain decoding."""
    judged = [row for row in rows if row.speedup is not None and row.n_pairs >= MIN_PAIRS]
    floor = max((row.speedup.low for row in judged if row.speedup), default=0.0)
    return tuple(row.candidate for row in judged if row.speedup and row.speedup.high < max(1.0, floor))


def recommended(rows: Sequence[Row]) -> Candidate | None:
    """Return the best candidate if it pays, by the answers after the choice where there are any."""
    best = next(iter(rows), None)
    if best is None or best.verdict != "pays":
        return None
    return None if best.confirmed is not None and best.confirmed.median <= 1 else best.candidate


def advice(rows: Sequence[Row], unfit: Mapping[str, str]) -> tuple[str, ...]:
    """Say in sentences what follows, the recommendation first."""
    if not rows:
        return ("Nothing could be tried: no drafter fits this target.", *_unfit_words(unfit))
    words = [_choice_words(rows)]
    models = [row for row in rows if row.candidate.spec_type != "ngram" and row.acceptance is not None]
    if models:
        best = models[0]
        share = best.acceptance or 0.0
        if share < LOW_ACCEPTANCE:
            words.append(
                f"{best.candidate.words} has an acceptance of {math.floor(1000 * share) / 1000:g}, "
                f"below {LOW_ACCEPTANCE:.2f}. "
                "Try a larger draft model of the target's family, or tune this one on your own prompts: "
                "the training data for that can be exported."
            )
    else:
        words.append("No draft model fits. A small model with the target's vocabulary may save more than n-gram.")
    return (*words, *_beside_words(rows), *_unfit_words(unfit))


def _beside_words(rows: Sequence[Row]) -> list[str]:
    """Say what was in memory during the plain answers, which is no baseline by its definition."""
    words = []
    if any(row.candidate.draft for row in rows):
        words.append("The plain answers beside a draft model's had it in memory, with nothing fed to it.")
    if any(row.candidate.spec_type == "draft-mtp" and not row.candidate.draft for row in rows):
        words.append("The target's MTP heads were in memory during the plain answers, with nothing fed to them.")
    return words


def _choice_words(rows: Sequence[Row]) -> str:
    best = rows[0]
    if (choice := recommended(rows)) is not None:
        if best.confirmed:
            again = best.confirmed_sentence
            return f"Use {choice.words}: {best.sentence}; measured again after the choice: {again}."
        return f"Use {choice.words}: {best.sentence}."
    if all(row.verdict == "costs" for row in rows):
        return "Leave speculation off: every way that was tried makes answers slower."
    if best.speedup is None:
        return "Nothing can be said: no answer could be compared."
    if best.speedup.median <= 1:
        return (
            f"Nothing was faster than plain decoding so far; the best, {best.candidate.words}: {best.sentence}. "
            "Leave speculation off unless more rounds say otherwise."
        )
    return f"Not decided; ahead is {best.candidate.words}: {best.sentence}. More rounds or prompts would tell."


def _unfit_words(unfit: Mapping[str, str]) -> list[str]:
    return [f"{name} was not tried: {reason}" for name, reason in unfit.items()]


# --- files ----------------------------------------------------------------------------------------------


def profile_json(profile: Profile) -> bytes:
    """Return the result as JSON, every step of every answer in it."""
    return msgspec.json.encode(profile, enc_hook=list)  # a run's columns, as the steps that they are


def write_profile(profile: Profile, path: Path) -> None:
    """Write the result as JSON, or its table as CSV where the name ends so.

    Raises:
        ExportError: the file cannot be written.
    """
    with replacing(path) as file:
        if path.suffix.lower() == ".csv":
            file.write(_table(profile.rows).encode())
        else:
            file.write(msgspec.json.format(profile_json(profile), indent=1))


def write_training(lines: Iterable[TrainingLine], path: Path) -> int:
    """Write prompts with the target's answers as JSON lines to tune a draft on; return how many.

    Raises:
        ExportError: the file cannot be written.
    """
    encoded = [msgspec.json.encode(line) + b"\n" for line in lines]
    with replacing(path) as file:
        file.writelines(encoded)
    return len(encoded)


def training_line(messages: Sequence[ChatMessage], answer: str, stop_reason: RunStop) -> TrainingLine:
    """Put a prompt and the target's own answer to it together."""
    ended = "stop" if stop_reason in _OWN_ENDS else "length"
    return TrainingLine((*messages, ChatMessage("assistant", answer)), ended)


def _table(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    intervals = ("speedup", "answer_s", "decode_tps", "confirmed")
    plain = [name for name in Row.__struct_fields__ if name not in (*intervals, "candidate")]
    parts = ("median", "low", "high")
    writer.writerow(["rank", *Candidate.__struct_fields__, *plain, *(f"{n}_{p}" for n in intervals for p in parts)])
    for rank, row in enumerate(rows, start=1):
        values: list[object] = [rank, *msgspec.structs.astuple(row.candidate), *(getattr(row, n) for n in plain)]
        for name in intervals:
            interval: Interval | None = getattr(row, name)
            values += msgspec.structs.astuple(interval) if interval else ("", "", "")
        writer.writerow(map(as_text, values))
    return text.getvalue()
