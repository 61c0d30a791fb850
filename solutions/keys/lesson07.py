"""Key of sheet 07: hidden cases and wrong answers.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Case
from course_lib.grading.keys import Key, Mutant, Part


def cases(*arguments):
    return lambda rng: [Case(args) for args in arguments]


# ---------------------------------------------------------------------------------------------- 07.1


def other_networks(rng):
    found = []
    for _ in range(12):
        size = first = int(rng.integers(20, 80))
        layers = []
        for _ in range(4):
            mask, stride, pad = (int(v) for v in rng.integers((1, 1, 0), (5, 4, 3)))
            if mask <= size + 2 * pad:
                layers.append((mask, stride, pad))
                size = 1 + (size - mask + 2 * pad) // stride
        found.append(Case((first, layers)))
    return found


SIZES = Key(
    "07.1",
    (
        Part("other networks", 1, other_networks),
        Part(
            "edge cases",
            1,
            cases((7, []), (1, [(1, 1, 0)]), (5, [(5, 3, 0)]), (3, [(7, 2, 2)]), (10, [(1, 4, 0), (3, 5, 0)])),
        ),
    ),
    (
        Mutant("true division", """
def sizes(size, layers):
    found = []
    for mask, stride, pad in layers:
        size = 1 + (size - mask + 2 * pad) / stride
        found.append(size)
    return found
""", "expected whole numbers"),
        Mutant("rounds up", """
def sizes(size, layers):
    found = []
    for mask, stride, pad in layers:
        size = int(np.ceil((size - mask + 2 * pad) / stride)) + 1
        found.append(size)
    return found
""", "a window that hangs over the edge does not count"),
        Mutant("rounds to the nearest", """
def sizes(size, layers):
    found = []
    for mask, stride, pad in layers:
        size = 1 + round((size - mask + 2 * pad) / stride)
        found.append(size)
    return found
""", "You round to the nearest whole number"),
        Mutant("pads once", """
def sizes(size, layers):
    found = []
    for mask, stride, pad in layers:
        size = 1 + (size - mask + pad) // stride
        found.append(size)
    return found
""", "The padding stands on both sides"),
        Mutant("counts steps", """
def sizes(size, layers):
    found = []
    for mask, stride, pad in layers:
        size = (size - mask + 2 * pad) // stride
        found.append(size)
    return found
""", "You count the steps"),
        Mutant("does not hand on", """
def sizes(size, layers):
    return [1 + (size - mask + 2 * pad) // stride for mask, stride, pad in layers]
""", "it must get what the layer before it put out"),
        Mutant("lists the input too", """
def sizes(size, layers):
    found = [size]
    for mask, stride, pad in layers:
        found.append(1 + (found[-1] - mask + 2 * pad) // stride)
    return found
""", "The list begins with the first layer's output"),
        Mutant("no padding", """
def sizes(size, layers):
    found = []
    for mask, stride, pad in layers:
        size = 1 + (size - mask) // stride
        found.append(size)
    return found
""", "The padding is left out"),
        Mutant("stride before mask", """
def sizes(size, layers):
    found = []
    for stride, mask, pad in layers:
        size = 1 + (size - mask + 2 * pad) // stride
        found.append(size)
    return found
""", "in this order"),
        Mutant("divides the 1 too", """
def sizes(size, layers):
    found = []
    for mask, stride, pad in layers:
        size = (1 + size - mask + 2 * pad) // stride
        found.append(size)
    return found
""", "The 1 is added after the division"),
        Mutant("right sizes as floats", """
def sizes(size, layers):
    found = []
    for mask, stride, pad in layers:
        size = float(1 + (size - mask + 2 * pad) // stride)
        found.append(size)
    return found
""", "The sizes are right, but they are floats"),
        Mutant("only the last size", """
def sizes(size, layers):
    for mask, stride, pad in layers:
        size = 1 + (size - mask + 2 * pad) // stride
    return size
""", "result is a whole number, expected a list"),
        Mutant("the public examples by heart", """
def sizes(size, layers):
    return {28: [28, 14, 10, 5, 1], 8: [3], 10: [5, 3]}[size]
""", "on a hidden case raises KeyError"),
        Mutant("uses the library", """
def sizes(size, layers):
    found = []
    for layer in layers:
        size = ops.output_size(size, *layer)
        found.append(size)
    return found
""", "sizes uses output_size"),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 07.2


def other_rows(rng):
    found = []
    for _ in range(60):
        mask, stride, pad = (int(v) for v in rng.integers((1, 1, 0), (6, 7, 4)))
        found.append(Case((int(rng.integers(max(1, mask - 2 * pad), 25)), mask, stride, pad)))
    return found


UNSEEN = Key(
    "07.2",
    (
        Part("other rows", 1, other_rows),
        Part(
            "edge cases",
            1,
            cases((1, 1, 1, 0), (6, 6, 2, 0), (7, 1, 7, 0), (9, 2, 12, 0), (4, 2, 5, 2), (9, 4, 4, 0), (8, 3, 5, 0)),
        ),
    ),
    (
        Mutant("only gaps", """
def unseen_columns(width, mask, stride, pad):
    seen = set()
    for place in range(-pad, width + pad, stride):
        seen.update(range(place, place + mask))
    return [c for c in range(width) if c not in seen]
""", "Some of your windows hang over the edge"),
        Mutant("only the end, as if it were image", """
def unseen_columns(width, mask, stride, pad):
    left_over = (width - mask + 2 * pad) % stride
    return list(range(width - left_over, width))
""", "is padding first"),
        Mutant("only the end", """
def unseen_columns(width, mask, stride, pad):
    left_over = max((width - mask + 2 * pad) % stride - pad, 0)
    return list(range(max(width - left_over, 0), width))
""", "there are gaps too"),
        Mutant("places of the padded row", """
def unseen_columns(width, mask, stride, pad):
    seen = set()
    for place in range(0, width + 2 * pad - mask + 1, stride):
        seen.update(range(place, place + mask))
    return [c for c in range(pad, width + pad) if c not in seen]
""", "These are places in the padded row"),
        Mutant("padding as columns", """
def unseen_columns(width, mask, stride, pad):
    seen = set()
    for place in range(0, width + 2 * pad - mask + 1, stride):
        seen.update(range(place, place + mask))
    return [c for c in range(width + 2 * pad) if c not in seen]
""", "Columns of padding are no columns of the image"),
        Mutant("no padding", """
def unseen_columns(width, mask, stride, pad):
    seen = set()
    for place in range(0, width - mask + 1, stride):
        seen.update(range(place, place + mask))
    return [c for c in range(width) if c not in seen]
""", "The padding is left out"),
        Mutant("last window missing", """
def unseen_columns(width, mask, stride, pad):
    seen = set()
    for place in range(-pad, width + pad - mask, stride):
        seen.update(range(place, place + mask))
    return [c for c in range(width) if c not in seen]
""", "Your last window is missing"),
        Mutant("pads once", """
def unseen_columns(width, mask, stride, pad):
    seen = set()
    for place in range(0, width + pad - mask + 1, stride):
        seen.update(range(place - pad, place - pad + mask))
    return [c for c in range(width) if c not in seen]
""", "width + 2 * pad places"),
        Mutant("decreasing", """
def unseen_columns(width, mask, stride, pad):
    seen = set()
    for place in range(0, width + 2 * pad - mask + 1, stride):
        seen.update(range(place - pad, place - pad + mask))
    return sorted(set(range(width)) - seen, reverse=True)
""", "in decreasing order"),
        Mutant("counts from 1", """
def unseen_columns(width, mask, stride, pad):
    seen = set()
    for place in range(0, width + 2 * pad - mask + 1, stride):
        seen.update(range(place - pad, place - pad + mask))
    return [c + 1 for c in range(width) if c not in seen]
""", "yours are counted from 1"),
        Mutant("the seen ones", """
def unseen_columns(width, mask, stride, pad):
    seen = set()
    for place in range(0, width + 2 * pad - mask + 1, stride):
        seen.update(range(place - pad, place - pad + mask))
    return [c for c in range(width) if c in seen]
""", "that a window does see"),
        Mutant("windows one short", """
def unseen_columns(width, mask, stride, pad):
    seen = set()
    for place in range(0, width + 2 * pad - mask + 1, stride):
        seen.update(range(place - pad, place - pad + mask - 1))
    return [c for c in range(width) if c not in seen]
""", "yours see one less"),
        Mutant("right columns as floats", """
def unseen_columns(width, mask, stride, pad):
    seen = set()
    for place in range(0, width + 2 * pad - mask + 1, stride):
        seen.update(range(place - pad, place - pad + mask))
    return [float(c) for c in range(width) if c not in seen]
""", "The columns are right, but they are floats"),
        Mutant("says of each column", """
def unseen_columns(width, mask, stride, pad):
    seen = set()
    for place in range(0, width + 2 * pad - mask + 1, stride):
        seen.update(range(place - pad, place - pad + mask))
    return [c not in seen for c in range(width)]
""", "whether it is unseen"),
        Mutant("the public examples by heart", """
def unseen_columns(width, mask, stride, pad):
    if (width, mask) == (8, 2):
        return [2, 5]
    return {(8, 0): [7], (8, 1): [], (11, 1): [2, 6, 10]}.get((width, pad), [])
""", "unseen_columns on a hidden case returns another number of values"),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 07.3


def other_skeletons(rng):
    return [
        Case((rng.normal(size=(C, L)), rng.normal(size=(M, C, K)), s, p))
        for C, L, M, K, s, p in ((3, 10, 2, 4, 1, 0), (2, 11, 5, 3, 3, 2), (4, 9, 1, 2, 2, 1), (5, 7, 5, 5, 1, 4))
    ]


def edge_skeletons(rng):
    return [
        Case((rng.normal(size=(1, 1)), rng.normal(size=(1, 1, 1)), 1, 0)),
        Case((rng.normal(size=(2, 4)), rng.normal(size=(3, 2, 4)), 2, 0)),
        Case((rng.normal(size=(3, 2)), rng.normal(size=(2, 3, 5)), 2, 2)),
        Case((rng.integers(-9, 9, (2, 8)), rng.normal(size=(3, 2, 3)), 2, 1)),
    ]


LOOP_1D = """
def conv1d(x, w, stride, pad):
    (C, L), (M, _, K) = x.shape, w.shape
    padded = np.pad(x, ((0, 0), (pad, pad)))
    L_out = 1 + (L - K + 2 * pad) // stride
    y = np.zeros((M, L_out))
    for m in range(M):
        for v in range(L_out):
            for c in range(C):
                for q in range(K):
                    y[m, v] += padded[c, v * stride + q] * w[m, c, q]
    return y
"""

SKELETON = Key(
    "07.3",
    (Part("other shapes", 1, other_skeletons), Part("edge cases, whole numbers", 1, edge_skeletons)),
    (
        Mutant("flipped", LOOP_1D.replace("w[m, c, q]", "w[m, c, K - 1 - q]"), "The mask is turned round"),
        Mutant("= for +=", """
def conv1d(x, w, stride, pad):
    (C, L), (M, _, K) = x.shape, w.shape
    padded = np.pad(x, ((0, 0), (pad, pad)))
    y = np.zeros((M, 1 + (L - K + 2 * pad) // stride))
    for m in range(M):
        for c in range(C):
            for v in range(y.shape[1]):
                y[m, v] = sum(padded[c, v * stride + q] * w[m, c, q] for q in range(K))
    return y
""", "Only the last input map is in it"),
        Mutant("one joint", LOOP_1D.replace("range(C)", "range(1)"), "Only the first input map is in it"),
        Mutant("stride forgotten when reading", LOOP_1D.replace("v * stride + q", "v + q"), "Your windows begin at"),
        Mutant("pads the right end twice", LOOP_1D.replace("(pad, pad)", "(0, 2 * pad)"), "stands on the right"),
        Mutant("pads one end", LOOP_1D.replace("((0, 0), (pad, pad))", "((0, 0), (pad, 0))"), "raises IndexError"),
        Mutant("pads joints too", LOOP_1D.replace("((0, 0), (pad, pad))", "pad"), "The padding has shifted the maps"),
        Mutant("output of the input's type",
               LOOP_1D.replace("(M, L_out))", "(M, L_out), dtype=x.dtype)"), "cut to whole numbers"),
        Mutant("no floor", LOOP_1D.replace("// stride", "/ stride"), "raises TypeError"),
        Mutant("no padding", LOOP_1D.replace("((0, 0), (pad, pad))", "0").replace("+ 2 * pad", ""),
               "The padding is left out"),
        Mutant("repeats the ends", LOOP_1D.replace("(pad, pad)))", "(pad, pad)), mode='edge')"),
               "The padding must be zeros"),
        Mutant("last product only", LOOP_1D.replace("+=", "="), "Only the last product is left"),
        Mutant("adds maps first", LOOP_1D.replace("padded[c, v * stride + q]", "padded[:, v * stride + q].sum()"),
               "each map has a mask of its own"),
        Mutant("size pads once", LOOP_1D.replace("+ 2 * pad", "+ pad"), "it counts twice in L_out"),
        Mutant("keeps the maps apart", """
def conv1d(x, w, stride, pad):
    padded = np.pad(x, ((0, 0), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2], axis=1)[:, ::stride]
    return np.einsum("cvq,mcq->mcv", windows, w)
""", "There is still an axis for the input maps"),
        Mutant("NumPy's correlation", """
def conv1d(x, w, stride, pad):
    padded = np.pad(x, ((0, 0), (pad, pad)))
    return np.array([sum(np.correlate(p, v) for p, v in zip(padded, masks))[::stride] for masks in w])
""", "conv1d uses correlate"),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 07.4


def other_pictures(rng):
    return [
        Case((rng.normal(size=(C, H, W)), rng.normal(size=(C, K_h, K_w))))
        for C, H, W, K_h, K_w in ((3, 5, 8, 2, 3), (2, 9, 4, 3, 4), (4, 6, 7, 5, 2))
    ]


def edge_pictures(rng):
    return [
        Case((rng.normal(size=(1, 1, 1)), rng.normal(size=(1, 1, 1)))),
        Case((rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 3, 4)))),
        Case((rng.normal(size=(3, 4, 1)), rng.normal(size=(3, 2, 1)))),
        Case((rng.integers(-5, 9, (2, 3, 5)), rng.normal(size=(2, 2, 3)))),
    ]


RING = """
def panorama(x, w):
    (C, H, W), (_, K_h, K_w) = x.shape, w.shape
    y = np.zeros((H - K_h + 1, W))
    for h in range(H - K_h + 1):
        for v in range(W):
            for c in range(C):
                for p in range(K_h):
                    for q in range(K_w):
                        y[h, v] += x[c, h + p, (v + q) % W] * w[c, p, q]
    return y
"""

PANORAMA = Key(
    "07.4",
    (Part("other shapes", 1, other_pictures), Part("edge cases, whole numbers", 1, edge_pictures)),
    (
        Mutant("zeros on the right", RING.replace("(v + q) % W] * w[c, p, q]", "v + q] * w[c, p, q] * 1.0").replace(
            "y = np", "x = np.pad(x, ((0, 0), (0, 0), (0, K_w)))\n    y = np"), "you have zeros"),
        Mutant("runs out of the picture", RING.replace("(v + q) % W", "v + q"), "raises IndexError"),
        Mutant("joins to the left", RING.replace("(v + q) % W", "v - K_w + 1 + q"), "Your windows end at column v"),
        Mutant("flipped", RING.replace("w[c, p, q]", "w[c, K_h - 1 - p, K_w - 1 - q]"), "The mask is turned round"),
        Mutant("last map", """
def panorama(x, w):
    (C, H, W), (_, K_h, K_w) = x.shape, w.shape
    y = np.zeros((H - K_h + 1, W))
    for c in range(C):
        for h in range(H - K_h + 1):
            for v in range(W):
                y[h, v] = sum(x[c, h + p, (v + q) % W] * w[c, p, q] for p in range(K_h) for q in range(K_w))
    return y
""", "Only the last map is in it"),
        Mutant("rows joined too", RING.replace("H - K_h + 1", "H").replace("h + p", "(h + p) % H"),
               "only columns are joined"),
        Mutant("no join", RING.replace("range(W)", "range(W - K_w + 1)").replace("+ 1, W)", "+ 1, W - K_w + 1)"),
               "there is an output for every column"),
        Mutant("one map an output", RING.replace("((H", "((C, H").replace("y[h, v]", "y[c, h, v]"),
               "result has shape (1,"),
        Mutant("joined by the number of rows", RING.replace("% W]", "% H]"), "Columns come round after as many"),
        Mutant("first map", RING.replace("range(C)", "range(1)"), "Only the first map is in it"),
        Mutant("last product only", RING.replace("+=", "="), "Only the last product is left"),
        Mutant("centred", RING.replace("(v + q) % W", "(v + q - K_w // 2) % W"), "output v is the window that begins"),
        Mutant("continues too far", """
def panorama(x, w):
    wide = np.concatenate([x, x[:, :, : w.shape[2]]], axis=2)
    windows = np.lib.stride_tricks.sliding_window_view(wide, w.shape[1:], axis=(1, 2))
    return np.einsum("chvpq,cpq->hv", windows, w)
""", "one output too many in each row"),
        Mutant("extends the picture in place", """
def panorama(x, w):
    C, K_h, K_w = w.shape
    y = np.zeros((x.shape[1] - K_h + 1, x.shape[2]))
    for v in range(x.shape[2]):
        for h in range(y.shape[0]):
            y[h, v] = np.sum(x[:, h : h + K_h, :K_w] * w)
        x[:] = np.roll(x, -1, axis=2)
    x *= 2
    return y
""", "changes argument 1 in place"),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 07.5


def other_matrices(rng):
    return [
        Case((rng.normal(size=mask), H, W, s))
        for mask, H, W, s in (((2, 3), 4, 6, 1), ((3, 2), 7, 5, 2), ((1, 4), 3, 8, 1), ((2, 2), 8, 9, 3))
    ]


def edge_matrices(rng):
    return [
        Case((rng.normal(size=(1, 1)), 1, 1, 1)),
        Case((rng.normal(size=(3, 4)), 3, 4, 2)),
        Case((rng.normal(size=(1, 1)), 3, 2, 1)),
        Case((rng.integers(1, 99, (4, 1)), 6, 3, 2)),
    ]


PLACES = """
def as_dense(w, H, W, stride):
    H_out, W_out = 1 + (H - w.shape[0]) // stride, 1 + (W - w.shape[1]) // stride
    T = np.zeros((H_out * W_out, H * W))
    for h, v in np.ndindex(H_out, W_out):
        for p, q in np.ndindex(w.shape):
            T[h * W_out + v, (h * stride + p) * W + v * stride + q] = w[p, q]
    return T
"""

MATRIX = Key(
    "07.5",
    (Part("other shapes", 1, other_matrices), Part("edge cases", 1, edge_matrices)),
    (
        Mutant("transposed", PLACES.replace("return T", "return T.T"), "It is the transpose: outputs are rows"),
        Mutant("flipped", PLACES.replace("= w[p, q]", "= w[::-1, ::-1][p, q]"), "turned round in every row"),
        Mutant("mask transposed", PLACES.replace("= w[p, q]", "= w.ravel(order='F')[p * w.shape[1] + q]"),
               "The mask is transposed in every row"),
        Mutant("stride in the size only", PLACES.replace("h * stride + p", "h + p").replace("v * stride", "v"),
               "Your windows move by one pixel"),
        Mutant("rows of W_out pixels", PLACES.replace("+ p) * W +", "+ p) * W_out +"), "not W_out"),
        Mutant("numbers outputs by W", PLACES.replace("T[h * W_out", "T[h * W"), "raises IndexError"),
        Mutant("rows and columns of the image swapped",
               PLACES.replace("+ p) * W +", "+ p) * H +"), "as_dense on a hidden case"),
        Mutant("numbers outputs by H_out", PLACES.replace("T[h * W_out", "T[h * H_out"),
               "W_out rows of the matrix, not H_out"),
        Mutant("outputs column after column", PLACES.replace("T[h * W_out + v", "T[v * H_out + h"),
               "Outputs are numbered"),
        Mutant("pixels column after column",
               PLACES.replace("(h * stride + p) * W + v * stride + q", "(v * stride + q) * H + h * stride + p"),
               "Pixels are numbered"),
        Mutant("mask in one run", """
def as_dense(w, H, W, stride):
    H_out, W_out = 1 + (H - w.shape[0]) // stride, 1 + (W - w.shape[1]) // stride
    T = np.zeros((H_out * W_out, H * W))
    for h, v in np.ndindex(H_out, W_out):
        first = h * stride * W + v * stride
        T[h * W_out + v, first : first + w.size] = w.ravel()
    return T
""", "The rows of the mask stand side by side"),
        Mutant("stride in rows only", PLACES.replace("v * stride", "v"), "from row to row only"),
        Mutant("ones", PLACES.replace("= w[p, q]", "= 1"), "they hold ones"),
        Mutant("too narrow", PLACES.replace("H * W))", "H_out * W_out))"), "out of bounds"),
        Mutant("reads it off", """
def as_dense(w, H, W, stride):
    units = np.eye(H * W).reshape(H * W, 1, H, W)
    return ops.conv2d_forward(units, w[None, None], stride=stride)[0].reshape(H * W, -1).T
""", "as_dense uses conv2d_forward"),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 07.6

COUNT = """
def numbers_to_learn(C, H, W, M, K_h, K_w):
    outputs = M * (H - K_h + 1) * (W - K_w + 1)
    window = C * K_h * K_w
    return outputs * (C * H * W + 1), outputs * (window + 1), M * (window + 1)
"""

COUNTS = Key(
    "07.6",
    (
        Part(
            "other layers",
            1,
            cases((16, 14, 14, 5, 5, 5), (3, 32, 20, 10, 3, 7), (2, 6, 9, 4, 2, 1), (1, 250, 250, 1, 5, 5)),
        ),
        Part("edge cases", 1, cases((1, 1, 1, 1, 1, 1), (16, 5, 5, 120, 5, 5), (4, 3, 7, 2, 1, 1))),
    ),
    (
        Mutant("no biases", COUNT.replace("(C * H * W + 1)", "C * H * W").replace("(window + 1)", "window"),
               "The biases are missing"),
        Mutant("a bias for each place", COUNT.replace("M * (window + 1)", "M * window + outputs"),
               "one bias for each output map"),
        Mutant("a bias for each map everywhere", COUNT.replace("outputs * (C * H * W + 1), outputs * (window + 1)",
               "outputs * C * H * W + M, outputs * window + M"), "Where nothing is shared"),
        Mutant("one mask for all input maps", COUNT.replace("C * K_h", "K_h"), "so C counts there too"),
        Mutant("output as large as the image", COUNT.replace("M * (H - K_h + 1) * (W - K_w + 1)", "M * H * W"),
               "the output maps are smaller than the image"),
        Mutant("one output map", COUNT.replace("M * (H", "(H").replace("M * (window + 1)", "window + 1"),
               "The layer has M output maps"),
        Mutant("one bias for the layer", COUNT.replace("M * (window + 1)", "M * window + 1"),
               "one for the whole layer"),
        Mutant("local biases shared", COUNT.replace("outputs * (window + 1)", "outputs * window + M"),
               "In the local layer nothing is shared"),
        Mutant("dense without biases", COUNT.replace("(C * H * W + 1)", "C * H * W"), "In the dense layer the biases"),
        Mutant("dense on one map", COUNT.replace("(C * H * W + 1)", "(H * W + 1)"), "the pixels of all C maps"),
        Mutant("right counts as floats", COUNT.replace("K_h, K_w):", "K_h, K_w):\n    M = float(M)"),
               "The counts are right, but they are floats"),
        Mutant("only the convolution", COUNT.replace("outputs * (C * H * W + 1), outputs * (window + 1), ", ""),
               "expected 3 values"),
        Mutant("the public examples by heart", """
def numbers_to_learn(C, H, W, M, K_h, K_w):
    return {1: (15, 9, 3), 6: (4821600, 122304, 156), 2: (21266, 1862, 38)}[M]
""", "on a hidden case raises KeyError"),
        Mutant("right for square only", COUNT.replace("(W - K_w + 1)", "(H - K_h + 1)"), "result[0] is 5, expected 15"),
    ),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 07.7


def other_dice(rng):
    return [Case((rng.random(n), rng.random(m))) for n, m in ((6, 4), (2, 9), (5, 5))]


def edge_dice(rng):
    return [
        Case((np.array([3.0]), np.array([2.0, 0, 7]))),
        Case((np.array([4.0, -1, 2]), np.array([-5.0]))),
        Case((np.array([1.5]), np.array([-4.0]))),
        Case((rng.integers(-9, 9, 4), rng.integers(-9, 9, 3))),
    ]


SUM = """
def multiply(a, b):
    y, _ = ops.conv1d_forward(a[None, None], b[None, None, ::-1], pad=len(b) - 1)
    return y[0, 0]
"""

POLYNOMIALS = Key(
    "07.7",
    (Part("other dice", 1, other_dice), Part("edge cases, whole numbers", 1, edge_dice)),
    (
        Mutant("not turned", SUM.replace(", ::-1]", "]"), "This is the networks' convolution"),
        Mutant("turns the other one", SUM.replace("a[None, None]", "a[None, None, ::-1]").replace(
            "b[None, None, ::-1]", "b[None, None]"), "in reverse order"),
        Mutant("turns both", SUM.replace("a[None, None]", "a[None, None, ::-1]"), "Both are turned round"),
        Mutant("no padding", SUM.replace(", pad=len(b) - 1", ""), "Without padding the ends are missing"),
        Mutant("pads once too often", SUM.replace("len(b) - 1", "len(b)"), "You pad once too often"),
        Mutant("pads by the other size", SUM.replace("len(b) - 1", "len(a) - 1"), "follows the length of a"),
        Mutant("all four axes", SUM.replace("y[0, 0]", "y"), "result has shape (1, 1,"),
        Mutant("cut", SUM.replace("y[0, 0]", "y[0, 0].astype(int)"), "The results are cut to whole numbers"),
        Mutant("= for +=", """
def multiply(a, b):
    y = np.zeros(len(a) + len(b) - 1)
    for i in range(len(a)):
        for j in range(len(b)):
            y[i + j] = a[i] * b[j]
    return y
""", "Only one product is left"),
        Mutant("one entry too many", """
def multiply(a, b):
    y = np.zeros(len(a) + len(b))
    for i in range(len(a)):
        for j in range(len(b)):
            y[i + j] += a[i] * b[j]
    return y
""", "There is one entry too many"),
        Mutant("a table of products", """
def multiply(a, b):
    return np.outer(a, b)
""", "These are all products in a table"),
        Mutant("NumPy's", """
def multiply(a, b):
    return np.convolve(a, b)
""", "multiply uses convolve"),
        Mutant("SciPy's", """
def multiply(a, b):
    from scipy.signal import fftconvolve
    return fftconvolve(a, b)
""", "multiply uses fftconvolve"),
        Mutant("products of equal places", """
def multiply(a, b):
    y = np.zeros(len(a) + len(b) - 1)
    for i in range(min(len(a), len(b))):
        y[2 * i] = a[i] * b[i]
    return y
""", "result[1] is 0"),
    ),
)  # fmt: skip

KEYS = (SIZES, UNSEEN, SKELETON, PANORAMA, MATRIX, COUNTS, POLYNOMIALS)
