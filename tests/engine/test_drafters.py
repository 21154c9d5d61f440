import pytest

from app.engine.draft_length import PARTLY, Ask
from app.engine.drafters.draft_model import DraftModelDrafter, check_vocabularies
from app.engine.prompt_cache import Held, common_prefix, reusable
from app.engine.sampler import Sampler
from app.errors import PairError
from app.protocol import Sampling
from tests.engine.scripted import ScriptedMemory


class Vocabulary:
    def __init__(self, texts, *, vocab_type=1, bos=1, eos=2, adds_bos=True, adds_eos=False):
        self.texts, self.n_vocab = texts, len(texts)
        self.vocab_type, self.bos, self.eos = vocab_type, bos, eos
        self.adds_bos, self.adds_eos = adds_bos, adds_eos

    def text_of(self, token):
        return self.texts[token]


TEXTS = [f"t{i}" for i in range(300)]


def test_equal_vocabularies_fit_and_so_do_small_differences():
    check_vocabularies(Vocabulary(TEXTS), Vocabulary(TEXTS))
    check_vocabularies(Vocabulary(TEXTS), Vocabulary([*TEXTS, *("x" * 128)]))
    check_vocabularies(Vocabulary(TEXTS), Vocabulary(["a", "b", "c", "d", "e", *TEXTS[5:]]))
    check_vocabularies(Vocabulary(TEXTS), Vocabulary(TEXTS, eos=7))  # not added to texts: llama.cpp does not compare it
    check_vocabularies(Vocabulary(TEXTS, adds_bos=False), Vocabulary(TEXTS, bos=7, adds_bos=False))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (Vocabulary(TEXTS, vocab_type=2), "types"),
        (Vocabulary(TEXTS, bos=7), "begin-of-text"),
        (Vocabulary(TEXTS, adds_bos=False), "Only the target's tokenizer adds a begin-of-text token"),
        (Vocabulary(TEXTS, adds_eos=True), "Only the draft's tokenizer adds an end-of-text token"),
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


def draft_model(memory: ScriptedMemory, held: Held) -> DraftModelDrafter:
    return DraftModelDrafter(memory, held, Sampler(Sampling(seed=1, temperature=0.0), memory.n_vocab))


def test_what_a_memory_holds_of_another_text_is_still_to_be_caught_up_with():
    memory, held = ScriptedMemory(), Held()
    draft_model(memory, held).begin(list(range(1, 31)))
    other = [7, 8, 9, *range(10, 20)]
    assert draft_model(memory, held).n_behind(other) == len(other) - 1


def test_a_part_of_the_text_in_view_is_another_kind_until_all_of_it_is():
    memory, held = ScriptedMemory(), Held()
    drafter, text = draft_model(memory, held), list(range(1, 31))
    drafter.draft(text, Ask(2, 8))
    assert (drafter.kind, drafter.n_unseen(text)) == (PARTLY, 29)
    drafter.draft(text, Ask(2, drafter.n_behind(text)))
    assert held.first == 21, "nothing asked for more"
    drafter.draft(text, Ask(2, drafter.n_behind(text) + drafter.n_unseen(text)))
    assert (drafter.kind, drafter.n_unseen(text)) == ("draft-simple", 0)
    assert held.tokens[:30] == text
