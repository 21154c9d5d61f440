"""A command whose options are the fields of one dataclass, instead of twenty arguments."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

Options = TypeVar("Options")


def command(options: type[Options], run: Callable[[Options], None]) -> Callable[..., None]:
    """Make the function that typer reads: an argument a field, with the field's annotation and default.

    Args:
        options: a dataclass; each field is annotated with a typer ``Argument`` or ``Option``.
        run: what the command does; its docstring is the help.
    """
    hints = get_type_hints(options, include_extras=True)

    def from_command_line(**values: Any) -> None:  # noqa: ANN401 - typer has converted them by the fields' types
        run(options(**values))

    parameters = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=_default(field), annotation=hints[field.name]
        )
        for field in dataclasses.fields(options)  # type: ignore[arg-type]  # mypy has no bound for "a dataclass"
    ]
    from_command_line.__doc__ = run.__doc__
    from_command_line.__annotations__ = {**hints, "return": None}
    from_command_line.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by inspect
    return from_command_line


def _default(field: dataclasses.Field[Any]) -> object:
    return inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
