"""A trace says what every lane did: compared with a plain Python loop over threads, and with runs without a trace."""

import numpy as np
import pytest

from course_lib import gpu, simt
from course_lib.simt.arrays import DeviceArray
from course_lib.simt.source import source_of
from course_lib.simt.trace.lane_states import DONE, EXITED, LEFT, NEXT, SKIPS

from . import traced


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def zeros(*shape):
    return np.zeros(shape, np.float32)


def line_of(kernel, text):
    """Return the number of the first line of a kernel that has this text."""
    lines = source_of(kernel).lines
    return next(n for n, its in sorted(lines.items()) if text in its)


def steps_at(trace, text):
    return [s for s in trace.steps if text in s.text]


@pytest.fixture(scope="module")
def branching():
    return gpu.trace(traced.branches[1, 32], numbers(32), zeros(32))


# ------------------------------------------------------------------------------------------------ who is active


def test_active_lanes_are_those_of_a_loop_over_threads(branching):
    active = {s.text: [] for s in branching.steps}
    for s in branching.steps:
        active[s.text].append(s.active)
    lanes = np.arange(32)
    assert (active["if t >= 30:"][0]).all()
    np.testing.assert_array_equal(active["return"][0], lanes >= 30)
    alive = lanes < 30
    for turn, found in enumerate(active["acc += x[k]"]):
        np.testing.assert_array_equal(found, alive & (lanes % 3 > turn))
    assert len(active["acc += x[k]"]) == 2
    assert len(active["for k in range(t % 3):"]) == 3
    trips = np.where(alive, np.maximum(0, -(-(lanes - 20) // 4)), 0)
    assert len(active["n -= 4"]) == trips.max()
    for turn, found in enumerate(active["n -= 4"]):
        np.testing.assert_array_equal(found, alive & (trips > turn))
    np.testing.assert_array_equal(active["out[t] = acc"][0], alive & (lanes % 2 == 0))
    np.testing.assert_array_equal(active["out[t] = -acc - n"][0], alive & (lanes % 2 == 1))


def test_the_others_are_said_to_wait_or_to_be_gone(branching):
    (returned,) = steps_at(branching, "return")
    assert returned.states == SKIPS * 30 + "aa"
    (yes,) = [s for s in branching.steps if s.text == "out[t] = acc"]
    assert yes.states == "".join(EXITED if t >= 30 else "a" if t % 2 == 0 else NEXT for t in range(32))
    (no,) = steps_at(branching, "out[t] = -acc")
    assert no.states == "".join(EXITED if t >= 30 else "a" if t % 2 else DONE for t in range(32))
    second = steps_at(branching, "acc += x[k]")[1]
    assert second.states == "".join(EXITED if t >= 30 else "a" if t % 3 == 2 else LEFT for t in range(32))


def test_the_test_of_an_if_says_who_goes_in(branching):
    (step,) = steps_at(branching, "if t % 2")
    np.testing.assert_array_equal(step.taken, (np.arange(32) < 30) & (np.arange(32) % 2 == 0))
    assert "15 go in, 15 do not" in step.words
    assert "15 wait for the other side of the if" in branching.steps[step.number + 1].words


def test_a_block_that_is_no_whole_warp_has_lanes_without_threads():
    trace = gpu.trace(traced.calls[2, 40], numbers(80), zeros(80), block=1, warp=1)
    assert trace.steps[0].states == "a" * 8 + "-" * 24
    assert "all 8 lanes active" in trace.steps[0].words
    np.testing.assert_array_equal(trace.steps[-1].variables["i"].compressed(), np.arange(72, 80))


# ------------------------------------------------------------------------------------------------ what they hold


def in_plain_python(x):
    """Return {lane: (acc, n, out)} of `traced.branches`, thread by thread."""
    found = {}
    for t in range(30):
        acc = np.float32(0)
        for k in range(t % 3):
            acc += x[k]
        n = t
        while n > 20:
            n -= 4
        found[t] = acc, n, acc if t % 2 == 0 else -acc - n
    return found


def test_variables_are_those_of_a_loop_over_threads(branching):
    want, last = in_plain_python(numbers(32)), branching.steps[-1].variables
    np.testing.assert_array_equal(last["t"], np.arange(32))
    for t, (acc, n, _) in want.items():
        assert last["acc"][t] == acc
        assert last["n"][t] == n
    assert np.ma.getmaskarray(last["acc"]).tolist() == [False] * 30 + [True] * 2
    assert last["acc"].dtype == np.float32
    written = {
        lane: value for s in branching.steps for a in s.accesses if a.array == "out"
        for lane, value in zip(a.lanes, a.values, strict=True)
    }  # fmt: skip
    assert written == {t: out for t, (_, _, out) in want.items()}


def test_a_variable_that_only_some_lanes_have_is_masked_in_the_others(branching):
    k = steps_at(branching, "acc += x[k]")[0].variables["k"]
    np.testing.assert_array_equal(~np.ma.getmaskarray(k), (np.arange(32) < 30) & (np.arange(32) % 3 > 0))


def test_a_variable_of_all_lanes_is_one_number_and_a_change_is_marked():
    trace = gpu.trace(traced.transposed[(2, 2), (32, 32)], numbers(64, 64), zeros(64, 64), block=(1, 0), warp=3)
    step = steps_at(trace, "top, left =")[0]
    assert (step.variables["R"], step.variables["top"], step.variables["left"]) == (64, 0, 32)
    assert set(step.changed) == {"top", "left"}
    assert steps_at(trace, "tx, ty =")[0].variables["ty"] == 3


def test_small_local_arrays_are_lists_and_show_what_nobody_wrote():
    trace = gpu.trace(traced.small_arrays[1, 32], numbers(32), zeros(32))
    second = steps_at(trace, "v[k] =")[1].variables["v"]
    assert second[5].tolist() == [0, 5, None, None]
    assert trace.steps[-1].variables["v"][5].tolist() == [0, 5, 10, 15]


def test_lines_of_a_device_function_come_with_its_name_and_its_variables():
    trace = gpu.trace(traced.calls[1, 32], numbers(32), zeros(32))
    inside = [s for s in trace.steps if s.function == "clipped"]
    assert [s.text for s in inside] == ["if v > 10:", "return float32(10)", "return v"]
    np.testing.assert_array_equal(inside[0].variables["v"], np.arange(32))
    assert "y" not in inside[0].variables
    np.testing.assert_array_equal(inside[1].active, np.arange(32) > 10)
    assert "21 have returned from the function" in inside[2].words
    call = next(s for s in trace.steps if s.kind == "call")
    assert (call.line, call.number) == (line_of(traced.calls, "clipped(x[i])"), inside[0].number - 1)
    np.testing.assert_array_equal(trace.steps[-1].variables["y"], np.minimum(np.arange(32), 10))


# ------------------------------------------------------------------------------------------------ what they touch


@pytest.fixture(scope="module")
def transpose():
    return gpu.trace(traced.transposed[(2, 2), (32, 32)], numbers(64, 64), zeros(64, 64), block=(1, 0), warp=3)


def test_accesses_have_the_element_and_the_number_of_each_lane(transpose):
    x = numbers(64, 64)
    read, written = steps_at(transpose, "tile[ty, tx] =")[0].accesses
    assert (read.array, read.space, read.way, read.cost) == ("x", "global", "load", 4)
    assert read.index == tuple((3, 32 + t) for t in range(32))
    assert read.values == tuple(x[3, 32 + t] for t in range(32))
    assert (written.array, written.space, written.way, written.cost) == ("tile", "shared", "store", 1)
    assert written.index == tuple((3, t) for t in range(32))
    column, out = steps_at(transpose, "= tile[tx, ty]")[0].accesses
    assert column.index == tuple((t, 3) for t in range(32))
    assert column.cost == 32
    assert "31 bank conflicts" in transpose.steps[-1].words
    assert out.index == tuple((32 + 3, t) for t in range(32))
    assert out.values == tuple(x[t, 32 + 3] for t in range(32))


def test_shared_memory_is_the_whole_blocks_with_the_thread_that_wrote(transpose):
    (step,) = steps_at(transpose, "tile[ty, tx] =")
    assert len(step.shared["tile"]) == 1024
    assert step.shared["tile"][5, 7] == (numbers(64, 64)[5, 32 + 7], 5 * 32 + 7)
    assert all(not s.shared for s in transpose.steps if s is not step)


def test_atomic_operations_show_the_old_number():
    trace = gpu.trace(traced.counted[1, 32], numbers(32) - 29, zeros(1))
    (step,) = steps_at(trace, "cuda.atomic.add")
    (access,) = step.accesses
    assert (access.way, access.lanes, access.values) == ("atomic", (30, 31), (0, 1))
    assert step.shared["n"][0,] == (2, 31)


def test_a_barrier_is_said_to_be_one(transpose):
    (step,) = steps_at(transpose, "syncthreads")
    assert (step.barrier, step.states, step.active.all()) == ("block", "b" * 32, True)


# ------------------------------------------------------------------------------------------------ what is wrong


def test_a_race_is_at_the_step_of_the_second_access():
    trace = gpu.trace(traced.racy[1, 64], numbers(64), zeros(64), warp=0)
    line = line_of(traced.racy, "s[63 - t]")
    assert [(s.line, f.kind, f.line) for s in trace.steps for f in s.findings] == [(line, "race", line)]
    (finding,) = trace.findings
    assert (finding.array, finding.lane, finding.other) == ("s", 0, None)  # thread 63 is another warp's
    assert gpu.trace(traced.racy[1, 64], numbers(64), zeros(64), warp=None).findings[0].other == 63
    assert trace.telling == trace.steps[-1].number
    assert "Race: thread 0 of block 0 reads s[63]" in str(trace)


def test_a_barrier_in_a_branch_is_found_where_it_stands():
    trace = gpu.trace(traced.late[1, 64], numbers(64), zeros(64), warp=1)
    step = next(s for s in trace.steps if s.findings)
    assert (step.text, step.findings[0].kind) == ("cuda.syncthreads()", "barrier not reached")
    assert step.states == "b" * 8 + SKIPS * 24


def test_a_finding_where_the_warp_is_not_active_is_a_step_without_lanes():
    trace = gpu.trace(traced.outside[1, 64], numbers(40), zeros(40), warp=0)
    assert trace.findings[0].lane is None  # thread 40 is of warp 1
    both = gpu.trace(traced.outside[1, 64], numbers(40), zeros(40), warp=1)
    assert both.findings[0].lane == 8


def test_a_kernel_error_is_what_the_last_step_says():
    trace = gpu.trace(traced.stuck[1, 32], zeros(32))
    assert not trace.complete
    assert trace.steps[-1].text.startswith("while out[0] == 0")
    assert "does not come to an end" in trace.steps[-1].findings[-1].message
    assert trace.steps[-1].active.all()


def test_a_kernel_that_cannot_run_is_a_trace_of_one_step():
    @gpu.jit
    def nonsense(out):
        out[0] = undefined_name  # noqa: F821

    trace = gpu.trace(nonsense[1, 32], zeros(1))
    assert len(trace) == 1
    assert "undefined_name is not defined" in trace.steps[0].words
    assert trace._repr_mimebundle_()["text/html"]


def test_a_trace_that_is_too_long_ends_with_what_to_do():
    trace = gpu.trace(traced.endless[1, 32], zeros(1), steps=50)
    assert (len(trace), trace.complete) == (50, False)
    assert "50 steps are kept. Take a smaller input" in trace.steps[-1].findings[-1].message
    assert len(gpu.trace(traced.endless[1, 32], zeros(1))) == 2000


def test_loops_of_one_thread_are_walked_and_not_compiled():
    trace = gpu.trace(traced.long_loop[1, 1], zeros(1), steps=1500)
    assert len(steps_at(trace, "acc += k")) > 700


# ------------------------------------------------------------------------------------------------ the run itself

RUNS = {
    "transposed": ((2, 2), (32, 32), (numbers(64, 64), zeros(64, 64))),
    "branches": (1, 32, (numbers(32), zeros(32))),
    "calls": (3, 40, (numbers(120), zeros(120))),
    "racy": (1, 64, (numbers(64), zeros(64))),
    "block_sum": (3, 256, (numbers(700), zeros(3))),
    "scan": (1, 64, (numbers(64), zeros(64))),
    "counted": (1, 64, (numbers(64) - 30, zeros(1))),
    "small_arrays": (1, 32, (numbers(32), zeros(32))),
}


@pytest.mark.parametrize("name", RUNS)
def test_results_and_report_are_the_same_with_a_recorder_and_without(name):
    from course_lib.simt.trace.recorder import Recorder

    grid, block, arguments = RUNS[name]
    found = []
    for recorder in (None, Recorder(0, 0, 1, 2000)):
        arrays = tuple(DeviceArray.copy_of(a) for a in arguments)
        report = simt.run(getattr(traced, name), grid, block, arrays, on_error="collect", recorder=recorder)
        found.append((report.to_dict(), [a.copy_to_host() for a in arrays]))
    assert found[0][0] == found[1][0]
    for plain, watched in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_array_equal(plain, watched)


def test_arguments_stay_as_they_are():
    x, out = numbers(32), zeros(32)
    gpu.trace(traced.branches[1, 32], x, out)
    np.testing.assert_array_equal(out, zeros(32))
    there = gpu.to_device(out)
    gpu.trace(traced.branches[1, 32], gpu.to_device(x), there)
    np.testing.assert_array_equal(gpu.to_host(there), zeros(32))


def test_a_block_of_a_later_batch_is_followed_too():
    blocks = 70_000 // 32
    trace = gpu.trace(traced.outside[blocks, 32], numbers(blocks * 32), zeros(blocks * 32), block=blocks - 1)
    np.testing.assert_array_equal(trace.steps[-1].variables["i"], np.arange(32) + 32 * (blocks - 1))
    assert trace.complete


def test_all_warps_of_a_block():
    trace = gpu.trace(traced.block_sum[2, 256], numbers(512), zeros(2), block=1, warp=None)
    assert trace.warps == tuple(range(8))
    assert trace.steps[-1].active.tolist() == [True] + [False] * 255
    assert trace.steps[-1].accesses[-1].values == (numbers(512)[256:].sum(),)


def test_watched_variables_come_first_and_exist(branching):
    assert branching.watch("acc", "t").watched == ("acc", "t")
    with pytest.raises(ValueError, match="no variable of this trace is called 'accu'; there are t, acc, k, n"):
        branching.watch("accu")


@pytest.mark.parametrize(("launch", "named", "message"), [
    (lambda: traced.calls, {}, "A kernel alone does not say how many threads"),
    (lambda: 3, {}, "its first argument is a launch"),
    (lambda: traced.calls[2, 64], {"block": 2}, "has blocks 0 to 1"),
    (lambda: traced.calls[2, 64], {"block": (0, 1)}, "the grid is"),
    (lambda: traced.calls[2, 64], {"block": "a"}, "it must be a number, or"),
    (lambda: traced.calls[2, 64], {"warp": 2}, "has warps 0 to 1"),
    (lambda: traced.calls[2, 64], {"warp": 1.0}, "must be a whole number"),
    (lambda: traced.calls[2, 512], {"warp": None}, "follows at most 8"),
    (lambda: traced.calls[2, 64], {"steps": 0}, "must be a whole number >= 1"),
])  # fmt: skip
def test_what_cannot_be_followed_is_said(launch, named, message):
    with pytest.raises((TypeError, ValueError), match=message):
        gpu.trace(launch(), numbers(128), zeros(128), **named)


@pytest.mark.filterwarnings("ignore:(?s).*Grid size")  # codes of colours may stand before it
def test_numbas_own_launches_are_taken_as_well():
    numba_cuda = pytest.importorskip("numba.cuda")
    kernel = numba_cuda.jit(traced.calls.py_func)
    try:
        launch = kernel[1, 32]
    except Exception as error:  # without a driver some versions ask for one here
        pytest.skip(f"Numba makes no launch without a GPU: {error}")
    assert gpu.trace(launch, numbers(32), zeros(32)).kernel == "calls"
