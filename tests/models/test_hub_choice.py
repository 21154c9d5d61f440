"""What a name means in a repository, by llama.cpp's rules."""

from __future__ import annotations

import pytest

from app.errors import HubNotFoundError, UsageError
from app.models.hub_choice import Wanted, choose, read_name, sidecar, tags_of
from app.models.remote import RemoteFile


def files(*paths: str) -> list[RemoteFile]:
    return [RemoteFile("org/m", "c" * 40, path, 1, "sha256:" + "0" * 64) for path in paths]


def chosen(paths: list[str], tag: str = "") -> list[str]:
    return [file.path for file in choose(files(*paths), Wanted("org/m", tag))]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("org/m", Wanted("org/m")),
        ("org/m:Q4_K_M", Wanted("org/m", "Q4_K_M")),
        (" hf.co/org/m:q8_0 ", Wanted("org/m", "q8_0")),
        ("https://huggingface.co/org/m", Wanted("org/m")),
        ("https://huggingface.co/org/m/tree/main", Wanted("org/m")),
        ("https://huggingface.co/org/m/tree/v2", Wanted("org/m", revision="v2")),
        ("https://huggingface.co/org/m/blob/main/a/b.gguf?download=true", Wanted("org/m", path="a/b.gguf")),
        ("https://huggingface.co/org/m/resolve/main/a%20b/c.gguf", Wanted("org/m", path="a b/c.gguf")),
        ("https://huggingface.co/org/m/tree/refs%2Fpr%2F1", Wanted("org/m", revision="refs/pr/1")),
        ("http://mirror:8080/org/m/resolve/v2/b.gguf", Wanted("org/m", path="b.gguf", revision="v2")),
    ],
)
def test_names(text, wanted):
    assert read_name(text, "http://mirror:8080") == wanted


@pytest.mark.parametrize(
    "text", ["", "m", "a/b/c", "../m", "org/..", "org/.m", "org/m m", "a" * 200 + "/m", ":Q4", "ö/m"]
)
def test_no_names(text):
    with pytest.raises(UsageError, match="is not the name of a repository"):
        read_name(text)


@pytest.mark.parametrize(
    ("paths", "tag", "expected"),
    [
        (["m-Q8_0.gguf", "m-Q4_K_M.gguf"], "", ["m-Q4_K_M.gguf"]),  # the preferred one wins over the first
        (["m-Q2_K.gguf", "m-Q8_0.gguf"], "", ["m-Q8_0.gguf"]),
        (["m-F16.gguf", "m-Q2_K.gguf"], "", ["m-F16.gguf"]),
        (["m-q4_k_m.gguf"], "Q4_K_M", ["m-q4_k_m.gguf"]),
        (["m-Q4_0.gguf", "m-Q4_K_M.gguf"], "q4_0", ["m-Q4_0.gguf"]),
        (["Q4_0/m-v1.gguf", "m-Q4_0-v2.gguf"], "Q4_0", ["m-Q4_0-v2.gguf"]),  # followed by a dot or a dash
        (["mmproj-Q4_K_M.gguf", "mtp-m-Q4_K_M.gguf", "m-imatrix.gguf", "m-Q5_0.gguf"], "", ["m-Q5_0.gguf"]),
        (
            ["x/m-Q4_K_M-00002-of-00002.gguf", "x/m-Q4_K_M-00001-of-00002.gguf"],
            "",
            ["x/m-Q4_K_M-00001-of-00002.gguf", "x/m-Q4_K_M-00002-of-00002.gguf"],
        ),
        (["m.Q4_K_M.gguf", "README.md"], "Q4_K_M", ["m.Q4_K_M.gguf"]),
        (["UD/m-UD-Q4_K_XL.gguf", "m-Q4_K_XL.gguf"], "UD-Q4_K_XL", ["UD/m-UD-Q4_K_XL.gguf"]),
    ],
)
def test_choices(paths, tag, expected):
    assert chosen(paths, tag) == expected


def test_what_is_not_there_is_said_with_what_is():
    with pytest.raises(HubNotFoundError, match="no model in Q9") as caught:
        chosen(["m-Q4_K_M.gguf", "m-Q8_0.gguf", "m-UD-IQ2_XXS.gguf", "mtp-m-Q4_0.gguf"], "Q9")
    assert caught.value.hint == "It has: Q4_K_M, Q8_0, UD-IQ2_XXS."
    with pytest.raises(HubNotFoundError, match="no GGUF model"):
        chosen(["model.safetensors"])
    with pytest.raises(HubNotFoundError, match=r"no file x\.gguf"):
        choose(files("m.gguf"), Wanted("org/m", path="x.gguf"))


def test_a_lacking_part_is_said():
    with pytest.raises(HubNotFoundError, match="lacks part 2 of 3"):
        chosen(["m-Q8_0-00001-of-00003.gguf", "m-Q8_0-00003-of-00003.gguf"])


def test_a_tag_is_no_pattern():
    with pytest.raises(HubNotFoundError):
        chosen(["m-Q4_K_M.gguf"], ".*")


def test_tags_are_told_once_and_in_order():
    assert tags_of(
        files("m-Q8_0-00001-of-00002.gguf", "m-Q8_0-00002-of-00002.gguf", "m-BF16.gguf", "mmproj-F16.gguf")
    ) == [
        "Q8_0",
        "BF16",
    ]


@pytest.mark.parametrize(
    ("paths", "model", "tag", "expected"),
    [
        (["mtp-m-Q8_0.gguf", "mtp-m-Q4_0.gguf"], "m-Q4_K_M.gguf", "", "mtp-m-Q4_0.gguf"),  # nearest bits
        (["mtp-m-Q8_0.gguf", "mtp-m-Q4_0.gguf"], "m-Q4_K_M.gguf", "Q8_0", "mtp-m-Q8_0.gguf"),  # the tag
        (["mtp-m-Q4_0.gguf", "a/mtp-m-Q8_0.gguf"], "a/m-Q4_0.gguf", "", "a/mtp-m-Q8_0.gguf"),  # nearest folder
        (["b/c/mtp-m-Q4_0.gguf"], "a/m-Q4_0.gguf", "", None),  # another model's
        (["MTP/mtp-m-Q8_0.gguf", "MTP/mtp-m-Q4_0.gguf"], "m-Q4_0.gguf", "", "MTP/mtp-m-Q4_0.gguf"),  # beside it
        (["MTP/mtp-m-Q4_0.gguf", "mtp-m-Q8_0.gguf"], "m-Q4_0.gguf", "", "mtp-m-Q8_0.gguf"),  # but llama.cpp's first
        (["m-Q4_0.gguf", "eagle3-m.gguf"], "m-Q4_0.gguf", "", None),
    ],
)
def test_sidecars(paths, model, tag, expected):
    found = sidecar(files(*paths), files(model)[0], "mtp-", tag)
    assert (found.path if found else None) == expected
