"""``infer`` from the outside: real processes, real models, real signals."""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import time

import psutil
import pytest

from tests.cli.commands import run, run_here, started, wait_until_heard
from tests.fair_time import FairWatch
from tests.fixtures import tiny
from tests.metrics.test_export import recomputed, validate

ALONE = ("--threads", 1)
"""One thread waits for no core that another test has."""
LONG = ("--max-tokens", 4000, "--temperature", 0)


def read_some(process: subprocess.Popen[bytes], n_bytes: int = 20, timeout_s: float = 60) -> bytes:
    """Read at least so much of what it says."""
    seen, deadline = b"", time.monotonic() + timeout_s
    while len(seen) < n_bytes:
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"nothing more came after {seen!r}"
        block = os.read(process.stdout.fileno(), 4096)
        assert block, f"it ended after {seen!r}: {process.stderr.read()!r}"
        seen += block
    return seen


def lines_of(output: str) -> dict[str, str]:
    """The profile block as a mapping."""
    return dict(line.split(": ", 1) for line in output.splitlines() if ": " in line)


@pytest.mark.linux
def test_bytes_that_are_no_text_do_not_stop_an_answer():
    done = run("infer", "starter", "-p", os.fsdecode(b"Say \xff hello."), "--max-tokens", 3, "--json", *ALONE)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["prompt"] == "Say \ufffd hello."


@pytest.mark.parametrize("temperature", ["inf", "100.5", "nan"])
def test_a_temperature_without_meaning_is_wrong_usage(temperature):
    done = run_here("infer", "starter", "-p", "Hi", "--temperature", temperature)

    assert done.returncode == 2
    assert "--temperature" in done.stderr


def test_starter_answers_in_text_and_says_what_it_cost():
    done = run(
        "infer", "starter", "-p", "Say hello.", "--max-tokens", 12, "--temperature", 0, "--spec-type", "ngram", *ALONE
    )

    assert done.returncode == 0, done.stderr
    text, _, block = done.stdout.rpartition("\n\n")
    figures = lines_of(block)
    assert "ello" in text
    assert list(figures) == [
        "prompt tokens",
        "cached tokens",
        "TTFT",
        "prefill speed",
        "tokens",
        "decode speed",
        "speculation",
        "not engaged",
        "draft accept",
        "tokens per step",
        "stop reason",
        "seed",
    ]
    assert "no drafter had anything to propose" in figures["not engaged"]
    assert int(figures["prompt tokens"]) > 20
    assert done.stderr == ""


def test_json_is_one_run_with_text_and_tokens_and_nothing_else(tiny_pair):
    done = run_here(
        *("infer", tiny_pair.target, "-p", "abc", "--json", "--draft-model", tiny_pair.draft),
        *("--draft-tokens", 3, "--max-tokens", 40, "--seed", 11),
    )

    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    validate(document, "answer")
    assert {name: document[name] for name in recomputed(document)} == recomputed(document)
    assert len(document["token_ids"]) == document["tokens"] == 40
    assert (document["spec_type"], document["draft_tokens"], document["seed"]) == ("draft-simple", 3, 11)
    assert document["engaged"]
    assert document["accepted"] > 0
    assert document["prompt"] == "abc"


def test_text_is_the_same_with_and_without_speculation(tiny_pair):
    def answer(*how):
        done = run_here("infer", tiny_pair.target, "-p", "abc", "--json", "--max-tokens", 48, "--seed", 5, *how)
        return json.loads(done.stdout)["token_ids"]

    plain = answer()
    assert answer("--spec-type", "ngram", "--draft-tokens", 8) == plain
    assert answer("--draft-model", tiny_pair.draft) == plain


def steps_of(*arguments):
    """What the drafting options did, as the document tells it."""
    done = run_here("infer", *arguments, "-p", "abc", "--json", "--max-tokens", 40, "--seed", 5)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["engaged"]
    return document, [step for step in document["steps"] if step["proposed"]]


def test_every_way_to_set_drafting_does_what_it_says(tiny_pair):
    chain = (tiny_pair.target, "--draft-model", tiny_pair.draft, "--spec-type", "ngram,draft-simple")
    document, steps = steps_of(*chain, "--draft-tokens", 6)
    assert document["spec_type"] == "ngram,draft-simple"
    assert {step["drafter"] for step in steps} == {"ngram", "draft-simple"}

    document, steps = steps_of(*chain, "--draft-tokens", "rolling", "--draft-min", 3)
    assert document["draft_tokens"] == "rolling"
    assert min(step["proposed"] for step in steps) >= 3
    assert max(step["limit"] for step in steps) <= 8

    document, _ = steps_of(*chain, "--draft-tokens", "auto")
    assert document["draft_tokens"] == "auto"

    document, steps = steps_of(
        *(tiny_pair.target, "--draft-model", tiny_pair.draft, "--draft-p-min", 1.0, "--draft-tokens", 6)
    )
    assert not steps
    assert document["not_engaged"] == "Nothing was drafted: no drafter had anything to propose."


def test_what_of_a_chain_cannot_draft_is_said(tiny_pair):
    done = run_here("infer", tiny_pair.target, "-p", "abc", "--max-tokens", 30, "--spec-type", "ngram,draft-mtp")
    assert done.returncode == 0, done.stderr
    figures = lines_of(done.stdout)
    assert figures["speculation"] == "ngram,draft-mtp, length auto"
    assert figures["not engaged"].startswith("draft-mtp: The target has no MTP heads")


LIST = r"""
root ::= "[" item ("," item){2} "]"
item ::= [0-9]{1,3}
"""


def test_an_answer_keeps_to_a_grammar_however_it_is_drafted(tmp_path):
    path = tmp_path / "list.gbnf"
    path.write_text(LIST)
    ask = ("infer", "starter", "-p", "Three numbers, please.", "--json", "--seed", 3, "--grammar-file", path, *ALONE)
    documents = [
        json.loads(run_here(*ask, *how).stdout) for how in ((), ("--spec-type", "ngram", "--draft-tokens", "8"))
    ]
    assert len(json.loads(documents[0]["text"])) == 3
    assert documents[0]["stop_reason"] == "eos"
    assert documents[1]["token_ids"] == documents[0]["token_ids"]


def test_a_bad_grammar_is_named_with_its_line(tmp_path, tiny_pair):
    path = tmp_path / "bad.gbnf"
    path.write_text('root ::= item\n\nitem = "x"\n')
    done = run_here("infer", tiny_pair.target, "-p", "abc", "--grammar-file", path)
    assert done.returncode == 2
    assert 'line 3: expecting ::= at = "x"' in done.stderr
    assert "hint: " in done.stderr
    assert done.stdout.strip() == ""


def test_models_are_loaded_as_the_options_say(tiny_pair):
    how = ("--threads", 2, "--draft-threads", 1, "--nctx", 256, "--draft-nctx", 128, "--flash-attn", "on")
    types = ("--cache-type-k", "f32", "--cache-type-v", "f16", "--draft-cache-type-k", "bf16")
    done = run_here(
        *("infer", tiny_pair.target, "--draft-model", tiny_pair.draft, "-p", "abc", "--json", "--max-tokens", 20),
        *(*how, *types),
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["engaged"]
    assert (document["conditions"]["n_threads"], document["conditions"]["n_ctx"]) == (2, 256)


@pytest.mark.linux
@pytest.mark.parametrize("slide", [(), ("--slide",)])
def test_a_conversation_longer_than_the_context_stops_or_slides(tiny_pair, slide):
    import pty  # not on Windows

    ours, theirs = pty.openpty()
    how = ("--nctx", 256, "--max-tokens", 4, "--seed", 1, *slide)
    try:
        with started("infer", tiny_pair.target, *how, stdin=theirs) as process:
            for _ in range(4):
                os.write(ours, b"what about this " * 5 + b"\n")
            os.write(ours, b"/exit\n")
            _output, errors = process.communicate(timeout=60)
    finally:
        os.close(ours)
        os.close(theirs)

    assert process.returncode == 0, errors
    if slide:
        assert b"messages were left out" in errors
        assert errors.count(b"tokens: 4 ") == 4
    else:
        assert b"the context holds 256" in errors
        assert errors.count(b"tokens: 4 ") < 4


def test_prompt_may_come_on_standard_input(tiny_pair):
    done = run_here("infer", tiny_pair.target, "--max-tokens", 4, text_in="Grüße\n")

    assert done.returncode == 0, done.stderr
    assert "tokens: 4" in done.stdout


def test_speculation_that_cannot_engage_says_why_and_answers(tmp_path, tiny_pair):
    other = tiny.llama(tmp_path / "other.gguf", n_ctx=512)
    done = run_here(
        "infer",
        tiny_pair.target,
        "-p",
        "abc",
        "--max-tokens",
        8,
        "--nctx",
        1024,
        "--draft-model",
        other,
        "--draft-tokens",
        4,
    )

    assert done.returncode == 0, done.stderr
    figures = lines_of(done.stdout)
    assert figures["tokens"] == "8"
    assert "draft accept" in figures or "not engaged" in figures["speculation"]


@pytest.fixture
def broken(tmp_path, tiny_pair):
    """Files that are no model, each with a word that its error must have."""
    folder = tmp_path / "folder.gguf"
    folder.mkdir()
    return {
        "truncated": tiny.truncated(tmp_path / "truncated.gguf", tiny_pair.target),
        "text": tiny.text_file(tmp_path / "page.gguf"),
        "architecture": tiny.unknown_architecture(tmp_path / "zeppelin.gguf"),
        "folder": folder,
        "missing": tmp_path / "gone.gguf",
        "name": "no-such-model",
    }


@pytest.mark.parametrize("kind", ["truncated", "text", "architecture", "folder", "missing", "name"])
def test_file_that_is_no_model_is_one_line_and_a_hint(broken, kind):
    done = run_here("infer", broken[kind], "-p", "hi")

    assert done.returncode == 1
    assert done.stdout == ""
    line, hint = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert hint.startswith("hint: ")
    name = broken[kind] if kind == "name" else broken[kind].name
    assert name in line
    if kind == "architecture":
        assert "zeppelin" in done.stderr


def without_root_privilege():
    """Take from a child of root the right to read what the mode forbids (Linux capabilities, before exec)."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        if libc.prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
            raise OSError(ctypes.get_errno(), "prctl")


@pytest.mark.linux
def test_file_without_permission_is_one_line_and_a_hint(tmp_path):
    path = tiny.llama(tmp_path / "secret.gguf")
    path.chmod(0)
    done = run("infer", path, "-p", "hi", preexec_fn=without_root_privilege if os.geteuid() == 0 else None)

    assert done.returncode == 1
    line, hint = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert "secret.gguf" in line
    assert "ermission" in done.stderr
    assert hint.startswith("hint: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("infer",),
        ("infer", "starter", "-p", "hi", "--temperature", "-1"),
        ("infer", "starter", "-p", "hi", "--spec-type", "draft-simple"),
        ("infer", "starter", "-p", "hi", "--lenient", "1.5"),
        ("infer", "starter", "-p", "hi", "--compute", "npu"),
        ("infer", "starter", "-p", "hi", "--server", "ftp://localhost"),
        ("infer", "starter", "-p", " "),
        ("infer", "starter"),  # nothing on standard input
        ("bench", "starter", "--draft-tokens", "0,99"),
        ("bench", "starter", "--prompts", "no-such-file"),
        ("selftest",),
        ("fly",),
    ],
)
def test_wrong_usage_is_exit_code_2(arguments):
    done = run(*arguments)

    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["infer", "bench"])
def test_help_says_what_changes_the_text(command):
    text = " ".join(run(command, "--help").stdout.split())
    assert {"--draft-tokens", "--fixed-shape", "--lenient"} <= set(text.split())
    assert "lossy" in text.lower()


@pytest.mark.linux
def test_ctrl_c_stops_the_answer_and_prints_the_profile(tiny_pair):
    with started("infer", tiny_pair.target, "-p", "abc", *LONG) as process:
        read_some(process)
        os.killpg(process.pid, signal.SIGINT)  # as the terminal does: everybody in the group
        output, errors = process.communicate(timeout=60)

    assert process.returncode == 0, errors
    figures = lines_of(output.decode())
    assert figures["stop reason"] == "cancelled"
    assert 0 < int(figures["tokens"]) < 4000
    assert errors == b""


@pytest.mark.linux
def test_second_ctrl_c_leaves_at_once_even_if_the_engine_hangs(tiny_pair):
    with started("infer", tiny_pair.target, "-p", "abc", *LONG) as process:
        read_some(process)
        children = psutil.Process(process.pid).children(recursive=True)
        for child in children:
            child.suspend()
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.3)
        wait_until_heard(process.pid)
        assert process.poll() is None
        watch = FairWatch()
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
        assert watch.took_s < 5
    assert process.returncode == 130
    _gone, alive = psutil.wait_procs(children, timeout=40)
    assert not alive


@pytest.mark.linux
def test_engine_that_is_killed_is_one_line_and_keeps_what_was_said(tiny_pair):
    with started("infer", tiny_pair.target, "-p", "abc", *LONG) as process:
        seen = read_some(process)
        worker = max(psutil.Process(process.pid).children(), key=lambda child: child.memory_info().rss)
        worker.kill()
        rest, errors = process.communicate(timeout=60)

    assert process.returncode == 1
    assert (seen + rest).endswith(b"\n")
    assert errors.decode().startswith("error: ")
    assert len(errors.decode().splitlines()) == 2


@pytest.mark.linux
def test_reader_that_leaves_is_no_traceback(tiny_pair):
    with started("infer", tiny_pair.target, "-p", "abc", *LONG) as process:
        read_some(process)
        process.stdout.close()
        errors = process.stderr.read()
        process.wait(timeout=60)

    assert errors == b""
    assert process.returncode == 1


@pytest.mark.linux
def test_conversation_keeps_its_turns_and_its_cache(tiny_pair):
    import pty  # not on Windows

    ours, theirs = pty.openpty()
    try:
        with started(
            "infer", tiny_pair.target, "--max-tokens", 6, "--seed", 1, stdin=theirs, stderr=subprocess.STDOUT
        ) as process:
            os.write(ours, b"first question\n/stats\n")
            first = read_until(process, b"seed: 1\n")
            os.write(ours, b"second question\n/stats\n")
            second = read_until(process, b"seed: 1\n")
            os.write(ours, b"/exit\n")
            rest, _ = process.communicate(timeout=60)
    finally:
        os.close(ours)
        os.close(theirs)

    assert process.returncode == 0, rest
    assert lines_of(first)["cached tokens"] == "0"
    assert int(lines_of(second)["cached tokens"]) >= int(lines_of(first)["prompt tokens"])
    assert int(lines_of(second)["prompt tokens"]) > int(lines_of(first)["prompt tokens"])
    assert "Ctrl-C" in first


def read_until(process: subprocess.Popen[bytes], end: bytes) -> str:
    """Read until it has said ``end``; the next question mark of its own may come with it."""
    seen = b""
    while end not in seen:
        seen += read_some(process, 1)
    return seen.decode().replace("> ", "")
