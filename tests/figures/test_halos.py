"""A tile with its halo counts what the executor counts, and its consumers are the input gradient."""

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import figures, simt
from course_lib import reference as ops
from course_lib.figures.halos import halo_tile
from tests.figures.pages import read_svg, svg_texts

SETTINGS = [(8, 8, 3, 4, True), (8, 8, 3, 4, False), (9, 7, 3, 4, True), (10, 10, 5, 4, False), (5, 11, 5, 2, True)]


def tiled(T, K, pad):
    """Return a kernel that convolves one map in tiles of T x T outputs, through shared memory."""
    side = T + K - 1

    def convolve(x, w, y):
        s = cuda.shared.array((side, side), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        top, left = cuda.blockIdx.y * T, cuda.blockIdx.x * T
        for i in range(ty, side, T):
            for j in range(tx, side, T):
                h, v = top + i - pad, left + j - pad
                if h >= 0 and h < x.shape[0] and v >= 0 and v < x.shape[1]:
                    s[i, j] = x[h, v]
                else:
                    s[i, j] = 0
        cuda.syncthreads()
        if top + ty < y.shape[0] and left + tx < y.shape[1]:
            acc = float32(0)
            for i in range(K):
                for j in range(K):
                    acc += s[ty + i, tx + j] * w[i, j]
            y[top + ty, left + tx] = acc

    return convolve


@pytest.mark.parametrize("setting", SETTINGS)
def test_loads_and_reads_are_those_that_the_executor_counts(setting):
    H, W, K, T, _ = setting
    t = halo_tile(*setting)
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-3, 4, size).astype(np.float32) for size in ((H, W), (K, K)))
    y = np.full(t.out, np.nan, np.float32)
    report = simt.run(tiled(T, K, t.pad), t.grid[::-1], (T, T), (x, w, y), on_error="raise")
    np.testing.assert_array_equal(y, ops.conv2d_forward(x[None, None], w[None, None], pad=t.pad)[0][0, 0])
    blocks = list(np.ndindex(*t.grid))
    outputs = t.out[0] * t.out[1]
    assert report.arrays["x"].loads == sum(t.loaded(*b) for b in blocks)
    assert report.arrays["s"].loads == outputs * K * K
    assert report.arrays["s"].stores == t.loads * len(blocks)
    if outputs == T * T * len(blocks):
        assert report.arrays["s"].reuse == t.reuse
    assert sum(t.uses(*b).sum() for b in blocks) == outputs * K * K


@pytest.mark.parametrize("setting", SETTINGS)
def test_consumers_with_their_weights_are_the_input_gradient(setting):
    H, W, K, _, _ = setting
    t = halo_tile(*setting)
    rng = np.random.default_rng(1)
    w, dy = (rng.integers(-3, 4, size).astype(float) for size in ((K, K), t.out))
    _, cache = ops.conv2d_forward(np.zeros((1, 1, H, W)), w[None, None], pad=t.pad)
    dx = ops.conv2d_backward(dy[None, None], cache)[0][0, 0]
    for h, v in np.ndindex(H, W):
        assert sum(dy[p, q] * w[i, j] for p, q, i, j in t.consumers(h, v)) == dx[h, v]
        assert all((h, v) in t.reads(p, q) for p, q, _, _ in t.consumers(h, v))


def test_the_threads_of_a_block_share_the_loads_and_each_input_of_a_tile_has_one():
    t = halo_tile()
    threads = [t.thread(i, j) for i in range(t.side) for j in range(t.side)]
    assert sorted(set(threads)) == list(range(16))
    assert max(map(threads.count, set(threads))) == 4
    assert len(threads) == t.loads


def test_the_reuse_is_the_lectures_formula_and_its_numbers_for_lenet():
    t = halo_tile()
    assert (t.loads, t.accesses, t.reuse) == (36, 144, 4.0)
    whole = [figures.halos.HaloTile(n, n, 5, n - 4, 0) for n in (32, 14, 5)]
    assert [round(one.reuse, 1) for one in whole] == [19.1, 12.8, 1.0]


def test_every_block_that_holds_an_input_loads_it():
    t = halo_tile(9, 7, 3, 4)
    for h, w in np.ndindex(9, 7):
        held = []
        for r, c in np.ndindex(*t.grid):
            i, j = h + t.pad - r * t.T, w + t.pad - c * t.T
            held += [(r, c)] if 0 <= i < t.side and 0 <= j < t.side else []
        assert t.loading_blocks(h, w) == held


def test_the_static_picture_states_loads_zeros_and_reuse():
    made = figures.halo_explorer(at=(0, 0))
    assert "6 x 6 = 36 numbers, 25 loaded and 11 zeros from outside, and reads them 144 times" in made.static.alt
    assert svg_texts(read_svg(made.static.src)).count("13") == 2
    assert figures.halo_explorer(padding=False, at=(0, 0)).static.drawn[0] == 400


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(H=17), "a figure can show .16, 16. and 8 at most"),
        (dict(tile=9), "the tile 9; a figure can show"),
        (dict(H=4, K=5), "the mask must fit into the map"),
        (dict(at=(8, 0)), r"at is \(8, 0\); the outputs are \(0, 0\) to \(7, 7\)"),
        (dict(tile=0), "tile"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        figures.halo_explorer(**arguments)
