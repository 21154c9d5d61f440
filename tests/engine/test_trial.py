"""Files whose headers lie, tried in a process of its own: what is wrong is said, and nothing of ours ends."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from app.engine.gguf import read_header
from app.engine.sound_numbers import check_numbers
from app.engine.trial import Trial
from app.errors import ModelFileError, SlipstreamError
from app.models.library import Library
from tests.fixtures import lying, tiny, tiny_mtp

NAN = float("nan")


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    return {
        "llama": tiny.llama(folder / "llama.gguf"),
        "qwen35": tiny_mtp.qwen35_embedded(folder / "qwen35.gguf"),
        "assistant": tiny_mtp.gemma4_pair(folder).draft,
    }


@pytest.mark.parametrize("kind", ["llama", "qwen35", "assistant"])
def test_a_sound_file_passes(sound, kind):
    Trial(sound[kind]).run()


@pytest.mark.parametrize(
    ("kind", "key", "value", "words"),
    [
        ("llama", "llama.block_count", 0, "n_layer_all > 0"),
        ("llama", "llama.block_count", 513, "LLAMA_MAX_LAYERS"),
        ("llama", "llama.attention.head_count", 0, "wrong shape"),
        ("qwen35", "qwen35.full_attention_interval", 0, ""),
        ("qwen35", "qwen35.ssm.inner_size", 3, "GGML_ASSERT"),
        ("qwen35", "qwen35.nextn_predict_layers", 513, "n_layer_nextn"),
    ],
)
def test_what_llama_cpp_meets_when_it_reads_a_file(tmp_path, sound, kind, key, value, words):
    path = lying.with_number(tmp_path / "liar.gguf", sound[kind], key, value)
    with pytest.raises(ModelFileError, match=r"liar\.gguf") as caught:
        Trial(path).run()
    assert words in caught.value.message
    assert "/vendor/" not in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("kind", "key", "value", "words"),
    [
        ("llama", "llama.attention.layer_norm_rms_epsilon", NAN, "not a number"),
        ("llama", "llama.attention.layer_norm_rms_epsilon", -1.0, "cannot be negative"),
        ("llama", "llama.attention.layer_norm_rms_epsilon", float("inf"), "infinite"),
        ("llama", "llama.rope.freq_base", 0.0, "more than 0"),
        ("qwen35", "qwen35.rope.dimension_count", 3, "even"),
        ("qwen35", "qwen35.rope.dimension_count", 0, "more than 0"),
        ("qwen35", "qwen35.rope.dimension_count", 64, "more than a head has"),
        ("qwen35", "qwen35.rope.dimension_sections", 99_999, "does not divide"),
    ],
)
def test_what_it_would_only_meet_while_it_computes(tmp_path, sound, kind, key, value, words):
    path = lying.with_number(tmp_path / "liar.gguf", sound[kind], key, value)
    with pytest.raises(ModelFileError, match=r"liar\.gguf") as caught:
        check_numbers(read_header(path))
    assert key in caught.value.message
    assert words in caught.value.message


def test_a_norm_that_is_not_of_floats(tmp_path, sound):
    path = lying.with_kind(tmp_path / "liar.gguf", sound["llama"], "blk.0.attn_norm.weight", 26)
    with pytest.raises(ModelFileError, match=r"blk\.0\.attn_norm\.weight is stored as I32, but must be F32"):
        check_numbers(read_header(path))


def test_sound_numbers_pass(sound):
    for path in (*sound.values(), Library().resolve("starter").path):
        check_numbers(read_header(path))


def test_a_vocabulary_without_a_token_for_a_byte(tmp_path, sound):
    path = lying.with_token(tmp_path / "liar.gguf", sound["llama"], "<0xE2>", "<0xZ2>")
    with pytest.raises(ModelFileError, match=r"liar\.gguf cannot be loaded"):
        Trial(path).run()


def test_one_of_them_in_the_trial_too(tmp_path, sound):
    path = lying.with_number(tmp_path / "liar.gguf", sound["llama"], "llama.rope.freq_base", NAN)
    with pytest.raises(ModelFileError, match="freq_base is not a number"):
        Trial(path).run()


def test_a_process_that_never_comes_back_is_ended(sound):
    started_s = time.monotonic()
    with pytest.raises(ModelFileError, match="busy for ever"):
        Trial(sound["llama"], [sys.executable, "-c", "import time; time.sleep(60)"], timeout_s=0.5).run()
    assert time.monotonic() - started_s < 20


def test_a_trial_that_is_stopped_says_nothing(sound):
    trial = Trial(sound["llama"], [sys.executable, "-c", "import time; time.sleep(60)"])
    running = threading.Thread(target=trial.run)
    running.start()
    time.sleep(0.3)
    trial.stop()
    running.join(10)
    assert not running.is_alive()
    trial.run()  # stopped before it began: nothing happens


def test_a_process_that_cannot_start_says_nothing_against_the_file(sound, tmp_path):
    Trial(sound["llama"], [str(tmp_path / "no such program")]).run()


def test_a_file_that_is_gone_is_said_to_be(tmp_path):
    with pytest.raises(SlipstreamError, match="There is no file"):
        Trial(tmp_path / "gone.gguf").run()
