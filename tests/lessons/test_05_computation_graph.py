"""Lesson 05: what must come out, in the library, in the lesson's own numbers and on its page."""

import inspect
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from course_lib import data, nn
from course_lib import reference as ops
from course_lib.nn import graph

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAME = "05_computation_graph"


@pytest.fixture(scope="module")
def lesson():
    """The names that the lesson's script leaves behind."""
    path = NOTEBOOKS / f"{NAME}.py"
    module = types.ModuleType("lesson_05")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    yield module
    del sys.modules[module.__name__]


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


def test_the_diamond_by_hand(lesson, printed):
    x, w = lesson.Node(3.0), lesson.Node(2.0)
    goal = lesson.times(lesson.times(x, w), lesson.plus(x, w))
    assert lesson.forward(goal) == 30
    lesson.backward(goal)
    assert (x.grad, w.grad) == (16, 21)
    assert "dJ/dx 16.0 dJ/dw 21.0" in printed


def test_gradients_of_the_handmade_graph_are_lesson_04s_in_every_bit(lesson, lesson_04, printed):
    *_, dw, dw2 = lesson_04
    assert np.array_equal(lesson.by_hand["W"], dw)
    assert np.array_equal(lesson.by_hand["W'"], dw2)
    lesson.forward(lesson.J)
    lesson.backward(lesson.J)
    assert np.array_equal(lesson.W.grad, dw)
    assert np.array_equal(lesson.W2.grad, dw2)
    assert "equal in every bit" in printed


def test_gradients_of_the_library_graph_are_lesson_04s_in_every_bit(lesson_04):
    x, y, w, w2, dw, dw2 = lesson_04
    w, w2 = graph.variable(w), graph.variable(w2)
    hidden = graph.apply("sigmoid", graph.apply("dense", graph.variable(x), w))
    goal = graph.apply("half_squared_sum", graph.apply("sigmoid", graph.apply("dense", hidden, w2)), y)
    graph.forward(goal)
    graph.backward(goal)
    assert np.array_equal(w.grad, dw)
    assert np.array_equal(w2.grad, dw2)


def test_gradients_of_sequential_are_lesson_04s_in_every_bit(lesson_04):
    x, y, w, w2, dw, dw2 = lesson_04
    options = {"rng": np.random.default_rng(0), "bias": False, "dtype": np.float64}
    net = nn.Sequential(nn.Dense(2, 3, **options), nn.Sigmoid(), nn.Dense(3, 1, **options), nn.Sigmoid())
    net[0].params["w"][...], net[2].params["w"][...] = w, w2
    _, cache = ops.half_squared_sum_forward(net.forward(x), y)
    net.backward(ops.half_squared_sum_backward(cache))
    assert np.array_equal(net.gradients()["0.w"], dw)
    assert np.array_equal(net.gradients()["2.w"], dw2)


def test_the_printed_line_count_is_the_files(printed):
    assert f"{len(inspect.getsource(graph).splitlines())} lines;" in printed


def test_without_the_sum_only_what_lies_before_the_shared_node_is_wrong(lesson, printed):
    assert set(lesson.wrong) == {"A", "Z", "W", "X"}
    assert "wrong weights: ['W']" in printed


def test_an_input_that_is_used_twice_spoils_no_weight(lesson):
    """The answer of the second question."""
    rng = np.random.default_rng(0)
    x, w, u = (lesson.Node(rng.standard_normal(s), name=n) for n, s in (("X", (4, 2)), ("W", (2, 3)), ("U", (2, 1))))
    w2, y = lesson.Node(rng.standard_normal((3, 1))), lesson.Node(rng.standard_normal((4, 1)))
    hidden = lesson.sigmoid(lesson.product(x, w))
    g = lesson.plus(lesson.product(hidden, w2), lesson.product(x, u))
    goal = lesson.half_squared_sum(lesson.sigmoid(g), y)
    lesson.forward(goal)
    lesson.backward(goal)
    right = {node: node.grad for node in (x, w, u, w2)}
    lesson.backward_without_sum(goal)
    assert [np.allclose(node.grad, right[node]) for node in (x, w, u, w2)] == [False, True, True, True]


def test_one_visit_a_path_doubles_the_gradient(lesson, printed):
    lesson.backward(lesson.double)
    assert lesson.leaf.grad == 6
    lesson.backward(lesson.double, lesson.order_by_path)
    assert lesson.leaf.grad == 12
    assert "once per path:  12.0" in printed


@pytest.mark.parametrize("steps", [1, 5, 10])
def test_visits_grow_like_nodes_or_like_paths(lesson, steps):
    assert len(lesson.order_of(lesson.ladder(steps))) == steps + 1
    assert len(lesson.order_by_path(lesson.ladder(steps))) == 2 ** (steps + 1) - 1


def test_a_chain_of_10_000_nodes_breaks_the_recursion_and_not_the_library(lesson, printed):
    deep = lesson.Node(0.0)
    for _ in range(10_000):
        deep = lesson.plus(deep, lesson.step)
    with pytest.raises(RecursionError):
        lesson.order_of(deep)
    first, step = graph.variable(0.0), graph.variable(0.5)
    long = first
    for _ in range(10_000):
        long = long + step
    assert graph.forward(long) == 5000
    graph.backward(long)
    assert (first.grad, step.grad) == (1, 10_000)
    assert "RecursionError" in printed


def test_backward_twice_doubles_and_zero_grad_forgets(lesson, printed):
    graph.zero_grad(lesson.loss)
    graph.backward(lesson.loss)
    once = lesson.w.grad.copy()
    graph.backward(lesson.loss)
    assert np.array_equal(lesson.w.grad, 2 * once)
    graph.zero_grad(lesson.loss)
    graph.backward(lesson.loss)
    assert np.array_equal(lesson.w.grad, once)
    assert "second call: doubled" in printed


def test_the_order_of_creation_is_topological_too(lesson):
    """The answer of the first question."""
    made = [lesson.X, lesson.W, lesson.W2, lesson.Y, lesson.Z, lesson.A, lesson.G, lesson.O, lesson.J]
    place = {node: i for i, node in enumerate(made)}
    assert all(place[p] < place[node] for node in made for p in node.parents)


def test_parts_of_a_batch_add_up_to_its_gradient(lesson, lesson_04):
    *_, dw, dw2 = lesson_04
    np.testing.assert_allclose(lesson.total["0.w"], dw, rtol=1e-12)
    np.testing.assert_allclose(lesson.total["2.w"], dw2, rtol=1e-12)


def test_the_moons_are_learned(lesson):
    assert lesson.result.accuracy >= 0.95
    assert lesson.result.count == 400
