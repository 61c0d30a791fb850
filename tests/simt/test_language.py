"""Every construct that a kernel may use gives what Python gives, thread by thread."""

import numpy as np
import pytest
from numba import cuda

from course_lib import simt
from course_lib.simt.evaluate import Evaluator
from tests.simt import kernels, plain
from tests.simt.text import function

ELEMENTWISE = [
    kernels.if_elif_else, kernels.while_per_lane, kernels.for_one_argument, kernels.for_two_arguments,
    kernels.for_three_arguments, kernels.for_step_per_lane, kernels.for_keeps_its_variable,
    kernels.for_variable_changed_inside, kernels.for_else, kernels.break_per_lane, kernels.continue_per_lane,
    kernels.return_per_lane, kernels.nested_loops, kernels.break_in_while_in_for, kernels.chained_comparison,
    kernels.and_short_circuit, kernels.or_short_circuit, kernels.and_or_not, kernels.conditional_expression,
    kernels.tuples, kernels.augmented, kernels.chained_assignment, kernels.annotated, kernels.unary,
    kernels.floor_division_and_remainder, kernels.stride_loop, kernels.stride_while, kernels.casts,
    kernels.min_max_abs, kernels.local_array, kernels.local_array_2d, kernels.globals_as_constants,
    kernels.docstring_and_pass, kernels.attributes_of_arrays, kernels.variable_from_both_branches,
]  # fmt: skip


@pytest.mark.parametrize("size", [1, 3, 9, 40])
@pytest.mark.parametrize("kernel", ELEMENTWISE, ids=lambda k: k.__name__)
def test_construct_gives_what_python_gives(kernel, size):
    a = np.random.default_rng(size).integers(-5, 6, size)
    ours, python = np.full(size, -99), np.full(size, -99)
    block = 4
    grid = -(-size // block) + 1  # a block to spare, so that every guard is used
    report = simt.run(kernel, grid, block, (a, ours))
    plain.run(kernel, grid, block, (a, python))
    np.testing.assert_array_equal(ours, python)
    assert report.hazards == []


def test_name_that_a_loop_sets_after_it_is_read_in_loops_inside_has_its_type():
    kernel = function("""
        def kernel(out):
            for a in range(3):
                for b in range(3):
                    for c in range(3):
                        if a > 0:
                            out[0] += late
                late = 2.5
    """)
    out = np.zeros(1)
    simt.run(kernel, 1, 1, (out,))
    assert out == 2 * 9 * 2.5


def test_type_that_goes_from_name_to_name_takes_a_turn_for_each():
    kernel = function("""
        def kernel(out):
            x = y = z = 1
            for turn in range(4):
                for _ in range(1):
                    out[turn] = x / 4 + (x >> 0 if turn < 0 else 0)
                x = y
                y = z
                z = 0.5
    """)
    with pytest.raises(simt.KernelError, match="line 5: Numba has no >> for float64, int64"):  # x, from turn 2 on
        simt.run(kernel, 1, 1, (np.zeros(4),))


@pytest.mark.parametrize("block", [1, 32, 33, 100])
@pytest.mark.parametrize("kernel", [kernels.nested_loops, kernels.return_per_lane, kernels.stride_loop])
def test_result_does_not_depend_on_the_block_size(kernel, block):
    a = np.arange(100) % 11 - 5
    ours, python = np.full(100, -99), np.full(100, -99)
    simt.run(kernel, -(-100 // block), block, (a, ours))
    plain.run(kernel, 100, 1, (a, python))
    np.testing.assert_array_equal(ours, python)


@pytest.mark.parametrize(
    ("kernel", "grid", "block", "shape"),
    [
        (kernels.numbering, 3, 5, (15,)),
        (kernels.grid_2d, (2, 3), (4, 2), (5, 7)),
        (kernels.grid_2d, 1, (8, 8), (8, 8)),
        (kernels.grid_3d, (2, 1, 3), (2, 3, 2), (5, 3, 3)),
    ],
)
def test_threads_and_blocks_are_numbered_as_on_a_gpu(kernel, grid, block, shape):
    ours, python = np.full(shape, -1), np.full(shape, -1)
    simt.run(kernel, grid, block, (ours,))
    plain.run(kernel, grid, block, (python,))
    np.testing.assert_array_equal(ours, python)


BASE = np.arange(96.0).reshape(8, 12)
LAYOUTS = {
    "fortran": np.asfortranarray(BASE),
    "transposed": BASE.T,
    "every second row and third column": BASE[::2, 1::3],
    "rows reversed": BASE[::-1],
    "both reversed": BASE[::-2, ::-1],
    "one column": BASE[:, 3:4],
    "broadcast": np.broadcast_to(BASE[0], (4, 12)),
    "empty": BASE[:0],
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("kernel", [kernels.copy_2d])
def test_layout_of_an_input_does_not_matter(kernel, name):
    A = LAYOUTS[name]
    out = np.full(A.shape, np.nan)
    simt.run(kernel, (3, 3), (4, 4), (A, out))
    np.testing.assert_array_equal(out, A)


@pytest.mark.parametrize("name", [n for n in LAYOUTS if n != "broadcast"])
def test_layout_of_an_output_does_not_matter_and_nothing_beside_it_is_touched(name):
    base = np.zeros((8, 12))
    out = {
        "fortran": np.zeros((8, 12), order="F"), "transposed": base.T, "rows reversed": base[::-1],
        "every second row and third column": base[::2, 1::3], "both reversed": base[::-2, ::-1],
        "one column": base[:, 3:4], "empty": base[:0],
    }[name]  # fmt: skip
    A = np.arange(1.0, out.size + 1).reshape(out.shape)
    simt.run(kernels.copy_2d, (3, 3), (4, 4), (A, out))
    np.testing.assert_array_equal(out, A)
    if out.base is not None:
        assert np.count_nonzero(base) == out.size


def test_read_only_array_can_be_read_and_not_written():
    A = np.arange(4.0).reshape(2, 2)
    A.flags.writeable = False
    out = np.zeros((2, 2))
    simt.run(kernels.copy_2d, 1, (2, 2), (A, out))
    np.testing.assert_array_equal(out, A)
    with pytest.raises(simt.KernelError, match=r"is read-only"):
        simt.run(kernels.copy_2d, 1, (2, 2), (out, A))


def test_negative_index_counts_from_the_end_and_is_a_finding():
    a, out = np.arange(4), np.zeros(4, int)
    report = simt.run(kernels.last_element, 1, 4, (a, out), on_error="collect")
    np.testing.assert_array_equal(out, [3, 2, 1, 0])
    assert [h.kind for h in report.hazards] == ["negative index"]


def test_row_of_an_array_is_an_array():
    A, out = np.arange(12).reshape(3, 4), np.zeros((3, 4), int)
    simt.run(kernels.rows, 1, (4, 4), (A, out))
    np.testing.assert_array_equal(out, 2 * A)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mathematics_agrees_with_the_module_math(dtype):
    a = np.linspace(0.1, 3, 17).astype(dtype)
    ours, python = np.zeros((17, 17)), np.zeros((17, 17))
    simt.run(kernels.mathematics, 2, 10, (a, ours))
    plain.run(kernels.mathematics, 2, 10, (a, python))
    np.testing.assert_allclose(ours, python, rtol=16 * np.finfo(dtype).eps)


def test_atomics_lose_nothing_and_return_a_value_that_was_there():
    a = np.random.default_rng(1).integers(-9, 10, 70)
    out, old = np.array([0, 0, -100, 100]), np.zeros(70, int)
    simt.run(kernels.atomics, 3, 32, (a, out, old))
    np.testing.assert_array_equal(out, [a.sum(), -a.sum(), a.max(), a.min()])
    assert sorted(np.r_[old + a, 0]) == sorted(np.r_[old, a.sum()])  # each began where another one ended


def test_scalars_and_closures_are_constants():
    closure = function(
        """
        def make(factor, pair):
            def kernel(a, s, out):
                i = cuda.grid(1)
                out[i] = a[i] * factor + pair[1] + s
            return kernel
        """,
        name="make",
    )(3, (10, 20))
    out = np.zeros(4)
    simt.run(closure, 1, 4, (np.arange(4.0), 0.5, out))
    np.testing.assert_array_equal(out, np.arange(4.0) * 3 + 20.5)


def test_chained_comparison_stops_at_the_first_that_fails():
    kernel = function("""
        def kernel(a, out):
            i = cuda.grid(1)
            if -1 < i < out.size and 0 <= i < a[i]:
                out[i] = 1
    """)
    out = np.zeros(3, int)
    simt.run(kernel, 1, 8, (np.array([5, 0, 5]), out))
    np.testing.assert_array_equal(out, [1, 0, 1])


device = cuda.jit(device=True)


def clamp(x, low, high):
    if x < low:
        return low
    while x > high:
        x -= 2
        if x == 4:
            return 100
    return x


def swap(x, y):
    return y, x


def write_twice(out, i, x):
    if x < 0:
        return
    out[i] = 2 * x


def test_device_function_returns_per_lane_and_may_write_and_return_tuples():
    kernel = function(
        """
        def kernel(a, out):
            i = cuda.grid(1)
            if i < a.size:
                x = clamp(a[i], 0, 3)
                y, x = swap(x, i)
                out[0, i] = y
                out[1, i] = x
                write_twice(out[2], i, a[i])
        """,
        clamp=device(clamp), swap=device(swap), write_twice=device(write_twice),
    )  # fmt: skip
    a, out = np.array([-2, 3, -1, 5, 6, 7]), np.full((3, 6), -9)
    simt.run(kernel, 1, 8, (a, out))
    np.testing.assert_array_equal(out[0], range(6))
    np.testing.assert_array_equal(out[1], [clamp(x, 0, 3) for x in a])
    np.testing.assert_array_equal(out[2], np.where(a < 0, -9, 2 * a))


def test_recursion_of_a_device_function_is_bounded():
    def text(n):
        return function(f"def kernel(out):\n    out[0] = down({n})", down=down)

    down = device(function("def down(x):\n    return down(x - 1) + 1 if x > 0 else 0", name="down"))
    down.py_func.__globals__["down"] = down
    out = np.zeros(1)
    simt.run(text(5), 1, 1, (out,))
    assert out[0] == 5
    with pytest.raises(simt.KernelError, match="16 deep") as raised:
        simt.run(text(100_000), 1, 1, (out,))
    assert raised.value.line == 2


def test_function_that_is_not_marked_is_refused():
    kernel = function("def kernel(out):\n    out[0] = clamp(1, 2, 3)", clamp=clamp)
    with pytest.raises(simt.KernelError, match="clamp") as raised:
        simt.run(kernel, 1, 1, (np.zeros(1),))
    assert raised.value.line == 2


def test_types_are_known_by_nodes_that_last(monkeypatch):
    nodes, variable = {}, Evaluator._variable

    def noted(self, node, mask):
        nodes.setdefault((node.id, node.lineno, node.col_offset), set()).add(node)
        return variable(self, node, mask)

    monkeypatch.setattr(Evaluator, "_variable", noted)
    text = """
    def kernel(out):
        step = 2

        def moved(v):
            return v + step

        for k in range(3):
            out[k] = moved(k) + moved(step)
    """
    out = np.zeros(3)
    simt.run(function(text), 1, 1, (out,))
    np.testing.assert_array_equal(out, [6, 7, 8])
    assert {len(each) for each in nodes.values()} == {1}  # one made anew may get the id, and the type, of another
