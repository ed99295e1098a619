"""Originals in other forms give the registered text, byte by byte.

Seven originals are in the data folder. Others are written here as they are known to be, from the registered text:
values and their order, labels, blanks, ends of lines, missing cells and headers.
"""

import hashlib

import numpy as np
import pytest

from onefit import datasets
from onefit.datasets.encoding import encode


def check(name, path):
    entry = datasets.info(name)
    assert hashlib.sha256(encode(path, entry.encoding)).hexdigest() == entry.sha256


@pytest.mark.parametrize("name", [name for name in datasets.names() if datasets.info(name).url.endswith(".arff")])
def test_originals_that_are_at_hand(folder, name):
    original = folder / "arff" / datasets.info(name).url.rpartition("/")[2]
    if not original.is_file():
        pytest.skip(f"{original.name} is not in the data folder")
    check(name, original)


@pytest.fixture
def registered(folder):
    """The lines of a registered file."""
    return lambda name: (folder / "libsvm" / name).read_text().splitlines()


@pytest.fixture
def original(tmp_path):
    """A path to some text, whose ends of lines stay as they are."""

    def write(text):
        path = tmp_path / "original"
        path.write_bytes(text.encode())
        return path

    return write


def cells(line):
    """Target and features by their positions, the target's 0."""
    return dict(pair.split(":") for pair in f"0:{line}".split())


HOUSES = (
    "longitude", "latitude", "housingMedianAge", "totalRooms", "totalBedrooms", "population", "households",
    "medianIncome", "medianHouseValue",
)  # fmt: skip
SPACE = ("ln(VOTES/POP)", "POP", "EDUCATION", "HOUSES", "INCOME", "XCOORD", "YCOORD")
ORIGINALS = {
    "cadata": (HOUSES, (8, 7, 2, 3, 4, 5, 6, 1, 0), ""),
    "bodyfat": (("Density", *(f"f{k}" for k in range(13)), "class"), (0, *range(2, 15), 1), ""),
    "cpusmall": ((*(f"f{k}" for k in range(12)), "usr"), (*range(1, 13), 0), ""),
    "mpg": ((*(f"f{k}" for k in range(7)), "class"), (*range(1, 8), 0), "?,1,1,1,1,1,1,3"),
    "space_ga": (SPACE, range(7), ""),
}
"""Attributes of ARFF originals in their order, where each is in the LIBSVM text (0: the target), and a row more."""


@pytest.mark.parametrize("name", ORIGINALS)
def test_regressions_in_arff_files(registered, original, name):
    attributes, places, more = ORIGINALS[name]
    rows = [",".join(row.get(str(place), "0") for place in places) for row in map(cells, registered(name))]
    header = "".join(f"@attribute {attribute} numeric\n" for attribute in attributes)
    check(name, original(f"@relation r\n{header}@data\n" + "\n".join([*rows, more]) + "\n"))


@pytest.mark.parametrize("name", ["abalone", "bodyfat", "cpusmall", "mpg", "pyrim", "space_ga", "triazines"])
def test_scaled_regressions_between_commas(registered, original, name):
    width = datasets.info(f"{name}_scale").features
    rows = [
        [float(row.get(str(place), 0)) for place in range(width + 1)] for row in map(cells, registered(f"{name}_scale"))
    ]
    check(f"{name}_scale", original("".join(",".join(map(repr, row)) + "\r\n" for row in rows)))


@pytest.mark.parametrize("name", ["pyrim", "triazines"])
def test_regressions_with_three_digits(registered, original, name):
    rows = [line.split() for line in registered(name)]
    rows = [
        [f"{float(row[0]):.3f}"] + [f"{p}:{float(v):.3f}" for p, v in (cell.split(":") for cell in row[1:])]
        for row in rows
    ]
    check(name, original("".join(" ".join(row) + "\n" for row in rows)))


def test_labels_with_six_digits(registered, original):
    rows = [line.split(" ", 1) for line in registered("breast-cancer_scale")]
    check("breast-cancer_scale", original("".join(f"{int(label):.6f} {rest} \n" for label, rest in rows)))


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("liver-disorders", "liver-disorders"),
        ("liver-disorders.train", "liver-disorders"),
        ("liver-disorders.test", "liver-disorders"),
        ("svmguide3", "svmguide3"),
        ("svmguide3.test", "svmguide3"),
        ("mushrooms", "mushrooms"),
        ("ionosphere_scale", "ionosphere_scale"),
    ],
)
def test_superfluous_blanks_and_parts(registered, original, name, whole):
    check(name, original(" \n".join(line.replace(" ", "  ", 1) for line in registered(whole))))


@pytest.mark.parametrize("name", ["splice", "splice.test"])
def test_bases_with_six_digits(registered, original, name):
    rows = [line.split() for line in registered("splice")]
    text = (" ".join([row[0].lstrip("+"), "", *(f"{cell}.000000" for cell in row[1:])]) for row in rows)
    check(name, original("\n".join(text)))


def test_skin_has_names_above_its_columns(registered, original):
    rows = (",".join(row.get(place, "0") for place in "1230") for row in map(cells, registered("skin_nonskin")))
    check("skin_nonskin", original("\r\n".join(["r,g,b,skin", *rows])))


def test_cover_types(registered, original):
    positions = [str(place) for place in range(1, 55)]
    rows = [
        [cell.get(place, "0") for place in positions] + [cell["0"]] for cell in map(cells, registered("covtype_10k"))
    ]
    others = iter([1, 3, 4, 5, 6, 7] * len(rows))
    rows = [[*row[:-1], "2" if row[-1] == "+1" else str(next(others))] for row in rows]
    check("covtype_10k", original("\n".join(",".join(row) for row in [["name"] * 55, *rows])))


def test_missing_lymph_nodes_hold_their_mean(registered, original):
    rows = list(map(cells, registered("wpbc")))
    nodes, counts = np.unique([row.get("33", "0") for row in rows], return_counts=True)
    mean = max(nodes, key=len)
    assert counts[nodes == mean] == 4
    text = ""
    for number, row in enumerate(rows):
        values = [row.get(str(place), "0") for place in range(1, 33)]
        last = "?" if row.get("33") == mean else row.get("33", "0")
        text += " ".join([str(number), "-1" if row["0"] == "+1" else "1", *values, last]) + "\n"
    check("wpbc", original(text))


def test_every_form_of_an_encoding(original):
    path = original("@relation t\n@attribute n real\n@attribute k {8,4}\n@attribute c {no,yes}\n@data\n"
                    "2,8,yes\n?,4,no\n0,?,no\n3,4,?\n")  # fmt: skip
    assert encode(path, "c:no=-1;yes=+1") == b"+1 1:2\n-1 1:1.6666666666666667 2:1\n-1 2:1\n"
    assert encode(path, "c:no=-1;yes=+1~k;*") == b"+1 1:8 2:2\n-1 1:4 2:1.6666666666666667\n-1 1:5.333333333333333\n"
    assert encode(path, "c:no=-1;yes=+1~k;*@complete") == b"+1 1:8 2:2\n"
    assert encode(path, "c:no=-1;yes=+1~*;-n@2-3") == b"-1 1:4\n-1 1:5.333333333333333\n"
    assert encode(path, "c:yes=1~-k;*") == b"1 1:2\n"
    assert encode(path, "n~-c;*") == b"2 1:8\n0 1:5.333333333333333\n3 1:4\n"
    with pytest.raises(ValueError, match="no attribute is called 'd'"):
        encode(path, "d")


@pytest.mark.parametrize("text", ["", " \n", "a,b\n", "1,?\n2,?\n", "1,inf\n", "1 1:1e400\n", "<html>\n"])
def test_texts_without_numbers_are_refused(original, text):
    with pytest.raises(ValueError, match=r"original.*holds"):
        encode(original(text), "label" if ":" in text else "1")
