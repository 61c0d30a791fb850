"""Figures of lesson 07: a convolution as the matrix of a dense layer, with its zeros and its repeated weights.

The matrix is computed with `course_lib.reference`, the code that the lesson teaches.
"""

import math

import numpy as np
from matplotlib.colors import ListedColormap, to_hex

from course_lib import reference as ops

from . import style
from .svg import Svg


def as_matrix(mask, size, pad=0, stride=1):
    """Return the layer as a matrix, (H_out W_out, H W): 1, 2, ... stand for the weights A0, A1, ..., 0 for a zero.

    Parameters
    ----------
    mask, size : (rows, columns)
        Of the mask and of the image.

    The layer is linear, so column k is what it makes of an image that is 1 at pixel k and 0 elsewhere.
    """
    K_h, K_w = mask
    pixels = size[0] * size[1]
    units = np.eye(pixels).reshape(pixels, 1, *size)
    numbers = np.arange(1.0, K_h * K_w + 1).reshape(1, 1, K_h, K_w)
    return ops.conv2d_forward_windows(units, numbers, stride=stride, pad=pad)[0].reshape(pixels, -1).T.astype(int)


def _weight_shades(kinds):
    """Return kinds + 1 colours: paper for 0, then a shade for each weight; neighbours in the mask differ clearly."""
    columns = math.isqrt(kinds)
    order = sorted(range(kinds), key=lambda k: (k % columns, k // columns))  # light, middle, dark from left to right
    shade = style.shades("weight")
    return [style.PAPER, *(to_hex(shade(0.15 + 0.85 * order.index(k) / max(kinds - 1, 1))) for k in range(kinds))]


def matrix_of_weights(numbers, rows):
    """Return a drawing of `as_matrix`'s result (r, c): a shade and a name A0, A1, ... for each weight.

    rows : list of str, the names of the r outputs. The columns, the pixels I0, I1, ..., are numbered.
    """
    height, width = numbers.shape
    cell_w, cell_h, left, top = 19, 26, 34, 66  # 16 columns fit on a phone, inside a fold
    svg = Svg(max(338, left + width * cell_w + 2), top + height * cell_h + 10)
    kinds, filled = int(numbers.max()), int((numbers > 0).sum())
    svg.text(4, 16, f"T {numbers.shape}: {filled} cells hold the same {kinds} weights,", size=12, bold=True)
    svg.text(4, 33, f"{numbers.size - filled} are 0", size=12, bold=True)
    for j in range(width):
        svg.text(left + (j + 0.5) * cell_w, top - 7, f"{j}", anchor="middle")
    svg.text(left - 8, top - 7, "I", anchor="end", bold=True)
    for i in range(height):
        svg.text(left - 8, top + (i + 0.5) * cell_h + 4.3, rows[i], anchor="end", bold=True)
    shades = _weight_shades(kinds)
    for i, j in sorted(np.ndindex(height, width), key=lambda at: numbers[at] > 0):  # zeros first, below all frames
        k, x, y = numbers[i, j], left + j * cell_w, top + i * cell_h
        ink = style.ink_on(shades[k]) if k else style.MUTED
        svg.rect(x, y, cell_w, cell_h, fill=shades[k], stroke=style.INK if k else style.GRID)
        name = f"A{k - 1}" if k else "0"
        svg.text(x + cell_w / 2, y + cell_h / 2 + 4.3, name, anchor="middle", fill=ink, bold=bool(k))
    return svg


@style.styled
def bands(numbers, title=""):
    """Return a figure of a large `as_matrix` result: zeros are white, every weight has its shade, named in a key."""
    fig, (ax, key) = style.new_figure(4.1, 5.6, 2, 1, height_ratios=(4, 1))
    kinds = int(numbers.max())
    look = dict(cmap=ListedColormap(_weight_shades(kinds)), vmin=-0.5, vmax=kinds + 0.5, interpolation="nearest")
    ax.imshow(numbers, **look)
    ax.set(
        title=f"{title} {numbers.shape}".strip(),
        xlabel="pixel of the input, row after row",
        ylabel="pixel of the output, row after row",
    )
    columns = math.isqrt(kinds)
    mask = np.zeros((-(-kinds // columns), columns), dtype=int)
    mask.ravel()[:kinds] = np.arange(1, kinds + 1)
    key.imshow(mask, **look)
    for i, j in np.argwhere(mask):
        ink = style.ink_on(look["cmap"].colors[mask[i, j]])
        key.text(j, i, f"A{mask[i, j] - 1}", ha="center", va="center", color=ink)
    key.set(title="the mask", xticks=[], yticks=[])
    for part in (ax, key):
        part.grid(False)
        part.spines[:].set_visible(True)
    return fig
