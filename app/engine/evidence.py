"""What a loaded pair has taught so far: costs, how often its words are kept, what asking was worth."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from app.engine.acceptance import Acceptance, Usual
from app.engine.asking import LAST_COPY, Pause
from app.engine.calibration import Calibration, OfTrees, of_best_children, of_drawn_words, of_other_children
from app.engine.copies import CopiedShare
from app.engine.costs import Costs
from app.engine.draft_length import PARTLY
from app.engine.foresight import Foresight
from app.engine.purse import Purse
from app.engine.worth import UsualWorth, Worth, weights
from app.lessons import Counts, Lessons

PRIORS = {"draft-simple": 0.7, PARTLY: 0.7, "draft-mtp": 0.75, "tree": 0.75}
"""Alpha of a drafter before anything was seen."""

OTHER_CHILDREN, FOLLOWING = "tree~", "tree+"
"""Kinds of what is calibrated of trees: of nodes that are not the best of their siblings; of what follows a node."""

NGRAM_PRIORS = (0.4, 0.5, 0.8, 0.92, 0.95, 0.98)
"""The same by agreement: 1, 2, 4, 8, 16, 32 tokens and more. A little less than what copies have in texts that repeat
(T4's answers to the sets edit and quotes, edits of this repository: 0.65, 0.92, 0.98, 0.98, 0.996)."""

USUAL_ANSWER_TOKENS, USUAL_WEIGHT, N_LENGTHS = 160, 0.5, 16
"""Tokens that an answer is expected to have still when nothing better is known, how many answers' word that is worth,
and how many answers know better."""

N_APART = 16
"""Rules whose evidence is kept apart; each request to a server may have a P of its own."""

N_NEW = 3
"""Answers that a pair is new in."""

SAMPLED = "@sampled"
"""Ends the name under which is kept what drafts are worth where tokens are drawn: fewer of them agree than where the
most likely one is taken."""

EASE = "!"
"""Ends the name under which is kept how many of a drafter's words are kept where the target is so sure of its own."""

_VIEWS = {PARTLY: "draft-simple", "draft-simple": PARTLY}
_GREEDY, _SAMPLED, _SHARP = "greedy", "sampled", "sharp"
_WILD = 100.0
"""No speed-up of an answer is as high; a file that says so is wrong."""


@dataclass(slots=True)
class Evidence:
    """What a loaded pair has taught so far; outlives the answers.

    Attributes:
        costs: what passes and drafts cost.
        usual, usual_worth: what answers have by kind of draft; ``acceptance`` and ``worth``: what this one has.
        calibrations: by kind, and whether the most likely word is taken.
        draft_start: longest draft of a model while little is known; 0 if nobody said.
        of_copies, copied: when one is tried though rows seem too dear for it; what share of the text they bring.
        lengths, n_tokens: tokens of the last answers, and of this one so far.
        purse: what this answer may cost.
    """

    costs: Costs = field(default_factory=Costs)
    usual: dict[str, Usual] = field(default_factory=dict)
    usual_worth: dict[str, UsualWorth] = field(default_factory=dict)
    calibrations: dict[tuple[str, bool], Calibration] = field(default_factory=dict)
    acceptance: dict[str, Acceptance] = field(default_factory=dict)
    worth: dict[str, Worth] = field(default_factory=dict)
    draft_start: int = 0
    of_copies: Pause = field(default_factory=lambda: Pause(longest=LAST_COPY))
    copied: CopiedShare = field(default_factory=CopiedShare)
    lengths: deque[int] = field(default_factory=lambda: deque(maxlen=N_LENGTHS))
    n_tokens: int = 0
    purse: Purse = field(default_factory=Purse)

    def n_answers(self, *, of_models: bool, is_greedy: bool) -> int:
        """How many answers something was drafted in, by whoever had the most, as far back as is remembered.

        Of models: those that a model drafted in, with drawn tokens or with the most likely ones.
        """
        if of_models:
            worths = [u for kind, u in self.usual_worth.items() if kind.endswith(SAMPLED) != is_greedy]
            return max((len(usual.answers) for usual in worths), default=0)
        return max((len(usual.answers) for usual in self.usual.values()), default=0)

    def of(self, kind: str) -> Acceptance:
        """Return what is known of a kind of draft: a drafter's name, or ``name:agreement``."""
        if kind not in self.acceptance:
            self.acceptance[kind] = self.usual.setdefault(kind, Usual(prior_alpha(kind))).begin()
        return self.acceptance[kind]

    def worth_of(self, kind: str, expected: Callable[[], float]) -> Worth:
        """Return what asking for this kind is worth; ``expected`` gives the speed-up where nothing was seen."""
        if kind not in self.worth:
            self.worth[kind] = self.usual_worth.setdefault(kind, UsualWorth()).begin(expected())
        return self.worth[kind]

    def calibration_of(self, kind: str, is_greedy: bool) -> Calibration:
        """Return how probability and acceptance go together."""
        begin = {"tree": of_best_children, FOLLOWING: of_best_children, OTHER_CHILDREN: of_other_children}
        if (kind, is_greedy) not in self.calibrations:
            usual = Calibration if is_greedy or kind.endswith(EASE) else of_drawn_words
            self.calibrations[kind, is_greedy] = begin.get(kind, usual)()
        return self.calibrations[kind, is_greedy]

    def foreseen(self, kind: str, is_greedy: bool, sight: Foresight) -> tuple[float, float]:
        """Return what share of the next words a drafter is likely to have right, and how many steps that is worth.

        With all of the text in view a draft model does at least as well as with a part of it.
        """
        ease = self.calibration_of(kind + EASE, is_greedy)
        if kind in _VIEWS:
            other = self.calibration_of(_VIEWS[kind] + EASE, is_greedy)
            is_better = sight.alpha(other) > sight.alpha(ease)
            if is_better != (kind == PARTLY) and sum(other.judged) > sum(ease.judged):
                ease = other
        return sight.alpha(ease), sight.strength(ease)

    def n_foreseen(self, kind: str, is_greedy: bool) -> float:
        """Return of how many words that was learned, with all of the text in view or a part of it."""
        kinds = (kind, _VIEWS[kind]) if kind in _VIEWS else (kind,)
        return sum(sum(self.calibration_of(one + EASE, is_greedy).judged) for one in kinds)

    def calibrations_of_tree(self, is_greedy: bool) -> OfTrees:
        """Return the same for the nodes of a tree."""
        return OfTrees(*(self.calibration_of(kind, is_greedy) for kind in ("tree", OTHER_CHILDREN, FOLLOWING)))

    def begin_answer(self) -> None:
        """Keep of the last answer what it says about the next."""
        for kind, acceptance in self.acceptance.items():
            self.usual[kind].add(acceptance)
        for kind, worth in self.worth.items():
            self.usual_worth[kind].add(worth)
        for of_part, of_all in ((PARTLY, "draft-simple"), (PARTLY + SAMPLED, "draft-simple" + SAMPLED)):
            self._learn_of_all(of_part, of_all)
        if self.n_tokens:
            self.lengths.append(self.n_tokens)
        self.acceptance, self.worth, self.n_tokens, self.purse = {}, {}, 0, self.purse.next()
        self.copied.begin_answer()

    def count(self, n_emitted: int, n_copied: int) -> None:
        """Take in that a step brought tokens, and how many of them were copies."""
        self.n_tokens += n_emitted
        self.copied.observe(n_emitted, n_copied)

    def n_to_come(self) -> float:
        """Return how many tokens this answer may still have, by those of the last answers that were longer."""
        n = self.n_tokens
        told = [
            (weight, length - n)
            for weight, length in zip(weights(self.lengths), self.lengths, strict=True)
            if length > n
        ]
        first = USUAL_WEIGHT * USUAL_ANSWER_TOKENS
        return (first + sum(weight * more for weight, more in told)) / (
            USUAL_WEIGHT + sum(weight for weight, _ in told)
        )

    def _learn_of_all(self, of_part: str, of_all: str) -> None:
        """Learn from an answer that was drafted with a part in view: with all of it drafts are worth no less."""
        part, whole = self.worth.get(of_part), self.worth.get(of_all)
        if part is not None and whole is not None and not whole.n_steps and part.lesson() > (whole.usual,):
            self.usual_worth[of_all].add(part)

    def lessons(self) -> Lessons:
        """Return what is worth keeping, this answer's share included."""
        speedups = {kind: tuple(usual.answers) for kind, usual in self.usual_worth.items()}
        errors = {kind: tuple(usual.errors) for kind, usual in self.usual_worth.items()}
        for kind, worth in self.worth.items():
            speedups[kind] += worth.lesson()
            errors[kind] += worth.error()
        speedups |= {_of_errors(kind): found for kind, found in errors.items() if found}
        answers = {kind: tuple(usual.answers) for kind, usual in self.usual.items()}
        for kind, acceptance in self.acceptance.items():
            answers[kind] += acceptance.lesson()
        words = {
            _name_of_words(kind, is_greedy): Counts(tuple(c.judged), tuple(c.kept))
            for (kind, is_greedy), c in self.calibrations.items()
        }
        counts = {
            kind: Counts(tuple(judged for judged, _ in seen), tuple(kept for _, kept in seen))
            for kind, seen in answers.items()
        }
        return Lessons(speedups, counts, words)

    def recall(self, lessons: Lessons) -> None:
        """Begin with what was learned before; what has another form than today's is left out."""
        for kind, speedups in lessons.speedups.items():
            usual = self.usual_worth.setdefault(kind.replace(EASE, ""), UsualWorth())
            (usual.errors if EASE in kind else usual.answers).extend(s for s in speedups if 1 / _WILD < s < _WILD)
        for kind, counts in lessons.answers.items():
            known = self.usual.setdefault(kind, Usual(prior_alpha(kind))).answers
            pairs = zip(counts.judged, counts.kept, strict=False)
            known.extend((judged, kept) for judged, kept in pairs if 0 <= kept <= judged and judged)
        for key, counts in lessons.words.items():
            kind, _, how = key.rpartition("@")
            if key == _name_of_words(kind, is_greedy := how == _GREEDY):
                self.calibration_of(kind, is_greedy).recall(counts.judged, counts.kept)


@dataclass(slots=True)
class EvidenceApart:
    """What answers of other rules have taught, each rule apart: a lenient one keeps more the smaller its P is."""

    _known: dict[tuple[int, float], Evidence] = field(default_factory=dict)

    def of(self, ordinary: Evidence, n_rows: int, lenient: float) -> Evidence:
        """Return what was learned with passes of so many rows, 0: any, and with this P, 0: lossless.

        It begins with the costs of the ordinary rule and where its first drafts end.
        """
        found = self._known.pop((n_rows, lenient), None)
        if found is None:
            costs = ordinary.costs.of_one_shape(n_rows) if n_rows else ordinary.costs
            found = Evidence(costs, draft_start=ordinary.draft_start)
        self._known[n_rows, lenient] = found  # the last one used goes last
        if len(self._known) > N_APART:
            del self._known[next(iter(self._known))]
        return found

    def renew(self, ordinary: Evidence) -> None:
        """Begin anew with the ordinary rule's costs."""
        for (n_rows, _), found in self._known.items():
            found.costs = ordinary.costs.of_one_shape(n_rows) if n_rows else ordinary.costs


def _name_of_words(kind: str, is_greedy: bool) -> str:
    """Return the name under which a file has the words of a kind.

    Where tokens are drawn, probabilities of trees are sharper than they were: what was learned of others is left out.
    """
    of_tree = kind in ("tree", OTHER_CHILDREN, FOLLOWING)
    return f"{kind}@{_GREEDY if is_greedy else _SHARP if of_tree else _SAMPLED}"


def _of_errors(kind: str) -> str:
    """Return the name under which a file has what a kind was worth, of what was foreseen."""
    ending = SAMPLED if kind.endswith(SAMPLED) else ""
    return kind.removesuffix(SAMPLED) + EASE + ending


def prior_alpha(kind: str) -> float:
    """Return alpha before any evidence; an n-gram's grows with how long its place agrees with the text."""
    name, _, agreement = kind.partition(":")
    if not agreement.isdecimal() or not int(agreement):
        return PRIORS.get(name, 0.5)
    return NGRAM_PRIORS[min(len(NGRAM_PRIORS), int(agreement).bit_length()) - 1]
