"""A message asks "Did you mean ...?" for a slip of a word only, and never names another function."""

import numba
import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.misspelt import near, slips
from course_lib.simt.refusals import nearest, suggestion
from tests.cases import all_of
from tests.simt.text import function


@all_of(
    ("written", "meant"),
    [
        ("cuda.syncthread", "cuda.syncthreads"), ("cuda.sync_threads", "cuda.syncthreads"),
        ("cuda.__syncthreads", "cuda.syncthreads"), ("cuda.syncthraeds", "cuda.syncthreads"),
        ("cuda.SyncThreads", "cuda.syncthreads"), ("cuda.sync", "cuda.syncthreads"),
        ("cuda.sync_warp", "cuda.syncwarp"), ("cuda.barrier", "cuda.syncthreads"),
        ("cuda.treadIdx", "cuda.threadIdx"), ("cuda.threadidx", "cuda.threadIdx"), ("cuda.threadId", "cuda.threadIdx"),
        ("cuda.treadIdx.x", "cuda.threadIdx.x"), ("cuda.threadIdx.X", "cuda.threadIdx.x"),
        ("cuda.block_dim", "cuda.blockDim"), ("cuda.blokIdx", "cuda.blockIdx"), ("cuda.griddim", "cuda.gridDim"),
        ("cuda.grids", "cuda.grid"), ("cuda.grid_size", "cuda.gridsize"), ("cuda.lane_id", "cuda.laneid"),
        ("cuda.warp_size", "cuda.warpsize"), ("cuda.shard", "cuda.shared"), ("cuda.shard.array", "cuda.shared.array"),
        ("cuda.shared.arr", "cuda.shared.array"), ("cuda.shared.aray", "cuda.shared.array"),
        ("cuda.shared.zeros", "cuda.shared.array"), ("cuda.locale.array", "cuda.local.array"),
        ("cuda.atomics.add", "cuda.atomic.add"), ("cuda.atomic.sum", "cuda.atomic.add"),
        ("cuda.atomic.plus", "cuda.atomic.add"), ("cuda.atomic.ad", "cuda.atomic.add"),
        ("cuda.atomic.addd", "cuda.atomic.add"),
        ("cuda.atomic.exchange", "cuda.atomic.exch"), ("cuda.atomic.or", "cuda.atomic.or_"),
        ("cuda.atomic.maximum", "cuda.atomic.max"), ("cuda.atomic.mul", None), ("cuda.atomic.div", None),
        ("cuda.shfl_down", "cuda.shfl_down_sync"), ("cuda.ballot", "cuda.ballot_sync"),
        ("cuda.popcount", "cuda.popc"), ("math.sqr", "math.sqrt"), ("math.sqtr", "math.sqrt"), ("math.sqroot", None),
        ("math.exxp", "math.exp"), ("math.sinn", "math.sin"), ("math.flor", "math.floor"), ("math.ciel", "math.ceil"),
        ("math.ln", "math.log"), ("math.absolute", "math.fabs"), ("math.isnana", "math.isnan"),
        ("np.float", "np.float64"), ("np.int", "np.int64"), ("np.flaot32", "np.float32"),
        ("np.Float32", "np.float32"),
        ("np.unit8", "np.uint8"), ("numba.int", "numba.int64"), ("numba.flot32", "numba.float32"),
    ],
)  # fmt: skip
def test_a_slip_is_understood(written, meant):
    assert suggestion(written) == (f" Did you mean {meant}?" if meant else "")


@all_of(
    "written",
    [
        "math.frexp", "math.ldexp", "math.modf", "math.remainder", "math.comb", "math.gcd", "math.dist", "math.cbrt",
        "math.asinh", "math.acosh", "math.atanh", "math.ulp", "math.fsum", "math.prod", "math.nextafter", "math.isqrt",
        "math.sec", "math.cot", "math.relu", "math.sigmoid", "math.foo", "cuda.foo", "cuda.stream", "cuda.to_device",
        "cuda.event", "cuda.atomic.foo", "cuda.shared.foo", "numba.types.foo", "numba.njit", "numba.prange",
        "numba.typed", "cuda.jit", "cuda.reduce", "cuda.shared.array.foo", "cuda.x", "math.tn", "math.lo",
    ],
)  # fmt: skip
def test_another_function_or_no_word_at_all_is_never_suggested(written):
    assert "Did you mean" not in suggestion(written)


def test_words_that_exist_elsewhere_are_named_there():
    assert suggestion("np.sqrt") == " Write math.sqrt."
    assert suggestion("cuda.sqrt") == " Write math.sqrt."
    assert suggestion("cuda.threadIdx.w") == " cuda.threadIdx has x, y and z."
    assert suggestion("np.cumsum") == " Write the loop, element by element."
    assert suggestion("np.zeros") == " For a thread's own numbers take cuda.local.array(3, float32)."


@pytest.mark.parametrize(
    ("name", "names", "meant"),
    [
        ("tid", {"tx", "ty", "bid", "i", "out"}, None), ("row", {"col", "raw"}, None),
        ("colum", {"column"}, "column"),
        ("Row", {"row", "col"}, "row"), ("n_rows", {"nrows"}, "nrows"), ("totl", {"total"}, "total"),
        ("acc1", {"acc2", "acc3"}, None), ("acc", {"accumulator"}, None), ("x", {"y", "z"}, None), ("n", {"N"}, "N"),
        ("a1", {"a2"}, None), ("sums", {"sum", "i"}, "sum"), ("wieght", {"weight"}, "weight"),
        ("tile_a", {"tile_b"}, None),
        ("weights", {"heights"}, None), ("output", {"input"}, None), ("foo", set(), None), ("i", {"j", "k"}, None),
        ("As", {"Bs"}, None), ("inputs", {"input"}, "input"), ("dinput", {"input"}, None), ("x_grad", {"y_grad"}, None),
    ],
)  # fmt: skip
def test_a_variable_is_suggested_for_a_slip_of_its_name_only(name, names, meant):
    assert near(name, names) == meant
    assert nearest(name, names) == (f" Did you mean {meant}?" if meant else "")


def test_two_that_are_equally_near_are_neither():
    assert near("colums", {"columns", "column"}) is None
    assert near("matrx", {"matrix", "matrox"}) is None


@pytest.mark.parametrize(
    ("a", "b", "count"),
    [("", "", 0), ("ab", "ba", 1), ("abc", "abd", 1), ("abc", "ab", 1), ("abcd", "badc", 2), ("kitten", "sitting", 3)],
)
def test_slips_are_counted_as_damerau_does(a, b, count):
    assert slips(a, b) == slips(b, a) == count


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("out[0] = math.sqr(x)", "math.sqr is not among the words of a kernel here. Did you mean math.sqrt?"),
        ("cuda.synchthreads()", "Did you mean cuda.syncthreads?"),
        (
            "s = cuda.shard.array(32, float32)",
            "cuda.shard is not among the words of a kernel here. Did you mean cuda.shared?",
        ),
        ("out[cuda.treadIdx.x] = x", "Did you mean cuda.threadIdx?"),
        (
            "value = x\n    out[0] = vlaue",
            "vlaue is not defined, neither in the kernel nor outside of it. Did you mean value?",
        ),
        ("syncthreads()", "neither in the kernel nor outside of it. Write cuda.syncthreads."),
        ("out[threadIdx.x] = x", "Write cuda.threadIdx."),
        ("out[0] = sqrt(x)", "Write math.sqrt."),
        ("for k in rnage(3):\n        out[0] = x", "Did you mean range?"),
        ("out[0] = out.shpae[0]", "has no shpae in a kernel. Did you mean shape?"),
        ("out[0] = out.cumprod()", "has no cumprod in a kernel. Write the loop, element by element."),
        ("out[tid] = x", "tid is not defined, neither in the kernel nor outside of it."),
    ],
)  # fmt: skip
def test_a_kernel_is_told(body, said):
    kernel = function(f"def kernel(out, x):\n    {body}")
    with pytest.raises(simt.KernelError) as raised:
        simt.run(kernel, 1, 1, (np.zeros(1), np.float64(2)))
    assert said in str(raised.value)
    if "tid" in said:
        assert "Did you mean" not in str(raised.value)


def test_a_very_long_name_is_not_compared():
    assert near("x" * 41, {"x" * 40 + "y"}) is None
    assert near("total", {"totals" * 10_000, "totall"}) == "totall"


def test_prange_of_a_kernel_is_told_how_threads_share_a_loop():
    kernel = function("def kernel(a):\n    for i in prange(3):\n        a[i] = 1", prange=numba.prange)
    with pytest.raises(simt.KernelError, match=r"line 2: prange .* by cuda.grid: use range"):
        simt.run(kernel, 1, 1, (np.zeros(3),))
