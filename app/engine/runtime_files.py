"""What a runtime's folder holds, by the names of its files alone."""

from __future__ import annotations

import os
import re
import sys
from importlib import util
from pathlib import Path
from typing import Final

RPC: Final = "rpc"
"""The backend that lends devices of other processes and machines."""

_CASE: Final = re.IGNORECASE if sys.platform == "win32" else re.NOFLAG
"""Windows finds a file whatever the case of its name, and so do those who pack for it."""

_LLAMA: Final = re.compile(r"^(?:lib)?llama\.(?:so|dll|dylib)$", _CASE)
_BACKEND: Final = re.compile(r"^(?:lib)?ggml-([a-z0-9]+)\.(?:so|dll|dylib)$", _CASE)
_PROCESSOR: Final = re.compile(r"^(?:lib)?ggml-cpu(?:-[a-z0-9_.-]+)?\.(?:so|dll|dylib)$", _CASE)
_CODE: Final = re.compile(r"\.(?:so(?:\.[0-9.]+)?|dll|dylib|cat|cl|metal|metallib)$", re.IGNORECASE)
_SKELETON: Final = re.compile(r"^libggml-htp-v(\d+)\.so$")
_NO_BACKEND: Final = frozenset({"base", "cpu"})


def library_folder() -> Path:
    """Return the folder that the native libraries of this process come from, as llama-cpp-python chooses it."""
    override = os.environ.get("LLAMA_CPP_LIB_PATH")
    spec = util.find_spec("llama_cpp")
    return Path(override) if override else Path(spec.origin if spec and spec.origin else "").parent / "lib"


def has_llama(folder: Path) -> bool:
    """Whether this is a runtime's folder at all."""
    return any(_LLAMA.match(path.name) for path in _files(folder))


def backend_libraries(folder: Path) -> dict[str, Path]:
    """Return the backends that a runtime has beside the processor's, by name, as ``opencl``, ``hexagon``, ``rpc``."""
    matches = ((_BACKEND.match(path.name), path) for path in _files(folder))
    found = {match[1].lower(): path for match, path in matches if match}
    return {name: path for name, path in found.items() if name not in _NO_BACKEND}


def processor_libraries(folder: Path) -> list[Path]:
    """Return the variants of the processor's backend."""
    return [path for path in _files(folder) if _PROCESSOR.match(path.name)]


def npu_architectures(folder: Path) -> tuple[int, ...]:
    """Return the generations of Hexagon that a runtime has code for, as 73 and 81."""
    return tuple(sorted(int(match[1]) for path in _files(folder) if (match := _SKELETON.match(path.name))))


def npu_libraries(folder: Path) -> list[Path]:
    """Return the files that the NPU itself runs."""
    return [path for path in _files(folder) if _SKELETON.match(path.name)]


def code_files(folder: Path) -> list[Path]:
    """Return the files that an engine could run; beside them people keep models, of any size."""
    return [path for path in _files(folder) if _CODE.search(path.name)]


def _files(folder: Path) -> list[Path]:
    """Return the files of a folder; none of one that is not there, cannot be read, or goes away meanwhile."""
    try:
        return [path for path in sorted(folder.iterdir()) if path.is_file()]
    except OSError:
        return []
