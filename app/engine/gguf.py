"""Reads the header of a GGUF file: what the model is, and whether the file is all there.

A file from the network is somebody else's work: every count, length and offset in it may be a lie. So nothing is
allocated by what the file says, all counts have a ceiling, and any fault is a :class:`ModelFileError` that says what is
wrong and what to do. The long token lists are stepped over, not built (a 135 M model has 98,000 strings in its header).

Bytes come from a :class:`~app.engine.byte_cursor.ByteSource`, so a file on disk and a file on a server are read by the
same code.

The format (little-endian, or all of it big-endian)::

    "GGUF" · version u32 · n_tensors u64 · n_metadata u64
    metadata: key string · type u32 · value                       string: n_bytes u64 · bytes
    tensors:  name string · n_dims u32 · dims u64… · type u32 · offset u64
    padding to general.alignment (32) · tensor data

Source: ``ggml/src/gguf.cpp`` and ``docs/gguf.md`` of ggml.
"""

from __future__ import annotations

import math
import os
import stat
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from app.engine.byte_cursor import AGAIN, ByteOrder, ByteSource, Cursor, FileSource, size_in_words
from app.engine.gguf_types import FILE_TYPES, TENSOR_TYPES, TensorType
from app.errors import ModelFileError, ModelNotFoundError

# Ceilings far above any real model; with those of the cursor they bound time and memory for any file at all.
MAX_METADATA = 16_384
MAX_TENSORS = 100_000
MAX_NAME_BYTES = 65_535
MAX_TEXT_BYTES = 16 << 20
MAX_KEPT_NUMBERS = 4_096
MAX_DIMS = 4
MAX_TENSOR_NAME_BYTES = 63


@dataclass(frozen=True, slots=True)
class Array:
    """An array in the metadata; its ``values`` are kept only for short arrays of numbers.

    ``offset`` is where its ``n_bytes`` of elements begin in the file, each string with its length before it.
    """

    element: str
    n: int
    offset: int
    n_bytes: int
    values: tuple[int | float | bool, ...] | None = None


Value = int | float | bool | str | Array


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One tensor; ``shape`` in ggml's order (fastest first), ``offset`` from the start of the data."""

    name: str
    kind: TensorType
    shape: tuple[int, ...]
    offset: int

    @property
    def n_elements(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    @property
    def n_bytes(self) -> int:
        """How many bytes it takes in the file."""
        return self.n_elements // self.kind.n_block * self.kind.n_bytes


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """All that the header says."""

    file_name: str
    n_file_bytes: int
    version: int
    byte_order: ByteOrder
    metadata: dict[str, Value]
    tensors: tuple[TensorInfo, ...]
    data_offset: int

    def text(self, key: str) -> str | None:
        """Return the string under ``key``; None if there is none or it is something else."""
        value = self.metadata.get(key)
        return value if isinstance(value, str) else None

    def integer(self, key: str) -> int | None:
        """Return the whole number under ``key``; None if there is none or it is something else."""
        value = self.metadata.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def flag(self, key: str) -> bool | None:
        """Return the truth value under ``key``; None if there is none or it is something else."""
        value = self.metadata.get(key)
        return value if isinstance(value, bool) else None

    def of_architecture(self, key: str) -> int | None:
        """Return the whole number under the architecture's own ``key``, as in ``llama.block_count``."""
        return self.integer(f"{self.architecture}.{key}")

    @property
    def architecture(self) -> str:
        """Name of the architecture; "" if the file does not say."""
        return self.text("general.architecture") or ""

    @property
    def kind(self) -> str:
        """What the file is: ``model``, ``mmproj``, ``adapter``, ``imatrix``."""
        if self.architecture == "clip":
            return "mmproj"
        return self.text("general.type") or "model"

    @property
    def quantisation(self) -> str:
        """Name of the quantisation: as the file says, else the tensor type that takes the most bytes."""
        number = self.integer("general.file_type")
        if number in FILE_TYPES:
            return FILE_TYPES[number]
        share = Counter[str]()
        for tensor in self.tensors:
            share[tensor.kind.name] += tensor.n_bytes
        return share.most_common(1)[0][0] if share else ""

    @property
    def licence(self) -> str:
        """The licence as the file names it; "" if it does not."""
        return self.text("general.license") or ""

    @property
    def chat_template(self) -> str | None:
        """The model's own Jinja template."""
        return self.text("tokenizer.chat_template")

    @property
    def n_vocab(self) -> int | None:
        """How many tokens the vocabulary has."""
        tokens = self.metadata.get("tokenizer.ggml.tokens")
        return tokens.n if isinstance(tokens, Array) else self.of_architecture("vocab_size")

    @property
    def special_tokens(self) -> dict[str, int]:
        """Ids of the special tokens by name (``bos``, ``eos``, ``eot``, …)."""
        prefix, suffix = "tokenizer.ggml.", "_token_id"
        named = ((key, self.integer(key)) for key in self.metadata if key.startswith(prefix) and key.endswith(suffix))
        return {key.removeprefix(prefix).removesuffix(suffix): value for key, value in named if value is not None}

    @property
    def n_params(self) -> int:
        """How many numbers the tensors hold."""
        return sum(tensor.n_elements for tensor in self.tensors)

    @property
    def n_needed_bytes(self) -> int:
        """How long the file must be for its tensors."""
        return self.data_offset + max((tensor.offset + tensor.n_bytes for tensor in self.tensors), default=0)

    @property
    def split(self) -> tuple[int, int]:
        """Which part of how many this file is; (0, 1) for a model in one file."""
        return self.integer("split.no") or 0, self.integer("split.count") or 1


def read_header(path: Path) -> GgufHeader:
    """Read the header of a file and check that the file is as long as its tensors say.

    Raises:
        ModelNotFoundError: there is no such file.
        ModelFileError: it cannot be read, is not a GGUF, or is damaged or incomplete.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for ever
            what = "a folder" if path.is_dir() else "not a regular file"
            raise ModelFileError(f"{path} is {what}.", "Choose a file whose name ends in .gguf.")
        with path.open("rb") as file:
            header = parse_header(FileSource(path.name, os.fstat(file.fileno()).st_size, file))
    except FileNotFoundError as fault:
        raise ModelNotFoundError(f"There is no file {path}.", "Was it moved or renamed? Choose it again.") from fault
    except PermissionError as fault:
        raise ModelFileError(f"{path} may not be read by you.", "Change the permissions of that file.") from fault
    except (OSError, ValueError) as fault:  # ValueError: a null character in the path
        reason = fault.strerror if isinstance(fault, OSError) else fault
        raise ModelFileError(f"{path} cannot be read: {reason}.", "Is the disk it is on still there?") from fault
    check_length(header)
    return header


def check_length(header: GgufHeader) -> None:
    """Check that the file holds all of its tensors.

    Raises:
        ModelFileError: it does not.
    """
    if header.n_file_bytes < header.n_needed_bytes:
        have, need = size_in_words(header.n_file_bytes), size_in_words(header.n_needed_bytes)
        raise ModelFileError(f"{header.file_name} ends after {have} of {need}.", AGAIN)


def parse_header(source: ByteSource) -> GgufHeader:
    """Read a header from any source; the length of the file is not checked.

    Raises:
        ModelFileError: the bytes are no sound GGUF header.
    """
    cursor = Cursor(source)
    _check_magic(source, source.read(0, 64))
    cursor.skip(4)
    version = _read_version(cursor)
    n_tensors, n_metadata = cursor.integer(8), cursor.integer(8)
    if n_metadata > MAX_METADATA or n_tensors > MAX_TENSORS:
        cursor.fail(f"claims {n_metadata} metadata entries and {n_tensors} tensors")
    metadata = _read_metadata(cursor, n_metadata)
    alignment = metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment < 1 or alignment & (alignment - 1):
        cursor.fail(f"has an impossible alignment ({alignment})")
    tensors = _read_tensors(cursor, n_tensors, alignment)
    data_offset = -(-cursor.position // alignment) * alignment if tensors else cursor.position
    return GgufHeader(source.name, source.n_bytes, version, cursor.order, metadata, tensors, data_offset)


# --- reading ----------------------------------------------------------------------------------------

_TEXT, _ARRAY, _BOOL = 8, 9, 7
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", _BOOL: "?", 10: "Q", 11: "q", 12: "d"}
_NAMES = {0: "u8", 1: "i8", 2: "u16", 3: "i16", 4: "u32", 5: "i32", 6: "f32", _BOOL: "bool", _TEXT: "text"} | {
    10: "u64",
    11: "i64",
    12: "f64",
}


def _read_version(cursor: Cursor) -> int:
    raw = cursor.take(4)
    if raw[:2] == b"\0\0":  # the low half of a version is never 0: this file is big-endian
        cursor.order = "big"
    version = int.from_bytes(raw, cursor.order)
    if version == 1:
        cursor.fail("is of GGUF version 1, which llama.cpp no longer reads")
    if version not in (2, 3):
        cursor.fail(f"is of GGUF version {version}; versions 2 and 3 can be read")
    return version


def _read_metadata(cursor: Cursor, n: int) -> dict[str, Value]:
    metadata: dict[str, Value] = {}
    for _ in range(n):
        key = cursor.text(MAX_NAME_BYTES)
        if not key or key in metadata:
            cursor.fail(f"has an empty or repeated metadata key {key[:64]!r}")
        kind = cursor.integer(4)
        metadata[key] = _read_array(cursor, key) if kind == _ARRAY else _read_scalar(cursor, kind, key)
    return metadata


def _read_scalar(cursor: Cursor, kind: int, key: str) -> int | float | bool | str:
    if kind == _TEXT:
        return cursor.text(MAX_TEXT_BYTES)
    return _read_numbers(cursor, kind, 1, key)[0]


def _read_numbers(cursor: Cursor, kind: int, n: int, key: str) -> tuple[int | float | bool, ...]:
    if kind not in _FORMATS:
        cursor.fail(f"has metadata of unknown type {kind} under {key[:64]!r}")
    layout = struct.Struct(f"{'<' if cursor.order == 'little' else '>'}{n}{_FORMATS[kind]}")
    return layout.unpack(cursor.take(layout.size))


def _read_array(cursor: Cursor, key: str) -> Array:
    kind, n = cursor.integer(4), cursor.integer(8)
    offset = cursor.position
    if kind == _TEXT:
        cursor.skip_texts(n)
        return Array(_NAMES[kind], n, offset, cursor.position - offset)
    if n <= MAX_KEPT_NUMBERS:
        cursor.keep(8 * n)
        values = _read_numbers(cursor, kind, n, key)
        return Array(_NAMES[kind], n, offset, cursor.position - offset, values)
    if kind not in _FORMATS:
        cursor.fail(f"has an array of unknown type {kind} under {key[:64]!r}")
    cursor.skip(n * struct.calcsize(f"<{_FORMATS[kind]}"))
    return Array(_NAMES[kind], n, offset, cursor.position - offset)


def _read_tensors(cursor: Cursor, n: int, alignment: int) -> tuple[TensorInfo, ...]:
    tensors: dict[str, TensorInfo] = {}
    end = 0
    for _ in range(n):
        tensor = _read_tensor(cursor)
        if tensor.name in tensors:
            cursor.fail(f"has two tensors named {tensor.name[:64]!r}")
        if tensor.offset % alignment or tensor.offset >= 1 << 63:
            cursor.fail(f"has tensor {tensor.name[:64]!r} at an impossible place ({tensor.offset})")
        if tensor.offset != end:  # llama.cpp takes no other order, no gaps and nothing twice
            cursor.fail(f"has tensor {tensor.name[:64]!r} at {tensor.offset}, and the one before it ends at {end}")
        end = -(-(end + tensor.n_bytes) // alignment) * alignment
        tensors[tensor.name] = tensor
    return tuple(tensors.values())


def _read_tensor(cursor: Cursor) -> TensorInfo:
    name = cursor.text(MAX_NAME_BYTES)
    n_dims = cursor.integer(4)
    if n_dims > MAX_DIMS:
        cursor.fail(f"has tensor {name[:64]!r} with {n_dims} dimensions")
    shape = tuple(cursor.integer(8) for _ in range(n_dims))
    number, offset = cursor.integer(4), cursor.integer(8)
    kind = TENSOR_TYPES.get(number)
    if kind is None:
        raise ModelFileError(
            f"{cursor.name} stores tensor {name[:64]!r} as type {number}, which is not known here.",
            "It may need a newer version of this program; a file in Q4_K_M, Q4_0 or Q8_0 works.",
        )
    tensor = TensorInfo(name, kind, shape, offset)
    if len(name.encode()) > MAX_TENSOR_NAME_BYTES:
        cursor.fail(f"has a tensor whose name is longer than llama.cpp takes ({name[:64]!r}…)")
    if 0 in shape or tensor.n_elements >= 1 << 63 or (shape and shape[0] % kind.n_block):
        cursor.fail(f"has tensor {name[:64]!r} of an impossible shape {shape} for {kind.name}")
    return tensor


# --- words ------------------------------------------------------------------------------------------

_OTHER_FORMATS = (
    (b"version https://git-lfs", "is a Git LFS pointer, not the model itself", "Fetch the file with git lfs pull."),
    (b"PK\x03\x04", "is a ZIP archive or a PyTorch checkpoint, not a GGUF", ""),
    (b"lmgg", "is in llama.cpp's format of before August 2023", ""),
    (b"tjgg", "is in llama.cpp's format of before August 2023", ""),
)


def _check_magic(source: ByteSource, start: bytes) -> None:
    """Say in words what a file is that is no GGUF."""
    if start.startswith(b"GGUF"):
        return
    get_one = "Look for a download of this model whose name ends in .gguf."
    if not start:
        raise ModelFileError(f"{source.name} is empty.", AGAIN)
    for magic, what, hint in _OTHER_FORMATS:
        if start.startswith(magic):
            raise ModelFileError(f"{source.name} {what}.", hint or get_one)
    line = start.decode("ascii", errors="replace").lstrip().splitlines()[:1]
    if line and line[0].isprintable() and "\ufffd" not in line[0]:
        said = f"it is a text that begins with “{line[0][:40]}”"
    else:
        said = f"it begins with {start[:4].hex(' ')}"
    raise ModelFileError(
        f"{source.name} is not a GGUF file: {said}.",
        "A page saved in place of the model? Download it again, signed in if its publisher asks for that.",
    )
