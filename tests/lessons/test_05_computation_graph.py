"""Lesson 05: what must come out, in the library, in the lesson's own engine and on its page."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from course_lib import data, nn
from course_lib import reference as ops
from course_lib.checks.registry import sheet
from course_lib.nn import graph

SCRIPT = Path(__file__).resolve().parents[2] / "notebooks" / "05_computation_graph.py"


@pytest.fixture
def lesson_04():
    """Inputs, weights, targets and the gradients of lesson 04's four lines."""
    x, labels = data.truth_table("xor")
    y = labels[:, None].astype(float)
    w, w2 = np.array([[1.0, -2.0, -1.0], [-1.0, 1.0, 1.0]]), np.array([[2.0], [4.0], [-4.0]])
    z = x @ w
    a = ops.sigmoid(z)
    g = a @ w2
    delta1 = -(y - ops.sigmoid(g)) * ops.sigmoid_prime(g)
    delta2 = (delta1 @ w2.T) * ops.sigmoid_prime(z)
    return x, y, w, w2, x.T @ delta2, a.T @ delta1


def rows_of(text):
    return [line.split() for line in text.splitlines()]


def code_of(start):
    """Return the code cell of the script that begins with `start`."""
    cells = re.split(r"^# %%.*$", SCRIPT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return next(cell.strip() for cell in cells if cell.strip().startswith(start))


# ------------------------------------------------------------------------------------------------ the engine


def test_the_diamond_by_hand(lesson, shown):
    Node = lesson["Node"]
    x, w = Node(3.0), Node(2.0)
    goal = (x * w) * (x + w)
    assert goal.value is None, "writing the formula computes nothing"
    assert lesson["forward"](goal) == 30
    lesson["backward"](goal)
    assert (x.grad, w.grad) == (16, 21)
    assert "J is made by * from nodes made by * +\nits value so far: None" in shown
    assert "J = 30.0\ndJ/dx = 16.0  dJ/dw = 21.0" in shown


@pytest.mark.parametrize("op", ["+", "-", "*", "/"])
def test_each_operator_has_the_slopes_that_nudging_finds(lesson, op):
    Node, made = lesson["Node"], {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
                                  "/": lambda a, b: a / b}[op]  # fmt: skip
    a, b = Node(1.7), Node(-0.6)
    goal = made(a, b)
    assert lesson["forward"](goal) == made(1.7, -0.6)
    lesson["backward"](goal)
    moves = ((1e-6, 0), (0, 1e-6))
    found = [(made(1.7 + p, -0.6 + q) - made(1.7 - p, -0.6 - q)) / 2e-6 for p, q in moves]
    np.testing.assert_allclose([a.grad, b.grad], found, rtol=1e-7)


def test_the_engine_has_fewer_than_fifty_lines_and_twelve_of_them_are_operations(prose):
    cells = [code_of(start) for start in ("class Node", "def order_of", "def forward(goal)")]
    lines = [line for cell in cells for line in cell.splitlines() if line.strip()]
    operations = [line for line in lines if re.search(r"def __(?!init)|return Node\(op=|compute=lambda", line)]
    assert "fewer than fifty lines, twelve of them for the four operations" in prose
    assert 35 < len(lines) < 50
    assert len(operations) == 12


def test_the_derivative_of_herons_loop_is_that_of_the_square_root(lesson, shown):
    assert lesson["program"].answer.startswith("0.166667")
    for value in (2.0, 9.0, 0.3):
        x = lesson["Node"](value)
        root = lesson["heron"](x, rounds=8)
        assert lesson["forward"](root) == pytest.approx(np.sqrt(value), rel=1e-12)
        lesson["backward"](root)
        assert x.grad == pytest.approx(0.5 / np.sqrt(value), rel=1e-9)
    assert "\n3.000000\n" in shown
    assert "\n0.166667\n" in shown
    assert "**" not in inspect.getsource(lesson["heron"]).replace("sqrt", "")


@pytest.mark.parametrize("rounds", [1, 2, 5, 10, 50])
def test_a_round_of_heron_adds_three_nodes_and_doubles_the_formula(lesson, shown, rounds, prose):
    nodes, copies = 3 * rounds + 2, 2 ** (rounds + 1) - 1
    assert (rounds, nodes, copies) in lesson["lengths"]
    assert [str(rounds), str(nodes), f"{copies:,}"] in rows_of(shown)
    if rounds == 50:
        assert "Fifty rounds are 152 nodes, or a formula in which $x$ appears two quadrillion times" in prose
        assert copies == pytest.approx(2e15, rel=0.15)


def test_written_out_the_formula_has_so_many_x(lesson):
    """Count the letters of the text itself, for few rounds."""
    text = "x"
    for _ in range(3):
        text = f"(0.5*({text}+x/({text})))"
    leaf = lesson["Node"](9.0)
    assert lesson["copies_of"](lesson["heron"](leaf, 3), leaf) == text.count("x") == 15


# ------------------------------------------------------------------------------------------------ lesson 04


def test_gradients_of_the_own_engine_are_lesson_04s_in_every_bit(lesson, lesson_04, shown):
    *_, dw, dw2 = lesson_04
    assert np.array_equal(lesson["by_hand"]["W1"], dw)
    assert np.array_equal(lesson["by_hand"]["W2"], dw2)
    lesson["forward"](lesson["loss"])
    lesson["backward"](lesson["loss"])
    assert np.array_equal(lesson["W1"].grad, dw)
    assert np.array_equal(lesson["W2"].grad, dw2)
    assert "W1 in every bit: True\nW2 in every bit: True" in shown


def test_gradients_of_the_library_graph_are_lesson_04s_in_every_bit(lesson_04, shown):
    x, y, w, w2, dw, dw2 = lesson_04
    w, w2 = graph.variable(w), graph.variable(w2)
    hidden = graph.apply("sigmoid", graph.apply("dense", graph.variable(x), w))
    goal = graph.apply("half_squared_sum", graph.apply("sigmoid", graph.apply("dense", hidden, w2)), y)
    graph.forward(goal)
    graph.backward(goal)
    assert np.array_equal(w.grad, dw)
    assert np.array_equal(w2.grad, dw2)
    assert shown.count("lesson 04's gradients, in every bit: True") == 2


def test_gradients_of_sequential_are_lesson_04s_in_every_bit(lesson_04):
    x, y, w, w2, dw, dw2 = lesson_04
    options = {"rng": np.random.default_rng(0), "bias": False, "dtype": np.float64}
    net = nn.Sequential(nn.Dense(2, 3, **options), nn.Sigmoid(), nn.Dense(3, 1, **options), nn.Sigmoid())
    net[0].params["w"][...], net[2].params["w"][...] = w, w2
    _, cache = ops.half_squared_sum_forward(net.forward(x), y)
    net.backward(ops.half_squared_sum_backward(cache))
    assert np.array_equal(net.gradients()["0.w"], dw)
    assert np.array_equal(net.gradients()["2.w"], dw2)


# ------------------------------------------------------------------------------------------------ sums and paths


def test_without_the_sum_only_what_lies_before_the_shared_node_is_wrong(lesson, shown):
    assert set(lesson["wrong"]) == {"A", "Z", "W1", "X"}
    assert "wrong weights: W1\n" in shown


def test_without_the_sum_the_loss_of_the_skip_network_still_falls(lesson):
    """The sentence "the loss falls" of the fold."""
    weights = [lesson[name] for name in ("W1", "V", "W2")]
    kept = [node.value for node in weights]
    try:
        losses = []
        for _ in range(200):
            losses.append(lesson["forward"](lesson["skip_loss"]))
            lesson["backward_without_sum"](lesson["skip_loss"])
            for node in weights:
                node.value = node.value - 0.5 * node.grad
    finally:
        for node, value in zip(weights, kept, strict=True):
            node.value = value
    assert losses[-1] < 0.5 * losses[0]


def test_an_input_that_is_used_twice_spoils_no_weight(lesson):
    """The answer of the second question."""
    rng, Node = np.random.default_rng(0), lesson["Node"]
    x, w, u, w2, y = (Node(rng.standard_normal(s)) for s in ((4, 2), (2, 3), (2, 1), (3, 1), (4, 1)))
    g = lesson["sigmoid"](x @ w) @ w2 + x @ u
    goal = lesson["half_squared_sum"](lesson["sigmoid"](g), y)
    lesson["forward"](goal)
    lesson["backward"](goal)
    right = {node: node.grad for node in (x, w, u, w2)}
    lesson["backward_without_sum"](goal)
    assert [np.allclose(node.grad, right[node]) for node in (x, w, u, w2)] == [False, True, True, True]


def test_one_visit_a_path_doubles_the_gradient(lesson, shown):
    lesson["backward"](lesson["double"])
    node = next(n for n in lesson["order_of"](lesson["double"]) if n.name == "x")
    assert node.grad == 6
    lesson["backward"](lesson["double"], lesson["order_by_path"])
    assert node.grad == 12
    assert "each node once: 6.0\nonce per path:  12.0" in shown


@pytest.mark.parametrize("steps", [1, 5, 10, 16])
def test_visits_grow_like_nodes_or_like_paths(lesson, steps, shown):
    assert len(lesson["order_of"](lesson["ladder"](steps))) == steps + 1
    assert len(lesson["order_by_path"](lesson["ladder"](steps))) == 2 ** (steps + 1) - 1
    if steps == 16:
        assert ["16", "17", "131,071"] in rows_of(shown)


# ------------------------------------------------------------------------------------------------ both modes


def test_forward_mode_finds_the_same_in_a_walk_for_each_input(lesson, shown):
    leaves = lesson["leaves"]
    assert len(leaves) == len(lesson["by_forward"]) == 50
    np.testing.assert_allclose(lesson["by_forward"], [leaf.grad for leaf in leaves], rtol=1e-12)
    assert "the same fifty derivatives: True" in shown
    assert lesson["weights"] == sum(p.size for p in nn.Sequential(
        nn.Dense(784, 128, rng=np.random.default_rng(0)), nn.ReLU(), nn.Dense(128, 10, rng=np.random.default_rng(0)),
    ).parameters().values()) == 101_770  # fmt: skip
    row = " ".join(next(row for row in rows_of(shown) if row[:2] == ["a", "network"]))
    assert row == "a network that reads digits, its loss 101,770 1 101,770 1"


def test_a_walk_in_forward_mode_visits_each_node_once(lesson):
    """What is counted is walks; each is one pass over the order, as a backward walk is."""
    calls = []
    a, b = lesson["Node"](2.0), lesson["Node"](3.0)
    goal = (a * b) * (a + b)
    lesson["forward"](goal)
    for node in lesson["order_of"](goal):
        if node.parents:
            node.shares = lambda *given, own=node.shares: calls.append(1) or own(*given)
    assert [lesson["forward_mode"](goal, leaf) for leaf in (a, b)] == [21, 16]
    assert len(calls) == 2 * 3
    lesson["backward"](goal)
    assert len(calls) == 2 * 3 + 3


# ------------------------------------------------------------------------------------------------ training, PyTorch


def test_the_own_engine_learns_moons_and_digits(lesson, prose):
    assert lesson["share_of_moons"] > 0.95
    assert lesson["share_of_digits"] > 0.9
    assert "More than nine in ten" in prose
    assert (lesson["seen"].sum(), lesson["unseen"].sum(), len(lesson["moons"][1])) == (800, 200, 400)


def test_no_straight_line_separates_the_moons(lesson):
    points, labels = lesson["moons"]
    ones = lesson["with_ones"](points)
    best = np.linalg.lstsq(ones, 2.0 * labels - 1, rcond=None)[0]
    assert np.mean((ones @ best > 0) == labels) < 0.95


def test_pytorch_is_shown_and_never_imported():
    text = SCRIPT.read_text(encoding="utf-8")
    code = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    assert "# import torch" in text
    assert not re.search(r"^\s*(import|from) torch", code, re.MULTILINE)


def test_a_chain_of_10_000_nodes_breaks_the_recursion_and_not_the_library(lesson, shown):
    deep, step = lesson["Node"](0.0), lesson["Node"](0.5)
    for _ in range(10_000):
        deep = deep + step
    with pytest.raises(RecursionError):
        lesson["order_of"](deep)
    assert "yours: RecursionError" in shown
    assert "the library's: 5000.0 from 10,002 nodes\ngradients: 1.0 and 10000.0" in shown


def test_backward_twice_doubles_and_zero_grad_forgets(lesson, shown):
    goal, w1 = lesson["goal"], lesson["w1"]
    graph.zero_grad(goal)
    graph.backward(goal)
    once = w1.grad.copy()
    graph.backward(goal)
    assert np.array_equal(w1.grad, 2 * once)
    assert "second call, divided by the first: [2.]\nafter zero_grad:                   [1.]" in shown
    assert "two halves make the whole gradient: True" in shown
    assert "four workers find the whole gradient: True" in shown


def test_a_forgotten_zero_grad_uses_the_sum_of_all_gradients():
    """The answer of the third question."""
    w, alone = graph.variable(1.0), []
    goal = (w - 4.0) ** 2
    for _ in range(3):
        graph.forward(goal)
        graph.backward(goal)
        alone.append(2 * (float(w.value) - 4.0))
        assert float(w.grad) == pytest.approx(sum(alone))
        w.value = w.value - 0.1 * w.grad


# ------------------------------------------------------------------------------------------------ questions


def test_the_order_of_creation_is_topological_too(lesson):
    """The answer of the first question."""
    made = [lesson[name] for name in ("X", "W1", "W2", "Y", "Z", "A", "V", "P", "H", "S", "G", "O", "skip_loss")]
    place = {node: i for i, node in enumerate(made)}
    assert set(place) == set(lesson["order_of"](lesson["skip_loss"]))
    assert all(place[parent] < place[node] for node in made for parent in node.parents)


def test_in_the_wrong_order_the_leaves_get_nothing(lesson):
    """The answer of "Try it": backward over the order itself."""
    x, w = lesson["Node"](3.0), lesson["Node"](2.0)
    goal = (x * w) * (x + w)
    lesson["forward"](goal)
    lesson["backward"](goal, lambda goal: lesson["order_of"](goal)[::-1])
    assert (x.grad, w.grad) == (0, 0)
    assert [parent.grad for parent in goal.parents] == [5, 6]


def test_a_neuron_far_on_the_wrong_side_has_almost_no_gradient():
    """The answer of "Try it": x = 4, w = -4, y = 1."""
    x, w, b, y = (graph.variable(v) for v in (4.0, -4.0, 1.5, 1.0))
    z = x * w + b
    goal = graph.apply("half_squared_sum", graph.apply("sigmoid", z), y)
    assert graph.forward(goal) > 0.49
    graph.backward(goal)
    assert all(abs(float(node.grad)) < 1e-5 for node in (x, w, b))


def test_a_relu_of_ones_own_has_the_measured_gradient(lesson):
    """The answer of "Try it"."""
    Node = lesson["Node"]

    def relu(z):
        return Node(op="relu", parents=(z,), compute=lambda z: np.maximum(z, 0), shares=lambda g, z: (g * (z > 0),))

    h = relu(lesson["A"] @ lesson["V"])
    goal = lesson["half_squared_sum"](lesson["sigmoid"]((lesson["A"] + h) @ lesson["W2"]), lesson["Y"])
    lesson["forward"](goal)
    lesson["backward"](goal)
    found, node, kept = lesson["V"].grad, lesson["V"], lesson["V"].value
    for place in np.ndindex(kept.shape):
        ends = []
        for sign in (1, -1):
            node.value = kept.copy()
            node.value[place] += sign * 1e-6
            ends.append(lesson["forward"](goal))
        node.value = kept
        assert found[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-9)


def test_the_sheets_hints_point_to_sections_of_this_page():
    headings = re.findall(r"^# ## (.+)$", SCRIPT.read_text(encoding="utf-8"), re.MULTILINE)
    assert [one.section for one in sheet("05_computation_graph").exercises if one.section not in headings] == []
