"""Which drafter an answer gets, or in words why none: speculation that is asked for is never silently off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import structs

from app.engine.auto_length import AutoLength
from app.engine.costs import Costs
from app.engine.draft_length import FixedLength, LengthPolicy, RollingLength
from app.engine.drafters import Chooser, Drafter
from app.engine.drafters.draft_model import DraftModelDrafter
from app.engine.drafters.mtp import MtpDrafter
from app.engine.drafters.ngram import NgramDrafter
from app.engine.drafters.tree import TreeDrafter
from app.engine.evidence import Evidence
from app.engine.foresight import Foresight
from app.engine.loading import LoadedPair
from app.engine.sampler import DRAFT_SHARPNESS, Sampler
from app.engine.watching import WatchingChooser
from app.errors import UsageError
from app.protocol import DraftTokens, Engagement, Generate, NoticeInfo, SpecType, Speculation, spec_name


@dataclass(frozen=True, slots=True)
class Engaged:
    """The drafters of one answer (none for plain decoding), their controller, the words for them, and what to note.

    ``n_rows`` is what every pass has with a fixed shape, 0 without.
    """

    drafters: tuple[Drafter, ...]
    length: LengthPolicy
    engagement: Engagement
    notices: tuple[NoticeInfo, ...] = ()
    n_rows: int = 0

    def watching(self, chooser: Chooser) -> Chooser:
        """Return the answer's chooser, with the controller looking at its rows where that tells it something."""
        sight = self.length.foresight
        return chooser if sight is None else WatchingChooser(chooser, sight.sees)


FIXED_SHAPE_LENGTH = 4
"""Longest draft with a fixed shape where a rule chooses the length: all passes are as dear as the longest."""

SHAPE_ASKED = "Turn it off unless the device compiles a graph for one size."
SHAPE_OF_DEVICE = "This device asks for it: it compiles a graph for one size."

MUCH_SMALLER = 0.7
"""Of a target's parameters: a draft model with fewer is less sure than it, one that is the same model is as sure."""

TREE_ROUNDS = (
    "A token tree is computed with other rounding than a line here, which can tip a near tie between two words."
)
TREE_ALLOWED = "It is as right, and allowed with --any-rounding or in the model options."


def check(speculation: Speculation, n_rows_max: int) -> None:
    """Refuse settings that have no meaning.

    Raises:
        UsageError: names the setting and its range.
    """
    s = speculation
    longest = n_rows_max - 1 if isinstance(s.draft_tokens, str) else s.draft_tokens
    if not 0 <= longest < n_rows_max:
        raise UsageError(f"The draft length is {longest}.", f"It must lie between 0 and {n_rows_max - 1}.")
    if not 0 <= s.draft_min <= longest:
        raise UsageError(f"The shortest draft is {s.draft_min}.", "It must lie between 0 and the draft length.")
    if not 0.0 <= s.p_min <= 1.0:
        raise UsageError(f"The draft probability cutoff is {s.p_min}.", "It must lie between 0 and 1.")
    if not 0.0 <= s.lenient <= 1.0:
        raise UsageError(f"Lenient acceptance is {s.lenient}.", "It must lie between 0 (off) and 1.")


def engage(command: Generate, pair: LoadedPair, sampler: Sampler, tokens: Sequence[int]) -> Engaged:
    """Make the drafters that were asked for, as far as they can be had, for the prompt ``tokens``.

    Raises:
        UsageError: a setting is out of its range.
    """
    speculation, max_tokens = command.speculation, command.max_tokens
    check(speculation, pair.target.context.n_rows_max)
    wanted = [name for name in dict.fromkeys(speculation.types) if name != "none"]
    if not wanted:
        return _plain("Speculation is off.")
    if speculation.draft_tokens == 0:
        return _plain("The draft length is 0.")
    why_not = pair.not_engageable | _trees_that_round(speculation, pair)
    missing = [f"{name}: {why_not[name]}" if len(wanted) > 1 else why_not[name] for name in wanted if name in why_not]
    names: list[SpecType] = [name for name in wanted if name not in why_not]
    reason = " ".join(missing)
    if "tree" in wanted and "tree" not in names and (chain := _chain_instead(pair)) is not None:
        able: list[SpecType] = [chain if name == "tree" else name for name in wanted if name in (*names, "tree")]
        names = list(dict.fromkeys(able))
        reason += " A chain is drafted instead."
    if "tree" in names:
        names = [name for name in names if name != pair.branches()]  # a tree that does not branch is its chain
    if not names:
        return _plain(reason)
    n_heads = _n_of_a_chain(pair) if "draft-mtp" in names else 0
    n_max, n_exact = _longest(speculation, pair, n_heads if len(names) == 1 else 0)
    if pair.heads is not None:
        pair.heads.memory.agree(tokens)
    wanted_length, n_rows = speculation.draft_tokens, 0
    length = wanted_length if isinstance(wanted_length, str) else min(wanted_length, n_max)
    if speculation.fixed_shape or pair.target.model.placement.fixed_shape:
        n_max = min(n_max, FIXED_SHAPE_LENGTH) if isinstance(length, str) else length
        n_rows = n_max + 1
    said = spec_name(structs.replace(speculation, types=tuple(names)))
    evidence = pair.evidence_for(n_rows, speculation.lenient)
    guesser = sampler.likeliest() if speculation.lenient else sampler  # the likeliest is typical oftenest
    policy = _policy(length, evidence, n_max, max_tokens, sampler, frozenset(names) - {"ngram"})
    if speculation.lenient and isinstance(policy, AutoLength):
        policy.can_hear = policy.can_compare = False  # what would be kept is not what the text says
    notices = [] if isinstance(wanted_length, str) else _cuts(wanted_length, n_exact, n_heads, pair)
    if n_rows:
        notices.append(_shaped(n_rows, pair.evidence.costs, is_asked=speculation.fixed_shape))
    return Engaged(
        tuple(_make(name, speculation, pair, guesser) for name in names),
        policy,
        Engagement(engaged=True, drafter=said, draft_tokens=length, reason=reason, n_exact=n_exact),
        tuple(notices),
        n_rows,
    )


def _longest(speculation: Speculation, pair: LoadedPair, n_heads: int) -> tuple[int, int]:
    """Return the longest draft, and the same again if what bounds it is that it must not tip a near tie; else 0.

    With ``n_heads`` a chain of heads drafts alone.
    """
    n_max = pair.target.context.n_draft_max
    n_max = min(n_max, n_heads) if n_heads else n_max
    wanted = n_max if isinstance(speculation.draft_tokens, str) else min(n_max, speculation.draft_tokens)
    n_exact = pair.n_rows_alike - 1
    if not _is_exact(speculation) or not 0 < n_exact < wanted:  # where two rows round otherwise, none would be left
        return n_max, 0
    return n_exact, n_exact


def _is_exact(speculation: Speculation) -> bool:
    """Whether no draft may tip a near tie; where words are changed on purpose, a shorter draft would gain nothing."""
    return speculation.exact and not speculation.lenient


def _n_of_a_chain(pair: LoadedPair) -> int:
    """Return how many tokens a chain of heads drafts, each one; 0 for what drafts as many as are asked for."""
    n_heads = 0 if pair.heads is None else pair.heads.context.n_heads
    return n_heads if n_heads > 1 else 0


def _cuts(wanted: int, n_exact: int, n_heads: int, pair: LoadedPair) -> list[NoticeInfo]:
    """Say why drafts are shorter than was asked for."""
    n_states = pair.target.context.n_draft_max
    if n_heads and n_heads < min(wanted, n_exact or n_states):
        return [_cut_to_heads(n_heads, wanted)]
    if n_exact:
        return [_cut(n_exact, wanted)]
    return [_cut_to_states(n_states, wanted)] if n_states < wanted else []


def _cut_to_heads(n_heads: int, wanted: int) -> NoticeInfo:
    return NoticeInfo(
        "draft_cut",
        f"The heads draft {n_heads} tokens instead of {wanted}: there are {n_heads} of them, and each drafts one.",
    )


def _cut_to_states(n_states: int, wanted: int) -> NoticeInfo:
    return NoticeInfo(
        "draft_cut",
        f"Drafts have at most {n_states} tokens instead of {wanted}: the target keeps a running state, and so many "
        "copies of it to go back to.",
    )


def _cut(n_exact: int, wanted: int) -> NoticeInfo:
    return NoticeInfo(
        "draft_cut",
        f"Drafts are kept to {n_exact} tokens instead of {wanted}: here a longer one is computed with other rounding, "
        "which can tip a near tie between two words.",
        "Longer ones are as right, and allowed with --any-rounding or in the model options.",
    )


def _shaped(n_rows: int, costs: Costs, *, is_asked: bool) -> NoticeInfo:
    """Say what a fixed shape costs here, whoever asks for it: a token that comes alone costs as much as a draft."""
    plain_s, pass_s = costs.verify_s(1), costs.verify_s(n_rows)
    words = f"Fixed shape: every pass has {n_rows} rows, also where fewer tokens were drafted."
    if plain_s and pass_s:
        words = f"{words} Here such a pass takes {pass_s / plain_s:.2f} times as long as one of a single token."
    return NoticeInfo("fixed_shape", words, SHAPE_ASKED if is_asked else SHAPE_OF_DEVICE)


def _trees_that_round(speculation: Speculation, pair: LoadedPair) -> dict[SpecType, str]:
    """Refuse trees that could tip a near tie where chains of as many rows cannot."""
    if not _is_exact(speculation) or pair.are_trees_alike or pair.n_rows_alike <= 2 or "tree" in pair.not_engageable:
        return {}
    return {"tree": f"{TREE_ROUNDS} {TREE_ALLOWED}"}


def _chain_instead(pair: LoadedPair) -> SpecType | None:
    """Return who drafts a chain where a tree cannot be."""
    kinds: tuple[SpecType, ...] = ("draft-simple", "draft-mtp")
    return next((kind for kind in kinds if kind not in pair.not_engageable), None)


def drafter_failed(fault: str) -> NoticeInfo:
    """Return the words for a drafter that failed in the middle of an answer."""
    return NoticeInfo(
        "drafter_failed",
        f"Drafting stopped, the answer went on at plain speed: {fault}",
        "If it happens again, choose another drafter.",
    )


def _plain(reason: str) -> Engaged:
    return Engaged((), FixedLength(0), Engagement(engaged=False, reason=reason))


def _policy(
    length: DraftTokens, evidence: Evidence, n_max: int, max_tokens: int, sampler: Sampler, models: frozenset[str]
) -> LengthPolicy:
    match length:
        case "auto":
            evidence.begin_answer()
            auto = AutoLength(evidence, n_max, max_tokens, sampler.is_greedy, models=models)
            auto.can_hear = not sampler.depends_on_history
            if any(auto.worth_preparing(name) and auto.foresees(name) for name in models):
                auto.foresight = Foresight()
            return auto
        case "rolling":
            return RollingLength(n_max)
        case _:
            return FixedLength(length)


def sharpness_of(pair: LoadedPair) -> float:
    """Return how much surer than it is the pair's draft model draws."""
    is_smaller = pair.draft is not None and pair.draft.model.n_params < MUCH_SMALLER * pair.target.model.n_params
    return DRAFT_SHARPNESS if is_smaller else 1.0


def _make(name: SpecType, speculation: Speculation, pair: LoadedPair, sampler: Sampler) -> Drafter:
    if name == "tree" and (source := pair.branches()) is not None:
        of = _make(source, speculation, pair, sampler)
        if isinstance(of, DraftModelDrafter | MtpDrafter):
            return TreeDrafter(
                of,
                pair.evidence_for(0, speculation.lenient).calibrations_of_tree(sampler.is_greedy),
                n_leaves_max=pair.target.context.n_leaves_max,
                draft_min=speculation.draft_min,
                p_min=speculation.p_min,
            )
    if name == "draft-simple" and pair.draft is not None:
        return DraftModelDrafter(
            pair.draft.context,
            pair.draft.held,
            sampler,
            draft_min=speculation.draft_min,
            p_min=speculation.p_min,
            sharpness=sharpness_of(pair),
        )
    if name == "draft-mtp" and pair.heads is not None:
        return MtpDrafter(pair.heads.memory, sampler, draft_min=speculation.draft_min, p_min=speculation.p_min)
    return NgramDrafter(speculation.draft_min)
