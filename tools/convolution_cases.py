"""The kernels of lesson 15 at the size of its benchmark: cases for tools/measure_lessons.py."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator

import numpy as np

from course_lib import gpu
from course_lib.bench.gpu import with_numpy
from course_lib.bench.gpu.players import replayed
from course_lib.cuda.columns import THREADS, _im2col, unrolled_sizes
from course_lib.cuda.ladders.conv2d.forward.checks import sizes_of
from course_lib.cuda.ladders.conv2d.forward.v03_im2col_gemm import TILE, _rows_times_cols
from course_lib.cuda.ladders.conv2d.forward.v03_im2col_gemm import _im2col as _im2col_by_elements
from course_lib.cuda.ladders.conv2d.forward.v04_implicit_gemm import conv2d_forward_v04_implicit_gemm
from course_lib.cuda.ladders.conv2d.forward.v05_register_tiled import conv2d_forward_v05_register_tiled
from tools import narrow_indices, register_product
from tools.layer_cases import compare

AT_A_TIME = 256
"""Images of C1 whose matrix, 20 MB, stays in an H200's L2 cache of 60 MB, with what is read and written beside it."""

K, MAPS, SIDE, OUT = 5, 6, 32, 28
"""LeNet-5's C1: one map of SIDE x SIDE, MAPS masks of K x K, MAPS maps of OUT x OUT."""


def cases(page: types.ModuleType, tiny: bool) -> Iterator[tuple[str, str, int, dict[str, Callable] | Callable]]:
    """Yield (case, size in words, bytes that it has to move, {name: function that launches}) of each comparison.

    Or a function that makes the last one, where kernels have to be compiled for it.
    """
    B, places, depth = 2 if tiny else 10_000, OUT * OUT, K * K
    size = f"B = {B:,}, {SIDE} x {SIDE}"
    x = gpu.to_device(np.ones((B, 1, SIDE, SIDE), np.float32))
    y = gpu.empty((B, MAPS, OUT, OUT), np.float32)
    image, outputs, matrix = 4 * SIDE * SIDE, 4 * MAPS * places, 4 * depth * places

    cols, rows = gpu.empty((B, depth, places), np.float32), gpu.to_device(np.ones((MAPS, depth), np.float32))
    threads = {"unroll_elements": cols.size, "unroll_columns": B * places}
    launches = {
        name: _launch(getattr(page, name), -(-number // 256), 256, x, K, cols) for name, number in threads.items()
    }
    tiles = -(-B * places // page.TILE), -(-MAPS // page.TILE)
    flat = y.reshape(B, MAPS, places)
    launches["implicit"] = _launch(page.implicit, tiles, (page.TILE, page.TILE), x, rows, K, OUT, flat)
    launches |= in_32_bits(x, rows, K, cols, flat)
    yield "unrolling C1", size, B * (image + matrix), launches
    del cols

    launches = {
        "c1_by_maps": _launch(page.c1_by_maps, (OUT // 4, B), 4 * SIDE, x, y),
        "c1_by_pixels": _launch(page.c1_by_pixels, (OUT // 4, B), (SIDE, MAPS), x, y),
    }
    yield "two coarsenings of C1", size, B * (image + outputs), launches

    dw = gpu.to_device(np.zeros((MAPS, 1, K, K), np.float32))
    grid = 1, OUT // 4, B * MAPS
    launches = {"weights_by_atomics": _launch(page.weights_by_atomics, grid, (32, 4), x, y, dw)}
    yield "masks' gradient by atomics", size, B * (image + outputs), launches
    del x, y, flat, launches

    layer = (B, 1, SIDE, SIDE), (MAPS, 1, K, K), 0, 1 if tiny else AT_A_TIME
    yield "unrolling C1, then the product", size, B * (image + outputs), functools.partial(unrolled, *layer)
    N, maps, side = (1, 4, 8) if tiny else (64, 64, 56)
    layer = (N, maps, side, side), (maps, maps, 3, 3), 1
    size, moved = f"B = {N}, {side} x {side}, pad 1", 8 * N * maps * side**2
    yield "unrolling 64 -> 64, then the product", size, moved, functools.partial(unrolled, *layer)


def in_32_bits(
    x: np.ndarray, rows: np.ndarray, mask: int, cols: np.ndarray, y: np.ndarray
) -> dict[str, Callable[[], None]]:
    """{name: function that launches} of the page's unrolling kernels with indices of 32 bits, which are divided faster.

    x (B, C, H, W), rows (M, C mask^2); cols (B, C mask^2, places) and y (B, M, places) are written.
    """
    B, depth, places = cols.shape
    side = np.uint32(mask), np.uint32(x.shape[3] - mask + 1)
    sizes = *side, np.uint32(depth), np.uint32(places)
    threads = {"unroll_elements": cols.size, "unroll_columns": B * x.shape[1] * places}
    tile = narrow_indices.TILE
    tiles = -(-B * places // tile), -(-y.shape[1] // tile)
    return {
        f"{name}, 32 bits": _launch(getattr(narrow_indices, f"{name}_32"), -(-number // 256), 256, x, *sizes, cols)
        for name, number in threads.items()
    } | {"implicit, 32 bits": _launch(narrow_indices.implicit_32, tiles, (tile, tile), x, rows, *side, y)}


def unrolled(
    x_shape: tuple[int, ...], w_shape: tuple[int, ...], pad: int, at_a_time: int | None = None
) -> dict[str, Callable]:
    """{name: function that launches} of a layer as matrix and product, the two in one, and each of them alone.

    The matrix of the whole batch is written and read; with `at_a_time`, also that of so many images, again and again
    in one buffer. The product is v03's, and "with registers" v05's. AssertionError where one computes something else
    than the first.
    """
    x, w = (_normal(number, shape) for number, shape in enumerate((x_shape, w_shape)))
    s = sizes_of(x_shape, w_shape, 1, pad)
    sizes, matrix = unrolled_sizes(x_shape, w_shape[2:], 1, pad)
    rows, width = w.reshape(s.M, s.depth), matrix[1]
    y = with_numpy.nan((s.B, s.M, s.H_out, s.W_out))
    out, cols = y.reshape(s.B, s.M, width), gpu.empty((s.B, *matrix), np.float32)
    threads = {"elements": s.depth, "columns": s.C}  # for each place of an output

    def unroll(way, first, count):
        launch = -(-count * threads[way] * width // THREADS), THREADS
        if way == "elements":
            _im2col_by_elements[launch](x, first, *sizes[:6], sizes[-1], cols[:count])
        else:
            _im2col[launch](x[first : first + count], *sizes, cols[:count])

    def multiply(first, count):
        grid = count * -(-width // TILE), -(-s.M // TILE)
        _rows_times_cols[grid, (TILE, TILE)](rows, cols[:count], w.reshape(w.size), False, first, out)

    def multiply_in_registers(first, count):
        register_product.rows_times_cols(rows, cols[:count], first, out)

    products = {"product": multiply, "product with registers": multiply_in_registers}

    def steps(way, images, product):
        for first in range(0, s.B, images):
            count = min(images, s.B - first)
            if way:
                unroll(way, first, count)
            if product:
                products[product](first, count)

    def launch(*arguments):
        return replayed(functools.partial(steps, *arguments), (y,))

    def rung(layer):
        return replayed(lambda: layer(x, w, None, y, (1, 1), (pad, pad)), (y,))

    found = {"in thought": rung(conv2d_forward_v04_implicit_gemm)}
    found["in thought, with registers"] = rung(conv2d_forward_v05_register_tiled)
    for product in products:
        found |= {f"{way}, then {product}": launch(way, s.B, product) for way in threads}
        found[f"{product} alone"] = launch("", s.B, product)
        if at_a_time:
            found[f"columns, then {product}, {at_a_time} images at a time"] = launch("columns", at_a_time, product)
    for way in threads:  # neither may find the other's matrix: what it leaves out must be seen
        gpu.overwrite(cols, np.full(cols.shape, np.nan, np.float32))
        other = f"{'columns' if way == 'elements' else 'elements'}, then product"
        compare({name: call for name, call in found.items() if not name.startswith(other)}, s)
    if at_a_time:  # of one matrix, again and again: the other images' results are not theirs
        for product in products:
            found[f"{product} alone, {at_a_time} images at a time"] = launch("", at_a_time, product)
    return found | {way: launch(way, s.B, "") for way in threads}


def _normal(seed, shape):
    return gpu.to_device(np.random.default_rng(seed).standard_normal(shape, np.float32))


def _launch(kernel, grid, block, *arguments):
    return lambda: kernel[grid, block](*arguments)
