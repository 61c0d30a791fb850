"""Figures of lesson 05: layout by topological depth, and a walk whose gradients are the library's."""

import re
import types
from urllib.parse import unquote

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures import graphs
from course_lib.nn import graph


def diamond(x=3.0, w=2.0):
    x, w = graph.variable(x, "x"), graph.variable(w, "w")
    u, v = x * w, x + w
    goal = u * v
    u.name, v.name, goal.name = "u", "v", "J"
    return goal


def network(batch=4, inputs=2, hidden=3, outputs=1):
    rng = np.random.default_rng(0)
    shapes = {"X": (batch, inputs), "W": (inputs, hidden), "W'": (hidden, outputs), "Y": (batch, outputs)}
    x, w, w2, y = (graph.variable(rng.standard_normal(s), n) for n, s in shapes.items())
    a = graph.apply("sigmoid", graph.apply("dense", x, w, name="Z"), name="A")
    o = graph.apply("sigmoid", graph.apply("dense", a, w2, name="G"), name="O")
    return graph.apply("half_squared_sum", o, y, name="J")


def skip():
    a = graph.variable(np.ones((2, 2)), "A0")
    b = graph.apply("sigmoid", graph.apply("tanh", a, name="P"), name="H")
    s = graph.apply("sigmoid", a, name="A") + b
    s.name = "S"
    return s


@pytest.mark.parametrize("goal", [diamond(), network(), skip(), graph.variable(1.0, "x")])
def test_every_edge_leads_to_the_right(goal):
    column = graphs.columns(goal)
    for node in graph.topological_order(goal):
        assert column[id(node)] >= 0
        assert all(column[id(p)] < column[id(node)] for p in node.parents)


def test_a_leaf_stands_just_before_its_first_use():
    goal = network()
    column = graphs.columns(goal)
    places = {n.name: column[id(n)] for n in graph.topological_order(goal)}
    assert places == {"X": 0, "W": 0, "Z": 1, "A": 2, "W'": 2, "G": 3, "O": 4, "Y": 4, "J": 5}


@pytest.mark.parametrize("goal", [diamond(), network(), skip()])
@pytest.mark.parametrize("size", ["compact", "full"])
def test_boxes_do_not_overlap_and_lie_inside(goal, size):
    if size == "full":
        graph.forward(goal)
    drawing = graphs.Drawing(goal, {}, size)
    boxes = [(*drawing.place[key], *drawing.extent[key]) for key in drawing.place]
    for i, (x1, y1, wide1, high1) in enumerate(boxes):
        assert 0 <= x1 <= drawing.span - wide1
        assert 0 <= y1 <= drawing.depth - high1
        for x2, y2, wide2, high2 in boxes[:i]:
            assert x1 >= x2 + wide2 or x2 >= x1 + wide1 or y1 >= y2 + high2 or y2 >= y1 + high1


def test_a_box_is_as_wide_as_its_formula():
    goal = network()
    drawing = graphs.Drawing(goal, {}, "compact")
    wide, _ = drawing.extent[id(goal)]
    assert wide > figures.svg.text_width(graphs.formula(goal)) > graphs.SIZES["compact"][0] - 12


def test_draw_has_a_box_a_node_an_arrow_an_edge_and_marks_what_is_wrong():
    goal = diamond()
    text = graphs.draw(goal, wrong=["x"]).to_svg()
    assert text.count("rx='8'") == 5
    assert text.count("<path") == 6
    assert text.count("✗") == text.count(">wrong<") == 1


def test_two_edges_between_the_same_nodes_are_both_drawn():
    x = graph.variable(1.0, "x")
    text = graphs.draw(x + x).to_svg()
    tips = re.findall(r"<path d='(M[\d. ]+)", text)
    assert len(set(tips)) == 2


@pytest.mark.parametrize(("goal", "computed"), [(diamond(), 3), (network(), 5), (network(1, 1, 1, 2), 5)])
def test_walk_has_a_frame_a_node_and_direction_all_of_one_size(goal, computed):
    frames = graphs.walk_frames(goal)
    assert len(frames) == 2 + 2 * computed
    assert len({(f.width, f.height) for f in frames}) == 1
    assert frames[0].width <= 840
    values = [int(re.search(r"(\d+) of \d+ values", f.alt)[1]) for f in frames]
    gradients = [int(re.search(r"(\d+) gradients", f.alt)[1]) for f in frames]
    assert values == sorted(values)
    assert gradients == sorted(gradients)
    assert gradients[computed] == 0
    assert values[computed] == len(graph.topological_order(goal))


@pytest.mark.parametrize(("x", "w"), [(3.0, 2.0), (-1.5, 0.25), (0.0, 4.0)])
def test_the_last_frames_gradients_are_the_librarys(x, w):
    goal = diamond(x, w)
    last = unquote(graphs.walk_frames(goal)[-1].src)
    for node in graph.topological_order(goal):
        assert f"gradient {float(node.grad):.4g}".replace("-", "−") in last


def test_the_walk_tells_both_shares_and_their_sum():
    captions = " ".join(f.caption for f in graphs.walk_frames(diamond()))
    assert "6 + 10 = 16" in captions
    assert "6 + 15 = 21" in captions


def test_the_walk_leaves_the_gradients_of_one_backward_pass():
    goal = network()
    graphs.walk_frames(goal)
    once = {n.name: n.grad for n in graph.topological_order(goal)}
    graphs.walk_frames(goal)
    for node in graph.topological_order(goal):
        if once[node.name] is not None:
            np.testing.assert_array_equal(node.grad, once[node.name])


def test_a_given_target_gets_its_gradient_too():
    frames = graphs.walk_frames(network())
    assert "9 values and 9 gradients" in frames[-1].alt
    assert ">dX<" in unquote(frames[0].src)
    assert ">dY<" in unquote(frames[-1].src)


def test_a_leaf_without_a_gradient_stays_without():
    """Class numbers are such leaves, and what an operation takes beside its inputs."""
    times = types.SimpleNamespace(
        LOSSES=(), times_forward=lambda x, m: (m * x, m), times_backward=lambda dout, m: m * dout
    )
    mask = np.array([[1.0, 0.0]])
    node = graph.apply("times", graph.variable(np.ones((1, 2)), "X"), mask, ops=times, name="Z")
    node.parents[1].name = "M"
    frames = graphs.walk_frames(graph.apply("half_squared_sum", node, np.zeros((1, 2)), name="J"))
    assert "5 values and 4 gradients" in frames[-1].alt
    assert ">dX<" in unquote(frames[-1].src)
    assert ">dM<" not in unquote(frames[-1].src)


def test_every_number_of_a_matrix_is_printed_and_a_zero_is_no_empty_cell():
    goal = network()
    leaf = graph.topological_order(goal)[0]
    leaf.value = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 0.0], [0.0, 0.0]])
    frames = graphs.walk_frames(goal)
    first, last = unquote(frames[0].src), unquote(frames[-1].src)
    assert first.count(">0<") == 5
    assert "stroke-dasharray" in first
    assert "stroke-dasharray" not in last
    for node in graph.topological_order(goal):
        if node.grad is not None and np.ndim(node.grad):
            for number in np.ravel(node.grad):
                text = f"{number:.2f}".replace("-0.00", "0.00").replace("-", "−")
                assert f">{text}<" in last


def test_alternative_texts_do_not_repeat_the_captions():
    for goal in (diamond(), network()):
        for frame in graphs.walk_frames(goal):
            assert not any(sentence in frame.alt for sentence in frame.caption.split(". "))
    assert "x = 3 with gradient 16" in graphs.walk_frames(diamond())[-1].alt


def test_drawings_are_the_same_text_every_time():
    assert [f.src for f in graphs.walk_frames(network())] == [f.src for f in graphs.walk_frames(network())]
    figures.picture(graphs.draw(diamond()), alt="A diamond of five nodes and six edges")


@pytest.mark.parametrize(("op", "text"), [("dense", "a @ b"), ("relu", "relu(a)"), ("sigmoid", "σ(a)")])
def test_formulas(op, text):
    parents = [graph.variable(1.0, n) for n in ("ab" if op == "dense" else "a")]
    assert graphs.formula(graph.apply(op, *parents)) == text
    assert graphs.formula(parents[0]) == ""


def test_formulas_of_arithmetic_read_as_they_are_written():
    a, b = graph.variable(2.0, "a"), graph.variable(4.0, "b")
    nodes = {"a + b": a + b, "a - b": a - b, "a * b": a * b, "a / b": a / b, "-a": -a, "a**2": a**2, "a**0.5": a**0.5}
    assert {text: graphs.formula(node) for text, node in nodes.items()} == {text: text for text in nodes}
    for node in nodes.values():
        assert graphs.walk_frames(node)[-1].alt
