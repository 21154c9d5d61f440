"""The options that several commands share, and what their words mean.

What this version cannot do yet is refused with a sentence and exit code 2, never taken and ignored.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

import typer

from app.errors import UsageError
from app.protocol import MAX_DRAFT_TOKENS, Sampling, SpecType, Speculation
from app.protocol import DraftTokens as Length

SPEC_TYPES: tuple[SpecType, ...] = ("none", "ngram", "draft-simple", "draft-mtp")
LENGTH_RULES: tuple[Literal["auto", "rolling"], ...] = ("auto", "rolling")
ALIASES: dict[str, SpecType] = {"ngram-mod": "ngram"}
_LATER = {"tree": "drafting token trees"}
DEFAULTS = Sampling(seed=0)
"""Where the sampling options start from."""

Target = Annotated[str, typer.Argument(metavar="MODEL", help="A library name, a GGUF file, or 'starter'.")]
BenchTarget = Annotated[str, typer.Argument(metavar="TARGET", help="A library name, a GGUF file, or 'starter'.")]
DraftModel = Annotated[
    str | None,
    typer.Option("--draft-model", metavar="M", help="A smaller model with the same vocabulary, to draft with."),
]
SpecTypes = Annotated[
    str | None,
    typer.Option(
        "--spec-type",
        metavar="TYPE[,TYPE]",
        help="none, draft-simple (needs --draft-model), draft-mtp (heads in the model, or --draft-model) or ngram; "
        "several are tried in order. "
        "Without it: draft-simple if there is a draft model, else none.",
    ),
]
DraftTokens = Annotated[
    str,
    typer.Option(
        "--draft-tokens",
        metavar="auto|rolling|N",
        help="Longest draft, 0 to 31 (0 is off); auto takes what pays, rolling follows acceptance alone.",
    ),
]
DraftMin = Annotated[
    int,
    typer.Option(
        "--draft-min", metavar="N", min=0, max=MAX_DRAFT_TOKENS, help="Drafts shorter than this are not used."
    ),
]
DraftPMin = Annotated[
    float,
    typer.Option(
        "--draft-p-min", metavar="P", min=0.0, max=1.0, help="A draft ends where its token is less likely than this."
    ),
]
Temperature = Annotated[
    float,
    typer.Option("--temperature", metavar="T", min=0.0, max=100.0, help="0 takes the most likely token each time."),
]
TopK = Annotated[int, typer.Option("--top-k", metavar="K", min=0, help="Only the K most likely tokens; 0 is off.")]
TopP = Annotated[
    float,
    typer.Option(
        "--top-p", metavar="P", min=0.0, max=1.0, help="Only the most likely tokens that make up P; 1 is off."
    ),
]
MinP = Annotated[
    float,
    typer.Option(
        "--min-p", metavar="P", min=0.0, max=1.0, help="Only tokens at least P times as likely as the best; 0 is off."
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="S", min=0, max=2**32 - 1, help="Repeats a sampled answer; without it, random."),
]
MaxTokens = Annotated[int, typer.Option("--max-tokens", metavar="N", min=1, help="Longest answer.")]
Context = Annotated[int, typer.Option("--nctx", metavar="N", min=32, help="Context length in tokens.")]
Threads = Annotated[int, typer.Option("--threads", metavar="N", min=0, help="Threads to compute with; 0 chooses.")]
Compute = Annotated[str, typer.Option("--compute", metavar="DEVICE", help="Where to run: cpu.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else (see the schema).")]

FactsAsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def check_compute(compute: str) -> None:
    """Accept the devices that this version runs on.

    Raises:
        UsageError: another device.
    """
    if compute != "cpu":
        raise UsageError(f"--compute {compute}: this version runs on the cpu only.", "Leave --compute out.")


def spec_types(text: str | None, draft_model: str | None) -> tuple[SpecType, ...]:
    """Read ``--spec-type``; empty means off.

    Raises:
        UsageError: an unknown type, or one that needs a draft model.
    """
    if text is None:
        return ("draft-simple",) if draft_model else ()
    types: list[SpecType] = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        kind = ALIASES.get(word) or next((known for known in SPEC_TYPES if known == word), None)
        if kind is None:
            raise _unknown("--spec-type", word, ", ".join(SPEC_TYPES))
        if kind != "none" and kind not in types:
            types.append(kind)
    if "draft-simple" in types and not draft_model:
        raise UsageError("--spec-type draft-simple needs a draft model.", "Name one with --draft-model.")
    return tuple(types)


def check_draft_used(draft_model: str | None, types: Iterable[SpecType]) -> None:
    """Refuse a draft model that would be loaded for nothing.

    Raises:
        UsageError: there is one, and no type uses it.
    """
    if draft_model and not {"draft-simple", "draft-mtp"} & set(types):
        raise UsageError(
            "--draft-model is given, but --spec-type does not use it.",
            "Add draft-simple or draft-mtp to --spec-type, or leave it out.",
        )


def draft_length(text: str) -> Length:
    """Read one draft length.

    Raises:
        UsageError: neither a rule nor a whole number from 0 to the longest draft.
    """
    word = text.strip()
    for rule in LENGTH_RULES:
        if word == rule:
            return rule
    if not word.isdecimal() or int(word) > MAX_DRAFT_TOKENS:
        raise _unknown("--draft-tokens", word, f"auto, rolling and whole numbers from 0 to {MAX_DRAFT_TOKENS}")
    return int(word)


def draft_lengths(text: str) -> tuple[Length, ...]:
    """Read a list of draft lengths, each once, in the order given.

    Raises:
        UsageError: one of them is no draft length, or there is none.
    """
    lengths = tuple(dict.fromkeys(draft_length(word) for word in text.split(",") if word.strip()))
    if not lengths:
        raise UsageError("--draft-tokens is empty.", "Give lengths such as 0,2,4.")
    return lengths


def positions(text: str, n_ctx: int) -> tuple[int, ...]:
    """Read a list of context positions, each once, in ascending order.

    Raises:
        UsageError: one leaves no room for the longest pass in a context of ``n_ctx`` tokens, or there is none.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    last = n_ctx - MAX_DRAFT_TOKENS - 1
    for word in words:
        if not word.isdecimal() or int(word) > last:
            raise UsageError(
                f"--at {word}: not a position in this context.", f"Name numbers from 0 to {last}, or raise --nctx."
            )
    if not words:
        raise UsageError("--at is empty.", "Name positions such as 0,512,2048.")
    return tuple(sorted({int(word) for word in words}))


def speculation(types: Sequence[SpecType], length: Length, draft_min: int = 0, p_min: float = 0.0) -> Speculation:
    """Put together how to draft; no type or length 0 is off.

    Raises:
        UsageError: the shortest draft is longer than the longest.
    """
    if not types or length == 0:
        return Speculation()
    if isinstance(length, int) and draft_min > length:
        raise UsageError(f"--draft-min {draft_min} is more than --draft-tokens {length}.", "No draft could be used.")
    return Speculation(types=tuple(types), draft_tokens=length, draft_min=draft_min, p_min=p_min)


def fresh_seed(seed: int | None) -> int:
    """The seed that was asked for, or a random one."""
    return secrets.randbelow(2**32) if seed is None else seed


def _unknown(option: str, word: str, known: str) -> UsageError:
    if word in _LATER:
        return UsageError(f"{option} {word}: {_LATER[word]} is not in this version.", f"It knows {known}.")
    return UsageError(f"{option} {word or '(empty)'} is not known.", f"It knows {known}.")
