"""Small kernels with known faults and virtues, compiled in a process of its own: `python -m tests.gates.samples`."""

import json

from tests.gates.compiler import use_compiler

use_compiler()

import numpy as np  # noqa: E402
from numba import cuda, float32  # noqa: E402

from course_lib import gpu  # noqa: E402
from course_lib.cuda.compile_report import compile_launch, launches_of, types_of  # noqa: E402
from course_lib.cuda.intrinsics import (  # noqa: E402
    cp_async4,
    ld4,
    mma_bf16,
    mma_fp16,
    mma_tf32,
    st4,
    to_bf16_pair,
    to_fp16_pair,
    to_tf32,
)
from course_lib.cuda.unroll import unroll  # noqa: E402

N = 64


@gpu.jit(device=True)
def twice(x):
    return x + x


@gpu.jit
def right(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = twice(x[i])


@gpu.jit
def float64_literal(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * 0.1


@gpu.jit
def wide(x, y):
    i = 4 * cuda.grid(1)
    if i < x.size:
        a, b, c, d = ld4(x, i)
        st4(y, i, d, c, b, a)


@gpu.jit(max_registers=16)
def too_few_registers(x, y):
    t = cuda.local.array(32, float32)
    for k in unroll(32):
        t[k] = x[cuda.threadIdx.x + 32 * k]
    cuda.syncthreads()
    total = float32(0)
    for k in unroll(32):
        total += t[k] * t[31 - k]
        y[cuda.threadIdx.x + 32 * k] = t[k] - t[(k + 5) % 32]
    y[cuda.threadIdx.x] = total


@gpu.jit
def nested_loops(x, y):
    i = cuda.grid(1)
    total = float32(0)
    n = x.size
    for j in range(n):
        for k in unroll(16):
            total += x[(j + k) % N] * y[(j + 3 * k) % N]
        for k in range(j):
            y[k] = x[k] + total
    y[i] = total


@gpu.jit(launch_bounds=(256, 2))
def shared(x, y):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[255 - t]


@gpu.jit
def needs_8_0(x, y):
    s = cuda.shared.array(32, float32)
    cp_async4(s, cuda.threadIdx.x, x, cuda.threadIdx.x)
    y[0] = s[0]


@gpu.jit
def takes_float64(a, x, y):
    y[0] = x[0] * a


def warp_product(mma, convert):
    """Return a kernel in which a warp multiplies what `convert` makes of x."""

    @gpu.jit
    def product(x, y):
        t = cuda.threadIdx.x
        a = (convert(x[t], x[t + 1]), convert(x[t + 2], x[t]), convert(x[t + 3], x[t]), convert(x[t + 4], x[t]))
        d = mma(a, (convert(x[t + 5], x[t]), convert(x[t + 6], x[t])), (x[t], x[t + 1], x[t + 2], x[t + 3]))
        y[t], y[t + 32], y[t + 64], y[t + 96] = d

    return product


@gpu.jit(device=True)
def first_to_tf32(x, y):
    return to_tf32(x + y)


TENSOR = {"tf32": (mma_tf32, first_to_tf32), "fp16": (mma_fp16, to_fp16_pair), "bf16": (mma_bf16, to_bf16_pair)}


def of_tensor_cores(x, y):
    """Return {format: {card: instructions of its SASS, or why there are none}}."""
    found = {}
    for name, (mma, convert) in TENSOR.items():
        kernel = warp_product(mma, convert)
        (launch,) = launches_of(lambda k=kernel: k[1, 32](x, y))
        for cc in ((7, 5), (8, 0), (9, 0)):
            try:
                report = compile_launch(launch, cc)
                found[f"{name} {cc}"] = sorted({w.strip(";") for w in report.sass.split() if w.startswith(SEEN)})
            except RuntimeError as error:
                found[f"{name} {cc}"] = str(error)
    return found


SEEN = "HMMA", "F2FP"


def main():
    """Print what the compiler makes of each."""
    x, y = (gpu.to_device(np.zeros(1024, np.float32)) for _ in "xy")
    found = {}
    for kernel in (right, float64_literal, wide, too_few_registers, nested_loops, shared):
        (launch,) = launches_of(lambda k=kernel: k[1, 256](x, y))
        report = compile_launch(launch, (9, 0))
        found[kernel.__name__] = dict(
            registers=report.registers, shared=report.shared_bytes, spills=report.spills, stack=report.stack_bytes,
            float64=report.float64, mix=report.mix, loop=report.loop.mix, share=report.loop.share, text=str(report),
            bounds=".maxntid" in report.ptx and ".minnctapersm" in report.ptx,
        )  # fmt: skip
    for cc in ((7, 5), (8, 0)):
        (launch,) = launches_of(lambda: needs_8_0[1, 32](x, y))
        try:
            compile_launch(launch, cc)
            found[f"needs_8_0 {cc}"] = ""
        except RuntimeError as error:
            found[f"needs_8_0 {cc}"] = str(error)
    found["tensor cores"] = of_tensor_cores(x, y)
    (launch,) = launches_of(lambda: takes_float64[1, 1](2.5, x.reshape(32, 32), y))
    others = x[::2], gpu.to_device(np.zeros((3, 4), np.float32, order="F"))
    found["types"] = [str(t) for t in types_of((*launch.arguments, 3, np.float32(1), np.uint32(2), True, *others))]
    (launch,) = launches_of(lambda: takes_float64[1, 1](2.5, x, y))
    found["takes_float64"] = compile_launch(launch, (9, 0)).float64
    print(json.dumps(found))


if __name__ == "__main__":
    main()
