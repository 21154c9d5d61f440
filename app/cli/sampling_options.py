"""The options that say how tokens are drawn, the same for every command that answers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

import typer

from app.cli import options
from app.protocol import Sampling

TopK = Annotated[
    int,
    typer.Option(
        "--top-k", metavar="K", min=0, help="Only the K most likely tokens; 0 is off.", rich_help_panel=options.SAMPLING
    ),
]
TopP = Annotated[
    float,
    typer.Option(
        "--top-p",
        metavar="P",
        min=0.0,
        max=1.0,
        help="Only the most likely tokens that make up P; 1 is off.",
        rich_help_panel=options.SAMPLING,
    ),
]
MinP = Annotated[
    float,
    typer.Option(
        "--min-p",
        metavar="P",
        min=0.0,
        max=1.0,
        help="Only tokens at least P times as likely as the best; 0 is off.",
        rich_help_panel=options.SAMPLING,
    ),
]
RepeatPenalty = Annotated[
    float,
    typer.Option(
        "--repeat-penalty",
        "--repetition-penalty",
        metavar="R",
        min=0.01,
        max=100.0,
        help="Divide the odds of tokens that were there lately; 1 is off.",
        rich_help_panel=options.SAMPLING,
    ),
]
PresencePenalty = Annotated[
    float,
    typer.Option(
        "--presence-penalty",
        metavar="P",
        min=-100.0,
        max=100.0,
        help="Take this off tokens that were there lately; 0 is off.",
        rich_help_panel=options.SAMPLING,
    ),
]
FrequencyPenalty = Annotated[
    float,
    typer.Option(
        "--frequency-penalty",
        metavar="P",
        min=-100.0,
        max=100.0,
        help="Take this off for each time that a token was there lately; 0 is off.",
        rich_help_panel=options.SAMPLING,
    ),
]


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """How to draw."""

    temperature: options.Temperature = options.DEFAULTS.temperature
    top_k: TopK = options.DEFAULTS.top_k
    top_p: TopP = options.DEFAULTS.top_p
    min_p: MinP = options.DEFAULTS.min_p
    repeat_penalty: RepeatPenalty = options.DEFAULTS.repeat_penalty
    presence_penalty: PresencePenalty = options.DEFAULTS.presence_penalty
    frequency_penalty: FrequencyPenalty = options.DEFAULTS.frequency_penalty

    def sampling(self, seed: int, grammar: str = "") -> Sampling:
        """Return it as the engine takes it."""
        return Sampling(
            seed=seed, grammar=grammar, **{field.name: getattr(self, field.name) for field in fields(SamplingOptions)}
        )
