"""What a server says of an answer that it gave. Nothing of it was measured here, and nothing here counts it as such."""

from __future__ import annotations

import msgspec


class RemoteFigures(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a server reports of an answer; ``None``: it does not say."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    tokens: int | None = None
    ttft_s: float | None = None
    prefill_tps: float | None = None
    decode_tps: float | None = None
    proposed: int | None = None
    accepted: int | None = None
    tokens_per_step: float | None = None
    drafter: str = ""
    not_engaged: str = ""
