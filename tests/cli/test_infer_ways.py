"""``infer`` with pipes: several prompts, files, other names of options, a server, models that are not here."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from app.__main__ import _guarded
from app.cli.program import run as run_command
from app.protocol import Chunk, Done, decode_event
from tests.chat_server import ChatServer
from tests.cli.commands import COMMAND, ROOT, environment, run, run_here, started
from tests.fixtures import tiny, tiny_mtp
from tests.fixtures.splitting import split_in_two
from tests.metrics.test_export import validate

SHORT = ("--max-tokens", 8, "--seed", 1)
QUICK = "--max-tokens 16 --threads 1"
"""In place of 200 tokens; one thread waits for no core that another test has."""


@pytest.fixture(scope="module")
def server():
    with ChatServer() as running:
        yield running


# --- this machine -----------------------------------------------------------------------------------


def test_a_file_of_heads_drafts_as_heads_do_where_nobody_says_how(tmp_path):
    pair = tiny_mtp.gemma4_pair(tmp_path)
    done = run("infer", pair.target, "--draft-model", pair.draft, "-p", "abc", "--json", *SHORT)

    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["spec_type"] == "ngram,draft-mtp"
    assert document["engaged"]


@pytest.mark.parametrize("make", [tiny_mtp.qwen35_embedded, tiny.llama])
def test_a_split_model_whose_first_part_holds_no_weights_answers(tmp_path, make):
    whole = run("infer", path := make(tmp_path / "m.gguf"), "-p", "abc", "-q", *SHORT)
    first = split_in_two(path)
    split = run("infer", first, "-p", "abc", "-q", *SHORT)

    assert whole.returncode == split.returncode == 0, split.stderr
    assert split.stdout == whole.stdout
    facts = json.loads(run("pair", first, "--json").stdout)
    assert facts["memory"]["total_bytes"] > 0


def test_several_prompts_are_turns_of_one_conversation(tiny_pair):
    done = run_here("infer", tiny_pair.target, "-p", "first", "-p", "second", *SHORT)

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\ntokens: 8\n") == 2
    cached = [int(n) for n in re.findall(r"cached tokens: (\d+)", done.stdout)]
    assert cached[0] == 0
    assert cached[1] > 0


def test_a_line_of_json_for_each_event_and_the_document_last(tiny_pair):
    done = run_here("infer", tiny_pair.target, "-p", "abc", "--stream-json", *SHORT)

    assert done.returncode == 0, done.stderr
    *lines, last = done.stdout.splitlines()
    events = [decode_event(line.encode()) for line in lines]
    assert isinstance(events[-1], Done)
    n_tokens = sum(len(event.token_ids) for event in events if isinstance(event, Chunk))
    document = json.loads(last)
    assert document.pop("type") == "answer"
    validate(document, "answer")
    assert n_tokens == document["tokens"] == 8
    assert "".join(event.text for event in events if isinstance(event, Chunk | Done)) == document["text"]


def test_quiet_is_the_answer_alone(tiny_pair):
    quiet = run_here("infer", tiny_pair.target, "-p", "abc", "--quiet", *SHORT).stdout
    assert len(quiet) > 1
    assert "tokens:" not in quiet


def test_prompts_stop_texts_and_system_prompt_come_from_where_it_is_said(tiny_pair, tmp_path):
    question, stops = tmp_path / "question.txt", tmp_path / "stops.txt"
    question.write_text("\ufeffabc\r\n", encoding="utf-8")
    ask = ("infer", tiny_pair.target, "--json", "--seed", 5, "--max-tokens", 40)
    plain = json.loads(run_here(*ask, "-i", question).stdout)
    assert plain["prompt"].startswith("abc")
    stop = plain["text"][10:12]
    stops.write_text(f"\n{stop}\n", encoding="utf-8")
    document = json.loads(run_here(*ask, "-i", question, "--stop", "never said", "--stop-file", stops).stdout)
    assert document["stop_reason"] == "stop"
    assert document["text"] == plain["text"][: plain["text"].index(stop)]
    told = json.loads(run_here(*ask, "-i", question, "-s", "Be brief.").stdout)
    assert told["prompt_tokens"] > plain["prompt_tokens"]


def test_names_that_people_know_from_geniex_mean_the_same(tiny_pair, tmp_path):
    grammar = tmp_path / "list.gbnf"
    grammar.write_text('root ::= "[" [0-9] "]"')
    ask = ("infer", tiny_pair.target, "-p", "abc", "--json", "--seed", 5, "--max-tokens", 20)
    ours = ("--compute", "cpu", "--gpu-layers", "-1", "--slide", "--repeat-penalty", "1.3", "--spec-type", "ngram")
    theirs = ("-c", "cpu", "-n", "-1", "--sliding-window", "--repetition-penalty", "1.3", "--spec-type", "ngram-simple")
    a, b = (json.loads(run_here(*ask, *how).stdout) for how in (ours, theirs))
    assert a["token_ids"] == b["token_ids"]
    assert a["spec_type"] == b["spec_type"] == "ngram"
    for how in (("--grammar-path", grammar), ("--grammar-string", grammar.read_text())):
        assert len(json.loads(json.loads(run_here(*ask, *how).stdout)["text"])) == 1


def test_tokens_of_a_file_are_the_prompt_as_they_are(tiny_pair, tmp_path):
    ids, wrong = tmp_path / "ids.txt", tmp_path / "wrong.txt"
    ids.write_text("1 270 271\n272")
    wrong.write_text("1 4000000000")
    ask = ("infer", tiny_pair.target, "--json", "--temperature", 0, "--max-tokens", 12)
    document = json.loads(run_here(*ask, "--token-file", ids).stdout)
    assert document["prompt_tokens"] == 4
    assert json.loads(run_here(*ask, "-t", ids, "--spec-type", "ngram").stdout)["token_ids"] == document["token_ids"]
    done = run_here(*ask, "-t", wrong)
    assert done.returncode == 2, done.stderr
    done = run_here(*ask, "-t", ids, "-s", "Be brief.")
    assert (done.returncode, "all that the model sees" in done.stderr) == (2, True)


def test_a_model_that_thinks_says_what_the_grammar_wants(tmp_path):
    path = tiny.thinking(tmp_path / "thinking.gguf")
    how = ("--grammar", 'root ::= "yes" | "no"', "--temperature", 0, "--max-tokens", 100)
    done = run_here("infer", path, "-p", "abc", "--quiet", *how)
    assert done.returncode == 0, done.stderr
    thought, _, said = done.stdout.partition("</think>")
    assert tiny.THOUGHT in thought
    assert said.strip() in ("yes", "no")


def test_penalties_change_the_answer(tiny_pair):
    ask = ("infer", tiny_pair.target, "-p", "abc", "--json", "--temperature", 0, "--max-tokens", 40)
    plain, held = (json.loads(run_here(*ask, *how).stdout)["text"] for how in ((), ("--presence-penalty", 50)))
    assert plain != held


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Which model is to answer?"),
        (("starter", "-p", "x", "--json", "--stream-json"), "two forms of output"),
        (("starter", "-p", "x", "-i", "y"), "both say what to answer"),
        (("starter", "-i", "no-such-file"), "Cannot read no-such-file"),
        (("starter", "-p", "x", "--stop-file", "no-such-file"), "Cannot read no-such-file"),
        (("starter", "-p", "x", "-p", "y", "--json"), "--json answers one prompt"),
        (("starter", "-p", "x", "--grammar", "root ::= [0-9]", "--grammar-file", "f"), "both say what to keep to"),
        (("starter", "-p", "x", "--server", "http://127.0.0.1:9", "--pull"), "a server has its own"),
        (("starter", "-p", "x", "--server", "ftp://here"), "is not the address of a server"),
        (("starter", "-p", "x", "--spec-type", "draft-eagle3"), "EAGLE-3"),
        (("starter", "-t", "no-such-file"), "Cannot read no-such-file"),
        (("starter", "-t", "README.md"), "does not hold token numbers"),
        *(
            (("starter", "-p", "x", "--server", "http://127.0.0.1:9", *words), f"{words[0]} is not sent to a server.")
            for words in (
                *(("--threads", "2"), ("--draft-nctx", "512"), ("--cache-type-k", "q8_0"), ("--flash-attn", "on")),
                *(("--draft-compute", "cpu"), ("--slide",), ("--fixed-shape",), ("--lenient", "0.2")),
            )
        ),
        (("x", "-p", "x", "--server", "http://127.0.0.1:9", "--any-rounding"), "--any-rounding is not sent"),
    ],
)
def test_words_that_do_not_go_together_are_exit_code_2(arguments, words, capsys):
    assert _guarded(lambda: run_command(["infer", *arguments])) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert said.out == ""


def test_bytes_that_are_no_text_and_too_many_of_them(tiny_pair):
    def answer(data):
        return subprocess.run(
            [*COMMAND, "infer", os.fspath(tiny_pair.target), "--json", "--max-tokens", "4"],
            cwd=ROOT, env=environment(), input=data, capture_output=True, timeout=60, check=False,
        )  # fmt: skip

    done = answer(b"\xff\xfeabc \x80\n")
    assert done.returncode == 0, done.stderr
    assert "\ufffd" in json.loads(done.stdout)["prompt"]
    done = answer(b"x" * (16 * 1024 * 1024 + 1))
    assert done.returncode == 2
    assert b"longer than 16 MB" in done.stderr


@pytest.mark.linux
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "--stream-json >&-"])
def test_streams_that_are_closed_are_no_traceback(tiny_pair, closed):
    line = f'"{sys.executable}" -m app infer "{tiny_pair.target}" -p abc --max-tokens 4 {closed}'
    done = subprocess.run(
        ["bash", "-c", line], cwd=ROOT, env=environment(), capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"rror" not in done.stderr


MOMENTS_S = [n / 20 for n in range(4, 60)] if os.environ.get("SLIPSTREAM_FULL") == "1" else [0.4, 0.9, 1.5]


@pytest.mark.linux
def test_ctrl_c_at_any_moment_is_no_traceback(tiny_pair):
    for moment_s in MOMENTS_S:
        with started("infer", tiny_pair.target, "-p", "abc", "--max-tokens", 4000, "--temperature", 0) as process:
            time.sleep(moment_s)
            os.killpg(process.pid, signal.SIGINT)
            _output, errors = process.communicate(timeout=60)
        # Before our first line runs, Python says itself that it was interrupted.
        assert process.returncode in (0, 130, -signal.SIGINT), errors
        if process.returncode != -signal.SIGINT:
            assert b"Traceback" not in errors


def test_a_pair_that_does_not_match_answers_and_says_why(tiny_pair):
    how = ("--draft-model", "starter", "--spec-type", "draft-simple")
    done = run_here("infer", tiny_pair.target, "-p", "abc", *how, *SHORT)
    assert done.returncode == 0, done.stderr
    assert "speculation: draft-simple not engaged, because: " in done.stdout
    assert "tokens: 8" in done.stdout


# --- models that are not here -------------------------------------------------------------------------


def test_what_is_missing_is_said_with_the_command_that_gets_it(hub, tiny_pair):
    done = run_here("infer", "org/tiny-GGUF:Q8_0", "-p", "abc")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "error: org/tiny-GGUF:Q8_0 is not on this machine.",
        "hint: Get it with the command pull org/tiny-GGUF:Q8_0, or add --pull.",
    ]


def test_pull_gets_model_and_draft(hub, tiny_pair):
    hub.add("org/tiny-GGUF", "tiny-Q8_0.gguf", tiny_pair.target)
    hub.add("org/small-GGUF", "small-Q8_0.gguf", tiny_pair.draft)
    ask = ("infer", "org/tiny-GGUF:Q8_0", "--draft-model", "org/small-GGUF", "-p", "abc", "--pull", *SHORT)
    first, second = run(*ask), run(*ask)  # of its own: the hub's library reads its switches once a process
    for done in (first, second):
        assert done.returncode == 0, done.stderr
        assert "draft accept: " in done.stdout
    assert "is not on this machine: getting it" in first.stderr
    assert "\r" not in first.stderr
    assert second.stderr == ""


@pytest.mark.parametrize("draft", ["no-such-model", "/no/such/model.gguf", "org/none-GGUF"])
def test_a_draft_that_is_nowhere_is_said_before_the_target_is_got(hub, tiny_pair, draft):
    hub.add("org/tiny-GGUF", "tiny-Q8_0.gguf", tiny_pair.target)
    done = run("infer", "org/tiny-GGUF:Q8_0", "--draft-model", draft, "-p", "abc", "--pull", *SHORT)
    assert done.returncode == 1
    assert draft in done.stderr
    assert not any(seen.origin == "storage" for seen in hub.seen)


def test_a_repository_that_is_not_there_is_said(hub):
    done = run("infer", "org/nothing", "-p", "abc", "--pull")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 2
    assert "Offline" not in done.stderr


# --- a server -----------------------------------------------------------------------------------------


def test_a_server_answers_and_its_figures_are_called_its_own(server):
    done = run("infer", "speaks", "--server", server.url, "-p", "Hi", "--temperature", 0.5, "--seed", 3)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("The slow train **leaves** the station.\n")
    assert "draft accept: 14/75 (18.7%) (reported by the server)\n" in done.stdout
    figures = [line for line in done.stdout.splitlines() if ": " in line and not line.startswith("stop reason")]
    assert all(line.endswith("(reported by the server)") for line in figures)
    asked = server.asked[-1]
    assert (asked["temperature"], asked["seed"]) == (0.5, 3)
    assert not [name for name in asked if name.startswith("spec_") or name == "top_k"]


def test_what_is_said_of_speculation_goes_to_the_server(server):
    how = ("--spec-type", "draft-mtp", "--draft-model", "org/heads", "--draft-tokens", 3, "--nctx", 2048, "-c", "npu")
    how = (*how, "--no-think")
    assert run_here("infer", "speaks", "--server", server.url, "-p", "Hi", *how).returncode == 0
    asked = server.asked[-1]
    assert (asked["spec_type"], asked["spec_draft_model"], asked["spec_n_max"]) == ("draft-mtp", "org/heads", 3)
    assert (asked["nctx"], asked["compute"]) == (2048, "npu")
    assert asked["chat_template_kwargs"] == {"enable_thinking": False}


def test_what_somebody_chose_is_sent_also_where_it_is_as_usual_here(server):
    chosen = ("--temperature", 0.8, "--top-k", 40, "--nctx", 4096, "-c", "cpu", "-n", -1, "--repeat-penalty", 1)
    done = run_here("infer", "speaks", "--server", server.url, "-p", "Hi", *chosen)
    assert done.returncode == 0, done.stderr
    asked = server.asked[-1]
    assert (asked["temperature"], asked["top_k"], asked["nctx"], asked["compute"]) == (0.8, 40, 4096, "cpu")
    assert (asked["ngl"], asked["repeat_penalty"], asked["repetition_penalty"]) == (-1, 1.0, 1.0)
    assert not {"top_p", "min_p", "presence_penalty", "spec_type"} & set(asked)


def test_without_a_name_its_first_model_answers(server):
    done = run_here("infer", "--server", server.url, "-p", "Hi", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["text"] == "The slow train **leaves** the station."
    assert document["reported_by_server"]["accepted"] == 14
    assert server.asked[-1]["model"] == "speaks"


def test_a_stream_of_a_server_as_lines(server):
    done = run_here("infer", "thinks", "--server", server.url, "-p", "Hi", "--stream-json")
    *lines, last = map(msgspec.json.decode, done.stdout.splitlines())
    assert "".join(line.get("reasoning", "") for line in lines) == "A train, then."
    assert (last["type"], last["text"], last["reasoning"]) == ("answer", "It leaves.", "A train, then.")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("nobody.gguf",), "model_not_found"),
        (("no-such-model",), "model_not_found"),
        (("refuses", "--server", ""), "remote"),
        (("breaks", "--server", ""), "remote"),
        (("--server", "http://127.0.0.1:9"), "remote"),
    ],
)
def test_what_fails_is_an_event_of_a_stream_wherever_it_fails(server, arguments, code):
    words = [word or server.url for word in arguments]
    done = run_here("infer", *words, "-p", "Hi", "--stream-json")
    assert done.returncode == 1
    *_lines, last = map(msgspec.json.decode, done.stdout.splitlines())
    assert (last["type"], last["error"]["code"]) == ("failed", code)
    assert last["error"]["message"] in done.stderr


def test_bytes_that_are_no_text_go_to_a_server_as_signs_for_them(server):
    done = run(
        "infer", "speaks", "--server", server.url, "-p", b"a\xff".decode("utf-8", "surrogateescape"), "-s", "\udcfe"
    )
    assert done.returncode == 0, done.stderr
    assert [message["content"] for message in server.asked[-1]["messages"]] == ["\ufffd", "a\ufffd"]


@pytest.mark.parametrize(
    ("model", "said"),
    [("breaks", "Half an \n"), ("fault", "Half an \n"), ("refuses", ""), ("nobody", ""), ("page", "")],
)
def test_a_server_that_fails_is_one_line_and_what_came_is_kept(server, model, said):
    done = run_here("infer", model, "--server", server.url, "-p", "Hi")
    assert done.returncode == 1
    assert done.stdout.strip() == said.strip()
    assert done.stderr.startswith("error: The server")
    assert len(done.stderr.splitlines()) <= 2
    assert "Traceback" not in done.stderr


def test_no_server_is_one_line_and_a_hint():
    with ChatServer() as server:
        url = server.url
    done = run_here("infer", "x", "--server", url, "-p", "Hi")
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == f"error: There is no server at {url}."


@pytest.mark.linux
def test_ctrl_c_stops_a_server_and_keeps_what_came(server):
    with started("infer", "endless", "--server", server.url, "-p", "Hi") as process:
        assert process.stdout.read(20)
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert b"stop reason: cancelled" in output
    assert server.gone.wait(40)


def test_our_own_server_answers_with_its_drafts_and_says_what_is_not_engaged(tiny_pair):
    with started("serve", tiny_pair.target, "--draft-model", tiny_pair.draft, "--port", "0") as serving:
        url = serving.stdout.readline().decode().strip()
        drafted = run_here("infer", "--server", url, "-p", "abc", "--max-tokens", 30, "--seed", 1)
        not_drafted = run_here("infer", "--server", url, "-p", "abc", "--spec-type", "draft-mtp", *SHORT)
    for done in (drafted, not_drafted):
        assert done.returncode == 0, done.stderr
        assert "decode speed: " in done.stdout
    assert "draft accept: " in drafted.stdout
    assert "not engaged, because: " in not_drafted.stdout


# --- the shell ----------------------------------------------------------------------------------------


@pytest.fixture
def completes(tmp_path):
    """Return what a shell is offered for a line."""
    script = tmp_path / "slipstream"
    script.write_text(f"#!{sys.executable}\nimport sys\nfrom app.__main__ import main\nsys.exit(main())\n")
    script.chmod(0o755)

    def complete(line):
        words = {
            "_SLIPSTREAM_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split(" ")) - 1),
        }
        done = subprocess.run(
            [sys.executable, script], cwd=ROOT, env=environment(PYTHONPATH=os.fspath(ROOT), **words),
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return complete


def test_a_shell_completes_commands_options_models_and_types(completes):
    assert "infer" in completes("slipstream in")
    assert "--spec-type" in completes("slipstream infer --spec")
    assert completes("slipstream infer sta") == ["starter"]
    assert completes("slipstream infer starter --spec-type ngram,draft-m") == ["ngram,draft-mtp"]
    assert completes("slipstream infer starter --compute g") == ["gpu"]


def test_models_of_servers_are_offered_where_they_can_answer(completes):
    from app.settings import ModelServer, Settings, save_settings

    save_settings(Settings(servers=(ModelServer(url="http://127.0.0.1:9/v1", models=("stars",)),)))
    assert completes("slipstream infer sta") == ["starter", "stars@127.0.0.1:9"]
    for line in ("bench sta", "serve sta", "profile sta"):
        assert completes(f"slipstream {line}") == ["starter"]


# --- the README ---------------------------------------------------------------------------------------


def examples(marker: str) -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(rf"<!-- {marker} -->\n```\w*\n(.*?)\n```", text, re.DOTALL)[1]
    return [line for line in block.splitlines() if line.strip()]


@pytest.mark.linux
def test_each_example_of_the_readme_does_what_it_says(home, tiny_pair, server):
    folder = home / "data" / "models"
    folder.mkdir(parents=True)
    for name, path in (("target", tiny_pair.target), ("draft", tiny_pair.draft)):
        (folder / f"{name}.gguf").symlink_to(path)
    tiny_mtp.qwen35_embedded(folder / "mtp.gguf")
    for line in examples("infer"):
        command, _, comment = line.partition("  # ")
        command = command.replace("http://127.0.0.1:18181", server.url).replace("--max-tokens 200", QUICK)
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {command}"],
            cwd=ROOT,
            env=environment(PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        for words in re.findall(r"`([^`]+)`", comment):
            assert words in done.stdout, f"{line}\n{done.stdout}"
