"""Compare a card's tensor cores with the executor's, and time them: python tools/measure_tensor_cores.py --out FILE

    library    products by cuBLAS through PyTorch, float32 to FP8, at 4096 and 8192: TFLOP/s, errors, the card's clock
    sums       lesson 17's long sums on the same operands, beside the executor's model
    cuts       what a sum of 1 and small products loses, by `mma` and by `wgmma`
    fp8_sums   the same by cuBLAS's FP8 products
    mma        clocks of `mma`, in a chain and back to back by 1 to 32 warps of a multiprocessor
    wgmma      clocks of `wgmma` of several widths, waiting after each and back to back by 1 to 4 groups of four warps
    bits       D = A B + C of a warp in TF32, FP16 and BF16: how many results are the executor's bit for bit, and how
               far the others are off, as a share of what the executor promises (twice `rounding_bound`)
    pairs      conversions to FP16 and BF16 against NumPy, bit for bit
    rounding   `course_lib.cuda.round_to` against the reference, bit for bit, for every format
    training   lesson 17's deep network on the card in float32, BF16, FP16 without and with a loss scale

Each part is a process of its own with a limit of 40 seconds: what hangs or fails is told, what it found before is kept,
and the others still run. FILE is such as results/tensor_cores.<device>.json, written after each part. --tiny does
everything once, small, on the executor: a smoke test without a GPU, whose times mean nothing. Needs compute capability
8.0, and 9.0 for `wgmma`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from course_lib import gpu  # noqa: E402  - a script finds the course beside it
from course_lib.cuda.intrinsics import (  # noqa: E402
    mma_bf16,
    mma_fp16,
    mma_tf32,
    to_bf16_pair,
    to_fp16_pair,
    to_tf32,
)
from course_lib.cuda.numba_cuda import cuda  # noqa: E402
from course_lib.cuda.tensor_bounds import rounding_bound  # noqa: E402
from course_lib.reference.formats import FORMATS, decode, round_to  # noqa: E402
from tools.tensor_cores import instructions, library, sums  # noqa: E402

LIMIT = 40
"""Seconds that a part may take."""

DEPTH = {"tf32": 8, "fp16": 16, "bf16": 16}


@gpu.jit
def _tf32(A, B, C, D):
    w, lane = cuda.blockIdx.x, cuda.laneid
    g, q = lane // 4, lane % 4
    a = (to_tf32(A[w, g, q]), to_tf32(A[w, g + 8, q]), to_tf32(A[w, g, q + 4]), to_tf32(A[w, g + 8, q + 4]))
    b = (to_tf32(B[w, q, g]), to_tf32(B[w, q + 4, g]))
    k = 2 * q
    d = mma_tf32(a, b, (C[w, g, k], C[w, g, k + 1], C[w, g + 8, k], C[w, g + 8, k + 1]))
    D[w, g, k], D[w, g, k + 1], D[w, g + 8, k], D[w, g + 8, k + 1] = d


def _of_pairs(pair, mma):
    @gpu.jit
    def product(A, B, C, D):
        w, lane = cuda.blockIdx.x, cuda.laneid
        g, k = lane // 4, 2 * (lane % 4)
        a0, a1 = pair(A[w, g, k], A[w, g, k + 1]), pair(A[w, g + 8, k], A[w, g + 8, k + 1])
        a2, a3 = pair(A[w, g, k + 8], A[w, g, k + 9]), pair(A[w, g + 8, k + 8], A[w, g + 8, k + 9])
        b0, b1 = pair(B[w, k, g], B[w, k + 1, g]), pair(B[w, k + 8, g], B[w, k + 9, g])
        d = mma((a0, a1, a2, a3), (b0, b1), (C[w, g, k], C[w, g, k + 1], C[w, g + 8, k], C[w, g + 8, k + 1]))
        D[w, g, k], D[w, g, k + 1], D[w, g + 8, k], D[w, g + 8, k + 1] = d

    return product


PRODUCTS = {"tf32": _tf32, "fp16": _of_pairs(to_fp16_pair, mma_fp16), "bf16": _of_pairs(to_bf16_pair, mma_bf16)}


def _draws(kind, warps):
    """Yield (name, A, B, C): numbers of several kinds, A and B in the format already."""
    rng, depth = np.random.default_rng(0), DEPTH[kind]
    shapes = (warps, 16, depth), (warps, depth, 8), (warps, 16, 8)
    whole = [rng.integers(-9, 10, s) for s in shapes]
    plain = [rng.standard_normal(s) for s in shapes]
    wide = [rng.standard_normal(s) * 2.0 ** rng.uniform(-6, 6, s) for s in shapes]
    large_sum = [*plain[:2], 1000 * plain[2]]
    cancelling = [*plain[:2], -np.matmul(plain[0], plain[1])]
    small = [plain[0] * 2.0**-18, plain[1], plain[2] * 2.0**-18]  # subnormal in FP16
    cases = {"whole numbers": whole, "normal": plain, "wide": wide, "a large C": large_sum, "cancelling": cancelling,
             "subnormal A": small}  # fmt: skip
    for name, (A, B, C) in cases.items():
        yield name, round_to(A, kind), round_to(B, kind), C.astype(np.float32)


def _executors(A, B, C):
    """Return what the executor makes of it: the sum in float64, cut to float32."""
    exact = A.astype(np.float64) @ B + C
    rounded = exact.astype(np.float32)
    too_far = np.abs(rounded.astype(np.float64)) > np.abs(exact)
    return np.where(too_far, np.nextafter(rounded, np.float32(0)), rounded)


def bits(tiny):
    """Compare products of many warps with the executor's."""
    warps, rows = 4 if tiny else 4096, []
    for kind, kernel in PRODUCTS.items():
        for name, A, B, C in _draws(kind, warps):
            D = gpu.to_device(np.full(C.shape, np.nan, np.float32))
            kernel[warps, 32](*(gpu.to_device(m) for m in (A, B, C)), D)
            found, expected = gpu.to_host(D), _executors(A, B, C)
            bound = np.stack([rounding_bound(*m) for m in zip(A, B, C, strict=True)])
            off = np.abs(found.astype(np.float64) - expected)
            exact = np.abs(found.astype(np.float64) - (A.astype(np.float64) @ B + C))
            rows.append({
                "format": kind, "numbers": name, "results": int(found.size), "equal": float(np.mean(found == expected)),
                "of_promise": float(np.max(off / (2 * bound))), "of_bound": float(np.max(exact / bound)),
                "finite": bool(np.isfinite(found).all()),
            })  # fmt: skip
    return rows


@gpu.jit
def _convert(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i] = to_fp16_pair(x[i], y[i])
        out[1, i] = to_bf16_pair(x[i], y[i])


def _any_numbers(count):
    return np.random.default_rng(1).integers(0, 2**32, count, dtype=np.uint64).astype(np.uint32).view(np.float32)


def pairs(tiny):
    """Compare conversions of numbers of all sizes with NumPy's."""
    x = _any_numbers(1000 if tiny else 2**20)
    y, out = x[::-1].copy(), gpu.to_device(np.zeros((2, x.size), np.uint32))
    _convert[-(-x.size // 256), 256](gpu.to_device(x), gpu.to_device(y), out)
    rows, found = [], gpu.to_host(out)
    for row, name in enumerate(("fp16", "bf16")):
        for half, shift, given in (("low", 0, x), ("high", 16, y)):
            value = decode(found[row] >> np.uint32(shift) & np.uint32(0xFFFF), name)
            same = np.array_equal(value, round_to(given, name), equal_nan=True)
            rows.append({"format": name, "half": half, "numbers": int(x.size), "equal": bool(same)})
    return rows


def rounding(tiny):
    """Compare `cuda.round_to` with the reference."""
    from course_lib import cuda as ops

    x, rows = _any_numbers(1000 if tiny else 2**20), []
    for name in FORMATS:
        for saturate in (False, True):
            found = gpu.to_host(ops.round_to(gpu.to_device(x), name, saturate=saturate))
            same = np.array_equal(found, round_to(x, name, saturate=saturate), equal_nan=True)
            rows.append({"format": name, "saturate": saturate, "numbers": int(x.size), "equal": bool(same)})
    return rows


def training(tiny):
    """Train the deep network of lesson 17 on the device, in each precision."""
    from course_lib import cuda as ops
    from course_lib import data, nn
    from course_lib.lesson.precision_runs import deep_sigmoid

    digits, rows = data.load_digits(seed=0), []
    x, y = (digits.x_train[:20], digits.y_train[:20]) if tiny else (digits.x_train, digits.y_train)
    ways = {"float32": {}, "bf16": {"precision": "bf16"}, "fp16, scale 1": {"precision": "fp16", "loss_scale": 1},
            "fp16, auto": {"precision": "fp16"}}  # fmt: skip
    for name, options in ways.items():
        net = deep_sigmoid(np.random.default_rng(1))
        net = nn.Sequential(*net.layers, ops=ops)
        start = time.perf_counter()
        history = nn.train(
            net, (x, y), epochs=1 if tiny else 100, batch_size=len(x), lr=0.02, optimiser=nn.Adam(net),
            rng=np.random.default_rng(1), progress=False, **options,
        )  # fmt: skip
        took = time.perf_counter() - start
        rows.append({"way": name, "loss": history.loss[-1], "scale": history.loss_scale[-1],
                     "skipped": history.skipped, "ms_a_step": 1e3 * took / history.epochs})  # fmt: skip
    return rows


def cuts(tiny):
    """Probe what sums cut off."""
    return sums.cuts({kind: PRODUCTS[kind] for kind in (("bf16",) if tiny else PRODUCTS)})


PARTS = {
    "library": library.library, "sums": sums.long_sums, "cuts": cuts, "fp8_sums": library.fp8_sums,
    "mma": instructions.mma, "wgmma": instructions.wgmma, "bits": bits, "pairs": pairs, "rounding": rounding,
    "training": training,
}  # fmt: skip


def run_here(name, tiny):
    """Do a part in this process: a line of JSON for each row, as it is found."""
    if tiny:  # the executor has twins of Hopper's instructions
        from course_lib.cuda import capability

        capability.EVERY = (9, 0)
    for row in PARTS[name](tiny):
        print(json.dumps(row), flush=True)


def _run(name, tiny):
    """Return the rows of a part that ran in a process of its own, and why there are no more, or ""."""
    line = [sys.executable, str(Path(__file__).resolve()), "--part", name, *(["--tiny"] if tiny else [])]
    process = subprocess.Popen(
        line, cwd=ROOT, env=os.environ | {"COURSE_PROGRESS": "0"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    failure = ""
    try:
        said, complaints = process.communicate(timeout=10 * LIMIT if tiny else LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, complaints = process.communicate()
        failure = f"not done after {LIMIT} s"
    rows = [json.loads(text) for text in said.splitlines() if text.startswith("{") and text.endswith("}")]
    if process.returncode and not failure:
        failure = " ".join((complaints or said).split())[-600:]
    return rows, failure


def _show(name, rows, failure, seconds):
    """Print a part as a table: a column for each key of its rows."""
    print(f"\n{name}, {seconds:.0f} s" + (f": FAILED: {failure}" if failure else ""))
    keys = list(dict.fromkeys(key for row in rows for key in row))
    lines = [keys, *([_cell(row.get(key, "")) for key in keys] for row in rows)]
    widths = [max(len(line[c]) for line in lines) for c in range(len(keys))]
    for line in lines if rows else ():
        print("  " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    sys.stdout.flush()


def _cell(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main(arguments=None):
    """Do what the command line says; return the exit status: 1 if a part failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), help="these parts only")
    parser.add_argument("--tiny", action="store_true", help="a smoke test without a GPU")
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.part:
        run_here(given.part, given.tiny)
        return 0
    from course_lib.bench.gpu.measure import find_backend
    from course_lib.bench.gpu.run import describe_gpu
    from course_lib.cuda.choice import GPU
    from course_lib.cuda.device import choice

    if not given.tiny and choice().device != GPU:
        parser.error("tensor cores are measured on a GPU; --tiny is a smoke test without one.")
    found = {"bench": "tensor_cores", "date": str(datetime.date.today()), "failures": {}, "parts": {}}
    found["machine"] = {} if given.tiny else describe_gpu(find_backend())
    for name in given.only or PARTS:
        start = time.perf_counter()
        rows, failure = _run(name, given.tiny)
        _show(name, rows, failure, time.perf_counter() - start)
        found["parts"][name] = rows
        if failure:
            found["failures"][name] = failure
        if given.out:
            given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 1 if found["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
