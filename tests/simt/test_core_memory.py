"""Which element an index means, in arrays of any layout; which lanes touch it; and what is wrong with it."""

import itertools

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.arrays import DeviceArray
from tests.simt.text import function

NUMBER_ALL = """
    def kernel(a):
        y, x = cuda.threadIdx.y, cuda.threadIdx.x
        a[y, x] = 10 * y + x
"""
WHOLE = np.zeros((8, 12), np.int64)
VIEWS = {
    "rows": lambda w: w[:3, :4], "fortran": lambda w: w.reshape(-1)[:12].reshape(4, 3).T,
    "steps": lambda w: w[1:7:2, 2:10:2], "reversed": lambda w: w[4:1:-1, 7:3:-1], "one way": lambda w: w[:3, 10:2:-2],
    "transposed, reversed": lambda w: w.T[2:8:2, ::-2],
}  # fmt: skip


def collect(kernel, grid, block, *arguments, **options):
    return simt.run(kernel, grid, block, arguments, on_error="collect", **options)


# ----------------------------------------------------------------------------------------------------------- layouts


@pytest.mark.parametrize("layout", VIEWS)
def test_element_of_any_layout_is_the_one_that_numpy_means(layout):
    whole = WHOLE.copy()
    view = VIEWS[layout](whole)
    report = simt.run(function(NUMBER_ALL), 1, (4, 3), (view,))
    expected = np.add.outer(10 * np.arange(3), np.arange(4))
    np.testing.assert_array_equal(view, expected)
    assert np.count_nonzero(whole) == 11  # all others are as before
    use, access = report.arrays["a"], report.accesses[0]
    assert (use.stores, use.distinct_stored, use.shape) == (12, 12, (3, 4))
    assert access.element.tolist() == list(range(12))  # thread t, x fastest, writes element t row by row
    steps = access.address - access.address.min()
    true = np.add.outer(view.strides[0] * np.arange(3), view.strides[1] * np.arange(4)).ravel()
    assert steps.tolist() == (true - true.min()).tolist()


@pytest.mark.parametrize("layout", VIEWS)
def test_index_in_a_finding_is_that_of_the_array_in_any_layout(layout):
    racy = function("""
        def kernel(a):
            y, x = cuda.threadIdx.y, cuda.threadIdx.x
            a[2, 1] = y + x
    """)
    (hazard,) = collect(racy, 1, (4, 3), VIEWS[layout](WHOLE.copy())).hazards
    assert (hazard.kind, hazard.details["index"], hazard.count) == ("race", (2, 1), 11)
    assert hazard.details["thread"] == (1, 0, 0)
    assert hazard.details["other_thread"] == (0, 0, 0)


def test_array_without_axes():
    kernel = function("def kernel(a, out):\n    out[()] = a[()] + 1 + a.ndim + a.size")
    out = np.zeros(())
    report = simt.run(kernel, 1, 1, (np.array(4.0), out))
    assert out == 6
    assert (report.arrays["a"].loads, report.arrays["a"].shape) == (1, ())
    assert [a.element.tolist() for a in report.accesses] == [[0], [0]]


def test_empty_array_has_no_element_and_a_shape():
    kernel = function("""
        def kernel(a, out):
            out[0] = a.size + a.shape[0] * 10 + a.shape[1]
            for k in range(a.size):
                out[0] = a[k, k]
    """)
    out = np.zeros(1)
    simt.run(kernel, 1, 1, (np.zeros((0, 3)), out))
    assert out[0] == 3
    (hazard,) = collect(function("def kernel(a):\n    a[0, 2] = 1"), 1, 5, np.zeros((0, 3))).hazards
    assert (hazard.kind, hazard.count, hazard.details["axis"], hazard.details["size"]) == ("out of bounds", 5, 0, 0)


@pytest.mark.parametrize("atomic", [False, True])
def test_read_only_array_is_not_written(atomic):
    a = np.zeros(3)
    a.flags.writeable = False
    kernel = function("def kernel(a):\n    " + ("cuda.atomic.add(a, 0, 1)" if atomic else "a[0] = 1"))
    with pytest.raises(simt.KernelError, match="read-only") as raised:
        simt.run(kernel, 1, 1, (a,))
    assert raised.value.line == 2


# ------------------------------------------------------------------------------------------------ arrays that overlap


def test_two_names_of_overlapping_arrays_are_one_memory_and_race():
    # a is elements 0 to 5 and b 2 to 7: thread i writes a[i], element i, and reads b[i], element i + 2.
    kernel = function("def kernel(a, b, out):\n    i = cuda.grid(1)\n    a[i] = i\n    out[i] = b[i]")
    whole, out = np.full(8, 9.0), np.zeros(6)
    report = collect(kernel, 1, 6, whole[:6], whole[2:], out)
    np.testing.assert_array_equal(whole, [0, 1, 2, 3, 4, 5, 9, 9])
    np.testing.assert_array_equal(out, [2, 3, 4, 5, 9, 9])
    (hazard,) = report.hazards
    assert (hazard.kind, hazard.count, hazard.array, hazard.details["index"]) == ("race", 4, "b", (2,))
    assert (hazard.details["thread"], hazard.details["other_thread"]) == ((0, 0, 0), (2, 0, 0))
    use = report.arrays["a and b"]
    assert (use.loads, use.stores, use.distinct_loaded, use.distinct_stored) == (6, 6, 6, 6)


def test_neighbouring_arrays_do_not_overlap():
    kernel = function("def kernel(a, b):\n    i = cuda.grid(1)\n    a[i] = b[i]")
    whole = np.arange(8.0)
    report = simt.run(kernel, 1, 4, (whole[:4], whole[4:]))
    np.testing.assert_array_equal(whole, [4, 5, 6, 7, 4, 5, 6, 7])
    assert set(report.arrays) == {"a", "b"}


def test_chain_of_overlaps_is_one_memory():
    # a and c only meet by way of b.
    kernel = function("def kernel(a, b, c):\n    a[0] = 1\n    b[0] = 2\n    c[3] = 3")
    whole = np.zeros(12)
    report = simt.run(kernel, 1, 1, (whole[:5], whole[4:9], whole[8:]))
    assert list(report.arrays) == ["a and b and c"]
    np.testing.assert_array_equal(np.flatnonzero(whole), [0, 4, 11])
    assert (report.arrays["a and b and c"].shape, report.arrays["a and b and c"].distinct_stored) == ((12,), 3)


def test_large_array_that_holds_two_small_ones_is_one_memory_with_them():
    kernel = function("def kernel(a, b, c):\n    a[9] = b[1] + c[1]")
    whole = np.arange(10.0)
    report = simt.run(kernel, 1, 1, (whole, whole[1:3], whole[6:8]))
    assert list(report.arrays) == ["a and b and c"]
    assert whole[9] == 9  # 2 + 7


def test_overlapping_arrays_of_two_dtypes_are_refused():
    a = np.zeros(4)
    with pytest.raises(TypeError, match="share memory"):
        simt.run(function("def kernel(a, b):\n    pass"), 1, 1, (a, a.view(np.int64)))


def test_overlapping_arrays_of_which_one_is_read_only():
    kernel = function("def kernel(a, b):\n    b[0] = a[1]")
    whole = np.arange(4.0)
    fixed = whole[1:]
    fixed.flags.writeable = False
    with pytest.raises(simt.KernelError, match="a is read-only"):
        simt.run(function("def kernel(b, a):\n    a[0] = 1"), 1, 1, (whole, fixed))
    simt.run(kernel, 1, 1, (fixed, whole))
    assert whole[0] == 2


def test_arrays_begin_at_addresses_of_256_bytes_with_room_between():
    kernel = function("def kernel(a, b, c):\n    x = a[0] + b[0] + c[0]")
    report = simt.run(kernel, 1, 1, (np.zeros(64, np.float32), np.zeros(1), np.zeros(65, np.float32)))
    starts = sorted((int(x.address[0]), {"a": 256, "b": 8, "c": 260}[x.array]) for x in report.accesses)
    assert starts[0][0] == 256
    assert all(start % 256 == 0 for start, _ in starts)
    # at least 256 bytes behind each array are nobody's: an index a little beyond its end hits no other
    assert all(b - a >= size + 256 for (a, size), (b, _) in itertools.pairwise(starts))


# ------------------------------------------------------------------------------------------------------- bad indices


def test_out_of_bounds_counts_lanes_and_names_the_first_by_axis():
    kernel = function("""
        def kernel(a):
            i = cuda.grid(1)
            if i > 0:
                a[1, i - 1] = 1
    """)
    a = np.zeros((2, 4))
    (hazard,) = collect(kernel, 2, 4, a).hazards
    # i = 1 ... 4 write columns 0 to 3; i = 5, 6, 7 are outside; the first is thread 1 of block 1.
    assert (hazard.kind, hazard.count, hazard.line, hazard.array) == ("out of bounds", 3, 4, "a")
    assert {k: hazard.details[k] for k in ("thread", "block", "index", "axis", "size", "phase")} == {
        "thread": (1, 0, 0), "block": (1, 0, 0), "index": 4, "axis": 1, "size": 4, "phase": 0,
    }  # fmt: skip
    np.testing.assert_array_equal(a, [[0] * 4, [1] * 4])


@pytest.mark.parametrize(("index", "kind", "count"), [
    ("i - 2", "negative index", 2), ("i - 5", "out of bounds", 1), ("i + 2", "out of bounds", 2),
    ("4", "out of bounds", 4), ("-5", "out of bounds", 4), ("i - 4", "negative index", 4),
])  # fmt: skip
def test_index_from_the_end_and_index_outside(index, kind, count):
    a, out = np.arange(4.0), np.full(4, -1.0)
    kernel = function(f"def kernel(a, out):\n    i = cuda.grid(1)\n    out[i] = a[{index}]")
    hazard = collect(kernel, 1, 4, a, out).hazards[0]
    assert (hazard.kind, hazard.count) == (kind, count)
    for i in range(4):
        k = eval(index, {"i": i})
        assert out[i] == (a[k] if -4 <= k < 4 else 0)


@pytest.mark.parametrize("index", ["-1", "-4", "LAST", "-LAST - 2", "-1 - 1"])
def test_index_written_as_a_negative_number_is_meant_to_count_from_the_end(index):
    a, out = np.arange(4.0), np.full(4, -1.0)
    kernel = function(f"def kernel(a, out):\n    i = cuda.grid(1)\n    out[i] = a[{index}]", LAST=-1)
    report = collect(kernel, 1, 4, a, out)
    assert report.hazards == []
    np.testing.assert_array_equal(out, np.full(4, a[eval(index, {"LAST": -1})]))


def test_bad_index_on_two_axes_is_found_on_both_and_touches_nothing():
    kernel = function("def kernel(a):\n    i = cuda.grid(1)\n    a[i, i + 1] = 1")
    a = np.zeros((2, 3))
    report = collect(kernel, 1, 3, a)
    # i = 0 and 1 are inside; i = 2 is outside on both axes: rows 0 to 1, columns 0 to 2.
    assert report.hazards[0].count == 2
    assert (report.total.global_store_requests, report.arrays["a"].stores) == (1, 2)
    assert np.flatnonzero(a).tolist() == [1, 5]


def test_last_element_is_inside_and_the_next_is_not():
    kernel = function("def kernel(a, n):\n    a[n] = 1")
    assert collect(kernel, 1, 1, np.zeros(3), 2).hazards == []
    assert [h.kind for h in collect(kernel, 1, 1, np.zeros(3), 3).hazards] == ["out of bounds"]


# -------------------------------------------------------------------------------------------------- unwritten memory


def test_device_array_knows_which_elements_were_written_and_which_are_read_before():
    kernel = function("""
        def kernel(a, out):
            i = cuda.grid(1)
            if i < 5:
                a[i] = i
            out[i] = a[i]
    """)
    a, out = DeviceArray.empty((8,), np.float64), DeviceArray.empty((9,), np.float64)
    report = collect(kernel, 1, 8, a, out)
    (hazard,) = report.hazards
    assert (hazard.kind, hazard.count, hazard.array, hazard.line) == ("unwritten memory", 3, "a", 5)
    assert (hazard.details["thread"], hazard.details["index"]) == ((5, 0, 0), (5,))
    assert a.written.tolist() == [True] * 5 + [False] * 3
    assert out.written.tolist() == [True] * 8 + [False]
    never = [(h.kind, h.array, h.count, h.details["index"]) for h in report.advice if h.kind == "never written"]
    assert never == [("never written", "a", 3, (5,)), ("never written", "out", 1, (8,))]


def test_part_of_a_device_array_shares_what_was_written():
    whole = DeviceArray.empty((4, 6), np.float32)
    simt.run(function(NUMBER_ALL), 1, (2, 2), (whole[1:3, 2:4],))
    assert np.argwhere(whole.written).tolist() == [[1, 2], [1, 3], [2, 2], [2, 3]]
    # from address 256 on; the part begins 8 elements later
    access = simt.run(function(NUMBER_ALL), 1, (2, 2), (whole[1:3, 2:4],)).accesses[0]
    assert access.address.tolist() == [256 + 4 * k for k in (8, 9, 14, 15)]


@pytest.mark.parametrize("writes", [1, 2, 3, 4, 5, 6, 7])
def test_each_unwritten_element_is_found_however_many_writes_came_before(writes):
    kernel = function("""
        def kernel(n, out):
            s = cuda.shared.array(7, int32)
            for k in range(n):
                s[k] = k
            for k in range(7):
                out[k] = s[k]
    """)
    hazards = collect(kernel, 1, 1, writes, np.zeros(7)).hazards
    assert sum(h.count for h in hazards) == 7 - writes
    if writes < 7:
        assert hazards[0].details["index"] == (writes,)


def test_shared_and_local_memory_of_each_block_and_lane_are_its_own():
    kernel = function("""
        def kernel(out):
            s = cuda.shared.array(2, int32)
            v = cuda.local.array(2, int32)
            i, t = cuda.grid(1), cuda.threadIdx.x
            if i == 0:
                s[0] = 1
            if t == 1:
                v[1] = 7
            cuda.syncthreads()
            out[i] = s[0] + v[1]
    """)
    shared, local = collect(kernel, 2, 2, np.zeros(4)).hazards
    # block 1 has no s[0], by its two threads; thread 0 of each block has no v[1]
    assert (shared.array, shared.count, shared.details["block"], shared.details["phase"]) == ("s", 2, (1, 0, 0), 1)
    assert (local.array, local.count, local.details["thread"], local.details["index"]) == ("v", 2, (0, 0, 0), (1,))


def test_atomic_on_shared_memory_that_nobody_wrote_is_found_once_and_writes_it():
    kernel = function("""
        def kernel(out):
            s = cuda.shared.array(1, int32)
            cuda.atomic.add(s, 0, 1)
            cuda.syncthreads()
            out[0] = s[0]
    """)
    (hazard,) = collect(kernel, 1, 1, np.zeros(1)).hazards
    assert (hazard.kind, hazard.line) == ("unwritten memory", 3)


# --------------------------------------------------------------------------------------------------- unset variables


def test_variable_that_some_lanes_did_not_set_is_found_with_the_first_of_them():
    kernel = function("""
        def kernel(out):
            i = cuda.grid(1)
            if i < 5:
                x = i
            if i > 2:
                out[i] = x
    """)
    (hazard,) = collect(kernel, 2, 4, np.zeros(8)).hazards
    assert (hazard.kind, hazard.count, hazard.array, hazard.line) == ("unset variable", 3, "x", 6)
    assert (hazard.details["thread"], hazard.details["block"]) == ((1, 0, 0), (1, 0, 0))


def test_variable_that_is_set_on_both_sides_or_in_two_steps_is_set():
    kernel = function("""
        def kernel(out):
            i = cuda.grid(1)
            if i < 2:
                x = 1
            else:
                x = 2
            if i < 2:
                y = 1
            if i >= 2:
                y = 2
            out[i] = x * 10 + y
    """)
    out = np.zeros(4)
    assert collect(kernel, 1, 4, out).hazards == []
    np.testing.assert_array_equal(out, [11, 11, 22, 22])


def test_variable_of_a_loop_that_nobody_enters_is_an_error_or_a_finding():
    kernel = function("def kernel(out, n):\n    for k in range(n):\n        x = k\n    out[0] = x")
    with pytest.raises(simt.KernelError, match="x") as raised:
        simt.run(kernel, 1, 1, (np.zeros(1), 0))
    assert raised.value.line == 4
    simt.run(kernel, 1, 1, (out := np.zeros(1), 3))
    assert out[0] == 2


# ---------------------------------------------------------------------------------------- barriers and what they order


def test_warp_that_was_asked_before_lanes_returned_does_not_wait_for_them_later():
    kernel = function("""
        def kernel(out):
            i = cuda.grid(1)
            cuda.syncwarp()
            if i % 2:
                return
            out[i] = cuda.ballot_sync(0xffffffff, i > 3)
    """)
    out = np.zeros(8)
    assert collect(kernel, 1, 8, out).hazards == []
    np.testing.assert_array_equal(out, [0b01010000, 0] * 4)  # lanes 4 and 6


@pytest.mark.parametrize(("barrier", "same_warp", "other_warp"), [
    ("pass", "race", "race"), ("cuda.syncwarp()", None, "race"), ("cuda.syncthreads()", None, None),
])  # fmt: skip
def test_what_a_barrier_orders(barrier, same_warp, other_warp):
    # Thread i reads what thread i ^ 1 (of its warp) or i ^ 32 (of the other) wrote.
    for partner, kind in ((1, same_warp), (32, other_warp)):
        kernel = function(f"""
            def kernel(out):
                s = cuda.shared.array(64, int32)
                i = cuda.threadIdx.x
                s[i] = i
                {barrier}
                out[i] = s[i ^ {partner}]
        """)
        hazards = collect(kernel, 1, 64, np.zeros(64)).hazards
        assert [(h.kind, h.count) for h in hazards] == ([(kind, 64)] if kind else [])


def test_negative_index_of_a_ring_is_advice():
    text = "def kernel(a, out):\n    i = cuda.grid(1)\n    out[i] = a[i - 1, 0] + a[{}, i - 1]"
    a = np.arange(16.0).reshape(4, 4)
    out = np.zeros(4)
    report = simt.run(function(text.format("(i + 1) % 4")), 1, 4, (a[:, :4], out), on_error="collect")
    assert [(h.details["axis"], h.severity) for h in report.hazards] == [(1, "error")]
    assert [(h.details["axis"], h.kind) for h in report.advice] == [(0, "negative index")]
    i = np.arange(4)
    np.testing.assert_array_equal(out, a[i - 1, 0] + a[(i + 1) % 4, i - 1])
