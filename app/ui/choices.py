"""The person's settings while the window runs: read once, saved at every change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import structs

from app.errors import SettingsError
from app.host import PairChoice
from app.memory_types import FLASH_ATTENTION, is_quantised
from app.protocol import MAX_DRAFT_TOKENS, MemoryTypes, Sampling, SpecType, Speculation
from app.settings import Settings, load_settings, save_settings
from app.ui.pair_bar import NGRAM, NO_DRAFTER

if TYPE_CHECKING:
    from app.ui.notice import NoticeBar


class Choices:
    """Settings as requests need them. A file that cannot be read or written is told, and does not stop the work."""

    def __init__(self, notice: NoticeBar) -> None:
        self._notice = notice
        self.settings = Settings()
        try:
            self.settings, problem = load_settings()
        except SettingsError as fault:
            notice.say("warning", fault.message, fault.hint)
        else:
            if problem:
                notice.say("warning", problem, "What of it could be read is used, and the defaults for the rest.")

    def change(self, **values: Any) -> None:  # noqa: ANN401 - the fields of Settings
        """Set fields and save."""
        self.settings = structs.replace(self.settings, **values)
        try:
            save_settings(self.settings)
        except SettingsError as fault:
            self._notice.say("warning", fault.message, fault.hint)

    @property
    def drafter(self) -> str:
        """Who drafts: none, n-gram, or the name of a draft model."""
        kinds = self.settings.spec_types
        if "draft-simple" in kinds and self.settings.draft is not None:
            return self.settings.draft
        return NGRAM if "ngram" in kinds else NO_DRAFTER

    def choose_drafter(self, name: str) -> None:
        """Let that one draft from the next answer on."""
        if name in (NO_DRAFTER, NGRAM):
            self.change(draft=None, spec_types=("ngram",) if name == NGRAM else ())
        else:
            self.change(draft=name, spec_types=("draft-simple",))

    @property
    def kinds(self) -> tuple[SpecType, ...]:
        """The drafters to try, whether or not the switch is on."""
        return self.settings.spec_types

    def pair(self) -> PairChoice:
        """What to load."""
        chosen = self.settings
        draft = chosen.draft if "draft-simple" in chosen.spec_types else None
        memory = self._memory()
        return PairChoice(
            chosen.target, draft, n_ctx=chosen.n_ctx, n_threads=chosen.n_threads, memory=memory, draft_memory=memory
        )

    def _memory(self) -> MemoryTypes:
        """The element types; a quantised V memory takes flash attention whatever the settings say of it."""
        chosen = self.settings
        is_fused = FLASH_ATTENTION[chosen.flash_attention]
        if is_quantised(chosen.type_v) and is_fused is False:
            is_fused = None
        return MemoryTypes(chosen.type_k, chosen.type_v, is_fused)

    def how_loaded(self, pair: PairChoice) -> dict[str, Any]:
        """The settings with which a pair is loaded as this one was; which pair it is left out."""
        words = {is_fused: word for word, is_fused in FLASH_ATTENTION.items()}
        return {
            "n_ctx": pair.n_ctx,
            "n_threads": pair.n_threads,
            "type_k": pair.memory.type_k,
            "type_v": pair.memory.type_v,
            "flash_attention": words[pair.memory.flash_attention],
        }

    def speculation(self) -> Speculation:
        """How the next answer is drafted."""
        if not self.settings.speculation:
            return Speculation()
        length = self.settings.draft_tokens
        if isinstance(length, int):
            length = min(max(1, length), MAX_DRAFT_TOKENS)
        return Speculation(types=self.settings.spec_types, draft_tokens=length)

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
