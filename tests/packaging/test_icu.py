"""ICU's data is made smaller by a list: what stays is what it was, at places where ICU finds it."""

import ctypes
import struct
import subprocess

import pytest
from bundle import icu
from bundle.pruning import Rule, sections

pytestmark = pytest.mark.linux

HEADER = struct.pack("<HBB", 32, 0xDA, 0x27) + b"CmnD".rjust(28, b"\0")
ITEMS = {
    "icudt1l/coll/de.res": b"order of words" * 3,
    "icudt1l/curr/de.res": b"names of money",
    "icudt1l/curr/root.res": b"",
    "icudt1l/nfc.nrm": b"x" * 16,
    "icudt1l/root.res": b"the last",
}


def test_a_table_put_together_again_is_the_table():
    table = icu.table_of(HEADER, ITEMS)
    header, found = icu.items(table)
    assert header == HEADER
    assert list(found) == list(ITEMS)
    assert all(found[name].startswith(ITEMS[name]) for name in ITEMS)
    assert icu.table_of(header, found) == table
    # AND contents begin where ICU may read them as numbers of any size
    (n_items,) = struct.unpack_from("<I", table, 32)
    begins = [struct.unpack_from("<II", table, 36 + 8 * one)[1] for one in range(n_items)]
    assert [begin % 16 for begin in begins] == [0] * n_items


def library(folder, table):
    place = folder / "libicudata.so.1"
    (folder / "table").write_bytes(table)
    words = icu.SOURCE.format(symbol="icudt1_dat", n_bytes=len(table), place=folder / "table")
    (folder / "table.s").write_text(words)
    subprocess.run(["cc", "-shared", "-nostdlib", "-o", str(place), str(folder / "table.s")], check=True, timeout=60)
    return place


def test_a_library_keeps_what_the_list_keeps(tmp_path):
    place = library(tmp_path, icu.table_of(HEADER, ITEMS))
    # WHEN the names of money go, but for the root's
    freed = icu.make_small(place, [Rule("curr/*", keeps=False), Rule("curr/root.res", keeps=True)])
    # THEN a program that loads it finds the rest
    kept = {name: text for name, text in ITEMS.items() if name != "icudt1l/curr/de.res"}
    wanted = icu.table_of(HEADER, kept)
    assert freed == len(icu.table_of(HEADER, ITEMS)) - len(wanted)
    loaded = ctypes.CDLL(str(place))
    assert bytes((ctypes.c_char * len(wanted)).in_dll(loaded, "icudt1_dat")) == wanted
    told = subprocess.check_output(["readelf", "-d", str(place)], text=True)
    assert "soname: [libicudata.so.1]" in told


def test_a_list_that_is_out_of_date_and_another_library_stop_the_build(tmp_path):
    place = library(tmp_path, icu.table_of(HEADER, ITEMS))
    before = place.read_bytes()
    with pytest.raises(SystemExit, match=r"match nothing: money/\*"):
        icu.make_small(place, [Rule("money/*", keeps=False)])
    assert place.read_bytes() == before
    other = tmp_path / "libother.so"
    subprocess.run(["cc", "-shared", "-nostdlib", "-x", "c", "/dev/null", "-o", str(other)], check=True, timeout=60)
    with pytest.raises(SystemExit, match="holds no data of ICU"):
        icu.make_small(other, [])
    with pytest.raises(ValueError, match="no table"):
        icu.items(b"\x7fELF" + bytes(100))


def test_the_order_of_words_and_the_base_of_all_languages_are_not_on_the_list():
    from bundle.pruning import stays

    for name in ("coll/root.res", "coll/ucadata.icu", "root.res", "pool.res", "zoneinfo64.res", "cnvalias.icu"):
        assert stays(name, sections()["icu"])
