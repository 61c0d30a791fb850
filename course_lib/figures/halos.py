"""A tile of a convolution with its halo, for lesson 15: who loads which input, who uses it, and the gradient of it.

The outputs that use an input are those whose gradients come back to it, with the same weights: turned around the
picture shows dE/dX as a convolution with the flipped mask. Source: H, "Reuse in 2D Tiled Convolution"; Kirk, Hwu and
El Hajj, "Programming Massively Parallel Processors", chapter 7 (tiles with halo).
"""

from dataclasses import dataclass

import numpy as np

from course_lib.simt.show.panel import EDGE, IDLE_FILL, WIDTH, Panel, wrapped
from course_lib.validate import require_count

from . import style
from .live import live
from .picture import picture

MASKS, TILES = (3, 5), (2, 4, 8)
"""Sizes of masks and of output tiles on offer, beside the first ones."""

MOST, MOST_TILE = 16, 8
"""The largest map and tile whose numbers can be read on a phone."""


@dataclass(frozen=True)
class HaloTile:
    """A convolution of one map (H, W) with a mask (K, K), done in tiles of T x T outputs by blocks of T x T threads.

    A block first brings (T + K - 1) x (T + K - 1) inputs into shared memory, its threads going over them in strides of
    T; what lies outside of the map is written as zero and not loaded. `pad` rows and columns of zeros frame the map.

    Source: H, "Reuse in 2D Tiled Convolution".
    """

    H: int
    W: int
    K: int
    T: int
    pad: int

    @property
    def out(self):
        """(H_out, W_out): the outputs."""
        return self.H + 2 * self.pad - self.K + 1, self.W + 2 * self.pad - self.K + 1

    @property
    def grid(self):
        """(rows, columns) of tiles that cover the outputs."""
        return tuple(-(-n // self.T) for n in self.out)

    @property
    def side(self):
        """Rows of an input tile, T + K - 1."""
        return self.T + self.K - 1

    @property
    def loads(self):
        """Inputs of a tile with its halo, (T + K - 1)**2; zeros from outside of the map are among them."""
        return self.side**2

    @property
    def accesses(self):
        """Reads of shared memory by a full tile, T**2 K**2."""
        return self.T**2 * self.K**2

    @property
    def reuse(self):
        """T**2 K**2 / (T + K - 1)**2: how often a full tile uses one of its inputs, on average."""
        return self.accesses / self.loads

    def thread(self, i, j):
        """Return the number of the thread that brings row i, column j of an input tile: y T + x."""
        return i % self.T * self.T + j % self.T

    def outputs(self, row, column):
        """Return the outputs (p, q) of a block that lie on the map."""
        H_out, W_out = self.out
        rows = range(row * self.T, min(H_out, (row + 1) * self.T))
        return [(p, q) for p in rows for q in range(column * self.T, min(W_out, (column + 1) * self.T))]

    def loaded(self, row, column):
        """Return how many inputs a block loads from global memory: those of its tile that lie on the map."""
        inside = [
            sum(0 <= at * self.T + i - self.pad < size for i in range(self.side))
            for at, size in ((row, self.H), (column, self.W))
        ]
        return inside[0] * inside[1]

    def uses(self, row, column):
        """Return how many outputs of a block use each input of its tile, (side, side) int array."""
        used = np.zeros((self.side, self.side), int)
        for p, q in self.outputs(row, column):
            i, j = p - row * self.T, q - column * self.T
            used[i : i + self.K, j : j + self.K] += 1
        return used

    def reads(self, p, q):
        """Return the inputs (h, w) that output (p, q) reads, row by row; some may lie outside of the map."""
        return [(p + i - self.pad, q + j - self.pad) for i, j in np.ndindex(self.K, self.K)]

    def consumers(self, h, w):
        """Return [(p, q, i, j)]: the outputs that use input (h, w), and the weight w[i, j] they use it with."""
        H_out, W_out = self.out
        every = ((h + self.pad - i, w + self.pad - j, i, j) for i, j in np.ndindex(self.K, self.K))
        return sorted(c for c in every if 0 <= c[0] < H_out and 0 <= c[1] < W_out)

    def loading_blocks(self, h, w):
        """Return the blocks (row, column) whose tiles hold input (h, w)."""
        rows, columns = (
            [b for b in range(n) if 0 <= at + self.pad - b * self.T < self.side]
            for n, at in zip(self.grid, (h, w), strict=True)
        )
        return [(r, c) for r in rows for c in columns]


def halo_tile(H=8, W=8, K=3, tile=4, padding=True):
    """Return the `HaloTile` of these sizes; with `padding` (K - 1) // 2 zeros frame the map.

    Raises
    ------
    ValueError, TypeError
        A size that is no whole number above 0, a map above 16 or a tile above 8, a mask larger than the map.

    Source: H, "Reuse in 2D Tiled Convolution".
    """
    H, W, K, tile = (require_count(n, v) for n, v in (("H", H), ("W", W), ("K", K), ("tile", tile)))
    if max(H, W) > MOST or tile > MOST_TILE:
        raise ValueError(
            f"the map is ({H}, {W}) and the tile {tile}; a figure can show ({MOST}, {MOST}) and {MOST_TILE} at most. "
            "Choose a smaller example: the counts are formulas."
        )
    if min(H, W) < K:
        raise ValueError(f"the mask is ({K}, {K}) and the map ({H}, {W}); the mask must fit into the map.")
    return HaloTile(H, W, K, tile, (K - 1) // 2 if padding else 0)


def halo_explorer(H=8, W=8, K=3, tile=4, *, padding=True, at=(4, 4)):
    """Return a figure of an input map, an output map and one block's tile; the reader chooses an output or an input.

    A chosen output shows the inputs it reads, the thread that loads each into shared memory, and the halo. A chosen
    input shows the outputs that use it and with which weight: its gradient, term by term.

    Parameters
    ----------
    H, W, K, tile, padding
        As `halo_tile` takes them.
    at : (int, int)
        The output chosen first.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError, TypeError
        As `halo_tile`; an `at` that is no output.

    Source: H, "Reuse in 2D Tiled Convolution"; Kirk, Hwu and El Hajj, chapter 7.
    """
    t = halo_tile(H, W, K, tile, padding)
    p, q = at
    if not (0 <= p < t.out[0] and 0 <= q < t.out[1]):
        raise ValueError(f"at is {at}; the outputs are (0, 0) to ({t.out[0] - 1}, {t.out[1] - 1}).")
    data = {
        "H": t.H, "W": t.W, "K": t.K, "T": t.T, "padding": bool(padding), "at": [int(p), int(q)],
        "masks": sorted({k for k in MASKS if k <= min(t.H, t.W)} | {t.K}), "tiles": sorted({*TILES, t.T}),
    }  # fmt: skip
    title = "Who loads an input, and who uses it?"
    return live("halo_explorer", data, title=title, static=_static(t, int(p), int(q)))


def _static(t, p, q):
    row, column = p // t.T, q // t.T
    loaded, read = t.loaded(row, column), set(t.reads(p, q))
    says = (
        f"Output ({p}, {q}) reads {t.K} x {t.K} inputs. Its block of {t.T} x {t.T} threads brings {t.side} x {t.side} "
        f"= {t.loads} numbers, {loaded} loaded and {t.loads - loaded} zeros from outside, and reads them "
        f"{len(t.outputs(row, column)) * t.K**2} times; in a full tile each serves {t.T}² · {t.K}² / {t.side}² = "
        f"{t.reuse:.3g} times on average."
    )
    high, wide = t.H + 2 * t.pad, t.W + 2 * t.pad
    cell = min(24, (WIDTH - 2 * EDGE - 20) // (wide + t.out[1]))
    key = wrapped("Strong: read by the output. Numbers: the thread that loads. Thick: the block's tile; dashed: "
                  f"without its halo.{' Hatched: zeros outside.' if t.pad else ''}")  # fmt: skip
    s = Panel(WIDTH, 30 + cell * max(high, t.out[0]) + 14 + 17 * len(key))
    s.text(EDGE, 18, f"input ({t.H}, {t.W})", bold=True)
    x0, y0, x1 = EDGE, 28, EDGE + wide * cell + 20
    s.text(x1, 18, f"output ({t.out[0]}, {t.out[1]})", bold=True)
    looks = {}
    for r, c in np.ndindex(high, wide):
        i, j, outside = r - row * t.T, c - column * t.T, not _on(t, r - t.pad, c - t.pad)
        in_tile = 0 <= i < t.side and 0 <= j < t.side
        look = (outside, (r - t.pad, c - t.pad) in read, in_tile)
        looks.setdefault(look, []).append((x0 + c * cell, y0 + r * cell, cell, cell))
    for (outside, strong, in_tile), boxes in looks.items():
        fill = style.tint("data", 0.6) if strong else style.tint("thread", 0.3) if in_tile else style.PAPER
        s.cells(boxes, fill=IDLE_FILL if outside and not strong else fill, hatched=outside)
    for i, j in np.ndindex(t.side, t.side):
        r, c = row * t.T + i, column * t.T + j
        if cell >= 18 and r < high and c < wide:
            s.text(x0 + (c + 0.5) * cell, y0 + (r + 0.5) * cell + 4, t.thread(i, j), anchor="middle")
    _frame(s, x0, y0, cell, (row * t.T, column * t.T, t.side), (high, wide), line=2.5)
    core = (t.K - 1) // 2
    _frame(s, x0, y0, cell, (row * t.T + core, column * t.T + core, t.T), (high, wide), dashed=True)
    for places, fill in ((np.ndindex(*t.out), style.PAPER), (t.outputs(row, column), style.tint("thread", 0.3))):
        s.cells([(x1 + c * cell, y0 + r * cell, cell, cell) for r, c in places], fill=fill)
    s.rect(x1 + q * cell, y0 + p * cell, cell, cell, fill="output")
    for r, c in np.ndindex(*t.grid):
        _frame(s, x1, y0, cell, (r * t.T, c * t.T, t.T), t.out, line=2.5 if (r, c) == (row, column) else 1)
    for k, line in enumerate(key):
        s.text(EDGE, s.height - 17 * (len(key) - k) + 8, line)
    head = f"An input map ({t.H}, {t.W}), {f'framed by {t.pad} of zeros' if t.pad else 'without padding'}, and "
    head += f"{t.grid[0]} x {t.grid[1]} tiles of outputs."
    return picture(s, alt=f"{head} {says}", caption=says)


def _on(t, h, w):
    return 0 <= h < t.H and 0 <= w < t.W


def _frame(s, x, y, cell, tile, ends, **look):
    """Draw a square of cells (row, column, size), cut where the map ends."""
    r, c, size = tile
    s.rect(x + c * cell, y + r * cell, cell * min(size, ends[1] - c), cell * min(size, ends[0] - r), **look)
