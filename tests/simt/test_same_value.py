"""Writes of what is there already give the same in any order: they are told apart from races that matter."""

import numpy as np
import pytest
from numba import cuda

from course_lib import simt
from tests.simt.text import function

KINDS = ("race", "same value")


def races(kernel, grid, block, *arguments):
    """Return {array: (kind, severity, count)} of its first race, errors first; a line and array has one entry."""
    report = simt.run(kernel, grid, block, arguments, on_error="collect")
    found = [h for h in (*report.hazards, *report.advice) if h.kind in KINDS]
    assert len({(h.array, h.line) for h in found}) == len(found), "a line and array has two entries"
    return {h.array: (h.kind, h.severity, h.count) for h in reversed(found)}


LAUNCHES = {"a warp": (1, 32), "two warps": (1, 64), "two blocks": (2, 32)}
DTYPES = ["float32", "float64", "int8", "int32", "uint64", "bool", "float16", "complex64", "complex128"]


def lanes(launch):
    return int(np.prod(LAUNCHES[launch]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize("space", ["global", "shared"])
def test_same_value_written_by_several_threads_is_advice(launch, space, dtype):
    made = {"global": "flag", "shared": "cuda.shared.array(1, DTYPE)"}[space]
    kernel = function(f"""
        def kernel(flag, x):
            s = {made}
            if cuda.grid(1) % 2 == 0:
                s[0] = x[0]
    """, DTYPE=np.dtype(dtype).type)  # fmt: skip
    grid, block = LAUNCHES[launch]
    flag, x = np.zeros(1, dtype), np.ones(1, dtype)
    writers = lanes(launch) // 2
    pairs = writers - (1 if space == "global" else grid)  # a block has its own shared memory
    assert races(kernel, grid, block, flag, x) == {
        "flag" if space == "global" else "s": ("same value", "advice", pairs)
    }  # fmt: skip
    assert simt.run(kernel, grid, block, (flag, x)).hazards == []


@pytest.mark.parametrize("launch", LAUNCHES)
def test_other_values_are_a_race_and_all_pairs_of_a_line_are_counted_together(launch):
    kernel = function("def kernel(x):\n    i = cuda.grid(1)\n    x[0] = i // 2")
    n = lanes(launch)
    assert races(kernel, *LAUNCHES[launch], np.zeros(1)) == {"x": ("race", "error", n - 1)}  # half of them equal
    twice = function("def kernel(x):\n    for k in range(2):\n        x[0] = 1 if k == 0 else cuda.grid(1)")
    assert races(twice, *LAUNCHES[launch], np.zeros(1))["x"][:2] == ("race", "error")


def test_bits_decide_whether_a_value_is_the_same():
    kernel = function("def kernel(x, y):\n    x[0] = y[cuda.threadIdx.x]")
    quiet = np.array([np.nan, np.nan], np.float32)
    assert races(kernel, 1, 2, np.zeros(1, np.float32), quiet) == {"x": ("same value", "advice", 1)}
    other = np.array([0x7FC00000, 0x7FC00001], np.uint32).view(np.float32)  # another NaN
    assert races(kernel, 1, 2, np.zeros(1, np.float32), other) == {"x": ("race", "error", 1)}
    assert races(kernel, 1, 2, np.zeros(1), np.array([0.0, -0.0])) == {"x": ("race", "error", 1)}
    assert races(kernel, 1, 2, np.zeros(1, np.float32), np.array([1, 1 + 1e-12])) == {"x": ("same value", "advice", 1)}


def test_first_number_of_unwritten_memory_is_a_change():
    kernel = function("""
        def kernel(out):
            s = cuda.shared.array(1, int32)
            i = cuda.threadIdx.x
            if i == 0:
                s[0] = 0
            out[i] = s[0]
    """)
    assert races(kernel, 1, 4, np.zeros(4)) == {"s": ("race", "error", 3)}


def test_flag_that_is_read_while_others_set_it_is_a_race():
    text = """
        def kernel(flag, out):
            i = cuda.grid(1)
            {first}
            {second}
    """
    write = "if i % 2:\n                flag[0] = 1"
    for first, second in (
        ("out[i] = flag[0]", "flag[0] = 1"),
        ("out[i] = flag[0]", write),
        (write, "out[i] = flag[0]"),
    ):
        kernel = function(text.format(first=first, second=second))
        assert races(kernel, 1, 8, np.zeros(1), np.zeros(8))["flag"][:2] == ("race", "error")
        kept = races(kernel, 1, 8, np.ones(1), np.zeros(8))  # it is set already: nothing changes
        assert kept["flag"][:2] == ("same value", "advice")


FILL = """
    def kernel(a, out):
        t = cuda.shared.array(4, float32)
        i = cuda.threadIdx.x
        {fill}
        out[i] = t[i % 4]
"""
FILLS = {
    "of an array's numbers": "for j in range(4):\n    t[j] = a[j]",
    "of a constant": "for j in range(4):\n    t[j] = 3",
    "of a part at once": "t[:] = a[2]",
    "with reads between": "for j in range(4):\n    t[j] = a[j]\n    out[i] += t[j]",
    "again": "for k in range(3):\n    for j in range(4):\n        t[j] = a[j]\n    out[i] += t[i % 4]",
    "again after a barrier, with other numbers":
        "for k in range(3):\n    for j in range(4):\n        t[j] = a[j] + k\n    out[i] += t[3]\n"
        "    cuda.syncthreads()",
    "after one thread's, ordered": "if i == 1:\n    t[2] = 7\ncuda.syncthreads()\nfor j in range(4):\n    t[j] = a[j]",
}  # fmt: skip


def filling(fill):
    return function(FILL.format(fill=fill.replace("\n", "\n        ")))


@pytest.mark.parametrize("threads", [2, 32, 64, 100])
@pytest.mark.parametrize("fill", FILLS)
def test_what_every_thread_has_filled_in_each_can_read(fill, threads):
    a = np.arange(4, dtype=np.float32)
    for grid in (1, 3):
        found = races(filling(FILLS[fill]), grid, threads, a, np.zeros(threads))
        assert found.pop("t")[:2] == ("same value", "advice")
        assert set(found) <= {"out"}  # which all blocks write
    out = np.zeros(threads)
    assert simt.run(filling(FILLS["of an array's numbers"]), 1, threads, (a, out)).hazards == []
    np.testing.assert_array_equal(out, np.arange(threads) % 4)


NO_FILLS = {
    "of half of the threads": "if i % 2 == 0:\n    for j in range(4):\n        t[j] = a[j]",
    "of all threads but the last": "if i < 31:\n    for j in range(4):\n        t[j] = a[j]",
    "with numbers of each thread": "for j in range(4):\n    t[j] = a[j] + i",
    "again, with other numbers": "for k in range(2):\n    for j in range(4):\n        t[j] = a[j] + k",
    "again, with other numbers after reads":
        "for k in range(2):\n    for j in range(4):\n        t[j] = a[j] + k\n    out[i] += t[3]",
    "after another number of one thread": "if i == 0:\n    t[1] = 9\nfor j in range(4):\n    t[j] = a[j]",
    "and then a number of one, equal by chance":
        "for j in range(4):\n    t[j] = a[j]\nif i == 0:\n    t[1] = a[1]",
    "before the barrier, and one equal by chance behind it":
        "for j in range(4):\n    t[j] = a[j]\ncuda.syncthreads()\nif i == 0:\n    t[1] = a[1]",
    "by one, which others read, and then by all":
        "if i == 0:\n    t[1] = a[1]\nout[i] = t[1]\nfor j in range(4):\n    t[j] = a[j]",
    "of what was read before":
        "if i < 4:\n    t[i] = 0\ncuda.syncthreads()\nout[i] += t[1]\nfor j in range(4):\n    t[j] = a[j]",
    "by each in turn": "for k in range(32):\n    if k == i:\n        t[1] = a[1]",
    "of counts": "t[i % 4] = 0\ncuda.syncthreads()\nt[1] += 1",
    "and then counted up": "for j in range(4):\n    t[j] = a[j]\ncuda.atomic.add(t, 1, 1)",
}  # fmt: skip


@pytest.mark.parametrize("fill", NO_FILLS)
def test_what_is_no_fill_by_all_with_one_number_is_a_race(fill):
    report = simt.run(
        filling(NO_FILLS[fill]), 1, 32, (np.arange(4, dtype=np.float32), np.zeros(32)), on_error="collect"
    )
    assert ("race", "t") in {(h.kind, h.array) for h in report.hazards}


def test_equal_numbers_by_chance_do_not_excuse_a_missing_barrier():
    # Every element is 1, so what the next turn writes is there already; with other numbers it is not.
    kernel = function("""
        def kernel(x, out):
            s = cuda.shared.array(8, int32)
            i = cuda.threadIdx.x
            for m in range(2):
                s[i] = x[m, i]
                cuda.syncthreads()
                out[m, i] = s[7 - i]
    """)
    assert races(kernel, 1, 8, np.ones((2, 8), np.int32), np.zeros((2, 8))) == {"s": ("race", "error", 8)}


def test_breadth_first_search_with_flags():
    """Every thread that finds a new vertex says so, and gives it the same distance. Source: Harish and Narayanan."""
    kernel = function("""
        def kernel(start, end, distance, level, changed):
            v = cuda.grid(1)
            if v < start.size and distance[v] == level:
                for e in range(start[v], start[v] + 3):
                    w = end[e]
                    if distance[w] == -1 or distance[w] == level + 1:
                        distance[w] = level + 1
                        changed[0] = True
    """)
    n = 96
    end = (np.arange(3 * n, dtype=np.int32) * 7 + 1) % n
    distance, changed = np.full(n, -1, np.int32), np.zeros(1, np.bool_)
    distance[0] = level = 0
    report = simt.run(kernel, 3, 32, (np.arange(0, 3 * n, 3), end, distance, level, changed), on_error="collect")
    assert [h for h in report.hazards if h.array == "changed"] == []
    assert changed[0]


def test_element_that_keeps_its_own_number_is_no_race():
    # Numba's documentation, "Synchronization": thread 0 writes ary[0] to ary[0] while the others read it.
    kernel = function("""
        def kernel(ary):
            i = cuda.grid(1)
            if i == 0:
                ary[0] = 42
            cuda.syncwarp(0xffffffff)
            ary[i] = ary[0]
    """)
    ary = np.zeros(32, np.int32)
    assert races(kernel, 1, 32, ary)["ary"][:2] == ("same value", "advice")
    np.testing.assert_array_equal(ary, 42)
    assert simt.run(kernel, 1, 32, (np.zeros(32, np.int32),)).hazards == []
    two_warps = races(kernel, 1, 64, np.zeros(64, np.int32))
    assert two_warps["ary"][:2] == ("race", "error")  # the second warp waits for nobody


def test_one_number_for_all_by_each_thread_and_another_before_by_one():
    # As in stumpy's GPU-STUMP: thread 0 writes QT[0] by mistake, and then all threads write what belongs there.
    kernel = function("""
        def kernel(QT, first, j):
            i = cuda.grid(1)
            QT[i] = i
            QT[0] = first[j]
    """)
    assert races(kernel, 2, 16, np.zeros(32), np.arange(4.0), 3) == {"QT": ("same value", "advice", 31)}


@pytest.mark.parametrize("severity", ["advice", "error"])
def test_message_says_what_is_the_same_and_what_to_do(severity):
    kernel = function("def kernel(x):\n    x[0] = {}".format("7" if severity == "advice" else "cuda.grid(1)"))
    report = simt.run(kernel, 1, 2, (np.zeros(1),), on_error="collect")
    (h,) = report.advice if severity == "advice" else report.hazards
    assert h.severity == severity
    assert (h.details["thread"], h.details["other_thread"], h.details["index"]) == ((1, 0, 0), (0, 0, 0), (0,))
    if severity == "advice":
        assert h.message.endswith("wrote in this line too, with no barrier between: the same number.")
        assert h.fix.startswith("Both threads wrote the same number, but two threads must not write one element. Give")
    else:
        assert h.message.endswith("wrote in this line too, with no barrier between.")


OWN, BLOCKS = "Give each thread an element of its own: does the index tell all", "Blocks cannot wait for each other"


@pytest.mark.parametrize(
    ("line", "grid", "block", "fix"),
    [
        ("x[0] = v", 2, 2, f"{OWN} threads of the grid apart, as cuda.grid(1) does? Where several threads must"),
        ("x[0] = v", 1, (2, 2), f"{OWN} threads of the grid apart, as cuda.grid(2) does?"),
        ("x[0] = v", (1, 1, 2), 2, f"{OWN} threads of the grid apart, as cuda.grid(3) does?"),
        ("x[0] += v", 2, 1, BLOCKS),
        ("x[0] += v", 1, 2, "Read into a variable, then cuda.syncthreads() (within one warp cuda.syncwarp()"),
        ("s[0] = v", 1, 2, "Two threads write one element: give each its own, let one thread write, or use cuda.at"),
    ],
)
def test_one_line_that_stores_to_one_element_asks_for_the_index_and_one_that_adds_for_atomics(line, grid, block, fix):
    kernel = function(f"""
        def kernel(x):
            s = cuda.shared.array(1, float32)
            v = 100 * cuda.threadIdx.x + 10 * cuda.threadIdx.y + cuda.blockIdx.x + 5 * cuda.blockIdx.z
            {line}
    """)
    (h,) = simt.run(kernel, grid, block, (np.zeros(1),), on_error="collect").hazards
    assert h.fix.startswith(fix)
    assert "cuda.atomic" in h.fix


# ------------------------------------------------------------------------------------- compare-and-swap, and atomics


ADD = """
    def add(a, i, value):
        old = a[i]
        while True:
            assumed = old
            old = cuda.atomic.cas(a, i, assumed, assumed + value)
            if old == assumed:
                break
"""


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("space", ["global", "shared"])
def test_read_that_begins_a_loop_of_compare_and_swap_is_advice(launch, dtype, space):
    add = cuda.jit(device=True)(function(ADD, "add"))
    kernel = function("""
        def kernel(out):
            s = cuda.shared.array(1, DTYPE)
            if cuda.threadIdx.x == 0:
                s[0] = 0
            cuda.syncthreads()
            add(WHERE, 0, DTYPE(1))
            cuda.syncthreads()
            if cuda.threadIdx.x == 0:
                cuda.atomic.add(out, 0, s[0])
    """.replace("WHERE", "out" if space == "global" else "s"), DTYPE=np.dtype(dtype).type, add=add)  # fmt: skip
    out = np.zeros(1, dtype)
    report = simt.run(kernel, *LAUNCHES[launch], (out,))
    assert report.hazards == []
    assert {h.kind for h in report.advice if h.array in ("a", "s", "out")} <= {"race"}
    assert out[0] == lanes(launch)


def test_read_of_what_others_count_is_a_race():
    kernel = function("def kernel(n, out):\n    i = cuda.grid(1)\n    cuda.atomic.add(n, 0, 1)\n    out[i] = n[0]")
    assert races(kernel, 1, 8, np.zeros(1, np.int32), np.zeros(8))["n"][:2] == ("race", "error")


def test_plain_write_where_others_compare_and_swap_is_a_race():
    kernel = function("""
        def kernel(n):
            cuda.atomic.cas(n, 0, 0, 1)
            if cuda.grid(1) == 3:
                n[0] = 5
    """)
    assert races(kernel, 1, 8, np.zeros(1, np.int32))["n"][:2] == ("race", "error")


GAPS = {
    "but one": "t != 2",
    "every other": "t % 2 == 0",
    "the ends": "t == 0 or t == 63",
    "of both warps": "t % 32 > 8",
}


FILL_OF_SOME = """
    def kernel(a, out):
        s = cuda.shared.array(4, int32)
        t = cuda.threadIdx.x
        for turn in range(2):
            if {who}:
                for j in range(4):
                    s[j] = a[j]
        if {reader}:
            out[cuda.grid(1)] = s[(t + 1) % 4]
"""


@pytest.mark.parametrize("who", GAPS)
@pytest.mark.parametrize("blocks", [1, 3])
def test_threads_with_gaps_that_fill_an_array_read_their_own_numbers(who, blocks):
    kernel = function(FILL_OF_SOME.format(who=GAPS[who], reader=GAPS[who]))
    found = races(kernel, blocks, 64, np.arange(1, 5), np.zeros(64 * blocks, np.int64))
    assert {kind for kind, *_ in found.values()} == {"same value"}


@pytest.mark.parametrize(
    ("who", "stranger"), [("but one", 2), ("every other", 5), ("the ends", 7), ("of both warps", 33)]
)
def test_thread_in_a_gap_reads_what_others_fill_in(who, stranger):
    kernel = function(FILL_OF_SOME.format(who=GAPS[who], reader=f"t == {stranger}"))
    assert races(kernel, 1, 64, np.arange(1, 5), np.zeros(64, np.int64))["s"] == ("race", "error", 1)


def test_any_number_of_groups_fill_arrays_one_after_the_other():
    kernel = function("""
        def kernel(a, out):
            s = cuda.shared.array(2, int32)
            t = cuda.threadIdx.x
            for gap in range(1, 127):
                if t != gap:
                    s[gap // 100] = a[0]
                    out[t] += s[gap // 100]
                cuda.syncthreads()
                if t == gap and gap % 7 == 0:
                    out[t] += s[0]
                cuda.syncthreads()
    """)
    found = races(kernel, 1, 128, np.ones(1, np.int64), np.zeros(128, np.int64))
    assert {kind for kind, *_ in found.values()} == {"same value"}


def test_more_groups_at_once_than_are_told_apart_are_said_to_race():
    kernel = function("""
        def kernel(a, out):
            s = cuda.shared.array(100, int32)
            t = cuda.threadIdx.x
            for gap in range(1, 100):
                if t != gap:
                    s[gap] = a[0]
                    out[t] += s[gap]
    """)
    found = races(kernel, 1, 128, np.ones(1, np.int64), np.zeros(128, np.int64))
    assert found["s"][:2] == ("race", "error")  # said though it is none, and never the other way round
