"""The commands, put together."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from typer.main import get_command

from app import __version__
from app.cli.command import command
from app.errors import UsageError

_COMMANDS = {
    "infer": ("infer", "InferOptions", "infer"),
    "serve": ("serve", "ServeOptions", "serve"),
    "servers": ("servers", "ServersOptions", "servers"),
    "bench": ("bench", "BenchOptions", "bench"),
    "profile": ("profile", "ProfileOptions", "profile"),
    "selftest": ("selftest", "SelftestOptions", "selftest"),
    "export": ("export", "ExportOptions", "export"),
    "compare": ("compare", "CompareOptions", "compare_sessions"),
    "devices": ("devices", "DevicesOptions", "devices"),
    "doctor": ("doctor", "DoctorOptions", "doctor"),
    "runtime": ("runtime", "RuntimeOptions", "runtime"),
    "pair": ("pair", "PairOptions", "pair"),
    "catalog": ("catalog", "CatalogOptions", "catalog"),
    "list": ("listing", "ListOptions", "list_models"),
    "import": ("importing", "ImportOptions", "import_model"),
    "models-folder": ("models_folder", "ModelsFolderOptions", "move_models"),
    "search": ("search", "SearchOptions", "search"),
    "pull": ("pull", "PullOptions", "pull"),
    "remove": ("remove", "RemoveOptions", "remove"),
}
"""Module, options and function of each command; to import all of them takes longer than most of them take."""
_COMPLETES = "_COMPLETE"

HELP = "Chat with GGUF models on this machine, sped up by speculation that is measured. Without a command: the window."

EXIT_CODES = "Exit codes: 0 done, 1 failed (one line and a hint on standard error), 2 wrong usage, 130 interrupted."


def run(argv: Sequence[str]) -> int:
    """Run one command; return its exit code.

    Raises:
        UsageError: the words of the command line are off.
        SlipstreamError: it failed; the caller says so.
        BrokenPipeError: nobody reads the output any more.
    """
    name = "slipstream" if Path(sys.argv[0]).stem == "slipstream" else "python -m app"
    try:
        code = get_command(_program(_asked(argv))).main(args=list(argv), prog_name=name, standalone_mode=False)
    except SystemExit as end:  # what completes a shell's words ends so
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except typer.Abort:
        return 1
    except Exception as fault:
        if not (words := _of_usage(fault)):
            raise
        raise UsageError(words, f"{_command_of(fault, name)} --help lists what it takes.") from fault
    return code if isinstance(code, int) else 0


def _asked(argv: Sequence[str]) -> str:
    is_completing = any(name.endswith(_COMPLETES) for name in os.environ)
    return argv[0] if argv and not is_completing and argv[0] in (*_COMMANDS, "chats") else ""


def _of_usage(fault: Exception) -> str:
    """Return what the parser of the command line has to say, "" if it is somebody else's fault."""
    words = getattr(fault, "format_message", None)  # typer has its own copy of click's classes, or click's, by version
    return str(words()) if callable(words) else ""


def _command_of(fault: Exception, name: str) -> str:
    return str(getattr(getattr(fault, "ctx", None), "command_path", name))


def _program(only: str = "") -> typer.Typer:
    """Put the commands together, or the one that was asked for: whatever lists them needs all."""
    program = typer.Typer(
        help=HELP,
        epilog=EXIT_CODES,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    program.callback()(_top)
    for name, (module, options, function) in _COMMANDS.items():
        if only in ("", name):
            found = import_module(f"app.cli.{module}")
            program.command(name)(command(getattr(found, options), getattr(found, function)))
    if only in ("", "chats"):
        program.add_typer(import_module("app.cli.chats").program(), name="chats")
    return program


def _top(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=lambda asked: _show(asked))
    ] = False,
) -> None: ...


def _show(asked: bool) -> None:
    if asked:
        typer.echo(f"slipstream {__version__}")
        raise typer.Exit
