"""A block brings the patch of dy that its tile of pixels needs, and one mask, into shared memory, map by map.

Pixels of a tile share most of the outputs that saw them: a number of dy is brought once a block, not K_h K_w times, and
global loads fall by about that factor. The patch has zeros where there is no output, so along a mask row each thread
takes the same steps. The kernel is made for a mask and a stride, and these steps are written out with constants for
addresses: two shared loads and a multiply-add for each. v01 spends about five times as many instructions on one.

Source: H, "Strategies for Lab 7" and "Reuse in 2D Tiled Convolution".
"""

import functools

from course_lib.cuda.intrinsics import nonneg
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_data
from course_lib.cuda.ladders.conv2d.backward_data.seen import TILE, first_and_last, image_and_corner, tiles_of, whole
from course_lib.cuda.numba_cuda import cuda, float32, int32
from course_lib.cuda.unroll import MOST_TURNS, unroll

THREADS = TILE * TILE
BANKS = 32
SHARED_BYTES = 49_152
"""What a kernel may have without asking."""


@functools.lru_cache(maxsize=64)
def make(K_h, K_w, s_h, s_w):
    """Return the kernel for a mask of K_h x K_w and a stride. No errors. Source: the course's own."""
    ROWS, COLUMNS, PITCH = _patch(K_h, s_h), _patch(K_w, s_w), _pitch(K_w, s_w)
    PATCH, MASK = ROWS * PITCH, K_h * K_w
    SHARE, MASK_SHARE = -(-ROWS * COLUMNS // THREADS), -(-MASK // THREADS)  # numbers that a thread brings, at most
    ALL, SOME = K_w // s_w, K_w % s_w  # so many outputs of a row saw each pixel, and one more if q < SOME
    STEPS = ALL + (SOME > 0)

    @jit(cache=True)
    def _backward_data_v02(dy, w, dx, M, H_out, W_out, p_h, p_w):
        s = cuda.shared.array(0, float32)  # the patch of dy, then the mask
        source, target = cuda.local.array(SHARE, int32), cuda.local.array(SHARE, int32)
        C, H, W = dx.shape[1], dx.shape[2], dx.shape[3]
        t = nonneg(cuda.threadIdx.y) * TILE + nonneg(cuda.threadIdx.x)
        b, h0, v0 = image_and_corner(H, W)
        b, c = nonneg(b), nonneg(cuda.blockIdx.y)
        h, v = nonneg(h0 + cuda.threadIdx.y), nonneg(v0 + cuda.threadIdx.x)
        i0, _ = first_and_last(h0 + p_h, K_h, s_h)  # where the patch begins
        j0, _ = first_and_last(v0 + p_w, K_w, s_w)
        first_i, last_i = first_and_last(h + p_h, K_h, s_h)
        _, last_j = first_and_last(v + p_w, K_w, s_w)
        first_i, end_i = max(0, first_i), min(H_out, last_i + 1)
        if h >= H or v >= W:
            end_i = first_i  # no pixel
        first_y = (first_i - i0) * PITCH + last_j - j0
        q = v + p_w - last_j * s_w
        first_w = PATCH + (h + p_h - first_i * s_h) * K_w + q

        for k in unroll(SHARE):  # this thread's share of the patch is the same for each map: where it lies, once
            cell = t + k * THREADS
            i, j = whole(cell, COLUMNS), cell % COLUMNS
            source[k], target[k] = -1, nonneg(i * PITCH + j)
            if i < ROWS:
                if i0 + i >= 0 and i0 + i < H_out and j0 + j >= 0 and j0 + j < W_out:
                    source[k] = (i0 + i) * W_out + j0 + j
                else:
                    s[target[k]] = float32(0)

        total = float32(0)
        dy_map, mask = b * M * H_out * W_out, c * MASK  # where map 0 of dy and its mask begin
        for _ in range(M):
            for k in unroll(SHARE):
                if source[k] >= 0:
                    s[target[k]] = dy[nonneg(dy_map + source[k])]
            for k in unroll(MASK_SHARE):
                if t + k * THREADS < MASK:
                    s[PATCH + t + k * THREADS] = w[nonneg(mask + t + k * THREADS)]
            cuda.syncthreads()
            at_y, at_w = first_y, first_w
            for _ in range(first_i, end_i):
                for k in unroll(STEPS):
                    if k < ALL or q < SOME:
                        total += s[nonneg(at_y - k)] * s[nonneg(at_w + k * s_w)]
                at_y += PITCH
                at_w -= s_h * K_w
            cuda.syncthreads()
            dy_map += H_out * W_out
            mask += C * MASK
        if h < H and v < W:
            dx[b, c, h, v] = total

    return _backward_data_v02


def _patch(mask, stride):
    """Along one axis, outputs that a tile can need: multiples of the stride among TILE + mask - 1 numbers."""
    return (TILE + mask - 2) // stride + 1


def _pitch(mask, stride):
    """Floats from a row of a patch to the next: a warp reads two rows of 16 pixels, and they lie in different banks."""
    columns = _patch(mask, stride)
    return columns + (TILE - columns) % BANKS


def conv2d_backward_data_v02_shared(dy, w, dx, stride=(1, 1), pad=(0, 0)):
    """Write dx (B, C, H, W) from dy (B, M, H_out, W_out) and w (M, C, K_h, K_w), float32 device arrays.

    stride, pad: int or pair (rows, columns). A pixel that no window saw gets 0. TypeError unless float32 device arrays;
    ValueError if one is empty or has gaps, shapes do not fit, or a mask with its patch of dy is too large for shared
    memory or for a row that is written out. Source: H, "Calculating dE/dX".
    """
    dy, w, dx, n = check_backward_data(dy, w, dx, stride, pad)
    shared = 4 * (_patch(n.K_h, n.s_h) * _pitch(n.K_w, n.s_w) + n.K_h * n.K_w)
    turns = -(-n.K_w // n.s_w)  # of the loop that is written out
    for what, size, most in (("bytes of shared memory", shared, SHARED_BYTES), ("outputs of a row", turns, MOST_TURNS)):
        if size > most:
            raise ValueError(
                f"w is {tuple(w.shape)}, stride {stride}: a pixel's tile needs {size} {what}, and there is room for "
                f"{most}. Use conv2d_backward_data_v03_product."
            )
    launch = make(n.K_h, n.K_w, n.s_h, n.s_w)[(n.B * tiles_of(n.H, n.W), n.C), (TILE, TILE), 0, shared]
    launch(dy.reshape(dy.size), w.reshape(w.size), dx, n.M, n.H_out, n.W_out, n.p_h, n.p_w)


def traffic(n):
    """Return what is counted for Sizes n: each tile brings its patch of each map, and M masks; one store a pixel.

    No errors. Source: the course's own.
    """
    rows = _brought(n.H, n.K_h, n.H_out, n.s_h, n.p_h)
    columns = _brought(n.W, n.K_w, n.W_out, n.s_w, n.p_w)
    masks = -(-n.H // TILE) * -(-n.W // TILE) * n.K_h * n.K_w
    return {
        "global_load_bytes": 4 * n.B * n.C * n.M * (rows * columns + masks),
        "global_store_bytes": 4 * n.B * n.C * n.H * n.W,
        "barriers": n.B * n.C * -(-n.H // TILE) * -(-n.W // TILE) * n.M * 2 * (THREADS // 32),
    }


def _brought(size, mask, places, stride, pad):
    """Along one axis, over all tiles: outputs of a patch that exist."""
    firsts = ((first + pad - mask + stride) // stride for first in range(0, size, TILE))
    return sum(max(0, min(places, first + _patch(mask, stride)) - max(0, first)) for first in firsts)
