"""What a launch costs, counted by hand: every counter of small kernels, line by line."""

from dataclasses import asdict

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import simt
from tests.simt.text import function


def counts(kernel, grid, block, *arguments, line=None, of=None, **options):
    """Return {counter: number} of a run, without zeros; of one line, or of all."""
    report = simt.run(kernel, grid, block, arguments, **options)
    counters = report.line(line, of).counters if line else report.total
    return {name: n for name, n in asdict(counters).items() if n}


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


# ------------------------------------------------------------------------------------ instructions, lanes, branches


def test_guard_of_40_threads_costs_by_warp():
    # 40 threads are a warp of 32 and one of 8. Line 3 compares and branches: 2 operations in 2 warps, 40 lanes each.
    # i < 35: warp 0 goes one way; warp 1 both (32 33 34, and 35 ... 39). Line 4, lanes 0 ... 34, 2 warps: a load, a
    # product and a store. Floats: 35 operations in float32. Sectors of 8 floats: 4 in warp 0, 1 in warp 1.
    kernel = function("""
        def kernel(a, out):
            i = cuda.grid(1)
            if i < 35:
                out[i] = a[i] * a.dtype.type(2)
    """)
    a, out = zeros(40), zeros(40)
    assert counts(kernel, 1, 40, a, out, line=2) == {}
    assert counts(kernel, 1, 40, a, out, line=3) == {
        "instructions": 4, "lanes": 80, "branches": 2, "divergent_branches": 1,
    }  # fmt: skip
    assert counts(kernel, 1, 40, a, out, line=4) == {
        "instructions": 6, "lanes": 105, "flops": 35,
        "global_load_requests": 2, "global_load_sectors": 5, "global_load_bytes": 140,
        "global_store_requests": 2, "global_store_sectors": 5, "global_store_bytes": 140,
    }  # fmt: skip


def test_warps_of_each_block_are_its_own():
    # 3 blocks of 33 threads: 6 warps, not the 4 that 99 threads in a row would be.
    kernel = function("def kernel(out):\n    i = cuda.grid(1)\n    out[i] = i + 1")
    got = counts(kernel, 3, 33, zeros(99), line=3)
    assert (got["instructions"], got["lanes"], got["global_store_requests"]) == (12, 198, 6)


def test_threads_of_a_block_of_two_axes_are_numbered_x_first():
    # Blocks of (8, 8): warp 0 has rows 0 to 3, so that x < 4 diverges in both warps and y < 4 in none.
    text = "def kernel():\n    if cuda.threadIdx.{} < 4:\n        pass"
    assert counts(function(text.format("x")), 1, (8, 8))["divergent_branches"] == 2
    assert "divergent_branches" not in counts(function(text.format("y")), 1, (8, 8))


def test_branch_that_all_threads_take_alike_is_no_divergent_one():
    kernel = function("def kernel(n):\n    if n > 3:\n        pass\n    else:\n        pass")
    assert counts(kernel, 2, 64, 5) == {"instructions": 8, "lanes": 256, "branches": 4}


def test_nested_branch_counts_the_warps_that_reach_it():
    # Two warps; i >= 32 is warp 1 alone, and its lanes differ in i < 40.
    kernel = function("""
        def kernel():
            i = cuda.grid(1)
            if i >= 32:
                if i < 40:
                    pass
    """)
    assert counts(kernel, 1, 64, line=3) == {"instructions": 4, "lanes": 128, "branches": 2}
    assert counts(kernel, 1, 64, line=4) == {
        "instructions": 2, "lanes": 64, "branches": 1, "divergent_branches": 1,
    }  # fmt: skip


def test_loop_with_its_own_number_of_turns_for_each_lane():
    # range(i) on 4 lanes: the loop is entered with 4, 3, 2, 1 lanes (at i lanes leave at turn i + 1), 4 branches; three
    # send some lanes on and some out, the last only out. The body: 3 + 2 + 1 lanes in 3 turns.
    kernel = function("""
        def kernel(out):
            i = cuda.grid(1)
            n = 0
            for k in range(i):
                n = n + k
            out[i] = n
    """)
    out = zeros(4, dtype=np.int64)
    assert counts(kernel, 1, 4, out, line=4) == {
        "instructions": 4, "lanes": 10, "branches": 4, "divergent_branches": 3,
    }  # fmt: skip
    assert counts(kernel, 1, 4, out, line=5) == {"instructions": 3, "lanes": 6}
    assert out.tolist() == [0, 0, 1, 3]


def test_while_counts_its_comparison_and_the_turn_that_ends_it():
    # k = 0, 1, 2 go on and 3 ends: 4 turns, each a comparison and a branch.
    kernel = function("def kernel():\n    k = 0\n    while k < 3:\n        k += 1")
    assert counts(kernel, 1, 32, line=3) == {"instructions": 8, "lanes": 256, "branches": 4}
    assert counts(kernel, 1, 32, line=4) == {"instructions": 3, "lanes": 96}


def test_lanes_that_continue_come_to_the_next_turn_and_those_that_broke_do_not():
    # Turn 0: 4 lanes; lane 0 breaks, lane 1 continues, lanes 2 and 3 add. Turn 1: lanes 1, 2, 3 come, and so on.
    kernel = function("""
        def kernel(out):
            i = cuda.grid(1)
            n = 0
            for k in range(2):
                if i == 0:
                    break
                if i == 1:
                    continue
                n += 1
            out[i] = n
    """)
    out = zeros(4, dtype=np.int64)
    assert counts(kernel, 1, 4, out, line=4)["lanes"] == 4 + 3 + 3  # the last turn, uniform, is the end
    assert counts(kernel, 1, 4, out, line=9)["lanes"] == 2 + 2
    assert out.tolist() == [0, 0, 2, 2]


@pytest.mark.parametrize(
    ("expression", "instructions", "lanes"),
    [
        ("i + 1 - 2", 2, 8), ("-i", 1, 4), ("min(i, 1, 2)", 2, 8), ("max(i, 1)", 1, 4), ("abs(i)", 1, 4),
        ("int32(i)", 0, 0), ("not i", 0, 0), ("i ** 2", 1, 4), ("pow(i, 2)", 1, 4), ("0 < i", 1, 4),
        ("0 < i < 2", 2, 4 + 3),  # three lanes have 0 < i
        ("i > 0 and i > 1", 2, 4 + 3), ("i > 0 or i > 1", 2, 4 + 1), ("1 if i > 0 else 2", 1, 4),
        ("(i + 1) if i > 1 else (i + 2 + 3)", 1 + 1 + 2, 4 + 2 + 2 * 2), ("math.sqrt(float32(i))", 1, 4),
        ("cuda.popc(int32(i))", 1, 4), ("~i", 1, 4), ("round(1.5)", 0, 0),
    ],
)  # fmt: skip
def test_operations_of_an_expression(expression, instructions, lanes):
    kernel = function(f"def kernel(out):\n    i = cuda.grid(1)\n    x = {expression}\n    out[i] = x")
    got = counts(kernel, 1, 4, zeros(4), line=3)
    assert (got.get("instructions", 0), got.get("lanes", 0)) == (instructions, lanes)


def test_conditional_expression_is_a_branch_only_where_lanes_may_differ():
    kernel = "def kernel(out, n):\n    i = cuda.grid(1)\n    x = 1 if {} > 0 else 2\n    out[i] = x"
    got = counts(function(kernel.format("i")), 1, 4, zeros(4), 1, line=3)
    assert (got["branches"], got["divergent_branches"]) == (1, 1)
    assert "branches" not in counts(function(kernel.format("n")), 1, 4, zeros(4), 1, line=3)


# ------------------------------------------------------------------------------------------- floating-point work


@pytest.mark.parametrize(
    ("expression", "flops", "half", "double"),
    [
        ("x * x + x", 2, 0, 0), ("x * 2.0", 1, 0, 1), ("h * h", 1, 1, 0), ("h * x", 1, 0, 0), ("d + d", 1, 0, 1),
        ("cuda.fma(x, x, x)", 2, 0, 0), ("cuda.fma(d, d, d)", 2, 0, 2), ("math.sqrt(x)", 1, 0, 0),
        ("math.exp(d)", 1, 0, 1), ("x ** x", 1, 0, 0), ("i + i", 0, 0, 0), ("i / i", 1, 0, 1), ("-x", 0, 0, 0),
        ("abs(x)", 0, 0, 0), ("math.floor(x)", 0, 0, 0), ("math.fabs(x)", 0, 0, 0), ("max(x, x)", 0, 0, 0),
        ("x < x", 0, 0, 0), ("math.isnan(x)", 0, 0, 0), ("math.copysign(x, x)", 0, 0, 0), ("float64(x)", 0, 0, 0),
        ("cuda.cbrt(x)", 1, 0, 0), ("math.pow(x, x)", 1, 0, 0),
    ],
)  # fmt: skip
def test_floating_point_operations_by_type(expression, flops, half, double):
    kernel = function(f"""
        def kernel(xs, hs, ds, out):
            i = cuda.grid(1)
            if i < 3:
                i, x, h, d = i + 1, xs[i], hs[i], ds[i]
                y = {expression}
                out[i] = y
    """)
    a = np.ones(5)
    got = counts(kernel, 1, 5, a.astype(np.float32), a.astype(np.float16), a, zeros(9, dtype=np.float64), line=5)
    got = tuple(got.get(f"{kind}flops", 0) for kind in ("", "float16_", "float64_"))
    assert got == (3 * flops, 3 * half, 3 * double)


# ------------------------------------------------------------------------------------------------- global memory


@pytest.mark.parametrize(
    ("dtype", "index", "sectors", "used"),
    [
        (np.float32, "i", 4, 128), (np.float32, "i + 1", 5, 128), (np.float32, "i * 2", 8, 128),
        (np.float32, "i * 8", 32, 128), (np.float32, "0", 1, 4), (np.float32, "i // 2", 2, 64),
        (np.float32, "31 - i", 4, 128), (np.float64, "i", 8, 256), (np.float64, "i * 4", 32, 256),
        (np.int8, "i", 1, 32), (np.int8, "i + 31", 2, 32), (np.float16, "i", 2, 64), (np.float16, "i + 9", 3, 64),
        (np.float32, "(i % 2) * 64 + i", 8, 128),  # even lanes in sectors 0 to 3, odd ones in 8 to 11
        (np.float32, "i % 2 * 8", 2, 8),  # lanes come back to an element that an earlier one has touched
    ],
)  # fmt: skip
def test_sectors_of_32_bytes_that_a_warp_touches(dtype, index, sectors, used):
    # Arrays begin at a multiple of 256 bytes: element k lies in sector k * itemsize // 32.
    read = function(f"def kernel(a, out):\n    i = cuda.grid(1)\n    x = a[{index}]")
    got = counts(read, 1, 32, zeros(256, dtype=dtype), zeros(1))
    assert got == {"instructions": got["instructions"], "lanes": got["lanes"], "global_load_requests": 1,
                   "global_load_sectors": sectors, "global_load_bytes": used}  # fmt: skip
    write = function(f"def kernel(a, out):\n    i = cuda.grid(1)\n    a[{index}] = 1")
    got = counts(write, 1, 32, zeros(256, dtype=dtype), zeros(1), races=False)
    assert got == {"instructions": got["instructions"], "lanes": got["lanes"], "global_store_requests": 1,
                   "global_store_sectors": sectors, "global_store_bytes": used}  # fmt: skip


def test_shares_and_efficiencies():
    # Every 2nd float32: 8 sectors for 128 bytes. 16 of 32 lanes store 64 bytes into 2 sectors, each used whole.
    kernel = function("def kernel(a, out):\n    i = cuda.grid(1)\n    out[i] = a[2 * i]")
    total = simt.run(kernel, 1, 16, (zeros(64), zeros(16))).total
    assert (total.load_efficiency, total.store_efficiency, total.active_share) == (0.5, 1.0, 0.5)
    nothing = simt.run(function("def kernel():\n    pass"), 1, 16, ()).total
    assert (nothing.load_efficiency, nothing.store_efficiency, nothing.active_share) == (1.0, 1.0, 1.0)


# ------------------------------------------------------------------------------------------------- shared memory


@pytest.mark.parametrize(
    ("dtype", "size", "index", "wavefronts", "conflicts"),
    [
        ("float32", 1024, "i", 1, 0), ("float32", 1024, "i * 2", 2, 1), ("float32", 1024, "i * 32", 32, 31),
        ("float32", 1024, "0", 1, 0), ("float32", 1024, "i % 4 * 32", 4, 3), ("float32", 1024, "i * 3", 1, 0),
        ("float64", 512, "i", 2, 0), ("float64", 512, "i * 2", 4, 2), ("float64", 512, "i * 16", 32, 30),
        ("float64", 512, "0", 2, 0), ("int8", 512, "i", 1, 0), ("int8", 512, "i * 4", 1, 0),
        ("float16", 512, "i", 1, 0), ("float16", 512, "i * 4", 2, 1),
    ],
)  # fmt: skip
def test_turns_of_shared_memory(dtype, size, index, wavefronts, conflicts):
    # 32 banks of 4 bytes: as many turns as different words in the busiest bank; 8-byte elements half a warp at a time.
    kernel = function(f"""
        def kernel():
            s = cuda.shared.array({size}, T)
            i = cuda.threadIdx.x
            s[{index}] = T(1)
            cuda.syncthreads()
            x = s[{index}]
    """, T=np.dtype(dtype))  # fmt: skip
    got = counts(kernel, 1, 32, races=False)
    for way in ("load", "store"):
        assert got[f"shared_{way}_requests"] == 1
        assert got[f"shared_{way}_wavefronts"] == wavefronts
        assert got.get(f"shared_{way}_conflicts", 0) == conflicts
    assert got["barriers"] == 1


def test_banks_of_a_block_do_not_depend_on_other_blocks():
    # Blocks have 33 elements each; lane i of any block lies in bank i + 1: no conflicts in the 3 requests of each way.
    kernel = function("""
        def kernel():
            s = cuda.shared.array(33, float32)
            i = cuda.threadIdx.x
            s[i + 1] = float32(1)
            x = s[i + 1]
    """)
    got = counts(kernel, 3, 32)
    assert (got["shared_load_requests"], got["shared_load_wavefronts"]) == (3, 3)
    assert not {"shared_load_conflicts", "shared_store_conflicts"} & set(got)


def test_words_of_a_block_begin_where_its_memory_begins():
    # Bytes 3 and 128 lie in words 0 and 32, both of bank 0: two turns in each block, though it has 129 bytes.
    kernel = function("""
        def kernel():
            s = cuda.shared.array(129, int8)
            s[3 + 125 * (cuda.threadIdx.x % 2)] = 1
    """)
    got = counts(kernel, 2, 32, races=False)
    assert (got["shared_store_requests"], got["shared_store_wavefronts"], got["shared_store_conflicts"]) == (2, 4, 2)


def test_second_shared_array_begins_at_a_multiple_of_16_bytes():
    # a takes 20 bytes, b begins at byte 32; together 32 + 16.
    kernel = function("""
        def kernel():
            a = cuda.shared.array(5, float32)
            b = cuda.shared.array(4, float32)
            i = cuda.threadIdx.x
            b[i] = a.dtype.type(1)
    """)
    report = simt.run(kernel, 2, 4, ())
    assert report.shared_bytes == 48
    assert report.accesses[0].address.tolist() == [32, 36, 40, 44]


# -------------------------------------------------------------------------------- atomics, constant, local, barriers


@pytest.mark.parametrize(
    ("index", "serialised"), [("0", 31 + 7), ("i", 0), ("i % 8", 3), ("i // 8", 7 + 7), ("i % 2 * 4", 15 + 3)]
)
def test_atomics_on_one_element_go_one_after_the_other(index, serialised):
    # A warp of 32 and one of 8: rounds beyond the first are the lanes of the busiest element less one, for each warp.
    kernel = function(f"def kernel(out):\n    i = cuda.grid(1)\n    cuda.atomic.add(out, {index}, 1)")
    got = counts(kernel, 1, 40, zeros(40, dtype=np.int32))
    assert (got["atomic_requests"], got.get("atomic_serialised", 0)) == (2, serialised)
    assert not [name for name in got if name.startswith(("global", "shared"))]


def test_atomics_of_shared_memory_of_two_blocks_do_not_meet():
    kernel = function("""
        def kernel():
            s = cuda.shared.array(2, int32)
            i = cuda.threadIdx.x
            if i < 2:
                s[i] = 0
            cuda.syncwarp()
            cuda.atomic.add(s, i % 2, 1)
    """)
    got = counts(kernel, 2, 4)
    assert (got["atomic_requests"], got["atomic_serialised"], got["warp_operations"]) == (2, 2, 2)


TABLE = np.arange(8, dtype=np.float32)


@pytest.mark.parametrize(("index", "wavefronts"), [("0", 2), ("i % 8", 16), ("i // 16", 4)])
def test_constant_memory_gives_one_address_at_a_time(index, wavefronts):
    kernel = function(f"""
        def kernel(out):
            c = cuda.const.array_like(TABLE)
            i = cuda.grid(1)
            out[i] = c[{index}]
    """, TABLE=TABLE)  # fmt: skip
    got = counts(kernel, 1, 64, zeros(64))
    assert (got["constant_load_requests"], got["constant_load_wavefronts"]) == (2, wavefronts)
    assert "global_load_requests" not in got


def test_local_arrays_and_barriers_and_warp_operations_count_warps():
    kernel = function("""
        def kernel(out):
            v = cuda.local.array(2, float32)
            i = cuda.grid(1)
            v[0] = float32(i)
            v[1] = v[0]
            cuda.syncthreads()
            x = cuda.shfl_sync(0xffffffff, i, 0)
            y = cuda.ballot_sync(0xffffffff, i > 3)
            n = cuda.syncthreads_count(i)
    """)
    got = counts(kernel, 3, 64, zeros(1))  # 6 warps
    assert (got["local_store_requests"], got["local_load_requests"]) == (12, 6)
    assert (got["barriers"], got["warp_operations"]) == (12, 12)


def test_barrier_that_one_block_reaches_counts_its_warps_only():
    kernel = function("def kernel():\n    if cuda.blockIdx.x == 1:\n        cuda.syncthreads()")
    assert counts(kernel, 3, 64)["barriers"] == 2


# ---------------------------------------------------------------------------------------------- device functions


@cuda.jit(device=True)
def _double(x):
    y = x + x
    return y


def test_device_function_has_lines_of_its_own_and_the_callers_line_goes_on():
    kernel = function("""
        def kernel(a):
            i = cuda.grid(1)
            if i < 3:
                a[i] = double(a[i]) * float32(3)
    """, double=_double)  # fmt: skip
    a = np.ones(40, np.float32)
    report = simt.run(kernel, 1, 40, (a,))
    inside = {line.number: line.counters for line in report.lines if line.function == "_double"}
    work = [c for c in inside.values() if c.instructions]
    assert [(c.instructions, c.lanes, c.flops) for c in work] == [(1, 3, 3)]
    # the caller: a load, a product, a store in one warp
    line = report.line(4).counters
    assert (line.instructions, line.lanes, line.flops) == (3, 9, 3)
    assert report.total.flops == 6
    assert [line.function for line in report.lines] == ["kernel"] * 4 + ["_double"] * len(inside)
    np.testing.assert_array_equal(a[:4], [6, 6, 6, 1])


# -------------------------------------------------------------------------------------------- uses, reuse, accesses


def test_use_of_an_array_counts_lanes_and_distinct_elements():
    kernel = function("""
        def kernel(a, b):
            i = cuda.grid(1)
            b[i % 4] = a[i // 2]
            cuda.atomic.add(b, 5, float32(1))
    """)
    report = simt.run(kernel, 2, 8, (zeros(10), zeros(8)), races=False)
    a, b = report.arrays["a"], report.arrays["b"]
    assert (a.loads, a.stores, a.distinct_loaded, a.distinct_stored, a.reuse) == (16, 0, 8, 0, 2.0)
    assert (b.loads, b.stores, b.distinct_loaded, b.distinct_stored, b.reuse) == (16, 32, 1, 5, 16.0)
    assert (a.name, a.space, a.dtype, a.shape) == ("a", "global", "float32", (10,))


def test_use_of_a_shared_array_adds_up_over_blocks_and_its_reuse_goes_by_stores():
    kernel = function("""
        def kernel():
            s = cuda.shared.array(8, float32)
            i = cuda.threadIdx.x
            s[i] = float32(1)
            cuda.syncthreads()
            x = s[0] + s[1] + s[i]
    """)
    use = simt.run(kernel, 3, 4, ()).arrays["s"]
    assert (use.loads, use.stores, use.distinct_loaded, use.distinct_stored) == (36, 12, 12, 12)
    assert (use.space, use.shape, use.reuse) == ("shared", (8,), 3.0)


T, K = 4, 3


def _convolution(N, P, M):
    tile = cuda.shared.array((6, 6), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.blockIdx.x * 4 + tx, cuda.blockIdx.y * 4 + ty
    if row < N.shape[0] and col < N.shape[1]:
        tile[ty, tx] = N[row, col]
    cuda.syncthreads()
    if tx < 4 and ty < 4:
        acc = float32(0)
        for y in range(3):
            for x in range(3):
                acc += M[y, x] * tile[ty + y, tx + x]
        P[row, col] = acc


def test_reuse_of_a_tiled_convolution_is_the_lectures_ratio():
    # H: each tile of T + K - 1 = 6 loads 36 elements, which K^2 T^2 = 144 products read: 4 times each.
    n = 8
    N, P = np.arange(100, dtype=np.float32).reshape(10, 10), zeros(n, n)
    report = simt.run(_convolution, (2, 2), (6, 6), (N, P, np.ones((3, 3), np.float32)))
    assert report.arrays["tile"].reuse == K**2 * T**2 / (T + K - 1) ** 2 == 4.0
    assert (report.arrays["N"].loads, report.arrays["N"].distinct_loaded) == (4 * 36, 100)
    assert (report.arrays["M"].loads, report.arrays["M"].reuse) == (n * n * 9, n * n)
    np.testing.assert_array_equal(P, sum(N[y : y + n, x : x + n] for y in range(3) for x in range(3)))


def test_access_says_what_the_first_block_touched_first():
    kernel = function("""
        def kernel(a, out):
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            for k in range(2):
                if x > 0:
                    out[y, x] = a[x, k + y]
    """)
    report = simt.run(kernel, 2, (3, 2), (np.asfortranarray(zeros(4, 5)), zeros(2, 3)), races=False)
    load, store = report.accesses
    # Threads 1, 2, 4 and 5, x fastest; a is (4, 5) in columns of 4: element x, y lies at x + 4 y.
    assert (load.way, load.array, load.space, load.line, load.shape, load.itemsize) == (
        "load", "a", "global", 5, (4, 5), 4,
    )  # fmt: skip
    assert (load.thread.tolist(), load.element.tolist()) == ([1, 2, 4, 5], [5, 10, 6, 11])
    assert (load.address[0] % 256, (load.address - load.address[0]).tolist()) == (4, [0, 4, 16, 20])
    assert (store.way, store.array, store.function, store.block) == ("store", "out", "kernel", (3, 2, 1))
    assert store.element.tolist() == [1, 2, 4, 5]
    # arrays begin at multiples of 256 bytes, with at least 256 bytes between them, in no order
    assert store.address[0] % 256 == 4
    assert abs(store.address[0] - load.address[0]) >= 256


def test_access_of_local_and_shared_arrays_of_one_place_is_kept_once():
    kernel = function("""
        def kernel(a):
            i = cuda.grid(1)
            for k in range(3):
                x = a[i] + a[i]
            cuda.atomic.add(a, i, 1)
    """)
    report = simt.run(kernel, 4, 2, (zeros(8),))
    assert [(x.line, x.way) for x in report.accesses] == [(4, "load"), (4, "load"), (5, "atomic")]
    assert [x.element.tolist() for x in report.accesses] == [[0, 1]] * 3


def test_access_that_the_first_block_does_not_do_is_not_kept():
    kernel = function("def kernel(a):\n    i = cuda.grid(1)\n    if i > 3:\n        a[i] = 1")
    assert simt.run(kernel, 2, 4, (zeros(8),)).accesses == []


# ---------------------------------------------------------------------------------------------------- how it is run

BUSY = """
    def kernel(a, out):
        s = cuda.shared.array(40, float32)
        i = cuda.grid(1)
        t = cuda.threadIdx.x
        v = cuda.local.array(2, float32)
        s[t] = a[i]
        cuda.syncthreads()
        for k in range(t % 3 + cuda.blockIdx.x):
            v[0] = s[(t * 2 + k) % 40]
            cuda.atomic.add(out, t % 5, v[0])
        x = cuda.shfl_sync(0xffffffff, a[i], 0)
"""


@pytest.mark.parametrize("lanes", [40, 41, 80, 120, 100_000])
def test_batches_of_any_number_of_blocks_cost_the_same(lanes, monkeypatch):
    kernel, a = function(BUSY), np.arange(200, dtype=np.float32)
    whole = simt.run(kernel, 5, 40, (a, zeros(5)))
    monkeypatch.setitem(simt.run.__globals__, "BATCH_LANES", lanes)
    parts = simt.run(kernel, 5, 40, (a, zeros(5)))
    assert parts.total == whole.total
    assert parts.arrays == whole.arrays
    assert [(x.line, x.thread.tolist(), x.element.tolist(), x.address.tolist()) for x in parts.accesses] == [
        (x.line, x.thread.tolist(), x.element.tolist(), x.address.tolist()) for x in whole.accesses
    ]
    assert parts.shared_bytes == whole.shared_bytes == 160


def test_without_counters_nothing_is_counted_and_hazards_are_found_all_the_same():
    kernel, a = function(BUSY), np.arange(200, dtype=np.float32)
    with_counters, without = zeros(5), zeros(5)
    simt.run(kernel, 5, 40, (a, with_counters))
    report = simt.run(kernel, 5, 40, (a, without), counters=False)
    assert not any(asdict(report.total).values())
    assert report.accesses == []
    assert all((u.loads, u.stores, u.distinct_loaded) == (0, 0, 0) for u in report.arrays.values())
    np.testing.assert_array_equal(without, with_counters)
    racy = function("def kernel(out):\n    out[0] = out[0] + 1")
    assert simt.run(racy, 1, 2, (zeros(1),), counters=False, on_error="collect").hazards[0].kind == "race"


def test_without_races_only_races_are_not_found():
    racy = function("def kernel(out):\n    i = cuda.grid(1)\n    out[0] = out[i] + 1")
    args = {"on_error": "collect", "races": False}
    assert [h.kind for h in simt.run(racy, 1, 3, (zeros(2),), **args).hazards] == ["out of bounds"]
    assert (
        simt.run(racy, 1, 2, (zeros(2),), **args).total == simt.run(racy, 1, 2, (zeros(2),), on_error="collect").total
    )


def test_line_of_a_report_without_such_a_line_is_a_key_error():
    report = simt.run(function("def kernel():\n    pass"), 1, 1, ())
    assert report.line(2).text == "    pass"
    for wrong in ((3,), (1, "other")):
        with pytest.raises(KeyError):
            report.line(*wrong)


def test_kernel_without_variables_and_arrays_runs():
    assert simt.run(function("def kernel():\n    pass"), (2, 3), 64, ()).hazards == []


# ------------------------------------------------------------------------------------------------------- the budget


@pytest.mark.parametrize(("steps", "fits"), [(8, True), (7, False)])
def test_budget_counts_statements_and_turns(steps, fits):
    # k = 0: 1. The for: 1, its turns 0 and 1 and the one that ends it: 3, their bodies: 2. k = 1: 1. Together 8.
    kernel = function("def kernel():\n    k = 0\n    for j in range(2):\n        k = j\n    k = 1")
    if fits:
        simt.run(kernel, 1, 32, (), steps=steps)
    else:
        with pytest.raises(simt.KernelError, match="does not come to an end"):
            simt.run(kernel, 1, 32, (), steps=steps)


def test_budget_counts_a_statement_of_more_than_1024_lanes_more_than_once():
    # 1,024 lanes and more: 1 + 1 steps for each of two statements; below, 1 each.
    kernel = function("def kernel():\n    k = 0\n    k = 1")
    simt.run(kernel, 1, 1023, (), steps=2)
    simt.run(kernel, 1, 1024, (), steps=4)
    with pytest.raises(simt.KernelError):
        simt.run(kernel, 1, 1024, (), steps=3)


def test_budget_is_each_batchs_and_all_batches_have_16_times_as_much(monkeypatch):
    monkeypatch.setitem(simt.run.__globals__, "BATCH_LANES", 1)
    kernel = function("def kernel():\n    k = 0\n    k = 1")
    simt.run(kernel, 16, 1, (), steps=2)
    with pytest.raises(simt.KernelError):
        simt.run(kernel, 17, 1, (), steps=2)
