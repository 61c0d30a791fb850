"""What a student meets who uses the executor in earnest. Of a test marked xfail, the reason says what is wrong."""

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import simt
from course_lib.simt.show.compare import compare


def product(A, B, C):
    col, row = cuda.grid(2)
    acc = float32(0)
    for k in range(A.shape[1]):
        acc += A[row, k] * B[k, col]
    C[row, col] = acc


def serial_sum(x, out):
    acc = float32(0)
    for i in range(x.size):
        acc += x[i]
    out[0] = acc


def exponential(x, out):
    i = cuda.grid(1)
    out[i] = np.exp(x[i])


def forgets_x(x):
    x[cuda.blockIdx * cuda.blockDim + cuda.threadIdx] = 1


def two_of_one(x):
    i, j = cuda.grid(1)
    x[j] = i


def misspelt(x):
    x[idx] = 1  # noqa: F821


def square(a=None):
    a = np.ones((32, 32), np.float32) if a is None else a
    return simt.run(product, (2, 2), (16, 16), (a, a, np.zeros((32, 32), np.float32)))


def message(kernel, *arguments):
    with pytest.raises(simt.KernelError) as info:
        simt.run(kernel, 1, 1, arguments)
    return str(info.value)


def test_versions_that_cost_the_same_have_no_better_side():
    assert "<-" not in str(compare(square(), square()))


def test_comparing_without_counts_says_both_reasons():
    plain = simt.run(serial_sum, 1, 1, (np.ones(3, np.float32), np.zeros(1, np.float32)), counters=False)
    with pytest.raises(ValueError, match="did anything, or it ran with counters=False"):
        compare(plain, plain)


def test_an_array_that_is_passed_twice_keeps_its_shape():
    assert square().arrays["A and B"].shape == (32, 32)


def test_a_long_loop_is_told_what_to_do_if_it_is_only_long():
    x = np.ones(10_000, np.float32)
    with pytest.raises(simt.KernelError) as info:
        simt.run(serial_sum, 1, 1, (x, np.zeros(1, np.float32)), steps=1_000)
    assert "within 1,000 steps" in str(info.value)
    assert "If the loop is only long, take a smaller size" in str(info.value)


def test_a_function_of_numpy_leads_to_the_one_of_math():
    x = np.ones(1, np.float32)
    assert "math.exp" in message(exponential, x, x.copy())


def test_an_index_without_x_is_recognised():
    assert "cuda.blockIdx.x" in message(forgets_x, np.ones(1, np.float32))


def test_two_names_for_grid_of_one_lead_to_grid_of_two():
    assert "cuda.grid(2)" in message(two_of_one, np.ones(1, np.float32))


def test_a_misspelt_name_is_called_undefined():
    assert "not defined" in message(misspelt, np.ones(1, np.float32))


def before_the_first(x):
    x[0] = x[-4]


def test_an_index_far_below_0_is_guarded_from_below():
    with pytest.raises(simt.HazardFound) as info:
        simt.run(before_the_first, 1, 1, (np.ones(3, np.float32),))
    assert "0 <=" in str(info.value)


def test_a_memory_map_in_a_terminal_is_its_text():
    assert repr(square(np.ones((32, 32), np.float32)).memory_map()).count("%20") == 0
