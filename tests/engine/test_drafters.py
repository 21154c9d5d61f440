import pytest

from app.engine.draft_length import Ask
from app.engine.drafters.draft_model import check_vocabularies
from app.engine.drafters.ngram import N_PLACES, NgramDrafter
from app.engine.prompt_cache import common_prefix, reusable
from app.errors import PairError


def _drafted(tokens, limit=8, **kwargs):
    drafter = NgramDrafter(**kwargs)
    drafter.begin(tokens)
    return drafter.draft(tokens, Ask(limit))


def test_ngram_continues_the_first_repeated_run():
    assert _drafted([1, 2, 3, 4, 5, 6, 9, 1, 2, 3], 3) == [4, 5, 6]


def test_ngram_prefers_the_longest_agreement_over_the_latest():
    text = [9, 8, 1, 2, 3, 70, 71, 5, 5, 1, 2, 3, 80, 81, 9, 8, 1, 2, 3]
    assert _drafted(text, 2) == [70, 71]


def test_ngram_prefers_the_latest_of_equal_agreements():
    assert _drafted([1, 2, 3, 70, 0, 1, 2, 3, 80, 5, 1, 2, 3], 1) == [80]


def test_ngram_follows_a_period_past_the_end_of_the_text():
    assert _drafted([7, 1, 2, 3, 1, 2, 3], 7) == [1, 2, 3, 1, 2, 3, 1]


def test_ngram_has_no_draft_without_a_repeat_or_below_its_minimum():
    assert _drafted([1, 2, 3, 4, 5, 6]) == []
    assert _drafted([1, 2]) == []
    assert _drafted([1, 2, 3, 4, 1, 2, 3], 2, draft_min=3) == []


def test_ngram_learns_as_the_text_grows_and_bounds_its_places():
    drafter = NgramDrafter()
    text = [1, 2, 3]
    drafter.begin(text)
    for i in range(100):
        text = [*text, 10 + i % 7, 1, 2, 3]
        drafter.accept(text)
    assert drafter.draft(text, Ask(1)) == [10 + 100 % 7]
    assert max(len(places) for places in drafter._places.values()) <= N_PLACES


class Vocabulary:
    def __init__(self, texts, *, vocab_type=1, bos=1, eos=2, adds_bos=True):
        self.texts, self.n_vocab = texts, len(texts)
        self.vocab_type, self.bos, self.eos, self.adds_bos = vocab_type, bos, eos, adds_bos

    def text_of(self, token):
        return self.texts[token]


TEXTS = [f"t{i}" for i in range(300)]


def test_equal_vocabularies_fit_and_so_do_small_differences():
    check_vocabularies(Vocabulary(TEXTS), Vocabulary(TEXTS))
    check_vocabularies(Vocabulary(TEXTS), Vocabulary([*TEXTS, *("x" * 128)]))
    check_vocabularies(Vocabulary(TEXTS), Vocabulary(["a", "b", "c", "d", "e", *TEXTS[5:]]))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (Vocabulary(TEXTS, vocab_type=2), "types"),
        (Vocabulary(TEXTS, bos=7), "begin-of-text"),
        (Vocabulary(TEXTS, eos=7), "end-of-text"),
        (Vocabulary([*TEXTS, *("x" * 129)]), "differ by 129"),
        (Vocabulary([*TEXTS[:77], "other", *TEXTS[78:]]), "Token 77 is 't77' in the target and 'other' in the draft"),
    ],
)
def test_a_misfit_names_its_rule(other, words):
    with pytest.raises(PairError, match=words):
        check_vocabularies(Vocabulary(TEXTS), other)


def test_common_prefix_and_what_a_prompt_can_reuse():
    assert common_prefix([1, 2, 3], [1, 2, 4]) == 2
    assert common_prefix([], [1]) == 0
    assert common_prefix([1, 2], [1, 2, 3], 1) == 2
    assert reusable([1, 2, 3], [1, 2, 3]) == 2
    assert reusable([1, 2, 3, 4], [1, 2]) == 1
