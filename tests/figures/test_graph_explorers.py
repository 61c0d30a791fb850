"""The graph that the reader changes: what it refuses, what it leaves alone, and what its static picture says."""

import math

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures.graph_explorers import OPERATIONS, explorer, shares_of
from course_lib.nn import graph
from tests.figures.pages import read_svg, svg_texts
from tests.figures.test_graphs import diamond


def neuron():
    x, w, b, y = (graph.variable(v, n) for n, v in {"x": 2.0, "w": -1.0, "b": 1.5, "y": 1.0}.items())
    p = x * w
    z = p + b
    p.name, z.name = "p", "z"
    return graph.apply("half_squared_sum", graph.apply("sigmoid", z, name="o"), y, name="J")


def ladder(steps=4):
    node = graph.variable(1.0, "s0")
    for k in range(1, steps + 1):
        node = node + node
        node.name = f"s{k}"
    return node


def of_two(first, second, made, name="J"):
    node = made(graph.variable(first, "a"), graph.variable(second, "b"))
    node.name = name
    return node


def test_the_static_picture_states_value_gradients_and_sums():
    one = explorer(diamond())
    says = "At x = 3, w = 2, one walk forward gives J = 30, and one walk back dJ/dx = 16, dJ/dw = 21."
    assert (one.static.caption, one.static.alt[: len(says)]) == (says, says)
    assert "shares add up: x gets 6 + 10; w gets 6 + 15." in one.static.alt
    texts = svg_texts(read_svg(one.static.src))
    assert {"value 30", "gradient 16", "gradient 21"} <= set(texts)
    assert "shares add up" not in explorer(neuron()).static.alt


def test_the_goal_keeps_its_values_and_gradients():
    goal = diamond()
    explorer(goal)
    assert [n.grad for n in graph.topological_order(goal)] == [None] * 5
    assert goal.value is None


def test_the_same_graph_makes_the_same_bytes():
    assert explorer(neuron()).html == explorer(neuron()).html


@pytest.mark.parametrize("goal", [diamond(), neuron(), ladder(), ladder(1)])
def test_shares_add_up_to_the_gradient(goal):
    sent = shares_of(goal)
    for node in graph.topological_order(goal):
        assert node is goal or math.isclose(sum(sent[node.name]), float(node.grad), abs_tol=1e-12)
    assert sent[goal.name] == []


@pytest.mark.parametrize("op", OPERATIONS)
def test_every_operation_it_knows_can_be_shown(op):
    if OPERATIONS[op] == 1:
        goal = graph.apply(op, graph.variable(1.0, "a"), name="J")
    elif op == "half_squared_sum":
        goal = of_two(1.0, 2.0, lambda a, b: graph.apply(op, a, b))
    else:
        goal = of_two(1.0, 2.0, {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}[op])
    assert explorer(goal).data["nodes"][-1]["op"] == op


BAD = {
    "a leaf": (lambda: graph.variable(1.0, "x"), "is a leaf: nothing is computed"),
    "a quotient": (lambda: of_two(1.0, 2.0, lambda a, b: a / b), "the figure knows"),
    "minus one parent": (lambda: of_two(1.0, 2.0, lambda a, b: -(a * b)), "the names are|the figure knows"),
    "no name": (lambda: of_two(1.0, 2.0, lambda a, b: a * b, ""), "each node needs its own"),
    "the symbol for a name": (lambda: graph.variable(1.0, "a") + graph.variable(2.0, "b"), "each node needs its own"),
    "a name twice": (lambda: of_two(1.0, 2.0, lambda a, b: a * b, "a"), "each node needs its own"),
    "a long name": (lambda: of_two(1.0, 2.0, lambda a, b: a * b, "loss"), "of 1 to 3 letters"),
    "outside": (lambda: of_two(9.0, 2.0, lambda a, b: a * b), "must be one number from -4 to 4"),
    "not a number": (lambda: of_two(math.nan, 2.0, lambda a, b: a * b), "must be one number from -4 to 4"),
    "a matrix": (lambda: of_two(np.ones((1, 1)), 2.0, lambda a, b: a * b), "must be one number"),
    "between steps": (lambda: of_two(0.3, 2.0, lambda a, b: a * b), "a whole number of steps of 0.5"),
    "too long": (lambda: ladder(6), "7 columns"),
    "too high": (lambda: _three(), "up to 4 nodes in one"),
    "a jump": (lambda: _jump(), "the edge from x to J jumps over a column"),
}


def _three():
    a, b, c, d = (graph.variable(1.0, n) for n in "abcd")
    p, q, r = a * b, b * c, c * d
    s, t = p + q, q + r
    goal = s * t
    p.name, q.name, r.name, s.name, t.name, goal.name = "pqrstJ"
    return goal


def _jump():
    x = graph.variable(1.0, "x")
    u = x * x
    goal = u + x
    u.name, goal.name = "u", "J"
    return goal


@pytest.mark.parametrize("what", BAD)
def test_what_it_cannot_draw_it_refuses_and_says_why(what):
    make, message = BAD[what]
    with pytest.raises(ValueError, match=message):
        explorer(make())


@pytest.mark.parametrize(("limits", "step"), [((4, -4), 0.5), ((-4, 4), 0), ((-4, math.inf), 1), ((0, 1), 2)])
def test_limits_must_leave_something_to_choose(limits, step):
    with pytest.raises(ValueError, match="the first limit must be below the second"):
        explorer(diamond(), limits=limits, step=step)


@pytest.mark.parametrize("choice", [True, False])
def test_the_choice_of_keeping_the_last_share_can_be_left_out(choice):
    """Where a lesson asks first what happens then."""
    assert explorer(diamond(), choice=choice).data["choice"] is choice


def test_only_a_node_is_a_goal():
    with pytest.raises(TypeError, match="give the last node of a graph"):
        explorer(30.0)


def test_it_is_reached_from_the_package():
    assert figures.graph_explorers.explorer is explorer
