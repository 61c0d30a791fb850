"""Records: fields are read and written where NumPy has them, and each is an array of its own for races and traffic."""

import numba
import numpy as np
import pytest
from numba import cuda

from course_lib import simt
from course_lib.simt.arrays import DeviceArray
from tests.cases import all_of
from tests.simt.text import function

P = np.dtype([("x", np.float32), ("m", np.int32)], align=True)
PACKED = np.dtype([("x", np.float64), ("m", np.int32)])  # 12 bytes: x lies out of step
NESTED = np.dtype([("a", np.float32, 3), ("p", P), ("n", np.int8), ("t", np.int16, (2, 2))], align=True)
PACKED_NESTED = np.dtype([("n", np.int8), ("a", np.float32, 3), ("p", PACKED), ("t", np.int16, (2, 2))])


@cuda.jit(device=True)
def product(r):
    return r.x * r.m


@cuda.jit(device=True)
def double(r):
    r.x *= 2


def numbers(shape, dtype, seed=0):
    """Return an array of records with small whole numbers in all fields."""
    out, rng = np.zeros(shape, dtype), np.random.default_rng(seed)

    def fill(part):
        if part.dtype.names:
            for name in part.dtype.names:
                fill(part[name])
        else:
            part[...] = rng.integers(1, 20, part.shape)

    fill(out)
    return out


def run(body, arrays, **outside):
    """Run statements for each lane i of four, with arrays by name; return the report."""
    text = f"def kernel({', '.join(arrays)}):\n    i = cuda.grid(1)\n    " + body.replace("\n", "\n    ")
    kernel = function(text, product=product, double=double, P=P, numba=numba, **outside)
    return simt.run(kernel, 1, 4, tuple(arrays.values()))


def by_python(body, arrays):
    """Run the same statements with NumPy's records, one lane after the other."""
    views = {n: a.view(np.recarray) if a.dtype.names else a for n, a in arrays.items()}
    names = {"product": product.py_func, "double": double.py_func}
    for i in range(4):
        exec(body, {**names, **views, "i": i})


BODIES = [
    "o[i] = p[i].x * p[i].m", "o[i] = p[i]['x']", "o[i] = p['x'][i] + p.m[i]", "p[i].x = 3 + i", "p[i]['m'] = i",
    "p.x[i] = 3", "p['x'][i] = i", "p[i].x += p[i].m", "p[i]['x'] *= 2", "p[i] = q[3 - i]",
    "r = p[i]\nr.x = 2\no[i] = r.m", "r = p[i]\nr['m'] += 1\no[i] = r['x']", "o[i] = product(p[i])", "double(q[i])",
    "if i % 2:\n    p[i].m = 7\nelse:\n    p[i].x = 8", "r = p[i] if i > 2 else p[0]\no[i] = r.x",
    "r = p[i] if i > 2 else q[0]\no[i] = r.x", "o[i] = p[1:][i // 2].x + p[::2][i // 2].m",
    "for k in range(i):\n    o[i] += p[k].x", "o[i] = p.x.sum()",
    "p[i].x, p[i].m = 1, i", "o[i] = p[i][0] + p[i][1]",
    "for r in p:\n    o[i] += r.x", "for r, s in zip(p, q):\n    o[i] += r.x * s.m", "p[1 + i:] = q[0]",
    "t = p[i], 3\no[i] = t[0].x",
    "for k, r in enumerate(q):\n    o[i] += k * r.x", "o[i] = p[::-1][i].m + p.x[::-1][i] + p.x[1:][0]", "p.x[:] = 3",
    "r = p[i]\nr.x, r.m = r.m, 5\no[i] = r.x", "a, b = p, q\na, b = b, a\no[i] = a[i].x + b.m[i]", "o[i] = max(p.x)",
    "a = p if i > 1 else q\na[i].m += 1\na.x[i] = 3\no[i] = a[i].x", "f = lambda r: r.x * 2\no[i] = f(p[i])",
    "o[i] = p.reshape((2, 2))[i // 2, i % 2].x", "o[i] = (p[i] is None) + 2 * (p is not None)",
]  # fmt: skip
NESTED_BODIES = [
    "o[i] = n[i].a[1]", "o[i] = n[i]['a'][i % 3]", "n[i].a[i % 3] = 5", "o[i] = n[i].p.x + n.p[i].m", "n[i].p.x = 3",
    "o[i] = n.a[i, 2] + n['a'][i, 0]", "o[i] = len(n[i].a) + n[i].a.size", "o[i] = n[i].t[1, 0] * n.t[i, 0, 1]",
    "for v in n[i].a:\n    o[i] += v", "n[i] = n[i]", "n[i].t[i % 2, 1] += 2", "o[i] = n[i].n",
    "n[i].a[:] = 7", "n.a[i][2] = 7", "o[i] = n[i].a[1:][0] + n[i].a[-1]", "v = n[i].a\nv[0] = 3\no[i] = v.sum()",
]  # fmt: skip


@all_of("dtype", [P, PACKED], ids=["aligned", "packed"])
@all_of("body", BODIES)
def test_fields_are_those_of_numpy(body, dtype):
    ours, theirs = ({"p": numbers(4, dtype), "q": numbers(4, dtype, 1), "o": np.zeros(4)} for _ in range(2))
    run(body, ours)
    by_python(body, theirs)
    for name in ours:
        assert ours[name].tobytes() == theirs[name].tobytes(), name


@pytest.mark.parametrize("dtype", [NESTED, PACKED_NESTED], ids=["aligned", "packed"])
@pytest.mark.parametrize("body", NESTED_BODIES)
def test_fields_may_be_arrays_and_records(body, dtype):
    ours, theirs = ({"n": numbers(4, dtype), "o": np.zeros(4)} for _ in range(2))
    run(body, ours)
    by_python(body, theirs)
    for name in ours:
        assert ours[name].tobytes() == theirs[name].tobytes(), name


def test_two_axes_strides_and_slices_of_records():
    for w in (numbers((4, 3), P), numbers((4, 6), P)[:, ::2], numbers((3, 4), P).T):
        o = np.zeros(4)
        run("o[i] = w[i, 2].x + w.m[i, 1] + w[i].x[0] + w[i][1].m", {"w": w, "o": o})
        np.testing.assert_array_equal(o, w["x"][:, 2] + w["m"][:, 1] + w["x"][:, 0] + w["m"][:, 1])


@pytest.mark.parametrize("dtype", ["P", "numba.from_dtype(P)"])
@pytest.mark.parametrize("space", ["shared", "local"])
def test_records_in_shared_and_local_memory(space, dtype):
    p, o = numbers(4, P), np.zeros(4)
    report = run(f"s = cuda.{space}.array(4, D)\ns[i] = p[i]\ns[i].x += 1\ncuda.syncwarp()\no[i] = s[i].x + s.m[i]",
                 {"p": p, "o": o}, D=eval(dtype))  # fmt: skip
    np.testing.assert_array_equal(o, p["x"] + 1 + p["m"])
    if space == "shared":
        assert report.shared_bytes == 4 * 8


def test_records_in_dynamic_shared_memory_and_with_arrays_in_them():
    n, o = numbers(4, NESTED), np.zeros(4)
    text = "def kernel(n, o):\n    i = cuda.grid(1)\n    s = cuda.shared.array(0, N)\n    s[i] = n[i]\n"
    text += "    cuda.syncthreads()\n    o[i] = s[3 - i].a[1] + s[i].t[1, 1] + s[i].p.x\n"
    report = simt.run(function(text, N=NESTED), 1, 4, (n, o), shared=4 * NESTED.itemsize)
    np.testing.assert_array_equal(o, n["a"][::-1, 1] + n["t"][:, 1, 1] + n["p"]["x"])
    assert report.hazards == []


def test_records_from_outside_are_constants():
    table = numbers(4, P)
    o = np.zeros(4)
    run("c = cuda.const.array_like(T)\no[i] = c[i].x + T[i].m", {"o": o}, T=table)
    np.testing.assert_array_equal(o, table["x"] + table["m"])


def test_one_record_is_an_argument_by_reference():
    p, o = numbers(2, P), np.zeros(4)
    first = p["x"][0]
    run("o[i] = r.x + r['m']", {"r": p[1], "o": o})
    run("if i == 0:\n    r.m = 77", {"r": p[1]})
    np.testing.assert_array_equal(o, p["x"][1] + numbers(2, P)["m"][1])
    assert (p["m"][1], p["x"][0]) == (77, first)
    run("o[i] = r.x[i % 2]", {"r": p.view(np.recarray), "o": o})
    np.testing.assert_array_equal(o, [p["x"][0], p["x"][1]] * 2)


def test_device_array_of_records_is_written_and_read():
    states = DeviceArray.empty((4,), P)
    run("p[i].x = i\np[i].m = 2 * i", {"p": states})
    np.testing.assert_array_equal(states.copy_to_host()["m"], [0, 2, 4, 6])
    o = np.zeros(4)
    run("o[i] = p[i].x + p[i].m", {"p": states, "o": o})
    np.testing.assert_array_equal(o, [0, 3, 6, 9])


def test_records_of_a_text():
    source = simt.read("""
import numba
import numpy as np
from numba import cuda, from_dtype
P = np.dtype([("x", np.float32), ("v", "float64", (2,)), ("m", np.int8, 3)], align=True)
T = numba.from_dtype(P)

@cuda.jit
def kernel(p, out):
    i = cuda.grid(1)
    s = cuda.local.array(1, T)
    s[0].x = p[i].x
    s[0].v[1] = 2
    out[i] = s[0].x * s[0].v[1] + p['m'][i, 2]
""")
    dtype = np.dtype([("x", np.float32), ("v", np.float64, (2,)), ("m", np.int8, 3)], align=True)
    p, out = numbers(3, dtype), np.zeros(3)
    simt.run(source, 1, 3, (p, out))
    np.testing.assert_array_equal(out, p["x"] * 2 + p["m"][:, 2])


# ---------------------------------------------------------------------------------------------------- what is counted


def test_field_of_aligned_records_is_read_at_once_and_brings_its_neighbours():
    p, o = numbers(32, P), np.zeros(32, np.float32)
    kernel = function("def kernel(p, o):\n    i = cuda.grid(1)\n    o[i] = p[i].x")
    report = simt.run(kernel, 1, 32, (p, o))
    total = report.total
    assert (total.global_load_requests, total.global_load_sectors, total.global_load_bytes) == (1, 8, 128)
    assert report.arrays["p.x"].loads == 32
    assert not any(h.kind == "unaligned record" for h in report.advice)


def test_field_of_packed_records_is_read_byte_by_byte_and_advice_says_so():
    p, o = numbers(32, np.dtype([("x", np.float32), ("m", np.int32)])), np.zeros(32, np.float32)
    kernel = function("def kernel(p, o):\n    i = cuda.grid(1)\n    o[i] = p[i].x\n    p[i].m = 1")
    report = simt.run(kernel, 1, 32, (p, o))
    total = report.total
    assert (total.global_load_requests, total.global_load_sectors, total.global_load_bytes) == (4, 32, 128)
    assert total.global_store_requests == 1 + 4
    (advice,) = [h for h in report.advice if h.kind == "unaligned record"]
    assert "align=True" in advice.fix
    assert advice.array == "p"


def test_record_in_a_packed_record_is_not_read_before_its_fields_are():
    inner = np.dtype([("x", np.float32), ("y", np.float32)])
    p, o = np.ones(32, np.dtype([("m", np.int8), ("at", inner)])), np.zeros(32, np.float32)
    kernel = function("def kernel(p, o):\n    i = cuda.grid(1)\n    at = p[i].at\n    o[i] = at.x")
    report = simt.run(kernel, 1, 32, (p, o))
    assert report.line(3).counters.global_load_requests == 0
    (advice,) = [h for h in report.advice if h.kind == "unaligned record"]
    assert (advice.line, advice.array) == (4, "p.at")
    assert "a field of 4 bytes takes 4 requests" in advice.message


def test_fields_out_of_step_touch_the_sectors_in_which_they_lie():
    p, o = numbers(32, np.dtype([("m", np.int32), ("x", np.float64)])), np.zeros(32)  # x at 4, 16, 28 ...
    kernel = function("def kernel(p, o):\n    i = cuda.grid(1)\n    o[i] = p[i].x")
    total = simt.run(kernel, 1, 32, (p, o)).total
    touched = {byte // 32 for i in range(32) for byte in range(12 * i + 4, 12 * i + 12)}
    assert total.global_load_sectors == 8 * len(touched)


def test_threads_that_write_different_fields_of_a_record_do_not_race():
    body = "if i % 2:\n    p[i // 2].x = i\nelse:\n    p[i // 2].m = i"
    assert run(body, {"p": numbers(2, P)}).hazards == []


@pytest.mark.parametrize("dtype", [P, PACKED], ids=["aligned", "packed"])
def test_threads_that_write_one_field_race_and_the_finding_names_it(dtype):
    kernel = function("def kernel(p):\n    i = cuda.grid(1)\n    p[i // 2].x = i")
    report = simt.run(kernel, 1, 4, (numbers(2, dtype),), on_error="collect")
    (race,) = report.hazards
    assert (race.kind, race.array, race.details["index"]) == ("race", "p.x", (0,))
    assert "p.x[0]" in race.message


def test_index_out_of_bounds_names_the_records_and_touches_nothing():
    p = numbers(3, P)
    before = p.copy()
    kernel = function("def kernel(p):\n    i = cuda.grid(1)\n    p[i + 1].x = 5")
    report = simt.run(kernel, 1, 4, (p,), on_error="collect")
    assert [(h.kind, h.array, h.count) for h in report.hazards] == [("out of bounds", "p", 2)]
    np.testing.assert_array_equal(p["x"], [before["x"][0], 5, 5])


def test_row_that_is_out_of_bounds_is_no_other_row():
    a = np.zeros((2, 2))
    kernel = function("def kernel(a):\n    i = cuda.grid(1)\n    r = a[i]\n    r[0] = 1 + i")
    report = simt.run(kernel, 1, 3, (a,), on_error="collect")
    assert {h.kind for h in report.hazards} == {"out of bounds"}
    np.testing.assert_array_equal(a[:, 0], [1, 2])


def test_field_that_nobody_wrote_is_found():
    kernel = function(
        "def kernel(o):\n    i = cuda.grid(1)\n    s = cuda.local.array(1, P)\n    s[0].x = 1\n    o[i] = s[0].m", P=P
    )
    report = simt.run(kernel, 1, 2, (np.zeros(2),), on_error="collect")
    assert [(h.kind, h.array) for h in report.hazards] == [("unwritten memory", "s.m")]


def test_atomic_operations_on_a_field():
    p = numbers(1, P)
    first = p["x"][0], p["m"][0]
    run("cuda.atomic.add(p.x, 0, 1)\ncuda.atomic.max(p['m'], 0, 10 * i)", {"p": p})
    assert (p["x"][0], p["m"][0]) == (first[0] + 4, 30)


def test_barrier_orders_fields_in_shared_memory():
    text = """
        def kernel(o):
            s = cuda.shared.array(64, P)
            i = cuda.threadIdx.x
            s[i].x = i
            cuda.syncthreads()
            o[i] = s[63 - i].x
    """
    o = np.zeros(64)
    assert simt.run(function(text, P=P), 1, 64, (o,)).hazards == []
    np.testing.assert_array_equal(o, np.arange(64)[::-1])
    report = simt.run(function(text.replace("cuda.syncthreads()", "pass"), P=P), 1, 64, (o,), on_error="collect")
    assert [h.kind for h in report.hazards] == ["race"]


# ---------------------------------------------------------------------------------------------------- what is refused

REFUSED = {
    "o[i] = p[i].z": "fields x, m, and no z", "o[i] = p[i]['z']": "no z", "o[i] = p[i] == p[0]": "cannot be compared",
    "o[i] = p[i]": "cannot be stored", "p[i] = 3": "is no record of p", "p[i] = (1, 2)": "is no record of p",
    "o[i] = len(p[i])": "has no length", "x, m = p[i]": "cannot be unpacked", "o[i] = p[i].item()": "no item",
    "o[i] = p[i] + 1": "no number", "p.x = 3": "cannot be assigned to", "o.shape = 3": "cannot be assigned to",
    "o[i] = p[i][2]": "has 2 fields", "o[i] = p[i].x.y": "has no y", "o[i] = float(p[i])": "no number",
    "cuda.atomic.add(p, i, 1)": "has no atomic add",
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_what_numba_has_not_for_records_is_refused_with_its_line(body):
    with pytest.raises(simt.KernelError, match=f"line 3: .*{REFUSED[body]}"):
        run(body, {"p": numbers(4, P), "o": np.zeros(4)})


@pytest.mark.parametrize("dtype", [[("o", object)], [("s", "S4"), ("x", "f4")], [("x", ">f4")], [("t", "M8[s]")]])
def test_field_that_a_kernel_cannot_compute_with_is_refused(dtype):
    name = dtype[0][0]
    with pytest.raises((simt.KernelError, TypeError), match=r"does not compute|a kernel computes"):
        run(f"o[i] = p[i].{name}", {"p": np.zeros(4, dtype), "o": np.zeros(4)})
    if dtype[-1] == ("x", "f4"):
        run("o[i] = p[i].x", {"p": np.zeros(4, dtype), "o": np.zeros(4)})


@pytest.mark.parametrize("text", [
    "P = np.dtype([('x', np.float32, 10**9)])", "P = np.dtype([('x y', np.float32)])", "P = np.dtype('f4,f4')",
    "P = np.dtype([('x', object)])", "P = np.dtype([('x', np.float32)], align=1 // 0)", "P = np.dtype(P)",
    "P = np.dtype([])", "P = np.dtype([('x',)])", "P = np.dtype('O')", "P = np.dtype([('__class__', 'f4')] * 9)",
])  # fmt: skip
def test_dtype_of_a_text_is_a_plain_one(text):
    with pytest.raises(simt.KernelError, match="line 2"):
        simt.read(f"import numpy as np\n{text}\ndef kernel(a):\n    a[0] = 1\n")


def test_nothing_of_an_object_that_claims_to_be_records_is_called():
    class Records(np.ndarray):
        @property
        def dtype(self):
            raise AssertionError("asked")

    with pytest.raises(TypeError, match="Pass"):
        run("p[i].x = 1", {"p": np.zeros(4, P).view(Records)})
