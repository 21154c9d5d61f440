"""From file names to a loaded pair: target, perhaps a draft model, and what can draft for it.

A target that cannot be loaded is an error. A draft model that cannot is a reason in words: the chat
goes on at plain speed, and everybody is told (``Loaded.not_engageable``).
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from app.engine.cancel import CancelFlag
from app.engine.costs import MANY, Costs
from app.engine.drafters.draft_model import check_vocabularies
from app.engine.drafters.mtp import HeadsMemory
from app.engine.evidence import Evidence, EvidenceApart
from app.engine.gguf import GgufHeader, read_header
from app.engine.heads import are_heads, check_can_answer, has_embedded_heads, why_not_for
from app.engine.layout import draft_n_ctx, n_snapshots, target_n_ctx
from app.engine.llama import Context, Model, MtpContext, Shape, count_passes
from app.engine.load_numbers import check_load
from app.engine.model_kinds import check_writes_text, is_multimodal
from app.engine.parts import read_whole
from app.engine.prompt_cache import Held
from app.engine.review import MOST_REVIEWED
from app.engine.sound_numbers import check_numbers
from app.engine.threads import default_threads
from app.engine.tree_check import N_LEAVES, TREE, check_trees, note_trees, why_no_trees, why_nobody_branches
from app.engine.warm_up import learn_rows, time_drafting, warm_up, warm_up_heads, words
from app.errors import ModelFileError, PairError, SlipstreamError
from app.protocol import Load, LoadProgress, LoadStage, MemoryTypes, ModelInfo, NoticeInfo, SpecType

PROGRESS_INTERVAL_S = 0.05
"""How often a load is asked how far it has come."""


@dataclass(slots=True)
class LoadedModel:
    """A model with one context, and the part of the text that the context's memory holds."""

    model: Model
    context: Context
    info: ModelInfo
    held: Held = field(default_factory=Held)

    def forget(self) -> None:
        """Empty the memory."""
        self.context.rewind(0)
        self.held = Held()

    def close(self) -> None:
        """Free both."""
        self.context.close()
        self.model.close()


@dataclass(slots=True)
class LoadedHeads:
    """MTP heads with their context and what they know of the text; ``model`` only if they have a file of their own."""

    context: MtpContext
    memory: HeadsMemory
    model: Model | None = None
    info: ModelInfo | None = None

    def close(self) -> None:
        """Free what is the heads' own."""
        self.context.close()
        if self.model is not None:
            self.model.close()


@dataclass(slots=True)
class LoadedPair:
    """What a session answers with."""

    target: LoadedModel
    n_threads: int
    draft: LoadedModel | None = None
    heads: LoadedHeads | None = None
    not_engageable: dict[SpecType, str] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=Evidence)
    notices: list[NoticeInfo] = field(default_factory=list)
    n_rows_alike: int = 1
    no_trees: str = ""
    are_trees_alike: bool = False
    apart: EvidenceApart = field(default_factory=EvidenceApart)

    def evidence_for(self, n_rows: int, lenient: float) -> Evidence:
        """Return what was learned where every pass has so many rows, 0: as many as it needs, and of each P apart."""
        return self.apart.of(self.evidence, n_rows, lenient) if n_rows or lenient else self.evidence

    def drafters(self) -> tuple[SpecType, ...]:
        """Return what can be engaged."""
        known: tuple[SpecType, ...] = ("ngram", "draft-mtp", "draft-simple", "tree")
        return tuple(name for name in known if name not in self.not_engageable)

    def branches(self) -> SpecType | None:
        """Return who can draft token trees: a draft model, or one head with a memory of its own."""
        if self.draft is not None:
            return "draft-simple"
        heads = None if self.heads is None else self.heads.context
        return "draft-mtp" if heads is not None and heads.n_heads == 1 and not heads.shares_memory else None

    def draft_info(self) -> ModelInfo | None:
        """Return the facts of the draft file, whatever its kind."""
        if self.draft is not None:
            return self.draft.info
        return self.heads.info if self.heads is not None else None

    def draft_device(self) -> str:
        """Return where the draft file's model runs, "" without one."""
        part = self.draft or self.heads
        return "" if part is None or part.model is None else part.model.placement.words

    def drop_draft(self) -> None:
        """Free what drafts."""
        for part in (self.draft, self.heads):
            if part is not None:
                part.close()
        self.draft = self.heads = None
        self.evidence = Evidence(Costs(self.evidence.costs.base_s))
        self.apart = EvidenceApart()

    def close(self) -> None:
        """Free everything."""
        self.drop_draft()
        self.target.close()


def file_key(path: str) -> tuple[str, int, int]:
    """Return what tells whether a file is still the one that was loaded: path, size and time of change.

    Raises:
        ModelFileError: the file cannot be looked at.
    """
    try:
        facts = os.stat(path)  # noqa: PTH116 - the path is a string on both sides of the protocol
    except OSError as fault:
        raise ModelFileError(f"Cannot read {path}: {fault.strerror}", "Was the file moved?") from fault
    return path, facts.st_size, facts.st_mtime_ns


def load_target(command: Load, cancel: CancelFlag) -> Generator[LoadProgress, None, LoadedPair]:
    """Load and warm up the target; yield progress and return the pair, still without a draft model.

    Raises:
        ModelFileError: the file is not a model that can be loaded.
        LoadError: there is no room for its context, or the load was cancelled.
        UsageError: a number of the command is out of its range.
    """
    check_load(command)
    n_threads = command.n_threads or default_threads()
    header = read_whole(Path(command.target))
    check_can_answer(header)
    with_mtp = has_embedded_heads(header)
    model = yield from _load_model(command, command.target, "target", cancel, with_mtp=with_mtp)
    n_ctx = target_n_ctx(command, model.n_ctx_train)
    shape = Shape(
        n_ctx=n_ctx,
        n_threads=n_threads,
        n_rows_max=command.draft_max + 1,
        n_snapshots=n_snapshots(command, has_state=model.has_memory_of_states),
        n_batch=command.placement.n_batch,
        memory=command.memory,
        keeps_window=command.placement.keeps_window,
        n_leaves_max=0 if why_no_trees(command, model) else N_LEAVES,
    )
    target = _with_context(model, command.target, shape)
    _ = model.control_finder  # looks through the whole vocabulary: now, and not in the first answer
    pair = LoadedPair(target, n_threads)
    used = target.context.memory_types
    if used != command.memory != MemoryTypes():
        pair.notices.append(
            NoticeInfo("memory_of_one_type", f"This model keeps K and V in one memory: both are {used.type_k}.")
        )
    if is_multimodal(header, Path(command.target)):
        pair.notices.append(
            NoticeInfo("text_only", "This model also understands images or sound: here it is given text only.")
        )
    if command.n_ctx > n_ctx:
        pair.notices.append(
            NoticeInfo("context_shortened", f"The context is {n_ctx} tokens: this model was trained for no more.")
        )
    learn = partial(_learn, command, pair)
    yield from _or_close(target, warm_up(command.id, target.context, target.model.bos, cancel, learn))
    return pair


def _learn(command: Load, pair: LoadedPair) -> None:
    """See what passes cost and how they round, and whether token trees can be verified if they are asked for."""
    target = pair.target
    rows = learn_rows(target.context, words(target.model, target.context.n_rows_max))
    pair.evidence.costs.base_s, pair.n_rows_alike = rows.cost_s, rows.n_alike
    pair.no_trees = why_no_trees(command, target.model)
    if not pair.no_trees:
        note_trees(pair, check_trees(target.context, partial(count_passes, target.model, TREE), pair.n_rows_alike))


def _check_continues_text(model: Model, path: str) -> None:
    if not model.can_chat:
        raise ModelFileError(
            f"{Path(path).name} is not a model that continues text.",
            "Choose a chat (decoder) model; embedding and translation models cannot chat.",
        )


def _with_context(model: Model, path: str, shape: Shape) -> LoadedModel:
    """Give a model its context; free the model if that fails.

    Raises:
        ModelFileError: the model does not continue text.
        LoadError: there is no room.
    """
    try:
        _check_continues_text(model, path)
        return LoadedModel(model, Context(model, shape), _info(model, path))
    except BaseException:
        model.close()
        raise


def load_draft(command: Load, pair: LoadedPair, cancel: CancelFlag) -> Iterator[LoadProgress]:
    """Load what can draft for the target into the pair, or note there why it cannot.

    Raises:
        LoadError: the load was cancelled.
    """
    pair.not_engageable = {"tree": pair.no_trees or why_nobody_branches(0)}
    why_not = pair.not_engageable
    if command.draft_max and not pair.target.context.n_draft_max:
        why = "The target keeps a running state (recurrent layers) that llama.cpp cannot rewind for this architecture."
        why_not |= {"ngram": why, "draft-simple": why, "draft-mtp": why}
        return
    why_not["draft-simple"] = "No draft model is chosen."
    why_not["draft-mtp"] = "The target has no MTP heads, and no file with heads for it is chosen."
    kind: SpecType = "draft-simple"
    try:
        if command.draft is not None:
            header = read_whole(Path(command.draft))
            check_writes_text(header)
            kind = "draft-mtp" if are_heads(header) else "draft-simple"
            if kind == "draft-mtp":
                why_not["draft-simple"] = "The draft file holds MTP heads: choose draft-mtp."
                _check_heads(read_whole(Path(command.target)), header)
                pair.heads = yield from _load_heads(command, command.draft, pair, cancel)
            else:
                pair.draft = yield from _load_fitting_draft(command, command.draft, pair, cancel)
            del why_not[kind]
        if pair.heads is None and pair.target.model.n_heads_mtp:
            kind = "draft-mtp"
            pair.heads = yield from _make_heads(command, pair.target.model, pair, cancel)
            del why_not[kind]
    except SlipstreamError as fault:
        if cancel():
            raise
        why_not[kind] = f"{fault.message} {fault.hint}".strip()
    if not pair.no_trees and pair.branches():
        del why_not["tree"]
    elif not pair.no_trees and pair.heads is not None:
        why_not["tree"] = why_nobody_branches(0 if pair.heads.context.shares_memory else pair.heads.context.n_heads)


def _check_heads(target: GgufHeader, heads: GgufHeader) -> None:
    """Refuse heads of another target.

    Raises:
        PairError: says what differs.
    """
    reason = why_not_for(target, heads)
    if reason is not None:
        raise PairError(reason, "Choose the heads that were trained with this target.")


def _make_heads(
    command: Load, model: Model, pair: LoadedPair, cancel: CancelFlag
) -> Generator[LoadProgress, None, LoadedHeads]:
    """Give heads their context, warm them up and see what they cost; free the context if that fails.

    Raises:
        SlipstreamError: they cannot be used, or the load was cancelled.
    """
    target, n_threads, memory = pair.target.context, command.draft_n_threads or pair.n_threads, command.draft_memory
    context = MtpContext(model, target, n_threads=n_threads, memory=memory, n_batch=command.placement.n_batch_heads)
    yield from warm_up_heads(command.id, context, target, pair.target.model, cancel, pair.evidence.costs)
    return LoadedHeads(context, HeadsMemory(context, target))


def _load_heads(
    command: Load, path: str, pair: LoadedPair, cancel: CancelFlag
) -> Generator[LoadProgress, None, LoadedHeads]:
    """Load MTP heads from a file of their own.

    Raises:
        SlipstreamError: they do not fit the target, or cannot be loaded.
    """
    model = yield from _load_model(command, path, "draft", cancel, with_mtp=True)
    try:
        check_vocabularies(pair.target.model, model)
        heads = yield from _make_heads(command, model, pair, cancel)
    except BaseException:
        model.close()
        raise
    heads.model, heads.info = model, _info(model, path)
    return heads


def _load_fitting_draft(
    command: Load, path: str, pair: LoadedPair, cancel: CancelFlag
) -> Generator[LoadProgress, None, LoadedModel]:
    model = yield from _load_model(command, path, "draft", cancel)
    try:
        check_vocabularies(pair.target.model, model)
        _check_rewinds(model)
    except BaseException:
        model.close()
        raise
    shape = Shape(
        n_ctx=draft_n_ctx(command, pair.target.context.n_ctx, model.n_ctx_train),
        n_threads=command.draft_n_threads or pair.n_threads,
        n_rows_max=MOST_REVIEWED + 1,
        n_batch=command.draft_placement.n_batch,
        memory=command.draft_memory,
        keeps_window=command.draft_placement.keeps_window,
    )
    draft = _with_context(model, path, shape)

    def learn() -> None:
        cost = time_drafting(draft.context, words(draft.model, MANY))
        pair.evidence.costs.drafters.update({"draft-simple": cost, "tree": replace(cost)})

    yield from _or_close(draft, warm_up(command.id, draft.context, draft.model.bos, cancel, learn))
    return draft


def _check_rewinds(draft: Model) -> None:
    """Refuse a draft model that would evaluate everything again after every rejected token.

    Raises:
        PairError: it keeps a running state.
    """
    if draft.has_memory_of_states:
        raise PairError(
            "The draft model keeps a running state (recurrent layers), which cannot be rewound token by token.",
            "Choose a draft model with attention layers only.",
        )


def _load_model(
    command: Load, path: str, stage: LoadStage, cancel: CancelFlag, *, with_mtp: bool = False
) -> Generator[LoadProgress, None, Model]:
    """Load weights in a thread, so that progress can be told meanwhile; heads lie where their target does."""
    placement = command.placement if with_mtp or stage == "target" else command.draft_placement
    check_numbers(read_header(Path(path)))
    progress = [0.0]
    with ThreadPoolExecutor(1, "load") as pool:
        loading = pool.submit(
            Model,
            path,
            on_progress=lambda done: progress.__setitem__(0, done),
            cancel=cancel,
            with_mtp=with_mtp,
            placement=placement,
        )
        told = -1.0
        while not loading.done():
            if progress[0] > told:
                told = progress[0]
                yield LoadProgress(command.id, stage, told)
            wait([loading], PROGRESS_INTERVAL_S)
    model = loading.result()
    yield LoadProgress(command.id, stage, 1.0)
    return model


def _or_close(loaded: LoadedModel, steps: Iterator[LoadProgress]) -> Iterator[LoadProgress]:
    try:
        yield from steps
    except BaseException:
        loaded.close()
        raise


def _info(model: Model, path: str) -> ModelInfo:
    return ModelInfo(
        path=path,
        name=model.meta("general.name") or Path(path).stem,
        n_bytes=Path(path).stat().st_size,
        architecture=model.meta("general.architecture"),
        quantisation=read_header(Path(path)).quantisation,
        n_params=model.n_params,
        n_ctx_train=model.n_ctx_train,
        n_vocab=model.n_vocab,
        n_layers=model.n_layers,
        has_chat_template=model.chat_template() is not None,
    )
