"""Models, pairs and downloads in words; pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from app.ui.said import fault_words, said
from app.ui.tr import tr
from app.ui.wording import bytes_words

if TYPE_CHECKING:
    from app.errors import HubAccessError
    from app.host.offers import Offer, Offers
    from app.host.pulling import Pull
    from app.models.library import BrokenFile, LibraryEntry
    from app.models.memory import PairMemory, Room, Share
    from app.models.pairs import Fit, Judgement
    from app.models.recommendation import Standing

_KINDS = {
    "embedded heads": tr("MTP heads in the model itself"),
    "heads in a file": tr("MTP heads in a file"),
    "assistant": tr("assistant"),
    "draft model": tr("draft model"),
    "n-gram": tr("n-gram, from the text itself"),
}
_SHORT = {
    "fits now": tr("fits"),
    "fits when other programs are closed": tr("fits if others close"),
    "too large for this machine": tr("too large"),
}
_SOURCES = {"starter": tr("built in"), "folder": "Slipstream", "file": tr("a file")}


def machine_words(room: Room) -> str:
    """How much memory there is."""
    return tr("This computer has {bytes_words} of memory; {free} are free now.").format(
        bytes_words=bytes_words(room.total_bytes), free=bytes_words(room.free_bytes)
    )


def standing_words(standing: Standing, *, is_here: bool, is_recommended: bool) -> str:
    """How a curated pair stands with this machine, in a column's width."""
    words = tr("recommended") if is_recommended else _SHORT[standing]
    return tr("{words}, here").format(words=words) if is_here else words


def drafter_words(offer: Offer) -> str:
    """Who drafts in an offer."""
    judgement = offer.judgement
    return judgement.draft.rsplit("/", 1)[-1] if judgement.draft is not None else _KINDS[judgement.kind]


FIT_WORDS: dict[Fit, str] = {
    "fits": tr("fits"),
    "fits with warnings": tr("fits with warnings"),
    "does not fit": tr("does not fit"),
}
"""Whether it fits, in a word or two."""


def kind_words(judgement: Judgement) -> str:
    """What kind of drafter it is."""
    return _KINDS[judgement.kind]


def fit_sentence(judgement: Judgement) -> str:
    """Whether it fits, as a sentence."""
    is_ngram, is_own = judgement.kind == "n-gram", judgement.kind == "embedded heads"
    match judgement.fit:
        case "fits":
            if is_ngram:
                return tr("N-gram drafting fits.")
            return tr("The model's own MTP heads fit.") if is_own else tr("This drafter fits.")
        case "fits with warnings":
            n = len(judgement.warnings)
            if is_ngram:
                return tr("N-gram drafting fits, with (a warning|warnings):", None, n)
            if is_own:
                return tr("The model's own MTP heads fit, with (a warning|warnings):", None, n)
            return tr("This drafter fits, with (a warning|warnings):", None, n)
        case "does not fit":
            if is_ngram:
                return tr("N-gram drafting does not fit:")
            return tr("The model's own MTP heads do not fit:") if is_own else tr("This drafter does not fit:")
    assert_never(judgement.fit)


def reason_lines(judgement: Judgement) -> str:
    """The reasons and warnings, a line each."""
    lines = [*judgement.warnings, *judgement.reasons] if judgement.fits else [*judgement.reasons]
    return "\n".join(f"• {said(line)}" for line in lines)


def memory_sentence(memory: PairMemory) -> str:
    """What a pair takes against what is free."""
    how = tr("measured by a dry load") if memory.is_exact else tr("reckoned from the headers")
    longest = (
        " " + tr("Up to {n_ctx_max:,} tokens would fit.").format(n_ctx_max=memory.n_ctx_max)
        if memory.n_ctx_max
        else " " + tr("No context fits into it now.")
    )
    if memory.shares:
        need = bytes_words(memory.n_bytes)
        return tr("{need} in all, with a context of {n_ctx:,} tokens; the shares are reckoned.{longest}").format(
            need=need, n_ctx=memory.n_ctx, longest=longest
        )
    return tr("{need} of the {free} that are free, with a context of {n_ctx:,} tokens, {how}.{longest}").format(
        need=bytes_words(memory.n_bytes),
        free=bytes_words(memory.room.free_bytes),
        n_ctx=memory.n_ctx,
        how=how,
        longest=longest,
    )


def share_words(share: Share) -> str:
    """What a pair takes of one device's memory, and what there is."""
    device, need = share.room.device, bytes_words(share.n_bytes)
    if not share.room.is_known:
        return tr("{device} takes {need}; it does not tell how much memory it has.").format(device=device, need=need)
    verdict = tr("fits") if share.fits else tr("does not fit into what is free")
    return tr("{device} takes {need} of {bytes_words} that are free: {verdict}.").format(
        device=device, need=need, bytes_words=bytes_words(share.room.free_bytes), verdict=verdict
    )


def get_words(offers: Offers, offer: Offer | None) -> str:
    """What the button says that pulls."""
    n_bytes = sum(file.n_bytes for file in offers.files_to_pull(offer))
    if offers.pair is not None:
        return tr("Get pair ({bytes_words})").format(bytes_words=bytes_words(n_bytes))
    has_draft = offer is not None and offer.item is not None
    what = (
        tr("Get pair")
        if offers.item is not None and has_draft
        else tr("Get model")
        if offers.item
        else tr("Get drafter")
    )
    return f"{what} ({bytes_words(n_bytes)})"


def look_words(found: Sequence[Offer], *, is_whole: bool, is_stopped: bool) -> str:
    """What a look for drafters has brought."""
    n_fit = sum(offer.judgement.fits for offer in found)
    if not is_whole:
        why = tr("Stopped") if is_stopped else tr("The hub is slow, so the look was ended")
        words = tr("{why}; so far %n (was|were) found, {n_fit} of them fit.", None, len(found))
        return words.format(why=why, n_fit=n_fit)
    if not found:
        return tr("Neither the catalog nor the hub has another drafter for this family of models.")
    return tr("%n (was|were) found, {n_fit} of them fit.", None, len(found)).format(n_fit=n_fit)


def short_title(title: str) -> str:
    """A download's or a model's title without the publisher: the file's name, or the repository's with its tag."""
    parts = (part.rsplit("/", 1)[-1] for part in title.split(" + "))
    names = (part.rsplit(":", 1)[-1].removesuffix(".gguf") if part.endswith(".gguf") else part for part in parts)
    return " + ".join(names)


_LOG_IN = "set HF_TOKEN or run: hf auth login"
"""What the hub's hint says to those who have no window."""


def access_words(fault: HubAccessError) -> str:
    """What is wrong with who asks, for a window that has a field for the token."""
    return fault_words(fault).replace(_LOG_IN, tr("paste it below."))


def source_words(entry: LibraryEntry | BrokenFile) -> str:
    """Whose file it is."""
    return _SOURCES.get(entry.source, entry.source)


# --- downloads --------------------------------------------------------------------------------------


def time_words(seconds: float) -> str:
    """A time that is left, no more exact than it is known."""
    if seconds < 60:
        return tr("{seconds} s").format(seconds=max(1, round(seconds)))
    minutes = round(seconds / 60)
    return (
        tr("{minutes} min").format(minutes=minutes)
        if minutes < 60
        else tr("{hours} h {minutes:02d} min").format(hours=minutes // 60, minutes=minutes % 60)
    )


def percent(pull: Pull) -> int:
    """How far it is, in whole percent; 100 only at the end."""
    if pull.phase == "done":
        return 100
    return min(99, int(100 * pull.n_bytes / pull.n_total_bytes)) if pull.n_total_bytes else 0


def pull_words(pull: Pull) -> str:
    """The state of a download as a line."""
    amount = (
        tr("{here} of {all}").format(here=bytes_words(pull.n_bytes), all=bytes_words(pull.n_total_bytes))
        if pull.n_total_bytes
        else ""
    )
    match pull.phase:
        case "asking":
            parts = [said(pull.detail)]
        case "waiting":
            parts = [tr("Waiting for its turn"), amount]
        case "checking":
            parts = [tr("Checking a file that is here already"), amount]
        case "downloading":
            rate = (
                tr("{rate_bytes_s:.1f} MB/s").format(rate_bytes_s=pull.rate_bytes_s / 1e6) if pull.rate_bytes_s else ""
            )
            left = tr("{time_words} left").format(time_words=time_words(pull.eta_s)) if pull.eta_s is not None else ""
            parts = [amount, rate, left, said(pull.detail)]
        case "stalled":
            parts = [tr("Stalled"), amount, said(pull.detail), tr("It goes on by itself when the connection does.")]
        case "retrying":
            parts = [tr("Trying again"), amount, said(pull.detail)]
        case "verifying":
            parts = [tr("Checking every byte"), amount]
        case "done":
            parts = [tr("Complete and checked"), bytes_words(pull.n_total_bytes)]
        case "paused":
            parts = [tr("Paused"), amount, said(pull.detail)]
        case "failed":
            parts = [tr("Stopped"), amount, said(pull.detail), said(pull.hint)]
        case "removed":
            parts = [tr("Removed")]
        case _:
            assert_never(pull.phase)
    return " · ".join(part for part in parts if part)
