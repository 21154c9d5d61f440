"""What ``infer`` can be told, and what its words mean."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from app.cli import options
from app.cli.command import Said
from app.cli.completing import answering_names
from app.cli.load_options import LoadOptions
from app.cli.sampling_options import SamplingOptions
from app.engine.gbnf import check as check_grammar
from app.errors import UsageError
from app.host import PairChoice
from app.named_files import read_or_hear
from app.protocol import Sampling, Speculation

MAX_PROMPT_BYTES = 16 * 1024 * 1024
"""No model reads more; what comes without end on standard input shall not fill the memory."""

_MOST_DIGITS = 10
_OUTPUT = "What comes out"
_OTHER_PLACES = "Models from elsewhere"

Model = Annotated[
    str | None,
    typer.Argument(
        metavar="MODEL",
        help="A library name, org/repo[:quant], a GGUF file, or 'starter'. With --server a name that it knows; "
        "without one, its first.",
        autocompletion=answering_names,
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
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        "-t",
        metavar="FILE",
        help="Go on with the tokens whose numbers are in a file, as the model sees them: without its chat template.",
    ),
]
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
        help="When the conversation is longer than the context, also in mid-answer, leave out its oldest turns and say "
        "so, instead of stopping.",
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


_KEPT_FROM_SERVERS = {
    "exact": "--exact or --any-rounding",
    "fixed_shape": "--fixed-shape",
    "lenient": "--lenient",
    "slide": "--slide",
    "token_file": "--token-file",
}
"""Options that the API has no field for."""


@dataclass(frozen=True, slots=True)
class InferOptions:
    """What ``infer`` can be told."""

    model: Model = None
    prompts: Prompts = None
    input: Input = None
    token_file: TokenFile = None
    system: System = ""
    draft_model: options.DraftModel = None
    spec_type: options.SpecTypes = None
    draft_tokens: options.DraftTokens = "auto"
    draft_min: options.DraftMin = 0
    draft_p_min: options.DraftPMin = 0.0
    exact: options.Exact = True
    fixed_shape: options.FixedShape = False
    lenient: options.Lenient = 0.0
    draws: SamplingOptions = field(default_factory=SamplingOptions)
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
    said: Said = field(default_factory=Said)

    def check(self) -> None:
        """See before anything is loaded whether the words go together.

        Raises:
            UsageError: they do not.
        """
        if self.server is None:
            if not self.model:
                raise UsageError("Which model is to answer?", "Name one: starter, or one that the command list shows.")
            self.pair()
        else:
            self._check_is_sent()
        if self.as_json and self.as_stream:
            raise UsageError("--json and --stream-json are two forms of output.", "Give one of them.")
        if self.prompts and self.input is not None:
            raise UsageError("--prompt and --input both say what to answer.", "Give one of them.")
        self.speculation()
        self.sampling()
        self.stop_texts()
        if self.token_ids() and (self.prompts or self.input or self.system or self.think is not None or self.slide):
            raise UsageError(
                "--token-file is all that the model sees.", "Leave --prompt, --input, --system-prompt and the like out."
            )

    def token_ids(self) -> tuple[int, ...] | None:
        """The prompt as tokens, if it is given so.

        Raises:
            UsageError: the file holds something else.
        """
        if self.token_file is None:
            return None
        words = _read(self.token_file, "token numbers").replace(",", " ").strip("[] \n").split()
        if not words or not all(word.isascii() and word.isdecimal() and len(word) < _MOST_DIGITS for word in words):
            raise UsageError(
                f"{self.token_file} does not hold token numbers.", "Name a file with numbers such as 1 3087 29871."
            )
        return tuple(map(int, words))

    def _check_is_sent(self) -> None:
        """Refuse what is said and no server hears.

        Raises:
            UsageError: something is.
        """
        if self.pull:
            raise UsageError("--pull gets models to this machine; a server has its own.", "Leave --pull out.")
        unsent = {name: f"--{name.replace('_', '-')}" for name in LoadOptions.kept_from_servers()} | _KEPT_FROM_SERVERS
        if names := [words for name, words in unsent.items() if name in self.said]:
            words = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not sent to a server."
            raise UsageError(words, "Leave that, or --server, out.")

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
        return self.draws.sampling(options.fresh_seed(self.seed), self._grammar())

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
        if self.token_file is not None:
            return (str(self.token_file),)
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
        data = read_or_hear(path, MAX_PROMPT_BYTES)
    except (OSError, ValueError) as fault:
        words = fault.strerror if isinstance(fault, OSError) else str(fault)
        raise UsageError(f"Cannot read {path}: {words}.", f"Name a text file with {what}.") from fault
    if len(data) > MAX_PROMPT_BYTES:
        raise UsageError(f"{path} is longer than {MAX_PROMPT_BYTES // 1024 // 1024} MB.", f"Name one with {what}.")
    if b"\0" in data:
        raise UsageError(f"{path} is no text.", f"Name a text file with {what}.")
    return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
