"""What target passes and drafted tokens were measured to cost: values that the protocol and the metrics share."""

from __future__ import annotations

import msgspec


class RowCost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Seconds of a target pass over ``n_rows`` tokens: lowest, median and highest of ``n`` timings."""

    n_rows: int
    low_s: float
    median_s: float
    high_s: float
    n: int


class DraftCost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Median seconds of a drafted token, and of a token to catch up with before (0: none was behind)."""

    drafter: str
    token_s: float
    catch_up_token_s: float


class CostsAt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What passes cost with ``n_ctx`` tokens in the memory."""

    n_ctx: int
    rows: tuple[RowCost, ...]
    drafters: tuple[DraftCost, ...]
