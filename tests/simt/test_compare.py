"""Two reports side by side: quantities, the better side, the largest difference, and what is not comparable."""

import json
import math

import pytest

from course_lib.simt.show.compare import BETTER, compare
from course_lib.simt.show.quantities import Row
from tests.figures.pages import HOSTILE, read_html
from tests.simt import kernels, reports


@pytest.fixture(scope="module")
def naive():
    return reports.product(kernels.product_naive, 64)


@pytest.fixture(scope="module")
def tiled():
    return reports.product(kernels.product_tiled, 64)


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (8, 1, "8.0x less"), (1, 8, "8.0x more"), (100, 97, "3 % less"), (100, 104, "4 % more"), (5, 5, "equal"),
        (7, 0, "gone"), (0, 7, "new"), (1_000_000, 1, "1,000,000x less"), (0.125, 1.0, "8.0x more"),
    ],
)  # fmt: skip
def test_a_change_is_said_in_words(a, b, words):
    assert Row("sectors", a, b).change == words


def test_the_better_side_depends_on_the_quantity():
    assert Row("sectors", 8, 1, "less").winner == "b"
    assert Row("used", 0.5, 0.25, "more").winner == "a"
    assert Row("barriers", 8, 1).winner == Row("sectors", 3, 3, "less").winner == ""


def test_what_is_gone_is_far_from_what_was():
    assert Row("bank conflicts", 15_872, 0, "less").distance == pytest.approx(math.log(15_873))
    assert Row("x", 2, 2).distance == 0


def test_naive_and_tiled_product_side_by_side(naive, tiled):
    c = compare(naive, tiled)
    rows = {r.quantity: r for r in c.rows}
    assert c.names == ("product_naive", "product_tiled")
    assert (rows["global sectors"].a, rows["global sectors"].b) == (32_768 + 512, 4_096 + 512)
    assert rows["global sectors"].winner == rows["bytes moved"].winner == rows["of them used"].winner == "b"
    assert rows["floating-point operations"].change == "equal"
    assert rows["operations a byte moved"].winner == "b"
    assert "bank conflicts" not in rows
    assert "atomic requests" not in rows
    assert c.headline.startswith(
        "The largest difference: global loads for each element of A, "
        "64.0 in product_naive, 4.0 in product_tiled (16.0x less)."
    )
    assert c.notes == []


def test_padding_removes_the_conflicts_and_the_headline_says_so():
    c = compare(reports.transpose(), reports.transpose(kernels.transpose_padded), names=("tile", "padded tile"))
    assert "bank conflicts, 15,872 in tile, 0 in padded tile (gone)." in c.headline


def test_equal_reports_cost_the_same_and_get_two_names(naive):
    c = compare(naive, naive)
    assert c.names == ("product_naive (1)", "product_naive (2)")
    assert c.headline == "product_naive (1) and product_naive (2) cost the same."
    assert all(r.change == "equal" for r in c.rows)


def test_other_arithmetic_other_shapes_and_hazards_are_noted(naive):
    smaller = reports.product(kernels.product_no_second_barrier, 32)
    notes = " ".join(compare(naive, smaller).notes)
    assert "product_no_second_barrier has 2 hazards: its result may be wrong." in notes
    assert "A is (64, 64) in product_naive and (32, 32) in product_no_second_barrier." in notes
    assert "the arithmetic differs, 524,288 and 65,536 floating-point operations" in notes


def test_clearly_different_work_is_refused(naive):
    other = reports.run(reports.reverse_64, 1, 64, reports.vectors(64))
    with pytest.raises(ValueError, match="do different work: they share no array"):
        compare(naive, other)


def test_what_is_no_report_and_bad_names_are_refused(naive, tiled):
    with pytest.raises(TypeError, match=r"takes two reports of simt\.run, not int"):
        compare(naive, 3)
    for names in (("a", "a"), ("a",), ("a", "b", "c")):
        with pytest.raises(ValueError, match="must be two different names"):
            compare(naive, tiled, names)


def test_the_table_marks_the_better_side_by_more_than_colour(naive, tiled):
    page = compare(naive, tiled)._repr_html_()
    tags, attributes, text = read_html(page)
    assert tags.count("table") == 1
    heads = [a for t, a in zip(tags, attributes, strict=True) if t == "th"]
    assert {a["scope"] for a in heads} == {"col", "row"}
    assert sum(piece.startswith(BETTER) for piece in text) >= 6
    assert "7.2x less" in text
    assert page == compare(naive, tiled)._repr_html_()
    assert len(page.encode()) < 20_000


def test_the_text_fits_a_terminal_and_marks_the_better_side(naive, tiled):
    text = str(compare(naive, tiled))
    assert max(map(len, text.splitlines())) <= 80
    assert text.isascii()
    line = next(x for x in text.splitlines() if x.startswith("global sectors"))
    assert line.split() == ["global", "sectors", "33,280", "4,608", "<-", "7.2x", "less"]


def test_to_dict_is_plain_and_complete(naive, tiled):
    c = compare(naive, tiled)
    d = json.loads(json.dumps(c.to_dict()))
    assert d["names"] == ["product_naive", "product_tiled"]
    assert d["headline"] == c.headline
    assert {"quantity": "global sectors", "a": 33_280, "b": 4_608, "change": "7.2x less", "better": "b"} in d["rows"]


def test_hostile_names_stay_text(naive, tiled):
    tags, _, _ = read_html(compare(naive, tiled, (HOSTILE, "b"))._repr_html_())
    assert not {"script", "img"} & set(tags)
