"""Icons come from the one SVG source."""

import struct

from bundle import icons
from PySide6.QtGui import QImage


def test_a_picture_has_its_size_colours_and_clear_corners(qapp):
    image = QImage.fromData(icons.png(64), "PNG")
    assert (image.width(), image.height()) == (64, 64)
    assert image.pixelColor(0, 0).alpha() == 0
    assert image.pixelColor(32, 8).name() == "#0e7490"


def test_an_ico_file_holds_every_size_as_its_directory_says(qapp):
    data = icons.ico((16, 256))
    reserved, kind, n_pictures = struct.unpack_from("<HHH", data)
    assert (reserved, kind, n_pictures) == (0, 1, 2)
    for number, size in enumerate((16, 256)):
        width, _height, _n, _r, _planes, _bits, n_bytes, at = struct.unpack_from("<BBBBHHII", data, 6 + 16 * number)
        assert width == size % 256
        image = QImage.fromData(data[at : at + n_bytes], "PNG")
        assert (image.width(), image.height()) == (size, size)


def test_a_desktop_theme_gets_source_and_sizes(qapp, tmp_path):
    icons.write_hicolor(tmp_path, "slipstream")
    found = sorted(path.parent.parent.name for path in tmp_path.rglob("slipstream.*"))
    assert len(found) == len(icons.PNG_SIZES_PX) + 1
    assert "scalable" in found
