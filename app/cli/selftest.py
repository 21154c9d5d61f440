"""``selftest``: the whole main job on the starter model, without a screen, with its results checked."""

from __future__ import annotations

import asyncio
import csv
import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.chat.conversation import Conversation, Message
from app.chat.titles import title_of
from app.cli.answer_lines import accept_text
from app.cli.hosting import host, load
from app.cli.measure import WARM_UP, Measured, Trial, identical_to_plain, interleave, is_off, measure, warm_up
from app.cli.pictures import renderer
from app.engine.client import UNWATCHED_S
from app.errors import SlipstreamError
from app.host import Host, PairChoice
from app.host.answer_stats import stats_of
from app.metrics.atomic import replacing
from app.metrics.baseline import record
from app.metrics.export import Metrics, read_json
from app.metrics.prompts import Prompt, load_prompts
from app.metrics.recorder import SessionLog, spec_name
from app.metrics.session_export import prepared, write_session
from app.metrics.verdict import MIN_PAIRS
from app.protocol import Engagement, Sampling, Speculation

STARTER = "starter"
PROMPT_SET = "edit, quotes, code"
MAX_TOKENS = 40
N_CTX = 2048
OFF = Speculation()
NGRAM = Speculation(types=("ngram",), draft_tokens=4)
DRAFT = Speculation(types=("draft-simple",), draft_tokens=4)
GREEDY = Sampling(seed=1, temperature=0.0)
SAMPLED = Sampling(seed=1, temperature=0.8)
FORMULA = r"\frac{1}{2}"
PNG = b"\x89PNG\r\n\x1a\n"
PICTURES = ("chart.png", "window.png")

_REPORT = "Please report this, with the files in the output folder."


@dataclass(frozen=True, slots=True)
class SelftestOptions:
    """What ``selftest`` can be told."""

    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the results; made if missing.")]


def selftest(chosen: SelftestOptions) -> None:
    """Chat with the starter model with and without speculation, check that the text is the same, and export it all."""
    _check_folder(chosen.out)
    session, measured = asyncio.run(_measure())
    metrics = session.to_metrics()
    metrics = msgspec.structs.replace(metrics, runs=tuple(run for run in metrics.runs if run.prompt != WARM_UP))
    _check_answers(metrics, measured)
    for comparison in metrics.comparisons:
        _say(f"{comparison.spec_type} at temperature {comparison.temperature:g}: {comparison.words}")
    _say(f"Writing to {chosen.out}")
    metrics = prepared(metrics)
    write_session(metrics, chosen.out)
    _draw(session, metrics, measured, chosen.out)
    _check_files(metrics, chosen.out)
    _say("All is well: metrics.json, metrics.csv, steps.csv, report.md, report.html, chart.png, window.png.")


def _check_folder(out: Path) -> None:
    """Find out before the work whether its results can be written.

    Raises:
        ExportError: they cannot.
    """
    with replacing(out / "report.md") as file:
        file.write(b"The self-test has not come to its end.\n")


async def _measure() -> tuple[SessionLog, list[Measured]]:
    prompts = (*load_prompts("edit")[:3], *load_prompts("quotes"), *load_prompts("code")[:2])
    async with host(UNWATCHED_S) as owner:
        _say("Loading the starter model, and once more to draft for itself")
        await load(owner, PairChoice(STARTER, STARTER, n_ctx=N_CTX))
        await warm_up(owner, prompts[0], (OFF, DRAFT), GREEDY)
        drafted = [Trial(prompt, DRAFT) for prompt in prompts[:2]]
        greedy = await _run(owner, drafted, GREEDY)
        sampled = await _run(owner, [*drafted, *interleave(prompts[:2], (OFF, NGRAM), 1)], SAMPLED)
        _say("Loading the starter model alone")
        loaded = await load(owner, PairChoice(STARTER, n_ctx=N_CTX))
        _say(f"{loaded.target.name}, {loaded.target.quantisation}, on {loaded.device}, {loaded.n_threads} threads")
        pairs = await _run(owner, interleave(prompts, (NGRAM, OFF), 1), GREEDY)  # ends on a drafted answer
        plain = (one.run for one in pairs if is_off(one.trial.speculation))
        owner.session.baseline = record(plain, prompt_set=PROMPT_SET)[0]
    greedy += pairs
    _check_identical(greedy, "greedy")
    _check_identical(sampled, "sampled")
    return owner.session, greedy + sampled


async def _run(owner: Host, trials: Sequence[Trial], sampling: Sampling) -> list[Measured]:
    measured = []
    async with aclosing(measure(owner, trials, sampling, MAX_TOKENS)) as results:
        async for one in results:
            measured.append(one)
            run = one.run
            speed = "too short for a speed" if run.decode_tps is None else f"{run.decode_tps:.1f} tok/s"
            accept = (
                "" if is_off(one.trial.speculation) else f", draft accept: {accept_text(run.accepted, run.proposed)}"
            )
            way = f"{spec_name(one.trial.speculation)}, temperature {sampling.temperature:g}"
            _say(f"  {run.prompt} ({way}): {run.tokens} tokens, {speed}{accept}")
    return measured


def _check_identical(measured: Sequence[Measured], kind: str) -> None:
    differing = [
        f"{name} with {spec_name(way)}" for (name, way), same in identical_to_plain(measured).items() if not same
    ]
    if differing:
        raise SlipstreamError(
            f"{kind.capitalize()} text with speculation differs from plain: {', '.join(differing)}.", _REPORT
        )
    _say(f"{kind.capitalize()} text is the same with and without speculation, token for token")


def _check_answers(metrics: Metrics, measured: Sequence[Measured]) -> None:
    """Find an answer that failed, a drafter that did not take part, or too few pairs."""
    for one in measured:
        run = one.run
        if run.error or not run.steps:
            raise SlipstreamError(f"The answer to {run.prompt} failed: {run.error or 'no tokens'}.", _REPORT)
        if run.spec_type != "none" and not run.engaged:
            raise SlipstreamError(f"{run.spec_type} did not take part: {run.not_engaged}", _REPORT)
    for kind in ("ngram", "draft-simple"):
        if not any(one.run.judged for one in measured if one.run.spec_type == kind):
            raise SlipstreamError(f"{kind} drafted nothing.", _REPORT)
    if max((comparison.n_pairs for comparison in metrics.comparisons), default=0) < MIN_PAIRS:
        raise SlipstreamError(f"Fewer than {MIN_PAIRS} pairs of answers were long enough to compare.", _REPORT)


def _draw(session: SessionLog, metrics: Metrics, measured: Sequence[Measured], out: Path) -> None:
    """Draw the charts, the window, and a formula, which takes a process and a part of Qt of its own.

    Raises:
        SlipstreamError: Qt cannot start here, or draws no formula.
    """
    render = renderer()
    render.render_chart(metrics, out / PICTURES[0])
    render.render_window(session, _conversation(measured), out / PICTURES[1])
    if not render.draws_formula(FORMULA):
        raise SlipstreamError(f"The formula {FORMULA} cannot be drawn here.", _REPORT)
    _say("A formula is drawn")


def _conversation(measured: Sequence[Measured]) -> Conversation:
    """Make the conversation that the window shows: two prompts and their answers with n-gram drafts."""
    shown = [one for one in measured if one.trial.speculation == NGRAM][:2]
    messages: list[Message] = []
    for one in shown:
        at = datetime.fromisoformat(one.run.requested_at)
        messages.append(Message(role="user", text=_asked(one.trial.prompt), created_at=at))
        engagement = Engagement(one.run.engaged, "ngram", one.run.draft_tokens, one.run.not_engaged)
        stats = stats_of(one.run, engagement)
        messages.append(Message(role="assistant", text=one.text, created_at=at, stats=stats))
    begun = messages[0].created_at
    numbered = tuple(
        msgspec.structs.replace(message, id=i, parent_id=i - 1 or None) for i, message in enumerate(messages, start=1)
    )
    return Conversation(
        id=1,
        title=title_of(messages),
        created_at=begun,
        updated_at=messages[-1].created_at,
        messages=numbered,
    )


def _asked(prompt: Prompt) -> str:
    return prompt.messages[-1].content


def _check_files(metrics: Metrics, out: Path) -> None:
    """Read everything back.

    Raises:
        SlipstreamError: a file is missing or does not hold what was measured.
    """
    if read_json(out / "metrics.json") != metrics:
        raise SlipstreamError("metrics.json does not read back as what was measured.", _REPORT)
    for name, n_rows in (
        ("metrics.csv", len(metrics.runs)),
        ("steps.csv", sum(len(run.steps) for run in metrics.runs)),
    ):
        with (out / name).open(encoding="utf-8", newline="") as file:
            found = sum(1 for _row in csv.DictReader(file))
        if found != n_rows:
            raise SlipstreamError(f"{name} has {found} rows, not {n_rows}.", _REPORT)
    if not (out / "report.md").read_text(encoding="utf-8").startswith("# "):
        raise SlipstreamError("report.md is empty.", _REPORT)
    for name in PICTURES:
        picture = (out / name).read_bytes() if (out / name).is_file() else b""
        if not picture.startswith(PNG) or not picture.endswith(b"IEND\xaeB`\x82"):
            raise SlipstreamError(f"{name} is not a whole PNG picture.", _REPORT)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
