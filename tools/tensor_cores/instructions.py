"""Clocks of the instructions that multiply: `mma` of a warp and `wgmma` of four, back to back and in a chain.

Every number is a one, so that all sums are whole numbers that must come out exactly; a multiprocessor has one block.
Clocks are a multiprocessor's own (`tools.microbench.clock`), from the first warp's start to the last one's
end, of a long launch less those of one half as long: what begins and ends a kernel does not count.

    back to back    products that do not wait for each other: `mma` in four sums of a warp, `wgmma` in groups of four
                    into one sum, as the ladder's rungs hand them over
    a chain         each product waits for the one before: a sum that goes into the next `mma`, or a wait after each
                    `wgmma`

Source: NVIDIA, "PTX ISA", "mma.sync", "wgmma.mma_async".
"""

import functools

import numpy as np

from course_lib import gpu
from course_lib.cuda import hopper
from course_lib.cuda.capability import has_hopper, multiprocessors
from course_lib.cuda.hopper import shared_address, shared_to_async, wgmma_commit, wgmma_fence, wgmma_wait0, wgmma_wait1
from course_lib.cuda.intrinsics import float_bits, mma_bf16, mma_fp16, mma_tf32, to_bf16_pair, to_fp16_pair
from course_lib.cuda.ladders.gemm.hopper_tiles import start_of
from course_lib.cuda.numba_cuda import cuda, float32, uint32, uint64
from course_lib.cuda.swizzle import K_MAJOR, ROW, descriptor
from course_lib.cuda.unroll import unroll
from tools.microbench.clock import clock
from tools.microbench.tensor import first_as_tf32

CORES = 4
"""Tensor cores of a multiprocessor, one for each of its four schedulers."""

ALONE = 120 * 1024
"""Bytes of shared memory that leave no place for a second block on a multiprocessor."""

DEPTH = {"tf32": 8, "fp16": 16, "bf16": 16}
MMA = {"tf32": (first_as_tf32, mma_tf32), "fp16": (to_fp16_pair, mma_fp16), "bf16": (to_bf16_pair, mma_bf16)}
WARPS = (1, 4, 8, 16, 32)
EIGHT = 8
"""Products of a warp in a turn of the loop: the loop itself hardly counts."""


@functools.cache
def mma_kernel(kind, chain):
    """Return the kernel (x, turns, y, clocks): products by `mma`, eight a turn, in a chain or in four sums.

    x: four floats of an operand, then one of each sum; y (threads,) gets the sums; clocks (blocks, warps, 2) when each
    warp starts and ends. KeyError for another kind. Source: NVIDIA, "PTX ISA", "mma.sync".
    """
    convert, mma = MMA[kind]

    @gpu.jit
    def _chain(x, turns, y, clocks):
        p, q, r, s = convert(x[0], x[0]), convert(x[1], x[1]), convert(x[2], x[2]), convert(x[3], x[3])
        c = (x[4], x[4], x[4], x[4])
        cuda.syncthreads()
        start = clock()
        for _ in range(turns):
            for _ in unroll(EIGHT):
                c = mma((p, q, r, s), (p, q), c)
        end = clock()
        y[cuda.grid(1)] = c[0]
        clocks[cuda.blockIdx.x, cuda.threadIdx.x // 32, 0] = start
        clocks[cuda.blockIdx.x, cuda.threadIdx.x // 32, 1] = end

    @gpu.jit
    def _four(x, turns, y, clocks):
        p, q, r, s = convert(x[0], x[0]), convert(x[1], x[1]), convert(x[2], x[2]), convert(x[3], x[3])
        c, d = (x[4], x[4], x[4], x[4]), (x[5], x[5], x[5], x[5])
        e, f = (x[6], x[6], x[6], x[6]), (x[7], x[7], x[7], x[7])
        cuda.syncthreads()
        start = clock()
        for _ in range(turns):
            for _ in unroll(EIGHT // 4):
                c = mma((p, q, r, s), (p, q), c)
                d = mma((p, q, r, s), (p, q), d)
                e = mma((p, q, r, s), (p, q), e)
                f = mma((p, q, r, s), (p, q), f)
        end = clock()
        y[cuda.grid(1)] = (c[0] + d[0]) + (e[0] + f[0])
        clocks[cuda.blockIdx.x, cuda.threadIdx.x // 32, 0] = start
        clocks[cuda.blockIdx.x, cuda.threadIdx.x // 32, 1] = end

    return _chain if chain else _four


def mma(tiny):
    """Yield rows of `mma`: clocks an instruction in a chain of one warp, then back to back by more and more warps."""
    turns = 1 if tiny else 256
    x = gpu.to_device(np.array([1, 1, 1, 1, 0, 1, 2, 3], np.float32))
    for kind in MMA:
        for chain, warps in ((True, 1), *((False, w) for w in (WARPS[:2] if tiny else WARPS))):
            each = EIGHT * turns
            expected = 2 * each * DEPTH[kind] + (0 if chain else 6)
            launch = functools.partial(
                _launched, mma_kernel(kind, chain), x, turns, 32 * warps, 1 if tiny or chain else 0
            )
            yield _row(
                launch, f"mma m16n8k{DEPTH[kind]}", kind, chain, warps, warps, each, 16 * 8 * DEPTH[kind], expected
            )


# ------------------------------------------------------------------------------------------------ wgmma

STEPS = 4
GROUP_BYTES = 64 * ROW
"""Of a group's left operand: 64 rows of 128 bytes."""


@functools.cache
def wgmma_kernel(kind, n, chain, threads):
    """Return the kernel (x, turns, y, clocks): products by `wgmma` of 64 x n, four a turn, into one sum.

    x[0] and x[1] fill the left and the right operand, x[2] the sums; y gets a thread's sum, turned over if its others
    are not the same. FP16 and BF16 take both operands from shared
    memory, TF32 the left one from registers, as the ladder's rungs do. chain: wait after each product.
    AttributeError for another kind or n. Source: NVIDIA, "PTX ISA", "wgmma.mma_async".
    """
    RESULTS, STEP = n // 2, 1 if chain else STEPS
    wgmma = getattr(hopper, f"wgmma_{kind.replace('fp16', 'f16')}_n{n}")
    LEFT = uint64(K_MAJOR)
    LEFTS = threads // 128 * GROUP_BYTES
    SIZE = (LEFTS + n * ROW) // 4

    @gpu.jit(device=True, forceinline=True)
    def tell(acc, y, clocks, start, end):
        """Write a thread's sum, turned over if its others are another, and its warp's clocks."""
        others = 0
        for i in unroll(RESULTS):
            others += acc[i] != acc[0]
        y[cuda.grid(1)] = acc[0] if others == 0 else -acc[0]
        clocks[cuda.blockIdx.x, cuda.threadIdx.x // 32, 0] = start
        clocks[cuda.blockIdx.x, cuda.threadIdx.x // 32, 1] = end

    if kind == "tf32":
        RIGHT = uint64(K_MAJOR)

        @gpu.jit(launch_bounds=(threads, 1))
        def _multiply(x, turns, y, clocks):
            s = cuda.shared.array(0, float32, 1024)
            acc = cuda.local.array(RESULTS, float32)
            r = cuda.local.array(4, uint32)
            for i in range(cuda.threadIdx.x, SIZE, cuda.blockDim.x):
                s[i] = x[1]
            for i in range(RESULTS):
                acc[i] = x[2]
            for i in range(4):
                r[i] = float_bits(x[0])
            right = RIGHT | start_of(shared_address(s, 0))
            shared_to_async()
            cuda.syncthreads()
            start = clock()
            for _ in range(turns):
                wgmma_fence()
                for step in unroll(STEP):
                    wgmma(acc, 0, r, 0, right + uint64(2 * step), 1)
                wgmma_commit()
                if chain:
                    wgmma_wait0()
                else:
                    wgmma_wait1()
            wgmma_wait0()
            tell(acc, y, clocks, start, clock())

        return _multiply

    TALL = uint64(descriptor(0, leading=64 * ROW))

    @gpu.jit(launch_bounds=(threads, 1))
    def _multiply_16(x, turns, y, clocks):
        s = cuda.shared.array(0, float32, 1024)
        acc = cuda.local.array(RESULTS, float32)
        for i in range(cuda.threadIdx.x, SIZE, cuda.blockDim.x):
            s[i] = x[0] if i < LEFTS // 4 else x[1]
        for i in range(RESULTS):
            acc[i] = x[2]
        base = shared_address(s, 0)
        left = LEFT | start_of(base + uint32(cuda.threadIdx.x >> 7) * uint32(GROUP_BYTES))
        right = TALL | start_of(base + uint32(LEFTS))
        shared_to_async()
        cuda.syncthreads()
        start = clock()
        for _ in range(turns):
            wgmma_fence()
            for step in unroll(STEP):
                wgmma(acc, 0, left + uint64(2 * step), right + uint64(128 * step), 1)
            wgmma_commit()
            if chain:
                wgmma_wait0()
            else:
                wgmma_wait1()
        wgmma_wait0()
        tell(acc, y, clocks, start, clock())

    return _multiply_16


def filled(kind, *numbers):
    """Return numbers as float32 with the bits that shared memory holds of a format: one TF32, or two of 16 bits.

    KeyError for another kind. Source: the course's own.
    """
    x = np.array(numbers, np.float32)
    if kind == "tf32":
        return x
    half = x.astype(np.float16).view(np.uint16) if kind == "fp16" else (x.view(np.uint32) >> 16).astype(np.uint16)
    return np.repeat(half, 2).view(np.float32)


CASES = [
    *(("bf16", n, chain, groups) for n in (256, 128, 64)
      for chain, groups in ((True, 1), (False, 1), (False, 2), (False, 4)) if n < 256 or groups < 4),
    *((kind, n, chain, groups) for kind, n in (("tf32", 256), ("tf32", 128), ("tf32", 64), ("fp16", 256))
      for chain, groups in ((True, 1), (False, 1), (False, 2))),
]  # fmt: skip
"""(kind, columns, chain, groups of four warps on a multiprocessor): as many as registers suffice for."""


def wgmma(tiny):
    """Yield rows of `wgmma`: clocks an instruction, waiting after each, and back to back by one to four groups."""
    if not has_hopper():
        raise RuntimeError("wgmma is an instruction of compute capability 9.0 alone.")
    turns = 1 if tiny else 256
    for kind, n, chain, groups in [("bf16", 64, False, 2), ("tf32", 64, True, 1)] if tiny else CASES:
        each = turns * (1 if chain else STEPS)
        x = gpu.to_device(np.append(filled(kind, 1, 1), np.float32(0)).astype(np.float32))
        expected = 2 * each * DEPTH[kind]
        bound = 256 if n == 256 else 128 * groups
        launch = functools.partial(
            _launched, wgmma_kernel(kind, n, chain, bound), x, turns, 128 * groups, 1 if tiny or chain else 0
        )
        name = f"wgmma m64n{n}k{DEPTH[kind]}"
        yield _row(launch, name, kind, chain, groups, 4 * groups, each, 64 * n * DEPTH[kind], expected)


def _launched(kernel, x, turns, threads, blocks):
    """Return (sums of a launch with twice as many turns, clocks that the second half of them took in each block)."""
    blocks = blocks or multiprocessors()
    y = gpu.to_device(np.zeros(blocks * threads, np.float32))
    clocks = gpu.to_device(np.zeros((blocks, threads // 32, 2), np.int64))
    took = []
    for n in (turns, turns, 2 * turns):  # the first one warms up
        kernel[blocks, threads, 0, ALONE](x, n, y, clocks)
        times = gpu.to_host(clocks)
        took.append(times[:, :, 1].max(axis=1) - times[:, :, 0].min(axis=1))
    return gpu.to_host(y), took[2] - took[1]


def _row(launch, name, kind, chain, by, warps, each, work, expected):
    """Return a row; by: warps or groups that multiply; each: products of one of them; work: multiply-adds of each."""
    row = {"instruction": name, "format": kind, "run": "a chain" if chain else "back to back", "by": by, "warps": warps}
    try:
        sums, elapsed = launch()
    except Exception as error:
        return row | {"right": False, "said": f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]}
    clocks = float(np.median(elapsed))
    right = bool((sums == expected).all())
    said = "" if right else f"sums are {sums.min():g} to {sums.max():g}, not {expected:g}"
    rate = by * each * work / clocks if clocks else 0.0
    return row | {
        "clocks": clocks / each, "fma_a_clock": rate, "fma_a_clock_and_core": rate / CORES,
        "spread": float(np.ptp(elapsed) / clocks) if clocks else 0.0, "right": right, "said": said,
    }  # fmt: skip
