"""Words of all kinds in loops of many turns: what may be walked in another way gives the same numbers."""

import cmath
import math
import operator

import numpy as np
import pytest
from numba.cuda import random

from course_lib import simt
from tests.simt.text import function

P = np.dtype([("x", np.float64), ("m", np.int64), ("a", np.float32, 2)], align=True)
PACKED = np.dtype([("m", np.int8), ("x", np.float64), ("a", np.float32, 2)])
TURNS = 1500

BODIES = {
    "complex": "z = 0j\nfor k in range(n):\n    z = z * z * 0.25 + complex(0.5, i)\n    if abs(z) > 2:\n"
               "        z = 1j / z\nout[i] = z.real + z.imag",
    "complex power": "z = 1 + 0.5j\nfor k in range(n):\n    z = z ** 2 / (abs(z) + 0.5)\nout[i] = abs(z)",
    "complex array": "for k in range(n):\n    zs[i] += 1j * k\n    zs[i] *= 0.5\nout[i] = zs[i].imag",
    "cmath": "z = 0.1j\nfor k in range(n):\n    z = cmath.sin(z) + 0.1\nout[i] = z.real",
    "records": "for k in range(n):\n    p[i].x += p[i].m\n    p[i].m ^= k\nout[i] = p[i].x",
    "packed": "for k in range(n):\n    q[i].x += q[i].m\n    q[i].m = k % 5\nout[i] = q[i].x",
    "fields": "for k in range(n):\n    p.x[i] += p.a[i, k % 2]\n    p[i].a[k % 2] = k % 7\nout[i] = p.x[i]",
    "a record of a variable": "r = p[i]\nfor k in range(n):\n    r.x += k\nout[i] = p[i].x",
    "frexp": "x = 1.5 + i\nfor k in range(n):\n    m, e = math.frexp(x)\n    x = math.ldexp(m, e % 3) + 1\nout[i] = x",
    "modf": "x = 1.5\nfor k in range(n):\n    f, w = math.modf(x * 3)\n    x = f + w % 5\nout[i] = x",
    "round": "x = 0.3\nfor k in range(n):\n    x = round(x * 1.7 + i, k % 4) % 100\nout[i] = x",
    "divmod": "s = i\nfor k in range(n):\n    q_, r_ = divmod(s * 7 + k, 11)\n    s = q_ % 13 + r_\nout[i] = s",
    "operator": "s = i\nfor k in range(n):\n    s = operator.xor(operator.add(s, k), 3) % 1000\nout[i] = s",
    "remainder": "x = 0.3\nfor k in range(n):\n    x = math.remainder(x * 5 + k, 2.5)\nout[i] = x",
    "arrays unpacked": "for k in range(n):\n    u, w = p[i].a\n    p[i].a[k % 2] = (u + 2 * w + k) % 7\n"
                       "out[i] = p[i].a[0]",
    "arrays unpacked by a loop": "for k in range(n):\n    for u, w in p.a:\n        out[i] = (out[i] + u - w + k) % 11",
    "lists": "s = 0\nfor k in range(n):\n    for j in [k, i]:\n        s += j\n    s -= s in [3, 4 + i, k]\nout[i] = s",
    "texts": "s = -float('inf')\nfor k in range(n):\n    s = max(s, float('1.5') * (k % 7))\nout[i] = s",
    "tuples": "s = 0.0\nfor k in range(n):\n    s = s * 0.5 + sum((k, i, 1.5)) + min((k, i, 7))\nout[i] = s",
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_loop_gives_what_python_gives(name):
    def arrays():
        p, q, zs = np.zeros(3, P), np.zeros(3, PACKED), np.arange(3) + 0j
        p["m"] = q["m"] = [1, 2, 3]
        return {"p": p, "q": q, "zs": zs, "out": np.zeros(3)}

    text = "def kernel(p, q, zs, out, n):\n    i = cuda.grid(1)\n    " + BODIES[name].replace("\n", "\n    ")
    ours, theirs = arrays(), arrays()
    kernel = function(text, cmath=cmath, operator=operator)
    assert simt.run(kernel, 1, 3, (*ours.values(), TURNS)).hazards == []
    views = {n: a.view(np.recarray) if a.dtype.names else a for n, a in theirs.items()}
    for i in range(3):
        exec(BODIES[name], {**views, "i": i, "n": TURNS, "cmath": cmath, "math": math, "operator": operator})
    np.testing.assert_allclose(ours["out"], theirs["out"], rtol=1e-9)
    for array in ("p", "q", "zs"):
        assert ours[array].tobytes() == theirs[array].tobytes() or array == "zs"


def test_loop_of_random_numbers_gives_numbas():
    ours, theirs = (np.zeros(2, random.xoroshiro128p_dtype) for _ in range(2))
    for states in (ours, theirs):
        random.init_xoroshiro128p_states_cpu(states, 3, 0)
    kernel = function("""
        def kernel(states, out, n):
            i = cuda.grid(1)
            for k in range(n):
                out[i] += random.xoroshiro128p_uniform_float64(states, i)
    """, random=random)  # fmt: skip
    out, want = np.zeros(2), np.zeros(2)
    simt.run(kernel, 1, 2, (ours, out, TURNS))
    for i in range(2):
        for _ in range(TURNS):
            want[i] += random.xoroshiro128p_uniform_float64(theirs, i)
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(ours, theirs)


def test_loop_of_vectors_gives_what_their_numbers_give():
    kernel = function("""
        def kernel(out, n):
            i = cuda.grid(1)
            v = cuda.float64x2(i, 1)
            for k in range(n):
                v = cuda.float64x2(v.y, (v.x + v.y) % 1000.0)
            out[i] = v.x
    """)
    out = np.zeros(3)
    simt.run(kernel, 1, 3, (out, TURNS))
    for i in range(3):
        x, y = i, 1
        for _ in range(TURNS):
            x, y = y, (x + y) % 1000
        assert out[i] == x
