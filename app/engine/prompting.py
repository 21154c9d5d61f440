"""Between a loaded model and the template process: conversations into its form, to be answered or looked at."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.going_on import begins_with
from app.engine.llama import Grammar, Model
from app.engine.loading import LoadedModel
from app.engine.prompt import MAX_CONTEXTS_TO_SLIDE, Prompt, Slid, make_prompt, slide_on, tokens_of
from app.engine.prompt import Render as RenderText
from app.engine.template import Renderer, Rendering
from app.engine.thoughtful_grammar import Start, with_thought
from app.errors import PromptTooLongError
from app.protocol import ChatMessage, Generate, Render, Rendered, Templating


class Prompting:
    """Makes the prompts of one session; owns the renderer."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self.said: list[int] = []
        """The tokens of the last prompt with its answer, which may be asked to go on."""
        self.n_asked = 0
        """How many of them came before the answer."""
        self.n_gone = 0
        """How many have left the context in slides of that answer."""

    def close(self) -> None:
        """End the template process."""
        self._renderer.close()

    def render(self, model: Model, messages: Sequence[ChatMessage], templating: Templating) -> Rendering:
        """Return what the template makes of messages. Thread-safe."""
        bos, eos = model.text_of(model.bos), model.text_of(model.eos)
        return self._renderer.prompt(model.chat_template(), messages, templating, bos=bos, eos=eos)

    def preview(self, target: LoadedModel, command: Render) -> Rendered:
        """Return the prompt as an answer would have it, and how many tokens it takes. Thread-safe."""
        goes_on = command.templating.goes_on and bool(command.messages)
        messages = command.messages[:-1] if goes_on else command.messages
        beginning = command.messages[-1].content if goes_on else ""
        rendering = self.render(target.model, messages, command.templating)
        n_ctx = target.context.n_ctx
        limits = n_ctx * MAX_CONTEXTS_TO_SLIDE, n_ctx
        render = self._render_for(target.model)
        try:
            n_tokens = len(tokens_of(command.messages, command.templating, target.model, render, (), limits).tokens)
        except PromptTooLongError:
            n_tokens = 0
        return Rendered(
            id=command.id,
            prompt=rendering.text + beginning,
            notices=rendering.notices,
            n_tokens=n_tokens,
            has_reasoning_switch=rendering.has_reasoning_switch,
            has_reasoning_effort=rendering.has_reasoning_effort,
            template=rendering.template,
        )

    def prompt(self, target: LoadedModel, command: Generate) -> Prompt:
        """Return the tokens of a request.

        Raises:
            UsageError: there is no prompt, or two.
            PromptTooLongError: the context has no room for an answer.
        """
        render = self._render_for(target.model)
        return make_prompt(command, target.model, target.context.n_ctx, render, self.said[self.n_asked :])

    def take(self, prompt: Prompt) -> None:
        """Let an answer be put behind its prompt; one that goes on keeps the places of what it has said."""
        begun = prompt.tokens[len(prompt.tokens) - prompt.n_begun :]
        is_said = bool(begun) and self.said[self.n_asked :][: len(begun)] == begun
        self.n_gone = max(0, self.n_gone + self.n_asked + len(begun) - len(prompt.tokens)) if is_said else 0
        self.said, self.n_asked = prompt.tokens, len(prompt.tokens) - prompt.n_begun

    def slide(self, target: LoadedModel, command: Generate, answered: Sequence[int], n_left: int) -> Slid | None:
        """Return the prompt of an answer that has filled the context, or None where too little could be left out."""
        try:
            slid = slide_on(
                command, answered, n_left, target.model, target.context.n_ctx, self._render_for(target.model)
            )
        except PromptTooLongError:
            return None
        if slid is not None:
            self.n_gone += len(self.said) - len(slid.tokens)
            self.said, self.n_asked = slid.tokens, slid.n_asked
        return slid

    def _render_for(self, model: Model) -> RenderText:
        return lambda messages, templating: self.render(model, messages, templating)


def grammar_behind(model: Model, command: Generate, prompt: Prompt) -> Grammar:
    """Return the grammar of a request as it stands behind what the answer begins with.

    In a conversation the model may think first, if its template knows thoughts; a raw prompt has no template.

    Raises:
        UsageError: it is not a grammar, or what is written of the answer does not keep to it.
    """
    start = Start(command.sampling.grammar)
    if command.messages:
        told = command.templating
        templates = f"{told.template or ''}\n{model.chat_template() or ''}"
        start = with_thought(start.text, prompt.end, templates, may_begin=told.reasoning is not False)
    grammar = Grammar(model, *start)
    try:
        begins_with(grammar, prompt.tokens[len(prompt.tokens) - prompt.n_begun :])
    except BaseException:
        grammar.close()
        raise
    return grammar
