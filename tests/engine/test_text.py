from hypothesis import given
from hypothesis import strategies as st

from app.engine.text import TextStream


def _feed(raw: bytes, cuts: list[int], stop=()) -> tuple[str, bool]:
    stream, out, at = TextStream(stop), "", 0
    for cut in [*sorted(c % (len(raw) + 1) for c in cuts), len(raw)]:
        out += stream.push(raw[at:cut])
        at = max(at, cut)
    return out + stream.finish(), stream.stopped


@given(st.text(), st.lists(st.integers(0, 1000)))
def test_any_cutting_gives_the_same_text(text, cuts):
    assert _feed(text.encode("utf-8", "replace"), cuts)[0] == text.encode("utf-8", "replace").decode()


@given(
    st.text(alphabet="ab\u20ac", max_size=30), st.lists(st.integers(0, 1000)), st.sampled_from(["ab", "aab", "\u20aca"])
)
def test_stop_strings_cut_at_their_first_place_however_the_bytes_come(text, cuts, stop):
    got, stopped = _feed(text.encode(), cuts, (stop,))
    assert stopped == (stop in text)
    assert got == text.split(stop)[0]


def test_a_character_is_never_shown_in_parts():
    stream = TextStream()
    raw = "né€𝄞".encode()
    shown = [stream.push(raw[i : i + 1]) for i in range(len(raw))]
    assert [s for s in shown if s] == ["n", "é", "€", "𝄞"]


def test_an_incomplete_character_at_the_end_is_marked():
    stream = TextStream()
    assert stream.push("€".encode()[:2]) == ""
    assert stream.finish() == "\ufffd"


def test_what_could_begin_a_stop_string_is_held_back_until_decided():
    stream = TextStream(("###", "END"))
    assert stream.push(b"a##") == "a"
    assert stream.push(b"b E") == "##b "
    assert stream.push(b"N") == ""
    assert stream.finish() == "EN"
