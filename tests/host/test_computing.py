"""From ``--compute`` to devices, and what suits them, on device lists as real machines have them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.discovery import Backend, Found
from app.engine.probe import Device, Runtime
from app.engine.surroundings import Surroundings
from app.errors import UsageError
from app.host import PairChoice
from app.host.computing import NPU, choose, fitting_memory, is_processor, manner_of, placement
from app.host.placing import Placed, Placing
from app.host.runtimes import InUse
from app.placement import Backends, Placement
from app.protocol import Load, MemoryTypes

CPU = Device("CPU", "cpu", "Snapdragon X Elite", "CPU", 8 << 30, 16 << 30)
ADRENO = Device("GPUOpenCL", "gpu", "QUALCOMM Adreno(TM) X1-85 GPU", "OpenCL", 7 << 30, 8 << 30)
HTP0 = Device("HTP0", "npu", "Hexagon", "HTP", 0, 0)
HTP1 = Device("HTP1", "npu", "Hexagon", "HTP", 0, 0)
RPC0 = Device("RPC0", "gpu", "127.0.0.1:50052", "RPC", 1, 1)
IGPU = Device("Vulkan1", "igpu", "Radeon", "Vulkan", 1, 1)
DGPU = Device("Vulkan0", "gpu", "GeForce", "Vulkan", 1, 1)


def here(*devices: Device) -> Found:
    runtime = Runtime("0.3.36", "0.5.0-dev", "0.25.3", "0c1e570", "CPU :", "", (CPU,))
    names = {"OpenCL": "opencl", "HTP": "hexagon", "RPC": "rpc", "Vulkan": "vulkan"}
    groups = {device.backend: [d for d in devices if d.backend == device.backend] for device in devices}
    backends = [
        Backend(names[kind], "found", tuple(group), ("127.0.0.1:50052",) if kind == "RPC" else ())
        for kind, group in groups.items()
    ]
    return Found(runtime, tuple(backends))


SNAPDRAGON = here(ADRENO, HTP0, HTP1, RPC0)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("cpu", []),
        ("", []),
        ("CPU", []),
        ("gpu", ["GPUOpenCL"]),
        ("npu", ["HTP0"]),
        ("hybrid", ["HTP0", "GPUOpenCL"]),
        ("HTP1", ["HTP1"]),
        ("htp0, gpuopencl,HTP0", ["HTP0", "GPUOpenCL"]),
        ("RPC0,CPU", ["RPC0"]),
    ],
)
def test_words_are_devices(words, names):
    assert [device.name for device in choose(words, SNAPDRAGON)] == names


def test_a_lent_gpu_is_taken_where_there_is_none_here_and_a_discrete_one_first():
    assert choose("gpu", here(RPC0)) == (RPC0,)
    assert choose("gpu", here(RPC0, IGPU)) == (IGPU,)
    assert choose("gpu", here(RPC0, IGPU, DGPU)) == (DGPU,)


@pytest.mark.parametrize(("words", "said"), [("gpu", "No GPU"), ("npu", "No NPU"), ("hybrid", "No NPU or GPU")])
def test_what_is_not_here_is_said(words, said):
    with pytest.raises(UsageError, match=said) as caught:
        choose(words, here())
    assert "devices" in caught.value.hint


def test_an_unknown_device_is_named_with_those_that_are_here():
    with pytest.raises(UsageError, match="HTP7") as caught:
        choose("HTP0,HTP7", SNAPDRAGON)
    assert "GPUOpenCL, HTP0, HTP1, RPC0" in caught.value.hint


def test_only_the_processor_needs_no_look_at_devices():
    assert [is_processor(words) for words in ("", " CPU ", "gpu")] == [True, True, False]
    assert Placing().place(PairChoice("starter", "starter"), pytest.fail) == Placed()


def placed(target, draft=()) -> Load:
    where = Placed(target, draft, Backends(("x",)), InUse("pack", Surroundings()))
    return where.command(Load(1, "target", "draft"))


def test_the_processor_is_loaded_as_ever():
    assert Placed().command(Load(1, "target")) == Load(1, "target")


def test_the_npu_gets_what_it_needs():
    command = placed((HTP0,), (HTP0,))
    where = {"n_batch": 512, "n_batch_heads": 128, "n_prefill": 256, "keeps_window": False, "maps_file": False}
    assert command.placement == Placement(("HTP0",), **where)
    assert command.draft_placement.n_batch == 128
    assert command.memory == MemoryTypes("f16", "f16", True)
    assert 0 < command.n_threads <= 6


def test_only_so_many_layers_go_there_if_that_is_wanted():
    where = Placed((ADRENO,), (ADRENO,), Backends(("opencl",)), InUse("pack", Surroundings()), 12)
    command = where.command(Load(1, "target", "draft"))
    assert (command.placement.n_layers, command.draft_placement.n_layers) == (12, -1)


def test_adreno_gets_no_flash_attention_and_the_draft_on_the_processor_is_as_ever():
    command = placed((ADRENO,))
    assert (command.placement.devices, command.placement.maps_file) == (("GPUOpenCL",), False)
    assert (command.placement.n_batch, command.placement.n_prefill) == (512, 512)
    assert command.memory == MemoryTypes("f16", "f16", False)
    assert (command.draft_placement, command.draft_memory) == (Placement(), MemoryTypes())
    assert command.draft_n_threads == 0


def test_devices_together_get_what_the_most_particular_needs():
    assert manner_of((ADRENO, HTP0)) == manner_of((HTP0,))
    assert placement((HTP0, ADRENO)).devices == ("HTP0", "GPUOpenCL")


def test_a_device_that_asks_for_a_fixed_shape_has_it_of_target_and_draft_model():
    asks = replace(NPU, fixed_shape=True)
    for is_draft in (False, True):
        assert placement((HTP0,), is_draft=is_draft, manner=asks).fixed_shape
        assert not placement((HTP0,), is_draft=is_draft).fixed_shape


def test_a_memory_that_somebody_chose_stays():
    chosen = MemoryTypes("q8_0", "q8_0")
    assert fitting_memory(chosen, manner_of((HTP0,))) == MemoryTypes("q8_0", "q8_0", True)
    assert fitting_memory(MemoryTypes(flash_attention=True), manner_of((ADRENO,))).flash_attention is True


@pytest.mark.parametrize("devices", [(), (HTP0,), (ADRENO,), (IGPU,), (RPC0,), (HTP0, ADRENO)])
def test_no_piece_of_a_prompt_is_larger_than_a_batch(devices):
    for is_draft in (False, True):
        where = placement(devices, is_draft=is_draft)
        assert 0 < where.n_prefill <= placement(devices).n_batch <= 512


def test_an_engine_is_replaced_only_for_what_it_should_not_have_loaded():
    placing = Placing()
    on_gpu = Placed((RPC0,), (), Backends(("rpc",), ("a:1",)), InUse("pack", Surroundings()))
    placing.command(Placed(), Load(1, "target"))
    assert not placing.needs_new_engine(on_gpu)
    placing.command(on_gpu, Load(2, "target"))
    assert not placing.needs_new_engine(on_gpu)
    assert not placing.needs_new_engine(None)
    assert placing.needs_new_engine(Placed())
    assert placing.needs_new_engine(Placed((RPC0,), (), Backends(("rpc",), ("b:2",)), on_gpu.runtime))
