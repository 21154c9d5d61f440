"""Started by the private interpreter: find libraries of the system that a bare one lacks, in the bundle's own ``lib``.

The machine's own are taken where it has them: its graphics drivers were built for those. The loader knows a library by
its name once it is loaded, so loading ours by its path is enough for all that asks for it later. It is done when Qt or
llama.cpp is about to be imported: other processes of the program need none of it.
"""

import os.path
import sys

LIBRARIES = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../lib"))  # noqa: PTH100, PTH118, PTH120
NEEDED_BY = {"shiboken6": "qt.txt", "PySide6": "qt.txt", "llama_cpp": "llama.txt"}
"""What is imported, and the list of libraries that it needs, in the order in which they can be loaded."""

_done: set[str] = set()


class Finder:
    """Finds no module ever; looks at who is asked for first."""

    @classmethod
    def find_spec(cls, name: str, _path: object = None, _target: object = None) -> None:
        """Load what a module will need, once."""
        wanted = NEEDED_BY.get(name)
        if wanted is not None and wanted not in _done:
            _done.add(wanted)
            load(wanted)


def load(wanted: str) -> None:
    """Load the libraries of a list."""
    import ctypes

    with open(f"{LIBRARIES}/{wanted}", encoding="ascii") as names:  # noqa: PTH123 - pathlib takes time to import
        for name in names.read().split():
            try:
                ctypes.CDLL(name)
            except OSError:
                ctypes.CDLL(f"{LIBRARIES}/{name}")


sys.meta_path.insert(0, Finder)
