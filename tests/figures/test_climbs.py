"""The climb says how far each rung came, and refuses points that have no place under a roofline."""

import pytest

from course_lib import figures
from course_lib.simt.estimate.roofline import roofline
from tests.figures.pages import read_svg, svg_texts

POINTS = [
    ("one", 0.25, 2.4e12, "a thread for each element"),
    ("two", 8.0, 6.0e12, "tiles in shared memory"),
    ("three", 32.0, 60.0e12, "eight by eight results a thread"),
]


def test_each_rung_says_what_changed_how_much_faster_and_the_share_of_the_peak_and_of_the_rival():
    made, roof = figures.climb(POINTS, "h200", rival=("cuBLAS", 50e12)), roofline("H200")
    assert [d["says"].split(";")[0] for d in made.data["dots"][1:]] == [
        "two: tiles in shared memory. 8 FLOP for each byte asked for, 6 TFLOP/s, 2.5 times one",
        "three: eight by eight results a thread. 32 FLOP for each byte asked for, 60 TFLOP/s, 10 times two",
    ]
    assert f"{100 * 60e12 / roof.peak:.1f} % of the peak, 120 % of cuBLAS." in made.data["dots"][2]["says"]
    assert (made.data["peak"], made.data["ridge"]) == (roof.peak, roof.ridge)


def test_above_the_slope_are_only_those_whom_caches_serve():
    says = [d["says"] for d in figures.climb(POINTS).data["dots"]]
    assert ["above the slope" in text for text in says] == [True, False, False]
    assert 0.25 * roofline("H200").bandwidth < 2.4e12


def test_the_static_picture_holds_every_rung_and_states_the_finding():
    made = figures.climb(POINTS)
    assert made.static.alt.startswith("From one with 2.4 TFLOP/s to three with 60 TFLOP/s, 25 times as fast; the ridge")
    lines = svg_texts(read_svg(made.static.src))
    assert "2  two: 8 FLOP/byte, 6 TFLOP/s" in lines
    assert made.static.drawn[0] == 400
    assert made.html == figures.climb(POINTS).html


def test_every_dot_lies_on_the_sheet_however_far_they_are_apart():
    far = [("slow", 1e-3, 1e6, "x"), ("fast", 1e4, 9e13, "y")]
    x0, x1, y0, y1 = figures.climb(far).data["range"]
    assert all(x0 < x < x1 and y0 < y < y1 for _, x, y, _ in far)
    figures.climb(far[:1])


def test_dots_can_have_other_marks_than_their_numbers():
    made = figures.climb(POINTS, marks=("1", "2a", "2b"))
    assert [d["mark"] for d in made.data["dots"]] == ["1", "2a", "2b"]
    assert "2b  three: 32 FLOP/byte, 60 TFLOP/s" in svg_texts(read_svg(made.static.src))
    for marks in (("1", "2"), ("1", "2", ""), ("1", "2", "2nd")):
        with pytest.raises(ValueError, match="each of the 3 points must have one, of 1 or 2 letters"):
            figures.climb(POINTS, marks=marks)


@pytest.mark.parametrize(
    ("points", "error", "message"),
    [
        ([], ValueError, "points is empty"),
        ([("one", 1.0, 2.0)], ValueError, "it must be .name, FLOP for each byte, FLOP/s, what changed."),
        ([None], ValueError, "a point is None"),
        ([("one", 0.0, 1e12, "")], ValueError, "the FLOP for each byte of one"),
        ([("one", 1.0, float("nan"), "")], ValueError, "the FLOP/s of one"),
    ],
)
def test_points_without_a_place_are_refused(points, error, message):
    with pytest.raises(error, match=message):
        figures.climb(points)
