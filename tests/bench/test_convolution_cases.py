"""Before unrolling is timed, each way of doing it is compared with another one, and a matrix with gaps is noticed."""

import numpy as np
import pytest

from course_lib import gpu, reference
from course_lib.cuda.choice import SIMT
from course_lib.cuda.device import choice
from course_lib.simt.machine import HazardFound
from tools import convolution_cases, register_product

pytestmark = pytest.mark.skipif(choice().device != SIMT, reason="tiny sizes, for the SIMT executor")

LAYER = (3, 2, 6, 6), (4, 2, 3, 3), 1, 2
"""The last of the two chunks is half a chunk."""


def test_the_parts_of_a_layer_are_timed_whole_in_chunks_and_each_alone():
    assert set(convolution_cases.unrolled(*LAYER)) == {
        "in thought",
        "in thought, with registers",
        "elements",
        "columns",
        *(name.replace("product", product) for product in ("product", "product with registers") for name in (
            "elements, then product",
            "columns, then product",
            "product alone",
            "columns, then product, 2 images at a time",
            "product alone, 2 images at a time",
        )),
    }  # fmt: skip
    assert not [name for name in convolution_cases.unrolled(*LAYER[:3]) if "at a time" in name]


SIZES = [(2, 1, 9, 7, 3, 6), (1, 3, 6, 11, 2, 17), (3, 2, 5, 5, 5, 4)]
"""B, C, H, W, K, M: more columns than a tile, more maps than a tile, one place of the mask."""


@pytest.mark.parametrize("sizes", SIZES)
def test_indices_of_32_bits_lead_to_the_same_matrix_and_the_same_layer(sizes):
    B, C, H, W, K, M = sizes
    rng = np.random.default_rng(3)
    x, w = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((B, C, H, W), (M, C, K, K)))
    right = reference.im2col(x, K)
    y, _ = reference.conv2d_forward(x, w)
    for name, call_of in (("unroll_elements", 0), ("unroll_columns", 0), ("implicit", 1)):
        found = [gpu.to_device(np.full(shape, np.nan, np.float32)) for shape in (right.shape, (B, M, right.shape[2]))]
        calls = convolution_cases.in_32_bits(gpu.to_device(x), gpu.to_device(w.reshape(M, -1)), K, *found)
        calls[f"{name}, 32 bits"]()
        expected = (right, y.reshape(B, M, -1))[call_of]
        np.testing.assert_array_equal(gpu.to_host(found[call_of]), expected, err_msg=name)


@pytest.mark.parametrize("M", [3, 11, 20, 40])
def test_a_product_with_sums_in_registers_is_that_of_the_matrices(M):
    rng = np.random.default_rng(4)
    rows, cols = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((M, 10), (3, 10, 45)))
    y = gpu.to_device(np.full((4, M, 45), np.nan, np.float32))
    register_product.rows_times_cols(gpu.to_device(rows), gpu.to_device(cols), 1, y)
    np.testing.assert_array_equal(gpu.to_host(y)[1:], rows @ cols)
    assert np.isnan(gpu.to_host(y)[0]).all()


@pytest.mark.parametrize("kernel", ["_im2col", "_im2col_by_elements", "_rows_times_cols"])
def test_a_kernel_that_leaves_something_out_is_not_timed(kernel, monkeypatch):
    whole = getattr(convolution_cases, kernel)

    class Shorter:
        def __getitem__(self, configuration):
            grid, block = configuration
            fewer = (grid[0] - 1, *grid[1:]) if isinstance(grid, tuple) else grid - 1
            return whole[fewer, block] if (fewer[0] if isinstance(fewer, tuple) else fewer) else lambda *arguments: None

    monkeypatch.setattr(convolution_cases, kernel, Shorter())
    with pytest.raises((AssertionError, HazardFound), match=r"then product|nobody has written"):
        convolution_cases.unrolled(*LAYER)


def test_a_product_with_registers_that_leaves_out_an_image_is_not_timed(monkeypatch):
    whole = register_product.rows_times_cols
    monkeypatch.setattr(
        register_product, "rows_times_cols", lambda rows, cols, first, y: whole(rows, cols[:-1], first, y)
    )
    with pytest.raises((AssertionError, HazardFound), match=r"then product with registers|nobody has written"):
        convolution_cases.unrolled(*LAYER[:3])
