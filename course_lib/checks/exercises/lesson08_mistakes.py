"""Usual mistakes in the exercises of lesson 08 that leave a recognisable value, and what is said of each."""

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Cause
from course_lib.checks.exercises.lesson08_values import (
    bias_gradient,
    input_gradient,
    mix,
    pool,
    route,
    rows,
    unrolled,
    weight_gradient,
)

BIAS = (
    Cause(
        "You average; the bias is added to every one of these numbers, so all the paths add up.",
        lambda dy: bias_gradient(dy) / (dy.size / dy.shape[1]),
    ),
    Cause(
        "You average over the images; E depends on all of them, and their shares add up.",
        lambda dy: bias_gradient(dy) / dy.shape[0],
    ),
    Cause("The images are still apart: they share one bias, so add them up too.", lambda dy: dy.sum(axis=(2, 3))),
    Cause("Only the first image is in it.", lambda dy: bias_gradient(dy[:1])),
    Cause("One number for all maps: each output map has a bias of its own.", lambda dy: 1.0 * dy.sum()),
    Cause(
        "The maps are added up, and the images are kept apart; it must be the other way round.",
        lambda dy: bias_gradient(dy.swapaxes(0, 1)),
    ),
    Cause(
        "The axes that you have summed over are still there, with length 1; leave keepdims out.",
        lambda dy: bias_gradient(dy)[None, :, None, None],
    ),
)  # fmt: skip


def _pixels_in_rows(x, w, b):
    """The product with the numbers of x taken in rows of C as they lie in memory."""
    B, C, H, W = x.shape
    return (x.reshape(-1, C) @ w.T + b).reshape(B, H, W, -1).transpose(0, 3, 1, 2)


MIX = (
    Cause("The bias is missing.", lambda x, w, b: mix(x, w, 0 * b)),
    Cause("w is (M, C): row m holds what output map m takes from each input map.",
          lambda x, w, b: mix(x, w.T, b)),
    Cause(
        "The maps are the last axis of your result; they are the second, as in x.",
        lambda x, w, b: mix(x, w, b).transpose(0, 2, 3, 1),
    ),
    Cause(
        "reshape cuts x into pieces as the numbers lie in memory; move the maps to the last axis first.",
        _pixels_in_rows,
    ),
    Cause(
        "reshape does not move axes, neither before the product nor after it: transpose x, and the result back.",
        lambda x, w, b: (x.reshape(-1, x.shape[1]) @ w.T + b).reshape(len(x), len(w), *x.shape[2:]),
    ),
    Cause(
        "reshape does not move axes: the right numbers are there, at other places; transpose the result.",
        lambda x, w, b: mix(x, w, b).transpose(0, 2, 3, 1).reshape(len(x), len(w), *x.shape[2:]),
    ),
    Cause(
        "The bias is added along the columns of the image; each belongs to a whole map.",
        lambda x, w, b: mix(x, w, 0 * b) + b,
    ),
    Cause(
        "The bias is added once for each input map; add it once, after the sum over the maps.",
        lambda x, w, b: mix(x, w, x.shape[1] * b),
    ),
)  # fmt: skip

NOT_HERE = "this mistake shows on other arguments only"
"""What no answer returns."""


def _last_wins(x, F, S):
    """Pool the image upside down: of equal values the first one is then the last."""
    H, W = ((ops.output_size(n, F, S) - 1) * S + F for n in x.shape)
    y, place = pool(x[:H, :W][::-1, ::-1], F, S)
    row, column = H - 1 - place // W, W - 1 - place % W
    return y[::-1, ::-1], (row * x.shape[1] + column)[::-1, ::-1]


def _within(x, F, S):
    y, place = pool(x, F, S)
    h, v = np.indices(y.shape) * S
    return y, (place // x.shape[1] - h) * F + place % x.shape[1] - v


def _from_zero(x, F, S):
    y, place = pool(x, F, S)
    return np.maximum(y, 0), np.where(y > 0, place, 0)


def _short(x, F, S):
    """The last row and column of each window left out."""
    if F == 1:
        return NOT_HERE
    H_out, W_out = (ops.output_size(n, F, S) for n in x.shape)
    y, place = pool(x, F - 1, S)
    return y[:H_out, :W_out], place[:H_out, :W_out]


def _by_rows(x, F, S):
    y, place = pool(x, F, S)
    return y, place // x.shape[1] * x.shape[0] + place % x.shape[1]


POOL = (
    Cause("Of equal values the first one wins: only a larger value takes the place.", _last_wins),
    Cause(
        "Your places are counted within the window; count through the whole map.",
        _within,
    ),
    Cause("Your largest value starts at 0, so negative numbers never win; start with a number of the window.",
          _from_zero),
    Cause("Going down one row is W places, the number of columns.", _by_rows),
    Cause("Your windows move by F; they move by the stride S.",
          lambda x, F, S: pool(x, F, F) if S != F else NOT_HERE),
    Cause("These are the smallest values.",
          lambda x, F, S: (-pool(-x, F, S)[0], pool(-x, F, S)[1])),
    Cause("The two are exchanged: first the values, then their places.", lambda x, F, S: pool(x, F, S)[::-1]),
    Cause("Your windows end one row and one column too early: they go from h S up to, not with, h S + F.", _short),
)  # fmt: skip


def _once(dy, place, shape):
    """Only the last of the gradients that meet at a pixel."""
    last = np.zeros((dy.shape[0], dy[0].size))
    for c, places in enumerate(place.reshape(dy.shape[0], -1)):
        last[c, places.size - 1 - np.unique(places[::-1], return_index=True)[1]] = 1
    return route(dy * last.reshape(dy.shape), place, shape)


def _in_one_map(dy, place, shape):
    dx = route(dy, place, shape)
    return np.concatenate([dx.sum(axis=0, keepdims=True), 0 * dx[1:]]) if len(dx) > 1 else NOT_HERE


def _at_the_output(dy, place, shape):
    """Each gradient at the place of its output, as if windows were single pixels."""
    (h, v), (H, W) = dy.shape[1:], shape[1:]
    return np.pad(1.0 * dy, ((0, 0), (0, H - h), (0, W - v))) if h <= H and v <= W else NOT_HERE


ROUTE = (
    Cause("A pixel that won in several windows gets the sum; here the last one has overwritten the others.", _once),
    Cause("All gradients land in the first map; the places are counted anew in each map.", _in_one_map),
    Cause(
        "You mark the winners with 1; each gets the dy of its window.",
        lambda dy, place, shape: route(np.ones(dy.shape), place, shape),
    ),
    Cause(
        "Each dy stands at the place of its output; it belongs to the pixel that won, and `place` says where.",
        _at_the_output,
    ),
    Cause(
        "The maps are still rows of numbers; give dx the shape (C, H, W).",
        lambda dy, place, shape: route(dy, place, shape).reshape(shape[0], -1),
    ),
)  # fmt: skip


def _other_factor(factor):
    return lambda *a: (*unrolled(*a)[:2], factor(*a))


UNROLLED = (
    Cause("The rows of the unrolled matrix are what one window holds, C K K numbers; its columns are the places.",
          lambda *a: (unrolled(*a)[0], unrolled(*a)[1][::-1], unrolled(*a)[2])),
    Cause("A window lies in all C maps.",
          lambda C, H, W, M, K, S: ((M, K * K), (K * K, unrolled(1, H, W, M, K, S)[1][1]),
                                    unrolled(C, H, W, M, K, S)[2])),
    Cause("The windows move by the stride, so there are fewer places.",
          lambda C, H, W, M, K, S: unrolled(C, H, W, M, K, 1)),
    Cause("Only pixels far from every border are copied K K times; divide what is really there.",
          _other_factor(lambda C, H, W, M, K, S: float(K * K))),
    Cause("The image has C maps: divide by all of its C H W numbers.",
          _other_factor(lambda C, H, W, *a: C * unrolled(C, H, W, *a)[2])),
    Cause("This is the share of the image in the unrolled matrix; the factor is the other way round.",
          _other_factor(lambda *a: 1 / unrolled(*a)[2])),
    Cause("The factor is rounded down to a whole number; `/` divides, `//` rounds.",
          _other_factor(lambda *a: float(unrolled(*a)[2] // 1))),
    Cause("The two shapes are exchanged: first W_rows, the masks, then X_cols, the windows.",
          lambda *a: (unrolled(*a)[1], unrolled(*a)[0], unrolled(*a)[2])),
    Cause("W_rows stands on its side: it has a row for each output map.",
          lambda *a: (unrolled(*a)[0][::-1], *unrolled(*a)[1:])),
    Cause("Width and height are two numbers: there are H_out places below each other and W_out side by side.",
          lambda C, H, W, M, K, S: (*unrolled(C, H, H, M, K, S)[:2], unrolled(C, H, H, M, K, S)[2] * H / W)),
)  # fmt: skip


def _reordered(order):
    """The right numbers in another order, for axes 0 rows, 1 columns of places, 2 maps, 3 rows, 4 columns of a mask."""

    def wrong(x, K_h, K_w, S):
        right = rows(x, K_h, K_w, S)
        H_out = ops.output_size(x.shape[1], K_h, S)
        return right.reshape(H_out, -1, x.shape[0], K_h, K_w).transpose(order).reshape(right.shape)

    return wrong


def _crowded(x, K_h, K_w, S):
    _, H, W = x.shape
    H_out, W_out = ops.output_size(H, K_h, S), ops.output_size(W, K_w, S)
    each = rows(x, K_h, K_w, 1)
    return each.reshape(H - K_h + 1, W - K_w + 1, -1)[:H_out, :W_out].reshape(-1, each.shape[1])


IM2ROW = (
    Cause("These are windows as columns, the lesson's im2col; here each window is a row.",
          lambda *a: rows(*a).T),
    Cause("The maps change fastest in your rows: the whole mask of map 0 comes first, then that of map 1.",
          _reordered((0, 1, 3, 4, 2))),
    Cause("Your windows are read column by column; read them row by row.", _reordered((0, 1, 2, 4, 3))),
    Cause("Your windows come column after column; they come row after row, as the outputs do.",
          _reordered((1, 0, 2, 3, 4))),
    Cause("Your windows move by one pixel; they move by the stride.",
          lambda x, K_h, K_w, S: rows(x, K_h, K_w, 1)),
    Cause("The number of your windows is right, but they begin at 0, 1, 2, ...; the next begins S pixels on.",
          _crowded),
    Cause("Windows overlap when the stride is smaller than the mask; yours move by the size of the mask.",
          lambda x, K_h, K_w, S: ops.im2col(x[None], (K_h, K_w), (K_h, K_w))[0].T),
    Cause("Each window is still a block of maps, rows and columns; make a vector of it with ravel.",
          lambda x, K_h, K_w, S: rows(x, K_h, K_w, S).reshape(-1, len(x), K_h, K_w)),
)  # fmt: skip


def _square_border(dy, w):
    right, less = input_gradient(dy, w), w.shape[3] - w.shape[2]
    return right[:, :, :, less : right.shape[3] - less] if less > 0 else NOT_HERE


def _overwritten(dy, w):
    """Each weight's shares written over those of the weights before."""
    dx, (h, v) = np.zeros(input_gradient(dy, w).shape), dy.shape[2:]
    for p, q in np.ndindex(w.shape[2:]):
        dx[:, :, p : p + h, q : q + v] = np.einsum("bmhv,mc->bchv", dy, w[:, :, p, q])
    return dx


INPUT = (
    Cause("The flip is missing: `dy` and the mask are walked in opposite directions.",
          lambda dy, w: input_gradient(dy, w[:, :, ::-1, ::-1])),
    Cause("Only the rows of the masks are reversed; the columns must be too.",
          lambda dy, w: input_gradient(dy, w[:, :, :, ::-1])),
    Cause("Only the columns of the masks are reversed; the rows must be too.",
          lambda dy, w: input_gradient(dy, w[:, :, ::-1])),
    Cause("You reverse the order of the maps; the first two axes of w are maps, the last two are the mask.",
          lambda dy, w: input_gradient(dy, w[::-1, ::-1, ::-1, ::-1])),
    Cause("Input and output maps have not changed sides: M maps come in here, C go out.",
          lambda dy, w: input_gradient(dy, w.swapaxes(0, 1))),
    Cause("The border is K_h - 1 zeros wide above and below; on the left and the right it is K_w - 1.",
          _square_border),
    Cause("A pixel collects from every weight that it met; here the last one has overwritten the others.",
          _overwritten),
    Cause("The border is one zero too wide: K - 1, since the mask has to touch `dy` with one corner at least.",
          lambda dy, w: np.pad(input_gradient(dy, w), ((0, 0), (0, 0), (1, 1), (1, 1)))),
    Cause("Only the first output map is in it: every output map has used the pixel, and their shares add up.",
          lambda dy, w: input_gradient(dy[:, :1], w[:1])),
    Cause("You average over the output maps; their shares add up.", lambda dy, w: input_gradient(dy, w) / len(w)),
    Cause("Without the border of zeros only the inner pixels come out.",
          lambda dy, w: input_gradient(dy, w)[:, :, w.shape[2] - 1 : dy.shape[2], w.shape[3] - 1 : dy.shape[3]]),
)  # fmt: skip

HIDES = (
    Cause("Being equal to its transpose is another symmetry; the flip is a turn by 180 degrees.",
          lambda w: bool(np.array_equal(w, w.swapaxes(2, 3)))),
    Cause("The mask looks the same upside down; the flip reverses rows and columns at once.",
          lambda w: not np.any(w - w[:, :, ::-1])),
    Cause("The mask looks the same in a mirror; the flip reverses rows and columns at once.",
          lambda w: not np.any(w - w[:, :, :, ::-1])),
    Cause("The first two axes of w are maps: they stay as they are, only the masks are turned.",
          lambda w: not np.any(w - w[::-1, ::-1])),
    Cause("One mask that changes is enough to notice the missing flip: all of them must be the same.",
          lambda w: bool((w == np.rot90(w, 2, axes=(2, 3))).all(axis=(2, 3)).any())),
    Cause("The masks were added up before they were compared; each must be the same by itself.",
          lambda w: not np.any((w - np.rot90(w, 2, axes=(2, 3))).sum(axis=(0, 1)))),
    Cause("The test is blind, so True, exactly if turning every mask by 180 degrees changes no number.",
          lambda w: bool(np.any(w - np.rot90(w, 2, axes=(2, 3))))),
    Cause("An answer for each number; one for all of them is asked, and `==` becomes one with `.all()`.",
          lambda w: w == np.rot90(w, 2, axes=(2, 3))),
    Cause("An answer for each mask; one for all of them is asked: all must be the same.",
          lambda w: (w == np.rot90(w, 2, axes=(2, 3))).all(axis=(2, 3))),
)  # fmt: skip


def _steps_in_the_mask(dy, x, mask, S):
    wide = weight_gradient(dy, x, [(k - 1) * S + 1 for k in mask], 1) if S > 1 else weight_gradient(dy, x, mask, 1)
    return wide[::S, ::S]


def _cut(dy, x, mask, S):
    """The values if every sum is kept in an array of whole numbers."""
    dw = 0
    for one in np.eye(dy.size).reshape(-1, *dy.shape):
        dw = np.trunc(dw + weight_gradient(dy * one, x, mask, S))
    return dw if "i" in (x.dtype.kind, dy.dtype.kind) else NOT_HERE


def _mask_by_the_shapes(dy, x, mask, S):
    """The gradients of the mask that would see every pixel."""
    return weight_gradient(dy, x, [n - (k - 1) * S for n, k in zip(x.shape, dy.shape, strict=True)], S)


STRIDED = (
    Cause("The stride is missing: output (h, v) looks at the window that begins at (h S, v S).",
          lambda dy, x, mask, S: weight_gradient(
              dy, x[: dy.shape[0] + mask[0] - 1, : dy.shape[1] + mask[1] - 1], mask, 1)),
    Cause("The stride is at the wrong index: neighbouring outputs stand S pixels apart, neighbouring weights one.",
          lambda dy, x, mask, S: _steps_in_the_mask(
              dy, x[: dy.shape[0] + (mask[0] - 1) * S, : dy.shape[1] + (mask[1] - 1) * S], mask, S)),
    Cause("You average; E changes through every output, and paths add up.",
          lambda dy, x, mask, S: weight_gradient(dy, x, mask, S) / dy.size),
    Cause("It is turned round: with the weight held fixed, `dy` and `x` are walked in the same direction.",
          lambda *a: weight_gradient(*a)[::-1, ::-1]),
    Cause("The sums are cut to whole numbers: what you fill has taken over the type of x or dy.", _cut),
    Cause("Only the last output is in it: each weight collects from all of them.",
          lambda dy, x, mask, S: weight_gradient(
              np.pad(dy[-1:, -1:], ((dy.shape[0] - 1, 0), (dy.shape[1] - 1, 0))), x, mask, S)),
    Cause("Your mask reaches to the end of x; the last pixels may lie in no window, so take the shape from `mask`.",
          _mask_by_the_shapes),
)  # fmt: skip
