"""Figures of lesson 08: the winners of max pooling, dE/dw and dE/dx as sliding masks, the unrolled matrix.

Every number drawn here is computed with `course_lib.reference`, the code that the lesson teaches.
"""

import numpy as np

from course_lib import reference as ops

from . import style
from .picture import picture
from .stepper import stepper
from .svg import LABEL, MINUS, Svg, text_width

CELL = (44, 40)  # width and height of a cell that holds two lines
SMALL = (36, 40)  # the same, where nine stand side by side on a phone
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
    step = size if stride is None else stride
    winners = sorted({divmod(int(place), x.shape[1]) for place in places.ravel()})
    small, wide = max(34 * y.shape[1], 96), max(34 * x.shape[1], 88)
    tall, low = LABEL + 28 * x.shape[0], LABEL + 28 * y.shape[0]
    row = max(low, tall) + 16  # from one small matrix to the next; x and dx stand beside the gaps between them
    right, middle = 8 + wide + ARROW, 8 + (row + low - tall) / 2
    svg = Svg(right + small + 8, 2 * row + low + 16)
    look = dict(fmt="{:g}", cell=(34, 28))
    first = svg.matrix(x, 8, middle, name="x", role="data", **look)
    last = svg.matrix(dx, 8, middle + row, name="dx", role="gradient", **look)
    kept = svg.matrix(y, right, 8, name="y", role="output", **look)
    place = svg.matrix(places, right, 8 + row, name="place", role="thread", **look)
    upstream = svg.matrix(dy, right, 8 + 2 * row, name="dy", role="gradient", **look)
    if step == size:  # the windows share no pixel: lines between them
        for k in range(1, y.shape[1]):
            _divider(svg, first.x + 34 * size * k, first.y - 6, first.x + 34 * size * k, first.bottom + 6)
        for k in range(1, y.shape[0]):
            _divider(svg, first.x - 6, first.y + 28 * size * k, first.right + 6, first.y + 28 * size * k)
    for box in (first, last):
        for i, j in winners:
            svg.rect(box.x + 34 * j + 4, box.y + 28 * i + 4, 26, 20, line=2.5)
    for other in (kept, place):  # there
        svg.arrow(first.right + 6, first.cy, right - 6, other.cy, stroke=style.MUTED)
    for other in (place, upstream):  # and back
        svg.arrow(right - 6, other.cy, last.right + 6, last.cy, stroke=style.MUTED)
    return svg


def _divider(svg, x0, y0, x1, y1):
    """Draw a dashed line that stands out of the matrix, so that no frame is taken for it."""
    svg.line(x0, y0, x1, y1, line=3, dashed=True)


def full_convolution(dy, w):
    """Return dE/dX (H, W) of one map, the convolution of padded dy (H_out, W_out) with flipped w (K_h, K_w)."""
    K_h, K_w = w.shape
    return ops.conv2d_forward(dy[None, None], w[None, None, ::-1, ::-1], pad=(K_h - 1, K_w - 1))[0][0, 0]


def full_convolution_frames(dy, w):
    """Return one picture for each pixel of dx: the flipped mask over the padded dy, its products, and dx so far.

    Parameters
    ----------
    dy : array (H_out, W_out)
    w : array (K_h, K_w)
        The mask as the forward pass used it, not flipped.
    """
    dx = full_convolution(dy, w)
    heads = {at: _full_head(dy, w, dx, *at) for at in np.ndindex(dx.shape)}
    width = max(text_width(head, 14) for head in heads.values())
    return [_full_frame(dy, w, dx, h, v, head, width) for (h, v), head in heads.items()]


def full_convolution_stepper(dy, w):
    """Return the stepper of `full_convolution_frames`."""
    inner = (w.shape[0] - 1) * (dy.shape[1] + w.shape[1] - 1) + w.shape[1] - 1  # the first pixel under a whole mask
    title = "dE/dx as a full convolution: the flipped mask slides over dy and its border of zeros"
    return stepper(full_convolution_frames(dy, w), title=title, static=inner)


def weight_gradient_frames(x, dy):
    """Return one picture for each weight: dy (H_out, W_out) over the map x (H, W), the products, and dw so far."""
    dw = ops.conv2d_forward(x[None, None], dy[None, None])[0][0, 0]
    heads = {at: _weight_head(x, dy, dw, *at) for at in np.ndindex(dw.shape)}
    width = max(text_width(line, 14) for head in heads.values() for line in head)
    return [_weight_frame(x, dy, dw, p, q, head, width) for (p, q), head in heads.items()]


def weight_gradient_stepper(x, dy):
    """Return the stepper of `weight_gradient_frames`."""
    return stepper(weight_gradient_frames(x, dy), title="dE/dw: dy slides over x like a mask", static=0)


def _weight_head(x, dy, dw, p, q):
    window = x[p : p + dy.shape[0], q : q + dy.shape[1]]
    rows = [" + ".join(f"{d:g}·{v:g}" for d, v in zip(*pair, strict=True)) for pair in zip(dy, window, strict=True)]
    lines = [f"{'+' if k else f'dw[{p}, {q}] ='} ({row})" for k, row in enumerate(rows)]  # a line a row, for phones
    return [*lines[:-1], f"{lines[-1]} = {dw[p, q]:g}"]


def _weight_frame(x, dy, dw, p, q, head, width):
    top = 20 + 20 * len(head)
    left = 8 + max(x.shape[1] * CELL[0], 80) + 36
    below = top + LABEL + max(x.shape[0], dy.shape[0]) * CELL[1] + 14  # dw stands below, so that a phone shows it all
    wide = max(left + max(dy.shape[1] * CELL[0], 80), 8 + dw.shape[1] * CELL[0], 8 + width) + 8
    svg = Svg(wide, below + LABEL + dw.shape[0] * CELL[1] + 8)
    for k, line in enumerate(head):
        svg.text(8, 22 + 20 * k, _minus(line), size=14, bold=True)
    grid = svg.matrix(x, 8, top, name="x", role="data", fmt="", cell=CELL)
    _overlay(svg, grid, x, dy, (p, q), "gradient")
    svg.matrix(dy, left, top, name="dy", role="gradient", fmt="{:g}", cell=CELL)
    done = np.arange(dw.size).reshape(dw.shape) <= p * dw.shape[1] + q
    svg.matrix(dw, 8, below, name="dw", role="gradient", fmt="{:g}", empty=~done, cell=CELL, highlight=[(p, q)])
    return picture(
        svg,
        alt=f"dy lies on x from row {p} and column {q}; the {dy.size} products add up to dw[{p}, {q}] = {dw[p, q]:g}.",
        caption=f"Weight ({p}, {q}) met the framed pixels: each of them times the dy of the output it helped to make.",
    )


def _overlay(svg, grid, values, mask, corner, role, outside=None):
    """Write `values` into the cells of `grid` and, below those that the mask covers from `corner` on, its numbers."""
    (width, height), (h, v) = CELL, corner
    for i, j in np.ndindex(values.shape):
        x, y = grid.x + j * width, grid.y + i * height
        covered = h <= i < h + mask.shape[0] and v <= j < v + mask.shape[1]
        if covered:
            svg.rect(x + 3, y + height - 18, width - 6, 15, fill=style.tint(role, 0.45), stroke="none")
            svg.text(x + width / 2, y + height - 6, _minus(f"× {mask[i - h, j - v]:g}"), anchor="middle")
        svg.text(
            x + width / 2,
            y + (16 if covered else height / 2 + 4),
            _minus(f"{values[i, j]:g}"),
            anchor="middle",
            fill=style.MUTED if outside is not None and outside[i, j] else style.INK,
        )
    svg.rect(grid.x + v * width, grid.y + h * height, mask.shape[1] * width, mask.shape[0] * height, line=3)


def _full_products(dy, w, h, v):
    """Return the products of dy and the flipped mask at pixel (h, v), as text, row after row."""
    flipped, border = w[::-1, ::-1], [(k - 1, k - 1) for k in w.shape]
    inside = np.pad(np.ones(dy.shape, bool), border)[h : h + w.shape[0], v : v + w.shape[1]]
    window = np.pad(dy, border)[h : h + w.shape[0], v : v + w.shape[1]]
    return [f"{d:g}·{m:g}" for d, m in zip(window[inside], flipped[inside], strict=True)]


def _full_head(dy, w, dx, h, v):
    return f"dx[{h}, {v}] = {' + '.join(_full_products(dy, w, h, v))} = {dx[h, v]:g}"


def _full_frame(dy, w, dx, h, v, head, wide):
    K_h, K_w = w.shape
    flipped = w[::-1, ::-1]
    border = ((K_h - 1, K_h - 1), (K_w - 1, K_w - 1))
    padded = np.pad(dy, border)
    outside = np.pad(np.zeros(dy.shape, bool), border, constant_values=True)
    products = _full_products(dy, w, h, v)
    width, height = CELL
    left = 8 + max(padded.shape[1] * width, 110) + 28
    below = 40 + LABEL + max(padded.shape[0] * height, 2 * K_h * height + 16 + LABEL) + 14  # dx: a phone shows it all
    right = max(left + max(K_w * width, 112), 8 + dx.shape[1] * width, 8 + wide)
    svg = Svg(right + 8, below + LABEL + dx.shape[0] * height + 8)
    svg.text(8, 22, _minus(head), size=14, bold=True)
    grid = svg.matrix(padded, 8, 40, name="dy, padded", role="gradient", fmt="", empty=outside, cell=CELL)
    _overlay(svg, grid, padded, flipped, (h, v), "weight", outside)
    mask = svg.matrix(w, left, 40, name="w", role="weight", fmt="{:g}", cell=CELL)
    svg.matrix(flipped, left, mask.bottom + 16, name="w flipped", role="weight", fmt="{:g}", cell=CELL)
    done = np.arange(dx.size).reshape(dx.shape) <= h * dx.shape[1] + v
    svg.matrix(dx, 8, below, name="dx", role="gradient", fmt="{:g}", empty=~done, cell=CELL, highlight=[(h, v)])
    return picture(
        svg,
        alt=f"dx[{h}, {v}] is {' + '.join(products)} = {dx[h, v]:g}; "
        f"{len(products)} of the {w.size} mask elements lie on dy, the rest on zeros.",
        caption=f"Pixel ({h}, {v}) was seen by {_times(len(products), 'window')}: {_times(len(products), 'product')}.",
    )


def _minus(text):
    return text.replace("-", MINUS)


def _times(n, word):
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def unrolled(x, mask, pixel):
    """Return a drawing of one map x (H, W) and its unrolled matrix (K_h K_w, places); every copy of `pixel` is framed.

    Parameters
    ----------
    x : array (H, W)
    mask : pair (K_h, K_w)
    pixel : pair (row, column)

    Each cell holds the value and, below it, the row and column of the pixel it was copied from; only the copies of
    `pixel` are shaded.
    """
    source = source_pixels(x.shape, mask)
    cols = ops.im2col(x[None, None], mask)[0]
    width, height = SMALL
    places, left = cols.shape[1], 50
    under = 28 + x.shape[0] * height + 16  # the matrix stands below the map, so that a phone shows it all
    svg = Svg(left + max(places * width, x.shape[1] * width, 110) + 8, under + LABEL + cols.shape[0] * height + 26)
    _cells(svg, x, np.arange(x.size).reshape(x.shape), (left, 8), "x", x.shape, pixel)
    _cells(svg, cols, source, (left, under), "unrolled x", x.shape, pixel)
    W_out, first = x.shape[1] - mask[1] + 1, under + LABEL
    bottom = first + cols.shape[0] * height + 16
    svg.text(left - 6, bottom, "y at", anchor="end", fill=style.MUTED)
    for place in range(places):
        name = f"{place // W_out},{place % W_out}"
        svg.text(left + (place + 0.5) * width, bottom, name, anchor="middle", fill=style.MUTED)
    for row in range(cols.shape[0]):
        name = f"w[{row // mask[1]},{row % mask[1]}]"
        svg.text(left - 6, first + (row + 0.5) * height + 4, name, anchor="end", fill=style.MUTED)
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
        caption=f"Pixel ({pixel[0]}, {pixel[1]}) with value {x[pixel]:g} stands in {where}: "
        f"thick frame{'s' * (copies > 1)}.",
    )


def unrolled_stepper(x, mask):
    """Return a stepper of `unrolled_picture`: the copies of a corner, of a pixel at an edge, and of one inside."""
    H, W = x.shape
    pixels = dict.fromkeys([(0, 0), (0, W // 2), (H // 2, W // 2), (H - 1, W // 2), (H - 1, W - 1)])
    frames = [unrolled_picture(x, mask, pixel) for pixel in pixels]
    return stepper(frames, title="Where do the copies of a pixel stand?", static=min(2, len(frames) - 1))


def source_pixels(shape, mask):
    """Return, for each element of the unrolled matrix, the pixel row * W + column that it was copied from."""
    numbers = np.arange(shape[0] * shape[1], dtype=float).reshape(1, 1, *shape)
    return ops.im2col(numbers, mask)[0].astype(int)


def _cells(svg, values, source, corner, name, shape, pixel):
    (width, height), (left, top), chosen = SMALL, corner, pixel[0] * shape[1] + pixel[1]
    svg.matrix(values, left, top, name=name, role="data", fmt="", cell=SMALL)
    top += LABEL
    for i, j in np.ndindex(values.shape):
        row, column = divmod(int(source[i, j]), shape[1])
        x, y = left + j * width, top + i * height
        ground = style.tint("gradient", 0.35) if source[i, j] == chosen else style.PAPER
        svg.rect(x, y, width, height, fill=ground, stroke="idle")
        svg.text(x + width / 2, y + 17, _minus(f"{values[i, j]:g}"), anchor="middle", size=14, bold=True)
        svg.text(x + width / 2, y + 33, f"({row},{column})", anchor="middle")
    for i, j in np.argwhere(source == chosen):
        x, y = left + j * width, top + i * height
        svg.rect(x + 1, y + 1, width - 2, height - 2, stroke=style.PAPER, line=6)
        svg.rect(x + 1, y + 1, width - 2, height - 2, stroke="gradient", line=3.5)


@style.styled
def copies(counts, *, title=""):
    """Return a map of how often each pixel is copied; counts (H, W) whole numbers."""
    counts = np.asarray(counts)
    fig, ax = style.new_figure(4.1, 3.4)
    drawn = ax.imshow(counts, cmap=style.shades("data"), vmin=0)
    ax.set(xlabel="column", ylabel="row", title=title)
    ax.grid(False)
    shift = max(counts.shape) / 5
    for i, j in {(0, 0), (counts.shape[0] // 2, counts.shape[1] // 2), (0, counts.shape[1] // 2)}:
        ax.annotate(
            f"{counts[i, j]:g}",
            (j, i),
            xytext=(j + shift, i + shift),
            ha="center",
            va="center",
            bbox=dict(facecolor=style.PAPER, edgecolor=style.INK, boxstyle="round"),
            arrowprops=dict(arrowstyle="simple", facecolor=style.PAPER, edgecolor=style.INK),
        )
    fig.colorbar(drawn, ax=ax, label="copies of the pixel")
    return fig
