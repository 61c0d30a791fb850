"""Key of sheet 08: hidden cases and wrong answers.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Case
from course_lib.grading.keys import Key, Mutant, Part


def normal(rng, *shapes):
    """One case's arrays."""
    return tuple(rng.normal(size=shape) for shape in shapes)


# ---------------------------------------------------------------------------------------------- 08.1

BIAS = Key(
    "08.1",
    (
        Part("other shapes", 1, lambda rng: [Case(normal(rng, s)) for s in ((3, 4, 5, 2), (5, 2, 1, 6), (4, 3, 4, 3))]),
        Part("edge cases", 1, lambda rng: [
            Case(normal(rng, (1, 1, 1, 1))), Case(normal(rng, (1, 5, 2, 3))), Case(normal(rng, (6, 1, 3, 2))),
            Case((rng.integers(-9, 9, (3, 3, 3, 3)),))]),
    ),
    (
        Mutant("mean", "def bias_gradient(dy):\n    return dy.mean(axis=(0, 2, 3))\n", "You average; the bias"),
        Mutant("mean over images", "def bias_gradient(dy):\n    return dy.sum(axis=(2, 3)).mean(axis=0)\n",
               "You average over the images"),
        Mutant("images apart", "def bias_gradient(dy):\n    return dy.sum(axis=(2, 3))\n",
               "The images are still apart"),
        Mutant("first image", "def bias_gradient(dy):\n    return dy[0].sum(axis=(1, 2))\n", "Only the first image"),
        Mutant("one number", "def bias_gradient(dy):\n    return dy.sum()\n", "expected an array of shape (1,)"),
        Mutant("images for maps", "def bias_gradient(dy):\n    return dy.sum(axis=(1, 2, 3))\n",
               "The maps are added up, and the images are kept apart"),
        Mutant("axes kept", "def bias_gradient(dy):\n    return dy.sum(axis=(0, 2, 3), keepdims=True)\n",
               "still there, with length 1"),
        Mutant("no return", "def bias_gradient(dy):\n    dy.sum(axis=(0, 2, 3))\n", "Is there a return?"),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.2

MIXING = "def mix(x, w, b):\n    return {}\n".format

MIX = Key(
    "08.2",
    (
        Part("other shapes", 1, lambda rng: [
            Case(normal(rng, (2, 3, 4, 5), (4, 3), (4,))), Case(normal(rng, (3, 5, 1, 2), (2, 5), (2,)))]),
        Part("edge cases, whole numbers", 1, lambda rng: [
            Case(normal(rng, (1, 1, 1, 1), (1, 1), (1,))), Case(normal(rng, (3, 3, 3, 3), (3, 3), (3,))),
            Case((rng.integers(-9, 9, (2, 4, 3, 2)), *normal(rng, (5, 4), (5,))))]),
    ),
    (
        Mutant("no bias", MIXING('np.einsum("mc,nchv->nmhv", w, x)'), "The bias is missing"),
        Mutant("transposed w", MIXING('np.einsum("cm,nchv->nmhv", w, x) + b[:, None, None]'), "raises ValueError"),
        Mutant("transposed w where it fits", MIXING(
            'np.einsum("mc,nchv->nmhv", w.T if w.shape[0] == w.shape[1] else w, x) + b[:, None, None]'), "w is (M, C)"),
        Mutant("maps last", MIXING("x.transpose(0, 2, 3, 1) @ w.T + b"), "The maps are the last axis"),
        Mutant("pixels by reshape", MIXING(
            "(x.reshape(-1, w.shape[1]) @ w.T + b).reshape(len(x), *x.shape[2:], len(w)).transpose(0, 3, 1, 2)"),
               "reshape cuts x into pieces"),
        Mutant("back by reshape", MIXING(
            "(x.transpose(0, 2, 3, 1) @ w.T + b).reshape(len(x), len(w), *x.shape[2:])"), "reshape does not move axes"),
        Mutant("both by reshape", MIXING(
            "(x.reshape(-1, w.shape[1]) @ w.T + b).reshape(len(x), len(w), *x.shape[2:])"),
               "neither before the product"),
        Mutant("bias along the columns", MIXING('np.einsum("mc,nchv->nmhv", w, x) + b'),
               "added along the columns of the image"),
        Mutant("a bias for each input map", MIXING(
            "(x[:, None] * w[:, :, None, None] + b[:, None, None, None]).sum(axis=2)"), "once for each input map"),
        Mutant("the library", MIXING("ops.conv2d_forward(x, w[:, :, None, None], b)[0]"), "mix uses conv2d_forward"),
        Mutant("weights added, not multiplied", MIXING(
            "(x[:, None] + w[:, :, None, None]).sum(axis=2) + b[:, None, None]"), "result[0, 0, 0, 0] is 13"),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.3


def other_maps(rng):
    sizes = ((7, 4, 2, 2), (4, 9, 3, 2), (6, 8, 3, 1), (5, 11, 2, 3))
    return [Case((rng.normal(size=(H, W)), F, S)) for H, W, F, S in sizes]


def edge_maps(rng):
    return [
        Case((rng.integers(0, 3, (7, 5)), 3, 1)),
        Case((np.full((4, 6), -2.0), 2, 2)),
        Case((rng.normal(size=(3, 5)) - 9, 1, 1)),
        Case((rng.normal(size=(4, 4)), 4, 3)),
        Case((np.array([[-0.5]]), 1, 1)),
    ]


WINNERS = """
def max_pool(x, F, S):
    H, W = x.shape
    y = np.zeros((1 + (H - F) // S, 1 + (W - F) // S))
    place = np.zeros(y.shape, dtype=int)
    for h, v in np.ndindex(y.shape):
        best = x[h * S, v * S]
        where = h * S * W + v * S
        for p in range(F):
            for q in range(F):
                value = x[h * S + p, v * S + q]
                if value > best:
                    best, where = value, (h * S + p) * W + v * S + q
        y[h, v], place[h, v] = best, where
    return y, place
"""

POOL = Key(
    "08.3",
    (Part("other shapes", 1, other_maps), Part("ties, negative numbers, edge cases", 1, edge_maps)),
    (
        Mutant(">= for >", WINNERS.replace("value > best", "value >= best"), "Of equal values the first one wins"),
        Mutant("starts at 0", WINNERS.replace("best = x[h * S, v * S]\n        where = h * S * W + v * S",
                                              "best, where = 0, 0"), "Your largest value starts at 0"),
        Mutant("place in the window", WINNERS.replace("where = h * S * W + v * S", "where = 0").replace(
            "(h * S + p) * W + v * S + q\n", "p * F + q\n"), "counted within the window"),
        Mutant("rows of H", WINNERS.replace("h * S * W", "h * S * H").replace("+ p) * W", "+ p) * H"),
               "Going down one row is W places"),
        Mutant("windows side by side", WINNERS.replace("H, W = x.shape", "H, W = x.shape\n    S = F"),
               "Your windows move by F"),
        Mutant("smallest", WINNERS.replace("value > best", "value < best"), "These are the smallest values"),
        Mutant("only y", WINNERS.replace("return y, place", "return y"), "expected 2 values"),
        Mutant("places as floats", WINNERS.replace(", dtype=int", ""), "expected whole numbers"),
        Mutant("last row and column left out", WINNERS.replace("range(F)", "range(F - 1)"),
               "one column too early"),
        Mutant("places first", WINNERS.replace("return y, place", "return place, y"), "The two are exchanged"),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.4


def routes(*sizes):
    """Random winners: gradients (C, h, v) for maps (C, H, W), with pixels that win several times."""

    def cases(rng):
        return [
            Case((rng.normal(size=(C, h, v)), rng.integers(0, H * W, (C, h, v)), (C, H, W))) for C, h, v, H, W in sizes
        ]

    return cases


BACK = """
def max_pool_gradient(dy, place, shape):
    dx = np.zeros(shape)
    for c, h, v in np.ndindex(dy.shape):
        row, column = divmod(place[c, h, v], shape[2])
        dx[c, row, column] += dy[c, h, v]
    return dx
"""

ROUTE = Key(
    "08.4",
    (
        Part("other shapes", 1, routes((3, 4, 3, 7, 5), (2, 5, 6, 4, 9), (4, 2, 2, 5, 5))),
        Part("edge cases", 1, lambda rng: [
            *routes((1, 1, 1, 1, 1), (5, 1, 1, 2, 3), (1, 6, 5, 1, 3), (2, 3, 3, 4, 1))(rng),
            Case((rng.integers(-9, 9, (2, 2, 2)), rng.integers(0, 6, (2, 2, 2)), (2, 2, 3)))]),
    ),
    (
        Mutant("all places at once", """
def max_pool_gradient(dy, place, shape):
    dx = np.zeros((shape[0], shape[1] * shape[2]))
    for c in range(shape[0]):
        dx[c, place[c].ravel()] += dy[c].ravel()
    return dx.reshape(shape)
""", "the last one has overwritten the others"),
        Mutant("one map", """
def max_pool_gradient(dy, place, shape):
    dx = np.zeros(shape)
    np.add.at(dx.reshape(-1), place.ravel(), dy.ravel())
    return dx
""", "All gradients land in the first map"),
        Mutant("ones", BACK.replace("+= dy[c, h, v]", "+= 1"), "You mark the winners with 1"),
        Mutant("divides by H", BACK.replace("shape[2]", "shape[1]"), "index 2 is out of bounds"),
        Mutant("shape of dy", BACK.replace("np.zeros(shape)", "np.zeros(dy.shape)"), "index 1 is out of bounds"),
        Mutant("place is the output's own", BACK.replace("dx[c, row, column]", "dx[c, h, v]"),
               "it belongs to the pixel that won"),
        Mutant("kept as a vector", BACK.replace("return dx", "return dx.reshape(shape[0], -1)"),
               "The maps are still rows of numbers"),
        Mutant("fills dy", """
def max_pool_gradient(dy, place, shape):
    dx = np.zeros(shape)
    for c, h, v in np.ndindex(dy.shape):
        row, column = divmod(place[c, h, v], shape[2])
        dx[c, row, column] += dy[c, h, v]
        dy[c, h, v] = 0
    return dx
""", "changes argument 1 in place"),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.5

COST = """
def unrolled(C, H, W, M, K, S):
    places = (1 + (H - K) // S) * (1 + (W - K) // S)
    seen = C * K * K
    return (M, seen), (seen, places), seen * places / (C * H * W)
"""


def layers(*all):
    return lambda rng: [Case(layer) for layer in all]


UNROLLED = Key(
    "08.5",
    (
        Part("other layers", 1, layers(
            (6, 14, 14, 16, 5, 1), (3, 32, 20, 8, 4, 3), (5, 9, 12, 7, 2, 1), (2, 8, 8, 3, 3, 2))),
        Part("edge cases", 1, layers(
            (16, 5, 5, 120, 5, 1), (1, 1, 1, 1, 1, 1), (8, 6, 9, 64, 1, 1), (3, 10, 7, 2, 2, 5))),
    ),
    (
        Mutant("windows as rows", COST.replace("(seen, places)", "(places, seen)"), "its columns are the places"),
        Mutant("one map", COST.replace("seen = C * K * K", "seen = K * K").replace(
            "), seen * places", "), C * seen * places"), "A window lies in all C maps"),
        Mutant("no stride", COST.replace("// S", ""), "so there are fewer places"),
        Mutant("K K copies", COST.replace("seen * places / (C * H * W)", "K * K"), "Only pixels far from every border"),
        Mutant("divides by one map", COST.replace("(C * H * W)", "(H * W)"), "divide by all of its C H W numbers"),
        Mutant("upside down", COST.replace("seen * places / (C * H * W)", "(C * H * W) / (seen * places)"),
               "the factor is the other way round"),
        Mutant("whole factor", COST.replace("places / (C", "places // (C"), "The factor is rounded down"),
        Mutant("true division of sizes", COST.replace("// S", "/ S"), "expected whole numbers"),
        Mutant("right for square only", COST.replace("(1 + (W - K) // S)", "(1 + (H - K) // S)"),
               "Width and height are two numbers"),
        Mutant("shapes exchanged", COST.replace("(M, seen), (seen, places)", "(seen, places), (M, seen)"),
               "The two shapes are exchanged"),
        Mutant("masks as columns", COST.replace("(M, seen),", "(seen, M),"), "W_rows stands on its side"),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.6

CUT = """
def windows_as_rows(x, K_h, K_w, S):
    _, H, W = x.shape
    rows = []
    for h in range(1 + (H - K_h) // S):
        for v in range(1 + (W - K_w) // S):
            rows.append(x[:, h * S : h * S + K_h, v * S : v * S + K_w].ravel())
    return np.array(rows)
"""

IM2ROW = Key(
    "08.6",
    (
        Part("other shapes", 1, lambda rng: [
            Case((rng.normal(size=s), K_h, K_w, S))
            for s, K_h, K_w, S in (
                ((3, 6, 7), 2, 3, 1), ((2, 9, 5), 4, 2, 2), ((4, 5, 8), 3, 3, 2), ((2, 7, 7), 2, 2, 3))]),
        Part("edge cases", 1, lambda rng: [
            Case((rng.normal(size=s), K_h, K_w, S))
            for s, K_h, K_w, S in (
                ((1, 1, 1), 1, 1, 1), ((3, 4, 2), 4, 2, 1), ((5, 3, 4), 1, 1, 2), ((2, 1, 6), 1, 4, 1))]),
    ),
    (
        Mutant("im2col's order", CUT.replace("np.array(rows)", "np.array(rows).T"), "windows as columns"),
        Mutant("maps fastest", CUT.replace("].ravel()", "].transpose(1, 2, 0).ravel()"), "The maps change fastest"),
        Mutant("windows read down", CUT.replace("].ravel()", "].transpose(0, 2, 1).ravel()"), "read column by column"),
        Mutant("windows in columns first", """
def windows_as_rows(x, K_h, K_w, S):
    _, H, W = x.shape
    rows = []
    for v in range(1 + (W - K_w) // S):
        for h in range(1 + (H - K_h) // S):
            rows.append(x[:, h * S : h * S + K_h, v * S : v * S + K_w].ravel())
    return np.array(rows)
""", "Your windows come column after column"),
        Mutant("by one pixel", CUT.replace(") // S", ")").replace(" * S", ""), "Your windows move by one pixel"),
        Mutant("side by side", CUT.replace("h * S", "h * K_h").replace("v * S", "v * K_w").replace(
            "- K_h) // S", "- K_h) // K_h").replace("- K_w) // S", "- K_w) // K_w"), "move by the size of the mask"),
        Mutant("begins without the stride", CUT.replace("h * S", "h").replace("v * S", "v"),
               "The number of your windows is right, but"),
        Mutant("windows as blocks", CUT.replace("].ravel()", "]"), "Each window is still a block"),
        Mutant("a generator", CUT.replace("return np.array(rows)", "return (row for row in rows)"),
               "result is a generator"),
        Mutant("mask turned on its side", CUT.replace("h * S + K_h", "h * S + K_w").replace(
            "v * S + K_w", "v * S + K_h"), "raises ValueError"),
        Mutant("the library", """
def windows_as_rows(x, K_h, K_w, S):
    return ops.im2col(x[None], (K_h, K_w), S)[0].T
""", "windows_as_rows uses im2col"),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.7

FULL = """
def input_gradient(dy, w):
    K_h, K_w = w.shape[2:]
    flipped = w.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]
    return ops.conv2d_forward(dy, flipped, pad=(K_h - 1, K_w - 1))[0]
"""
FLIP = "[:, :, ::-1, ::-1]"

INPUT = Key(
    "08.7",
    (
        Part("other shapes", 1, lambda rng: [
            Case(normal(rng, (2, 4, 5, 3), (4, 3, 3, 2))), Case(normal(rng, (3, 2, 4, 6), (2, 5, 2, 4)))]),
        Part("edge cases, whole numbers", 1, lambda rng: [
            Case(normal(rng, (1, 1, 1, 1), (1, 1, 1, 1))), Case(normal(rng, (2, 3, 1, 2), (3, 3, 3, 3))),
            Case(normal(rng, (2, 3, 4, 2), (3, 2, 1, 1))),
            Case((rng.integers(-9, 9, (2, 2, 3, 4)), rng.integers(-9, 9, (2, 3, 2, 2))))]),
    ),
    (
        Mutant("no flip", FULL.replace(FLIP, ""), "The flip is missing"),
        Mutant("only rows", FULL.replace(FLIP, "[:, :, ::-1]"), "the columns must be too"),
        Mutant("only columns", FULL.replace(FLIP, "[:, :, :, ::-1]"), "the rows must be too"),
        Mutant("flips the maps", FULL.replace(FLIP, "[::-1, ::-1]"), "You reverse the order of the maps"),
        Mutant("maps keep their sides", FULL.replace(".transpose(1, 0, 2, 3)", ""),
               "Input and output maps have not changed sides"),
        Mutant("no border", FULL.replace(", pad=(K_h - 1, K_w - 1)", ""), "Without the border of zeros"),
        Mutant("right for square masks", FULL.replace("(K_h - 1, K_w - 1)", "K_h - 1"),
               "on the left and the right it is K_w - 1"),
        Mutant("overwrites the shares", """
def input_gradient(dy, w):
    (B, M, h, v), (_, C, K_h, K_w) = dy.shape, w.shape
    dx = np.zeros((B, C, h + K_h - 1, v + K_w - 1))
    for p in range(K_h):
        for q in range(K_w):
            dx[:, :, p : p + h, q : q + v] = np.einsum("bmhv,mc->bchv", dy, w[:, :, p, q])
    return dx
""", "the last one has overwritten the others"),
        Mutant("border of K", FULL.replace("(K_h - 1, K_w - 1)", "(K_h, K_w)"), "one zero too wide"),
        Mutant("first output map", FULL.replace("(dy, flipped,", "(dy[:, :1], flipped[:, :1],"),
               "Only the first output map"),
        Mutant("mean over the maps", FULL.replace(")[0]", ")[0] / w.shape[0]"), "You average over the output maps"),
        Mutant("the library", """
def input_gradient(dy, w):
    B, _, h, v = dy.shape
    x = np.zeros((B, w.shape[1], h + w.shape[2] - 1, v + w.shape[3] - 1))
    return ops.conv2d_backward(dy, ops.conv2d_forward(x, w)[1])[0]
""", "input_gradient uses conv2d_backward"),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.8


def turned(rng, *shape):
    w = rng.integers(-9, 9, shape)
    return w + w[:, :, ::-1, ::-1]


def other_masks(rng):
    w, v, u = turned(rng, 3, 2, 2, 4), turned(rng, 2, 3, 3, 3), turned(rng, 2, 2, 5, 2)
    v[1, 2, 2, 0] += 1
    return [Case((w,)), Case((v,)), Case((u.astype(float),)), Case((rng.normal(size=(2, 2, 3, 2)),))]


def edge_masks(rng):
    w = rng.normal(size=(1, 1, 3, 4))
    tiny = np.ones((1, 2, 2, 3))
    tiny[0, 1, 1, 2] += 1e-9
    u = rng.integers(-9, 9, (1, 2, 2, 3))
    u[0, 1] = u[0, 0, ::-1, ::-1]  # neither mask is its flip, their sum is
    u[0, 0, 0, 0] += u[0, 0, 1, 2] == u[0, 0, 0, 0]
    u[0, 1, 1, 2] = u[0, 0, 0, 0]
    return [
        Case((rng.normal(size=(3, 2, 1, 1)),)),
        Case((w + w[:, :, ::-1],)),
        Case((w + w[:, :, :, ::-1],)),
        Case((tiny,)),
        Case((u,)),
        Case((u.swapaxes(0, 1),)),
        Case((np.zeros((1, 1, 2, 3)),)),
    ]


SAME = "def hides_the_flip(w):\n    return {}\n".format

HIDES = Key(
    "08.8",
    (Part("other masks", 1, other_masks), Part("edge cases", 1, edge_masks)),
    (
        Mutant("transpose", SAME("np.array_equal(w, w.transpose(0, 1, 3, 2))"), "equal to its transpose is another"),
        Mutant("upside down", SAME("np.array_equal(w, w[:, :, ::-1])"), "The mask looks the same upside down"),
        Mutant("mirror", SAME("np.array_equal(w, w[:, :, :, ::-1])"), "The mask looks the same in a mirror"),
        Mutant("flips the maps", SAME("np.array_equal(w, w[::-1, ::-1])"), "The first two axes of w are maps"),
        Mutant("first mask", SAME("np.array_equal(w[0, 0], w[0, 0, ::-1, ::-1])"), "One mask that changes is enough"),
        Mutant("sum over the input maps", SAME("np.array_equal(w.sum(axis=1), w.sum(axis=1)[:, ::-1, ::-1])"),
               "The masks were added up before"),
        Mutant("an array of truth values", SAME("w == w[:, :, ::-1, ::-1]"), "An answer for each number"),
        Mutant("one for each mask", SAME("(w == w[:, :, ::-1, ::-1]).all(axis=(2, 3))"), "An answer for each mask"),
        Mutant("the other way round", SAME("not np.array_equal(w, w[:, :, ::-1, ::-1])"),
               "(the lesson's blur): result is False"),
        Mutant("sums", SAME("bool(w.sum() == w[:, :, ::-1, ::-1].sum())"), "(two masks): result is True"),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.9


def strided(*sizes):
    """Random x (H, W) and dy for a mask and a stride."""

    def cases(rng):
        found = []
        for H, W, K_h, K_w, S in sizes:
            places = (1 + (H - K_h) // S, 1 + (W - K_w) // S)
            found.append(Case((*normal(rng, places, (H, W)), (K_h, K_w), S)))
        return found

    return cases


SEEN = """
def weight_gradient(dy, x, mask, S):
    dw = np.zeros(mask)
    for h, v in np.ndindex(dy.shape):
        for p, q in np.ndindex(mask):
            dw[p, q] += dy[h, v] * x[h * S + p, v * S + q]
    return dw
"""

STRIDED = Key(
    "08.9",
    (
        Part("other shapes", 1, strided((7, 9, 3, 2, 2), (8, 6, 2, 3, 3), (5, 6, 2, 4, 1), (9, 8, 4, 2, 2))),
        Part("edge cases, whole numbers", 1, lambda rng: [
            *strided((1, 1, 1, 1, 1), (4, 3, 4, 3, 2), (9, 5, 1, 1, 4), (3, 11, 3, 2, 4))(rng),
            Case((rng.integers(-9, 9, (3, 2)), rng.normal(size=(6, 6)), (2, 3), 2)),
            Case((rng.normal(size=(3, 2)), rng.integers(-9, 9, (6, 6)), (2, 3), 2))]),
    ),
    (
        Mutant("no stride", SEEN.replace(" * S", ""), "The stride is missing"),
        Mutant("stride at the weight", SEEN.replace("h * S + p, v * S + q", "h + p * S, v + q * S"),
               "The stride is at the wrong index"),
        Mutant("mean", SEEN.replace("return dw", "return dw / dy.size"), "You average"),
        Mutant("flipped", SEEN.replace("return dw", "return dw[::-1, ::-1]"), "It is turned round"),
        Mutant("= for +=", SEEN.replace("+=", "="), "Only the last output is in it"),
        Mutant("mask from the shapes", SEEN.replace("dw = ", """
    mask = tuple(n - (k - 1) * S for n, k in zip(x.shape, dy.shape))
    dw = """), "so take the shape from `mask`"),
        Mutant("slides dy as it is", """
def weight_gradient(dy, x, mask, S):
    return ops.conv2d_forward(x[None, None], dy[None, None], stride=S)[0][0, 0]
""", "neighbouring outputs stand S pixels apart"),
        Mutant("a whole-number array", SEEN.replace("np.zeros(mask)", "np.zeros(mask, dtype=x.dtype)"),
               "cut to whole numbers"),
        Mutant("uses the mask's shape as a number", SEEN.replace("np.zeros(mask)", "np.zeros((mask, mask))"),
               "raises TypeError"),
    ),
)  # fmt: skip

KEYS = (BIAS, MIX, POOL, ROUTE, UNROLLED, IM2ROW, INPUT, HIDES, STRIDED)
