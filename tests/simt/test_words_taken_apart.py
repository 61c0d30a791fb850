"""Arrays unpacked into names, lists that Python makes tuples of, numbers from texts, arrays like constant ones."""

import numpy as np
import pytest

from course_lib import simt
from tests.simt.text import function

A = np.array([[3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [1.0, 2.0, 9.0], [0.0, 10.0, 11.0]])
TABLE = np.array([7.0, 5.0])


def text_of(body):
    """Return the text of the kernel that runs a body for i, with a = A, v = A[0], and n = 2."""
    return "def kernel(a, v, out, n):\n    i = cuda.grid(1)\n    " + body.replace("\n", "\n    ")


def run(body, *, dtype=np.float64):
    """Run a body for i = 0 ... 3; return out."""
    out = np.zeros(4, dtype)
    simt.run(function(text_of(body), TABLE=TABLE), 1, 4, (A.astype(dtype), A[0].astype(dtype), out, 2))
    return out


# --------------------------------------------------------------------------------------------------------- unpacking

UNPACKED = {
    "x, y, z = v\nout[i] = x * 100 + y * 10 + z": [345] * 4,
    "x, y, z = a[i]\nout[i] = x + y - z": A @ [1, 1, -1],
    "x, y = v[1:]\nout[i] = x * 10 + y": [45] * 4,
    "x, y = a[i, ::2]\nout[i] = x * 10 + y": A[:, 0] * 10 + A[:, 2],
    "x, y = a[i, i % 2:i % 2 + 2]\nout[i] = x * 10 + y": [34, 78, 12, 111],
    "p, q, r, s = a\nout[i] = p[0] + q[1] + r[2] + s[i % 3]": 3 + 7 + 9 + A[3][[0, 1, 2, 0]],
    "(x, y, z), k = v, i\nout[i] = x + y + z + k": 12 + np.arange(4),
    "(x, y, z), q, r, (s, t, u) = a\nout[i] = z + r[0] + u": [17] * 4,
    "[x, y, z] = v\nout[i] = y": [4] * 4,
    "x, = v[:1]\nout[i] = x": [3] * 4,
    "() = v[:0]\nout[i] = 1": [1] * 4,
    "x, y = v[0.9:2.5]\nout[i] = x * 10 + y": [34] * 4,
    "x, = v[i / 2:i / 2 + 1]\nout[i] = x": [3, 3, 4, 4],
    "x, y = v[::2.5]\nout[i] = x * 10 + y": [35] * 4,
    "x, y = v[i >= 0:]\nout[i] = x * 10 + y": [45] * 4,
    "x, y, z = v[-1e30:1e30]\nout[i] = x * 100 + y * 10 + z": [345] * 4,
    "x, y = v[-2.9:]\nout[i] = x * 10 + y": [45] * 4,
    "w = x, y, z = v\nout[i] = w[0] + z": [8] * 4,
    "out[0], out[1], out[2] = v": [3, 4, 5, 0],
    "for x, y, z in a:\n    out[i] += x * y - z": [(A[:, 0] * A[:, 1] - A[:, 2]).sum()] * 4,
    "for k, (x, y, z) in enumerate(a):\n    out[i] += k * z": [A[:, 2] @ np.arange(4)] * 4,
    "for x, (p, q, r) in zip(v, a):\n    out[i] += x * q": [A[0] @ A[:3, 1]] * 4,
    "for x, y in zip(v[:2], v[1:]):\n    out[i] += x * y": [32] * 4,
    "for x, y, z in (v, a[i]):\n    out[i] += x": A[:, 0] + 3,
    "x, y = range(n)\nout[i] = x * 10 + y": [1] * 4,
    "x, y = range(i, i + 2)\nout[i] = x * 10 + y": np.arange(4) * 11 + 1,
    "(j, x), (k, y), q = enumerate(v)\nout[i] = k * 10 + y": [14] * 4,
    "(x, y), q, r = zip(v, a[i])\nout[i] = x * y": 3 * A[:, 0],
    "x, y = TABLE\nout[i] = x - y": [2] * 4,
    "c = cuda.const.array_like(TABLE)\nx, y = c\nout[i] = x - y": [2] * 4,
    "t = cuda.local.array(2, float32)\nt[0], t[1] = i, 5\nx, y = t\nout[i] = x * y": 5 * np.arange(4),
    "s = cuda.shared.array((4, 2), float32)\ns[i] = i, 5\nx, y = s[i]\nout[i] = x * y": 5 * np.arange(4),
    "b = v if i % 2 else a[2]\nx, y, z = b\nout[i] = z": [9, 5, 9, 5],
    "x, y, z = v\nif i % 2:\n    x, y, z = a[i]\nout[i] = x": [3, 6, 3, 0],
}


@pytest.mark.parametrize("body", UNPACKED)
def test_array_or_what_has_items_is_unpacked_into_names(body):
    np.testing.assert_array_equal(run(body), UNPACKED[body])


def test_each_lane_unpacks_only_where_it_comes():
    body = "x = 0.0\nif i < 2:\n    x, y = v[i:i + 2]\nout[i] = x"
    np.testing.assert_array_equal(run(body), [3, 4, 0, 0])


def test_names_have_the_type_of_the_elements():
    for dtype in ("int8", "float32", "complex64", "bool"):
        kernel = function("def kernel(a, out):\n    x, y = a\n    out[0] = x + y")
        out = np.zeros(1, "complex128")
        simt.run(kernel, 1, 1, (np.array([1, 1], dtype), out))
        assert out[0] == 2
    kernel = function("def kernel(a, out):\n    x, y = a\n    s = cuda.shared.array(1, float64)\n    s[0] = x * y\n"
                      "    out[0] = s[0]")  # fmt: skip
    a, out = np.array([1 + 2.0**-12, 1 + 2.0**-12], np.float32), np.zeros(1)
    simt.run(kernel, 1, 1, (a, out))
    assert out[0] == a[0] * a[1]  # rounded to float32, as the product of two float32


def test_records_and_their_fields_are_unpacked():
    p = np.zeros(2, np.dtype([("x", np.float32), ("v", np.float32, 2)], align=True))
    p["x"], p["v"] = [1, 2], [[3, 4], [5, 6]]
    kernel = function("""
        def kernel(p, out):
            a, b = p
            s, t = p.x
            u, w = p[1].v
            out[0] = a.x + b.x * 10
            out[1] = s + t * 10
            out[2] = u * 10 + w
    """)
    out = np.zeros(3)
    simt.run(kernel, 1, 1, (p, out))
    np.testing.assert_array_equal(out, [21, 21, 56])


def test_unpacking_reads_every_element_once_and_before_anything_is_written():
    kernel = function("def kernel(a):\n    a[1], a[0] = a")
    a = np.array([1.0, 2.0])
    report = simt.run(kernel, 1, 1, (a,))
    np.testing.assert_array_equal(a, [2, 1])
    assert (report.total.global_load_requests, report.total.global_store_requests) == (2, 2)


def test_unwritten_element_that_is_unpacked_is_a_finding_where_it_is_used():
    kernel = function(
        """
        def kernel(out):
            t = cuda.local.array(2, float32)
            t[0] = 1
            x, y = t
            out[0] = {}
    """.replace("{}", "y")
    )
    report = simt.run(kernel, 1, 1, (np.zeros(1),), on_error="collect")
    assert [(h.kind, h.details["index"]) for h in report.hazards] == [("unwritten memory", (1,))]


WRONG = {
    "x, y = v": r"v, an array \(3,\) of float64, cannot be unpacked into 2 names: its length is 3, a ValueError",
    "x, y, z, w = v[1:]": r"array \(2,\) .* into 4 names: its length is 2",
    "x, y = a[i]": r"array \(3,\) .* into 2 names: its length is 3",
    "x, = v": "into 1 name: its length is 3",
    "x, y = v[i:i + 2]": r"into 2 names: its length in thread 2 of block 0 is 1",
    "x, y = range(i)": r"a range cannot .* its length in thread 0 of block 0 is 0",
    "for x, y in a:\n    out[i] = x": r"array \(3,\) .* into 2 names: its length is 3",
    "x, (y, z), w = v": "a float64 cannot be unpacked into 2 names",
    "x, y = (1, 2, 3)[0.0:2.0]": "a float64 is no bound of a slice; use whole numbers",
    "x, y = v[1j:]": "a complex128 is no bound of a slice",
    "x, y, z = i": r"an int64 cannot be unpacked into 3 names. cuda.grid\(1\) is one number; cuda.grid\(3\) has 3",
    "x, y = (1, 2, 3)": "a tuple of 3 cannot be unpacked into 2 names",
    "x, y = cuda.float32x2(1, 2)": "a float32x2 cannot be unpacked",
    "x, y = 'ab'": "the text 'ab' cannot",
    "x, y = [1, 2]": "a list is not possible",
    "x, *y = v": r"\* cannot be assigned to|cannot be unpacked",
}


@pytest.mark.parametrize("body", WRONG)
def test_wrong_length_is_told_with_both_numbers(body):
    with pytest.raises(simt.KernelError, match=rf"line \d: .*({WRONG[body]})"):
        run(body)


def test_length_is_asked_where_the_text_is_run():
    np.testing.assert_array_equal(run("if n > 2:\n    x, y = v\nout[i] = n"), [2] * 4)


# ------------------------------------------------------------------------------------------ lists that become tuples

LISTS = {
    "out[i] = i in [1, 3]": [0, 1, 0, 1], "out[i] = i not in [1, 3]": [1, 0, 1, 0],
    "out[i] = i in [n, n + 1]": [0, 0, 1, 1], "out[i] = i in [-1, 2 - 2]": [1, 0, 0, 0],
    "out[i] = 0 < i in [0, 1]": [0, 1, 0, 0], "out[i] = i in [1] or i in [2]": [0, 1, 1, 0],
    "if i in [0, 3] and i not in [3]:\n    out[i] = 5": [5, 0, 0, 0],
    "out[i] = 1 if a[i, 0] in [1.0, 6.0] else 0": [0, 1, 1, 0],
    "out[i] = i in []": [0] * 4, "out[i] = i in ()": [0] * 4, "out[i] = i not in ()": [1] * 4,
    "out[i] = (i, n) in [(1, 2), (2, 3)]": [0, 1, 0, 0], "out[i] = (i, 2.0) in ((1, 2), (3, 2))": [0, 1, 0, 1],
    "for k in [1, 2]:\n    out[i] += k": [3] * 4, "for k in [i, n]:\n    out[i] += k": np.arange(4) + 2,
    "for k in [-1, 2 * 3]:\n    out[i] += k": [5] * 4, "for p, q in [(1, 2), (3, 4)]:\n    out[i] += p * q": [14] * 4,
    "for row in [v, a[i]]:\n    out[i] += row[1]": A[:, 1] + 4,
    "for x, y in [v[:2], v[1:]]:\n    out[i] += x * y": [32] * 4,
    "for d in [True, False]:\n    out[i] += d": [1] * 4,
}  # fmt: skip


@pytest.mark.parametrize("body", LISTS)
def test_list_after_in_is_the_tuple_that_python_makes_of_it(body):
    np.testing.assert_array_equal(run(body), LISTS[body])


NO_TUPLES = {
    "out[i] = i in {1, 2}": "a set is not possible", "for k in {1, 2}:\n    out[i] += k": "a set",
    "out[i] = [1, 2][0]": "a list", "out[i] = len([1, 2])": "a list", "out[i] = sum([1, 2])": "a list",
    "out[i] = i in [1, 2] == True": "a list", "out[i] = i in [1] + [2]": "a list", "out[i] = i in [*(1, 2)]": "a list",
    "for k in [*(1, 2)]:\n    out[i] += k": "a list", "for k in zip([1], [2]):\n    out[i] += 1": "a list",
    "for k in [[1, 2], [3, 4]]:\n    out[i] += k[0]": "a list", "for k in [1] * 3:\n    out[i] += k": "a list",
    "for k in [1, 2.5]:\n    out[i] += k": "all of one type", "out[i] = i in [1, 2.5]": "all of one type",
    "out[i] = i in (1, int32(2))": "all of one type", "out[i] = i in [True, 2]": "all of one type",
    "for k in ():\n    out[i] += k": "empty tuple", "for k in []:\n    out[i] += k": "empty tuple",
    "out[i] = i in [(1, 2)]": "looked for among a tuple", "out[i] = (1, 2) in v": "looked for in an array",
    "out[i] = i in [v, v]": "looked for among v", "out[i] = (1, 2) in (1, 2)": "looked for among an int64",
}  # fmt: skip


@pytest.mark.parametrize("body", NO_TUPLES)
def test_list_elsewhere_and_what_numba_cannot_look_through_is_refused(body):
    with pytest.raises(simt.KernelError, match=rf"line \d: .*{NO_TUPLES[body]}"):
        run(body)


# ------------------------------------------------------------------------------------------------ numbers from texts


TEXTS = ("inf", "-inf", "+Inf", "infinity", "nan", "-nan", "NaN", " inf ", "1.5", "1e3", "3")
FLOATS = {f"out[i] = float({text!r})": [float(text)] * 4 for text in TEXTS}
FLOATS |= {f"t = {text!r}\nout[i] = -float(t)": [-float(text)] * 4 for text in TEXTS}


@pytest.mark.parametrize("body", FLOATS)
def test_float_of_a_text_is_pythons(body):
    np.testing.assert_array_equal(run(body), FLOATS[body])


def test_float_of_a_text_is_float64_and_begins_an_extreme():
    got = run("best = float('inf')\nfor x in a[i]:\n    best = min(best, x)\nout[i] = best")
    np.testing.assert_array_equal(got, A.min(1))
    assert run("x = float('0.1')\nout[i] = x", dtype=np.float64)[0] == 0.1


def test_float_of_a_text_in_a_text_that_is_read():
    source = simt.read("def kernel(out):\n    out[0] = float('-inf')\n    out[1] = float('nan')\n")
    out = np.zeros(2)
    simt.run(source, 1, 1, (out,))
    np.testing.assert_array_equal(out, [-np.inf, np.nan])


NO_NUMBERS = {
    "out[i] = float('x')": "the text 'x' is no number", "out[i] = float('')": "the text '' is no number",
    "out[i] = float('0x10')": "is no number", "out[i] = int('3')": "is no number",
    "out[i] = np.float32('inf')": "cannot become a float32", "out[i] = float32('inf')": "cannot become a float32",
    "out[i] = np.int32('3')": "cannot become a int32", "out[i] = complex('1').real": "is no number",
    "out[i] = float('inf' if i else 'nan')": "One variable cannot be the text 'inf'",
}  # fmt: skip


@pytest.mark.parametrize("body", NO_NUMBERS)
def test_text_that_is_no_number_for_numba_is_refused(body):
    with pytest.raises(simt.KernelError, match=NO_NUMBERS[body]):
        run(body)


# --------------------------------------------------------------------------------------- cuda.const.array_like(array)

LIKE = {
    "c = cuda.const.array_like(v)\nout[i] = c[i % 3]": [3, 4, 5, 3],
    "c = cuda.const.array_like(a[i])\nout[i] = c[1]": A[:, 1],
    "c = cuda.const.array_like(v[1:])\nout[i] = c[0]": [4] * 4,
    "c = cuda.const.array_like(out)\nc[i] = 5": [5] * 4,
    "l = cuda.local.array(1, float32)\nc = cuda.const.array_like(l)\nc[0] = i\nout[i] = l[0]": [0, 1, 2, 3],
    "s = cuda.shared.array(4, float32)\nc = cuda.const.array_like(s)\nc[i] = i\ncuda.syncthreads()\nout[i] = s[3 - i]":
        [3, 2, 1, 0],
    "c = cuda.const.array_like(ndarray=v)\nout[i] = c[0]": [3] * 4,
    "t = TABLE\nc = cuda.const.array_like(t)\nout[i] = c[1]": [5] * 4,
}  # fmt: skip


@pytest.mark.parametrize("body", LIKE)
def test_array_like_of_an_array_of_the_kernel_is_that_array(body):
    np.testing.assert_array_equal(run(body), LIKE[body])


NOT_LIKE = {
    "c = cuda.const.array_like(TABLE)\nc[i] = 1": "constant memory", "TABLE[i] = 1": "constant memory",
    "c = cuda.const.array_like(3)\nout[i] = c": "takes an array", "c = cuda.const.array_like(n)": "takes an array",
    "c = cuda.const.array_like((1, 2))\nout[i] = c[0]": "takes an array",
}  # fmt: skip


@pytest.mark.parametrize("body", NOT_LIKE)
def test_array_like_of_no_array_is_refused_and_a_constant_one_not_written(body):
    with pytest.raises(simt.KernelError, match=NOT_LIKE[body]):
        run(body)


VALUES = UNPACKED | LISTS | FLOATS | LIKE
"""What numba-cuda compiles (test_numba_cuda_agrees)."""
REFUSED = NO_TUPLES | NO_NUMBERS | NOT_LIKE
"""What it does not."""
