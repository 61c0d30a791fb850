"""The computation graph: order, values, gradients, reuse, and what a second backward pass does."""

import sys

import numpy as np
import pytest

from course_lib import reference as ops
from course_lib.checks import numerical_gradient
from course_lib.nn import graph

RNG = np.random.default_rng(3)
X, Y = RNG.standard_normal((4, 3)), RNG.standard_normal((4, 2))
W, W2 = RNG.standard_normal((3, 5)), RNG.standard_normal((5, 2))


def two_layers():
    x, w, w2, y = (graph.variable(v, n) for v, n in ((X, "X"), (W, "W"), (W2, "W'"), (Y, "Y")))
    a = graph.apply("sigmoid", x @ w)
    o = graph.apply("sigmoid", a @ w2)
    return graph.apply("half_squared_sum", o, y), w, w2


def test_gradients_equal_the_derived_ones_to_the_last_bit():  # K
    J, w, w2 = two_layers()
    graph.forward(J)
    graph.backward(J)
    Z = X @ W
    A = ops.sigmoid(Z)
    G = A @ W2
    O = ops.sigmoid(G)
    delta1 = -(Y - O) * ops.sigmoid_prime(G)
    delta2 = (delta1 @ W2.T) * ops.sigmoid_prime(Z)
    np.testing.assert_array_equal(w2.grad, A.T @ delta1)
    np.testing.assert_array_equal(w.grad, X.T @ delta2)


def test_topological_order_has_every_node_once_parents_first():
    J, *_ = two_layers()
    order = graph.topological_order(J)
    assert order[-1] is J
    assert len(order) == len({id(n) for n in order}) == 9
    for i, node in enumerate(order):
        assert all(p in order[:i] for p in node.parents)


def test_a_chain_of_ten_thousand_nodes():
    assert sys.getrecursionlimit() < 10_000
    node = x = graph.variable(1.0)
    for _ in range(10_000):
        node = node + 1.0
    assert graph.forward(node) == 10_001
    graph.backward(node)
    assert x.grad == 1


def test_a_ladder_of_diamonds_takes_one_visit_a_node():
    node = x = graph.variable(1.0)
    for _ in range(60):  # 2^60 paths
        node = node + node
    assert len(graph.topological_order(node)) == 61
    graph.forward(node)
    graph.backward(node)
    assert x.grad == 2.0**60


def test_a_node_used_twice_gets_the_sum_of_both_gradients():
    x = graph.variable(np.array([[0.3, -0.7]]), "x")
    product = x * graph.apply("tanh", x)
    goal = graph.apply("half_squared_sum", product, np.zeros((1, 2)))
    graph.forward(goal)
    graph.backward(goal)
    expected = numerical_gradient(lambda v: 0.5 * np.sum((v * np.tanh(v)) ** 2), x.value)
    np.testing.assert_allclose(x.grad, expected, rtol=1e-7)


def test_backward_twice_doubles_the_leaves_only_and_zero_grad_forgets():
    J, w, _ = two_layers()
    graph.forward(J)
    graph.backward(J)
    once, inner = w.grad.copy(), J.parents[0].grad.copy()
    graph.backward(J)
    np.testing.assert_array_equal(w.grad, 2 * once)
    np.testing.assert_array_equal(J.parents[0].grad, inner)
    graph.zero_grad(J)
    assert w.grad is None
    graph.backward(J)
    np.testing.assert_array_equal(w.grad, once)


def test_an_earlier_gradient_array_is_never_written_to():
    J, w, _ = two_layers()
    graph.forward(J)
    graph.backward(J)
    first = w.grad
    kept = first.copy()
    graph.backward(J)
    np.testing.assert_array_equal(first, kept)


def test_new_values_flow_through_an_old_graph():
    J, w, _ = two_layers()
    first = graph.forward(J)
    w.value = np.zeros_like(W)
    assert graph.forward(J) != first


def test_arithmetic_and_broadcasting():
    a, b = graph.variable(np.array([[1.0, 2.0], [3.0, 4.0]])), graph.variable(np.array([10.0, 20.0]))
    goal = graph.apply("half_squared_sum", 2.0 * (a + b) - b, np.zeros((2, 2)))
    graph.forward(goal)
    graph.backward(goal)

    def f(av, bv):
        return 0.5 * np.sum((2 * (av + bv) - bv) ** 2)

    np.testing.assert_allclose(a.grad, numerical_gradient(lambda v: f(v, b.value), a.value), rtol=1e-6)
    np.testing.assert_allclose(b.grad, numerical_gradient(lambda v: f(a.value, v), b.value), rtol=1e-6)
    assert b.grad.shape == (2,)


def test_a_kept_axis_of_length_one_is_summed():
    a, b = graph.variable(np.ones((3, 2))), graph.variable(np.ones((3, 1)))
    goal = graph.apply("half_squared_sum", a * b, np.zeros((3, 2)))
    graph.forward(goal)
    graph.backward(goal)
    np.testing.assert_array_equal(b.grad, [[2], [2], [2]])


@pytest.mark.parametrize("op", sorted(n.removesuffix("_forward") for n in ops.__all__ if n.endswith("_forward")))
def test_every_operation_of_the_library_can_be_a_node(op):
    rng = np.random.default_rng(0)
    image_axes = {"conv1d": 1, "conv2d": 2, "conv3d": 3, "max_pool": 2, "average_pool": 2, "subsample": 2}.get(op)
    shape = (3, 4) if image_axes is None else (2, 3, *[4] * image_axes)
    x, labels = graph.variable(rng.standard_normal(shape)), np.array([0, 3, 1])
    if op == "dense":
        others = [np.ones((4, 4)), np.zeros(4)]
    elif op in ("half_squared_sum", "quadratic_cost"):
        others = [np.zeros((3, 4))]
    elif op in ops.LOSSES:
        x, others = graph.variable(ops.softmax(x.value)), [labels]  # two of them take probabilities only
    elif op.startswith("conv"):
        others = [rng.standard_normal((2, 3, *[2] * image_axes)), np.ones(2)]
    elif op == "subsample":
        others = [np.array([1.0, 2.0, 3.0]), np.zeros(3)]
    elif op == "rbf":
        others = [rng.standard_normal((5, 4))]
    else:
        others = []
    node = graph.apply(op, x, *others)
    target = np.zeros(np.shape(graph.forward(node)))
    goal = node if op in ops.LOSSES else graph.apply("half_squared_sum", node, target)
    graph.forward(goal)
    graph.backward(goal)

    def f(v):
        x.value, kept = v, x.value
        value = graph.forward(goal)
        x.value = kept
        return value

    np.testing.assert_allclose(x.grad, numerical_gradient(f, x.value), rtol=1e-5, atol=1e-6)


def test_options_reach_the_operation():
    node = graph.apply("leaky_relu", graph.variable(np.array([-2.0])), negative_slope=0.5)
    np.testing.assert_array_equal(graph.forward(node), [-1])


def test_errors_say_what_to_do():
    J, *_ = two_layers()
    with pytest.raises(ValueError, match=r"has no value yet; call forward\(goal\)"):
        graph.backward(J)
    with pytest.raises(ValueError, match=r"no operation 'conv9d'.*dense, .*softmax"):
        graph.apply("conv9d", X)
    node = graph.variable(X) + 1.0
    graph.forward(node)
    with pytest.raises(ValueError, match=r"the goal has shape \(4, 3\)"):
        graph.backward(node)
    node.parents = (node,)
    with pytest.raises(ValueError, match="the graph has a cycle"):
        graph.topological_order(node)


def test_repr_names_the_node_and_its_shape():
    x = graph.variable(X, "X")
    assert repr(x) == "Node(X, shape (4, 3))"
    assert repr(x @ graph.variable(W)) == "Node(@, not computed)"
    assert x.is_leaf


def test_a_loss_inside_a_graph_passes_its_upstream_gradient_on():
    x = graph.variable(np.array([[1.0, -2.0]]))
    goal = graph.apply("half_squared_sum", x, np.zeros((1, 2))) * 3.0
    graph.forward(goal)
    graph.backward(goal)
    np.testing.assert_array_equal(x.grad, [[3, -6]])


def test_a_computed_target_gets_its_gradient_too_and_a_given_one_none():
    x, w = np.array([[1.0, 2.0]]), graph.variable(np.array([[0.3], [0.4]]))
    goal = graph.apply("half_squared_sum", x @ w, x @ (w * w))
    graph.forward(goal)
    graph.backward(goal)
    expected = numerical_gradient(lambda v: 0.5 * np.sum((x @ v - x @ (v * v)) ** 2), w.value)
    np.testing.assert_allclose(w.grad, expected, rtol=1e-6)
    J, *_ = two_layers()
    graph.forward(J)
    graph.backward(J)
    assert J.parents[1].grad is None


def test_arrays_stand_on_either_side_of_a_node():
    w = graph.variable(np.array([[2.0], [3.0]]))
    assert graph.forward(np.ones((1, 2)) @ w) == 5
    np.testing.assert_array_equal(graph.forward(np.ones((2, 1)) + w), [[3], [4]])
    np.testing.assert_array_equal(graph.forward(1 - w), [[-1], [-2]])
