"""The server's way of each kind of drafting, and that changing it leaves the target where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.host import PairChoice
from app.protocol import Generate, Load
from tests.doubles import Answer
from tests.fixtures import tiny_mtp
from tests.server.conftest import ASK, serving


@pytest.fixture(scope="module")
def pair(tiny_pair):
    with serving(pair=PairChoice(str(tiny_pair.target), n_ctx=2048)) as running:
        yield running, str(tiny_pair.draft)


def ask(running, **fields):
    status, answer = running.post({**ASK, "max_tokens": 24, **fields})
    assert status == 200, answer
    return answer


def test_each_request_drafts_as_it_says_and_the_target_is_loaded_once(pair):
    running, draft = pair
    plain = ask(running, spec_type="none")
    assert plain["timings"]["draft_n"] == 0
    engine, target = running.host.state.loaded, running.host.state.pair.target
    drafted = ask(running, spec_type="draft-simple", spec_draft_model=draft, spec_n_max=3)
    again = ask(running, spec_type="ngram")
    assert drafted["timings"]["draft_n"] > 0
    assert drafted["usage"]["completion_tokens_details"]["accepted_prediction_tokens"] > 0
    assert drafted["timings"]["draft_accept"] is not None
    assert [one["choices"] for one in (drafted, again)] == [plain["choices"]] * 2
    # the target was not loaded again: it still remembers the prompt, and the draft stays for the next who wants it
    assert drafted["usage"]["prompt_tokens_details"]["cached_tokens"] > plain["usage"]["prompt_tokens"] // 2
    assert running.host.state.pair.target == target
    assert running.host.state.pair.draft == draft
    assert engine is not None


def test_what_other_servers_take_for_no_limit_any_seed_and_no_filter_is_taken(pair):
    running, _ = pair
    answer = ask(running, max_tokens=-1, seed=-1, top_k=-1, temperature=1.0, stop=["\n"], nctx=128)
    assert answer["choices"][0]["finish_reason"] in ("stop", "length")
    for name, value in (("max_tokens", 0), ("max_tokens", -2), ("seed", -2), ("top_k", -2)):
        assert running.post({**ASK, name: value})[0] == 400


def test_trees_are_drafted_where_the_target_was_loaded_for_them(tiny_pair):
    pair = PairChoice(str(tiny_pair.target), str(tiny_pair.draft), n_ctx=1024, trees=True)
    with serving(pair=pair) as running:
        plain = ask(running, spec_type="none", temperature=0.8, seed=5)
        loaded = running.host.state.loaded
        answer = ask(running, spec_type="tree", spec_n_max=6, temperature=0.8, seed=5, spec_fixed_shape=True)
        assert running.host.state.loaded is loaded
    assert answer["choices"] == plain["choices"]
    told = answer["timings"]
    assert (told["drafter"], told["lossy"]) == ("tree", False)
    assert told["tree_depth"] >= 1
    assert told["rows_n"] % 7 == 0, "a fixed shape"
    assert 0 < told["rows_n_wasted"] < told["rows_n"]


def test_elsewhere_a_chain_is_drafted_and_the_reason_told(pair):
    running, draft = pair
    answer = ask(running, spec_type="tree", spec_draft_model=draft, spec_n_max=4)
    assert answer["timings"]["drafter"] == "draft-simple"
    assert "not loaded for token trees" in answer["timings"]["not_engaged"]


def test_lenient_acceptance_is_called_lossy(pair):
    running, draft = pair
    asked = {"spec_type": "draft-simple", "spec_draft_model": draft, "spec_n_max": 4, "temperature": 1.0, "seed": 3}
    lossless, lossy = ask(running, **asked), ask(running, **asked, spec_lenient=0.01)
    assert (lossless["timings"]["drafter"], lossless["timings"]["lossy"]) == ("draft-simple", False)
    assert (lossy["timings"]["drafter"], lossy["timings"]["lossy"]) == ("draft-simple,lossy", True)
    assert lossy["timings"]["tokens_per_step"] > lossless["timings"]["tokens_per_step"]


def test_mtp_heads_draft(tmp_path):
    target = tiny_mtp.qwen35_embedded(tmp_path / "tiny-qwen35-embedded.gguf")
    with serving(pair=PairChoice(str(target), n_ctx=1024)) as running:
        answer = ask(running, spec_type="draft-mtp", spec_n_max=3)
    assert answer["timings"]["drafter"] == "draft-mtp"
    assert answer["timings"]["draft_n"] > 0
    assert answer["timings"]["draft_accept"] is not None


def test_a_file_of_heads_drafts_as_heads_do_where_nobody_says_how(tmp_path):
    pair = tiny_mtp.gemma4_pair(tmp_path)
    with serving(pair=PairChoice(str(pair.target), n_ctx=1024)) as running:
        answer = ask(running, spec_draft_model=str(pair.draft), spec_n_max=3)
    assert answer["timings"]["drafter"] == "draft-mtp"
    assert answer["timings"]["draft_n"] > 0


@pytest.mark.parametrize("word", ["ngram-map-k", "ngram-map-k4v", "ngram-simple", "ngram-mod", "ngram-cache"])
def test_names_that_other_servers_have_mean_ngram(scripted, word):
    assert scripted.post({**ASK, "spec_type": word})[0] == 200
    assert scripted.engine.commands[-1].speculation.types == ("ngram",)


def test_trees_draft_where_their_room_was_made_at_the_start(tiny_pair):
    defaults = PairChoice(str(tiny_pair.target), str(tiny_pair.draft), n_ctx=1024, trees=True)
    with serving(pair=defaults) as running:
        plain = ask(running, spec_type="none")
        tree = ask(running, spec_type="tree", spec_n_max=4)
        assert tree["choices"] == plain["choices"]
        assert tree["timings"]["drafter"] == "tree"
        assert running.host.state.pair == defaults


def test_a_prompt_may_be_tokens(pair):
    running, _ = pair

    def completion(prompt):
        return running.post({"prompt": prompt, "max_tokens": 4}, "/v1/completions")

    for prompt in ([1, 270, 271], [[1, 270, 271]]):
        status, answer = completion(prompt)
        assert (status, answer["usage"]["prompt_tokens"]) == (200, 3)
    status, answer = completion([1, 4_000_000])
    assert (status, "token 4000000" in answer["error"]["message"]) == (400, True)
    for prompt in ([], [[]], [-1], [[1], [2]], [1, "a"], [True]):
        assert completion(prompt)[0] == 400


def test_a_draft_that_does_not_fit_is_told_and_the_answer_comes(pair):
    running, _ = pair
    answer = ask(running, spec_type="draft-simple", spec_draft_model="starter")
    assert answer["choices"][0]["message"]["content"]
    assert answer["timings"]["draft_n"] == 0
    assert answer["timings"]["not_engaged"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"spec_type": "magic"}, "not known"),
        ({"spec_type": "draft-simple"}, "needs a draft model"),
        ({"spec_type": "ngram", "spec_draft_model": "starter"}, "does not use it"),
        ({"spec_type": "ngram", "spec_n_max": 2, "spec_n_min": 5}, "No draft could be used"),
        ({"spec_n_max": 99}, "spec_n_max"),
        ({"spec_lenient": 1.5}, "spec_lenient"),
        ({"compute": "abacus"}, "abacus"),
        ({"n": 2}, "n"),
        ({"logit_bias": {"5": 1}}, "logit_bias"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "tool_call_id"),
        ({"messages": [{"role": "user"}]}, "no content"),
        ({"tool_choice": "required"}, "no tools"),
        ({"response_format": {"type": "json_schema"}}, "json_schema.schema"),
        ({"top_logprobs": 2}, "needs logprobs"),
    ],
)
def test_words_that_do_not_go_together_are_refused(scripted, fields, words):
    status, answer = scripted.post({**ASK, **fields})
    assert status == 400
    assert words in answer["error"]["message"]


def test_a_request_may_have_another_model_loaded_and_the_next_has_the_first_again(tiny_pair):
    with serving([Answer()]) as running:
        for fields in ({}, {"model": str(tiny_pair.target)}, {"model": "starter", "nctx": 512}, {}):
            assert running.post({**ASK, **fields})[0] == 200
        loads = [(Path(one.target).stem, one.n_ctx) for one in running.engine.commands if isinstance(one, Load)]
        starter = loads[0][0]
        assert loads == [(starter, 4096), (tiny_pair.target.stem, 4096), (starter, 512), (starter, 4096)]
        assert [entry.model for entry in running.server.log.entries()][1] == tiny_pair.target.stem


def test_where_a_person_has_chosen_no_request_changes_it(tiny_pair):
    with serving([Answer()], may_switch=False) as running:
        assert running.post(ASK)[0] == 200
        for fields in ({"model": str(tiny_pair.target)}, {"nctx": 512}, {"spec_draft_model": str(tiny_pair.draft)}):
            status, answer = running.post({**ASK, **fields})
            assert (status, "Choose it in the window" in answer["error"]["message"]) == (400, True)
        assert running.post({**ASK, "spec_type": "ngram"})[0] == 200


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [({}, None), ({"enable_think": False}, False), ({"chat_template_kwargs": {"enable_thinking": True}}, True)],
)
def test_thoughts_are_switched_by_either_programs_word(scripted, fields, wanted):
    assert scripted.post({**ASK, **fields})[0] == 200
    (asked,) = (command for command in scripted.engine.commands if isinstance(command, Generate))
    assert asked.templating.reasoning is wanted


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"reasoning_effort": "high"}, (None, "high")),
        ({"reasoning_effort": "minimal"}, (None, "low")),
        ({"reasoning_effort": "none"}, (False, None)),
        ({"reasoning_effort": "none", "enable_think": True}, (True, None)),
        ({"chat_template_kwargs": {"reasoning_effort": "medium"}}, (None, "medium")),
    ],
)
def test_the_effort_is_openais_and_the_templates(scripted, fields, wanted):
    assert scripted.post({**ASK, **fields})[0] == 200
    (asked,) = (command for command in scripted.engine.commands if isinstance(command, Generate))
    assert (asked.templating.reasoning, asked.templating.reasoning_effort) == wanted


def test_an_effort_that_nobody_knows_is_refused(scripted):
    assert scripted.post({**ASK, "reasoning_effort": "very"})[0] == 400


def test_a_request_says_how_many_layers_go_to_the_device():
    with serving([Answer()]) as running:
        for fields, n_layers in (({"ngl": 3}, 3), ({}, -1)):
            assert running.post({**ASK, **fields})[0] == 200
            assert running.host.state.pair.n_device_layers == n_layers
        assert running.post({**ASK, "ngl": -2})[0] == 400
