"""The kernels of lesson 15 at the size of its benchmark: cases for tools/measure_lessons.py."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator

import numpy as np

from course_lib import gpu

K, MAPS, SIDE, OUT = 5, 6, 32, 28
"""LeNet-5's C1: one map of SIDE x SIDE, MAPS masks of K x K, MAPS maps of OUT x OUT."""


def cases(page: types.ModuleType, tiny: bool) -> Iterator[tuple[str, str, int, dict[str, Callable]]]:
    """Yield (case, size in words, bytes that it has to move, {name: function that launches}) of each comparison."""
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


def _launch(kernel, grid, block, *arguments):
    return lambda: kernel[grid, block](*arguments)
