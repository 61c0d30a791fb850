"""Tiles of an output map for lesson 15: how blockIdx.y numbers them, and what a tile without its halo gets wrong.

Source: H, "Partial Kernel Code for a Convolution Layer" (blockIdx.y / W_grid and blockIdx.y % W_grid).
"""

import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap

from course_lib.simt.show.panel import EDGE, IDLE_FILL, WIDTH, Panel, wrapped
from course_lib.validate import require_count

from . import style
from .picture import picture

MOST = 4096
"""Outputs of the largest map that is drawn cell by cell."""


def tile_numbers(H_out, W_out, tile, where=None):
    """Return a picture of an output map, each of its tiles numbered as blockIdx.y counts.

    Parameters
    ----------
    H_out, W_out, tile : int
        Size of the map and side of a tile; tiles at the edges may stand out, which is hatched.
    where : function, optional
        blockIdx.y -> (row, column) of the tile's first output: a kernel's own index arithmetic, which is then checked.
        Default: y -> (y // W_grid * tile, y % W_grid * tile) with W_grid = ceil(W_out / tile), as the lecture's kernel.

    Returns
    -------
    Picture

    Raises
    ------
    ValueError, TypeError
        A size that is no whole number above 0; more than 4,096 outputs; a `where` that gives no place on the map, or
        with which two blocks do one output, or an output is left to nobody: the message names it and the blocks.

    Source: H, "Partial Kernel Code for a Convolution Layer".
    """
    H_out, W_out, tile = (require_count(n, v) for n, v in (("H_out", H_out), ("W_out", W_out), ("tile", tile)))
    if H_out * W_out > MOST:
        raise ValueError(f"the map has {H_out} x {W_out} outputs; at most {MOST:,} are drawn. Show a smaller example.")
    rows, columns = -(-H_out // tile), -(-W_out // tile)
    first = [(y // columns * tile, y % columns * tile) for y in range(rows * columns)]
    if where is not None:
        first = [_place(where(y), y) for y in range(rows * columns)]
    _check_cover(first, H_out, W_out, tile)
    return _drawn(first, H_out, W_out, tile, (rows, columns))


def _place(place, y):
    """Return what `where` said of block y as two whole numbers."""
    if not isinstance(place, tuple | list | np.ndarray) or len(place) != 2:
        raise ValueError(f"where({y}) is {place!r}; it must be (row, column) of the tile's first output.")
    return tuple(require_count(f"{name} of where({y})", int(v), minimum=0)
                 for name, v in zip(("row", "column"), place, strict=True))  # fmt: skip


def _check_cover(first, H_out, W_out, tile):
    """Raise ValueError unless each output is done by exactly one block."""
    done = np.full((H_out, W_out), -1)
    for y, (row, column) in enumerate(first):
        part = done[row : row + tile, column : column + tile]
        if (part >= 0).any():
            p, q = np.argwhere(part >= 0)[0] + (row, column)
            raise ValueError(
                f"blocks {done[p, q]} and {y} both do output ({p}, {q}); each output must belong to one block. Divide "
                "and take the rest by W_grid, the number of tiles in a row."
            )
        part[:] = y
    if (done < 0).any():
        p, q = np.argwhere(done < 0)[0]
        raise ValueError(
            f"no block does output ({p}, {q}); each output must belong to one. Round W_grid and H_grid up, and divide "
            "and take the rest by W_grid."
        )


def _drawn(first, H_out, W_out, tile, grid):
    rows, columns = grid
    cell = min(22, (WIDTH - 2 * EDGE - 2) / (columns * tile))
    past = H_out < rows * tile or W_out < columns * tile
    key = wrapped("Hatched: threads without an output, which the kernel's guard stops.") if past else []
    s = Panel(WIDTH, 34 + rows * tile * cell + 17 * len(key) + 8)
    s.text(EDGE, 18, f"outputs ({H_out}, {W_out}), tiles of {tile} x {tile}: number = blockIdx.y", bold=True)
    on, off = [], []
    for row, column in first:
        for i, j in np.ndindex(tile, tile):
            r, c = row + i, column + j
            (on if r < H_out and c < W_out else off).append((EDGE + c * cell, 28 + r * cell, cell, cell))
    s.cells(on, fill=style.tint("output", 0.12), stroke=style.tint("idle", 0.5))
    s.cells(off, fill=IDLE_FILL, stroke=style.tint("idle", 0.5), hatched=True)
    for y, (row, column) in enumerate(first):
        box = s.rect(EDGE + column * cell, 28 + row * cell, tile * cell, tile * cell, line=2)
        s.circle(box.cx, box.cy, 10 if y < 100 else 13, fill=style.PAPER, stroke="none")
        s.text(box.cx, box.cy + 5, y, anchor="middle", size=14, bold=True)
    for k, line in enumerate(key):
        s.text(EDGE, 28 + rows * tile * cell + 18 + 17 * k, line)
    names = "blockIdx.y = 0" if len(first) == 1 else f"blockIdx.y = 0 to {len(first) - 1}"
    says = f"{rows} rows of {columns} tiles cover the outputs ({H_out}, {W_out}): {names}."
    if first[0] == (0, 0) and columns > 1 and first[1] == (0, tile):
        says += f" The numbers run along the rows: with W_grid = {columns}, y = {columns}·row + column."
    return picture(s, alt=f"{says}{' Hatched threads have no output.' if past else ''}", caption=says)


@style.styled
def error_image(y, right, tile, *, title=""):
    """Return a picture of the outputs that are wrong, with the grid of tiles: where a missing halo leaves its seams.

    Parameters
    ----------
    y, right : array (H_out, W_out)
        What a kernel wrote, and what is right; NaN in `y`, never written, counts as wrong, and so does a difference
        above 1e-4 of the largest right value, or of 1 where that is smaller.
    tile : int
        Side of a tile.

    Returns
    -------
    Picture
        Its alternative text says how many outputs are wrong, and how many of them lie in the last rows or columns of
        a tile.

    Raises
    ------
    ValueError, TypeError
        Arrays that are not two maps of one shape; `right` with NaN; a tile that is no whole number above 0.

    Source: the course's own.
    """
    y, right, tile = np.asarray(y, float), np.asarray(right, float), require_count("tile", tile)
    if y.ndim != 2 or y.shape != right.shape or not y.size:
        raise ValueError(f"y is {y.shape} and right {right.shape}; both must be one map (H_out, W_out), not empty.")
    if not np.isfinite(right).all():
        raise ValueError("right holds NaN or infinity; it must be what the reference computes.")
    tolerance = 1e-4 * max(1.0, float(np.abs(right).max()))
    wrong = ~(np.abs(y - right) <= tolerance)
    H, W = y.shape
    side = min(3.3, 3.0 * W / H)
    fig, ax = style.new_figure(side + 0.4, (side * H / W) + 0.6)
    colours = ListedColormap([style.tint("output", 0.2), style.colour("hazard")])
    ax.imshow(wrong, cmap=colours, norm=BoundaryNorm([0, 0.5, 1], 2), interpolation="nearest")
    for k in range(0, H + 1, tile):
        ax.axhline(k - 0.5, color=style.INK, linewidth=0.8)
    for k in range(0, W + 1, tile):
        ax.axvline(k - 0.5, color=style.INK, linewidth=0.8)
    for p, q in np.argwhere(wrong) if wrong.sum() <= 400 else []:
        ax.plot(q, p, "x", color=style.INK, markersize=4, markeredgewidth=1)
    ax.set(xticks=range(0, W, tile), yticks=range(0, H, tile), xlim=(-0.5, W - 0.5), ylim=(H - 0.5, -0.5))
    ax.grid(False)
    ax.set_title(title or f"{wrong.sum()} of {y.size} outputs wrong")
    says = _wrong_words(wrong, tile)
    return picture(fig, alt=says, caption=says)


def _wrong_words(wrong, tile):
    """Return how many outputs are wrong, and how deep the band along the tiles' ends is in which all of them lie."""
    H, W = wrong.shape
    if not wrong.any():
        return f"All {wrong.size} outputs ({H}, {W}) are right, in all tiles of {tile} x {tile}."
    p, q = np.nonzero(wrong)
    depth = int(np.minimum(tile - p % tile, tile - q % tile).max())
    head = f"{len(p)} of {wrong.size} outputs ({H}, {W}) are wrong"
    if depth >= tile:
        return f"{head}; they reach through whole tiles of {tile} x {tile}."
    which = "the last row or column" if depth == 1 else f"the last {depth} rows or columns"
    return f"{head}, each of them in {which} of its tile of {tile} x {tile}: the seams where the halo is missing."
