"""What the figures of a trace say is counted from it: lanes, slots, levels; and a page of a lesson holds them."""

import re

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda.ladders.reduce.v01_interleaved import _reduce_v01
from course_lib.cuda.ladders.reduce.v02_sequential import _reduce_v02
from course_lib.cuda.ladders.reduce.v04_warp_shuffle import _reduce_v04
from course_lib.simt.trace.levels import levels_of
from course_lib.simt.trace.strip import counts, rows_of

from . import traced

MOST = 300_000


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def zeros(*shape):
    return np.zeros(shape, np.float32)


@pytest.fixture(scope="module")
def branching():
    return gpu.trace(traced.branches[1, 32], numbers(32), zeros(32))


@pytest.fixture(scope="module")
def reduction():
    return gpu.trace(traced.block_sum[1, 256], numbers(256), zeros(1), warp=None)


# ------------------------------------------------------------------------------------------------ the debugger


def test_a_page_holds_the_debugger_of_the_lessons_kernels(reduction):
    transposed = gpu.trace(traced.transposed[(2, 2), (32, 32)], numbers(64, 64), zeros(64, 64))
    one_warp = gpu.trace(traced.block_sum[2, 256], numbers(512), zeros(2))
    for trace in (transposed, one_warp, reduction):
        assert len(trace._repr_mimebundle_()["text/html"]) <= MOST


def test_the_picture_on_paper_is_the_step_that_tells_most(branching):
    racy = gpu.trace(traced.racy[1, 64], numbers(64), zeros(64))
    assert racy.steps[racy.telling].findings
    assert "Race: thread 0 of block 0 reads s[63]" in racy._repr_mimebundle_()["text/plain"]
    html = racy._repr_mimebundle_()["text/html"]
    assert "Race: thread 0 of block 0 reads s[63]" in html[html.index('alt="') : html.index("<script>")]
    assert branching.steps[branching.telling].text == "return"
    straight = gpu.trace(traced.outside[1, 32], numbers(32), zeros(32))
    assert straight.telling == len(straight) - 1


def test_a_trace_makes_the_same_page_every_time(branching):
    again = gpu.trace(traced.branches[1, 32], numbers(32), zeros(32))
    assert again._repr_mimebundle_() == branching._repr_mimebundle_()
    assert again.walk().html == branching.walk().html


def test_of_a_trace_that_no_page_holds_the_first_steps_are_shown():
    trace = gpu.trace(traced.many_numbers[1, 32], numbers(32) / 7, zeros(32))
    html = trace._repr_mimebundle_()["text/html"]
    shown, of = re.search(r"the first ([\d,]+) of ([\d,]+) steps", html).groups()
    assert (of, 100 < int(shown.replace(",", "")) < len(trace)) == (f"{len(trace):,}", True)
    assert len(html) <= 400_000


# ------------------------------------------------------------------------------------------------ the strip


def test_the_strip_counts_lines_and_idle_slots(branching):
    rows = rows_of(branching)
    assert [r["active"] for r in rows] == [int(s.active.sum()) for s in branching.steps]
    found = counts(rows)
    idle = sum(32 - int(s.active.sum()) for s in branching.steps)
    assert found == {
        "lines": len(branching), "full": 2, "partly": len(branching) - 2, "slots": 32 * len(branching), "idle": idle,
    }  # fmt: skip
    assert f"{idle} of {32 * len(branching)} lane slots idle" in branching.walk().static.caption


def test_the_strip_of_a_call_counts_its_line_once():
    trace = gpu.trace(traced.calls[1, 32], numbers(32), zeros(32))
    texts = [r["text"] for r in rows_of(trace)]
    assert texts.count("y = clipped(x[i])") == 1
    assert "clipped: return v" in texts


def test_a_strip_with_no_idle_lane_says_so():
    figure = gpu.trace(traced.outside[1, 32], numbers(32), zeros(32)).walk()
    assert figure.static.caption == (
        "2 executed lines; all lanes are active in each of them: 0 of 64 lane slots idle (0 %)."
    )


def test_a_long_strip_is_cut_on_paper_and_says_so():
    figure = gpu.trace(traced.long_loop[1, 32], zeros(1), steps=500).walk()
    assert "500 executed lines" in figure.static.caption
    assert "The first 48 are drawn." in figure.static.caption
    assert figure.data["more"] == 100


# ------------------------------------------------------------------------------------------------ the tree


def test_the_levels_of_a_reduction_are_those_of_its_text(reduction):
    name, filled, levels = levels_of(reduction)
    assert (name, filled) == ("s", set(range(256)))
    step = 128
    for level in levels:
        assert level.edges == {t: (t, (t, t + step)) for t in range(step)}
        assert not level.raced
        step //= 2
    assert [v.lanes for v in levels] == [128, 64, 32, 16, 8, 4, 2, 1]
    assert [v.warps for v in levels] == [4, 2, 1, 1, 1, 1, 1, 1]
    assert [v.split for v in levels] == [0, 0, 0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(("kernel", "warps", "split"), [(_reduce_v01, 47, 47), (_reduce_v02, 12, 5)])
def test_a_tree_says_how_often_a_warp_issues_its_addition(kernel, warps, split):
    figure = gpu.trace(kernel[1, 256], numbers(256), zeros(1), warp=None).tree()
    assert figure.static.caption == (
        f"8 levels, 255 operations: {warps} times a warp issues the instruction, {split} of them with idle lanes."
    )
    assert len(figure.html) <= MOST


def test_a_tree_without_its_barrier_is_marked():
    from numba import cuda, float32

    @gpu.jit
    def no_barrier(x, out):
        s = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        s[t] = x[t]
        cuda.syncthreads()
        if t < 32:
            s[t] += s[t + 32]
        if t < 16:
            s[t] += s[t + 16]
        cuda.syncthreads()
        if t == 0:
            out[0] = s[0]

    trace = gpu.trace(no_barrier[1, 64], numbers(64), zeros(1), warp=None)
    with pytest.raises(ValueError, match=r"lane 0 writes twice between two barriers"):
        trace.tree()


@pytest.mark.parametrize(("make", "message"), [
    (lambda: gpu.trace(traced.block_sum[1, 256], numbers(256), zeros(1)), r"follows 32 of the block's 256 threads"),
    (lambda: gpu.trace(traced.branches[1, 32], numbers(32), zeros(32)), r"branches uses no shared memory"),
    (lambda: gpu.trace(traced.racy[1, 64], numbers(64), zeros(64), warp=None), r"no lane reads two elements"),
    (lambda: gpu.trace(traced.scan[1, 64], numbers(64), zeros(64), warp=None), r"both read s\[\d+\]; in a tree"),
    (lambda: gpu.trace(_reduce_v04[1, 256], numbers(256), zeros(1), warp=None), r"is no reduction in shared memory"),
])  # fmt: skip
def test_what_is_no_tree_is_told(make, message):
    with pytest.raises(ValueError, match=message):
        make().tree()


def test_a_tree_of_an_array_that_is_none(reduction):
    with pytest.raises(ValueError, match="no shared array is called 'q'; there are s"):
        reduction.tree("q")
