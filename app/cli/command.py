"""A command whose options are the fields of one dataclass, instead of twenty arguments."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

import typer

Options = TypeVar("Options")


class Said(frozenset[str]):
    """The names of the options that somebody gave, whatever they hold; in a field of that type."""


_CONTEXT = "context"


def command(options: type[Options], run: Callable[[Options], None]) -> Callable[..., None]:
    """Make the function that typer reads: an argument a field, with the field's annotation and default.

    Args:
        options: a dataclass; each field is annotated with a typer ``Argument`` or ``Option``, or is a dataclass of
            such fields itself, so that commands can share some. A field of :class:`Said` is filled in.
        run: what the command does; its docstring is the help.
    """
    arguments = _arguments(options)

    def from_command_line(**values: Any) -> None:  # noqa: ANN401 - typer has converted them by the fields' types
        context: typer.Context | None = values.pop(_CONTEXT, None)
        run(_make(options, values, Said(name for name in values if context and _is_said(context, name))))

    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in arguments.items()
    ]
    parameters.append(inspect.Parameter(_CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context))
    from_command_line.__doc__ = run.__doc__
    from_command_line.__annotations__ = {one.name: one.annotation for one in parameters}
    from_command_line.__annotations__["return"] = None
    from_command_line.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by inspect
    return from_command_line


def _arguments(options: type[Any]) -> dict[str, tuple[Any, object]]:
    """Return annotation and default by name, those of the fields of a part in its place."""
    hints = get_type_hints(options, include_extras=True)
    found: dict[str, tuple[Any, object]] = {}
    for field in dataclasses.fields(options):
        if hints[field.name] is Said:
            continue
        if _is_part(hints[field.name]):
            found |= _arguments(hints[field.name])
        else:
            found[field.name] = (hints[field.name], _default(field))
    return found


def _make(options: type[Options], values: dict[str, Any], said: Said) -> Options:
    made: dict[str, Any] = {}
    for name, kind in get_type_hints(options).items():
        if kind is Said:
            made[name] = said
        else:
            made[name] = _make(kind, values, said) if _is_part(kind) else values[name]
    return options(**made)


def _is_said(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")


def _is_part(hint: object) -> bool:
    return isinstance(hint, type) and dataclasses.is_dataclass(hint)


def _default(field: dataclasses.Field[Any]) -> object:
    return inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
