"""The commands, put together."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer.main import get_command

from app import __version__
from app.cli.bench import BenchOptions, bench
from app.cli.catalog import CatalogOptions, catalog
from app.cli.chats import program as chats_program
from app.cli.command import command
from app.cli.compare import CompareOptions, compare_sessions
from app.cli.devices import DevicesOptions, devices
from app.cli.doctor import DoctorOptions, doctor
from app.cli.export import ExportOptions, export
from app.cli.importing import ImportOptions, import_model
from app.cli.infer import InferOptions, infer
from app.cli.listing import ListOptions, list_models
from app.cli.models_folder import ModelsFolderOptions, move_models
from app.cli.pair import PairOptions, pair
from app.cli.profile import ProfileOptions, profile
from app.cli.pull import PullOptions, pull
from app.cli.remove import RemoveOptions, remove
from app.cli.runtime import RuntimeOptions, runtime
from app.cli.search import SearchOptions, search
from app.cli.selftest import SelftestOptions, selftest
from app.cli.serve import ServeOptions, serve
from app.errors import UsageError

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
        code = get_command(_program()).main(args=list(argv), prog_name=name, standalone_mode=False)
    except SystemExit as end:  # what completes a shell's words ends so
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except typer.Abort:
        return 1
    except Exception as fault:
        if not (words := _of_usage(fault)):
            raise
        raise UsageError(words, f"{_command_of(fault, name)} --help lists what it takes.") from fault
    return code if isinstance(code, int) else 0


def _of_usage(fault: Exception) -> str:
    """Return what the parser of the command line has to say, "" if it is somebody else's fault."""
    words = getattr(fault, "format_message", None)  # typer has its own copy of click's classes, or click's, by version
    return str(words()) if callable(words) else ""


def _command_of(fault: Exception, name: str) -> str:
    return str(getattr(getattr(fault, "ctx", None), "command_path", name))


def _program() -> typer.Typer:
    program = typer.Typer(
        help=HELP,
        epilog=EXIT_CODES,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    program.callback()(_top)
    program.command("infer")(command(InferOptions, infer))
    program.command("serve")(command(ServeOptions, serve))
    program.command("bench")(command(BenchOptions, bench))
    program.command("profile")(command(ProfileOptions, profile))
    program.command("selftest")(command(SelftestOptions, selftest))
    program.command("export")(command(ExportOptions, export))
    program.command("compare")(command(CompareOptions, compare_sessions))
    program.command("devices")(command(DevicesOptions, devices))
    program.command("doctor")(command(DoctorOptions, doctor))
    program.command("runtime")(command(RuntimeOptions, runtime))
    program.command("pair")(command(PairOptions, pair))
    program.command("catalog")(command(CatalogOptions, catalog))
    program.command("list")(command(ListOptions, list_models))
    program.command("import")(command(ImportOptions, import_model))
    program.command("models-folder")(command(ModelsFolderOptions, move_models))
    program.command("search")(command(SearchOptions, search))
    program.command("pull")(command(PullOptions, pull))
    program.command("remove")(command(RemoveOptions, remove))
    program.add_typer(chats_program(), name="chats")
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
