"""The graphs of lesson 05 from top to bottom: nothing overlaps, every number is the library's, a phone shows it."""

import itertools
from urllib.parse import unquote

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures import graphs_down
from course_lib.nn import graph
from tests.figures.test_graphs import network, skip

GOALS = {
    "the lesson's": lambda: network(), "one of each": lambda: network(1, 1, 1, 2), "wide": lambda: network(2, 4, 3, 2),
    "skip": skip,
}  # fmt: skip


def drawn(name, size):
    goal = GOALS[name]()
    graph.forward(goal)
    return graphs_down.DownDrawing(goal, {}, size)


@pytest.mark.parametrize("name", GOALS)
@pytest.mark.parametrize("size", ["compact", "full"])
def test_boxes_do_not_overlap_lie_inside_and_parents_stand_above(name, size):
    drawing = drawn(name, size)
    boxes = {key: (*drawing.place[key], *drawing.extent[key]) for key in drawing.place}
    for x, y, wide, high in boxes.values():
        assert 0 <= x <= drawing.span - wide
        assert 0 <= y <= drawing.depth - high
    for (x1, y1, wide1, high1), (x2, y2, wide2, high2) in itertools.combinations(boxes.values(), 2):
        assert x1 >= x2 + wide2 or x2 >= x1 + wide1 or y1 >= y2 + high2 or y2 >= y1 + high1
    for node in drawing.order:
        for parent in node.parents:
            assert boxes[id(parent)][1] + boxes[id(parent)][3] < boxes[id(node)][1]


@pytest.mark.parametrize("name", GOALS)
@pytest.mark.parametrize("size", ["compact", "full"])
def test_an_edge_leads_from_its_parent_to_its_node_and_through_no_other(name, size):
    drawing = drawn(name, size)
    boxes = {key: (*drawing.place[key], *drawing.extent[key]) for key in drawing.place}

    def inside(point, box, room=0.0):
        (px, py), (x, y, wide, high) = point, box
        return x - room <= px <= x + wide + room and y - room <= py <= y + high + room

    for node in drawing.order:
        for k, parent in enumerate(node.parents):
            corners = [np.array(corner) for corner in drawing.points(parent, node, k)]
            assert inside(corners[0], boxes[id(parent)], 0.5)
            assert inside(corners[-1], boxes[id(node)], 0.5)
            for a, b in itertools.pairwise(corners):
                for t in np.linspace(0, 1, 50):
                    hit = [key for key, box in boxes.items() if inside(a + t * (b - a), box, -1)]
                    assert hit == [], "an edge crosses a box"


def test_the_network_of_the_lesson_fits_a_phone_and_a_screen():
    frames = graphs_down.walk_down(network()).frames
    assert frames[0].drawn[0] <= 402
    assert frames[0].height <= 720
    assert len({(f.width, f.height) for f in frames}) == 1


@pytest.mark.parametrize("name", ["the lesson's", "one of each", "wide"])
def test_every_value_and_every_gradient_is_the_librarys(name):
    goal = GOALS[name]()
    first, *_, last = graphs_down.walk_down(goal).frames
    assert "stroke-dasharray" in unquote(first.src)
    assert "stroke-dasharray" not in unquote(last.src)
    for node in graph.topological_order(goal):
        for numbers in (node.value, node.grad):
            for number in np.ravel(numbers) if np.ndim(node.value) else ():
                text = f"{number:.2f}".replace("-0.00", "0.00").replace("-", "−")
                assert f">{text}<" in unquote(last.src)
        if node.parents:
            assert node.name + " = " in unquote(last.src)


def test_what_is_wrong_is_marked_in_words_and_by_a_cross():
    text = graphs_down.draw_down(skip(), wrong=["A0", "H"]).to_svg()
    assert text.count("✗") == text.count(", wrong<") == 2
    assert "✗ H = σ(P), wrong" in text
    figures.picture(graphs_down.draw_down(skip()), alt="A graph in which A0 has two children, drawn downward")
