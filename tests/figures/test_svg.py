"""Drawings are small, exact, escaped, and write a shape beside every matrix."""

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures import style
from course_lib.figures.svg import Box, text_width

from .pages import HOSTILE, read_svg, svg_texts

NS = "{http://www.w3.org/2000/svg}"
W = np.array([[0.25, -1.5], [2.0, 0.0], [1.0, 10.0]])


def drawn(drawing):
    return read_svg(figures.picture(drawing, alt="A drawing made by a test").src)


def test_a_drawing_has_a_white_ground_title_and_description():
    root = drawn(figures.Svg(90, 40, title="T", desc="D"))
    ground = root.find(f"{NS}rect")
    assert (ground.get("width"), ground.get("height"), ground.get("fill")) == ("90", "40", style.PAPER)
    assert (root.findtext(f"{NS}title"), root.findtext(f"{NS}desc")) == ("T", "D")
    assert root.get("role") == "img"


def test_a_matrix_writes_name_shape_and_numbers():
    svg = figures.Svg(300, 150)
    box = svg.matrix(W, 10, 10, name="W", role="weight")
    assert svg_texts(drawn(svg)) == ["W (3, 2)", "0.25", "−1.50", "2.00", "0.00", "1.00", "10.00"]
    assert box == Box(10, 30, box.width, 72)
    assert (box.right, box.bottom, box.cx, box.cy) == (10 + box.width, 102, 10 + box.width / 2, 66)


def test_a_vector_says_its_own_shape():
    svg = figures.Svg(300, 150)
    svg.matrix([1.0, 2.0, 3.0], 0, 0, name="b", role="weight", fmt="{:.0f}")
    assert svg_texts(drawn(svg)) == ["b (3,)", "1", "2", "3"]


def test_a_part_of_a_matrix_can_say_the_whole_shape():
    svg = figures.Svg(300, 150)
    svg.matrix(W, 0, 0, name="W", role="weight", fmt="", shape=(784, 128))
    assert svg_texts(drawn(svg)) == ["W (784, 128)"]


def test_cells_carry_the_colour_of_their_role():
    svg = figures.Svg(300, 150)
    svg.matrix(W, 0, 0, name="W", role="gradient")
    cells = [r for r in drawn(svg).iter(f"{NS}rect") if r.get("height") == "24"]
    assert {(c.get("fill"), c.get("stroke")) for c in cells} == {(style.tint("gradient"), style.colour("gradient"))}


@pytest.mark.parametrize("empty", [None, True, [[True, False], [False, False], [False, True]]])
def test_cells_that_are_not_computed_are_dashed_and_hold_no_number(empty):
    values = W.copy()
    if empty is None:
        values[0, 0] = values[2, 1] = np.nan
    svg = figures.Svg(300, 150)
    svg.matrix(values, 0, 0, name="W", role="weight", empty=empty)
    root = drawn(svg)
    blank = 6 if empty is True else 2
    dashed = [r for r in root.iter(f"{NS}rect") if r.get("stroke-dasharray")]
    assert len(dashed) == blank
    assert {r.get("stroke") for r in dashed} == {style.colour("idle")}
    assert len(svg_texts(root)) == 1 + 6 - blank


def test_highlighted_cells_have_a_thick_frame():
    svg = figures.Svg(300, 150)
    box = svg.matrix(W, 0, 0, name="W", role="weight", highlight=[(1, 1)])
    (frame,) = [r for r in drawn(svg).iter(f"{NS}rect") if r.get("stroke-width") == "2.5"]
    assert (float(frame.get("x")), float(frame.get("y"))) == (pytest.approx(box.width / 2, abs=0.1), 44)


def test_a_highlight_outside_is_an_error():
    for cell in ((3, 0), (0, 2), (-1, 0)):
        with pytest.raises(IndexError, match=r"is no cell of matrix 'W' \(3, 2\)"):
            figures.Svg(300, 150).matrix(W, 0, 0, name="W", role="weight", highlight=[cell])


def test_a_zero_has_no_sign_of_chance():
    svg = figures.Svg(300, 60)
    svg.matrix([-1e-17, -0.0, -0.004, -0.006], 0, 0, name="z", role="data")
    assert svg_texts(drawn(svg))[1:] == ["0.00", "0.00", "0.00", "−0.01"]


def test_longer_numbers_make_wider_cells():
    short, long = (figures.Svg(900, 90).matrix([[v]], 0, 0, name="a", role="data").width for v in (1.0, 123456.0))
    assert long > short
    assert long >= text_width("123456.00")


def test_cells_can_have_a_given_size():
    box = figures.Svg(300, 150).matrix(W, 0, 0, name="W", role="weight", fmt="", cell=(10, 12))
    assert (box.width, box.height) == (20, 36)


@pytest.mark.parametrize("values", [np.zeros((0, 3)), np.zeros((2, 2, 2)), 1.0])
def test_what_is_no_matrix_is_an_error(values):
    with pytest.raises(ValueError, match="one or two axes"):
        figures.Svg(300, 150).matrix(values, 0, 0, name="W", role="weight")


def test_hostile_text_stays_text():
    svg = figures.Svg(300, 150, title=HOSTILE, desc=HOSTILE)
    svg.text(0, 20, HOSTILE + "\x00\x08\x7f")
    svg.matrix([[1.0]], 0, 0, name=HOSTILE, role="data")
    svg.rect(0, 0, 5, 5, fill="x' onload='alert(1)")
    root = drawn(svg)
    assert svg_texts(root)[0] == HOSTILE
    assert svg_texts(root)[1] == HOSTILE + " (1, 1)"
    assert not [e for e in root.iter() if "onload" in e.attrib or e.tag.endswith(("script", "img"))]


def test_shapes_and_their_boxes():
    svg = figures.Svg(200, 100)
    assert svg.rect(1, 2, 3, 4, radius=2, dashed=True) == Box(1, 2, 3, 4)
    assert svg.circle(50, 50, 10, fill="data", stroke="none") == Box(40, 40, 20, 20)
    svg.line(0, 0, 10, 10, stroke="gradient", line=2)
    svg.polyline([(0, 0), (10, 5), (20, 0)])
    svg.arrow(0, 50, 100, 50)
    svg.text(10, 90, "a", anchor="middle", size=14, bold=True, fill="hazard")
    root = drawn(svg)
    assert root.find(f"{NS}circle").get("fill") == style.colour("data")
    assert root.find(f"{NS}polyline").get("points") == "0,0 10,5 20,0"
    assert root.find(f"{NS}path").get("d").startswith("M100 50L")
    assert root.find(f"{NS}text").attrib == {
        "x": "10", "y": "90", "text-anchor": "middle", "font-size": "14", "font-weight": "bold",
        "fill": style.colour("hazard"),
    }  # fmt: skip


def test_coordinates_are_rounded_to_a_tenth():
    svg = figures.Svg(200, 100)
    svg.line(1 / 3, 2 / 3, 0.1 + 0.2, -1e-9)
    assert "x1='0.3' y1='0.7' x2='0.3' y2='0'" in str(svg)


@pytest.mark.parametrize(
    "draw",
    [
        lambda s: s.rect(80, 0, 30, 5),
        lambda s: s.circle(5, 5, 10),
        lambda s: s.line(0, 0, 0, 60),
        lambda s: s.polyline([(0, 0), (101, 0)]),
        lambda s: s.arrow(0, 0, 120, 0),
        lambda s: s.text(0, 70, "below"),
        lambda s: s.matrix(np.zeros((3, 3)), 0, 0, name="W", role="weight"),
    ],
)
def test_what_would_be_cut_off_is_an_error(draw):
    with pytest.raises(ValueError, match="it would be cut off"):
        draw(figures.Svg(100, 50))


def test_small_text_unknown_anchor_and_short_arrow_are_errors():
    svg = figures.Svg(100, 50)
    with pytest.raises(ValueError, match="9 points"):
        svg.text(0, 20, "a", size=10)
    with pytest.raises(ValueError, match="start, middle or end"):
        svg.text(0, 20, "a", anchor="left")
    with pytest.raises(ValueError, match="two different points"):
        svg.arrow(1, 1, 1, 1)
