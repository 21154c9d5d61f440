"""Where a model runs and how it is laid out there: what a load command says for the target and for what drafts."""

from __future__ import annotations

import msgspec


class Placement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Devices by ggml's names, none of them: the processor alone; several share the layers.

    ``n_layers`` counts the last layers that go there, -1 is all. ``n_batch`` is how many tokens are evaluated at once,
    at most: buffers grow with it; ``n_batch_heads`` the same for MTP heads beside it. ``n_prefill`` is how many tokens
    of a prompt are evaluated between two looks at the cancel flag: on a processor a person sees it move, and more gain
    nothing; a device is bad at few, and cannot be stopped in between. ``keeps_window`` keeps the whole text also in
    layers that look back a short way, so that any of it can be rewound; ``maps_file`` leaves the weights of the
    processor in the file's own pages; ``fixed_shape``: a graph is compiled for one batch size, so all passes that
    verify have it.
    """

    devices: tuple[str, ...] = ()
    n_layers: int = -1
    n_batch: int = 512
    n_batch_heads: int = 512
    n_prefill: int = 128
    keeps_window: bool = True
    maps_file: bool = True
    fixed_shape: bool = False

    @property
    def words(self) -> str:
        """Name the devices for a person, and how many layers they hold if that is not all: it decides the speed."""
        if not self.devices:
            return "CPU"
        layers = "" if self.n_layers < 0 else f", {self.n_layers} layer{'s' * (self.n_layers != 1)}"
        return " + ".join(self.devices) + layers


class Backends(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What of a runtime an engine loads beside the processor's part: library files, and servers that lend devices."""

    libraries: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
