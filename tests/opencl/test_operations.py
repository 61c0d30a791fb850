"""OpenCL's kernels give the reference's results, on every device that there is, for the sizes of the CUDA ladders."""

import itertools

import numpy as np
import pytest

from course_lib import opencl, reference
from course_lib.checks.tolerance import product_tolerance
from course_lib.opencl.operations import PRODUCTS, TRANSPOSES

RAGGED = [(1, 1), (1, 40), (40, 1), (7, 13), (17, 5), (33, 65), (64, 64), (4, 8)]
"""(R, C), those of tests/cuda/test_transpose_ladder."""

SIZES = [(1, 1, 1), (7, 13, 9), (17, 5, 33), (36, 44, 20)]
"""(M, N, K), small enough for a simulator."""


def normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def whole(seed, *shape):
    """Return (...) small whole numbers in float32, whose sums are exact in any order."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


@pytest.mark.parametrize("shape", [(1,), (255,), (256,), (257,), (1000,), (7, 13, 9)])
def test_leaky_relu_is_the_references_to_the_last_bit(session, shape):
    z = normal(1, *shape)
    z.flat[0] = 0
    for slope in (0.0, 0.01, 0.5):
        expected, _ = reference.leaky_relu_forward(z, slope)
        np.testing.assert_array_equal(session.to_host(opencl.leaky_relu(session.to_device(z), slope)), expected)


@pytest.mark.parametrize("way", TRANSPOSES)
@pytest.mark.parametrize("tile", [4, 16])
@pytest.mark.parametrize("shape", RAGGED, ids=str)
def test_every_number_of_a_transpose_is_in_its_place(session, way, tile, shape):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    y = opencl.transpose(session.to_device(x), way, tile)
    assert y.shape == shape[::-1]
    np.testing.assert_array_equal(session.to_host(y), x.T)


@pytest.mark.parametrize("way", PRODUCTS)
@pytest.mark.parametrize("tile", [2, 8, 16])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_products_of_whole_numbers_are_exact(session, way, tile, size):
    M, N, K = size
    A, B = whole(2, M, K), whole(3, K, N)
    C = opencl.product(session.to_device(A), session.to_device(B), way, tile)
    np.testing.assert_array_equal(session.to_host(C), A @ B)


@pytest.mark.parametrize("way", PRODUCTS)
def test_products_of_any_numbers_are_within_the_bound_of_rounding(session, way):
    A, B = normal(4, 33, 60), normal(5, 60, 20)
    C = session.to_host(opencl.product(session.to_device(A), session.to_device(B), way))
    assert np.all(np.abs(C - A.astype(np.float64) @ B) <= product_tolerance(A, B))


CONVOLUTIONS = [((1, 1, 3, 3), (1, 1, 3, 3)), ((3, 2, 9, 11), (4, 2, 3, 3)), ((33, 1, 6, 5), (3, 1, 5, 5))]


@pytest.mark.parametrize(("images", "masks"), CONVOLUTIONS, ids=str)
def test_convolutions_in_both_layouts_are_the_references(session, images, masks):
    x, w, b = normal(6, *images), normal(7, *masks), normal(8, masks[0])
    expected, _ = reference.conv2d_forward(x.astype(np.float64), w.astype(np.float64), b.astype(np.float64))
    wide = 4 * np.sqrt(w[0].size + 1) * 2.0**-24
    scale, _ = reference.conv2d_forward(np.abs(x).astype(np.float64), np.abs(w), np.abs(b))
    first = session.to_host(opencl.conv2d(*map(session.to_device, (x, w, b))))
    turned = np.ascontiguousarray(x.transpose(1, 2, 3, 0))
    last = session.to_host(opencl.conv2d_images_last(*map(session.to_device, (turned, w, b))))
    for y in (first, last.transpose(3, 0, 1, 2)):
        assert y.shape == expected.shape
        assert np.all(np.abs(y - expected) <= wide * scale)


def test_the_kernel_of_ids_writes_what_the_specification_says(session):
    rows, columns, side = 6, 10, 4
    arrays = [session.empty((rows, columns), np.int32) for _ in range(6)]
    launched = session.launch(
        session.kernel("ids"), (12, 8), (side, side), *arrays, np.int32(rows), np.int32(columns)
    )  # fmt: skip
    launched.wait()
    y, x = np.indices((rows, columns))
    for found, expected in zip(arrays, (x, y, x // side, y // side, x % side, y % side), strict=True):
        np.testing.assert_array_equal(session.to_host(found), expected)


def test_a_program_is_built_once_for_each_constant(session):
    assert session.kernel("product_tiled", TILE=4) is session.kernel("product_tiled", TILE=4)
    assert session.kernel("product_tiled", TILE=4) is not session.kernel("product_tiled", TILE=8)


def test_a_compilers_error_names_line_and_column_and_no_folder(session):
    text = "__kernel void wrong(__global float *x)\n{\n    x[0] = missing;\n}\n"
    with pytest.raises(opencl.BuildError, match=r"^line 3, column \d+: .*missing") as error:
        session.kernel("wrong", text)
    assert "/" not in str(error.value)


def test_events_have_four_times_in_order(session):
    x = session.to_device(np.ones(1000, np.float32))
    kernel = session.kernel("leaky_relu")
    event = session.launch(kernel, (1024,), (256,), x, np.float32(0.5), session.empty(1000), np.int32(1000))
    session.finish()
    p = event.profile
    assert p.queued <= p.submit <= p.start <= p.end


def test_what_no_kernel_writes_is_nan(session):
    assert np.isnan(session.to_host(session.empty((3, 4)))).all()


def test_a_queue_out_of_order_waits_for_the_events_it_is_given(device):
    session = opencl.Session(device.handle, out_of_order=True)
    kernel, n = session.kernel("leaky_relu"), np.int32(1000)
    arrays = [session.to_device(np.full(1000, -1, np.float32))] + [session.empty(1000) for _ in range(5)]
    after = ()
    for source, target in itertools.pairwise(arrays):
        after = [session.launch(kernel, (1024,), (256,), source, np.float32(0.5), target, n, after=after)]
    np.testing.assert_array_equal(session.to_host(arrays[-1], after=after), np.full(1000, -(0.5**5), np.float32))
