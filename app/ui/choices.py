"""The person's settings while the window runs: read once, saved at every change."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from app.chat.chat_settings import ConversationSettings
from app.errors import SettingsError
from app.host import PairChoice
from app.host.remote_servers import readable
from app.host.remote_wire import ServerModel
from app.memory_types import FLASH_ATTENTION, is_quantised
from app.models.models_folder import chosen_folder
from app.protocol import MAX_DRAFT_TOKENS, Loaded, MemoryTypes, Sampling, SpecType, Speculation
from app.settings import ModelServer, Settings, load_settings, save_settings, settings_path
from app.ui.pair_bar import HEADS, NGRAM, NO_DRAFTER
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.notice import NoticeBar

logger = logging.getLogger(__name__)

Watcher = Callable[[Settings, Settings], None]

_BY_FILE: frozenset[SpecType] = frozenset({"draft-simple", "draft-mtp"})
"""Drafters that may have a file of their own."""


class Choices:
    """Settings as requests need them. A file that cannot be read or written is told, and does not stop the work."""

    def __init__(self, notice: NoticeBar) -> None:
        self._notice = notice
        self.own = ConversationSettings()
        """What the open conversation sets for itself."""
        self._watchers: list[Watcher] = []
        self.settings = self._saved = Settings()
        try:
            self.settings, problem = load_settings()
            self._saved = self.settings
        except SettingsError as fault:
            notice.say("warning", fault.message, fault.hint)
        else:
            if problem:
                notice.say("warning", problem, tr("What of it could be read is used, and the defaults for the rest."))

    def change(self, **values: Any) -> None:  # noqa: ANN401 - the fields of Settings
        """Set fields and save; what a command has changed beside the window meanwhile stays changed."""
        values = {**self._changed_beside(), **values}
        values.setdefault("models_folder", chosen_folder(self.settings.models_folder))
        before, self.settings = self.settings, structs.replace(self.settings, **values)
        try:
            save_settings(self.settings)
            self._saved = self.settings
        except SettingsError as fault:
            self._notice.say("warning", fault.message, fault.hint)
        if before != self.settings:
            for watcher in self._watchers:
                watcher(before, self.settings)

    def _changed_beside(self) -> dict[str, Any]:
        """Return what the file says otherwise than when this window last read or wrote it."""
        try:
            there = msgspec.json.decode(settings_path().read_bytes(), type=Settings)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
            logger.info("what the settings file says is not known: %s", fault)
            return {}
        names = Settings.__struct_fields__
        return {name: getattr(there, name) for name in names if getattr(there, name) != getattr(self._saved, name)}

    def watch(self, watcher: Watcher) -> None:
        """Tell of every change, with the settings before and after it."""
        self._watchers.append(watcher)

    def reload(self) -> None:
        """Take in what was saved beside the window, as after the models folder was moved."""
        with suppress(SettingsError):
            self.settings = self._saved = load_settings()[0]

    @property
    def drafter(self) -> str:
        """Who drafts (behind n-gram, if that comes first): none, n-gram, the target's heads, or a draft file's name."""
        kinds = self.settings.spec_types
        if self.settings.draft is not None and _BY_FILE & set(kinds):
            return self.settings.draft
        if "draft-mtp" in kinds:
            return HEADS
        return NGRAM if "ngram" in kinds else NO_DRAFTER

    def choose_drafter(self, name: str, kind: SpecType = "draft-simple") -> None:
        """Let that one draft from the next answer on, n-gram before it unless that was switched off.

        Args:
            name: who drafts: one of the pickers' own choices, or a file.
            kind: how a file drafts, as far as that is known; a load tells (:meth:`note_loaded`).
        """
        is_off = self.drafter not in (NGRAM, NO_DRAFTER) and not self.is_ngram_first
        first: tuple[SpecType, ...] = () if is_off else ("ngram",)
        if name in (NO_DRAFTER, NGRAM):
            self.change(draft=None, spec_types=("ngram",) if name == NGRAM else ())
        elif name == HEADS:
            self.change(draft=None, spec_types=(*first, "draft-mtp"))
        else:
            self.change(draft=name, spec_types=(*first, kind))

    @property
    def is_ngram_first(self) -> bool:
        """Whether n-gram drafts where it can, and another where it cannot."""
        return "ngram" in self.kinds and self.drafter not in (NGRAM, NO_DRAFTER)

    def note_loaded(self, loaded: Loaded) -> None:
        """Take in what kind of drafter the chosen file turned out to be: heads are not named in its file name."""
        kinds = self.kinds
        is_heads = loaded.draft is not None and "draft-mtp" in loaded.drafters
        if self.settings.draft is not None and is_heads and "draft-simple" not in loaded.drafters:
            self.change(spec_types=tuple("draft-mtp" if kind == "draft-simple" else kind for kind in kinds))

    @property
    def kinds(self) -> tuple[SpecType, ...]:
        """The drafters to try, whether or not the switch is on."""
        return self.settings.spec_types

    @property
    def asked(self) -> tuple[SpecType, ...]:
        """The same as they are asked: a model drafts trees, if that was chosen."""
        if not self.settings.trees:
            return self.kinds
        return tuple(dict.fromkeys("tree" if kind in _BY_FILE else kind for kind in self.kinds))

    @property
    def servers(self) -> tuple[ModelServer, ...]:
        """The other servers that can be asked."""
        return readable(self.settings.servers)

    @property
    def remote(self) -> ServerModel | None:
        """The model of another server that answers, ``None`` while one of this computer does."""
        chosen = self.settings
        is_added = any(server.url == chosen.server_url for server in self.servers)
        return ServerModel(chosen.server_url, chosen.server_model) if is_added and chosen.server_model else None

    def pair(self) -> PairChoice:
        """What to load."""
        chosen = self.settings
        draft = chosen.draft if _BY_FILE & set(chosen.spec_types) else None
        return PairChoice(
            chosen.target,
            draft,
            n_ctx=self.n_ctx,
            n_threads=chosen.n_threads,
            memory=self._memory(chosen.type_k, chosen.type_v),
            draft_memory=self._memory(chosen.draft_type_k or chosen.type_k, chosen.draft_type_v or chosen.type_v),
            draft_n_ctx=chosen.draft_n_ctx,
            draft_n_threads=chosen.draft_n_threads,
            compute=chosen.compute,
            draft_compute=chosen.draft_compute,
            trees=chosen.trees,
        )

    def _memory(self, type_k: str, type_v: str) -> MemoryTypes:
        """The element types; a quantised V memory takes flash attention whatever the settings say of it."""
        is_fused = FLASH_ATTENTION[self.settings.flash_attention]
        if is_quantised(type_v) and is_fused is False:
            is_fused = None
        return MemoryTypes(type_k, type_v, is_fused)

    def how_loaded(self, pair: PairChoice) -> dict[str, Any]:
        """The settings with which a pair is loaded as this one was; which pair it is left out."""
        words = {is_fused: word for word, is_fused in FLASH_ATTENTION.items()}
        types, of_draft = ((one.type_k, one.type_v) for one in (pair.memory, pair.draft_memory))
        draft_k, draft_v = ("", "") if of_draft == types else of_draft
        return {
            "n_ctx": pair.n_ctx if self.own.n_ctx is None else self.settings.n_ctx,
            "n_threads": pair.n_threads,
            "type_k": pair.memory.type_k,
            "type_v": pair.memory.type_v,
            "flash_attention": words[pair.memory.flash_attention],
            "draft_n_ctx": pair.draft_n_ctx,
            "draft_n_threads": pair.draft_n_threads,
            "draft_type_k": draft_k,
            "draft_type_v": draft_v,
            "compute": pair.compute,
            "draft_compute": pair.draft_compute,
            "trees": pair.trees,
        }

    @property
    def n_ctx(self) -> int:
        """How long a context the open conversation wants; 0 is as long as the model can."""
        return self.settings.n_ctx if self.own.n_ctx is None else self.own.n_ctx

    @property
    def max_tokens(self) -> int:
        """How long its answers may be."""
        return self.settings.max_tokens if self.own.max_tokens is None else self.own.max_tokens

    @property
    def system_prompt(self) -> str:
        """What its model is told before everything else."""
        return self.settings.system_prompt if self.own.system_prompt is None else self.own.system_prompt

    @property
    def template(self) -> str | None:
        """The chat template in place of the model's own: the conversation's, else what was set for the model."""
        return self.own.template or self.settings.templates.get(self.settings.target)

    def speculation(self) -> Speculation:
        """How the next answer is drafted."""
        return self.drafting() if self.settings.speculation else Speculation()

    def drafting(self) -> Speculation:
        """How answers are drafted, whether or not the switch is on."""
        length = self.settings.draft_tokens
        if isinstance(length, int):
            length = min(max(1, length), MAX_DRAFT_TOKENS)
        chosen = self.settings
        return Speculation(
            types=self.asked,
            draft_tokens=length,
            exact=chosen.exact,
            fixed_shape=chosen.fixed_shape,
            lenient=chosen.lenient,
        )

    def sampling(self, seed: int) -> Sampling:
        """How tokens are chosen, with this seed."""
        chosen = self.settings
        return Sampling(
            seed=seed,
            temperature=chosen.temperature,
            top_k=chosen.top_k,
            top_p=chosen.top_p,
            min_p=chosen.min_p,
            repeat_penalty=chosen.repeat_penalty,
        )
