"""The sizes at which readers' kernels went wrong without a word are found, and told the smallest first."""

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import gpu
from course_lib.cuda.sizes import prime_above, sizes_to_try


@gpu.jit
def doubled(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]


@gpu.jit
def unguarded(x, out):
    i = cuda.grid(1)
    out[i] = 2 * x[i]


@gpu.jit
def product(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        acc = float32(0)
        for k in range(cuda.gridDim.x * cuda.blockDim.x):  # of the grid, not of a
            if k < a.shape[1]:
                acc += a[row, k] * b[k, col]
        c[row, col] = acc


@gpu.jit
def added(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, i % out.size, x[i])


def make(n):
    return np.arange(n, dtype=np.float32), np.empty(n, np.float32)


def twice(x):
    return 2 * x


def blocks(n, threads=16):
    return -(-n // threads), threads


def test_a_kernel_that_is_right_at_15_is_found_wrong_at_30():
    def run(n):
        x, out = gpu.to_device(np.arange(n, dtype=np.float32)), gpu.empty(n, np.float32)
        doubled[1, 16](x, out)
        return gpu.to_host(out), 2 * np.arange(n)

    table = gpu.try_sizes(run, sizes=(15, 30))
    assert table.smallest == 30
    assert (table[15].verdict, table[30].verdict) == ("right", "wrong value")
    assert (table[30].index, table[30].expected) == ((16,), 32)
    assert gpu.try_sizes(run, tile=16).smallest == 17


def test_a_right_kernel_is_right_at_all_sizes():
    table = gpu.try_sizes(doubled, make=make, expected=twice, launch=blocks, tile=16)
    assert table.smallest is None
    assert table.failing == []
    assert {r.verdict for r in table.results} == {"right"}
    assert "is right at all 13 sizes" in str(table)


@pytest.mark.skipif(gpu.device_name() != "SIMT executor (no GPU)", reason="a GPU looks for no hazards")
def test_a_missing_guard_is_a_finding_where_the_values_are_right():
    table = gpu.try_sizes(unguarded, make=make, expected=twice, launch=blocks, tile=16)
    assert table.smallest == 1
    assert table[17].finding == "out of bounds"
    assert {r.size for r in table.results if r.verdict == "right"} == {16, 32, 48}


def test_a_grid_that_is_rounded_down_is_refused_and_wrong():
    table = gpu.try_sizes(doubled, make=make, expected=twice, launch=lambda n: (n // 16, 16), tile=16)
    assert table[1].verdict == "refused"
    assert "To round up" in table[1].words
    assert table[17].verdict == "wrong value"
    assert np.isnan(table[17].got)
    assert "as if nobody wrote it" in table[17].words


def test_a_loop_as_long_as_the_grid_is_wrong_where_the_inner_side_is_longer():
    def operands(m, n, k):
        rng = np.random.default_rng(1)
        whole = rng.integers(1, 4, (m, k)), rng.integers(1, 4, (k, n)), np.zeros((m, n))
        return tuple(a.astype(np.float32) for a in whole)

    def launch(m, n, k):
        return (-(-n // 8), -(-m // 8)), (8, 8)

    table = gpu.try_sizes(product, make=operands, expected=np.matmul, launch=launch, tile=8)
    _, n, k = table.smallest
    assert k > 8 * -(-n // 8)
    assert all(r.verdict == "right" for r in table.results if r.size[2] <= 8 * -(-r.size[1] // 8))


def test_pairs_are_tried_for_functions_of_two_sizes():
    seen = []

    def run(rows, cols):
        seen.append((rows, cols))
        return np.zeros((rows, cols)), np.zeros((rows, cols))

    table = gpu.try_sizes(run, tile=(4, 8))
    assert table.smallest is None
    assert seen == sizes_to_try(2, (4, 8))
    assert sum(r != c for r, c in seen) > len(seen) / 2
    assert {(4, 8), (3, 8), (5, 7), (9, 8), (4, 17), (1, 1)} <= set(seen)


def test_sizes_of_one_axis_stand_around_the_multiples():
    assert sizes_to_try(1, 32) == [1, 2, 3, 31, 32, 33, 63, 64, 65, 95, 96, 97, 101]
    assert (prime_above(97), prime_above(0), prime_above(24)) == (101, 2, 29)


def test_a_kernel_that_adds_to_its_output_is_given_zeros():
    def place(n):
        return np.ones(n, np.float32), np.empty(1, np.float32)

    table = gpu.try_sizes(added, make=place, expected=lambda x: x.sum(keepdims=True), launch=blocks, fill=0, tile=16)
    assert table.smallest is None


def test_the_output_may_be_named_and_stand_anywhere():
    @gpu.jit
    def out_first(y, x):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = 2 * x[i]

    def other(n):
        return make(n)[::-1]

    for out in ("y", 0):
        table = gpu.try_sizes(out_first, (5, 40), make=other, expected=twice, launch=blocks, out=out)
        assert table.smallest is None


def test_a_function_that_launches_is_given_device_arrays():
    def launcher(x, out):
        doubled[blocks(x.size)](x, out)

    assert gpu.try_sizes(launcher, make=make, expected=twice, tile=16).smallest is None


def test_what_make_returned_is_not_changed_and_a_wrong_shape_is_told():
    table = gpu.try_sizes(doubled, (4,), make=make, expected=lambda x: x[1:], launch=blocks)
    assert table[4].words == "the output has shape (4,), expected (3,)"


def test_an_error_of_the_readers_own_comes_through_with_the_size():
    def run(n):
        raise ZeroDivisionError("n - 1")

    with pytest.raises(ZeroDivisionError) as caught:
        gpu.try_sizes(run, sizes=(1,))
    assert caught.value.__notes__ == ["This happened at size 1."]


@pytest.mark.parametrize(("given", "named", "message"), [
    (doubled, {}, "is a kernel: say which arguments"),
    (doubled, {"make": make, "expected": twice}, "is a kernel: say which arguments"),
    (make, {"make": make}, "got make alone"),
    (make, {"make": make, "expected": twice, "launch": (1, 16)}, "leave launch out"),
    (3, {}, "got a int"),
    (lambda: 0, {}, "takes 0 sizes"),
    (lambda *n: 0, {}, "takes 1 sizes; it must be one"),
    (make, {"sizes": ()}, "sizes is empty"),
    (make, {"sizes": (1, -1)}, "-1 is no size"),
    (make, {"sizes": ((1, 2), (1, 2, 3))}, "is no size of 2 axes"),
    (make, {"tile": 1}, "tile is 1; it must be >= 2"),
    (lambda n: 3, {"sizes": (1,)}, "it must return"),
    (doubled, {"make": make, "expected": twice, "launch": blocks, "out": "z"}, "has the parameters x, out"),
])  # fmt: skip
def test_what_cannot_be_tried_is_said(given, named, message):
    with pytest.raises((TypeError, ValueError), match=message):
        gpu.try_sizes(given, **named)


def test_the_table_shows_the_smallest_failing_size_first_and_escapes():
    def run(n):
        if n == 3:
            raise ValueError("<b>three</b>")
        return np.zeros(n), np.ones(n) * (n == 2)

    table = gpu.try_sizes(run, sizes=(1, 2, 3, 4))
    html = table._repr_html_()
    assert "<b>three" not in html
    assert html.index(">2</td>") < html.index(">3</td>") < html.index(">1</td>") < html.index(">4</td>")
    assert [line.split()[0] for line in str(table).splitlines()[3:]] == ["2", "3", "1", "4"]
    with pytest.raises(KeyError, match="size 9 was not tried"):
        table[9]
