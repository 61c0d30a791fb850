"""Gradients of overlapping windows: the reference's sums, the bits of a thread a pixel, sectors that are whole."""

import math

import numpy as np
import pytest

from course_lib import gpu, reference
from course_lib.cuda import pool_backward, pool_bands, pool_overlapping, pooling
from course_lib.cuda.elementwise import flat
from course_lib.cuda.numba_cuda import cuda
from course_lib.cuda.pool_bands import bands
from course_lib.cuda.recording import record_launches
from course_lib.cuda.writes import written
from tests.cases import all_of
from tests.cuda.counted import counted
from tests.gpu.devices import nans, needs_numba

CASES = [  # shape of x, size, stride, pad
    ((1, 1, 3, 3), 3, 2, 0),
    ((2, 3, 13, 13), 3, 2, 0),
    ((1, 2, 27, 27), 3, 2, 0),
    ((2, 1, 55, 55), 3, 2, 0),
    ((1, 2, 56, 56), 3, 2, 1),
    ((1, 1, 31, 40), 3, 2, (1, 0)),
    ((3, 1, 12, 12), 3, 1, 1),
    ((1, 2, 20, 21), 2, 1, 0),
    ((2, 1, 17, 9), (4, 3), (1, 2), (3, 2)),
    ((1, 1, 19, 23), 5, 2, 2),
    ((1, 3, 14, 16), 5, 3, 4),
    ((1, 1, 18, 18), 7, 1, 3),
    ((2, 2, 15, 16), (3, 1), (2, 1), 0),
    ((2, 2, 5, 16), (1, 4), (2, 3), (0, 3)),
    ((4, 1, 1, 30), (1, 3), (1, 2), 0),
    ((4, 1, 30, 1), (3, 1), (2, 1), (1, 0)),
    ((7, 5, 4, 4), 3, 1, 2),
    ((1, 1, 9, 301), 3, 2, 1),
    ((40, 30, 3, 3), 2, 1, 0),
]
CUTS = [(6144, 128), (400, 64), (1000, 32), (700, 128)]
"""Numbers that a block holds, and its threads."""
each = all_of(("shape", "size", "stride", "pad"), CASES)
each_cut = pytest.mark.parametrize(("held", "threads"), CUTS)


def pairs(*values):
    return [v if isinstance(v, tuple) else (v, v) for v in values]


def windows(shape, size, stride, pad, seed=0, special=0.0):
    """Return (dy, mask) of random numbers; a share of them is not finite, or a zero with a sign."""
    rng = np.random.default_rng(seed)
    _, (_, mask) = reference.max_pool_forward(rng.standard_normal(shape, np.float32), size, stride, pad)
    dy = rng.standard_normal(mask.shape, np.float32)
    odd = rng.random(dy.shape) < special
    dy[odd] = rng.choice(np.array([np.nan, np.inf, -np.inf, -0.0], np.float32), dy.shape)[odd]
    return dy, mask.astype(np.int32)


def launch(kind, way, dy, mask, dx, size, stride, pad, **cut):
    """Write dx, a device array as the others are, by one of the kernels: `way` is "bands" or "overlapping"."""
    size, stride, pad = pairs(size, stride, pad)
    given = [*map(flat, (dy, mask) if kind == "max" else (dy,)), *pooling._sizes(dx.shape, dy.shape, pad)]
    if way == "overlapping":
        pool_backward.__dict__[f"{kind}_overlapping"](size, stride)[-(-dx.size // 128), 128](*given, flat(dx))
        return
    cut = bands(tuple(dx.shape), size, stride, pad, 2 if kind == "max" else 1, **cut)
    kernel = pool_overlapping.__dict__[f"{kind}_bands"](size, stride, cut.threads)
    kernel[cut.grid, cut.threads, 0, cut.shared](*given, *cut.numbers, flat(dx))


def by_bands(kind, dy, mask, shape, size, stride, pad, **cut):
    """Return dx of the kernels that are tested."""
    dx = nans(*shape)
    launch(kind, "bands", gpu.to_device(dy), gpu.to_device(mask), dx, size, stride, pad, **cut)
    return gpu.to_host(dx)


def by_pixels(kind, dy, mask, shape, size, stride, pad):
    """Return dx of the kernels with a thread a pixel."""
    dx = nans(*shape)
    launch(kind, "overlapping", gpu.to_device(dy), gpu.to_device(mask), dx, size, stride, pad)
    return gpu.to_host(dx)


@each_cut
@all_of(("shape", "size", "stride", "pad"), CASES)
def test_sums_of_whole_numbers_are_the_references(shape, size, stride, pad, held, threads):
    dy, mask = windows(shape, size, stride, pad)
    dy = np.round(9 * dy)
    cut = dict(cut=(held, threads), busy=1)
    expected = reference.max_pool_backward(dy, (shape, mask))
    np.testing.assert_array_equal(by_bands("max", dy, mask, shape, size, stride, pad, **cut), expected)
    _, cache = reference.average_pool_forward(np.zeros(shape, np.float32), size, stride, pad)
    places = math.prod(pairs(size)[0])
    found = by_bands("average", places * dy, mask, shape, size, stride, pad, **cut)
    np.testing.assert_array_equal(found, reference.average_pool_backward(places * dy, cache))


@pytest.mark.parametrize("special", [0.0, 0.1])
@pytest.mark.parametrize("kind", ["max", "average"])
@each
def test_bits_are_those_of_a_thread_a_pixel(shape, size, stride, pad, kind, special):
    given = *windows(shape, size, stride, pad, 1, special), shape, size, stride, pad
    found, expected = by_bands(kind, *given, cut=(500, 32), busy=1), by_pixels(kind, *given)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    finite = ~np.isnan(expected)
    np.testing.assert_array_equal(found.view(np.int32)[finite], expected.view(np.int32)[finite])


def test_random_shapes_windows_and_paddings_have_the_bits_of_a_thread_a_pixel():
    rng, done = np.random.default_rng(5), 0
    while done < 60:
        size = tuple(int(n) for n in rng.integers(1, 6, 2))
        stride = tuple(int(n) for n in rng.integers(1, 4, 2))
        pad = tuple(int(rng.integers(0, F)) for F in size)
        shape = tuple(int(n) for n in (*rng.integers(1, 4, 2), *rng.integers(1, 40, 2)))
        overlaps = size[0] > stride[0] or size[1] > stride[1]
        if not overlaps or any(n + 2 * p < F for n, p, F in zip(shape[2:], pad, size, strict=True)):
            continue
        given = *windows(shape, size, stride, pad, done, 0.02), shape, size, stride, pad
        cut = dict(cut=(int(rng.integers(300, 3000)), int(rng.choice([32, 64, 96]))), busy=1)
        for kind in ("max", "average"):
            found, expected = by_bands(kind, *given, **cut), by_pixels(kind, *given)
            np.testing.assert_array_equal(found, expected, err_msg=f"{kind} {given[2:]} {cut}")
        done += 1


@each
def test_bands_have_all_lines_once_and_fit_into_shared_memory(shape, size, stride, pad):
    (size, stride, pad), (B, C, H, W) = pairs(size, stride, pad), shape
    for floats in (1, 2):
        cut = bands(shape, size, stride, pad, floats)
        maps, together, down, across, _, n, strips, _, lines, _ = map(int, cut.numbers)
        assert (maps, down) == (B * C, -(-(H + pad[0]) // stride[0]))
        assert (cut.grid[0] - 1) * together < maps <= cut.grid[0] * together
        assert (cut.grid[1] - 1) * n < down <= cut.grid[1] * n
        assert (strips - 1) * lines < n <= strips * lines
        assert min(cut.grid[1], together) == 1 or n == down
        assert 0 < cut.shared <= pool_bands.MOST_SHARED
        assert across * stride[1] >= W + pad[1]


def test_small_work_gets_small_bands_and_large_work_large_ones():
    window = (3, 3), (2, 2), (0, 0), 2
    blocks = {B: math.prod(bands((B, 96, 55, 55), *window).grid) for B in (1, 4, 128)}
    assert blocks == {1: 96 * 14, 4: 4 * 96 * 3, 128: 128 * 96}


EDGES = np.array([0, 1, 2, 3, 0x7FFFFF, 0x800000, 0x800001, 0x7F7FFFFF, 0x7F800000, 0x7FC00000], np.uint32)
"""Zero, the smallest numbers, those where the exponent begins, the largest, infinity, and a NaN."""


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 9, 12, 15, 25, 32, 49, 63, 64])
def test_quotients_without_a_branch_are_divisions(count):
    share = pool_overlapping.quotient(count)

    @gpu.jit
    def shares(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = share(x[i])

    rng = np.random.default_rng(count)
    bits = [EDGES, rng.integers(0, 1 << 31, 4000), rng.integers(0, 1 << 26, 2000), np.arange(2000)]  # small ones, too
    x = np.concatenate(bits).astype(np.uint32).view(np.float32)
    x = np.concatenate([x, -x])
    y = nans(x.size)
    shares[-(-x.size // 128), 128](gpu.to_device(x), y)
    with np.errstate(invalid="ignore"):
        found, expected = gpu.to_host(y), x / np.float32(count)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("divisor", [1, 2, 3, 28, 113, 65_535])
def test_quotients_by_a_product_are_whole_divisions(divisor):
    times = np.arange(min(65_535, (1 << 32) // divisor), dtype=np.uint64)
    np.testing.assert_array_equal(times * pool_bands.per(divisor) >> np.uint64(32), times // np.uint64(divisor))


TOO_LARGE = [((1, 1, 12, 13), 9, 1, 0), ((1, 1, 2, 20_000), 3, 2, 1)]
"""A window of 81 pixels; a line that no shared memory holds."""


@pytest.mark.parametrize(("shape", "size", "stride", "pad"), TOO_LARGE)
def test_what_does_not_fit_into_a_band_is_done_pixel_by_pixel(shape, size, stride, pad):
    assert bands(shape, *pairs(size, stride, pad), 1) is None
    x = np.random.default_rng(0).integers(-2, 3, shape).astype(np.float32)
    y, cache = pooling.max_pool_forward(gpu.to_device(x), size, stride, pad)
    dy = np.random.default_rng(1).integers(-4, 5, tuple(y.shape)).astype(np.float32)
    with record_launches() as launches:
        dx = pooling.max_pool_backward(gpu.to_device(dy), cache)
        pooling.average_pool_backward(gpu.to_device(dy), (shape, *pairs(size, stride, pad)))
    assert [launch.kernel.__name__ for launch in launches] == ["_max_pool_back", "_average_pool_back"]
    expected = reference.max_pool_backward(dy, reference.max_pool_forward(x, size, stride, pad)[1])
    np.testing.assert_array_equal(gpu.to_host(dx), expected)


def test_the_operations_take_bands_where_windows_overlap():
    y, cache = pooling.max_pool_forward(gpu.to_device(np.zeros((1, 1, 9, 9), np.float32)), 3, 2)
    with record_launches() as launches:
        pooling.max_pool_backward(y, cache)
        pooling.average_pool_backward(y, (cache[0], *cache[2:]))
    assert [launch.kernel.__name__ for launch in launches] == ["_max_pool_bands", "_average_pool_bands"]


def test_kernels_write_dx_and_nothing_else():
    window = (3, 3), (2, 2), 64
    assert written(pool_overlapping.max_bands(*window)) == {18}
    assert written(pool_overlapping.average_bands(*window)) == {17}


@needs_numba
def test_nearly_every_sector_is_moved_once_and_written_whole():
    shape, window = (2, 3, 55, 55), (3, 2, 0)
    dy, mask = windows(shape, *window)
    least = {"load": 2 * dy.size / 8, "store": math.prod(shape) / 8}
    given = gpu.to_device(dy), gpu.to_device(mask), nans(*shape)
    per_pixel, hazards = counted(lambda *arrays: launch("max", "overlapping", *arrays, *window), *given)
    per_band, more = counted(lambda *arrays: launch("max", "bands", *arrays, *window, busy=1), *given)
    assert hazards == more == []
    assert per_pixel["global_load_sectors"] > 6 * least["load"]  # most of them found in the L1 cache
    assert per_band["global_load_sectors"] < 1.35 * least["load"]  # windows of the line above, and warps at any place
    assert per_band["global_store_sectors"] < 1.02 * least["store"]
    assert per_band["global_load_requests"] < per_pixel["global_load_requests"] / 5
    assert per_band["global_store_requests"] < per_pixel["global_store_requests"] / 3
    assert per_band["atomic_requests"] == per_band["float64_flops"] == 0
