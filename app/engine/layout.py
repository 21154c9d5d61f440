"""How a pair's memories are laid out for a load command: the same whether it is loaded, tried dry or only reckoned."""

from __future__ import annotations

from app.protocol import Load

N_CTX_MIN = 64
"""A context shorter than this holds no conversation, and hardly the longest draft."""

MAX_SNAPSHOTS = 8
"""States that a recurrent memory keeps for rewinding: its size times one more than this. Longer drafts seldom
pay, and a state of a 9B hybrid takes some 50 MB."""


def target_n_ctx(command: Load, n_ctx_train: int) -> int:
    """Return how long the target's context is: what is asked for, but no more than it was trained for."""
    wanted = command.n_ctx or n_ctx_train
    return max(N_CTX_MIN, min(wanted, n_ctx_train or wanted))


def draft_n_ctx(command: Load, target: int, n_ctx_train: int) -> int:
    """Return how long a draft model's context is: no longer than the target's, which has ``target`` positions."""
    wanted = min(target, max(N_CTX_MIN, command.draft_n_ctx or target))
    return min(wanted, n_ctx_train or wanted)


def n_snapshots(command: Load, *, has_state: bool) -> int:
    """Return how many states of a recurrent memory are kept for rewinding."""
    return min(command.draft_max, MAX_SNAPSHOTS) if has_state else 0
