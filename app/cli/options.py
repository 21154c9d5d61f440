"""The options that several commands share, and what their words mean.

What this version cannot do yet is refused with a sentence and exit code 2, never taken and ignored.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal, Protocol

import typer
from msgspec import structs

from app.cli.completing import draft_names, model_names
from app.cli.completing import spec_types as spec_type_words
from app.engine.gbnf import check
from app.errors import UsageError
from app.named_files import read_or_hear
from app.protocol import MAX_DRAFT_TOKENS, SPEC_TYPE_ALIASES, Sampling, SpecType, Speculation
from app.protocol import DraftTokens as Length

SPEC_TYPES: tuple[SpecType, ...] = ("none", "ngram", "draft-simple", "draft-mtp", "tree")
LENGTH_RULES: tuple[Literal["auto", "rolling"], ...] = ("auto", "rolling")
DEFAULTS = Sampling(seed=0)
"""Where the sampling options start from."""

BenchTarget = Annotated[
    str,
    typer.Argument(metavar="TARGET", help="A library name, a GGUF file, or 'starter'.", autocompletion=model_names),
]
_MOST_GRAMMAR_BYTES = 1 << 20
DRAFTING = "Drafting"
SAMPLING = "Sampling"
LOADING = "How the models are loaded"
"""Headings in ``--help``."""

DraftModel = Annotated[
    str | None,
    typer.Option(
        "--draft-model",
        metavar="M",
        autocompletion=draft_names,
        help="A smaller model with the same vocabulary, or a file of MTP heads, to draft with.",
        rich_help_panel=DRAFTING,
    ),
]
SpecTypes = Annotated[
    str | None,
    typer.Option(
        "--spec-type",
        metavar="TYPE[,TYPE]",
        autocompletion=spec_type_words,
        help="Who drafts: draft-simple (a draft model), draft-mtp (heads in the model, or in the file of "
        "--draft-model), ngram (what the text has said before; needs no second model), "
        "tree (a draft model or heads, with branches where they are unsure; --draft-tokens counts its nodes), none. Of "
        "several the first "
        "that has something drafts, as in ngram,draft-simple. "
        "Without it: with a draft model and the length auto ngram,draft-simple, with another length draft-simple; "
        "without a draft model none.",
        rich_help_panel=DRAFTING,
    ),
]
DraftTokens = Annotated[
    str,
    typer.Option(
        "--draft-tokens",
        metavar="auto|rolling|N",
        help="How many tokens are drafted at once, at most: N, 0 (off) to 31; auto: what pays by measured costs, "
        "nothing where nothing pays; rolling: 3 to 8 by how many were kept lately, whatever they cost.",
        rich_help_panel=DRAFTING,
    ),
]
DraftMin = Annotated[
    int,
    typer.Option(
        "--draft-min",
        metavar="N",
        min=0,
        max=MAX_DRAFT_TOKENS,
        help="Drafts shorter than this are thrown away; 0 and 1 use all.",
        rich_help_panel=DRAFTING,
    ),
]
DraftPMin = Annotated[
    float,
    typer.Option(
        "--draft-p-min",
        metavar="P",
        min=0.0,
        max=1.0,
        help="A draft ends before a token that the drafter itself gives less than this probability; 0 is off. "
        "For draft-simple and draft-mtp.",
        rich_help_panel=DRAFTING,
    ),
]
Exact = Annotated[
    bool,
    typer.Option(
        "--exact/--any-rounding",
        help="Keep drafts so short that they are computed with plain decoding's rounding and cannot change a word, if "
        "there is such a length: it is seen when the model is loaded. With any rounding they may be longer.",
        rich_help_panel=DRAFTING,
    ),
]
FixedShape = Annotated[
    bool,
    typer.Option(
        "--fixed-shape",
        help="Every pass that verifies has as many rows as the longest draft needs, padded, for devices that compile a "
        "graph for one batch size. The answer stays the same; with a rule for the length drafts are 4 tokens at most.",
        rich_help_panel=DRAFTING,
    ),
]
Lenient = Annotated[
    float,
    typer.Option(
        "--lenient",
        metavar="P",
        min=0.0,
        max=1.0,
        help="LOSSY: also keep a draft token that is typical of the model though it would have said another: its "
        "probability is at least P, or less where the model wavers. The smaller P, the more is kept; 0 is off. This "
        "changes the answer, so it counts in no verdict.",
        rich_help_panel=DRAFTING,
    ),
]
Temperature = Annotated[
    float,
    typer.Option(
        "--temperature",
        metavar="T",
        min=0.0,
        max=100.0,
        help="0 takes the most likely token each time.",
        rich_help_panel=SAMPLING,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="S",
        min=0,
        max=2**32 - 1,
        help="Repeats a sampled answer; without it, random.",
        rich_help_panel=SAMPLING,
    ),
]
GrammarFile = Annotated[
    Path | None,
    typer.Option(
        "--grammar-file",
        "--grammar-path",
        metavar="FILE",
        help="The answer keeps to this grammar (GBNF, as llama.cpp has it; it starts with the rule root).",
        rich_help_panel=SAMPLING,
    ),
]
Context = Annotated[
    int,
    typer.Option(
        "--nctx",
        metavar="N",
        min=0,
        help="Context length in tokens; 0 is as long as the model was trained for.",
        rich_help_panel=LOADING,
    ),
]
Threads = Annotated[
    int,
    typer.Option(
        "--threads",
        metavar="N",
        min=0,
        max=512,
        help="Threads to compute with; 0 is one for each fast physical core.",
        rich_help_panel=LOADING,
    ),
]
MaxTokens = Annotated[int, typer.Option("--max-tokens", metavar="N", min=1, help="Longest answer.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else (see the schema).")]

FactsAsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def spec_types(text: str | None, draft_model: str | None, *, is_auto: bool = False) -> tuple[SpecType, ...]:
    """Read ``--spec-type``; empty means off. Where the length is ``auto``, n-gram is at hand unless others are named.

    Raises:
        UsageError: an unknown type, or one that needs a draft model.
    """
    if text is None:
        first: tuple[SpecType, ...] = ("ngram",) if is_auto else ()
        return (*first, "draft-simple") if draft_model else ()
    types: list[SpecType] = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        kind = SPEC_TYPE_ALIASES.get(word) or next((known for known in SPEC_TYPES if known == word), None)
        if kind is None:
            later = "; drafting with EAGLE-3 heads is not ready" if word == "draft-eagle3" else ""
            raise _unknown("--spec-type", word, ", ".join(SPEC_TYPES) + later)
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
    if draft_model and not {"draft-simple", "draft-mtp", "tree"} & set(types):
        raise UsageError(
            "--draft-model is given, but --spec-type does not use it.",
            "Add draft-simple or draft-mtp to --spec-type, or leave it out.",
        )


def check_something_drafts(spec_type: str | None, drafts: Speculation, length: Length, others: float) -> None:
    """Refuse options of drafting where nobody drafts and nobody said that this is meant.

    Raises:
        UsageError: a length, or one of the ``others``, is given, and neither a type nor a draft model.
    """
    if spec_type is None and not drafts.types and (length not in ("auto", 0) or others):
        raise UsageError(
            "How to draft is said, but not who drafts.",
            "Add --spec-type ngram, or a draft model with --draft-model, or leave --draft-tokens and its like out.",
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


def with_ways(drafts: Speculation, *, fixed_shape: bool, lenient: float) -> Speculation:
    """Add how drafts are verified, unless nothing is drafted."""
    return structs.replace(drafts, fixed_shape=fixed_shape, lenient=lenient) if drafts.types else drafts


def by_file(drafts: Speculation, can: Collection[SpecType]) -> Speculation:
    """Draft with a file of heads as heads do, where nobody said how; what it is, shows when it is loaded (``can``)."""
    if "draft-mtp" not in can or "draft-simple" in can:
        return drafts
    return structs.replace(
        drafts, types=tuple("draft-mtp" if kind == "draft-simple" else kind for kind in drafts.types)
    )


def speculation(
    types: Sequence[SpecType], length: Length, draft_min: int = 0, p_min: float = 0.0, *, exact: bool = True
) -> Speculation:
    """Put together how to draft; no type or length 0 is off.

    Raises:
        UsageError: the shortest draft is longer than the longest.
    """
    if not types or length == 0:
        return Speculation()
    if isinstance(length, int) and draft_min > length:
        raise UsageError(f"--draft-min {draft_min} is more than --draft-tokens {length}.", "No draft could be used.")
    return Speculation(types=tuple(types), draft_tokens=length, draft_min=draft_min, p_min=p_min, exact=exact)


def grammar(path: Path | None) -> str:
    """Read a grammar; "" without one. What only llama.cpp finds in it is said when it answers.

    Raises:
        UsageError: there is no such text, or it is one that llama.cpp must not be given.
    """
    if path is None:
        return ""
    try:
        data = read_or_hear(path, _MOST_GRAMMAR_BYTES)
        text = data[:_MOST_GRAMMAR_BYTES].decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as fault:
        raise UsageError(f"Cannot read {path}: {fault.strerror}.", "Name a text file with a GBNF grammar.") from fault
    except UnicodeDecodeError as fault:
        raise UsageError(f"{path} is not text in UTF-8.", "Name a text file with a GBNF grammar.") from fault
    if len(data) > _MOST_GRAMMAR_BYTES:
        raise UsageError(f"{path} is longer than any grammar.", "Name a text file with a GBNF grammar.")
    if not text.strip():
        raise UsageError(f"{path} is empty.", "A grammar has at least the rule root, as in: root ::= [0-9]+")
    check(text)
    return text


def fresh_seed(seed: int | None) -> int:
    """The seed that was asked for, or a random one."""
    return secrets.randbelow(2**32) if seed is None else seed


def _unknown(option: str, word: str, known: str) -> UsageError:
    return UsageError(f"{option} {word or '(empty)'} is not known.", f"It knows {known}.")


class DraftChoice(Protocol):
    """The options of a command that drafts one way."""

    @property
    def draft_tokens(self) -> str:
        """Length, as it was written."""

    @property
    def spec_type(self) -> str | None:
        """Who drafts, as it was written."""

    @property
    def draft_model(self) -> str | None:
        """Name of a draft model."""

    @property
    def draft_min(self) -> int:
        """Shortest draft."""

    @property
    def draft_p_min(self) -> float:
        """Probability below which a draft ends."""

    @property
    def exact(self) -> bool:
        """Whether no draft may tip a near tie."""


def chosen_speculation(chosen: DraftChoice, others: float = 0.0) -> Speculation:
    """Put together how to draft from the options of a command; ``others`` is not 0 if it has more of them, in use.

    Raises:
        UsageError: the words do not go together.
    """
    length = draft_length(chosen.draft_tokens)
    types = spec_types(chosen.spec_type, chosen.draft_model, is_auto=length == "auto")
    check_draft_used(chosen.draft_model, types)
    drafts = speculation(types, length, chosen.draft_min, chosen.draft_p_min, exact=chosen.exact)
    check_something_drafts(chosen.spec_type, drafts, length, chosen.draft_min + chosen.draft_p_min + others)
    return drafts
