import math
import random
import re
import sys
from pathlib import Path

import pytest

from app.engine.auto_length import Evidence
from app.engine.draft_length import Ask
from app.engine.drafters import ngram
from app.engine.drafters.ngram import LENGTHS, N_INDEXED, N_MAX, N_MIN, SURE, NgramDrafter
from app.protocol import MAX_DRAFT_TOKENS
from tests.benchmarks.ngram import COSTS, Mod, Ours, Simple, Text, replay_all


def drafted(tokens, limit=8, **kwargs):
    drafter = NgramDrafter(**kwargs)
    drafter.begin(tokens)
    return drafter.draft(tokens, Ask(limit))


def write(drafter, text, answer, limit=8):
    """Let the drafter draft for an answer that is known; return its text, and each draft with what was kept of it."""
    text, drafts = [*text], []
    drafter.begin(text)
    end = [*text, *answer]
    while len(text) < len(end):
        draft = drafter.draft(text, Ask(limit))
        kept = 0
        while kept < len(draft) and draft[kept : kept + 1] == end[len(text) + kept : len(text) + kept + 1]:
            kept += 1
        drafts.append((draft, kept))
        text = end[: min(len(end), len(text) + kept + 1)]
        drafter.accept(text)
    return drafts


def test_the_first_repeated_run_is_continued():
    assert drafted([1, 2, 3, 4, 5, 6, 9, 1, 2, 3]) == [4, 5, 6]
    assert drafted([1, 2, 3, 4, 5, 6, 9, 1, 2]) == [3, 4]


def test_the_longest_agreement_wins_over_the_latest():
    text = [9, 8, 1, 2, 70, 71, 72, 73, 5, 5, 1, 2, 80, 81, 9, 8, 1, 2]
    assert drafted(text) == [70, 71, 72, 73]


def test_of_equal_agreements_the_latest_wins_but_for_one_token_only():
    assert drafted([1, 2, 3, 70, 0, 1, 2, 3, 80, 5, 1, 2, 3]) == [80]


def test_a_draft_ends_where_equal_agreements_go_on_differently():
    assert drafted([1, 2, 3, 7, 8, 70, 1, 2, 3, 7, 8, 80, 1, 2, 3]) == [7, 8]


def test_a_period_is_followed_past_the_end_of_the_text():
    assert drafted([7, *[1, 2, 3] * 4], 10) == [1, 2, 3, 1, 2, 3, 1, 2, 3, 1]


def test_there_is_no_draft_without_a_repeat_or_below_the_minimum():
    assert drafted([1, 2, 3, 4, 5, 6]) == []
    assert drafted([1, 2]) == drafted([1, 2, 3]) == drafted([1]) == drafted([]) == []
    assert drafted([1, 2, 3, 4, 1, 2, 3], 8, draft_min=3) == [4, 1, 2]
    assert drafted([1, 2, 3, 4, 1, 2, 3], 8, draft_min=4) == []


@pytest.mark.parametrize("limit", [1, 2, 8, MAX_DRAFT_TOKENS, 100])
def test_a_short_agreement_gets_its_share_of_the_length(limit):
    for agreement in range(N_MIN, N_MAX):
        run = list(range(100, 100 + agreement))
        n = math.ceil(min(limit, MAX_DRAFT_TOKENS) * min(1, agreement / SURE))
        assert drafted([*run, *range(500, 600), 1, *run], limit) == list(range(500, 500 + n))


def test_the_kind_of_a_draft_tells_how_long_its_place_agrees():
    kinds = {}
    for agreement in range(N_MIN, N_MAX + 9):
        run = list(range(100, 100 + agreement))
        drafter = NgramDrafter()
        text = [*run, 5, 6, *run]
        drafter.begin(text)
        assert drafter.draft(text, Ask(1)) == [5]
        kinds.setdefault(drafter.kind, []).append(agreement)
    assert list(kinds) == [f"ngram:{length}" for length in LENGTHS if length <= N_MAX]
    evidence = Evidence()
    alphas = [evidence.of(kind).alpha() for kind in kinds]
    assert 0 < alphas[0] < alphas[-1] < 1
    assert alphas == sorted(alphas)


def test_the_kind_of_a_draft_tells_how_long_a_copy_has_gone_on():
    once, kinds = [*range(200)], []
    drafter = NgramDrafter()
    drafter.begin(once)
    for n in range(N_MIN, 200):
        drafter.draft([*once, *range(n)], Ask(8))
        kinds.append(drafter.kind)
    assert list(dict.fromkeys(kinds)) == [f"ngram:{length}" for length in LENGTHS]
    drafter.draft([*once, *range(199), 3, 4, 5], Ask(8))
    assert drafter.kind == "ngram:2"


@pytest.mark.parametrize(("put", "n_dropped"), [([7], 1), ([7, 8, 9], 1), ([7, 8], 0), ([], 4)])
def test_a_copy_is_taken_up_again_one_token_behind_an_edit(put, n_dropped):
    source = list(range(100, 160))
    edited = [*source[:20], *put, *source[20 + n_dropped :]]
    drafter = NgramDrafter()
    text = [*source, 1, 2, *edited[:19]]
    drafter.begin(text)
    assert drafter.draft(text, Ask(8)) == source[19:27]
    text = [*source, 1, 2, *edited[: 20 + len(put)]]
    drafter.accept(text)
    if put:  # nothing that is known
        assert drafter.draft(text, Ask(16)) == []
    text.append(source[20 + n_dropped])
    drafter.accept(text)
    assert drafter.draft(text, Ask(16)) == source[21 + n_dropped : 23 + n_dropped]


def test_an_edited_text_takes_few_steps():
    source = list(range(100, 180))
    edited = [token if token % 20 else 7 for token in source]
    drafts = write(NgramDrafter(), [*source, 1, 2], edited, limit=MAX_DRAFT_TOKENS)
    # Two tokens to find the text; at each of the five replaced words one step with the word, one behind it, one or two
    # until the copy is sure again.
    assert sum(kept for _draft, kept in drafts) >= len(edited) - len(drafts)
    assert len(drafts) <= 2 + 5 * 3 + 1


@pytest.mark.parametrize(("old", "new"), [([5], [7]), ([5, 6], [7]), ([5], [7, 8, 9]), ([5, 6], [7, 8])])
def test_a_name_that_is_changed_once_is_changed_everywhere(old, new):
    parts = [list(range(start, start + 15)) for start in range(100, 200, 20)]
    source = [token for part in parts for token in (*part, *old)]
    edited = [token for part in parts for token in (*part, *new)]
    drafts = write(NgramDrafter(), [*source, 1, 2], edited, limit=16)
    # Found after two tokens, the name once, then 16 tokens a step; without, as many stops as names.
    assert sum(kept < len(draft) for draft, kept in drafts[:-1]) == 1
    assert len(drafts) <= 2 + 2 + len(new) + 2 + len(edited) // 16
    assert any(draft[i : i + len(new)] == new for draft, kept in drafts for i in range(kept))


def test_a_replacement_is_forgotten_where_the_old_word_stays():
    source = [token for start in range(100, 200, 20) for token in (*range(start, start + 15), 5)]
    edited = [*source[:15], 7, *source[16:]]
    drafts = write(NgramDrafter(), [*source, 1, 2], edited, limit=16)
    assert sum(7 in draft for draft, _kept in drafts) == 1
    assert len(drafts) <= 2 + 4 + len(edited) // 16 + 2


def test_few_and_short_replacements_are_remembered():
    edits = ngram._Edits()
    for word in range(50):
        edits.learn([word], [100 + word])
    assert len(edits._known) == ngram.N_EDITS
    text = [49, 48, 1]
    assert edits.copy(text, 0, 6) == [149, 148, 1, 149, 148, 1]
    for old, new in (([], [3]), ([49], []), ([49] * 5, [3]), ([49], [3] * 5)):
        edits.learn(old, new)
    assert edits.copy(text, 0, 3) == [149, 148, 1]


def test_any_edit_of_a_text_is_followed_without_a_slip():
    for seed in range(60):
        rng = random.Random(seed)
        n_words = rng.choice((3, 12, 400))
        source = [rng.randrange(n_words) for _ in range(150)]
        edited = []
        for token in source * 2:
            chance = rng.random()
            if chance > 0.1:
                edited.append(token)
            elif chance > 0.03:
                edited += [rng.randrange(n_words) for _ in range(rng.randrange(1, 5))]
        drafter = NgramDrafter()
        for draft, kept in write(drafter, source, edited, limit=rng.choice((1, 4, 31))):
            assert kept <= len(draft)
        assert drafter._source < len(source) + len(edited)


def test_a_copy_that_does_not_come_back_is_given_up():
    source = list(range(100, 160))
    drafter = NgramDrafter()
    text = [*source, 1, 2, *source[:20]]
    drafter.begin(text)
    assert drafter.draft(text, Ask(8)) == source[20:28]
    for word in range(7, 7 + ngram.PATIENCE + 1):
        text = [*text, word]
        drafter.accept(text)
        assert drafter.draft(text, Ask(8)) == []
    text = [*text, source[21]]
    drafter.accept(text)
    assert drafter.draft(text, Ask(8)) == []


def test_places_far_from_where_the_copy_was_left_do_not_count():
    source = list(range(100, 160))
    for ahead, found in ((ngram.REACH - 1, True), (ngram.REACH, False)):
        drafter = NgramDrafter()
        text = [*source, 1, 2, *source[:20]]
        drafter.begin(text)
        drafter.draft(text, Ask(8))
        text += [7, source[20 + ahead]]
        drafter.accept(text)
        assert bool(drafter.draft(text, Ask(8))) == found


def test_it_learns_as_the_text_grows():
    drafter = NgramDrafter()
    text = [1, 2, 3]
    drafter.begin(text)
    for i in range(100):
        text = [*text, 10 + i % 7, 1, 2, 3]
        drafter.accept(text)
    assert drafter.draft(text, Ask(1)) == [10 + 100 % 7]


def test_begin_forgets_the_text_before():
    drafter = NgramDrafter()
    drafter.begin([1, 2, 3, 4, 5])
    drafter.begin([9, 9, 1, 2, 3])
    assert drafter.draft([9, 9, 1, 2, 3], Ask(4)) == []


def test_every_draft_is_a_copy_of_the_text_whatever_the_text():
    n = 300
    for seed in range(40):
        rng = random.Random(seed)
        text = [rng.randrange(rng.choice((2, 5, 30))) for _ in range(n)]
        for draft, kept in write(NgramDrafter(), text[: n // 3], text[n // 3 :], limit=rng.choice((1, 8, 31))):
            assert kept <= len(draft) <= MAX_DRAFT_TOKENS
            assert set(draft) <= set(text)


def test_the_oldest_places_are_dropped_and_the_latest_found():
    rng = random.Random(3)
    far, near = [1, 2, 3, 77], [4, 5, 6, 88]
    filler = [rng.randrange(1000, 50_000) for _ in range(N_INDEXED)]
    text = [*far, *filler, *near, 9]
    drafter = NgramDrafter()
    drafter.begin(text)
    assert drafter.draft([*text, 1, 2, 3], Ask(1)) == []
    assert drafter.draft([*text, 1, 2, 3, 4, 5, 6], Ask(1)) == [88]


def n_bytes(thing):
    """Return the size of an object with all that it holds."""
    parts = list(vars(thing).values()) if hasattr(thing, "__dict__") else []
    if isinstance(thing, dict):
        parts = list(thing.values())
    elif isinstance(thing, list | tuple):
        parts = list(thing)
    return sys.getsizeof(thing) + sum(n_bytes(part) for part in parts)


def test_a_million_tokens_take_no_more_memory_than_a_hundred_thousand():
    rng = random.Random(1)
    text = rng.choices(range(50_000), k=100_000)
    drafter = NgramDrafter()
    drafter.begin(text)
    early = n_bytes(drafter)
    for _ in range(9):
        text.extend(text[-100_000:-80_000] + rng.choices(range(50_000), k=80_000))
        drafter.accept(text)
    assert len(text) == 1_000_000
    assert drafter.draft([*text, *text[:40]], Ask(MAX_DRAFT_TOKENS)) == []
    assert n_bytes(drafter) == pytest.approx(early, abs=1000)
    assert early < 600_000


LICENCE = Path(__file__).parents[2] / "LICENSE"


def words():
    """Return the licence, a text that stays, as tokens: its words and signs."""
    found = re.findall(r"\w+|\s+|[^\w\s]", LICENCE.read_text(encoding="utf-8"))[:900]
    known = {word: i for i, word in enumerate(sorted(set(found)), start=1)}
    return found, [known[word] for word in found]


def renamed():
    found, tokens = words()
    most = max(sorted(set(found)), key=lambda word: (len(word) > 4) * found.count(word))
    return [9999 if word == most else token for word, token in zip(found, tokens, strict=True)]


def shortened():
    _found, tokens = words()
    cuts = sorted(random.Random(5).sample(range(len(tokens)), 16))
    return [token for a, b in zip(cuts[::2], cuts[1::2], strict=True) for token in tokens[a:b]]


def quoted():
    _found, tokens = words()
    rng = random.Random(6)
    answer = []
    for start in rng.sample(range(len(tokens) - 60), 8):
        answer += [rng.randrange(5000, 9000) for _ in range(25)] + tokens[start : start + rng.randrange(12, 60)]
    return answer


@pytest.mark.parametrize("make", [renamed, shortened, quoted])
def test_it_is_as_good_as_the_rules_of_llama_cpp_at_their_best(make):
    texts = [Text(make.__name__, (*words()[1], 0), tuple(make()))]
    ours = [replay_all(texts, lambda k=k: Ours(k)) for k in (4, 8, 12, 16, 31)]
    theirs = [replay_all(texts, lambda n=n, m=m: Simple(n, m)) for n in (2, 3, 4, 8, 12) for m in (4, 8, 16, 31)]
    theirs += [replay_all(texts, lambda n=n, m=m: Mod(n, m, 0)) for n in (3, 4, 8, 12) for m in (8, 31)]
    for cost in COSTS:
        rival = max(count.speedup(cost) for count in theirs)
        # Their setting is the best of 28 in hindsight, on this one text: a per cent of that is luck.
        assert max(count.speedup(cost) for count in ours) >= 0.98 * rival
        assert rival > 1.2


def test_a_copy_is_not_lost_among_many_places_that_are_alike():
    phrase = [1, 2]
    source = [*range(100, 120), *phrase, *range(200, 220)]
    noise = [token for i in range(200) for token in (*phrase, 1000 + i)]
    drafter = NgramDrafter()
    text = [*source, *noise, *source[:15]]
    drafter.begin(text)
    assert drafter.draft(text, Ask(8)) == source[15:23]
    text += source[15:22]
    drafter.accept(text)
    assert drafter.draft(text, Ask(8)) == source[22:30]
