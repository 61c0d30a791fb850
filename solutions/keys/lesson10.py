"""The key of sheet 10: hidden cases and wrong answers."""

import numpy as np

from course_lib import data
from course_lib.checks.exercise import Case
from course_lib.checks.values import Named
from course_lib.data.small_lenet import small_lenet
from course_lib.grading.keys import Key, Mutant, Part

CLIMB = """
def climb(x, w, c, steps, lr, decay):
    for _ in range(steps):
        z = x @ w
        k = np.exp(z - z.max())
        k /= k.sum()
        k[c] -= 1
        dx = w @ k
        length = np.linalg.norm(dx)
        x = np.clip((1 - decay) * (x - lr * dx / (length if length > 0 else 1)), 0, 1)
    return x
"""

NEIGHBOURS = """
def neighbours(features, bank, k):
    f, b = features[:, None, :].astype(float), bank.astype(float)
    distances = ((f - b) ** 2).sum(axis=2)
    return np.argsort(distances, axis=1, kind="stable")[:, :k]
"""

EQUAL = """
def equal_strength(w1, b1, w3):
    s = np.sqrt((w1**2).sum(axis=(1, 2, 3)))
    s = np.where(s > 0, s, 1)
    return w1 / s[:, None, None, None], b1 / s, w3 * s[:, None, None]
"""

OCCLUDE = """
def occlusion_map(score, image, size, fills):
    H, W = image.shape
    whole, result = score(image), np.zeros((H - size + 1, W - size + 1))
    for i, j in np.ndindex(result.shape):
        falls = []
        for fill in fills:
            covered = image.astype(float)
            covered[i : i + size, j : j + size] = fill
            falls.append(whole - score(covered))
        result[i, j] = min(falls)
    return result
"""

ROWS = """
def receptive_rows(layers, h):
    first = last = h
    for K, S, P in reversed(layers):
        first = first * S - P
        last = last * S - P + K - 1
    return first, last
"""


def _but(name, text, old, new, says):
    """A mutant: the answer `text` with one place changed."""
    if text.count(old) != 1:
        raise ValueError(f"{name}: {old!r} is {text.count(old)} times in the answer, once is needed.")
    return Mutant(name, text.replace(old, new), says)


def _layers(rng, count, padded=True):
    return [tuple(int(n) for n in (rng.integers(2, 6), rng.integers(1, 4), rng.integers(1, 3) * padded))
            for _ in range(count)]  # fmt: skip


def _occluded(rng, name, H, W, size, *fills):
    return Case((Named(name), rng.uniform(size=(H, W)), size, list(fills)))


def _climbed(rng, D, N, steps, lr, decay, shift=0.0):
    # One shift for all classes leaves the probabilities as they are, and makes the scores large.
    w = rng.normal(size=(D, N)) + shift
    return Case((rng.uniform(size=D), w, int(rng.integers(N)), steps, lr, decay))


def _features(rng, B, N, D, k, low=-4, high=5):
    return Case(
        (rng.integers(low, high, size=(B, D)).astype(float), rng.integers(low, high, size=(N, D)).astype(float), k)
    )


def _pixels(rng):
    digits = data.load_digits(seed=2)
    pixels = (255 * digits.x_test[rng.permutation(1000)[:12]]).astype(np.uint8)
    return Case((pixels[:3], pixels[3:], 4))


def _layers_of(rng, M, C, K, L, N, dead=()):
    w1, w3 = rng.normal(size=(M, C, K, L)) * rng.uniform(0.1, 9, size=(M, 1, 1, 1)), rng.normal(size=(N, M, 2, 3))
    w1[list(dead)] = 0
    return Case((w1, rng.normal(size=M), w3))


KEYS = (
    Key("10.1",
        parts=(
            Part("other masks", 2, lambda rng: [
                Case((rng.normal(size=(5, 3, 2)) * np.array([1, 4, 0.2, 9, 1])[:, None, None],)),
                Case((small_lenet()[0][:, 0],)), Case((rng.integers(-9, 4, size=(2, 4, 5)),))]),
            Part("edge cases", 1, lambda rng: [
                Case((np.zeros((2, 3, 3)),)), Case((np.array([[[0.25]]]),)), Case((-rng.uniform(1, 2, (1, 2, 3)),))]),
        ),
        mutants=(
            Mutant("from smallest to largest", """
def for_display(w):
    return (w - w.min()) / (w.max() - w.min())
""", "The smallest weight became 0 and the largest 1"),
            Mutant("each mask its own scale", """
def for_display(w):
    t = np.abs(w).max(axis=(1, 2), keepdims=True)
    return 0.5 + w / np.where(t > 0, 2 * t, 1)
""", "Each mask has a scale of its own"),
            Mutant("twice too steep", """
def for_display(w):
    t = np.abs(w).max()
    return 0.5 + w / t if t else 0.5 + w
""", "The scale is twice too steep"),
            Mutant("largest, not strongest", """
def for_display(w):
    return 0.5 + w / (2 * w.max())
""", "the strongest one is negative: it leaves 0 to 1"),
            Mutant("only the size", """
def for_display(w):
    return np.abs(w) / np.abs(w).max()
""", "Only the size was kept"),
            Mutant("from -1 to 1", """
def for_display(w):
    return w / (np.abs(w).max() or 1)
""", "These go from -1 to 1"),
            Mutant("not moved", """
def for_display(w):
    return w / (2 * np.abs(w).max() or 1)
""", "0.5 is not yet added"),
            Mutant("signs turned", """
def for_display(w):
    return 0.5 - w / (2 * np.abs(w).max() or 1)
""", "The signs are turned"),
            Mutant("the wrong axis", """
def for_display(w):
    t = np.abs(w).max(axis=0)
    return 0.5 + w / np.where(t > 0, 2 * t, 1)
""", "for each place alone"),
            Mutant("no case for zero", """
def for_display(w):
    return 0.5 + w / (2 * np.abs(w).max())
""", "There are NaN or infinite values"),
            Mutant("in place", """
def for_display(w):
    t = np.abs(w).max() or 1
    w /= 2 * t
    w += 0.5
    return w
""", "changes argument 1 in place"),
        )),
    Key("10.2",
        parts=(
            Part("networks without padding", 1, lambda rng: [
                Case((_layers(rng, 3, padded=False), 5)), Case((_layers(rng, 4, padded=False), 2))]),
            Part("networks with padding", 1, lambda rng: [
                Case((_layers(rng, 3), 4)), Case((_layers(rng, 2), 0)), Case((_layers(rng, 5), 1))]),
            Part("edge cases", 1, lambda rng: [
                Case(([(1, 1, 0)], 6)), Case(([(2, 3, 0), (1, 2, 0)], 3)), Case(([(7, 1, 3), (7, 1, 3)], 0))]),
        ),
        mutants=(
            _but("no padding", ROWS.replace("last * S - P", "last * S"), "first * S - P", "first * S",
                 "The padding was forgotten"),
            Mutant("masks added up", """
def receptive_rows(layers, h):
    first = h
    for K, S, P in reversed(layers):
        first = first * S - P
    return first, first + sum(K - 1 for K, S, P in layers)
""", "The masks were added up as if all strides below were 1"),
            _but("last is not seen", ROWS, "return first, last", "return first, last + 1",
                 "The last row is one too far"),
            _but("K and not K - 1", ROWS, "+ K - 1", "+ K", "Every layer's mask was added whole"),
            _but("from the image upwards", ROWS, "reversed(layers)", "layers",
                 "The layers were gone through from the image"),
            _but("last from the new first", ROWS, "last = last * S - P + K - 1", "last = first + K - 1",
                 "`last` was computed from the new `first`"),
            _but("exchanged", ROWS, "return first, last", "return last, first", "The two are exchanged"),
            _but("last without stride", ROWS, "last = last * S", "last = last", "was not multiplied by the stride"),
            _but("cut off at 0", ROWS, "return first, last", "return max(first, 0), max(last, 0)",
                 "Rows of the padding count with their negative numbers"),
            Mutant("lesson 10's numbers", """
def receptive_rows(layers, h):
    return 2 * h, 2 * h + 13
""", "result[0] is 0, expected -1"),
            Mutant("size and not place", """
def receptive_rows(layers, h):
    size = jump = 1
    for K, S, P in layers:
        size += (K - 1) * jump
        jump *= S
    return size
""", "expected 2 values"),
        )),
    Key("10.3",
        parts=(
            Part("other scores and shapes", 2, lambda rng: [
                _occluded(rng, "numpy.std", 4, 7, 2, 0.25, 1.0), _occluded(rng, "numpy.linalg.norm", 6, 3, 3, 1.0, 0.0),
                _occluded(rng, "numpy.median", 5, 4, 2, 0.0, 0.5, 1.0)]),
            Part("edge cases", 1, lambda rng: [
                _occluded(rng, "numpy.mean", 3, 3, 3, 0.5), _occluded(rng, "numpy.sum", 1, 4, 1, -2.0, 2.0),
                Case((Named("numpy.sum"), rng.integers(0, 9, size=(3, 4)), 2, [2.75, 0.5]))]),
        ),
        mutants=(
            _but("score of the covered", OCCLUDE, "whole - score(covered)", "score(covered)",
                 "This is the score of the covered images"),
            _but("wrong sign", OCCLUDE, "result[i, j] = min(falls)", "result[i, j] = -min(falls)",
                 "It has the wrong sign"),
            _but("squares stay", OCCLUDE.replace("            covered = image.astype(float)\n", ""),
                 "    for i, j in np", "    covered = image.astype(float)\n    for i, j in np", "The squares stay"),
            _but("black squares", OCCLUDE, "] = fill", "] = 0", "The squares were filled with 0"),
            _but("first grey", OCCLUDE, "min(falls)", "falls[0]", "Only the first grey was tried"),
            _but("last grey", OCCLUDE, "min(falls)", "falls[-1]", "Only the last grey counts"),
            _but("largest fall", OCCLUDE, "min(falls)", "max(falls)", "The largest fall was kept"),
            _but("mean fall", OCCLUDE, "min(falls)", "np.mean(falls)", "The falls were averaged"),
            _but("sum of falls", OCCLUDE, "min(falls)", "sum(falls)", "The falls were added"),
            _but("no signs", OCCLUDE, "whole - score(covered)", "abs(whole - score(covered))",
                 "The signs were dropped"),
            _but("one too large", OCCLUDE.replace("i + size,", "i + size + 1,"), "j + size]", "j + size + 1]",
                 "The square is one row and one column too large"),
            _but("square turned", OCCLUDE, "covered[i : i + size, j : j + size]", "covered[j : j + size, i : i + size]",
                 "Rows and columns of the square are exchanged"),
            _but("last places missing", OCCLUDE, "np.zeros((H - size + 1, W - size + 1))",
                 "np.zeros((max(1, H - size), max(1, W - size)))", "The last row and the last column of places"),
            _but("squares side by side", OCCLUDE, "    return result", "    return result[::size, ::size]",
                 "The squares lie side by side"),
            _but("whole numbers stay whole", OCCLUDE, "image.astype(float)", "image.copy()",
                 "a grey was cut off to one"),
            _but("covers the image itself", OCCLUDE, "image.astype(float)", "image", "changes argument 2 in place"),
            _but("squares over the edge", OCCLUDE, "np.zeros((H - size + 1, W - size + 1))", "np.zeros((H, W))",
                 "result has shape (2, 3), expected (1, 2)"),
            _but("rows and columns exchanged", OCCLUDE.replace("[i, j] =", "[j, i] =").replace(
                 "np.ndindex(result.shape)", "np.ndindex(result.shape[::-1])"),
                 "np.zeros((H - size + 1, W - size + 1))", "np.zeros((W - size + 1, H - size + 1))",
                 "It looks transposed"),
        )),
    Key("10.4",
        parts=(
            Part("random networks", 2, lambda rng: [
                _climbed(rng, 6, 4, 5, 0.2, 0.05), _climbed(rng, 3, 2, 4, 0.15, 0.0),
                 _climbed(rng, 12, 10, 8, 0.4, 0.2)]),
            Part("edge cases", 1, lambda rng: [
                Case((rng.uniform(size=4), rng.normal(size=(4, 1)), 0, 2, 0.5, 0.25)),
                Case((rng.uniform(size=3), rng.normal(size=(3, 3)), 1, 0, 0.5, 0.25)),
                Case((np.array([1, 0, 0]), rng.normal(size=(3, 2)), 1, 2, 0.3, 0.0)),
                _climbed(rng, 5, 3, 3, 0.3, 0.1, shift=1000.0)]),
        ),
        mutants=(
            _but("no clip", CLIMB.replace(", 0, 1)", ")"), "np.clip(", "(", "the clip is missing"),
            _but("clip at the end", CLIMB.replace("1)), 0, 1)", "1)))").replace("np.clip(", "("),
                 "return x", "return np.clip(x, 0, 1)", "The clip came once, at the end"),
            _but("length of the gradient", CLIMB, "lr * dx / (length if length > 0 else 1)", "lr * dx",
                 "The steps have the length of the gradient"),
            _but("downhill", CLIMB, "(x - lr", "(x + lr", "It walks downhill"),
            _but("climbs the score", CLIMB, "dx = w @ k", "dx = -w[:, c]", "It climbs the score of class c"),
            _but("no e_c", CLIMB, "        k[c] -= 1\n", "", "e_c was not subtracted"),
            Mutant("asked once", """
def climb(x, w, c, steps, lr, decay):
    z = x @ w
    k = np.exp(z - z.max())
    k /= k.sum()
    k[c] -= 1
    dx = w @ k
    length = np.linalg.norm(dx)
    for _ in range(steps):
        x = np.clip((1 - decay) * (x - lr * dx / (length if length > 0 else 1)), 0, 1)
    return x
""", "The gradient was taken once"),
            _but("largest entry", CLIMB, "np.linalg.norm(dx)", "np.abs(dx).max()", "divided by its largest entry"),
            _but("sum of sizes", CLIMB, "np.linalg.norm(dx)", "np.abs(dx).sum()", "divided by the sum of its sizes"),
            _but("squared length", CLIMB, "np.linalg.norm(dx)", "dx @ dx", "divided by its squared length"),
            _but("clip, then decay", CLIMB,
                 "np.clip((1 - decay) * (x - lr * dx / (length if length > 0 else 1)), 0, 1)",
                 "(1 - decay) * np.clip(x - lr * dx / (length if length > 0 else 1), 0, 1)",
                 "The clip came before the decay"),
            _but("times decay", CLIMB, "(1 - decay) * ", "(decay or 1) * ", "The decay multiplies by `decay` itself"),
            _but("no decay", CLIMB, "(1 - decay) * ", "", "The decay was left out"),
            _but("decay first", CLIMB, "(1 - decay) * (x - lr", "((1 - decay) * x - lr",
                 "The decay came before the step"),
            _but("no care for zero", CLIMB, "(length if length > 0 else 1)", "length",
                 "There are NaN or infinite values"),
            _but("overflow", CLIMB, "np.exp(z - z.max())", "np.exp(z)",
                 "climb on a hidden case returns wrong numbers. There"),
            Mutant("in place", """
def climb(x, w, c, steps, lr, decay):
    for _ in range(steps):
        k = np.exp(x @ w - (x @ w).max())
        k /= k.sum()
        k[c] -= 1
        dx = w @ k
        x -= lr * dx / (np.linalg.norm(dx) or 1)
        x *= 1 - decay
        np.clip(x, 0, 1, out=x)
    return x
""", "changes argument 1 in place"),
        )),
    Key("10.5",
        parts=(
            Part("other shapes", 2, lambda rng: [
                Case((rng.normal(size=(4, 7)), rng.normal(size=(9, 7)) * rng.uniform(0.5, 3, size=(9, 1)), 5)),
                Case((rng.normal(size=(1, 3)), rng.normal(size=(6, 3)), 1))]),
            Part("equal distances", 1, lambda rng: [_features(rng, 5, 12, 2, 6), _features(rng, 2, 9, 1, 9, 0, 3),
                                                    _features(rng, 3, 200, 1, 90, 0, 3)]),
            Part("edge cases", 1, lambda rng: [
                Case((rng.normal(size=(2, 2)), rng.normal(size=(1, 2)), 1)), _pixels(rng)]),
        ),
        mutants=(
            _but("the farthest", NEIGHBOURS, "argsort(distances", "argsort(-distances", "The farthest ones were taken"),
            _but("by angle", NEIGHBOURS, "((f - b) ** 2).sum(axis=2)",
                 "-(f * b).sum(axis=2) / np.linalg.norm(f, axis=2) / np.linalg.norm(b, axis=1)",
                 "This is the order by angle"),
            _but("by product", NEIGHBOURS, "((f - b) ** 2).sum(axis=2)", "-(f * b).sum(axis=2)",
                 "This is the order by product"),
            _but("not squared", NEIGHBOURS, "((f - b) ** 2)", "np.abs(f - b)",
                 "Differences were added without squaring"),
            _but("the nearest left out", NEIGHBOURS, "[:, :k]", "[:, 1 : k + 1]", "The nearest one is missing"),
            _but("distances", NEIGHBOURS, 'np.argsort(distances, axis=1, kind="stable")', "np.sort(np.sqrt(distances))",
                 "These are the distances"),
            _but("first feature", NEIGHBOURS, "((f - b) ** 2).sum(axis=2)", "((f - b) ** 2)[:, :, 0]",
                 "Only the first feature was compared"),
            _but("added, then squared", NEIGHBOURS, "((f - b) ** 2).sum(axis=2)", "(f - b).sum(axis=2) ** 2",
                 "added before they were squared"),
            _but("on its side", NEIGHBOURS, "[:, :k]", "[:, :k].T", "The result lies on its side"),
            _but("not in order", NEIGHBOURS, "np.argsort(distances, axis=1, kind=\"stable\")[:, :k]",
                 "np.sort(np.argsort(distances, axis=1, kind=\"stable\")[:, :k], axis=1)",
                 "not in the order of their distance"),
            _but("the last of equal ones", NEIGHBOURS, "np.argsort(distances, axis=1, kind=\"stable\")[:, :k]",
                 "len(bank) - 1 - np.argsort(distances[:, ::-1], axis=1, kind=\"stable\")[:, :k]",
                 "Of rows that are equally far"),
            _but("a sort that is not stable", NEIGHBOURS, ", kind=\"stable\"", "", "not every sort keeps them so"),
            _but("uint8 wraps around", NEIGHBOURS, "features[:, None, :].astype(float), bank.astype(float)",
                 "features[:, None, :], bank", "convert them before you subtract"),
            _but("the wrong axis", NEIGHBOURS, "np.argsort(distances, axis=1, kind=\"stable\")[:, :k]",
                 "np.argsort(distances, axis=0, kind=\"stable\")[:, :k]", "The columns were sorted"),
        )),
    Key("10.6",
        parts=(
            Part("other shapes", 2, lambda rng: [
                _layers_of(rng, 4, 3, 2, 3, 5), _layers_of(rng, 2, 1, 5, 5, 2),
                Case((*small_lenet()[:2], small_lenet()[2]))]),
            Part("edge cases", 1, lambda rng: [
                _layers_of(rng, 5, 2, 3, 1, 4, dead=(1, 3)), _layers_of(rng, 1, 1, 1, 1, 1),
                Case((rng.integers(-5, 6, size=(3, 2, 2, 2)), rng.integers(-5, 6, size=3),
                      rng.integers(-5, 6, size=(2, 3, 1, 2))))]),
        ),
        mutants=(
            _but("biases as they were", EQUAL, "b1 / s", "b1 * 1.0", "The biases kept their size"),
            _but("C3 as it was", EQUAL, "w3 * s[:, None, None]", "w3 * 1.0", "C3's masks did not change"),
            _but("C3 divided too", EQUAL, "w3 * s", "w3 / s", "C3's masks were divided too"),
            _but("output maps scaled", EQUAL, "w3 * s[:, None, None]", "w3 * s[:, None, None, None]",
                 "C3's output maps were scaled"),
            _but("one length for all", EQUAL, "np.sqrt((w1**2).sum(axis=(1, 2, 3)))",
                 "np.full(len(w1), np.sqrt((w1**2).sum()))", "All masks were divided by one length"),
            _but("largest weight", EQUAL, "np.sqrt((w1**2).sum(axis=(1, 2, 3)))", "np.abs(w1).max(axis=(1, 2, 3))",
                 "The masks were divided by their largest weight"),
            _but("squared length", EQUAL, "np.sqrt((w1**2).sum(axis=(1, 2, 3)))", "(w1**2).sum(axis=(1, 2, 3))",
                 "divided by their squared length"),
            _but("sum of sizes", EQUAL, "np.sqrt((w1**2).sum(axis=(1, 2, 3)))", "np.abs(w1).sum(axis=(1, 2, 3))",
                 "divided by the sum of their sizes"),
            _but("mean square", EQUAL, "(w1**2).sum(axis=(1, 2, 3))", "(w1**2).mean(axis=(1, 2, 3))",
                 "The root of the *mean* square"),
            _but("biases multiplied", EQUAL, "b1 / s", "b1 * s", "The biases were multiplied"),
            _but("C1 as before", EQUAL, "w1 / s[:, None, None, None]", "w1 * 1.0",
                 "C1's masks themselves are as before"),
            _but("the wrong axis", EQUAL.replace("w1 / s[:, None, None, None], b1 / s, w3 * s[:, None, None]",
                 "w1 / s, b1 * 1.0, w3 * 1.0"), "(1, 2, 3)", "0", "The length was taken over the masks"),
            _but("no care for zero", EQUAL, "    s = np.where(s > 0, s, 1)\n", "", "There are NaN or infinite values"),
            _but("length of the first input map's part", EQUAL.replace("s[:, None, None, None]",
                 "s[:, :1, None, None]").replace(
                "b1 / s", "b1 / s[:, 0]").replace("w3 * s[:, None, None]", "w3 * s[:, :1, None]"),
                "(1, 2, 3)", "(2, 3)", "The length was taken over one input map"),
        )),
)  # fmt: skip
