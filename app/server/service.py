"""Puts requests together for the host, and answers with their shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs
from starlette.responses import Response

from app.engine.tool_words import PLAIN
from app.errors import ModelNotFoundError, UsageError
from app.host import ChatRequest, PairChoice
from app.models.library import Library, LibraryEntry
from app.protocol import ChatMessage, Speculation, Templating
from app.server.answering import AnswerResponse, Ready, Way
from app.server.asking import (
    format_grammar,
    messages_of,
    own_grammar,
    prompt_of,
    sampling_of,
    speculation_of,
    stops_of,
    templating_of,
    tool_use,
)
from app.server.choosing import Chooser
from app.server.documents import Health, ModelCard
from app.server.options import Defaults, ServerOptions
from app.server.pieces import Pieces
from app.server.shapes import ChatShape, CompletionShape, Shape
from app.server.wire import Asked, ChatCompletionRequest, CompletionRequest

_NO_LIMIT = 1 << 30

MakeShape = Callable[[str], Shape]


@dataclass(frozen=True, slots=True)
class _Question:
    """What a request asks, besides the pair and how to draw: messages or a raw prompt, and what the answer keeps to."""

    grammar: str
    n_top_logprobs: int
    max_tokens: int | None
    messages: tuple[ChatMessage, ...] = ()
    prompt: str | tuple[int, ...] | None = None
    templating: Templating = PLAIN


class Service:
    """What the routes do."""

    def __init__(self, way: Way, library: Library, options: ServerOptions) -> None:
        self._way, self._library, self._options = way, library, options
        self._chooser = Chooser(library, options, lambda: way.bridge.state)

    async def chat(self, body: ChatCompletionRequest) -> Response:
        """Answer a conversation.

        Raises:
            SlipstreamError: the request cannot be answered.
        """
        messages, use, grammar = messages_of(body), tool_use(body), format_grammar(body)
        if use.tools and grammar:
            raise UsageError(
                "There are tools and a response_format.", "Leave one of them out, or set tool_choice none."
            )
        if body.top_logprobs and not body.logprobs:
            raise UsageError("top_logprobs needs logprobs.", "Set logprobs to true.")
        n_top = (body.top_logprobs or 0) if body.logprobs else -1
        most = _most(body.max_completion_tokens or body.max_tokens)
        templating = templating_of(body, use, self._options.defaults().template)
        question = _Question(use.grammar or grammar, n_top, most, messages, templating=templating)

        def shape(model: str) -> Shape:
            pieces = Pieces(has_tools=bool(use.tools), has_thoughts=body.reasoning_format != "none")
            return ChatShape(model, pieces, include_usage=_wants_usage(body), has_logprobs=bool(body.logprobs))

        return self._answer(body, question, shape, "/v1/chat/completions")

    async def completion(self, body: CompletionRequest) -> Response:
        """Go on with a raw prompt.

        Raises:
            SlipstreamError: the request cannot be answered.
        """
        n_top = -1 if body.logprobs is None else body.logprobs
        question = _Question(own_grammar(body), n_top, _most(body.max_tokens), prompt=prompt_of(body))

        def shape(model: str) -> Shape:
            return CompletionShape(model, include_usage=_wants_usage(body), has_logprobs=n_top >= 0)

        return self._answer(body, question, shape, "/v1/completions")

    async def models(self) -> list[ModelCard]:
        """Return the models that can be asked for."""
        entries = await self._chooser.models()
        loaded = self._way.bridge.state.loaded
        return [_card(entry, loaded.target.path if loaded else "") for entry in entries]

    async def model(self, name: str) -> ModelCard:
        """Return one of them.

        Raises:
            ModelNotFoundError: there is none of that name.
        """
        card = next((card for card in await self.models() if card.id == name), None)
        if card is None:
            raise ModelNotFoundError("No model has that name.", "GET /v1/models lists what is here.")
        return card

    @property
    def n_pulls(self) -> int:
        """How many models are being pulled for requests, or wait for that."""
        return self._chooser.n_pulls

    def health(self) -> Health:
        """Return whether it answers."""
        state = self._way.bridge.state
        name = state.loaded.target.name if state.loaded else None
        return Health(engine=state.phase, model=name, requests=self._way.desk.n_taken, pulls=self.n_pulls)

    def _answer(self, body: Asked, question: _Question, shape: MakeShape, path: str) -> Response:
        return AnswerResponse(
            self._way, lambda: self._made_ready(body, question, shape, path), is_stream=bool(body.stream)
        )

    async def _made_ready(self, body: Asked, question: _Question, shape: MakeShape, path: str) -> Ready:
        """Find the pair that a request means, which may be pulled first, and put together what the host is asked."""
        defaults = self._options.defaults()
        chosen = await self._chooser.choose(body, defaults)
        speculation = speculation_of(body, _drafting(defaults, chosen.pair), chosen.types)
        name = _shown(chosen.pair.target)
        entry = self._way.log.begin(path, name)
        request = ChatRequest(
            messages=question.messages,
            prompt=question.prompt,
            label=f"Request {entry.number}",
            speculation=speculation,
            sampling=sampling_of(body, defaults.sampling, question.grammar),
            max_tokens=question.max_tokens or defaults.max_tokens or chosen.pair.n_ctx or _NO_LIMIT,
            stop=stops_of(body),
            templating=question.templating,
            n_top_logprobs=question.n_top_logprobs,
            pair=chosen.to_load,
        )
        return Ready(request, shape(name), entry)


def _most(n_tokens: int | None) -> int | None:
    return _NO_LIMIT if n_tokens == -1 else n_tokens


def _wants_usage(body: Asked) -> bool:
    return body.stream_options is not None and bool(body.stream_options.include_usage)


def _drafting(defaults: Defaults, pair: PairChoice) -> Speculation:
    """Return how to draft where a request does not say: a draft model that is not there drafts nothing."""
    if pair.draft is not None or pair.target == defaults.pair.target:
        return defaults.speculation
    kinds = tuple(kind for kind in defaults.speculation.types if kind != "draft-simple")
    return structs.replace(defaults.speculation, types=kinds)


def _shown(target: str) -> str:
    return Path(target).stem if target.lower().endswith(".gguf") else target


def _card(entry: LibraryEntry, loaded: str) -> ModelCard:
    try:
        created = int(entry.path.stat().st_mtime)
    except OSError:
        created = 0
    return ModelCard(
        id=entry.name,
        created=created,
        owned_by=entry.origin.partition("/")[0] or entry.source,
        n_bytes=entry.n_bytes,
        quantisation=entry.quantisation,
        loaded=str(entry.path) == loaded,
    )
