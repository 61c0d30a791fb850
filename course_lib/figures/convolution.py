"""Figures of lesson 07: a mask that slides over several maps, what it never sees, and maps of a moved image.

Every number drawn here is computed with `course_lib.reference`, the code that the lesson teaches.
"""

import numpy as np
from matplotlib.patches import Rectangle

from course_lib import reference as ops

from . import style
from .picture import picture
from .plots import curves
from .signed import signed
from .stepper import stepper
from .svg import MINUS, Svg

CELL, GAP = 26, 26  # side of a cell; room between two columns of the stepper
SIDE = 372  # of the square that an image fills in `coverage`


def slide_frames(x, w, stride=1):
    """Return the pictures of one mask sliding over the maps of an image, one map after another at each place.

    Parameters
    ----------
    x : (C, H, W) array
    w : (C, K_h, K_w) array
        The masks of one output map.
    stride : int

    There are C pictures for each place; already the first one has a sum.
    """
    x, w = np.asarray(x, float), np.asarray(w, float)
    y = ops.conv2d_forward(x[None], w[None], stride=stride)[0][0, 0]
    places = [(h, v, c) for h, v in np.ndindex(y.shape) for c in range(len(x))]
    return [_slide_frame(x, w, y, stride, place) for place in places]


def slide_stepper(x, w, stride=1):
    """Return the stepper of `slide_frames`; without scripts it shows the last map of the first place."""
    title = "The mask slides: multiply what lies on top of each other, add over the mask and over the maps"
    return stepper(slide_frames(x, w, stride), title=title, static=len(x) - 1)


def _slide_frame(x, w, y, stride, place):
    (C, H, W), (_, K_h, K_w) = x.shape, w.shape
    h, v, now = place
    window = x[:, h * stride : h * stride + K_h, v * stride : v * stride + K_w]
    sums = (window * w).sum(axis=(1, 2))
    row = 20 + max(H * CELL, K_h * CELL + 20) + 18  # the sum stands below the products
    at_w = 10 + max(W * CELL, 84) + GAP
    at_p = at_w + max(K_w * CELL, 84) + GAP
    at_y = 44 + C * row
    svg = Svg(max(at_p + max(K_w * (CELL + 6), 108), y.shape[1] * 38) + 10, at_y + 20 + y.shape[0] * CELL + 10)
    svg.text(10, 22, _headline(h, v, now, sums), size=14, bold=True)
    for c in range(C):
        top = 44 + c * row
        maps = svg.matrix(x[c], 10, top, name=f"x[{c}]", role="data", fmt="{:g}", cell=(CELL, CELL))
        masks = svg.matrix(w[c], at_w, top, name=f"w[{c}]", role="weight", fmt="{:g}", cell=(CELL, CELL))
        corner = (maps.x + v * stride * CELL, maps.y + h * stride * CELL, K_w * CELL, K_h * CELL)
        svg.rect(*corner, line=3.5 if c == now else 2, dashed=c != now)
        hidden = c > now
        done = svg.matrix(
            window[c] * w[c], at_p, top, name="products", role="data", fmt="{:g}", empty=hidden, cell=(CELL + 6, CELL)
        )
        middle = masks.cy + 5
        svg.text(masks.x - GAP / 2 - 4, middle, "\N{MULTIPLICATION SIGN}", anchor="middle", size=16)
        svg.text(done.x - GAP / 2 - 4, middle, "=", anchor="middle", size=16)
        if not hidden:
            svg.text(done.x, done.bottom + 17, f"sum {_sign(sums[c])}", bold=c == now)
    shown = np.full(y.shape, np.nan)
    before = np.arange(y.size).reshape(y.shape) < h * y.shape[1] + v
    shown[before] = y[before]
    shown[h, v] = sums[: now + 1].sum()
    svg.matrix(shown, 10, at_y, name="y", role="output", fmt="{:g}", cell=(38, CELL), highlight=[(h, v)])
    return picture(svg, alt=_slide_alt(h, v, now, sums), caption=_slide_caption(h, v, now, sums))


def _sign(value):
    return f"{value:g}".replace("-", MINUS)


def _total(sums, now):
    """Write "4 + 3 = 7", the sums of the maps so far."""
    terms = " + ".join(_sign(s) if s >= 0 else f"({_sign(s)})" for s in sums[: now + 1])
    return terms if now == 0 else f"{terms} = {_sign(sums[: now + 1].sum())}"


def _headline(h, v, now, sums):
    ending = "" if now == len(sums) - 1 else ", not finished"
    return f"y[{h}, {v}] = {_total(sums, now)}{ending}"


def _slide_caption(h, v, now, sums):
    add = f"Map {now}, row {h} and column {v} of y: the products of the framed window add up to {_sign(sums[now])}."
    more = "One more map is to come." if now == len(sums) - 2 else f"{len(sums) - 1 - now} more maps are to come."
    return f"{add} {more if now < len(sums) - 1 else f'That was the last map: y[{h}, {v}] is finished.'}"


def _slide_alt(h, v, now, sums):
    at, total = f"y[{h}, {v}]", sums[: now + 1].sum()
    return f"Window at {at}, map {now}: its sum is {sums[now]:g}, so {at} is now {total:g}."


def visits(size, mask, stride=1, pad=0):
    """Return how many windows see each pixel of the padded image, (size + 2 pad, size + 2 pad) int array."""
    padded = size + 2 * pad
    places = ops.output_size(size, mask, stride, pad) ** 2
    ones = np.ones((1, mask * mask, places))
    return ops.col2im(ones, (1, 1, padded, padded), mask, stride)[0, 0].astype(int)


def never_seen(size, mask, stride=1, pad=0):
    """Return a bool array (size, size): True for pixels of the image, without padding, that no window sees."""
    return visits(size, mask, stride, pad)[pad : pad + size, pad : pad + size] == 0


def coverage(size, mask, stride=1, pad=0):
    """Return a picture of an image size x size: how many windows see each pixel, and which pixels none sees."""
    seen, lost = visits(size, mask, stride, pad), int(never_seen(size, mask, stride, pad).sum())
    places, padded = ops.output_size(size, mask, stride, pad), size + 2 * pad
    cell = min(44, SIDE // padded)
    svg = Svg(SIDE + 20, 66 + SIDE + 182)  # the same sheet for every choice, so that nothing jumps
    over = size - mask + 2 * pad
    ratio = f"{over / stride:.4g}" if over % stride else f"{over // stride}"
    svg.text(10, 20, f"H_out = 1 + floor(({size} {MINUS} {mask} + 2·{pad}) / {stride})", size=13, bold=True)
    svg.text(10, 38, f"= 1 + floor({ratio}) = {places}" if over % stride else f"= 1 + {ratio} = {places}", size=13)
    svg.text(10, 56, f"{lost} of {size * size} pixels are never seen" if lost else "every pixel is seen", size=13)
    left, top = 10, 66
    for i, j in np.ndindex(padded, padded):
        at = (left + j * cell, top + i * cell, cell, cell)
        middle = (at[0] + cell / 2, at[1] + cell / 2 + 4.3)
        inside = pad <= i < pad + size and pad <= j < pad + size
        if not inside:
            svg.rect(*at, fill=style.PAPER, stroke="idle", dashed=True)
            svg.text(*middle, "0", anchor="middle", fill=style.MUTED)
        elif seen[i, j]:
            svg.rect(*at, fill=style.tint("data", 0.08 + 0.4 * seen[i, j] / 25), stroke="data")
            svg.text(*middle, f"{seen[i, j]}", anchor="middle")
        else:
            _crossed(svg, *at)
    last = (places - 1) * stride
    svg.rect(left, top, mask * cell, mask * cell, line=3)
    svg.rect(left + last * cell, top + last * cell, mask * cell, mask * cell, line=3)
    _coverage_legend(svg, left, top + SIDE + 14, places, pad)
    return picture(
        svg,
        alt=_coverage_alt(size, mask, stride, pad, places, lost),
        caption=_coverage_caption(size, mask, stride, pad, lost),
    )


def coverage_stepper(settings):
    """Return a stepper of `coverage`, one picture for each (size, mask, stride, pad) of `settings`.

    No errors of its own; those of `coverage`. Source: the course's own.
    """
    frames = [coverage(*setting) for setting in settings]
    return stepper(frames, title="Which pixels does a window see?", static=0)


def _crossed(svg, x, y, width, height):
    svg.rect(x, y, width, height, fill=style.tint("hazard", 0.6), stroke="hazard")
    svg.line(x + 6, y + 6, x + width - 6, y + height - 6, line=2)
    svg.line(x + 6, y + height - 6, x + width - 6, y + 6, line=2)


def _coverage_legend(svg, x, y, places, pad):
    cell = 26
    lines = (
        ("number: so many windows", "see this pixel"),
        ("cross: no window", "sees this pixel"),
        ("thick frames: the first", "and the last window"),
        ("dashed 0: padding",),
    )
    for k, words in enumerate(lines[: 4 if pad else 3]):
        at = (x, y + 42 * k, cell, cell)
        if k == 0:
            svg.rect(*at, fill=style.tint("data", 0.2), stroke="data")
            svg.text(x + cell / 2, at[1] + 17.3, "4", anchor="middle")
        elif k == 1:
            _crossed(svg, *at)
        elif k == 2:
            svg.rect(*at, line=3)
        else:
            svg.rect(*at, fill=style.PAPER, stroke="idle", dashed=True)
            svg.text(x + cell / 2, at[1] + 17.3, "0", anchor="middle", fill=style.MUTED)
        for n, word in enumerate(words):
            svg.text(x + cell + 10, at[1] + (17 if len(words) == 1 else 10 + 16 * n), word)
    svg.text(x + 230, y + 12, f"y ({places}, {places})", bold=True)
    for i, j in np.ndindex(places, places):
        side = min(15, 136 / places)
        svg.rect(x + 230 + j * side, y + 22 + i * side, side, side, fill=style.tint("output"), stroke="output")


def _coverage_alt(size, mask, stride, pad, places, lost):
    setting = f"Image {size} by {size}, mask {mask}, stride {stride}, pad {pad}: {places} by {places} places, "
    return setting + (f"and {lost} of {size * size} pixels are never seen." if lost else "and every pixel is seen.")


def _coverage_caption(size, mask, stride, pad, lost):
    if not lost:
        rest = ops.unseen(size, mask, stride, pad)
        return f"The windows reach every pixel. {f'What is left over, {rest} at the end, is padding.' if rest else ''}"
    rows = np.flatnonzero(never_seen(size, mask, stride, pad).all(axis=1)) + pad
    end = (ops.output_size(size, mask, stride, pad) - 1) * stride + mask  # of the last window
    where = ["between the windows, which do not touch"] * bool((rows < end).any())
    where += ["at the lower and right edge"] * bool((rows >= end).any())
    return f"Whatever stands in the pixels with a cross, {' and '.join(where)}, the output is the same."


@style.styled
def moved_maps(image, moved, y, y_moved, shift):
    """Return a figure of an image and its map, above the moved image and its map; all (H, W) arrays.

    A dashed line marks the first column with ink; it is `shift` pixels further right in the lower row.
    """
    fig, axes = style.new_figure(4.1, 4.2, 2, 2)
    top = max(np.abs(y).max(), np.abs(y_moved).max())
    column = int(np.flatnonzero(np.asarray(image).max(axis=0))[0])
    words = (("image x", "map y"), (f"x, moved by {shift}", "its map y"))
    for row, pair in enumerate(((image, y), (moved, y_moved))):
        for ax, values, word, map_ in zip(axes[row], pair, words[row], (False, True), strict=True):
            if map_:
                drawn = signed(ax, values, top)
            else:
                ax.imshow(values, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
            ax.axvline(column - 0.5 + shift * row, color=style.MUTED, linestyle="--", linewidth=1.5)
            ax.set(title=word, yticks=[])
            ax.set_xticks([column - 0.5 + shift * row], labels=[column + shift * row])  # below the line
            ax.grid(False)
            ax.spines[:].set_visible(True)
    fig.colorbar(drawn, ax=axes[:, 1], shrink=0.6)
    return fig


@style.styled
def read_again(images, answers, names=None):
    """Return a figure of one digit, changed from picture to picture, and what a network reads each time.

    Parameters
    ----------
    images : (n, H, W) array
        The digit moved by 0, 1, 2, ... pixels, or changed in another way.
    answers : n whole numbers
        The network's answer to each.
    names : n str, optional
        What was done to each; unless given, it was moved by 0, 1, 2, ... pixels.
    """
    fig, axes = style.new_figure(4.1, 1.7 if names is None else 2.4, 1, len(images))
    names = [f"moved by {shift}" if shift else "as it is" for shift in range(len(images))] if names is None else names
    for ax, image, answer, name in zip(axes, images, answers, names, strict=True):
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
        ax.set(xticks=[], yticks=[], xlabel=name)
        ax.set_title(f"\N{LEFT DOUBLE QUOTATION MARK}{answer}\N{RIGHT DOUBLE QUOTATION MARK}", loc="center")
        ax.grid(False)
        ax.spines[:].set_visible(True)
    return fig


@style.styled
def best_places(images, masks, maps, numbers):
    """Return a figure of masks and, on each image, a frame around the place where each mask's sum is largest.

    Parameters
    ----------
    images : (n, H, W) array
    masks : (k, K, K) array
    maps : (n, k, H_out, W_out) array
        The sums, with a padding of K - 1, so that output (h, v) looks at pixels from (h - K + 1, v - K + 1) on.
    numbers : k ints
        The masks' numbers, written above them.

    A row for each mask, on one scale that stands below.

    Source: the course's own.
    """
    K = masks.shape[-1]
    fig, axes = style.new_figure(4.1, 1.5 * len(masks) + 0.5, len(masks), 1 + len(images), squeeze=False)
    most = np.abs(masks).max()
    for row, mask, here, number in zip(axes, masks, np.swapaxes(maps, 0, 1), numbers, strict=True):
        drawn = signed(row[0], mask, most)
        row[0].set_title(f"mask {number}", loc="center")
        for ax, image, sums in zip(row[1:], images, here, strict=True):
            h, v = np.unravel_index(np.argmax(sums), sums.shape)
            ax.imshow(image, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
            corner = (v - K + 0.5, h - K + 0.5)
            ax.add_patch(Rectangle(corner, K, K, fill=False, edgecolor=style.PAPER, linewidth=4))
            ax.add_patch(Rectangle(corner, K, K, fill=False, edgecolor=style.colour("hazard"), linewidth=2))
        for ax in row:
            ax.set(xticks=[], yticks=[])
            ax.grid(False)
            ax.spines[:].set_visible(True)
    bar = fig.colorbar(drawn, ax=axes, location="bottom", label="weight", shrink=0.6, aspect=30, ticks=[-0.5, 0, 0.5])
    bar.ax.set_xlim(float(np.min(masks)), float(np.max(masks)))  # only what the masks hold
    return fig


@style.styled
def shares_read(series):
    """Return a figure of the shares of digits that networks read, {name: (shifts, shares)}, from 0 to 1."""
    fig, ax = style.new_figure(4.1, 3.2)
    roles = dict(zip(series, ("gradient", "weight", "data"), strict=False))  # the last, which wins, is dark and solid
    curves(series, roles=roles, xlabel="pixels moved to the right", ylabel="share read correctly", ax=ax)
    ax.set_ylim(0, 1)
    ax.legend(loc="lower left")
    return fig
