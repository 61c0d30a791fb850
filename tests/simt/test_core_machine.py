"""Limits of a launch at their edges, dynamic shared memory, barriers that some threads miss."""

import numpy as np
import pytest
from numba import cuda

from course_lib import simt
from tests.simt.text import function


def body(statements, **outside):
    lines = "\n".join("        " + line for line in statements.split("\n"))
    return function(f"\n    def kernel(out):\n        i = cuda.grid(1)\n{lines}\n", **outside)


def collect(kernel, grid, block, out=None, **options):
    out = np.zeros(grid * block) if out is None else out
    return simt.run(kernel, grid, block, (out,), on_error="collect", **options)


@pytest.mark.parametrize(
    ("fits", "not_any_more"),
    [
        ("s = cuda.shared.array(12288, float32)", "s = cuda.shared.array(12289, float32)"),  # 48 KB
        ("s = cuda.shared.array(12284, float32)\nq = cuda.shared.array(1, float64)",
         "s = cuda.shared.array(12284, float32)\nq = cuda.shared.array(3, float64)"),  # 49,136 and 16 or 32 bytes
        ("v = cuda.local.array(65536, float64)", "v = cuda.local.array(65537, float64)"),  # 512 KB
        ("v = cuda.local.array((1, 1, 1, 1, 1, 1, 1, 2), int8)", "v = cuda.local.array((1,) * 9, int8)"),
    ],
)  # fmt: skip
def test_arrays_of_a_kernel_have_a_most(fits, not_any_more):
    assert collect(body(fits), 1, 1).hazards == []
    with pytest.raises(simt.KernelError) as raised:
        collect(body(not_any_more), 1, 1)
    assert raised.value.line == 2 + len(not_any_more.split("\n"))


@pytest.mark.parametrize(("size", "fits"), [(8192, True), (8193, False)])
def test_constant_memory_has_65_536_bytes(size, fits):
    kernel = body("c = cuda.const.array_like(table)\nout[i] = c[7]", table=np.arange(size))
    if fits:
        collect(kernel, 1, 1, out := np.zeros(1))
        assert out[0] == 7
    else:
        with pytest.raises(simt.KernelError, match="constant memory has 65,536") as raised:
            collect(kernel, 1, 1)
        assert raised.value.line == 3


def test_second_constant_array_begins_at_a_multiple_of_256_bytes():
    kernel = body("p = first[1]\nq = second[1]", first=np.arange(33.0), second=np.arange(2.0))
    report = collect(kernel, 1, 1)
    # 33 numbers take 264 bytes: the second array begins at 512
    assert [a.address.tolist() for a in report.accesses] == [[8], [512 + 8]]


DYNAMIC = "s = cuda.shared.array(0, float32)\ns[cuda.threadIdx.x] = i\ncuda.syncthreads()\n"


def test_dynamic_shared_memory_has_as_many_elements_as_the_launch_gives_bytes_for():
    kernel, out = body(DYNAMIC + "out[i] = s[cuda.blockDim.x - 1 - cuda.threadIdx.x] + 100 * s.size"), np.zeros(8)
    report = collect(kernel, 2, 4, out, shared=19)  # 4 numbers of 4 bytes, and 3 bytes more
    np.testing.assert_array_equal(out, [403, 402, 401, 400, 407, 406, 405, 404])
    assert (report.hazards, report.shared_bytes) == ([], 19)
    assert (report.arrays["s"].loads, report.arrays["s"].stores, report.arrays["s"].shape) == (8, 8, (4,))
    assert report.accesses[0].address.tolist() == [0, 4, 8, 12]
    (hazard,) = collect(kernel, 2, 4, out, shared=15).hazards[:1]
    assert (hazard.kind, hazard.count, hazard.details["size"]) == ("out of bounds", 2, 3)  # thread 3 of both blocks
    with pytest.raises(simt.KernelError, match="no room for a float32"):
        collect(kernel, 2, 4, out, shared=3)


def test_two_names_of_dynamic_shared_memory_are_the_same_bytes():
    text = "s = cuda.shared.array(0, float32)\nn = cuda.shared.array(0, {})\nif i == 0:\n    s[1] = 1.0\n"
    kernel, out = body(text.format("int32") + "    out[0] = n[1]"), np.zeros(1)
    collect(kernel, 1, 1, out, shared=8)
    assert out[0] == 0x3F800000  # the bits of 1.0
    with pytest.raises(simt.KernelError, match="types of one size"):
        collect(body(text.format("float64")), 1, 1, out, shared=64)


def test_two_names_of_dynamic_shared_memory_race():
    kernel = body("s = cuda.shared.array(0, float32)\nn = cuda.shared.array(0, int32)\ns[i] = i\nout[i] = n[1 - i]")
    assert [(h.kind, h.count) for h in collect(kernel, 1, 2, shared=8).hazards] == [("race", 2)]


def test_barrier_that_threads_miss_counts_blocks_and_names_the_first_thread():
    # Threads 0 to 39 of 64 reach it in blocks 1 and 2; in block 0 nobody, which is no mistake.
    kernel = body("if cuda.blockIdx.x > 0 and cuda.threadIdx.x < 40:\n    cuda.syncthreads()")
    (hazard,) = collect(kernel, 3, 64).hazards
    assert (hazard.kind, hazard.line, hazard.count) == ("barrier not reached", 4, 2)
    assert (hazard.details["thread"], hazard.details["block"]) == ((40, 0, 0), (1, 0, 0))
    assert "40 of 64 threads" in hazard.message
    assert "returned" not in hazard.message
    text = "if i > 40:\n    return\nif i < 9:\n    cuda.syncthreads()"
    (hazard,) = collect(body(text), 1, 64).hazards
    assert hazard.details["thread"] == (9, 0, 0)
    assert "23 have returned already; for those nobody waits." in hazard.message


def test_barrier_waits_only_for_threads_that_have_not_returned():
    report = collect(body("if i > 40:\n    return\ncuda.syncthreads()\nout[i] = i"), 2, 32)
    assert report.hazards == []
    (advice,) = [a for a in report.advice if a.kind == "early return"]
    assert (advice.details["thread"], advice.details["block"], advice.count) == ((9, 0, 0), (1, 0, 0), 23)
    assert "The hardware waits for the threads that have not returned" in advice.fix


def test_barrier_of_the_grid_orders_blocks_and_is_missed_by_any_thread():
    text = "out[i] = i\ng = cuda.cg.this_grid()\n{}\nx = out[3 - i]"
    assert [h.kind for h in collect(body(text.format("pass")), 4, 1).hazards] == ["race"]
    assert collect(body(text.format("g.sync()")), 4, 1).hazards == []
    (hazard,) = collect(body("g = cuda.cg.this_grid()\nif i < 5:\n    g.sync()"), 4, 2).hazards
    assert (hazard.kind, hazard.details["thread"], hazard.details["block"]) == (
        "barrier not reached", (1, 0, 0), (2, 0, 0),
    )  # fmt: skip
    assert "threads of 3 of 4 blocks do" in hazard.message


@pytest.mark.parametrize(("statement", "count", "thread"), [
    ("x = 5 // (i % 3)", 3, 0), ("x = 5 % (i - 7)", 1, 7), ("x = 5.0 // (i % 3)", 0, None),
    ("x = 5 / (i % 3)", 0, None),
    ("x = 0\nif i > 3:\n    x = 5 // (i - 4)", 1, 4), ("out[i] = 5\nout[i] //= 0", 0, None),
])  # fmt: skip
def test_whole_numbers_divided_by_zero_count_lanes(statement, count, thread):
    hazards = collect(body(statement), 1, 8).hazards
    assert [(h.kind, h.count, h.details["thread"]) for h in hazards] == (
        [("division by zero", count, (thread, 0, 0))] if count else []
    )


@pytest.mark.parametrize(("call", "kind", "count", "lane"), [
    ("x = cuda.shfl_sync(0xff, i, 0)", "warp operation not reached", None, None),
    ("x = cuda.ballot_sync(0x7f, True)", "warp operation not reached", 1, 7),  # lane 7 comes and is not named
    ("if i < 6:\n    x = cuda.any_sync(0xff, i)", "warp operation not reached", 1, 0),  # lane 6 is named and misses
    ("if i < 6:\n    x = cuda.any_sync(0x3f, i)", None, None, None),
    ("if i < 6:\n    x = cuda.shfl_down_sync(0x3f, i, 2)", "warp operation not reached", 2, 4),  # 4 and 5 take 6 and 7
    ("x = cuda.shfl_up_sync(0xff, i, 2)", None, None, None),
    ("x = cuda.shfl_xor_sync(0xff, i, 8)", "warp operation not reached", 8, 0),  # lanes 8 ... 15 are not there
])  # fmt: skip
def test_operation_of_a_warp_needs_the_lanes_that_it_names(call, kind, count, lane):
    hazards = collect(body(call), 1, 8).hazards
    if count is None:
        assert hazards == []
    else:
        assert [(h.kind, h.count, h.details["thread"]) for h in hazards] == [(kind, count, (lane, 0, 0))]


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("x = cuda.syncthreads_count(0.5)", "a float64 is no whole number; use int32(0.5)"),
        ("x = cuda.syncthreads_and(i > 2)", "a bool is no whole number; use int32(i > 2)"),
        ("x = cuda.syncthreads()", "x is given the result of something that returns nothing"),
        ("x = cuda.shared.array(i, float32)", "must be known before the launch"),
        ("x = cuda.shared.array((2, 0), float32)", "every size must be >= 1"),
        ("x = cuda.local.array(2.0, float32)", "it takes a shape of constant whole numbers and a dtype"),
        ("x = cuda.local.array(2, 3)", "it takes a shape of constant whole numbers and a dtype"),
        ("x = cuda.const.array_like((1, 2))", "it takes an array, best one from outside of the kernel"),
        ("x = bool(out)", "is neither true nor false"), ("x = round(out)", "is no number"),
        ("x = int(out)", "is no number"), ("x = cuda.selp(out, 1, 2)", "it takes a condition and two numbers"),
        ("x = max((1, out))", "it takes at least two numbers"), ("x = len(i)", "an int64 has no length"),
        ("x = cuda.shfl_sync(255, i > 2, 0)", "cannot be shuffled"),
        ("x = cuda.match_any_sync(255, i > 2)", "cannot be matched"),
        ("x = cuda.all_sync(255, out)", "is neither true nor false"),
        ("cuda.atomic.add(i, 0, 1)", "its first argument is an array"),
        ("cuda.atomic.and_(out, 0, 1)", "for which Numba has no atomic and_; use int32, uint32, int64 or uint64"),
        ("cuda.atomic.inc(out, 0, 1)", "for which Numba has no atomic inc; use uint32 or uint64"),
        ("cuda.atomic.add(out, 0.5, 1)", "takes 1 whole numbers as index"),
        ("cuda.atomic.add(out, 0, out)", "is no number"),
        ("s = cuda.shared.array(2, int16)\ncuda.atomic.add(s, 0, 1)", "an array of int16, for which"),
        ("table[0] = 1", "is constant memory; a kernel only reads it"),
        ("cuda.atomic.add(table, 0, 1)", "is constant memory; a kernel only reads it"),
    ],
)  # fmt: skip
def test_word_that_is_given_the_wrong_thing_says_what_it_takes(statement, says):
    with pytest.raises(simt.KernelError) as raised:
        collect(body(statement, table=np.arange(4)), 1, 8)
    assert says in str(raised.value)
    assert raised.value.line == 2 + len(statement.split("\n"))


@cuda.jit(device=True)
def _deep(n):
    if n > 0:
        return _deep(n - 1)
    return 0


@pytest.mark.parametrize(("n", "fits"), [(15, True), (16, False)])
def test_device_functions_call_each_other_16_deep(n, fits):
    kernel = body(f"x = deep({n})", deep=_deep)
    if fits:
        collect(kernel, 1, 1)
    else:
        with pytest.raises(simt.KernelError, match="more than 16 deep"):
            collect(kernel, 1, 1)


def test_plain_access_and_atomic_of_two_threads_race_in_either_order():
    text = "if i == 0:\n    {}\nif i == 1:\n    {}"
    add, store, read = "cuda.atomic.add(out, 0, 1)", "out[0] = 5", "x = out[0]"
    for first, second, races in ((add, store, 1), (store, add, 1), (add, read, 1), (read, add, 1), (add, add, 0)):
        hazards = collect(body(text.format(first, second)), 1, 2).hazards
        assert [(h.kind, h.count, h.line) for h in hazards] == [("race", 1, 6)] * races
        ordered = body(f"if i == 0:\n    {first}\ncuda.syncthreads()\nif i == 1:\n    {second}")
        assert collect(ordered, 1, 2).hazards == []


def test_lane_that_a_warp_waits_for_is_named():
    (hazard,) = collect(body("if i != 5 and i != 6:\n    x = cuda.any_sync(0xff, i)"), 1, 8).hazards
    assert hazard.details["missing_lane"] == 5
    assert "for lane 5 of its warp" in hazard.message
