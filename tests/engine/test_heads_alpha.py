"""Heads draft what they were made to draft, whatever was answered before: alpha is the designed share, to the token.

The text is the chain itself and the heads name a wrong successor on a known share of it. So what a draft must be is
known from the token before it, and how much of it is kept: it is compared at every step. A rate alone would forgive
drafts that are right by luck and wrong by a fault; over whole turns of the chain it has to be the designed share.
"""

from __future__ import annotations

import collections

import numpy as np
import pytest

from app.protocol import Sampling
from tests.engine.sessions import GREEDY, answer, load
from tests.engine.test_mtp import KINDS, write
from tests.fixtures import tiny

AGREE, AGREES = 0.75, (0.75, 0.9)
N_DRAFT = 4
CHAIN = tiny.anything()
SURE = Sampling(seed=11, temperature=0.1)
"""Draws, but nothing else than the chain."""
SAME_ROUNDING = 0.02
PROMPTS = ("the cat of the hot day", "how many of them were there when you came to see it", "so it was")


class Designed:
    """What the heads of a kind say after a token, from the tables that their weights were made of."""

    def __init__(self, kind: str, agrees: tuple[float, ...]) -> None:
        how = [tiny.Tiny(mode="markov", agree=agree) for agree in agrees]
        self.successors = tiny.successors(how[0])
        self.tables = [tiny.draft_successors(of_head) for of_head in how]
        self.is_chain = kind == "chain"
        self.shares = [float((table == self.successors)[list(CHAIN)].mean()) for table in self.tables]

    def n_right(self, token: int, n: int) -> int:
        """Return how much is right of a draft of ``n`` tokens after a token."""
        for i in range(n):
            table = self.tables[i if self.is_chain else 0]
            if table[token] != self.successors[token]:
                return i
            token = int(self.successors[token])
        return n


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


class Counted:
    """Judged and kept tokens by their place in the draft, each step held against the design."""

    def __init__(self, designed: Designed) -> None:
        self.designed = designed
        self.judged: collections.Counter[int] = collections.Counter()
        self.kept: collections.Counter[int] = collections.Counter()

    def take(self, got) -> None:
        """Count an answer's drafts of the heads."""
        at = 0
        for step in got.steps:
            at += step.emitted
            if step.drafter == "draft-mtp":
                self._take_step(step, got.token_ids[at - step.emitted - 1], is_last=at == len(got.token_ids))

    def _take_step(self, step, pending: int, *, is_last: bool) -> None:
        n_right = self.designed.n_right(pending, step.proposed)
        assert step.accepted == n_right or (is_last and step.accepted < n_right), "not what these heads say"
        self.judged.update(range(step.judged))
        self.kept.update(range(step.accepted))

    def check(self, n_least: int) -> None:
        """Hold the rate against the designed share: within three sigma of so many draws, and no more.

        Not that of a chain of heads: its errors lie in the text at even distances, and drafts of two tokens step over
        them in time, so each head is asked some places often and others never. There each step alone is compared.
        """
        judged, kept, share = self.judged.total(), self.kept.total(), self.designed.shares[0]
        assert judged > n_least
        if not self.designed.is_chain:
            assert abs(kept / judged - share) < 3 * (share * (1 - share) / judged) ** 0.5


def opened(session, kind: str, folder, agrees: tuple[float, ...], **how) -> Counted:
    """Load a pair with so good heads."""
    share = {"agrees": agrees} if kind == "chain" else {"agree": agrees[0]}
    load(session, *write(kind, folder, mode="markov", **share), **{"n_ctx": 2048} | how)
    return Counted(Designed(kind, agrees if kind == "chain" else agrees[:1]))


@pytest.mark.parametrize("sampling", [GREEDY, SURE], ids=["greedy", "drawn"])
def test_alpha_is_the_designed_share_to_the_token(session, tmp_path, kind, sampling):
    counted = opened(session, kind, tmp_path, AGREES)
    for prompt in PROMPTS:
        counted.take(answer(session, prompt, sampling, ("draft-mtp",), N_DRAFT, max_tokens=300))
    counted.check(n_least=300)


def test_alpha_stays_across_reuse_edits_cancels_pauses_and_rewinds(session, tmp_path, kind):
    counted = opened(session, kind, tmp_path, AGREES)
    drafting = (GREEDY, ("draft-mtp",), N_DRAFT)
    for prompt in PROMPTS:
        text = prompt
        for n in (30, 50):  # the same text goes on: its memory is at hand
            counted.take(answer(session, text, *drafting, max_tokens=n))
            text += " of the day"
            got = answer(session, text, *drafting, max_tokens=n)
            assert got.started.cached_tokens > 0 or kind in ("embedded", "sidecar")
            counted.take(got)
        counted.take(answer(session, text, *drafting, max_tokens=60, cancel_after=4))
        counted.take(answer(session, text[: len(text) // 2] + " hot" + text[len(text) // 2 :], *drafting))  # an edit
        answer(session, text, GREEDY, (), max_tokens=20)  # nobody looks on
        answer(session, text, GREEDY, ("ngram",), N_DRAFT, max_tokens=20)
        counted.take(answer(session, text + " in it", GREEDY, ("ngram", "draft-mtp"), N_DRAFT, max_tokens=40))
        counted.take(answer(session, prompt, *drafting, max_tokens=80))  # back to where it began
        counted.take(answer(session, text, GREEDY, ("draft-mtp",), "auto", max_tokens=60))
        counted.take(answer(session, text, *drafting, max_tokens=60, stop=("e",)))
        counted.take(answer(session, text, *drafting, max_tokens=80))
    counted.check(n_least=600)


def test_heads_that_are_mostly_wrong_draft_as_they_were_made_to(session, tmp_path, kind):
    """Whatever length the controller asks them for, and whenever it asks them again."""
    counted = opened(session, kind, tmp_path, (0.3, 0.3))
    for prompt in PROMPTS[:2]:
        for k in ("auto", "rolling", 8):
            counted.take(answer(session, prompt, GREEDY, ("draft-mtp",), k, max_tokens=150))
    assert counted.judged.total() > 100


@pytest.mark.parametrize("kind", ["embedded", "sidecar"])
def test_heads_are_fed_with_the_targets_row_of_the_token_before(session, tmp_path, kind):
    """Alpha would hardly tell, as these heads go by the token: so the row that a draft begins with is made by hand."""
    load(session, *write(kind, tmp_path), n_ctx=512)
    pair = session._pair
    target, heads, memory = pair.target.context, pair.heads.context, pair.heads.memory
    tokens = [*pair.target.model.tokenise(PROMPTS[1]), *CHAIN[:40]]

    answer(session, PROMPTS[0], GREEDY, ("draft-mtp",), 3, max_tokens=20)
    pair.target.forget()
    memory.watch(True)
    memory.agree(tokens)
    for start in range(0, len(tokens), 16):
        target.decode(tokens[start : start + 16], 1)
    assert memory.feed(tokens, last=True)
    fed = heads.row().copy()
    memory.watch(False)

    rows = [np.zeros((1, heads.n_embd), np.float32)]
    pair.target.forget()
    target.watch(lambda _tokens, _position: None)
    for token in tokens:
        target.decode([token], 1)
        rows.append(target.hidden())
    target.watch(None)
    heads.rewind(0)
    heads.decode(tokens, np.concatenate(rows[:-1]), 0)
    assert np.abs(heads.row() - fed).max() < SAME_ROUNDING
