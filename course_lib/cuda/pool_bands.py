"""How maps are cut for the gradient of overlapping windows: a block has a band of pixels, a thread a strip of it.

Words: a *cell* is the stride's s_h x s_w pixels, from a window's corner to the next corners: a pixel belongs to one
cell, and a window reaches into several. A *line* is a row of cells. A *band* is several whole maps, or some lines of
one: its pixels lie in one piece in dx, and the windows that reach into it in one piece in dy. A *strip* is some lines
of one column of cells.

Source: the course's own.
"""

import functools
from dataclasses import dataclass

import numpy as np

from course_lib.cuda.intrinsics import ld4, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.unroll import unroll
from course_lib.reference.conv_sizes import output_size

HELD, THREADS = 6144, 128
"""Numbers that a block holds in shared memory, about: pixels of its band, and windows. And its threads."""

LEAST, BUSY = 256, 1024
"""Pixels that a band has at the least, and blocks that keep a large card busy: small work gets small bands."""

MOST_SHARED, MOST_BANDS = 48 * 1024, 65_535
"""Bytes of shared memory of a block that needs no permission; blocks on the y axis of a grid."""

MOST_PLACES = 64
"""Pixels of a window: the kernel names each of them in its text."""

BATCH, WRITES = 8, 4
"""Windows that a thread asks for before it waits, and accesses by which it writes before it looks where it is."""

SECTOR = 8
WHOLE = np.uint32(0xFFFFFFF8)
"""Numbers of a sector; `x & WHOLE` is the last multiple of it."""


@dataclass(frozen=True)
class Bands:
    """How work is cut.

    Attributes
    ----------
    grid : tuple of int
        (bands of maps, bands of a map): one of them is 1.
    threads, shared : int
        Of a block; `shared` in bytes.
    numbers : tuple
        What the kernels take: maps, maps of a band, lines of a map, cells of a line and what divides by them, lines of
        a band, strips of its lines and what divides by them, lines of a strip, and where windows begin in shared
        memory. All uint32, but for the two of `per`: uint64.

    Source: the course's own.
    """

    grid: tuple[int, int]
    threads: int
    shared: int
    numbers: tuple


def covered(size, stride):
    """Return how many cells a window reaches into, (down, across). No errors. Source: the course's own."""
    return tuple((F - 1) // s + 1 for F, s in zip(size, stride, strict=True))


def lead(size):
    """Return the floats before a band in shared memory: so far to the left padding may reach. No errors."""
    return -(-(size[1] - 1) // SECTOR) * SECTOR


@functools.cache
def bands(shape, size, stride, pad, floats, *, cut=None, busy=BUSY):
    """Return the `Bands` of maps (B, C, H, W), None where windows are too large or lines too long for them.

    Parameters
    ----------
    shape : tuple of int
    size, stride, pad : pairs of int
    floats : int
        That a window takes in shared memory: 1 of an average, 2 of a maximum.
    cut : pair of int
        (held, threads); None for `HELD`, `THREADS`.
    busy : int
        As `BUSY`.

    No errors. Source: the course's own.
    """
    held, threads = cut or (HELD, THREADS)
    (B, C, H, W), (s_h, s_w), P = shape, stride, covered(size, stride)[0]
    maps, down, across = B * C, -(-(H + pad[0]) // s_h), -(-(W + pad[1]) // s_w)
    H_out, W_out = output_size(H, size[0], s_h, pad[0]), output_size(W, size[1], s_w, pad[1], name="W")
    pixels = max(LEAST, min(held * s_h * s_w // (s_h * s_w + floats), maps * H * W // busy))
    together, of_a_map, n = min(maps, pixels // (H * W)), 1, down
    if together * across > threads:  # threads without a strip would wait for a second round of the others
        together = together * across // threads * threads // across
    if together == 0:
        together, of_a_map = 1, -(-down // max(1, pixels // (s_h * W)))
        n = -(-down // of_a_map)
        of_a_map = -(-down // n)
    lines = -(-n // max(1, threads // (together * across)))
    rows, windows = (H, H_out) if of_a_map == 1 else (n * s_h, n + P - 1)
    room = lead(size) + -(-(together * rows * W) // SECTOR) * SECTOR + 2 * SECTOR  # and a window that nobody has
    shared = 4 * (room + together * windows * W_out * floats)
    if shared > MOST_SHARED or of_a_map > MOST_BANDS or size[0] * size[1] > MOST_PLACES:
        return None
    strips = -(-n // lines)
    numbers = maps, together, down, across, per(across), n, strips, per(strips), lines, room
    return Bands((-(-maps // together), of_a_map), threads, shared, tuple(map(_whole, numbers)))


def per(divisor):
    """Return the number by which `over` divides: 2^32 / divisor, rounded up, as uint64. No errors."""
    return np.uint64(-(-(1 << 32) // divisor))


def _whole(number):
    return number if isinstance(number, np.uint64) else np.uint32(number)


@jit(device=True)
def over(i, per_divisor):
    """Return i // divisor for i * divisor < 2^32, by a product: a division takes some twenty instructions."""
    return np.uint32(np.uint64(i) * per_divisor >> np.uint64(32))


@jit(device=True)
def windows_of(first, count, top, bottom, before, H_out, W_out):
    """Return (the band's first window, counted through all maps; its row in the map; how many there are).

    The band has the lines from `top` to `bottom` of `count` maps, the first of them number `first`; windows reach into
    `before` lines behind their own.
    """
    upper = np.uint32(min(np.uint32(top - min(top, before)), H_out))
    lower = np.uint32(min(bottom, H_out))
    return np.uint32((first * H_out + upper) * W_out), upper, np.uint32(((count - 1) * H_out + lower - upper) * W_out)


@jit(device=True)
def rows_of(top, bottom, s_h, p_h, H):
    """Return the first row of a map's pixels in the lines from `top` to `bottom`, and the row behind them."""
    lower = np.uint32(min(np.uint32(bottom * s_h - min(np.uint32(bottom * s_h), p_h)), H))
    return np.uint32(min(np.uint32(top * s_h - min(np.uint32(top * s_h), p_h)), lower)), lower


@jit(device=True)
def pixels_of(first, count, top, bottom, s_h, p_h, H, W):
    """Return the places in dx of the band's first pixel and of the first one behind it; arguments as `windows_of`."""
    upper, lower = rows_of(top, bottom, s_h, p_h, H)
    return np.uint32((first * H + upper) * W), np.uint32((np.uint32(first + count - 1) * H + lower) * W)


@jit(device=True)
def strip_of(task, across, per_across, strips, per_strips, lines, top, bottom, before):
    """Return (map of the band, column of cells, first line, line to stop at, line to begin at) of strip number `task`.

    It begins `before` lines above its first, whose windows reach into it.
    """
    strip = over(task, per_across)
    m = over(strip, per_strips)
    line = np.uint32(top + np.uint32(strip - m * strips) * lines)
    stop = np.uint32(min(np.uint32(line + lines), bottom))
    return m, np.uint32(task - strip * across), line, stop, np.uint32(line - min(line, before))


@functools.cache
def writer(THREADS, LEAD):
    """Return the function that writes a band to dx, whole sectors but at its ends. No errors.

    Source: the course's own.
    """
    STEP, MORE = 4 * THREADS, np.uint32(4 * THREADS * WRITES)

    @jit(device=True)
    def _write(s, begin, end, t, dx):
        """dx[begin:end] = the band, which begins as far behind LEAD in s as `begin` behind a sector's edge."""
        lower, upper = np.uint32(np.uint32(begin + SECTOR - 1) & WHOLE), np.uint32(end & WHOLE)
        shift = np.uint32(LEAD - (begin & WHOLE))  # from a place in dx to that in s
        if t < np.uint32(min(lower, end) - begin):
            dx[np.uint32(begin + t)] = s[np.uint32(begin + t + shift)]
        if upper >= lower and t < np.uint32(end - upper):
            dx[np.uint32(upper + t)] = s[np.uint32(upper + t + shift)]
        at = np.uint32(lower + 4 * t)
        while at < upper:
            for k in unroll(WRITES):
                if np.uint32(at + k * STEP) < upper:
                    a, b, c, d = ld4(s, np.int64(np.uint32(at + shift)) + k * STEP)
                    st4(dx, np.int64(at) + k * STEP, a, b, c, d)
            at = np.uint32(at + MORE)

    return _write
