"""An error crosses a process and comes out as itself."""

from __future__ import annotations

import pytest

from app import errors
from app.errors import SlipstreamError, from_code, import_hint


def family(kind: type[SlipstreamError]) -> list[type[SlipstreamError]]:
    """Return the tree as app/errors.py has it; a module may have a subclass for itself that crosses no process."""
    children = [child for child in kind.__subclasses__() if child.__module__ == errors.__name__]
    return [kind, *(inner for child in children for inner in family(child))]


@pytest.mark.parametrize("kind", family(SlipstreamError))
def test_each_comes_out_as_its_own_class(kind):
    fault = from_code(kind.code, "what", "what next")
    assert type(fault) is kind
    assert (fault.message, fault.hint, str(fault)) == ("what", "what next", "what")


def test_codes_are_distinct():
    codes = [kind.code for kind in family(SlipstreamError)]
    assert len(set(codes)) == len(codes)


def test_a_subclass_without_a_code_does_not_stand_in_for_its_base():
    class InnerError(errors.DecodeError):
        """Known to one module alone."""

    assert type(from_code(InnerError.code, "what")) is errors.DecodeError


def test_an_unknown_code_is_still_an_error():
    assert type(from_code("from the future", "what")) is SlipstreamError


def test_the_drawn_tree_is_complete():
    drawn = {word for word in errors.__doc__.split() if word.endswith("Error")}
    assert drawn == {kind.__name__ for kind in family(SlipstreamError)}


@pytest.mark.parametrize(
    ("said", "library"),
    [
        ("libGL.so.1: cannot open shared object file: No such file or directory", "libGL.so.1"),
        ("libQt6Svg.so.6: cannot open shared object file: No such file or directory", ""),
        ("DLL load failed while importing QtSvg: The specified module could not be found.", ""),
        ("cannot import name 'QtSvg' from 'PySide6' (unknown location)", ""),
        ("No module named 'pyqtgraph'", ""),
    ],
)
def test_only_a_library_of_the_system_is_blamed_on_the_system(said, library):
    hint = import_hint(ImportError(said))
    assert ("system library" in hint) == bool(library)
    assert library in hint
    assert ("install it again" in hint) != bool(library)
