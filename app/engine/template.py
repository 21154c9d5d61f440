"""Messages to prompt, in a child process that can be killed.

A chat template comes with the model file and is a program by somebody else: it may be broken, never end, or make
gigabytes of text inside the Jinja sandbox. So a child renders it, with a memory cap and a time limit, and whatever it
does to itself costs at most that limit: the answer is then a ChatML prompt and a notice that says why.

The child is warm (:mod:`app.engine.warm_child`): started once, fed one line of JSON a request, restarted when it is
gone.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from msgspec import structs

from app.engine import leash
from app.engine.tool_words import PLAIN, in_words
from app.engine.warm_child import NoAnswerError, WarmChild, serve
from app.protocol import ChatMessage, NoticeInfo, Templating

RENDER_LIMIT_S = 2.0
MEMORY_LIMIT_BYTES = 512 * 1024 * 1024
_STRIKES = 2  # so often may a template run out of time before it is not tried again
_MOST_STRUCK = 32  # so many such templates are remembered: one that is being written is many

logger = logging.getLogger(__name__)


class _Request(msgspec.Struct, frozen=True):
    template: str
    messages: tuple[ChatMessage, ...]
    bos: str
    eos: str
    templating: Templating = Templating()


class _Reply(msgspec.Struct, frozen=True):
    """What the child says: a prompt and how the messages were written, or a fault (``huge`` or a sentence).

    ``tools_in_words``: the template knows nothing of tools.
    """

    text: str = ""
    tools_in_words: bool = False
    writing: str = ""
    has_switch: bool = False
    has_effort: bool = False
    huge: bool = False
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Rendering:
    """A rendered conversation, what a person should know about it, and the template that made it ("" for none)."""

    text: str
    notices: tuple[NoticeInfo, ...] = ()
    template: str = ""
    has_reasoning_switch: bool = False
    has_reasoning_effort: bool = False

    @property
    def said(self) -> tuple[str, tuple[NoticeInfo, ...]]:
        """The text, and what a person should know about it."""
        return self.text, self.notices


def chatml(messages: Sequence[ChatMessage]) -> str:
    """Return the conversation in ChatML, the format that most models have seen."""
    turns = "".join(f"<|im_start|>{message.role}\n{message.content}<|im_end|>\n" for message in messages)
    return f"{turns}<|im_start|>assistant\n"


def _plain(messages: Sequence[ChatMessage], templating: Templating) -> str:
    return chatml(in_words(messages, templating.tools))


class Renderer:
    """Renders chat templates; owns the child. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child = WarmChild("template", MEMORY_LIMIT_BYTES)
        self._strikes: dict[str, int] = {}

    def warm(self) -> None:
        """Start the child now, so that the first prompt need not wait for it."""
        with self._lock:
            self._child.start()

    def render(
        self,
        template: str | None,
        messages: Sequence[ChatMessage],
        templating: Templating = PLAIN,
        *,
        bos: str = "",
        eos: str = "",
    ) -> tuple[str, tuple[NoticeInfo, ...]]:
        """Return the prompt and what a person should know about how it was made; see :meth:`prompt`."""
        return self.prompt(template, messages, templating, bos=bos, eos=eos).said

    def prompt(
        self,
        template: str | None,
        messages: Sequence[ChatMessage],
        templating: Templating = PLAIN,
        *,
        bos: str = "",
        eos: str = "",
    ) -> Rendering:
        """Return the prompt, ready for the assistant to speak.

        It is made by the template that was set in place of the model's own (``template``), else by that; ChatML where
        there is none or it does not work. Never raises for a bad template, and takes at most ``RENDER_LIMIT_S`` for
        each of the two (and a cold start of the child). ``goes_on`` is not heeded here.
        """
        notices: list[NoticeInfo] = []
        for source in (templating.template, template):
            if source is None:
                continue
            told = structs.replace(templating, template=None)
            request = msgspec.json.encode(_Request(source, tuple(messages), bos, eos, told)) + b"\n"
            with self._lock:
                reply = self._reply(source, request)
            if not reply.fault:
                notices += _notices_of(reply, templating)
                return Rendering(reply.text, tuple(notices), source, reply.has_switch, reply.has_effort)
            logger.info("a chat template does not work: %s", reply.fault)
            is_own = source is template
            notices.append(_broken(reply.fault) if is_own else _override_broken(reply.fault, is_last=template is None))
        return Rendering(_plain(messages, templating), tuple(notices) or (_MISSING,))

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._child.close()

    def _reply(self, template: str, request: bytes) -> _Reply:
        if self._strikes.get(template, 0) >= _STRIKES:
            return _Reply(fault=_ENDLESS)
        try:
            reply = msgspec.json.decode(self._child.ask(request, RENDER_LIMIT_S), type=_Reply)
        except NoAnswerError as fault:
            return _Reply(fault=self._struck(template) if fault.is_late else _GONE if fault.did_start else _NOT_STARTED)
        except msgspec.MsgspecError as fault:
            logger.info("the template process does not speak any more: %s", fault)
            self._child.drop()
            return _Reply(fault=_GONE)
        if reply.huge:
            self._child.drop()  # after an exhausted memory nothing in there is to be trusted
        return reply

    def _struck(self, template: str) -> str:
        """Remember that a template ran out of time; return what is wrong with it."""
        self._strikes = {**self._strikes, template: self._strikes.get(template, 0) + 1}
        self._strikes = dict(list(self._strikes.items())[-_MOST_STRUCK:])
        return _ENDLESS


_GONE = "the process that renders it came to an end"
_NOT_STARTED = "the process that renders it did not start"
_ENDLESS = f"it was not finished after {RENDER_LIMIT_S:.0f} seconds"
_HUGE = "it makes more text than a prompt can have"
_MISSING = NoticeInfo(
    code="template_missing",
    message="This model file has no chat template; the ChatML format is used.",
    hint="If the answers look odd, use a file of the same model that brings its template.",
)
_FOLDED = NoticeInfo(
    code="template_no_system",
    message="This model's chat template takes no system prompt; it was put in front of the first message.",
)
_NO_TOOLS = NoticeInfo(
    code="template_no_tools",
    message="This model's chat template knows no tools; they were described in the system prompt.",
)
_WRITINGS = {"folded": _FOLDED, "folded parts": _FOLDED}


_NO_SWITCH = NoticeInfo(
    code="reasoning_unknown",
    message="This model's chat template has no switch for reasoning, so the setting changes nothing.",
    hint="Set reasoning to “As the model likes”, or ask for it in the system prompt.",
)

_NO_EFFORT = NoticeInfo(
    code="reasoning_effort_unknown",
    message="This model's chat template knows no reasoning effort, so the setting changes nothing.",
    hint="Set the effort to “As the model likes”, or ask for short or long thoughts in the system prompt.",
)


BROKEN = frozenset({"template_broken", "template_override_broken"})
"""Codes of notices that say that a prompt has another form than it should."""


def _notices_of(reply: _Reply, templating: Templating) -> list[NoticeInfo]:
    is_idle = templating.reasoning is not None and not reply.has_switch
    notices = (
        _WRITINGS.get(reply.writing),
        _NO_TOOLS if reply.tools_in_words else None,
        _NO_SWITCH if is_idle else None,
        _NO_EFFORT if templating.reasoning_effort is not None and not reply.has_effort else None,
    )
    return [notice for notice in notices if notice is not None]


def _override_broken(fault: str, *, is_last: bool) -> NoticeInfo:
    instead = "the ChatML format is used" if is_last else "the model's own is used"
    return NoticeInfo(
        code="template_override_broken",
        message=f"The chat template that was set for this model does not work ({fault}); {instead}.",
        hint="Correct it, or take it away.",
    )


def _broken(fault: str) -> NoticeInfo:
    return NoticeInfo(
        code="template_broken",
        message=f"This model's chat template does not work ({fault}); the ChatML format is used.",
        hint="If the answers look odd, use a file of the same model with a working template.",
    )


# --- in the child -----------------------------------------------------------------------------------


def _rendered(line: bytes) -> _Reply:
    from app.engine import chat_template

    request = msgspec.json.decode(line, type=_Request)
    try:
        rendering = chat_template.render(
            request.template, request.messages, request.bos, request.eos, request.templating
        )
        has_switch = bool(chat_template.reasoning_switches(request.template))
        has_effort = chat_template.knows_effort(request.template)
        return _Reply(rendering.text, rendering.tools_in_words, rendering.writing, has_switch, has_effort)
    except (chat_template.HugeTextError, MemoryError):
        return _Reply(huge=True, fault=_HUGE)
    except chat_template.DeafTemplateError:
        return _Reply(fault="it leaves out what you wrote")
    except RecursionError:
        return _Reply(fault="it calls itself without end")
    except Exception as fault:
        text = " ".join(str(fault).split()) or type(fault).__name__
        return _Reply(fault=text if len(text) <= 200 else text[:199] + "…")


def main() -> int:
    """Run the template process: one request a line in, one reply a line out, until the input ends."""
    leash.tie()
    leash.limit_memory(MEMORY_LIMIT_BYTES)
    from app.engine import chat_template  # Jinja2 is loaded before the first request, not in its time

    chat_template.render("{{ messages[0].content }}", (ChatMessage("user", "warm"),))
    return serve(_answer, 2 * RENDER_LIMIT_S)


def _answer(line: bytes) -> tuple[bytes, bool]:
    reply = _rendered(line)
    return msgspec.json.encode(reply), not reply.huge
