"""Lesson 05: what must come out, in the library, in the lesson's own engine and on its page."""

import inspect
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from course_lib import checks, data, nn
from course_lib import reference as ops
from course_lib.checks.registry import sheet
from course_lib.lesson import recorded_gradients
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
    lesson["backward"](goal, lesson["add"])
    assert (x.grad, w.grad) == (16, 21)
    assert "J is made by * from nodes made by * +\nits value so far: None" in shown
    assert "\ndJ/dx = 16.0  dJ/dw = 21.0" in shown


def test_a_backward_that_keeps_the_last_share_fails_before_the_sum_is_shown(lesson, shown):
    Node = lesson["Node"]
    x, w = Node(3.0), Node(2.0)
    goal = (x * w) * (x + w)
    lesson["forward"](goal)
    lesson["backward"](goal, lesson["keep"])
    assert (x.grad, w.grad) == (10, 15)
    assert shown.index("dJ/dx = 10.0  dJ/dw = 15.0") < shown.index("dJ/dx = 16.0  dJ/dw = 21.0")
    text = SCRIPT.read_text(encoding="utf-8")
    assert text.index("def keep(node, share)") < text.index("backward(J, keep)") < text.index("def add(node, share)")
    first = text[: text.index("## One example by hand")]
    assert "choice=False" in first, "the first figure does not show the answer"
    assert "finished=False" in first, "it is to be played, as the text says"


@pytest.mark.parametrize("op", ["+", "-", "*", "/"])
@pytest.mark.parametrize("shape", [(3,), (1, 3), (4, 1), (1, 1), (1,), (), (4, 3)])
@pytest.mark.parametrize("first", [False, True])
def test_a_value_that_broadcasting_stretched_gets_the_measured_gradient_in_its_own_shape(lesson, op, shape, first):
    rng, Node = np.random.default_rng(1), lesson["Node"]
    made = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}[op]
    a, b, y = Node(rng.uniform(1, 2, (4, 3))), Node(rng.uniform(1, 2, shape)), Node(rng.standard_normal((4, 3)))
    goal = lesson["half_squared_sum"](made(b, a) if first else made(a, b), y)
    lesson["forward"](goal)
    lesson["backward"](goal, lesson["add"])

    def loss(value):
        node.value = value
        return lesson["forward"](goal)

    for node in (a, b):
        found, kept = node.grad, node.value
        assert np.shape(found) == np.shape(kept)
        if np.ndim(kept):
            np.testing.assert_allclose(found, checks.numerical_gradient(loss, kept), rtol=1e-5, atol=1e-8)
        else:
            measured = (loss(kept + 1e-6) - loss(kept - 1e-6)) / 2e-6
            assert found == pytest.approx(measured, rel=1e-5)
        node.value = kept


@pytest.mark.parametrize("op", ["+", "-", "*", "/"])
@pytest.mark.parametrize("shape", [(1, 1), (1,), ()])
def test_a_goal_that_an_operation_makes_has_gradients_in_its_own_shape(lesson, op, shape):
    """One sample through X W + b, with no loss behind it: the gradient that `backward` begins with has a shape too."""
    made = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}[op]
    slopes = {"+": (1, 1), "-": (1, -1), "*": (4, 2), "/": (1 / 4, -2 / 16)}[op]
    a, b = lesson["Node"](np.full(shape, 2.0)), lesson["Node"](np.full(shape, 4.0))
    goal = made(a, b)
    lesson["forward"](goal)
    lesson["backward"](goal, lesson["add"])
    for node, slope in zip((a, b), slopes, strict=True):
        assert np.shape(node.grad) == shape
        np.testing.assert_allclose(node.grad, np.full(shape, slope))
    x, w, bias = (lesson["Node"](np.ones(s)) for s in ((1, 2), (2, 1), (1,)))
    goal = x @ w + bias
    lesson["forward"](goal)
    lesson["backward"](goal, lesson["add"])
    assert [np.shape(node.grad) for node in (x, w, bias)] == [(1, 2), (2, 1), (1,)]


def test_a_bias_first_gets_a_row_for_each_sample_and_then_their_sum(lesson, shown, prose):
    assert lesson["broadcast"].answer == "twelve numbers, of shape (4, 3)"
    assert "b (3,)   b.grad (4, 3)" in shown
    assert "b.grad (3,) is the sum over the rows: True" in shown
    assert "the bias itself would have the shape (4, 3)" in prose
    assert (np.zeros(3) - 0.1 * lesson["twelve"]).shape == (4, 3)

@pytest.mark.parametrize("op", ["+", "-", "*", "/"])
def test_each_operator_has_the_slopes_that_nudging_finds(lesson, op):
    Node, made = lesson["Node"], {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
                                  "/": lambda a, b: a / b}[op]  # fmt: skip
    a, b = Node(1.7), Node(-0.6)
    goal = made(a, b)
    assert lesson["forward"](goal) == made(1.7, -0.6)
    lesson["backward"](goal, lesson["add"])
    moves = ((1e-6, 0), (0, 1e-6))
    found = [(made(1.7 + p, -0.6 + q) - made(1.7 - p, -0.6 - q)) / 2e-6 for p, q in moves]
    np.testing.assert_allclose([a.grad, b.grad], found, rtol=1e-7)


def test_the_engine_is_as_short_as_the_page_says(prose):
    cells = [code_of(start) for start in ("class Node", "def order_of", "def forward(goal)")]
    cells[-1] = cells[-1].replace(re.search(r"def keep.*\n.*\n", cells[-1]).group(), "")
    cells.append(code_of("def add(node, share):\n    node.grad = node.grad").split("\n\n")[0])
    lines = [line for cell in cells for line in cell.splitlines() if line.strip()]
    one = r"def __(?!init)|return Node\(op=|^ +(compute|shares)=lambda"
    operations = [line for line in lines if re.search(one, line)]
    assert "fewer than sixty lines, sixteen of them for the four operations" in prose
    assert 45 < len(lines) < 60
    assert len(operations) == 16
    later = [code_of("f, f_prime"), code_of("def add(node, share):\n    while").split("\n\n")[0]]
    short = code_of("def add(node, share):\n    node.grad = node.grad").split("\n\n")[0].splitlines()
    whole = len(lines) - len(short) + sum(bool(line.strip()) for cell in later for line in cell.splitlines())
    assert "in some seventy short lines" in prose
    assert 66 <= whole <= 75


def test_the_derivative_of_herons_loop_is_that_of_the_square_root(lesson, shown):
    assert lesson["program"].answer == "0.26"
    y1, x = 5, 9
    assert lesson["slopes"][1][1:] == pytest.approx((3.4, 0.5 * (0.5 + 1 / y1 - x / y1**2 * 0.5)))
    assert 1 / (2 * y1) == 0.1, "the second round alone"
    assert lesson["slopes"][0][1:] == (5, 0.5), "the first round makes (x + 1) / 2 of x"
    assert lesson["slopes"][0][1] == (9 + 1) / 2
    for value in (2.0, 9.0, 0.3):
        x = lesson["Node"](value)
        root = lesson["heron"](x, rounds=8)
        assert lesson["forward"](root) == pytest.approx(np.sqrt(value), rel=1e-12)
        lesson["backward"](root, lesson["add"])
        assert x.grad == pytest.approx(0.5 / np.sqrt(value), rel=1e-9)
    assert ["2", "3.400000", "0.260000"] in rows_of(shown)
    assert ["6", "3.000000", "0.166667"] in rows_of(shown)
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
    assert np.array_equal(lesson["by_hand"]["W"], dw)
    assert np.array_equal(lesson["by_hand"]["W2"], dw2)
    lesson["forward"](lesson["loss"])
    lesson["backward"](lesson["loss"], lesson["add"])
    assert np.array_equal(lesson["W"].grad, dw)
    assert np.array_equal(lesson["W2"].grad, dw2)
    assert "W  in every bit: True\nW2 in every bit: True" in shown


def test_gradients_of_the_library_graph_are_lesson_04s_in_every_bit(lesson_04, shown):
    x, y, w, w2, dw, dw2 = lesson_04
    w, w2 = graph.variable(w), graph.variable(w2)
    hidden = graph.apply("sigmoid", graph.apply("dense", graph.variable(x), w))
    goal = graph.apply("half_squared_sum", graph.apply("sigmoid", graph.apply("dense", hidden, w2)), y)
    graph.forward(goal)
    graph.backward(goal)
    assert np.array_equal(w.grad, dw)
    assert np.array_equal(w2.grad, dw2)
    assert "as by hand, in every bit: True" in shown


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


def test_without_the_sum_only_what_the_shared_node_was_computed_from_is_wrong(lesson, shown):
    assert set(lesson["wrong"]) == {"A", "Z", "W", "X"}
    assert "wrong weights: W\n" in shown


def test_without_the_sum_the_loss_of_the_skip_network_still_falls_only_more_slowly(lesson, shown, prose):
    right, wrong = lesson["curves"]["add"], lesson["curves"]["keep"]
    assert right[0] == wrong[0]
    assert wrong[200] < 0.5 * wrong[0]
    assert all(wrong[step] < wrong[step - 1] for step in (1, 10, 50, 100, 200))
    assert right[200] < wrong[200]
    for name, losses in (("add", right), ("keep", wrong)):
        assert [name, *(f"{losses[step]:.3f}" for step in (0, 10, 50, 200))] in rows_of(shown)
    assert "The loss falls in both, only more slowly in one" in prose


def test_an_input_that_is_used_twice_spoils_no_weight(lesson):
    """The answer of the second question."""
    rng, Node = np.random.default_rng(0), lesson["Node"]
    x, w, u, w2, y = (Node(rng.standard_normal(s)) for s in ((4, 2), (2, 3), (2, 1), (3, 1), (4, 1)))
    g = lesson["sigmoid"](x @ w) @ w2 + x @ u
    goal = lesson["half_squared_sum"](lesson["sigmoid"](g), y)
    lesson["forward"](goal)
    lesson["backward"](goal, lesson["add"])
    right = {node: node.grad for node in (x, w, u, w2)}
    lesson["backward"](goal, lesson["keep"])
    assert [np.allclose(node.grad, right[node]) for node in (x, w, u, w2)] == [False, True, True, True]


def test_one_visit_a_path_doubles_the_gradient(lesson, shown):
    lesson["backward"](lesson["double"], lesson["add"])
    node = next(n for n in lesson["order_of"](lesson["double"]) if n.name == "x")
    assert node.grad == 6
    lesson["backward"](lesson["double"], lesson["add"], lesson["order_by_path"])
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
    assert "50 walks forward, 1 backward: the same derivatives: True" in shown
    assert lesson["weights"] == sum(p.size for p in nn.Sequential(
        nn.Dense(784, 128, rng=np.random.default_rng(0)), nn.ReLU(), nn.Dense(128, 10, rng=np.random.default_rng(0)),
    ).parameters().values()) == 101_770  # fmt: skip
    row = " ".join(next(row for row in rows_of(shown) if row[:2] == ["one", "loss,"]))
    assert row == "one loss, by 101,770 weights 101,770 1"
    assert "784 pixels, by one dial for the brightness of all 1 784" in [" ".join(row) for row in rows_of(shown)]


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
    lesson["backward"](goal, lesson["add"])
    assert len(calls) == 2 * 3 + 3


# ------------------------------------------------------------------------------------------------ training, PyTorch


def test_the_own_engine_learns_moons_and_digits(lesson, prose, shown):
    assert lesson["share_of_moons"] > 0.95
    assert lesson["share_of_digits"] > 0.9
    assert "More than nine in ten, where guessing gets five" in prose
    assert re.search(r"moons:  (39\d|400) of 400 fresh points right\n", shown)
    assert re.search(r"digits: 1[89]\d of 200 fresh threes and eights right; guessing gets 100", shown)
    assert (lesson["truth"] == 0).sum() == (lesson["truth"] == 1).sum() == 100
    assert (lesson["seen"].sum(), lesson["unseen"].sum(), len(lesson["moons"][1])) == (800, 200, 400)


def test_no_straight_line_separates_the_moons(lesson):
    points, labels = lesson["moons"]
    ones = np.column_stack([points, np.ones(len(points))])
    best = np.linalg.lstsq(ones, 2.0 * labels - 1, rcond=None)[0]
    assert np.mean((ones @ best > 0) == labels) < 0.95


def test_forward_mode_is_confirmed_by_what_one_walk_finds(lesson):
    assert {np.size(found) for found in lesson["by_forward"]} == {1}
    assert lesson["modes"].answer == lesson["weights"] == 101_770


def test_pytorch_is_shown_and_never_imported():
    text = SCRIPT.read_text(encoding="utf-8")
    code = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    assert "# import torch" in text
    assert not re.search(r"^\s*(import|from) torch", code, re.MULTILINE)


def test_the_gradients_recorded_in_pytorch_are_the_lessons_own_and_stand_beside_them(lesson, shown):
    recorded = recorded_gradients()
    names = {"X": "X", "Y": "Y", "W": "W", "b": "b", "V": "V", "W2": "W2"}
    for name, value in recorded.inputs.items():
        assert np.array_equal(lesson[names[name]].value, value), f"{name} is not what PyTorch was given"
    assert recorded.inputs.keys() == names.keys()
    shown_on_page = {f"network, {name}": grad for name, grad in lesson["ours"].items()}
    by_engine = {"diamond, x": 16.0, "diamond, w": 21.0, "Heron, 6 rounds, x": lesson["slopes"][-1][2]}
    assert lesson["slopes"][-1][0] == 6
    assert recorded.gradients.keys() == (shown_on_page | by_engine).keys()
    for name, grad in recorded.gradients.items():
        own = (shown_on_page | by_engine)[name]
        assert np.shape(grad) == np.shape(own)
        np.testing.assert_allclose(own, grad, rtol=1e-13, atol=1e-15)
    for name, grad in lesson["ours"].items():
        first = f"{np.ravel(grad)[0]:.9f}"
        assert re.search(rf"^{re.escape(name)} +{first} +{first} +\d\.\de[-+]\d\d", shown, re.MULTILINE)
    assert f"Recorded with PyTorch {recorded.version} on {recorded.date}, in float64." in shown


def test_the_text_of_the_graph_in_pytorch_is_what_the_script_ran():
    text = SCRIPT.read_text(encoding="utf-8")
    shown_text = re.findall(r"^# ```python\n(.*?)^# ```$", text, re.DOTALL | re.MULTILINE)[0]
    script = (SCRIPT.parents[1] / "tools" / "record_torch.py").read_text(encoding="utf-8")
    ran = textwrap.dedent(script[script.index("    X, Y = torch") : script.index("    return {\"network, W\"")])
    assert re.sub("^# ?", "", shown_text, flags=re.MULTILINE) == ran


def test_a_chain_of_10_000_nodes_breaks_the_recursion_and_not_the_library(lesson, shown):
    deep, step = lesson["Node"](0.0), lesson["Node"](0.5)
    for _ in range(10_000):
        deep = deep + step
    with pytest.raises(RecursionError):
        lesson["order_of"](deep)
    assert "yours: RecursionError" in shown
    assert "the library's: 5000.0 from 10,002 nodes\ngradients: 1.0 and 10000.0" in shown


def test_backward_twice_doubles_and_zero_grad_forgets(lesson, shown):
    goal, w = lesson["goal"], lesson["w"]
    graph.zero_grad(goal)
    graph.backward(goal)
    once = w.grad.copy()
    graph.backward(goal)
    assert np.array_equal(w.grad, 2 * once)
    assert "second call, w by the first:      [2.]\nsecond call, hidden by the first: [1.]\n" in shown
    assert "after zero_grad, w by the first:  [1.]" in shown
    assert "two halves make the whole gradient: True" in shown
    text = next(line for line in shown.split("\n\n") if "parent.grad + g" in line)
    assert "if not node.is_leaf:\n        node.grad = None" in text, "the fold shows which gradients a call clears"
    assert "added to what they hold" not in text, "and not the words of its answer"


@pytest.mark.parametrize(("pieces", "loss"), [(2, "half_squared_sum"), (2, "quadratic_cost"), (4, "quadratic_cost")])
def test_pieces_of_a_sum_add_up_and_pieces_of_a_mean_are_too_large_by_their_number(lesson_04, pieces, loss, prose):
    x, y, w, *_ = lesson_04

    def gradient(rows):
        leaf = graph.variable(w)
        out = graph.apply("sigmoid", graph.variable(x[rows]) @ leaf)
        goal = graph.apply(loss, out, np.repeat(y[rows], 3, axis=1))
        graph.forward(goal)
        graph.backward(goal)
        return leaf.grad

    added = sum(gradient(np.arange(4)[k::pieces]) for k in range(pieces))
    times = pieces if loss == "quadratic_cost" else 1
    np.testing.assert_allclose(added, times * gradient(np.arange(4)), rtol=1e-12)
    assert "$p$ equal pieces give $p$ times the gradient" in prose


def test_the_gradient_of_a_sum_grows_with_the_samples(lesson, prose):
    points, _ = lesson["moons"]
    assert len(points) * 0.05 == pytest.approx(20)
    assert lesson["seen"].sum() == 2 * len(points)
    assert "With 400 points, 0.05 on the sum is the same step as 20 on the mean" in prose
    text = SCRIPT.read_text(encoding="utf-8")
    assert "lr=0.05, steps=500" in text
    assert "lr=0.003, steps=200" in text


def test_the_loss_knows_only_the_difference_of_output_and_target(lesson):
    lesson["forward"](lesson["loss"])
    lesson["backward"](lesson["loss"], lesson["add"])
    o, y = lesson["loss"].parents
    np.testing.assert_array_equal(y.grad, -o.grad)


def test_without_seen_a_node_is_listed_once_for_each_path_to_the_goal(lesson):
    """From it to the goal, not the other way: x has two paths to J, J itself has one."""
    x, w = lesson["Node"](3.0, "x"), lesson["Node"](2.0, "w")
    goal = (x * w) * (x + w)
    assert [lesson["order_by_path"](goal).count(node) for node in (x, w, *goal.parents, goal)] == [2, 2, 1, 1, 1]


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
    made = [lesson[name] for name in ("X", "W", "W2", "Y", "Z", "A", "V", "P", "H", "S", "G", "O", "skip_loss")]
    place = {node: i for i, node in enumerate(made)}
    assert set(place) == set(lesson["order_of"](lesson["skip_loss"]))
    assert all(place[parent] < place[node] for node in made for parent in node.parents)


def test_in_the_wrong_order_the_leaves_get_nothing(lesson):
    """The answer of "Try it": backward over the order itself."""
    x, w = lesson["Node"](3.0), lesson["Node"](2.0)
    goal = (x * w) * (x + w)
    lesson["forward"](goal)
    lesson["backward"](goal, lesson["add"], lambda goal: lesson["order_of"](goal)[::-1])
    assert (x.grad, w.grad) == (0, 0)
    assert [parent.grad for parent in goal.parents] == [5, 6]


@pytest.mark.parametrize(("shape", "axes"), [((1, 3), 0), ((1,), None), ((), None)])
def test_a_bias_of_another_shape_gets_the_sum_of_the_shares_that_it_stands_for(lesson, shape, axes):
    """The answer of "Try it"."""
    b, kept = lesson["b"], lesson["b"].value
    b.value = np.full(shape, 0.5) if shape else 0.5
    lesson["forward"](lesson["biased"])
    shares = []

    def receive(node, share):
        shares.extend([share] if node is b else [])
        lesson["add"](node, share)

    lesson["backward"](lesson["biased"], receive)
    assert np.shape(b.grad) == shape
    np.testing.assert_allclose(b.grad, np.reshape(np.sum(shares[0], axis=axes), shape))
    assert shares[0].shape == (4, 3)
    b.value = kept


def relu_of(lesson):
    def relu(z):
        return lesson["Node"](op="relu", parents=(z,), compute=lambda z: np.maximum(z, 0),
                              shares=lambda g, z: (g * (z > 0),))  # fmt: skip

    return relu


def slopes_to_both_sides(lesson, goal, node, place):
    """The change of the goal by a millionth of one number, to the right and to the left, divided by it."""
    kept, at, ends = node.value, lesson["forward"](goal), []
    for sign in (1e-6, -1e-6):
        node.value = kept.copy()
        node.value[place] += sign
        ends.append((lesson["forward"](goal) - at) / sign)
    node.value = kept
    lesson["forward"](goal)
    return ends


def test_a_relu_in_place_of_the_second_sigmoid_has_the_measured_gradients(lesson):
    """The answer of "Try it", its first half."""
    h = relu_of(lesson)(lesson["A"] @ lesson["V"])
    goal = lesson["half_squared_sum"](lesson["sigmoid"]((lesson["A"] + h) @ lesson["W2"]), lesson["Y"])
    lesson["forward"](goal)
    lesson["backward"](goal, lesson["add"])
    found = {name: lesson[name].grad for name in ("W", "V", "W2")}
    for name, gradient in found.items():
        for place in np.ndindex(gradient.shape):
            measured = np.mean(slopes_to_both_sides(lesson, goal, lesson[name], place))
            assert gradient[place] == pytest.approx(measured, rel=1e-5, abs=1e-9)


def test_a_relu_in_place_of_the_first_sigmoid_stands_on_its_corner(lesson, prose):
    """The answer of "Try it", its second half: the engine gives one of two slopes, a central difference their mean."""
    z = lesson["X"] @ lesson["W"]
    a = relu_of(lesson)(z)
    s = a + lesson["sigmoid"](a @ lesson["V"])
    goal = lesson["half_squared_sum"](lesson["sigmoid"](s @ lesson["W2"]), lesson["Y"])
    lesson["forward"](goal)
    assert (lesson["X"].value[3] == 1).all()
    assert z.value[3, 0] == 0
    lesson["backward"](goal, lesson["add"])
    found = lesson["W"].grad[0, 0]
    right, left = slopes_to_both_sides(lesson, goal, lesson["W"], (0, 0))
    assert found == pytest.approx(left, abs=1e-5)
    numbers = [f"{v:.4f}".replace("-", "−") for v in (found, (right + left) / 2, right, left)]
    assert "the engine finds {} for `W[0, 0]`, and a nudge to both sides {}.".format(*numbers[:2]) in prose
    assert "To the right the slope is {}, to the left {};".format(*numbers[2:]) in prose
    assert z.value[0].tolist() == [0, 0, 0]  # the sample (0, 0), which no nudge moves
    assert not lesson["X"].value[0].any()
    assert z.value[3].tolist() == [0, -1, 0]  # the third column too, and not the second
    for row in range(2):
        for column, corner in ((0, True), (1, False), (2, True)):
            right, left = slopes_to_both_sides(lesson, goal, lesson["W"], (row, column))
            assert bool(abs(right - left) > 1e-3) is corner


def test_the_sheets_hints_point_to_sections_of_this_page():
    headings = re.findall(r"^# ## (.+)$", SCRIPT.read_text(encoding="utf-8"), re.MULTILINE)
    assert [one.section for one in sheet("05_computation_graph").exercises if one.section not in headings] == []
