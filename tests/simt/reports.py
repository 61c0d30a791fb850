"""Reports and single accesses for the tests of how a report is shown."""

from types import SimpleNamespace

import numpy as np

from course_lib import simt
from tests.simt import kernels

EXTRA = ["constant_load_requests", "constant_load_wavefronts", "local_load_requests", "local_store_requests", "atomic_requests", "atomic_serialised", "shuffles", "float16_flops", "float32_flops"]


class C:
    def __init__(self, c):
        self.__dict__.update({k: 0 for k in EXTRA}, **vars(c))
        self.active_share, self.load_efficiency = c.active_share, c.load_efficiency


def run(kernel, grid, block, arguments, **options):
    r = simt.run(kernel, grid, block, arguments, on_error="collect")
    from course_lib.simt.counters import Counters
    lines = [SimpleNamespace(function=r.kernel, number=n, text=t, counters=C(r.counters.get(n, Counters()))) for n, t in r.text.items()]
    for h in r.hazards:
        h.function = r.kernel
    arrays = {n: SimpleNamespace(name=n, space="global", dtype="float32", shape=a.shape, loads=100, stores=0, distinct_loaded=50, distinct_stored=0, reuse=2.0) for n, a in zip("ABC", arguments)}
    return SimpleNamespace(kernel=r.kernel, grid=r.grid, block=r.block, shared_bytes=options.get("shared_bytes", 0), lines=lines,
        total=C(r.total), arrays=arrays, accesses=options.get("accesses", []), hazards=r.hazards, advice=[], device="H200", function_lines=None)


def product(kernel=kernels.product_naive, n=128):
    rng = np.random.default_rng(n)
    A, B = (rng.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(2))
    C_ = np.full((n, n), np.nan, np.float32)
    return run(kernel, (n // 16, n // 16), (16, 16), (A, B, C_))


def access(array, shape, element, *, itemsize=4, space="global", way="load", line=7, base=256, thread=None, strides=None):
    """Return what one access of a block's threads touched: element (L,) is each thread's row-major element number."""
    element = np.asarray(element, np.int64)
    thread = np.arange(element.size) if thread is None else np.asarray(thread)
    index = np.unravel_index(element, shape)
    if strides is None:
        address = element * itemsize
    else:
        address = sum(i * s for i, s in zip(index, strides, strict=True))
    return SimpleNamespace(
        function="kernel", line=line, column=4, array=array, space=space, way=way, shape=tuple(shape),
        itemsize=itemsize, address=base * (space == "global") + address, thread=thread, element=element, block=(0, 0, 0),
    )


def report_with(*accesses, text="out[i] = a[i]"):
    """Return the part of a report that a memory map reads."""
    numbers = sorted({a.line for a in accesses})
    lines = [SimpleNamespace(function="kernel", number=n, text=f"    {text}", counters=None) for n in numbers]
    return SimpleNamespace(kernel="kernel", lines=lines, accesses=list(accesses), block=(32, 1, 1))


def transpose(kernel=kernels.transpose_tile):
    A = np.arange(128 * 128, dtype=np.float32).reshape(128, 128)
    return run(kernel, (4, 4), (32, 32), (A, np.full_like(A, np.nan)))


def vectors(n):
    """Return (a, out) (n,) float32."""
    return np.arange(n, dtype=np.float32), np.full(n, np.nan, np.float32)


def with_hazards(report, hazards):
    """Return a copy of a report with other hazards."""
    import copy
    other = copy.copy(report)
    other.hazards = hazards
    return other


def lines_with_work(instructions):
    """Return lines of a kernel with so many instructions each."""
    return [SimpleNamespace(function="kernel", number=n, text="x", counters=SimpleNamespace(instructions=k)) for n, k in enumerate(instructions, 1)]


def hazard(**fields):
    """Return a finding."""
    from course_lib.simt import Hazard
    return Hazard("race", 3, "message", "fix", **fields)
