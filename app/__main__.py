"""Start the window, one of our processes, or a command.

Nothing heavy is imported before it is known which: the window paints first, and a child process of ours loads no more
than it needs. Exit codes: 0 done, 1 failed (one line and a hint on stderr), 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from app.errors import UNWRITABLE, SlipstreamError, UsageError

PROCESSES = {
    "worker": "app.engine.worker",
    "probe": "app.engine.devices",
    "trial": "app.engine.dry_load",
    "template": "app.engine.template",
    "bandwidth": "app.metrics.bandwidth",
    "pdf": "app.chat.pdf_text",
    "formula": "app.chat.formula_drawing",
}
"""Roles of our own child processes; they set up their own streams and logging."""

DONE, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130

COMPLETING = "_SLIPSTREAM_COMPLETE"
"""Set by a shell that wants to complete a command line; it gives the words in other variables."""

logger = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the arguments say; return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments and arguments[0] in PROCESSES:
        return int(import_module(PROCESSES[arguments[0]]).main() or DONE)
    if all(map(_is_model, arguments)) and COMPLETING not in os.environ:
        return main_window(arguments)
    _speak_utf8()
    _log_to("commands.log")
    return _guarded(lambda: int(import_module("app.cli.program").run(arguments)))


def main_window(files: Sequence[str] = ()) -> int:
    """Open the window, with model files to look at; return the exit code."""
    _speak_utf8()
    _log_to("slipstream.log")
    return _guarded(lambda: int(import_module("app.ui.app").main(files) or DONE), _say_in_a_window)


def _is_model(word: str) -> bool:
    """Tell a model file, which a file manager opens with us, from a command."""
    return word.lower().endswith(".gguf") and not word.startswith("-")


def _guarded(run: Callable[[], int], say: Callable[[str, str], None] | None = None) -> int:
    """Turn what a person can do something about into one line and a hint, and the rest into one line and a log."""
    say = say or _say
    try:
        code = run()
        if sys.stdout is not None:
            sys.stdout.flush()  # here a full disk can still be told; the interpreter's end has no words for it
    except SlipstreamError as fault:
        logger.info("%s: %s", fault.code, fault.message, exc_info=True)
        say(f"error: {fault.message}", fault.hint)
        return WRONG_USAGE if isinstance(fault, UsageError) else FAILED
    except BrokenPipeError:
        _let_go_of_stdout()
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as fault:
        if isinstance(fault, OSError) and fault.filename is None and fault.errno in UNWRITABLE:
            _let_go_of_stdout()
            _say(f"error: The output cannot be written: {fault.strerror or fault}.", "Is the disk full?")
            return FAILED
        if isinstance(fault, OSError) and (trouble := _trouble_with_folders()):
            from app.paths import bundle_dir, way_to_write

            say(f"error: {trouble}", way_to_write(bundle_dir()))
            return FAILED
        logger.exception("unexpected")
        say(f"internal error: {type(fault).__name__}: {fault}", f"Please report it; the details are in {_log_place()}.")
        return FAILED
    return code


def _say(line: str, hint: str) -> None:
    """Write one line and a hint to stderr, if there is one (a window program on Windows has none)."""
    if sys.stderr is None:
        return
    lines = [line, f"hint: {hint}"] if hint else [line]
    words = (" ".join(text.split()) for text in lines)
    # A file may be called anything; its name shall not move the cursor or set the title.
    sys.stderr.write("".join("".join(filter(str.isprintable, text)) + "\n" for text in words))


def _say_in_a_window(line: str, hint: str) -> None:
    """Say it, and in an installed program show it, too, where nobody watches a terminal."""
    from app.paths import bundle_dir

    _say(line, hint)
    if bundle_dir() is not None and (sys.stderr is None or not sys.stderr.isatty()):
        words = line.partition(": ")[2]
        import_module("app.ui.last_words").show(words[:1].upper() + words[1:], hint)


def _trouble_with_folders() -> str:
    """Say which of our folders cannot be made, and why; "" if all are there."""
    from app.paths import cache_dir, config_dir, data_dir

    try:
        for folder in (data_dir, config_dir, cache_dir):
            folder()
    except OSError as fault:
        return f"The folder {fault.filename} cannot be made: {fault.strerror}."
    return ""


def _let_go_of_stdout() -> None:
    """Give the interpreter something that it can flush at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _speak_utf8() -> None:
    """Read and write UTF-8 whatever the console's code page is; never fail over a character."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def _log_to(name: str) -> None:
    """Send the log to a rotating file, and nothing of it to the terminal."""
    from logging.handlers import RotatingFileHandler

    from app.paths import log_dir

    logging.raiseExceptions = (
        False  # two processes may rotate one file; a lost line is no reason to write on a terminal
    )
    handler: logging.Handler
    try:
        handler = RotatingFileHandler(log_dir() / name, maxBytes=1_000_000, backupCount=3, encoding="utf-8", delay=True)
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def _log_place() -> str:
    from app.paths import log_dir

    try:
        return str(log_dir())
    except OSError:
        return "no file: the log folder cannot be written"


if __name__ == "__main__":
    sys.exit(main())
