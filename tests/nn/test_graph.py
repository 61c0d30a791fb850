"""The computation graph: order, values, gradients, reuse, and what a second backward pass does."""

import copy
import pickle
import sys
import types

import numpy as np
import pytest

from course_lib import reference as ops
from course_lib.checks import numerical_gradient
from course_lib.nn import graph
from tests.backends import on_each_backend

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


OPERATIONS = sorted(n.removesuffix("_forward") for n in ops.__all__ if n.endswith("_forward"))


def inputs_of(op):
    """Return arrays that an operation takes; class numbers are the only integers among them."""
    rng = np.random.default_rng(0)
    two = dict.fromkeys(("conv2d", "conv2d_fft", "conv2d_winograd", "max_pool", "average_pool", "subsample"), 2)
    image_axes = {"conv1d": 1, **two, "conv3d": 3}.get(op)
    x, labels = rng.standard_normal((3, 4) if image_axes is None else (2, 3, *[4] * image_axes)), np.array([0, 3, 1])
    if op == "dense":
        return x, np.ones((4, 4)), np.zeros(4)
    if op in graph.DIFFERENCES:
        return x, rng.standard_normal((3, 4))
    if op in ops.LOSSES:
        return ops.softmax(x), labels  # two of them take probabilities only
    if op.startswith("conv"):
        mask = 3 if op == "conv2d_winograd" else 2
        return x, rng.standard_normal((2, 3, *[mask] * image_axes)), np.ones(2)
    if op == "subsample":
        return x, np.array([1.0, 2.0, 3.0]), np.zeros(3)
    return (x, rng.standard_normal((5, 4))) if op == "rbf" else (x,)


OPTIONS = {"dropout": {"rate": 0.5, "seed": 3}}
"""What an operation must be told besides its inputs."""


def goal_of(op, leaves, backend=ops):
    node = graph.apply(op, *leaves, ops=backend, **OPTIONS.get(op, {}))
    if op in ops.LOSSES:
        return node
    return graph.apply("half_squared_sum", node, np.zeros(np.shape(graph.forward(node))), ops=backend)


@on_each_backend
@pytest.mark.parametrize("op", OPERATIONS)
def test_every_operation_gives_every_input_its_gradient_but_class_numbers(op, ops):
    leaves = [graph.variable(v) for v in inputs_of(op)]
    goal = goal_of(op, leaves, ops)
    graph.forward(goal)
    graph.backward(goal)
    for leaf in leaves:
        if leaf.value.dtype.kind == "i":
            assert leaf.grad is None
            continue

        def f(v, leaf=leaf):
            leaf.value, kept = v, leaf.value
            value = graph.forward(goal)
            leaf.value = kept
            return value

        np.testing.assert_allclose(leaf.grad, numerical_gradient(f, leaf.value), rtol=1e-5, atol=1e-6)


@on_each_backend
@pytest.mark.parametrize("op", OPERATIONS)
def test_every_operation_keeps_float32_and_gives_each_leaf_a_gradient_of_its_kind(op, ops):
    small = [v.astype(np.float32) if v.dtype.kind == "f" else v for v in inputs_of(op)]
    leaves = [graph.variable(v) for v in small]
    goal = goal_of(op, leaves, ops) * 2.0 + 1
    graph.forward(goal)
    graph.backward(goal)
    assert op in ops.LOSSES or goal.parents[0].parents[0].parents[0].value.dtype == np.float32
    assert [leaf.grad.dtype for leaf in leaves if leaf.value.dtype.kind == "f"] == [np.float32] * sum(
        v.dtype.kind == "f" for v in small
    )
    for wide in range(len(small)):  # one leaf in float64: the others keep their kind
        leaves = [graph.variable(v.astype(float) if k == wide else v) for k, v in enumerate(inputs_of(op))]
        mixed = [graph.variable(v) for v in small]
        if small[wide].dtype.kind == "f":
            mixed[wide] = leaves[wide]
        goal = goal_of(op, mixed, ops)
        graph.forward(goal)
        graph.backward(goal)
        assert all(leaf.grad.dtype == leaf.value.dtype for leaf in mixed if leaf.grad is not None)


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


def test_a_computed_target_gets_its_gradient_too_and_so_does_a_given_one():
    x, w = np.array([[1.0, 2.0]]), graph.variable(np.array([[0.3], [0.4]]))
    goal = graph.apply("half_squared_sum", x @ w, x @ (w * w))
    graph.forward(goal)
    graph.backward(goal)
    expected = numerical_gradient(lambda v: 0.5 * np.sum((x @ v - x @ (v * v)) ** 2), w.value)
    np.testing.assert_allclose(w.grad, expected, rtol=1e-6)
    J, *_ = two_layers()
    graph.forward(J)
    graph.backward(J)
    np.testing.assert_array_equal(J.parents[1].grad, -J.parents[0].grad)


def test_arrays_stand_on_either_side_of_a_node():
    w = graph.variable(np.array([[2.0], [3.0]]))
    assert graph.forward(np.ones((1, 2)) @ w) == 5
    np.testing.assert_array_equal(graph.forward(np.ones((2, 1)) + w), [[3], [4]])
    np.testing.assert_array_equal(graph.forward(1 - w), [[-1], [-2]])


def measured(f, *values):
    """Return the value of f(*nodes) and every leaf's gradient, measured and by the graph, one pair a leaf."""
    nodes = [graph.variable(v) for v in values]
    goal = graph.apply("half_squared_sum", f(*nodes), np.zeros(np.shape(f(*values))))
    graph.forward(goal)
    graph.backward(goal)
    np.testing.assert_array_equal(goal.parents[0].value, f(*values))
    for k, node in enumerate(nodes):
        expected = numerical_gradient(lambda v, k=k: 0.5 * np.sum(f(*values[:k], v, *values[k + 1 :]) ** 2), values[k])
        np.testing.assert_allclose(node.grad, expected, rtol=1e-6, atol=1e-8)
        assert np.shape(node.grad) == np.shape(values[k])


A, B = np.array([[1.5, -2.0], [0.5, 3.0]]), np.array([0.5, -4.0])


@pytest.mark.parametrize("number", [2, 0.5, -3])
def test_every_sign_of_arithmetic_with_nodes_and_numbers(number):
    for f in (lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: b / a):
        measured(f, A, B)
    for f in (
        lambda a: a + number, lambda a: a - number, lambda a: a * number, lambda a: a / number,
        lambda a: number + a, lambda a: number - a, lambda a: number * a, lambda a: number / a, lambda a: -a,
    ):  # fmt: skip
        measured(f, A)
    measured(lambda a: a**number, np.abs(A))


def test_powers_of_negative_numbers_of_zero_and_of_integers():
    for n in (0, 1, 2, 3):
        measured(lambda a, n=n: a**n, np.array([-2.0, 3.0]))
    x = graph.variable(np.array([0, 2]))
    for n, expected in ((0, [0, 0]), (1, [1, 1]), (2, [0, 4])):
        goal = graph.apply("half_squared_sum", x**n, x.value.astype(float) ** n - 1)
        graph.zero_grad(goal)
        graph.forward(goal)
        graph.backward(goal)
        np.testing.assert_array_equal(x.grad, expected)
    with pytest.raises(TypeError, match=r"the exponent is Node.*; it must be a number, such as 2"):
        x**x


SIGNS = (
    lambda a, b: a + b, lambda a, b: b + a, lambda a, b: a - b, lambda a, b: b - a, lambda a, b: a * b,
    lambda a, b: b * a, lambda a, b: a / b, lambda a, b: b / a,
)  # fmt: skip


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_arithmetic_with_plain_numbers_keeps_the_kind_of_the_array(kind):
    x = graph.variable(np.array([1.0, 2.0], kind))
    nodes = [-x, x**2, x / x, x**-1, x**0.5]
    nodes += [f(x, number) for f in SIGNS for number in (2.0, 3, True, -0.5)]
    for node in nodes:
        assert graph.forward(node).dtype == kind
        assert node.local_gradients(np.ones_like(node.value))[node.parents.index(x)].dtype == kind


@pytest.mark.parametrize("other", [np.float64(2), np.array(2.0), np.array([1.0, 2.0]), np.array([1, 2])])
def test_arrays_promote_as_in_numpy_and_a_gradient_keeps_its_leafs_kind(other):
    for f in SIGNS:
        x = graph.variable(np.array([1.0, 2.0], np.float32))
        goal = graph.apply("half_squared_sum", f(x, other), np.zeros(2))
        graph.backward(_run(goal))
        assert goal.parents[0].value.dtype == np.float64
        assert x.grad.dtype == np.float32


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int32, np.int64, np.uint64, bool])
def test_integer_leaves_are_computed_with_as_floats(kind):
    """NumPy's own integers wrap around: uint8(1) - 2 is 255, and -True an error."""
    values, weights = np.array([1, 0, 1]).astype(kind), np.array([0.5, -1.0, 2.0])
    if kind is not bool:
        values = values * kind(100)

    def f(x, w):
        return (-x + (x - 2) * x * w - 3 * x) / 4

    leaves = [[graph.variable(v), graph.variable(weights)] for v in (values, values.astype(float))]
    for x, w in leaves:
        graph.backward(_run(graph.apply("half_squared_sum", f(x, w), x)))
    for one, other in zip(*leaves, strict=True):
        np.testing.assert_array_equal(one.grad, other.grad)
        assert one.grad.dtype == np.float64
    assert leaves[0][0].value.dtype == kind


@pytest.mark.parametrize("value", [np.array(["a"]), np.array([None]), np.array([1j]), "word", None])
def test_what_is_no_real_number_is_refused_in_words(value):
    with pytest.raises(TypeError, match="a graph computes with real numbers"):
        graph.forward(graph.variable(np.ones(1)) + value)


@on_each_backend
@pytest.mark.parametrize("op", graph.DIFFERENCES)
def test_a_leaf_that_is_input_and_target_gets_both_gradients(op, ops):
    """PyTorch had this fault: a leaf as the target got none, or lost what it was due as the input."""
    for of_leaf in (
        lambda t: (t * 2, t), lambda t: (t, t * 2), lambda t: (t, t), lambda t: (t * t, t * 3),
        lambda t: (np.array([[1.0, 2.0]]), t), lambda t: (t, np.array([[1.0, 2.0]])),
    ):  # fmt: skip
        t = graph.variable(np.array([[3.0, -0.5]]))
        graph.backward(_run(graph.apply(op, *of_leaf(t), ops=ops) * 1.5))

        def value(v, of_leaf=of_leaf):
            return 1.5 * getattr(ops, f"{op}_forward")(*of_leaf(v))[0]

        np.testing.assert_allclose(t.grad, numerical_gradient(value, t.value), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("op", "given", "option"),
    [("leaky_relu", [], "negative_slope"), ("rbf_loss", [np.array([0, 1, 1])], "j")],
)
def test_a_node_that_would_silently_get_no_gradient_is_refused(op, given, option):
    def goal(last):
        node = graph.apply(op, graph.variable(np.ones((3, 4))), *given, last)
        return _run(node if op in ops.LOSSES else graph.apply("half_squared_sum", node, np.zeros((3, 4))))

    graph.backward(goal(0.1))  # a plain number is no node
    with pytest.raises(ValueError, match=rf"{op} has no gradient for its argument {option}.*{option}=\.\.\."):
        graph.backward(goal(graph.variable(0.1)))


def test_a_deep_copy_is_a_graph_of_its_own_however_deep():
    x = node = graph.variable(np.array(1.5))
    for _ in range(5000):
        node = node + x
    graph.forward(node)
    copied = copy.deepcopy({"goal": node, "x": x})
    copied["x"].value = np.array(2.0)
    assert graph.forward(copied["goal"]) == 2 * 5001
    graph.backward(copied["goal"])
    assert (copied["x"].grad, x.grad, node.value) == (5001, None, 1.5 * 5001)


def test_a_graph_says_why_it_cannot_be_pickled():
    with pytest.raises(TypeError, match=r"cannot be pickled: a graph holds functions. Keep its leaves' values"):
        pickle.dumps(two_layers()[0])


@pytest.mark.parametrize("which", ["leaf", "computed"])
def test_a_value_exchanged_since_forward_is_refused(which):
    J, w, _ = two_layers()
    graph.forward(J)
    node = w if which == "leaf" else J.parents[0]
    node.value = node.value + 1
    with pytest.raises(ValueError, match=r"has another value than in the last forward; call forward\(goal\) again"):
        graph.backward(J)
    assert w.grad is None
    graph.forward(J)
    graph.backward(J)


def test_equal_values_are_not_refused():
    """Two goals share nodes; the forward pass of the second computes the same values again."""
    J, w, _ = two_layers()
    other = J * 2.0
    graph.forward(J)
    graph.forward(other)
    w.value = w.value.copy()
    graph.backward(J)
    assert w.grad is not None


@pytest.mark.parametrize("which", ["leaf", "computed"])
@pytest.mark.parametrize("again", [False, True])
def test_a_value_overwritten_in_place_since_forward_is_refused(which, again):
    """The same array with other numbers: PyTorch counts versions for this."""
    J, w, _ = two_layers()
    graph.forward(J)
    node = w if which == "leaf" else J.parents[0]
    node.value[...] += 1
    if again:  # the copy has the numbers of the array that was overwritten
        node.value = node.value.copy()
    with pytest.raises(ValueError, match=r"has another value than in the last forward; call forward\(goal\) again"):
        graph.backward(J)
    assert w.grad is None
    graph.forward(J)
    graph.backward(J)


@pytest.mark.parametrize("dtype", [">f8", np.float16, np.longdouble, np.int8, np.bool_])
@pytest.mark.parametrize("shape", [(), (3,), (0, 2)])
def test_values_of_any_kind_and_shape_are_known_again(dtype, shape):
    x = graph.variable(np.ones(shape, dtype))
    goal = _run(x * 2.0)
    x.value = x.value.copy()
    if np.size(goal.value) == 1:
        graph.backward(goal)
        assert x.grad == 2
    else:  # what is wrong is the goal, not the value
        with pytest.raises(ValueError, match="the goal has shape"):
            graph.backward(goal)


def test_an_equal_nan_is_no_other_value():
    x = graph.variable(np.array([np.nan]))
    J = _run(x * 2.0)
    x.value = np.array([np.nan])
    graph.backward(J)
    np.testing.assert_array_equal(x.grad, [2.0])


def test_a_node_is_no_value_and_no_option():
    x = graph.variable(X, "X")
    with pytest.raises(TypeError, match="a node already; use it as it is"):
        graph.variable(x)
    with pytest.raises(ValueError, match="leaky_relu takes negative_slope as an option, which gets no gradient"):
        graph.apply("leaky_relu", x, negative_slope=graph.variable(0.1))


def test_a_leaf_that_hides_entries_is_refused():
    with pytest.raises(ValueError, match=r"row 1 of W holds masked entries.*W\.filled\(0\)"):
        graph.variable(np.ma.array([1.0, 2.0], mask=[False, True]), "W")
    assert graph.variable(np.ma.array([1.0, 2.0])).value.tolist() == [1, 2]


@pytest.mark.parametrize("value", [3.0, np.array([[3.0]])])
def test_a_goal_that_is_a_leaf_adds_up_too(value):
    x = graph.variable(value)
    graph.backward(x)
    graph.backward(x)
    np.testing.assert_array_equal(x.grad, np.full(np.shape(value), 2.0))
    graph.backward(_run(x + 1.0))
    np.testing.assert_array_equal(x.grad, np.full(np.shape(value), 3.0))


def _run(goal):
    graph.forward(goal)
    return goal


@pytest.mark.parametrize("f", [lambda a, b: a + b, lambda a, b: graph.apply("identity", a) - b])
def test_no_two_nodes_share_a_gradient_array(f):
    a, b = graph.variable(X), graph.variable(X + 1)
    goal = _run(graph.apply("half_squared_sum", f(a, b), np.zeros_like(X)))
    graph.backward(goal)
    held = [n.grad for n in graph.topological_order(goal) if isinstance(n.grad, np.ndarray)]
    assert len(held) >= 3
    for i, one in enumerate(held):
        assert not any(np.shares_memory(one, other) for other in held[:i])
    kept = b.grad.copy()
    a.grad *= 0
    np.testing.assert_array_equal(b.grad, kept)


def test_the_losses_are_those_of_the_backend():
    """A backend may have a loss that the reference lacks; its backward takes no upstream gradient."""
    backend = types.SimpleNamespace(
        LOSSES=("plain_sum",),
        plain_sum_forward=lambda x: (float(np.sum(x)), np.ones_like(x)),
        plain_sum_backward=lambda cache: cache,
    )
    x = graph.variable(X)
    graph.backward(_run(graph.apply("plain_sum", x, ops=backend) * 3.0))
    np.testing.assert_array_equal(x.grad, np.full_like(X, 3))
