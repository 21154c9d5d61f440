"""The only door to llama.cpp: models, contexts and sampler chains, each owning its pointers.

Nothing outside this package sees a pointer, except as an opaque argument.
"""

from app.engine.llama.backend import LLAMA_CPP_COMMIT, init_backend, system_info
from app.engine.llama.branches import count_passes
from app.engine.llama.chain import SamplerChain
from app.engine.llama.context import (
    ELEMENT_TYPES,
    MAX_CHECKPOINTS,
    Context,
    DecodeCancelledError,
    Hidden,
    Row,
    Shape,
)
from app.engine.llama.grammar import Grammar, NothingAllowedError
from app.engine.llama.model import Model
from app.engine.llama.mtp import MtpContext

__all__ = [
    "ELEMENT_TYPES",
    "LLAMA_CPP_COMMIT",
    "MAX_CHECKPOINTS",
    "Context",
    "DecodeCancelledError",
    "Grammar",
    "Hidden",
    "Model",
    "MtpContext",
    "NothingAllowedError",
    "Row",
    "SamplerChain",
    "Shape",
    "count_passes",
    "init_backend",
    "system_info",
]
