"""Where a pair's bytes go when devices share its layers, and what follows for whether it fits."""

from __future__ import annotations

import pytest

from app.engine.gguf import read_header
from app.models.device_memory import ON_PROCESSOR, Spread, spread_over
from app.models.library import Library
from app.models.memory import PairMemory, Room, reckon
from app.models.pairs import candidate_of_file, judge_ngram, with_memory
from app.models.suggestions import suggest
from app.protocol import Load
from tests.fixtures import tiny_mtp

HERE = Room("CPU", 64 << 30, 64 << 30)
GPU, OTHER = Room("Vulkan0", 8 << 30, 8 << 30), Room("Vulkan1", 8 << 30, 8 << 30)
HTP = Room("HTP0", 0, 0, is_shared=True)
MIB = 1 << 20


@pytest.fixture(scope="module")
def starter():
    return Library().resolve("starter").path


def spread(path, where: Spread, draft=None, **how) -> PairMemory:
    command = Load(0, str(path), str(draft) if draft else None, **({"n_ctx": 4096} | how))
    headers = read_header(path), read_header(draft) if draft else None
    return spread_over(reckon(*headers, command, HERE), *headers, command, where)


def shares(memory: PairMemory) -> dict[str, int]:
    return {share.room.device: share.n_bytes for share in memory.by_device}


def test_on_the_processor_all_is_as_before(starter):
    memory = spread(starter, ON_PROCESSOR)
    assert (memory.shares, shares(memory)) == ((), {"CPU": memory.n_bytes})


def test_a_device_has_all_but_the_embedding_of_the_input(starter):
    memory = spread(starter, Spread((GPU,)))
    header = read_header(starter)
    embedding = sum(tensor.n_bytes for tensor in header.tensors if tensor.name == "token_embd.weight")
    there = memory.target.weights_bytes - embedding + memory.target.kv_bytes + memory.target.compute_bytes
    if not any(tensor.name == "output.weight" for tensor in header.tensors):
        there += embedding  # the output is the embedding again, and lies there once more
    assert shares(memory)["Vulkan0"] == there
    assert embedding < shares(memory)["CPU"] < embedding + 8 * MIB


def test_layers_go_over_one_by_one_and_none_is_lost(starter):
    n_layers = len([1 for tensor in read_header(starter).tensors if tensor.name.endswith("attn_norm.weight")])
    whole = spread(starter, Spread((GPU,)))
    weights = []
    for n in range(n_layers + 2):
        found = shares(spread(starter, Spread((GPU,), n_layers=n)))
        weights.append(found["Vulkan0"])
        if 0 < n <= n_layers:  # both have buffers now
            extra = whole.target.compute_bytes
            assert sum(found.values()) == pytest.approx(whole.n_bytes + extra, rel=0.15)
    assert weights[0] == 0
    assert weights == sorted(weights)
    assert weights[-1] == shares(whole)["Vulkan0"]


def test_two_devices_share_by_their_free_memory(starter):
    alike = shares(spread(starter, Spread((GPU, OTHER))))
    assert alike["Vulkan0"] == pytest.approx(alike["Vulkan1"], rel=0.4)
    small = Room("Vulkan1", 1 << 30, 8 << 30)
    uneven = shares(spread(starter, Spread((GPU, small))))
    assert uneven["Vulkan1"] < 0.5 * uneven["Vulkan0"]


def test_a_shared_memory_counts_for_the_computers_own_and_an_unknown_one_is_said(starter):
    memory = spread(starter, Spread((HTP,), kind="npu"))
    assert shares(memory)["CPU"] > shares(memory)["HTP0"] > 0
    one = candidate_of_file(starter, "starter", starter.stat().st_size)
    judgement = with_memory(judge_ngram(one), memory)
    assert judgement.fits
    assert [words for words in judgement.warnings if "HTP0 does not tell how much memory it has" in words]


def test_what_a_device_has_no_room_for_does_not_fit_though_the_computer_has(starter):
    one = candidate_of_file(starter, "starter", starter.stat().st_size)
    busy = with_memory(judge_ngram(one), spread(starter, Spread((Room("Vulkan0", 100 * MIB, 8 << 30),))))
    assert busy.fits
    assert [words for words in busy.warnings if "GB on Vulkan0 and 0.1 GB are free now" in words]
    small = with_memory(judge_ngram(one), spread(starter, Spread((Room("Vulkan0", 50 * MIB, 60 * MIB),))))
    assert not small.fits
    assert "on Vulkan0" in small.reasons[-1]
    assert small.memory.n_ctx_max == 0


def test_the_longest_context_is_that_of_the_tightest_device(starter):
    need = shares(spread(starter, Spread((GPU,))))["Vulkan0"]
    tight = Room("Vulkan0", int((need + 20 * MIB) / 0.9), 8 << 30)
    memory = spread(starter, Spread((tight,)), n_ctx=2048)
    assert 2048 < memory.n_ctx_max < 8192
    assert spread(starter, Spread((tight,)), n_ctx=memory.n_ctx_max).fits


def test_heads_lie_where_their_target_does_and_a_draft_model_where_it_is_put(tmp_path, starter):
    pair = tiny_mtp.qwen35_pair(tmp_path)
    found = shares(spread(pair.target, Spread((GPU,), ()), pair.draft))
    alone = shares(spread(pair.target, Spread((GPU,), ())))
    assert found["Vulkan0"] > alone["Vulkan0"]
    split = shares(spread(starter, Spread((), (GPU,)), starter))
    assert split["CPU"] > spread(starter, ON_PROCESSOR).n_bytes
    assert split["Vulkan0"] > 0


def test_suggestions_know_the_devices(tmp_path, starter):
    one = candidate_of_file(starter, "starter", starter.stat().st_size)
    (found,) = suggest(one, [], Load(0, "", n_ctx=2048), HERE, Spread((GPU,), kind="gpu"))
    assert set(shares(found.memory)) == {"CPU", "Vulkan0"}
