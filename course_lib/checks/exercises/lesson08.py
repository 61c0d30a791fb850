"""Exercises of lesson 08: bias, maps and pooling, unrolling, and the gradients of a convolution.

Source: Hwu, Dey and Owens, as each exercise names them.
"""

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Case, Cause, Exercise

NOT_HERE = "this mistake shows on other arguments only"
"""What no answer returns."""

IMAGE = np.array([[0, 2, 1, 0], [0, 3, 2, 1], [1, 1, 0, 2], [2, 1, 0, 3]])
DY = np.array([[2, 3, 4], [3, 3, 3], [5, 1, 1]])
"""The lesson's pencil example."""

CONVOLUTIONS = tuple(f"conv2d_{way}{form}" for way in ("forward", "backward") for form in ("", "_loops", "_windows"))

# ---------------------------------------------------------------------------------------------- 08.1, bias


def _bias_gradient(dy):
    B, M, H, W = dy.shape
    x, b = np.zeros((B, 1, H, W)), np.zeros(M)
    return ops.conv2d_backward(dy, ops.conv2d_forward(x, np.zeros((M, 1, 1, 1)), b)[1])[2]


BIAS = Exercise(
    id="08.1",
    function="bias_gradient",
    title="One bias, many places",
    points=2,
    level="warm-up",
    concept="the gradient of a bias that a whole map shares",
    source='Hwu, "Calculating dE/dW"; the bias is the course\'s own',
    lines=1,
    expect=_bias_gradient,
    cases=(
        Case((DY[None, None],), "the lesson's dy"),
        Case((np.array([[[[1.0, 2]], [[10.0, 20]], [[0, -3]]], [[[4.0, 8]], [[40.0, 80]], [[5, 5]]]]),),
             "2 images, 3 maps"),
    ),
    causes=(
        Cause(
            "You average; the bias is added to every one of these numbers, so all the paths add up.",
            lambda dy: _bias_gradient(dy) / (dy.size / dy.shape[1]),
        ),
        Cause(
            "You average over the images; E depends on all of them, and their shares add up.",
            lambda dy: _bias_gradient(dy) / dy.shape[0],
        ),
        Cause("The images are still apart: they share one bias, so add them up too.", lambda dy: dy.sum(axis=(2, 3))),
        Cause("Only the first image is in it.", lambda dy: _bias_gradient(dy[:1])),
        Cause("One number for all maps: each output map has a bias of its own.", lambda dy: 1.0 * dy.sum()),
        Cause(
            "The maps are added up, and the images are kept apart; it must be the other way round.",
            lambda dy: _bias_gradient(dy.swapaxes(0, 1)),
        ),
        Cause(
            "The axes that you have summed over are still there, with length 1; leave keepdims out.",
            lambda dy: _bias_gradient(dy)[None, :, None, None],
        ),
    ),
    instead_of=CONVOLUTIONS,
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.2, maps


def _mix(x, w, b):
    return ops.conv2d_forward(x, w[:, :, None, None], b)[0]


def _pixels_in_rows(x, w, b):
    """The product with the numbers of x taken in rows of C as they lie in memory."""
    B, C, H, W = x.shape
    return (x.reshape(-1, C) @ w.T + b).reshape(B, H, W, -1).transpose(0, 3, 1, 2)


MIX = Exercise(
    id="08.2",
    function="mix",
    title="A mask of one pixel",
    points=3,
    level="core",
    concept="several maps and a bias: what a 1 x 1 convolution can do",
    source='Dey, "Convolution Layer"',
    lines=2,
    expect=_mix,
    cases=(
        Case((np.array([[[[1, 2, 3]], [[10, 20, 40]]]]), np.array([[1, 1], [2, 0], [0, -1]]), np.array([0, 5, 7])),
             "1 image of 1 x 3 pixels, 2 maps in, 3 out"),
        Case((np.arange(12.0).reshape(1, 2, 2, 3) ** 2, np.array([[0.5, 0.25], [1, -2]]), np.array([1.0, -1])),
             "2 maps in, 2 out"),
    ),
    causes=(
        Cause("The bias is missing.", lambda x, w, b: _mix(x, w, 0 * b)),
        Cause("w is (M, C): row m holds what output map m takes from each input map.",
              lambda x, w, b: _mix(x, w.T, b)),
        Cause(
            "The maps are the last axis of your result; they are the second, as in x.",
            lambda x, w, b: _mix(x, w, b).transpose(0, 2, 3, 1),
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
            lambda x, w, b: _mix(x, w, b).transpose(0, 2, 3, 1).reshape(len(x), len(w), *x.shape[2:]),
        ),
        Cause(
            "The bias is added along the columns of the image; each belongs to a whole map.",
            lambda x, w, b: _mix(x, w, 0 * b) + b,
        ),
        Cause(
            "The bias is added once for each input map; add it once, after the sum over the maps.",
            lambda x, w, b: _mix(x, w, x.shape[1] * b),
        ),
    ),
    instead_of=CONVOLUTIONS,
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.3, pooling


def _pool(x, F, S):
    y, (_, place) = ops.max_pool_forward(x[None, None], F, S)
    return y[0, 0], place[0, 0]


def _last_wins(x, F, S):
    """Pool the image upside down: of equal values the first one is then the last."""
    H, W = ((ops.output_size(n, F, S) - 1) * S + F for n in x.shape)
    y, place = _pool(x[:H, :W][::-1, ::-1], F, S)
    row, column = H - 1 - place // W, W - 1 - place % W
    return y[::-1, ::-1], (row * x.shape[1] + column)[::-1, ::-1]


def _within(x, F, S):
    y, place = _pool(x, F, S)
    h, v = np.indices(y.shape) * S
    return y, (place // x.shape[1] - h) * F + place % x.shape[1] - v


def _from_zero(x, F, S):
    y, place = _pool(x, F, S)
    return np.maximum(y, 0), np.where(y > 0, place, 0)


def _short(x, F, S):
    """The last row and column of each window left out."""
    if F == 1:
        return NOT_HERE
    H_out, W_out = (ops.output_size(n, F, S) for n in x.shape)
    y, place = _pool(x, F - 1, S)
    return y[:H_out, :W_out], place[:H_out, :W_out]


def _by_rows(x, F, S):
    y, place = _pool(x, F, S)
    return y, place // x.shape[1] * x.shape[0] + place % x.shape[1]


POOL = Exercise(
    id="08.3",
    function="max_pool",
    title="Who won, and where",
    points=3,
    level="core",
    concept="max pooling with the winner index",
    source='Dey, "Pooling Layer", "Pooling Kernel"; Owens, "Max-Pooling"',
    lines=9,
    expect=_pool,
    cases=(
        Case((np.array([[1.0, 0, 2, 2], [1, 3, 0, 1]]), 2, 2), "the lesson's example"),
        Case((np.array([[-1, -7, -5], [-4, -2, -8], [-9, -6, -3]]), 2, 1), "negative numbers, overlapping windows"),
        Case((np.array([[5.0, 1, 0, 7, 2], [3, 6, 4, 0, 8], [9, 2, 1, 3, 9], [0, 0, 9, 1, 4], [1, 2, 3, 4, 9]]), 3, 2),
             "F 3, stride 2"),
    ),
    causes=(
        Cause("Of equal values the first one wins: only a larger value takes the place.", _last_wins),
        Cause(
            "Your places are counted within the window; count through the whole map.",
            _within,
        ),
        Cause("Your largest value starts at 0, so negative numbers never win; start with a number of the window.",
              _from_zero),
        Cause("Going down one row is W places, the number of columns.", _by_rows),
        Cause("Your windows move by F; they move by the stride S.",
              lambda x, F, S: _pool(x, F, F) if S != F else NOT_HERE),
        Cause("These are the smallest values.",
              lambda x, F, S: (-_pool(-x, F, S)[0], _pool(-x, F, S)[1])),
        Cause("The two are exchanged: first the values, then their places.", lambda x, F, S: _pool(x, F, S)[::-1]),
        Cause("Your windows end one row and one column too early: they go from h S up to, not with, h S + F.", _short),
    ),
    instead_of=("max_pool_forward",),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.4, pooling backward


def _route(dy, place, shape):
    return ops.max_pool_backward(dy[None], ((1, *shape), place[None]))[0]


def _once(dy, place, shape):
    """Only the last of the gradients that meet at a pixel."""
    last = np.zeros((dy.shape[0], dy[0].size))
    for c, places in enumerate(place.reshape(dy.shape[0], -1)):
        last[c, places.size - 1 - np.unique(places[::-1], return_index=True)[1]] = 1
    return _route(dy * last.reshape(dy.shape), place, shape)


def _in_one_map(dy, place, shape):
    dx = _route(dy, place, shape)
    return np.concatenate([dx.sum(axis=0, keepdims=True), 0 * dx[1:]]) if len(dx) > 1 else NOT_HERE


def _at_the_output(dy, place, shape):
    """Each gradient at the place of its output, as if windows were single pixels."""
    (h, v), (H, W) = dy.shape[1:], shape[1:]
    return np.pad(1.0 * dy, ((0, 0), (0, H - h), (0, W - v))) if h <= H and v <= W else NOT_HERE


ROUTE = Exercise(
    id="08.4",
    function="max_pool_gradient",
    title="Back to the winners",
    points=3,
    level="core",
    concept="max pooling backward, with windows that overlap",
    source='Dey, "Pooling Kernel"',
    lines=6,
    expect=_route,
    cases=(
        Case((np.array([[[5, 7]]]), np.array([[[5, 2]]]), (1, 2, 4)), "the lesson's example"),
        Case((np.array([[[2.0, 3, 7]]]), np.array([[[5, 5, 2]]]), (1, 2, 4)), "a pixel that won twice"),
        Case((np.array([[[1.0, -2]], [[4, 8]], [[0.5, 3]]]), np.array([[[0, 5]], [[4, 4]], [[3, 2]]]), (3, 2, 3)),
             "3 maps of 2 x 3"),
    ),
    causes=(
        Cause("A pixel that won in several windows gets the sum; here the last one has overwritten the others.", _once),
        Cause("All gradients land in the first map; the places are counted anew in each map.", _in_one_map),
        Cause(
            "You mark the winners with 1; each gets the dy of its window.",
            lambda dy, place, shape: _route(np.ones(dy.shape), place, shape),
        ),
        Cause(
            "Each dy stands at the place of its output; it belongs to the pixel that won, and `place` says where.",
            _at_the_output,
        ),
        Cause(
            "The maps are still rows of numbers; give dx the shape (C, H, W).",
            lambda dy, place, shape: _route(dy, place, shape).reshape(shape[0], -1),
        ),
    ),
    instead_of=("max_pool_backward",),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.5, replication


def _unrolled(C, H, W, M, K, S):
    cols = ops.im2col(np.zeros((1, C, H, W)), K, S)[0]
    return (M, cols.shape[0]), cols.shape, ops.replication((1, C, H, W), K, S)


def _other_factor(factor):
    return lambda *a: (*_unrolled(*a)[:2], factor(*a))


UNROLLED = Exercise(
    id="08.5",
    function="unrolled",
    title="What unrolling costs",
    points=2,
    level="warm-up",
    concept="shapes of the matrix product and the replication factor",
    source='Hwu, "Analyzing the Amount of Input Replication"',
    lines=4,
    expect=_unrolled,
    cases=(
        Case((3, 3, 3, 2, 2, 1), "the lecture's small layer"),
        Case((1, 32, 32, 6, 5, 1), "LeNet-5's C1"),
        Case((2, 7, 5, 4, 3, 2), "7 x 5 pixels, stride 2"),
    ),
    causes=(
        Cause("The rows of the unrolled matrix are what one window holds, C K K numbers; its columns are the places.",
              lambda *a: (_unrolled(*a)[0], _unrolled(*a)[1][::-1], _unrolled(*a)[2])),
        Cause("A window lies in all C maps.",
              lambda C, H, W, M, K, S: ((M, K * K), (K * K, _unrolled(1, H, W, M, K, S)[1][1]),
                                        _unrolled(C, H, W, M, K, S)[2])),
        Cause("The windows move by the stride, so there are fewer places.",
              lambda C, H, W, M, K, S: _unrolled(C, H, W, M, K, 1)),
        Cause("Only pixels far from every border are copied K K times; divide what is really there.",
              _other_factor(lambda C, H, W, M, K, S: float(K * K))),
        Cause("The image has C maps: divide by all of its C H W numbers.",
              _other_factor(lambda C, H, W, *a: C * _unrolled(C, H, W, *a)[2])),
        Cause("This is the share of the image in the unrolled matrix; the factor is the other way round.",
              _other_factor(lambda *a: 1 / _unrolled(*a)[2])),
        Cause("The factor is rounded down to a whole number; `/` divides, `//` rounds.",
              _other_factor(lambda *a: float(_unrolled(*a)[2] // 1))),
        Cause("The two shapes are exchanged: first W_rows, the masks, then X_cols, the windows.",
              lambda *a: (_unrolled(*a)[1], _unrolled(*a)[0], _unrolled(*a)[2])),
        Cause("W_rows stands on its side: it has a row for each output map.",
              lambda *a: (_unrolled(*a)[0][::-1], *_unrolled(*a)[1:])),
        Cause("Width and height are two numbers: there are H_out places below each other and W_out side by side.",
              lambda C, H, W, M, K, S: (*_unrolled(C, H, H, M, K, S)[:2], _unrolled(C, H, H, M, K, S)[2] * H / W)),
    ),
    instead_of=("im2col",),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.6, unrolling


def _rows(x, K_h, K_w, S):
    return ops.im2col(x[None], (K_h, K_w), S)[0].T


def _reordered(order):
    """The right numbers in another order, for axes 0 rows, 1 columns of places, 2 maps, 3 rows, 4 columns of a mask."""

    def wrong(x, K_h, K_w, S):
        right = _rows(x, K_h, K_w, S)
        H_out = ops.output_size(x.shape[1], K_h, S)
        return right.reshape(H_out, -1, x.shape[0], K_h, K_w).transpose(order).reshape(right.shape)

    return wrong


def _crowded(x, K_h, K_w, S):
    _, H, W = x.shape
    H_out, W_out = ops.output_size(H, K_h, S), ops.output_size(W, K_w, S)
    each = _rows(x, K_h, K_w, 1)
    return each.reshape(H - K_h + 1, W - K_w + 1, -1)[:H_out, :W_out].reshape(-1, each.shape[1])


IM2ROW = Exercise(
    id="08.6",
    function="windows_as_rows",
    title="Windows as samples",
    points=4,
    level="core",
    concept="unrolling, in the order of lesson 04",
    source='Dey, "Im2Col Operation"; H, "Reorganize Input X for Matrix Multiplication"',
    lines=8,
    expect=_rows,
    cases=(
        Case((np.array([[[1, 2, 3], [4, 5, 6]]]), 2, 2, 1), "1 map of 2 x 3"),
        Case((np.array([[[1.0, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]]), 1, 2, 1), "2 maps of 2 x 3"),
        Case((np.arange(35.0).reshape(1, 5, 7), 3, 2, 2), "5 x 7 pixels 0, 1, 2, ..., stride 2"),
    ),
    causes=(
        Cause("These are windows as columns, the lesson's im2col; here each window is a row.",
              lambda *a: _rows(*a).T),
        Cause("The maps change fastest in your rows: the whole mask of map 0 comes first, then that of map 1.",
              _reordered((0, 1, 3, 4, 2))),
        Cause("Your windows are read column by column; read them row by row.", _reordered((0, 1, 2, 4, 3))),
        Cause("Your windows come column after column; they come row after row, as the outputs do.",
              _reordered((1, 0, 2, 3, 4))),
        Cause("Your windows move by one pixel; they move by the stride.",
              lambda x, K_h, K_w, S: _rows(x, K_h, K_w, 1)),
        Cause("The number of your windows is right, but they begin at 0, 1, 2, ...; the next begins S pixels on.",
              _crowded),
        Cause("Windows overlap when the stride is smaller than the mask; yours move by the size of the mask.",
              lambda x, K_h, K_w, S: ops.im2col(x[None], (K_h, K_w), (K_h, K_w))[0].T),
        Cause("Each window is still a block of maps, rows and columns; make a vector of it with ravel.",
              lambda x, K_h, K_w, S: _rows(x, K_h, K_w, S).reshape(-1, len(x), K_h, K_w)),
    ),
    instead_of=("im2col",),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.7, dE/dX


def _input_gradient(dy, w):
    """By folding back the columns of the matrix product."""
    B, M, h, v = dy.shape
    K_h, K_w = w.shape[2:]
    cols = w.reshape(M, -1).T @ dy.reshape(B, M, -1)
    return ops.col2im(cols, (B, w.shape[1], h + K_h - 1, v + K_w - 1), (K_h, K_w))


def _square_border(dy, w):
    right, less = _input_gradient(dy, w), w.shape[3] - w.shape[2]
    return right[:, :, :, less : right.shape[3] - less] if less > 0 else NOT_HERE


def _overwritten(dy, w):
    """Each weight's shares written over those of the weights before."""
    dx, (h, v) = np.zeros(_input_gradient(dy, w).shape), dy.shape[2:]
    for p, q in np.ndindex(w.shape[2:]):
        dx[:, :, p : p + h, q : q + v] = np.einsum("bmhv,mc->bchv", dy, w[:, :, p, q])
    return dx


INPUT = Exercise(
    id="08.7",
    function="input_gradient",
    title="The full convolution, several maps",
    points=4,
    level="core",
    concept="dE/dX as a full convolution with the flipped mask",
    source='Hwu, "Back-propagation dE/dX for a convolutional layer"',
    lines=3,
    expect=_input_gradient,
    cases=(
        Case((np.array([[[[1, 10], [3, -2]], [[100, 0], [7, 4]]]]),
              np.array([[[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [[[-1, 0], [2, -3]], [[0, 1], [4, -2]]]])),
             "2 maps in, 2 out"),
        Case((DY[None, None], np.array([[[[1, 2], [3, 4]]]])), "the lesson's pencil"),
        Case((np.array([[[[1.0, -2]]]]), np.array([[[[1.0, 2, 5], [3, 0, 4]], [[0, 1, 0], [7, 1, 2]]]])),
             "2 maps in, 1 out, masks 2 x 3"),
    ),
    causes=(
        Cause("The flip is missing: `dy` and the mask are walked in opposite directions.",
              lambda dy, w: _input_gradient(dy, w[:, :, ::-1, ::-1])),
        Cause("Only the rows of the masks are reversed; the columns must be too.",
              lambda dy, w: _input_gradient(dy, w[:, :, :, ::-1])),
        Cause("Only the columns of the masks are reversed; the rows must be too.",
              lambda dy, w: _input_gradient(dy, w[:, :, ::-1])),
        Cause("You reverse the order of the maps; the first two axes of w are maps, the last two are the mask.",
              lambda dy, w: _input_gradient(dy, w[::-1, ::-1, ::-1, ::-1])),
        Cause("Input and output maps have not changed sides: M maps come in here, C go out.",
              lambda dy, w: _input_gradient(dy, w.swapaxes(0, 1))),
        Cause("The border is K_h - 1 zeros wide above and below; on the left and the right it is K_w - 1.",
              _square_border),
        Cause("A pixel collects from every weight that it met; here the last one has overwritten the others.",
              _overwritten),
        Cause("The border is one zero too wide: K - 1, since the mask has to touch `dy` with one corner at least.",
              lambda dy, w: np.pad(_input_gradient(dy, w), ((0, 0), (0, 0), (1, 1), (1, 1)))),
        Cause("Only the first output map is in it: every output map has used the pixel, and their shares add up.",
              lambda dy, w: _input_gradient(dy[:, :1], w[:1])),
        Cause("You average over the output maps; their shares add up.", lambda dy, w: _input_gradient(dy, w) / len(w)),
        Cause("Without the border of zeros only the inner pixels come out.",
              lambda dy, w: _input_gradient(dy, w)[:, :, w.shape[2] - 1 : dy.shape[2], w.shape[3] - 1 : dy.shape[3]]),
    ),
    instead_of=(*(name for name in CONVOLUTIONS if "backward" in name), "col2im"),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.8, symmetry

HIDES = Exercise(
    id="08.8",
    function="hides_the_flip",
    title="Masks on which a test is blind",
    points=2,
    level="warm-up",
    concept="test data in which no symmetry hides a mistake",
    source='Hwu, "Back-propagation dE/dX for a convolutional layer"; the test is the course\'s own',
    lines=1,
    expect=lambda w: not np.any(w - np.rot90(w, 2, axes=(2, 3))),
    cases=(
        Case((np.array([[[[1, 2, 1], [2, 4, 2], [1, 2, 1]]]]),), "the lesson's blur"),
        Case((np.array([[[[1, 2], [3, 4]]], [[[5, 6], [7, 8]]]]),), "two masks"),
        Case((np.array([[[[1, 2], [3, 4]]]]),), "the lesson's pencil"),
        Case((np.array([[[[1.0, 2], [1, 2]]]]),), "equal rows"),
        Case((np.array([[[[1.0, 1], [2, 2]]]]),), "equal columns"),
        Case((np.array([[[[1.0, 2], [2, 5]]]]),), "equal to its transpose"),
        Case((np.array([[[[1.0, 2, 3], [3, 2, 1]]]]),), "turned by 180 degrees it is the same"),
        Case((np.array([[[[1.0, 2], [2, 1]]], [[[1, 2], [3, 1]]]]),), "two output maps"),
    ),
    causes=(
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
    ),
)  # fmt: skip

# -------------------------------------------------------------------------------------------- 08.9, dE/dW


def _weight_gradient(dy, x, mask, S):
    cache = ops.conv2d_forward(x[None, None], np.zeros((1, 1, *mask)), stride=S)[1]
    return ops.conv2d_backward(dy[None, None], cache)[1][0, 0]


def _steps_in_the_mask(dy, x, mask, S):
    wide = _weight_gradient(dy, x, [(k - 1) * S + 1 for k in mask], 1) if S > 1 else _weight_gradient(dy, x, mask, 1)
    return wide[::S, ::S]


def _cut(dy, x, mask, S):
    """The values if every sum is kept in an array of whole numbers."""
    dw = 0
    for one in np.eye(dy.size).reshape(-1, *dy.shape):
        dw = np.trunc(dw + _weight_gradient(dy * one, x, mask, S))
    return dw if "i" in (x.dtype.kind, dy.dtype.kind) else NOT_HERE


def _mask_by_the_shapes(dy, x, mask, S):
    """The gradients of the mask that would see every pixel."""
    return _weight_gradient(dy, x, [n - (k - 1) * S for n, k in zip(x.shape, dy.shape, strict=True)], S)


STRIDED = Exercise(
    id="08.9",
    function="weight_gradient",
    title="dE/dW with a stride",
    points=4,
    level="stretch",
    concept="the gradient of a shared weight, with pixels that nobody saw",
    source='Hwu, "Calculating dE/dW"; the stride is the course\'s own',
    lines=5,
    expect=_weight_gradient,
    cases=(
        Case((DY, IMAGE, (2, 2), 1), "the lesson's pencil, stride 1"),
        Case((np.array([[5.0, 6], [7, 8]]), IMAGE, (2, 2), 2), "the same image, stride 2"),
        Case((np.array([[1.0, 10]]), np.array([[1.0, 2, 3, 4, 5, 6], [7, 8, 9, 0, 1, 3]]), (2, 1), 3),
             "mask 2 x 1, stride 3: columns that nobody sees"),
    ),
    causes=(
        Cause("The stride is missing: output (h, v) looks at the window that begins at (h S, v S).",
              lambda dy, x, mask, S: _weight_gradient(
                  dy, x[: dy.shape[0] + mask[0] - 1, : dy.shape[1] + mask[1] - 1], mask, 1)),
        Cause("The stride is at the wrong index: neighbouring outputs stand S pixels apart, neighbouring weights one.",
              lambda dy, x, mask, S: _steps_in_the_mask(
                  dy, x[: dy.shape[0] + (mask[0] - 1) * S, : dy.shape[1] + (mask[1] - 1) * S], mask, S)),
        Cause("You average; E changes through every output, and paths add up.",
              lambda dy, x, mask, S: _weight_gradient(dy, x, mask, S) / dy.size),
        Cause("It is turned round: with the weight held fixed, `dy` and `x` are walked in the same direction.",
              lambda *a: _weight_gradient(*a)[::-1, ::-1]),
        Cause("The sums are cut to whole numbers: what you fill has taken over the type of x or dy.", _cut),
        Cause("Only the last output is in it: each weight collects from all of them.",
              lambda dy, x, mask, S: _weight_gradient(
                  np.pad(dy[-1:, -1:], ((dy.shape[0] - 1, 0), (dy.shape[1] - 1, 0))), x, mask, S)),
        Cause("Your mask reaches to the end of x; the last pixels may lie in no window, so take the shape from `mask`.",
              _mask_by_the_shapes),
    ),
    instead_of=tuple(name for name in CONVOLUTIONS if "backward" in name),
)  # fmt: skip

EXERCISES = (BIAS, MIX, POOL, ROUTE, UNROLLED, IM2ROW, INPUT, HIDES, STRIDED)
"""In the order of the sheet."""
