"""What ``infer`` can be told, and what its words mean."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from app.cli import options
from app.cli.completing import model_names
from app.cli.load_options import LoadOptions
from app.engine.gbnf import check as check_grammar
from app.errors import UsageError
from app.host import PairChoice
from app.protocol import Sampling, Speculation

MAX_PROMPT_BYTES = 16 * 1024 * 1024
"""No model reads more; what comes without end on standard input shall not fill the memory."""

_OUTPUT = "What comes out"
_OTHER_PLACES = "Models from elsewhere"

Model = Annotated[
    str | None,
    typer.Argument(
        metavar="MODEL",
        help="A library name, org/repo[:quant], a GGUF file, or 'starter'. With --server a name that it knows; "
        "without one, its first.",
        autocompletion=model_names,
        show_default=False,
    ),
]
Prompts = Annotated[
    list[str] | None,
    typer.Option(
        "-p",
        "--prompt",
        metavar="TEXT",
        help="What to answer; given several times, they are the turns of one conversation. Without it: standard "
        "input, or a conversation.",
    ),
]
Input = Annotated[Path | None, typer.Option("--input", "-i", metavar="FILE", help="Take the prompt from a text file.")]
System = Annotated[
    str, typer.Option("--system-prompt", "-s", metavar="TEXT", help="What the model is told before anything else.")
]
Think = Annotated[
    bool | None,
    typer.Option(
        "--think/--no-think",
        help="Ask a template that has a switch for it for thoughts, or for none; without it, as the template likes.",
        show_default=False,
    ),
]
Slide = Annotated[
    bool,
    typer.Option(
        "--slide",
        "--sliding-window",
        help="When the conversation is longer than the context, leave out its oldest turns and say so, instead of "
        "stopping.",
    ),
]
Stop = Annotated[
    list[str] | None,
    typer.Option(
        "--stop",
        metavar="TEXT",
        help="End the answer before this text; may be given several times.",
        rich_help_panel=options.SAMPLING,
    ),
]
StopFile = Annotated[
    Path | None,
    typer.Option(
        "--stop-file", metavar="FILE", help="The same, a line each in a file.", rich_help_panel=options.SAMPLING
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
Grammar = Annotated[
    str,
    typer.Option(
        "--grammar",
        "--grammar-string",
        metavar="GBNF",
        help="The same as text.",
        rich_help_panel=options.SAMPLING,
    ),
]
AsStream = Annotated[
    bool,
    typer.Option(
        "--stream-json",
        help="Print a line of JSON for each event as it comes, and last the document of --json.",
        rich_help_panel=_OUTPUT,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document and nothing else (see the schema).", rich_help_panel=_OUTPUT),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print the answer without what it cost.", rich_help_panel=_OUTPUT)
]
Plain = Annotated[
    bool,
    typer.Option(
        "--plain", help="On a terminal, show Markdown as it is written instead of drawn.", rich_help_panel=_OUTPUT
    ),
]
Pull = Annotated[
    bool,
    typer.Option(
        "--pull",
        help="Get a model or draft model that is not here (org/repo[:quant]) from the hub without asking.",
        rich_help_panel=_OTHER_PLACES,
    ),
]
Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="Have a running server with OpenAI's API answer, such as http://127.0.0.1:18181. Its key, if it wants "
        "one, is what servers --add has kept, or else comes from SLIPSTREAM_API_KEY.",
        rich_help_panel=_OTHER_PLACES,
    ),
]


@dataclass(frozen=True, slots=True)
class InferOptions:
    """What ``infer`` can be told."""

    model: Model = None
    prompts: Prompts = None
    input: Input = None
    system: System = ""
    draft_model: options.DraftModel = None
    spec_type: options.SpecTypes = None
    draft_tokens: options.DraftTokens = "auto"
    draft_min: options.DraftMin = 0
    draft_p_min: options.DraftPMin = 0.0
    exact: options.Exact = True
    fixed_shape: options.FixedShape = False
    lenient: options.Lenient = 0.0
    temperature: options.Temperature = options.DEFAULTS.temperature
    top_k: options.TopK = options.DEFAULTS.top_k
    top_p: options.TopP = options.DEFAULTS.top_p
    min_p: options.MinP = options.DEFAULTS.min_p
    repeat_penalty: RepeatPenalty = options.DEFAULTS.repeat_penalty
    presence_penalty: PresencePenalty = options.DEFAULTS.presence_penalty
    frequency_penalty: FrequencyPenalty = options.DEFAULTS.frequency_penalty
    seed: options.Seed = None
    stop: Stop = None
    stop_file: StopFile = None
    grammar_file: options.GrammarFile = None
    grammar: Grammar = ""
    max_tokens: options.MaxTokens = 1024
    think: Think = None
    slide: Slide = False
    how: LoadOptions = field(default_factory=LoadOptions)
    pull: Pull = False
    server: Server = None
    as_json: AsJson = False
    as_stream: AsStream = False
    quiet: Quiet = False
    plain: Plain = False

    def check(self) -> None:
        """See before anything is loaded whether the words go together.

        Raises:
            UsageError: they do not.
        """
        if self.server is None:
            if not self.model:
                raise UsageError("Which model is to answer?", "Name one: starter, or one that the command list shows.")
            self.pair()
        elif self.pull:
            raise UsageError("--pull gets models to this machine; a server has its own.", "Leave --pull out.")
        elif self.fixed_shape or self.lenient:
            raise UsageError("--fixed-shape and --lenient are not sent to a server.", "Leave them or --server out.")
        if self.as_json and self.as_stream:
            raise UsageError("--json and --stream-json are two forms of output.", "Give one of them.")
        if self.prompts and self.input is not None:
            raise UsageError("--prompt and --input both say what to answer.", "Give one of them.")
        self.speculation()
        self.sampling()
        self.stop_texts()

    def pair(self) -> PairChoice:
        """What to load, and how.

        Raises:
            UsageError: the words do not go together.
        """
        trees = "tree" in self.speculation().types
        return replace(self.how.pair(self.model or "", self.draft_model), trees=trees)

    def speculation(self) -> Speculation:
        """How to draft.

        Raises:
            UsageError: the words do not go together.
        """
        drafts = options.chosen_speculation(self, self.fixed_shape + self.lenient)
        return options.with_ways(drafts, fixed_shape=self.fixed_shape, lenient=self.lenient)

    def sampling(self) -> Sampling:
        """How to draw; a fresh seed each time unless one is given.

        Raises:
            UsageError: the grammar is none.
        """
        return Sampling(
            seed=options.fresh_seed(self.seed),
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            min_p=self.min_p,
            repeat_penalty=self.repeat_penalty,
            presence_penalty=self.presence_penalty,
            frequency_penalty=self.frequency_penalty,
            grammar=self._grammar(),
        )

    def _grammar(self) -> str:
        if not self.grammar:
            return options.grammar(self.grammar_file)
        if self.grammar_file is not None:
            raise UsageError("--grammar and --grammar-file both say what to keep to.", "Give one of them.")
        check_grammar(self.grammar)
        return self.grammar

    def stop_texts(self) -> tuple[str, ...]:
        """Where an answer ends besides its own end.

        Raises:
            UsageError: the file cannot be read.
        """
        of_file = _read(self.stop_file, "stop texts").splitlines() if self.stop_file is not None else []
        return tuple(dict.fromkeys(filter(None, (*of_file, *map(_text, self.stop or ())))))

    def questions(self) -> tuple[str, ...]:
        """What to answer; none: hold a conversation with whoever sits there.

        Raises:
            UsageError: nothing is asked, or it cannot be read.
        """
        if self.prompts:
            texts = tuple(map(_text, self.prompts))
        elif self.input is not None:
            texts = (_read(self.input, "the prompt"),)
        elif sys.stdin is not None and sys.stdin.isatty():
            texts = ()
        else:
            texts = (_standard_input(),)
        if any(not text.strip() for text in texts):
            raise UsageError("The prompt is empty.", "Give one with -p, or on standard input.")
        if (self.as_json or self.as_stream) and len(texts) != 1:
            word = "--json" if self.as_json else "--stream-json"
            raise UsageError(f"{word} answers one prompt.", "Give it with -p, or on standard input.")
        return texts


def _text(argument: str) -> str:
    """Return a command line argument without the marks that stand for bytes which are no text."""
    return os.fsencode(argument).decode("utf-8", "replace")


def _standard_input() -> str:
    """Read all that comes, as text whatever its bytes are.

    Raises:
        UsageError: it is more than any model reads.
    """
    if sys.stdin is None:  # closed by whoever started us
        return ""
    data = sys.stdin.buffer.read(MAX_PROMPT_BYTES + 1)
    if len(data) > MAX_PROMPT_BYTES:
        raise UsageError(
            f"The prompt is longer than {MAX_PROMPT_BYTES // 1024 // 1024} MB.",
            "Give a part of it that fits a context.",
        )
    return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def _read(path: Path, what: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_PROMPT_BYTES + 1)
    except (OSError, ValueError) as fault:
        words = fault.strerror if isinstance(fault, OSError) else str(fault)
        raise UsageError(f"Cannot read {path}: {words}.", f"Name a text file with {what}.") from fault
    if len(data) > MAX_PROMPT_BYTES:
        raise UsageError(f"{path} is longer than {MAX_PROMPT_BYTES // 1024 // 1024} MB.", f"Name one with {what}.")
    if b"\0" in data:
        raise UsageError(f"{path} is no text.", f"Name a text file with {what}.")
    return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
