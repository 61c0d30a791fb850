"""Operations of a kernel's text are sorted into classes: a known number costs nothing, one of the launch does."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.estimate.class_costs import COSTS
from course_lib.simt.estimate.classes import CLASSES, classes_of

N = 64
IMPORTS = "import math", "import operator", "from numba import cuda, float32"
DEVICE = "@cuda.jit(device=True)\ndef shared(v, n):\n    return v // n\n\n\n"


def classes(body, **names):
    """The classes of a warp of `kernel(x, y)`, x and y (N, N) float32, 32 threads."""
    lines = "\n".join(f"    {line}" for line in ("t = cuda.threadIdx.x", *body))
    text = f"{DEVICE}@cuda.jit\ndef kernel(x, y):\n{lines}\n"
    source = simt.read(text, "kernel", names=names, imports=IMPORTS, skip=True)
    report = simt.run(source, 1, 32, (np.ones((N, N), np.float32), np.zeros((N, N), np.float32)), on_error="collect")
    return classes_of(source, report, 1)


@pytest.mark.parametrize(
    ("index", "name"),
    [("t // 8", "power"), ("t // 5", "constant"), ("t // STEP", "constant"), ("t // x.shape[0]", "divided"),
     ("t % 16", "power"), ("t % 7", "constant"), ("t % y.shape[1]", "divided"), ("t * x.shape[0]", "multiply")],
)  # fmt: skip
def test_a_division_has_the_class_of_what_it_divides_by(index, name):
    found = classes([f"i = {index}", "y[i % 2, t] = x[t, t]"], STEP=12)
    assert found[name] == (2 if name == "power" else 1)


def test_what_the_text_says_costs_nothing():
    found = classes(["for k in range(4):", "    y[STEP // 3 + k % 2, t] = x[k * 3 // 2, t]"], STEP=12)
    assert found["constant"] == found["power"] == found["multiply"] == found["turn"] == 0


def test_quotient_and_remainder_are_one_division():
    found = classes(["a, b = t // y.shape[0], t % y.shape[0]", "y[a, b] = x[a, b]"])
    assert found["divided"] == 1


HIDDEN = {
    "a lambda": (["f = lambda v: v // y.shape[0]"], "f(t + k)"),
    "an inner function": (["def f(v):", "    return v // y.shape[0]"], "f(t + k)"),
    "a device function": ([], "shared(t + k, y.shape[0])"),
    "divmod": ([], "divmod(t + k, y.shape[0])[0]"),
    "operator": ([], "operator.floordiv(t + k, y.shape[0])"),
}


@pytest.mark.parametrize("form", HIDDEN)
def test_a_division_is_found_in_every_form(form):
    before, index = HIDDEN[form]
    found = classes([*before, "for k in range(x.shape[0]):", f"    y[{index}, k] = x[0, t]"])
    assert found["divided"] == N


def test_a_division_of_floating_point_numbers_is_no_multiply_add_alone():
    body = ["for k in range(x.shape[0]):", "    y[int(float32(t + k) / float32(y.shape[0])), k] = x[0, t]"]
    assert classes(body)["special"] == N


def test_a_name_that_is_given_anew_is_divided_anew():
    found = classes(["k = t + 1", "a = k // y.shape[0]", "k = t + 2", "b = k // y.shape[0]", "y[a, t] = x[b, t]"])
    assert found["divided"] == 2


def test_what_does_not_change_in_a_loop_is_computed_before_it():
    found = classes(["for k in range(x.shape[0]):", "    y[t % x.shape[0], k] = x[t // 5, k]"])
    assert found["divided"] == found["constant"] == 1
    assert found["turn"] == N
    assert found["address"] < 3 * N  # the rows' are


def test_a_division_by_what_may_be_0_stays_behind_its_guard():
    body = ["for k in range(4):", "    if x[k, t] > float32(0):", "        y[t // DIVISOR, k] = x[k, t]"]
    for divisor, name, times in (("y.shape[0]", "divided", 4), ("5", "constant", 1)):
        assert classes([line.replace("DIVISOR", divisor) for line in body])[name] == times


def test_a_long_loop_of_known_length_stays_a_loop():
    assert classes(["for k in range(40):", "    y[k, t] = x[k, t]"])["turn"] == 40
    assert classes(["for k in range(4):", "    y[k, t] = x[k, t]"])["turn"] == 0


def test_a_range_with_a_step_from_a_thread_on_has_a_length_to_divide():
    assert classes(["for k in range(t, 64, 32):", "    y[k, t] = x[k, t]"])["range"] == 1


def test_an_array_of_ones_own_costs_where_its_place_is_not_known_before():
    sums = ["own = cuda.local.array(8, float32)", "for k in range(8):", "    own[k] = x[k, t]", "y[0, t] = own[3]"]
    known = classes(sums)["access"]
    assert classes([*sums[:-1], "y[0, t] = own[t % 8]"])["access"] == known + 1


def test_multiply_adds_count_for_a_warp_also_where_half_of_it_is_idle():
    body = ["if t < 16:", "    y[0, t] += x[0, t] * x[1, t]"]
    assert classes(body)["fma"] == 1


@pytest.mark.parametrize("body", [
    ["z = 1 << 62 << 62 << 62", "y[0, t] = x[0, t]"],
    ["for k in range(0, 9000000000000000000, 4500000000000000000):", "    y[0, t] = x[0, t]"],
    ["k = 0", "while k < x.shape[0]:", "    k += 1", "    if k > 9:", "        break", "y[0, t] = x[0, t]"],
    ["s = 0.0", "for row in x:", "    s += row[t]", "y[0, t] = s"],
    ["for a, b in zip(range(4), (1, 2, 3, 4)):", "    y[a, t] = x[b, t]"],
    ["f = lambda v: v // 3", "y[0, f(t)] = x[0, t]"],
    ["y[0, t] = math.sqrt(x[0, t]) if t > 3 else min(x[0, t], x[1, t])"],
])  # fmt: skip
def test_all_that_the_executor_takes_has_classes(body):
    found = classes(body)
    assert set(found) == set(CLASSES) == set(COSTS)
    assert all(np.isfinite(n) and n >= 0 for n in found.values())


def test_deep_nests_are_read_in_a_moment():
    body = [f"{'    ' * d}for k{d} in range(1):" for d in range(18)] + ["    " * 18 + "y[0, t] = x[0, t]"]
    assert classes(body)["turn"] == 0
