"""From the composer to the transcript and the database, through the real host."""

import asyncio

import pytest
from msgspec import structs
from PySide6.QtCore import Qt

from app.chat.conversation import Attachment
from app.chat.store import ChatStore
from app.errors import DecodeError, EngineDiedError, PromptTooLongError
from app.host import ChatRequest
from app.protocol import Cancel, ChatMessage, Generate, Load, NoticeInfo, Tokenise
from app.ui.composing import Editing
from tests.doubles import N_SLID, POEM, Answer, ScriptedEngine, tokens_of

NOTES = Attachment(name="notes.txt", text="one")


def stored(program):
    """Read the newest conversation as another program would."""
    store = ChatStore()
    try:
        heads = store.heads()
        return store.load(heads[0].id).messages if heads else ()
    finally:
        store.close()


def test_a_question_is_answered_shown_and_stored(program):
    async def story():
        view = await program.ask("What rides ahead?")
        assert view.text == POEM
        assert "tok/s" in view.status
        assert "speculation engaged: n-gram, length chosen by what pays" in view.status
        assert program.window.composer.text == ""
        assert program.window.windowTitle() == "What rides ahead? – Slipstream"

    program.run(story)
    question, answer = stored(program)
    assert (question.role, question.text) == ("user", "What rides ahead?")
    assert (answer.text, answer.state, answer.parent_id) == (POEM, "complete", question.id)
    assert answer.stats.n_tokens > 10
    assert answer.stats.engagement.engaged


def test_enter_sends_and_shift_enter_breaks_the_line(program, qtbot):
    async def story():
        editor = program.window.composer.editor
        qtbot.keyClicks(editor, "one")
        qtbot.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        qtbot.keyClicks(editor, "two")
        qtbot.keyClick(editor, Qt.Key.Key_Return)
        await program.until(lambda: program.controller.answering.is_busy)
        await program.until(lambda: not program.controller.answering.is_busy)
        assert program.window.transcript.views[0].text == "one\ntwo"

    program.run(story)


def test_what_comes_at_one_go_is_taken_at_one_go(program):
    program.answers = (Answer(POEM, burst=5),)

    async def story():
        bursts = []
        program.controller.answering.stepped.connect(bursts.append)
        view = await program.ask("All at once")
        assert view.text == POEM
        run = program.host.session.runs[-1]
        assert [step for burst in bursts for step in burst] == list(run.steps)
        assert [len(burst) for burst in bursts] == [5, 5, 4]

    program.run(story)


@pytest.mark.parametrize("written", ["hm, so\n</think>\n\nYes.", "hm, so"])
def test_a_thought_that_the_template_began_is_one_from_its_first_word(program, written):
    program.answers = (
        Answer(written, prompt_end="<|im_start|>assistant\n<think>\n", stop_reason="length"),
        Answer("!"),
    )

    async def story():
        await program.ask("Is it?")
        (_, answer) = program.controller.chats.current.messages
        assert (answer.reasoning.strip(), answer.text) == ("hm, so", "Yes." if "</think>" in written else "")
        program.controller.branching.go_on(1)
        await program.until(lambda: not program.controller.answering.is_busy)
        asked = [command for command in program.engines[0].commands if isinstance(command, Generate)][-1]
        beginning = asked.messages[-1].content
        assert beginning.removeprefix("<think>").strip() == written
        assert program.said.count("<think>") == 1

    program.run(story)


def test_what_is_asked_is_the_conversation_that_it_was_asked_in(program):
    async def story():
        await program.ask("old words")
        old = program.controller.chats.current.id
        program.controller.chats.new()
        program.send("new words")
        program.controller.chats.open(old)  # in the same tick
        await program.until(lambda: not program.controller.answering.is_busy)
        asked = [command for command in program.engines[0].commands if isinstance(command, Generate)][-1]
        assert [message.content for message in asked.messages if message.role == "user"] == ["new words"]

    program.run(story)


def test_a_look_elsewhere_and_a_stop_at_any_moment_of_a_burst_lose_nothing_and_mix_nothing(program):
    program.answers = (Answer(), Answer(burst=2))

    async def story():
        chats, answering = program.controller.chats, program.controller.answering
        await program.ask("old")
        old, lengths = chats.current.id, []
        for n_turns in range(30):
            chats.new()
            n_before = len(program.host.session.runs)
            program.send(f"stopped after {n_turns} turns of the loop")
            for _ in range(n_turns):
                await asyncio.sleep(0)
            own = chats.current.id
            chats.open(old)
            await asyncio.sleep(0)
            chats.open(own)
            answering.stop()
            await program.until(lambda: not answering.is_busy and program.host.state.phase == "idle")
            _, *answers = chats.store.load(own).messages
            text = "".join(message.text for message in answers)
            assert POEM.startswith(text)
            if text:
                assert program.said == text
                (run,) = program.host.session.runs[n_before:]
                assert run.tokens == answers[0].stats.n_tokens == len(tokens_of(text))
            lengths.append(len(text))
        assert len(set(lengths)) > 2
        assert [message.text for message in chats.store.load(old).messages] == ["old", POEM]

    program.run(story)


def test_an_answers_figures_are_its_own_whatever_else_the_session_holds(program):
    program.answers = (Answer(), Answer(pace_s=0.01))

    async def story():
        await program.ask("one")
        program.send("two")
        await program.until(lambda: len(program.said) > 10)
        program.host.session.begin_anew()
        await program.until(lambda: not program.controller.answering.is_busy)
        (run,) = program.host.session.runs
        assert program.controller.chats.current.messages[-1].stats.n_tokens == run.tokens

    program.run(story)


def test_the_history_goes_to_the_engine(program):
    async def story():
        await program.ask("first")
        await program.ask("second")
        (one, two) = [command for command in program.engines[0].commands if isinstance(command, Generate)]
        assert isinstance(one, Generate)
        assert [(m.role, m.content) for m in two.messages] == [
            ("user", "first"),
            ("assistant", POEM),
            ("user", "second"),
        ]

    program.run(story)


def test_esc_stops_and_what_was_said_stays(program, qtbot):
    program.answers = (Answer(pace_s=0.02),)

    async def story():
        program.send("go")
        await program.until(lambda: len(program.said) > 20)
        qtbot.keyClick(program.window.composer.editor, Qt.Key.Key_Escape)
        await program.until(lambda: not program.controller.answering.is_busy)
        assert 20 < len(program.last_answer.text) < len(POEM)
        assert "stopped by you" in program.last_answer.status

    program.run(story)
    answer = stored(program)[-1]
    assert answer.state == "complete"
    assert POEM.startswith(answer.text)
    assert answer.stats.stop_reason == "cancelled"


def test_what_is_sent_during_an_answer_waits_for_its_end(program, qtbot):
    program.answers = (Answer(pace_s=0.01), Answer("Second."))

    async def story():
        composer = program.window.composer
        program.send("go")
        await program.until(lambda: program.controller.answering.is_busy)
        qtbot.keyClicks(composer.editor, "next")
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
        assert (composer.text, composer.queued) == ("", ("next",))
        assert "next" in composer.queue_line.words
        qtbot.keyClicks(composer.editor, "being typed")
        await program.until(lambda: not composer.queued)
        await program.until(lambda: not program.controller.answering.is_busy)
        assert [view.text for view in program.window.transcript.views] == ["go", POEM, "next", "Second."]
        assert composer.text == "being typed"
        assert not composer.queue_line.words

    program.run(story)


@pytest.mark.parametrize("is_editing", [False, True])
def test_what_waits_and_is_refused_is_a_draft_again_and_no_part_of_an_open_edit(program, is_editing):
    program.answers = (Answer(), Answer(pace_s=0.01))

    async def story():
        composer, answering = program.window.composer, program.controller.answering
        await program.ask("go")
        program.send("on")
        await program.until(lambda: program.said)
        composer.files.add(NOTES)
        program.send("next")
        program.send("and then")
        if is_editing:
            composer.editor.setPlainText("a draft")
            composer.begin_edit(Editing(0, program.controller.chats.shown[0].id, "go"), "go elsewhere", is_answer=False)
        else:
            composer.editor.setPlainText("a draft")
        answering.refusal = lambda: "Not now."
        await program.until(lambda: not answering.is_busy)
        assert composer.queued == ()
        assert not composer.queue_line.words
        if is_editing:
            assert (composer.text, composer.is_editing) == ("go elsewhere", True)
            composer.end_edit()
        assert composer.text == "next\n\nand then\n\na draft"
        assert composer.files.files == (NOTES,)
        answering.refusal = lambda: ""

    program.run(story)


def test_a_model_is_called_what_the_picker_calls_it(program):
    async def story():
        await program.ask("go")
        loaded = program.host.state.loaded
        assert loaded.target.name != "starter", "it is the header's name that is not to be shown"
        assert program.controller.chats.shown[-1].model == "starter"
        assert "starter" in program.last_answer.status
        assert program.window.pair_bar.label_of("/models/Some-Q4_0.gguf") == "Some-Q4_0"
        before = structs.replace(program.controller.chats.shown[-1], model="Smollm2 135M 8k")
        program.controller.store.save(before)
        program.controller.chats.reload()
        assert "Smollm2 135M 8k" in program.last_answer.status

    program.run(story)


def test_what_waits_comes_back_when_the_answer_is_stopped_or_the_conversation_left(program, qtbot):
    program.answers = (Answer(pace_s=0.05),)

    async def story():
        composer, chats = program.window.composer, program.controller.chats
        program.send("go")
        await program.until(lambda: len(program.said) > 5)
        program.send("next")
        program.send("and then")
        program.controller.answering.stop()
        await program.until(lambda: not program.controller.answering.is_busy)
        assert (composer.text, composer.queued) == ("next\n\nand then", ())
        # AND when another conversation is opened while something waits
        composer.set_text("")
        program.send("go on")
        await program.until(lambda: program.controller.answering.is_busy)
        program.send("waits")
        number = chats.current.id
        chats.new()
        assert (composer.text, composer.queued) == ("", ())
        chats.open(number)
        assert composer.text == "waits"
        program.controller.answering.stop()
        await program.until(lambda: not program.controller.answering.is_busy)

    program.run(story)


def test_a_streaming_answer_is_on_disk_within_two_seconds(program):
    program.answers = (Answer(text="word " * 400, pace_s=0.02),)

    async def story():
        program.send("go")
        await program.until(lambda: len(program.said) > 10)
        await asyncio.sleep(2.0)
        answer = stored(program)[-1]
        assert answer.state == "streaming"
        assert len(answer.text) > 10
        program.controller.answering.stop()
        await program.until(lambda: not program.controller.answering.is_busy)

    program.run(story)


@pytest.mark.parametrize("burst", [1, 9])
def test_engine_death_keeps_the_half_answer_and_offers_one_button(program, expect_log, burst):
    program.answers = (Answer(die_at=5, burst=burst),)

    async def story():
        await program.ask("go")
        view = program.last_answer
        assert POEM.startswith(view.text)
        assert view.text
        assert "kept" in view.mark
        assert view.offers_restart
        assert program.window.notice.words == "", "a second button would be one too many"
        assert "stopped" in program.window.status
        program.answers = (Answer(text="Alive again."),)
        view.restart_requested.emit()
        await program.until(lambda: program.host.state.phase == "idle")
        assert not view.offers_restart
        assert len(program.engines) == 2
        assert isinstance(program.engines[1].commands[0], Load)
        assert (await program.ask("and now?")).text == "Alive again."

    program.run(story)
    _question, half, _again, whole = stored(program)
    assert half.state == "interrupted"
    assert whole.state == "complete"


def test_engine_death_before_the_first_word_leaves_the_question_and_offers_the_restart_in_a_notice(program):
    program.answers = (Answer(die_at=0),)

    async def story():
        program.send("go")
        await program.until(lambda: not program.controller.answering.is_busy)
        assert "segmentation fault" in program.window.notice.words
        assert len(program.window.transcript.views) == 1

    program.run(story)
    assert [m.text for m in stored(program)] == ["go"]


def test_death_while_idle_is_said_with_the_restart(program):
    async def story():
        assert program.window.panel.foot.record.isEnabled()
        program.engines[0].die()
        await program.until(lambda: program.window.notice.words)
        assert not program.window.panel.foot.record.isEnabled()
        program.send("hello?")
        assert program.window.composer.text == "hello?", "a question that cannot be answered is not lost"
        program.window.notice.on_action()
        await program.until(lambda: program.host.state.phase == "idle")
        assert (await program.ask(program.window.composer.text)).text == POEM

    program.run(story)


@pytest.mark.parametrize("burst", [1, 9])
@pytest.mark.parametrize(
    ("fault", "at", "kept"),
    [
        (
            PromptTooLongError("The prompt has 5,000 tokens; there is room for 4,000.", "Begin a new conversation."),
            0,
            False,
        ),
        (DecodeError("llama_decode failed.", "Try again."), 6, True),
    ],
)
def test_a_failed_answer_says_why_and_keeps_what_there_is(program, fault, at, kept, burst):
    program.answers = (Answer(fault=fault, fault_at=at, burst=burst), Answer())

    async def story():
        program.send("go")
        await program.until(lambda: not program.controller.answering.is_busy)
        assert fault.message in program.window.notice.words
        assert fault.hint in program.window.notice.words
        assert (program.window.transcript.last_answer is not None) == kept
        if kept:
            assert fault.message in program.last_answer.mark
            assert not program.last_answer.offers_restart
        assert (await program.ask("again")).text == POEM

    program.run(story)
    assert stored(program)[1].state == ("interrupted" if kept else "complete")


def test_several_notices_of_an_answer_are_all_shown(program):
    cut = NoticeInfo("prompt_cut", "The oldest 3 messages were left out.", "Choose a longer context.")
    program.answers = (Answer(notices=(NoticeInfo("template", "The template is broken.", "ChatML is used."), cut)),)

    async def story():
        await program.ask("go")
        for words in ("The template is broken. ChatML is used.", "The oldest 3 messages were left out. Choose"):
            assert words in program.window.notice.words

    program.run(story)


def test_notices_of_an_answer_are_shown(program):
    program.answers = (Answer(notices=(NoticeInfo("template", "The template is broken.", "ChatML is used."),)),)

    async def story():
        await program.ask("go")
        assert program.window.notice.words == "The template is broken. ChatML is used."

    program.run(story)


def test_a_question_sent_while_the_model_loads_waits_for_it(program):
    program.engine_options = {"load_s": 0.3}

    async def story():
        program.controller.start()
        await program.until(lambda: program.controller.engine.is_loading)
        program.send("early")
        assert program.window.composer.text == ""
        await program.until(lambda: not program.controller.answering.is_busy)
        assert program.last_answer.text == POEM

    program.run(story, is_started=False)


def test_the_switch_takes_effect_on_the_next_answer_without_a_reload(program):
    async def story():
        bar = program.window.pair_bar
        await program.ask("with")
        bar.toggle_speculation()
        assert bar.speculation_words == "off: the next answer is plain"
        view = await program.ask("without")
        assert "speculation off" in view.status
        bar.toggle_speculation()
        assert bar.speculation_words == "ready: n-gram, length chosen by what pays"
        await program.ask("with again")
        commands = [command for command in program.engines[0].commands if not isinstance(command, Tokenise)]
        assert [type(command).__name__ for command in commands] == ["Load", "Generate", "Generate", "Generate"]
        assert [bool(c.speculation.types) for c in commands[1:]] == [True, False, True]

    program.run(story)


def test_another_conversation_can_be_read_while_an_answer_grows(program):
    program.answers = (Answer(text="First answer."), Answer(pace_s=0.01))

    async def story():
        chats = program.controller.chats
        await program.ask("old")
        old = chats.current.id
        chats.new()
        program.send("growing")
        await program.until(lambda: len(program.said) > 10)
        growing = chats.current.id
        chats.open(old)
        assert program.last_answer.text == "First answer."
        await asyncio.sleep(0.05)
        chats.open(growing)
        assert len(program.last_answer.text) > 10
        await program.until(lambda: not program.controller.answering.is_busy)
        assert program.last_answer.text == POEM
        assert len(program.window.transcript.views) == 2
        assert [m.text for m in chats.current.messages] == ["growing", POEM]

    program.run(story)


def test_an_answer_that_ends_out_of_sight_is_stored(program):
    program.answers = (Answer(pace_s=0.005),)

    async def story():
        program.send("growing")
        await program.until(lambda: program.window.transcript.last_answer is not None)
        program.controller.chats.new()
        await program.until(lambda: not program.controller.answering.is_busy)
        assert len(program.window.transcript.views) == 0

    program.run(story)
    assert [m.text for m in stored(program)] == ["growing", POEM]


def test_closing_in_the_middle_saves_and_ends(program):
    program.answers = (Answer(pace_s=0.02),)

    async def story():
        program.send("go")
        await program.until(lambda: len(program.said) > 20)
        program.window.close()
        await program.controller.closed()
        assert not program.engines[0].alive
        assert not program.window.isVisible()

    program.run(story)
    answer = stored(program)[-1]
    assert answer.state == "interrupted"
    assert len(answer.text) > 20


def test_engine_that_does_not_start_is_said_in_words(program):
    program.engine_options = {"start_fault": EngineDiedError("The engine did not start: a library is missing.")}

    async def story():
        await program.until(lambda: program.window.notice.words)
        assert "did not start" in program.window.notice.words
        program.send("hello")
        assert program.window.composer.text == "hello"

    program.run(story)


@pytest.mark.parametrize("n_ticks", range(5))
def test_a_stop_at_the_end_of_an_answer_stops_no_other_programs(program, n_ticks):
    program.answers = (Answer(), Answer(text="word " * 40, pace_s=0.005))

    async def story():
        program.send("mine")
        await program.until(lambda: program.controller.answering.is_busy)
        theirs = ChatRequest((ChatMessage("user", "theirs"),))

        async def read():
            return [event async for event in program.host.answer(theirs)]

        reading = asyncio.ensure_future(read())
        while not program.host.session.runs:
            await asyncio.sleep(0)
        for _ in range(n_ticks):
            await asyncio.sleep(0)
        program.controller.answering.stop()
        assert (await reading)[-1].stop_reason == "eos"

    program.run(story)


def test_a_stop_in_the_same_tick_as_the_second_question_stops_it(program):
    program.answers = (Answer(), Answer(text="word " * 400, pace_s=0.02))

    async def story():
        await program.ask("first")
        program.controller.answering.ask("second")
        program.controller.answering.stop()
        await program.until(lambda: not program.controller.answering.is_busy, limit_s=4.0)  # the answer takes 8 s

    program.run(story)


class Stopped(ScriptedEngine):
    """Hears nothing any more, as a process does that was stopped, or whose driver hangs."""

    def cancel(self, command_id):
        self.commands.append(Cancel(command_id))


def test_an_engine_that_does_not_react_to_a_stop_can_be_started_again(program):
    engines = [Stopped([Answer(pace_s=0.05), Answer(pace_s=0.05)]), ScriptedEngine([Answer("All is well.")])]
    program.make_engine = lambda: engines.pop(0)

    async def story():
        answering, notice = program.controller.answering, program.window.notice
        answering.patience.setInterval(60)
        program.send("Hello?")
        await program.until(lambda: len(program.said) > 20)
        answering.stop()
        await program.until(lambda: "does not react" in notice.words)
        assert answering.is_busy
        notice.on_action()
        await program.until(lambda: not answering.is_busy and not program.controller.engine.is_loading)
        assert len(program.said) > 20  # the half answer stays
        assert not program.last_answer.offers_restart  # it has been done
        assert notice.words == ""
        assert (await program.ask("And now?")).text == "All is well."

    program.run(story)


class Late(ScriptedEngine):
    """Hears of a stop late, as a process does that is busy with a long batch."""

    def cancel(self, command_id):
        asyncio.get_running_loop().call_later(0.3, super().cancel, command_id)


def test_what_was_said_of_a_slow_stop_is_taken_back_when_it_comes(program):
    program.make_engine = lambda: Late([Answer(pace_s=0.01)])

    async def story():
        answering, notice = program.controller.answering, program.window.notice
        answering.patience.setInterval(1)
        program.send("Hello?")
        await program.until(lambda: program.said)
        answering.stop()
        await program.until(lambda: "does not react" in notice.words)
        await program.until(lambda: not answering.is_busy)
        assert notice.words == ""

    program.run(story)


def test_a_context_that_is_full_in_mid_answer_is_said_at_once_and_in_the_end(program):
    program.answers = (Answer(slides_at=6, slide_s=0.4, pace_s=0.002),)

    async def story():
        program.send("go")
        await program.until(lambda: program.window.transcript.views and "left out" in program.last_answer.status)
        view = program.last_answer
        assert view.status.startswith("The context was full, the oldest 2 messages are left out. Reading the rest: 128")
        assert view.text, "what was written stays in sight"
        assert POEM.startswith(view.text.rstrip())
        await program.until(lambda: not program.controller.answering.is_busy)
        assert program.last_answer.text == POEM
        assert "it went on without the oldest 2 messages" in program.window.notice.words
        assert "longer context" in program.window.notice.words
        run = program.host.session.runs[-1]
        assert run.excluded == "the context was full in mid-answer, and the oldest turns left it"
        assert sum(step.slid for step in run.steps) == N_SLID

    program.run(story)


def test_a_stop_while_the_rest_is_read_again_keeps_what_was_said(program):
    program.answers = (Answer(slides_at=6, slide_s=30.0, pace_s=0.002),)

    async def story():
        program.send("go")
        await program.until(lambda: program.window.transcript.views and "left out" in program.last_answer.status)
        said = program.last_answer.text
        program.controller.answering.stop()
        await program.until(lambda: not program.controller.answering.is_busy)
        assert program.last_answer.text.startswith(said)
        assert "stopped by you" in program.last_answer.status

    program.run(story)
