"""Models, pairs and downloads in words; pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from app.ui.wording import bytes_words

if TYPE_CHECKING:
    from app.errors import HubAccessError
    from app.host.offers import Offer, Offers
    from app.host.pulling import Pull
    from app.models.library import LibraryEntry
    from app.models.memory import PairMemory, Room, Share
    from app.models.pairs import Judgement
    from app.models.recommendation import Standing

_KINDS = {
    "embedded heads": "MTP heads in the model itself",
    "heads in a file": "MTP heads in a file",
    "assistant": "assistant",
    "draft model": "draft model",
    "n-gram": "n-gram, from the text itself",
}
_SHORT = {
    "fits now": "fits",
    "fits when other programs are closed": "fits if others close",
    "too large for this machine": "too large",
}
_SOURCES = {"starter": "built in", "folder": "Slipstream", "file": "a file"}


def machine_words(room: Room) -> str:
    """How much memory there is."""
    return f"This computer has {bytes_words(room.total_bytes)} of memory; {bytes_words(room.free_bytes)} are free now."


def standing_words(standing: Standing, *, is_here: bool, is_recommended: bool) -> str:
    """How a curated pair stands with this machine, in a column's width."""
    words = "recommended" if is_recommended else _SHORT[standing]
    return f"{words}, here" if is_here else words


def drafter_words(offer: Offer) -> str:
    """Who drafts in an offer."""
    judgement = offer.judgement
    return judgement.draft.rsplit("/", 1)[-1] if judgement.draft is not None else _KINDS[judgement.kind]


def kind_words(judgement: Judgement) -> str:
    """What kind of drafter it is."""
    return _KINDS[judgement.kind]


def fit_sentence(judgement: Judgement) -> str:
    """Whether it fits, as a sentence."""
    who = {
        "n-gram": "N-gram drafting",
        "embedded heads": "The model's own MTP heads",
    }.get(judgement.kind, "This drafter")
    is_many = judgement.kind == "embedded heads"
    verb = "fit" if is_many else "fits"
    match judgement.fit:
        case "fits":
            return f"{who} {verb}."
        case "fits with warnings":
            return f"{who} {verb}, with a warning:" if len(judgement.warnings) == 1 else f"{who} {verb}, with warnings:"
        case "does not fit":
            return f"{who} {'do' if is_many else 'does'} not fit:"
    assert_never(judgement.fit)


def reason_lines(judgement: Judgement) -> str:
    """The reasons and warnings, a line each."""
    lines = [*judgement.warnings, *judgement.reasons] if judgement.fits else [*judgement.reasons]
    return "\n".join(f"• {line}" for line in lines)


def memory_sentence(memory: PairMemory) -> str:
    """What a pair takes against what is free."""
    how = "measured by a dry load" if memory.is_exact else "reckoned from the headers"
    longest = f" Up to {memory.n_ctx_max:,} tokens would fit." if memory.n_ctx_max else " No context fits into it now."
    if memory.shares:
        need = bytes_words(memory.n_bytes)
        return f"{need} in all, with a context of {memory.n_ctx:,} tokens; the shares are reckoned.{longest}"
    return (
        f"{bytes_words(memory.n_bytes)} of the {bytes_words(memory.room.free_bytes)} that are free, with a context of"
        f" {memory.n_ctx:,} tokens, {how}.{longest}"
    )


def share_words(share: Share) -> str:
    """What a pair takes of one device's memory, and what there is."""
    device, need = share.room.device, bytes_words(share.n_bytes)
    if not share.room.is_known:
        return f"{device} takes {need}; it does not tell how much memory it has."
    verdict = "fits" if share.fits else "does not fit into what is free"
    return f"{device} takes {need} of {bytes_words(share.room.free_bytes)} that are free: {verdict}."


def get_words(offers: Offers, offer: Offer | None) -> str:
    """What the button says that pulls."""
    n_bytes = sum(file.n_bytes for file in offers.files_to_pull(offer))
    if offers.pair is not None:
        return f"Get pair ({bytes_words(n_bytes)})"
    has_draft = offer is not None and offer.item is not None
    what = "Get pair" if offers.item is not None and has_draft else "Get model" if offers.item else "Get drafter"
    return f"{what} ({bytes_words(n_bytes)})"


def look_words(found: Sequence[Offer], *, is_whole: bool, is_stopped: bool) -> str:
    """What a look for drafters has brought."""
    n_fit = sum(offer.judgement.fits for offer in found)
    if not is_whole:
        why = "Stopped" if is_stopped else "The hub is slow, so the look was ended"
        return f"{why}; so far {len(found)} were found, {n_fit} of them fit."
    if not found:
        return "Neither the catalog nor the hub has another drafter for this family of models."
    return f"{len(found)} were found, {n_fit} of them fit."


def short_title(title: str) -> str:
    """A download's or a model's title without the publisher: the file's name, or the repository's with its tag."""
    parts = (part.rsplit("/", 1)[-1] for part in title.split(" + "))
    names = (part.rsplit(":", 1)[-1].removesuffix(".gguf") if part.endswith(".gguf") else part for part in parts)
    return " + ".join(names)


def access_words(fault: HubAccessError) -> str:
    """What is wrong with who asks, for a window that has a field for the token."""
    return f"{fault.message} {fault.hint}".replace("set HF_TOKEN or run: hf auth login", "paste it below.")


def source_words(entry: LibraryEntry) -> str:
    """Whose file it is."""
    return _SOURCES.get(entry.source, entry.source)


# --- downloads --------------------------------------------------------------------------------------


def time_words(seconds: float) -> str:
    """A time that is left, no more exact than it is known."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def percent(pull: Pull) -> int:
    """How far it is, in whole percent; 100 only at the end."""
    if pull.phase == "done":
        return 100
    return min(99, int(100 * pull.n_bytes / pull.n_total_bytes)) if pull.n_total_bytes else 0


def pull_words(pull: Pull) -> str:
    """The state of a download as a line."""
    amount = f"{bytes_words(pull.n_bytes)} of {bytes_words(pull.n_total_bytes)}" if pull.n_total_bytes else ""
    match pull.phase:
        case "asking":
            parts = [pull.detail]
        case "waiting":
            parts = ["Waiting for its turn", amount]
        case "checking":
            parts = ["Checking a file that is here already", amount]
        case "downloading":
            rate = f"{pull.rate_bytes_s / 1e6:.1f} MB/s" if pull.rate_bytes_s else ""
            left = f"{time_words(pull.eta_s)} left" if pull.eta_s is not None else ""
            parts = [amount, rate, left, pull.detail]
        case "stalled":
            parts = ["Stalled", amount, pull.detail, "It goes on by itself when the connection does."]
        case "retrying":
            parts = ["Trying again", amount, pull.detail]
        case "verifying":
            parts = ["Checking every byte", amount]
        case "done":
            parts = ["Complete and checked", bytes_words(pull.n_total_bytes)]
        case "paused":
            parts = ["Paused", amount, pull.detail]
        case "failed":
            parts = ["Stopped", amount, pull.detail, pull.hint]
        case "removed":
            parts = ["Removed"]
        case _:
            assert_never(pull.phase)
    return " · ".join(part for part in parts if part)
