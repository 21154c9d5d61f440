"""The template process: what templates expect, what they may not do, and that it never outlives us."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import psutil
import pytest

from app.engine.template import RENDER_LIMIT_S, Renderer, chatml
from app.models.library import Library
from app.protocol import ChatMessage, Templating, Tool, ToolCall
from tests.fair_time import FairWatch

SYSTEM, USER = ChatMessage("system", "Be brief."), ChatMessage("user", "Grüße <&> 🚄")
CHAT = (SYSTEM, USER, ChatMessage("assistant", "Hallo."), ChatMessage("user", "Und jetzt?"))

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
NO_SYSTEM = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('No system role') }}{% endif %}"
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Roles must alternate') }}{% endif %}[{{ m['role'] }}]{{ m['content'] | trim }}{% endfor %}"
)
ENDLESS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
HUGE = "{{ 'a' * 3000000000 }}"


@pytest.fixture
def renderer():
    made = Renderer()
    yield made
    made.close()


def template_processes() -> list[psutil.Process]:
    living = (p for p in psutil.Process().children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE)
    return [p for p in living if p.cmdline()[-1:] == ["template"]]


# --- what templates expect ----------------------------------------------------------------------------


def test_a_chat_is_rendered_as_the_template_says(renderer):
    prompt, notices = renderer.render(CHATML, CHAT)
    assert prompt == chatml(CHAT)
    assert notices == ()


def test_the_starters_own_template(renderer):
    template = Library().header(Library().resolve("starter").path).text("tokenizer.chat_template")
    prompt, notices = renderer.render(template, (USER,))
    assert prompt.startswith("<|im_start|>system\nYou are a helpful AI assistant named SmolLM")
    assert prompt.endswith(f"<|im_start|>user\n{USER.content}<|im_end|>\n<|im_start|>assistant\n")
    assert notices == ()


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ messages[0].content | tojson }}", '"Grüße <&> 🚄"'),
        ("{{ bos_token }}{{ messages[0].content }}{{ eos_token }}", "<s>Grüße <&> 🚄</s>"),
        ("{% generation %}{{ messages[0].content }}{% endgeneration %}", "Grüße <&> 🚄"),
        (
            "{% for i in range(9) %}{% if i > 1 %}{% break %}{% endif %}{{ i }}{% endfor %}{{ messages[0].content }}",
            "01",
        ),
        ("  {% if true %}\n{{ messages[0].content }}\n{% endif %}", "Grüße <&> 🚄\n"),
        ("{% set ns = namespace(n=1) %}{% set ns.n = 2 %}{{ ns.n }}{{ messages[0]['content'] }}", "2Grüße"),
        ("{{ strftime_now('%Y') | length }}{{ messages[0].content }}{% if tools %}tools{% endif %}", "4Grüße <&> 🚄"),
        ("{{ messages[0].content[::-1][::-1] }}{{ messages[-1].role.upper() }}", "USER"),
    ],
)
def test_what_templates_use(renderer, template, expected):
    prompt, notices = renderer.render(template, (USER,), bos="<s>", eos="</s>")
    assert expected in prompt
    assert notices == ()


def test_a_system_prompt_is_folded_into_the_first_message_where_the_template_takes_none(renderer):
    prompt, notices = renderer.render(NO_SYSTEM, CHAT, bos="<s>")
    assert prompt == "<s>[user]Be brief.\n\nGrüße <&> 🚄[assistant]Hallo.[user]Und jetzt?"
    assert [notice.code for notice in notices] == ["template_no_system"]


def test_a_template_that_silently_drops_the_system_prompt_is_given_it_in_the_first_message(renderer):
    template = "{% for m in messages if m.role != 'system' %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    prompt, notices = renderer.render(template, (SYSTEM, USER))
    assert prompt == "[user]Be brief.\n\nGrüße <&> 🚄"
    assert [notice.code for notice in notices] == ["template_no_system"]


def test_neighbours_of_one_role_are_joined_where_roles_must_alternate(renderer):
    twice = (USER, ChatMessage("user", "Noch da?"))
    assert renderer.render(NO_SYSTEM, twice) == ("[user]Grüße <&> 🚄\n\nNoch da?", ())


def test_a_template_that_wants_parts_gets_parts(renderer):
    template = "{% for m in messages %}[{{ m.role }}]{% for part in m.content %}{{ part.text }}{% endfor %}{% endfor %}"
    assert renderer.render(template, (SYSTEM, USER)) == ("[system]Be brief.[user]Grüße <&> 🚄", ())


def test_a_template_may_change_what_was_written(renderer):
    template = "{% for m in messages %}{{ m.content | replace('<&>', 'and') }}{% endfor %}"
    assert renderer.render(template, (USER,)) == ("Grüße and 🚄", ())


def test_thoughts_may_be_cut_from_earlier_answers(renderer):
    said = "{{ m.content.split('</think>')[-1] if m.role == 'assistant' else m.content }}"
    template = "{% for m in messages %}" + said + "|{% endfor %}"
    chat = (USER, ChatMessage("assistant", "<think>hm</think>Ja"), ChatMessage("user", "Gut"))
    assert renderer.render(template, chat) == ("Grüße <&> 🚄|Ja|Gut|", ())


SWITCHED = (
    "{% for m in messages %}{{ m.content }}{% endfor %}{% if NAME is defined and not NAME %}<think></think>{% endif %}"
)


@pytest.mark.parametrize("name", ["enable_thinking", "thinking", "reasoning"])
def test_a_template_with_a_switch_for_reasoning_is_told_what_it_is_set_to(renderer, name):
    template = SWITCHED.replace("NAME", name)
    for reasoning, end in ((None, "🚄"), (True, "🚄"), (False, "<think></think>")):
        got = renderer.prompt(template, (USER,), Templating(reasoning=reasoning))
        assert got.text.endswith(end)
        assert got.has_reasoning_switch
        assert got.notices == ()


def test_a_variable_of_the_templates_own_is_no_switch(renderer):
    template = "{% set thinking = messages[0].thinking %}{{ messages[0].content }}{{ thinking }}"
    assert not renderer.prompt(template, (USER,)).has_reasoning_switch


def test_reasoning_that_a_template_cannot_switch_is_said(renderer):
    got = renderer.prompt(CHATML, (USER,), Templating(reasoning=False))
    assert got.text == chatml((USER,))
    assert [notice.code for notice in got.notices] == ["reasoning_unknown"]


EFFORT = (
    '{% if reasoning_effort is not defined %}{% set reasoning_effort = "medium" %}{% endif %}'
    "{% for m in messages %}{{ m.content }}{% endfor %} Reasoning: {{ reasoning_effort }}"
)


@pytest.mark.parametrize(("effort", "end"), [(None, "medium"), ("low", "low"), ("high", "high")])
def test_a_template_that_knows_an_effort_is_told_what_it_is_set_to(renderer, effort, end):
    got = renderer.prompt(EFFORT, (USER,), Templating(reasoning_effort=effort))
    assert got.text.endswith(f"Reasoning: {end}")
    assert (got.has_reasoning_effort, got.has_reasoning_switch, got.notices) == (True, False, ())


def test_an_effort_that_a_template_does_not_know_is_said(renderer):
    got = renderer.prompt(CHATML, (USER,), Templating(reasoning_effort="high"))
    assert (got.text, got.has_reasoning_effort) == (chatml((USER,)), False)
    assert [notice.code for notice in got.notices] == ["reasoning_effort_unknown"]


def test_a_template_that_was_set_takes_the_place_of_the_models_own(renderer):
    got = renderer.prompt(CHATML, (USER,), Templating(template="[{{ messages[0].content }}]"))
    assert (got.text, got.notices, got.template) == (f"[{USER.content}]", (), "[{{ messages[0].content }}]")
    assert renderer.prompt(None, (USER,), Templating(template="[{{ messages[0].content }}]")).notices == ()


@pytest.mark.parametrize("bad", ["{% if", "a fixed text", "{{ 'a' * 3000000000 }}"])
def test_a_template_that_was_set_and_does_not_work_costs_a_notice(renderer, bad):
    got = renderer.prompt(CHATML, CHAT, Templating(template=bad))
    assert (got.text, got.template) == (chatml(CHAT), CHATML)
    assert [notice.code for notice in got.notices] == ["template_override_broken"]
    assert "the model's own is used" in got.notices[0].message
    got = renderer.prompt(None, CHAT, Templating(template=bad))
    assert (got.text, got.template) == (chatml(CHAT), "")
    assert "the ChatML format is used" in got.notices[0].message


def test_an_endless_template_that_was_set_costs_its_limit_and_the_next_time_nothing(renderer):
    for limit_s in (3.0, 3.0, 0.2):
        watch = FairWatch()
        got = renderer.prompt(CHATML, CHAT, Templating(template=ENDLESS))
        assert watch.took_s < limit_s + 0.5
        assert (got.text, got.template) == (chatml(CHAT), CHATML)
        assert "2 seconds" in got.notices[0].message


# --- what they may not do -----------------------------------------------------------------------------


def test_no_template_is_chatml_with_a_notice(renderer):
    prompt, notices = renderer.render(None, CHAT)
    assert prompt == chatml(CHAT)
    assert [notice.code for notice in notices] == ["template_missing"]


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{% if", "unexpected"),
        ("{#", "leaves out what you wrote"),
        ("{{ raise_exception('only on Sundays') }}", "only on Sundays"),
        ("{{ messages.append(1) }}{{ messages[0].content }}", "unsafe"),
        ("{{ messages[0].__class__.__mro__ }}", "unsafe"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "itself without end"),
        ("a fixed text", "leaves out what you wrote"),
        ("{{ unknown.thing.of.things }}", "undefined"),
        (HUGE, "more text"),
        ("{% for i in range(99999) %}{{ 'abc' * 9999 }}{% endfor %}", "more text"),
        ("{{ 'a' * 200000000 }}", "more text"),
        ("{{" + "(" * 50000 + "1" + ")" * 50000 + "}}", ""),
    ],
)
def test_a_bad_template_is_chatml_with_a_notice_in_time(renderer, template, why):
    watch = FairWatch()
    prompt, (notice,) = renderer.render(template, CHAT)
    assert watch.took_s < 3
    assert prompt == chatml(CHAT)
    assert notice.code == "template_broken"
    assert why in notice.message
    assert notice.hint
    assert renderer.render(CHATML, CHAT) == (chatml(CHAT), ())  # and the next one is served


def test_an_endless_template_is_chatml_within_three_seconds_and_then_at_once(renderer):
    for _ in range(2):
        watch = FairWatch()
        prompt, (notice,) = renderer.render(ENDLESS, CHAT)
        assert watch.took_s < 3
        assert prompt == chatml(CHAT)
        assert f"{RENDER_LIMIT_S:.0f} seconds" in notice.message
    watch = FairWatch()
    assert renderer.render(ENDLESS, CHAT) == (prompt, (notice,))
    assert watch.took_s < 0.1
    assert renderer.render(CHATML, CHAT) == (chatml(CHAT), ())


# --- the process --------------------------------------------------------------------------------------


def test_a_warm_render_takes_less_than_five_milliseconds(renderer):
    renderer.render(CHATML, CHAT)
    times = []
    for _ in range(50):
        watch = FairWatch()
        renderer.render(CHATML, CHAT * 20)
        times.append(watch.took_s)
    assert sorted(times)[25] < 0.005


def test_one_child_serves_many_threads(renderer):
    wrong = []

    def render_some(name):
        for i in range(25):
            chat = (ChatMessage("user", f"{name} {i}"),)
            if renderer.render(CHATML, chat) != (chatml(chat), ()):
                wrong.append((name, i))

    threads = [threading.Thread(target=render_some, args=(f"thread {n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    assert len(template_processes()) <= 1
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(template_processes()) == 1


def test_a_child_that_was_killed_is_replaced(renderer):
    renderer.warm()
    assert renderer.render(CHATML, CHAT) == (chatml(CHAT), ())
    (child,) = template_processes()
    child.kill()
    assert renderer.render(CHATML, CHAT) == (chatml(CHAT), ())
    assert template_processes() != [child]


def test_closing_ends_the_child_and_may_be_repeated(renderer):
    renderer.render(CHATML, CHAT)
    (child,) = template_processes()
    renderer.close()
    renderer.close()
    assert not child.is_running()


def test_a_renderer_that_was_never_used_starts_nothing(renderer):
    renderer.render(None, CHAT)
    assert template_processes() == []


@pytest.mark.parametrize("busy", [False, True])
def test_the_child_goes_when_its_parent_is_killed(busy):
    """Idle, or in the middle of an endless template."""
    code = (
        "import threading, time\n"
        "from app.engine.template import Renderer\n"
        "from app.protocol import ChatMessage, Templating, Tool, ToolCall\n"
        "renderer = Renderer()\n"
        "chat = (ChatMessage('user', 'x'),)\n"
        "renderer.render('{{ messages[0].content }}', chat)\n"
        f"threading.Thread(target=renderer.render, args=({ENDLESS!r} if {busy} else 'x', chat)).start()\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert parent.stdout.readline() == b"ready\n"
        time.sleep(0.3)
        (child,) = psutil.Process(parent.pid).children()
    finally:
        parent.kill()
        parent.communicate()
    _, alive = psutil.wait_procs([child], timeout=30)
    for process in alive:
        process.kill()
    assert alive == []


def test_the_child_loads_nothing_that_it_does_not_need():
    code = "import sys; from app.engine import template, chat_template; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.decode().split()
    assert "jinja2" in loaded
    assert not {"llama_cpp", "numpy", "PySide6", "asyncio"} & set(loaded)


@pytest.mark.linux
def test_the_childs_memory_is_capped(renderer):
    renderer.render(CHATML, CHAT)
    (child,) = template_processes()
    assert child.rlimit(psutil.RLIMIT_AS) == (512 * 1024 * 1024, 512 * 1024 * 1024)
    assert child.memory_info().rss < 64 * 1024 * 1024


# --- tools --------------------------------------------------------------------------------------------

WEATHER = Tool("weather", "Tells the weather.", '{"type": "object", "properties": {"city": {"type": "string"}}}')
CALLED = (
    USER,
    ChatMessage("assistant", "", (ToolCall("weather", '{"city": "Oslo"}', "call_1"),)),
    ChatMessage("tool", "Rain.", tool_call_id="call_1"),
)
KNOWS_TOOLS = (
    "{% for tool in tools or [] %}{{ tool | tojson }}{% endfor %}{% for m in messages %}[{{ m.role }}]{{ m.content }}"
    "{% for call in m.tool_calls or [] %}<tool_call>{{ call.function.name }}:{{ call.function.arguments.city }}"
    "{% endfor %}{% endfor %}"
)


def test_a_template_that_knows_tools_gets_them_and_the_calls_as_values(renderer):
    prompt, notices = renderer.render(KNOWS_TOOLS, CALLED, Templating((WEATHER,)))
    assert notices == ()
    assert prompt.startswith('{"type": "function", "function": {"name": "weather", "description": "Tells the weather."')
    assert prompt.endswith("[assistant]<tool_call>weather:Oslo[tool]Rain.")


@pytest.mark.parametrize("template", [CHATML, "{{ tools[0].nothing.here }}<tool_call>", None])
def test_any_other_gets_them_in_words_and_says_so(renderer, template):
    prompt, notices = renderer.render(template, CALLED, Templating((WEATHER,)))
    assert '{"name": "weather", "description": "Tells the weather.", "parameters":' in prompt
    assert '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>' in prompt
    assert "<tool_response>\nRain.\n</tool_response>" in prompt
    assert notices[-1].code == ("template_no_tools" if template == CHATML else notices[0].code)


def test_what_is_said_about_tools_stands_behind_the_persons_own_system_prompt(renderer):
    prompt, _ = renderer.render(CHATML, (SYSTEM, USER), Templating((WEATHER,)))
    assert prompt.startswith(f"<|im_start|>system\n{SYSTEM.content}\n\nYou can call functions.")
