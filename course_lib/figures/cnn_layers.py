"""Figures of lesson 08: the winners of max pooling, dE/dX as a sliding full convolution, the unrolled matrix.

Every number drawn here is computed with `course_lib.reference`, the code that the lesson teaches.
"""

import matplotlib
import numpy as np
from matplotlib.colors import to_hex

from course_lib import reference as ops

from . import style
from .picture import picture
from .stepper import stepper
from .svg import LABEL, Svg

CELL = (44, 40)  # width and height of a cell that holds two lines
ARROW = 40  # room for an arrow between two matrices


def pooling_routes(x, dy, size=2, stride=None):
    """Return a drawing of max pooling there and back: x, the winners' places, dy, and where each dy ends in dx.

    Parameters
    ----------
    x : array (H, W)
        One map.
    dy : array (H_out, W_out)
        The upstream gradient.
    size, stride : int
        As in `ops.max_pool_forward`.
    """
    y, cache = ops.max_pool_forward(x[None, None], size, stride)
    dx = ops.max_pool_backward(np.asarray(dy, dtype=float)[None, None], cache)[0, 0]
    y, places = y[0, 0], cache[1][0, 0]
    winners = sorted({divmod(int(place), x.shape[1]) for place in places.ravel()})
    cell, small = (34, 28), max(34 * y.shape[1], 88)
    wide = max(34 * x.shape[1], 80)
    tall = LABEL + 28 * x.shape[0]
    svg = Svg(2 * wide + 3 * small + 4 * ARROW + 16, tall + 16)
    left, drawn = 8, []
    for name, values, role, marked, room in (
        ("x", x, "data", winners, wide),
        ("y", y, "output", (), small),
        ("place", places, "thread", (), small),
        ("dy", dy, "gradient", (), small),
        ("dx", dx, "gradient", winners, wide),
    ):
        top = 8 + (x.shape[0] - np.shape(values)[0]) * 14
        drawn.append(svg.matrix(values, left, top, name=name, role=role, fmt="{:g}", cell=cell, highlight=marked))
        left += room + ARROW
    for one, other in ((drawn[0], drawn[1]), (drawn[3], drawn[4])):  # there, and back
        svg.arrow(one.right + 8, other.cy, other.x - 8, other.cy, stroke=style.MUTED)
    return svg


def full_convolution(dy, w):
    """Return dE/dX (H, W) of one map, the convolution of padded dy (H_out, W_out) with flipped w (K_h, K_w)."""
    K_h, K_w = w.shape
    return ops.conv2d_forward(dy[None, None], w[None, None, ::-1, ::-1], pad=(K_h - 1, K_w - 1))[0][0, 0]


def full_convolution_frames(dy, w):
    """Return one picture for each pixel of dX: the flipped mask over the padded dy, its products, and dX so far.

    Parameters
    ----------
    dy : array (H_out, W_out)
    w : array (K_h, K_w)
        The mask as the forward pass used it, not flipped.
    """
    dx = full_convolution(dy, w)
    return [_full_frame(dy, w, dx, h, v) for h, v in np.ndindex(dx.shape)]


def full_convolution_stepper(dy, w):
    """Return the stepper of `full_convolution_frames`."""
    inner = (w.shape[0] - 1) * (dy.shape[1] + w.shape[1] - 1) + w.shape[1] - 1  # the first pixel under a whole mask
    title = "dE/dX as a full convolution: the flipped mask slides over dE/dY and its border of zeros"
    return stepper(full_convolution_frames(dy, w), title=title, static=inner)


def _full_frame(dy, w, dx, h, v):
    K_h, K_w = w.shape
    flipped = w[::-1, ::-1]
    padded = np.pad(dy, ((K_h - 1, K_h - 1), (K_w - 1, K_w - 1)))
    outside = np.pad(np.zeros(dy.shape, bool), ((K_h - 1, K_h - 1), (K_w - 1, K_w - 1)), constant_values=True)
    window, inside = padded[h : h + K_h, v : v + K_w], ~outside[h : h + K_h, v : v + K_w]
    products = [f"{d:g}·{m:g}" for d, m in zip(window[inside], flipped[inside], strict=True)]
    total = " + ".join(products) + f" = {dx[h, v]:g}"

    width, height = CELL
    left = (8, 8 + padded.shape[1] * width + 36)
    left += (left[1] + max(K_w * width, 118) + 36,)
    tall = max(padded.shape[0] * height, 2 * K_h * height + 16 + LABEL)
    svg = Svg(left[2] + dx.shape[1] * width + 8, 40 + LABEL + tall + 8)
    svg.text(8, 22, f"dX[{h}, {v}] = {total}".replace("-", "−"), size=14, bold=True)
    grid = svg.matrix(padded, left[0], 40, name="dY, padded", role="gradient", fmt="", empty=outside, cell=CELL)
    for i, j in np.ndindex(padded.shape):
        x, y = grid.x + j * width, grid.y + i * height
        p, q = i - h, j - v
        covered = 0 <= p < K_h and 0 <= q < K_w
        if covered:
            svg.rect(x + 3, y + height - 18, width - 6, 15, fill=style.tint("weight", 0.45), stroke="none")
            svg.text(x + width / 2, y + height - 6, f"× {flipped[p, q]:g}".replace("-", "−"), anchor="middle")
        svg.text(
            x + width / 2,
            y + (16 if covered else height / 2 + 4),
            f"{padded[i, j]:g}".replace("-", "−"),
            anchor="middle",
            fill=style.MUTED if outside[i, j] else style.INK,
        )
    svg.rect(grid.x + v * width, grid.y + h * height, K_w * width, K_h * height, line=3)
    mask = svg.matrix(w, left[1], 40, name="w", role="weight", fmt="{:g}", cell=CELL)
    svg.matrix(flipped, left[1], mask.bottom + 16, name="w flipped", role="weight", fmt="{:g}", cell=CELL)
    done = np.arange(dx.size).reshape(dx.shape) <= h * dx.shape[1] + v
    svg.matrix(dx, left[2], 40, name="dX", role="gradient", fmt="{:g}", empty=~done, cell=CELL, highlight=[(h, v)])
    return picture(
        svg,
        alt=f"dX[{h}, {v}] is {total}; {len(products)} of the {w.size} mask elements lie on dY, the rest on zeros.",
        caption=f"Pixel ({h}, {v}) was seen by {_times(len(products), 'window')}: {_times(len(products), 'product')}.",
    )


def _times(n, word):
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def unrolled(x, mask, pixel):
    """Return a drawing of one map x (H, W) and its unrolled matrix (K_h K_w, places); every copy of `pixel` is framed.

    Parameters
    ----------
    x : array (H, W)
    mask : pair (K_h, K_w)
    pixel : pair (row, column)

    Each cell holds the value and, below it, the row and column of the pixel it was copied from; cells from one pixel
    share a colour.
    """
    source = source_pixels(x.shape, mask)
    cols = ops.im2col(x[None, None], mask)[0]
    width, height = CELL
    places = cols.shape[1]
    left = 8 + x.shape[1] * width + 96
    svg = Svg(left + places * width + 8, 28 + max(x.shape[0], cols.shape[0]) * height + 26)
    _cells(svg, x, np.arange(x.size).reshape(x.shape), 8, "x", x.shape, pixel)
    _cells(svg, cols, source, left, "unrolled x", x.shape, pixel)
    W_out = x.shape[1] - mask[1] + 1
    bottom = 28 + cols.shape[0] * height
    for place in range(places):
        name = f"y[{place // W_out},{place % W_out}]"
        svg.text(left + (place + 0.5) * width, bottom + 16, name, anchor="middle", fill=style.MUTED)
    for row in range(cols.shape[0]):
        name = f"w[{row // mask[1]},{row % mask[1]}]"
        svg.text(left - 6, 28 + (row + 0.5) * height + 4, name, anchor="end", fill=style.MUTED)
    return svg


def unrolled_picture(x, mask, pixel):
    """Return `unrolled` as a Picture whose text says how many copies the pixel has."""
    copies = int(np.sum(source_pixels(x.shape, mask) == pixel[0] * x.shape[1] + pixel[1]))
    where = _times(copies, "column")
    shape = ops.im2col(x[None, None], mask).shape[1:]
    return picture(
        unrolled(x, mask, pixel),
        alt=f"The {x.size} pixels become a matrix {shape} of {shape[0] * shape[1]}; "
        f"pixel ({pixel[0]}, {pixel[1]}) stands in {where}.",
        caption=f"Pixel ({pixel[0]}, {pixel[1]}) with value {x[pixel]:g} stands in {where}: thick frames.",
    )


def source_pixels(shape, mask):
    """Return, for each element of the unrolled matrix, the pixel row * W + column that it was copied from."""
    numbers = np.arange(shape[0] * shape[1], dtype=float).reshape(1, 1, *shape)
    return ops.im2col(numbers, mask)[0].astype(int)


def _cells(svg, values, source, left, name, shape, pixel):
    width, height = CELL
    colours = matplotlib.colormaps[style.SEQUENTIAL]
    svg.matrix(values, left, 8, name=name, role="data", fmt="", cell=CELL)
    for i, j in np.ndindex(values.shape):
        row, column = divmod(int(source[i, j]), shape[1])
        ground = to_hex(colours(source[i, j] / max(shape[0] * shape[1] - 1, 1)))
        x, y, ink = left + j * width, 28 + i * height, style.ink_on(ground)
        svg.rect(x, y, width, height, fill=ground, stroke=style.PAPER)
        svg.text(
            x + width / 2, y + 17, f"{values[i, j]:g}".replace("-", "−"), anchor="middle", size=14, bold=True, fill=ink
        )
        svg.text(x + width / 2, y + 33, f"({row},{column})", anchor="middle", fill=ink)
    for i, j in np.argwhere(source == pixel[0] * shape[1] + pixel[1]):
        x, y = left + j * width, 28 + i * height
        svg.rect(x + 1, y + 1, width - 2, height - 2, stroke=style.PAPER, line=6)
        svg.rect(x + 1, y + 1, width - 2, height - 2, stroke="gradient", line=3.5)


@style.styled
def copies(counts, *, title=""):
    """Return a map of how often each pixel is copied; counts (H, W) whole numbers."""
    counts = np.asarray(counts)
    fig, ax = style.new_figure(5.2, 3.9)
    drawn = ax.imshow(counts, cmap=style.shades("data"), vmin=0)
    ax.set(xlabel="column", ylabel="row", title=title)
    ax.grid(False)
    for i, j in {(0, 0), (counts.shape[0] // 2, counts.shape[1] // 2), (0, counts.shape[1] // 2)}:
        ground = to_hex(drawn.cmap(drawn.norm(counts[i, j])))
        ax.text(max(j, 0.6), max(i, 0.4), f"{counts[i, j]:g}", ha="center", va="center", color=style.ink_on(ground))
    fig.colorbar(drawn, ax=ax, label="copies of the pixel")
    return fig
