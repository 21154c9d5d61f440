"""Leaving prompts and paths out of what is handed on.

A prompt of one's own gets a number instead of its name, the same wherever it stands, so that every verdict still
recomputes; the names of the built-in prompts say nothing about anybody and stay. Of a path the last part stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import msgspec

from app.metrics.baseline import Baseline
from app.metrics.export import Metrics
from app.metrics.profile import Candidate, Profile
from app.metrics.prompts import SETS, load_prompts
from app.metrics.values import ModelFacts, Run, SessionInfo
from app.paths import person_dir

OWN_PROMPTS = "own prompts"

_PATH = re.compile(r"""(?<![\w.])(?:[A-Za-z]:[\\/]|\\\\|~\\|~?/|\.\.?[\\/])(?:[^\\/:*?"'<>|\r\n]+[\\/])*(?=[^\\/\s])""")

_LONGEST = 4_000
"""Characters of a line that are looked at."""

_MODEL_PATH = re.compile(
    r"""(?<![^\s"'(\[])(?![(\[])(?:[^\\/:*?"'<>|\s]+[\\/])+(?=[^\\/:*?"'<>|\s]+\.gguf\b)""", re.IGNORECASE
)
"""A model's path that begins with a folder's name: of other words with a slash nobody can tell."""

_REPOSITORY = re.compile(r"(?![.~])[\w.-]+/[\w.-]+(?<!\.gguf)(?::[\w.-]+)?", re.IGNORECASE)

_HOMES = re.compile(
    r"""(?<![\w.])(?:[A-Za-z]:)?[\\/](?:home|Users)[\\/](?:[^\\/:*?"<>|\r\n]+(?=[\\/])|[\w-]+)""", re.IGNORECASE
)
"""People's folders, which are called as people are, with an apostrophe or a space."""


def redacted(metrics: Metrics) -> Metrics:
    """Return the measurements without prompts and paths."""
    names: dict[str, str] = {}
    runs = tuple(_run(run, names) for run in metrics.runs)
    session = metrics.session or SessionInfo(id="", name="", started_at="")
    return msgspec.structs.replace(
        metrics,
        session=msgspec.structs.replace(session, name="", redacted=True),
        target=_model(metrics.target),
        draft=_model(metrics.draft),
        baseline=_baseline(metrics.baseline, names) if metrics.baseline else None,
        baselines=tuple(_baseline(one, names) for one in metrics.baselines),
        runs=runs,
    )


def redacted_profile(profile: Profile) -> Profile:
    """Return what a profile found without prompts, the person's own names for them, and paths."""
    names: dict[str, str] = {}
    drafts = _draft_names(profile)
    prompts = tuple(_alias(name, names) for name in profile.prompts)
    trials = tuple(
        msgspec.structs.replace(
            trial,
            candidate=_candidate(trial.candidate, drafts),
            prompt=_alias(trial.prompt, names),
            speculative=_run(trial.speculative, names),
            plain=_run(trial.plain, names),
        )
        for trial in profile.trials
    )
    rows = tuple(
        msgspec.structs.replace(
            row, candidate=_candidate(row.candidate, drafts), not_engaged=without_paths(row.not_engaged)
        )
        for row in profile.rows
    )
    return msgspec.structs.replace(
        profile,
        target=_model(profile.target),
        prompts=prompts,
        rows=rows,
        unfit={drafts[name]: without_paths(reason) for name, reason in profile.unfit.items()},
        recommended=_candidate(profile.recommended, drafts) if profile.recommended else None,
        advice=tuple(_advice(words, drafts) for words in profile.advice),
        trials=trials,
    )


def _draft_names(profile: Profile) -> dict[str, str]:
    """Return for each draft model what is left of its name; two files of one name are told apart by a number."""
    ways = [*(row.candidate for row in profile.rows), *(trial.candidate for trial in profile.trials)]
    ways += [profile.recommended] if profile.recommended else []
    drafts = dict.fromkeys([*(way.draft for way in ways if way.draft), *profile.unfit])
    names: dict[str, str] = {}
    for draft in drafts:
        name = left = _file_name(draft)
        number = 1
        while left in names.values():
            number += 1
            left = f"{name} ({number})"
        names[draft] = left
    return names


def _candidate(candidate: Candidate, drafts: Mapping[str, str]) -> Candidate:
    """Return a way to draft with the file's name, where its model was named by a path."""
    return msgspec.structs.replace(candidate, draft=drafts[candidate.draft]) if candidate.draft else candidate


def _file_name(model: str) -> str:
    """Return the last part of a model's path, of whatever system; a name, also that of a repository, stays."""
    return model if _REPOSITORY.fullmatch(model) else re.split(r"[\\/]", model)[-1]


def _advice(words: str, drafts: Mapping[str, str]) -> str:
    """Return advice with the names of files for the paths that were given, also those that only we know for paths."""
    if drafts:
        known = "|".join(map(re.escape, sorted(drafts, key=len, reverse=True)))
        words = re.sub(known, lambda found: drafts[found.group()], words)
    return without_paths(words)


def without_paths(text: str) -> str:
    """Return sentences with the last part of every path in them only; of one's own folder not even that.

    Of a line that is longer than any of ours the end is cut off: looking for paths takes the square of its length.
    """
    lines = text.split("\n")
    return "\n".join(_without_paths(line if len(line) <= _LONGEST else line[:_LONGEST] + "…") for line in lines)


def _without_paths(text: str) -> str:
    return _MODEL_PATH.sub("…/", _PATH.sub("…/", _HOMES.sub("~", _without_own_home(text))))


def _without_own_home(text: str) -> str:
    home = person_dir()
    return re.sub(re.escape(str(home)) + r"(?![\w-])", "~", text) if home and len(home.parts) > 1 else text


def _run(run: Run, names: dict[str, str]) -> Run:
    return msgspec.structs.replace(
        run,
        prompt=_alias(run.prompt, names),
        question="",
        error=without_paths(run.error),
        not_engaged=without_paths(run.not_engaged),
        notes=tuple(map(without_paths, run.notes)),
    )


def _baseline(baseline: Baseline, names: dict[str, str]) -> Baseline:
    words = [word.strip() for word in baseline.prompt_set.split(",")]
    prompt_set = baseline.prompt_set if set(words) <= {*SETS, ""} else OWN_PROMPTS
    return msgspec.structs.replace(
        baseline,
        name=prompt_set or baseline.kind,
        prompt_set=prompt_set,
        samples=tuple(
            msgspec.structs.replace(sample, prompt=_alias(sample.prompt, names)) for sample in baseline.samples
        ),
    )


def _model(model: ModelFacts | None) -> ModelFacts | None:
    return None if model is None else msgspec.structs.replace(model, path="")


def _alias(prompt: str, names: dict[str, str]) -> str:
    if not prompt or prompt in _built_in_names():
        return prompt
    return names.setdefault(prompt, f"prompt {len(names) + 1}")


@cache
def _built_in_names() -> frozenset[str]:
    return frozenset(prompt.name for name in SETS for prompt in load_prompts(name))
