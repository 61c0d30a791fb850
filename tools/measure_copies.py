"""Time transposes of odd sizes and gradients of overlapping pooling: python tools/measure_copies.py --out FILE

Each part has one piece of work, the kernels that did it before, those that do it now, in several cuts, and a copy of as
many bytes on the device. All of them are verified first: a transpose number by number, a gradient against the reference
(its first images) and bit for bit against a thread a pixel. Then they are timed in turns, as `course bench gpu` does:
CUDA events, two sets of arrays that no L2 cache holds, medians of 20 rounds.

    transpose_odd, _ragged, _narrow     8,191 x 8,193; 8,190 x 8,194; 1,000,003 x 67
    transpose_aligned                   8,192 x 8,192: what the kernels for any size take where sectors are not cut
    max_55, average_55                  AlexNet's pooling, 3 x 3 windows two apart: 128 x 96 maps of 55 x 55
    max_27, max_112, max_56             the same on 27 x 27; padded on 112 x 112; windows one apart on 56 x 56

A tile of x has rows, columns, a cut (numbers of a sector) and threads, see `v05_ragged_rows`; a band has numbers in
shared memory and threads, see `pool_bands`. "now" is what the library takes. Each part is a process of its own with a
limit of 40 seconds: what hangs or fails is told, and the others still run. FILE is such as
results/copies.<device>.json.
--tiny does everything once, small, on the executor: a smoke test without a GPU, whose times mean nothing.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from course_lib import gpu, reference  # noqa: E402  - a script finds the course beside it
from course_lib.bench.gpu.measure import find_backend, said  # noqa: E402
from course_lib.bench.gpu.memory import COPY, SETS, against_copy  # noqa: E402
from course_lib.bench.gpu.players import replayed  # noqa: E402
from course_lib.bench.timing import Timing  # noqa: E402
from course_lib.cuda import pool_backward, pool_overlapping, pooling  # noqa: E402
from course_lib.cuda.elementwise import flat  # noqa: E402
from course_lib.cuda.ladders.transpose import v04_coarsened, v05_ragged_rows  # noqa: E402
from course_lib.cuda.ladders.transpose.checks import in_slices  # noqa: E402
from course_lib.cuda.numba_cuda import cuda  # noqa: E402
from course_lib.cuda.pool_bands import HELD, THREADS, bands  # noqa: E402
from course_lib.reference.conv_sizes import output_size  # noqa: E402

LIMIT = 40
"""Seconds that a part may take."""

ROUNDS, NAN = 20, np.float32(np.nan)
TILES = ((64, 64, 512, 8), (64, 64, 256, 8), (128, 64, 512, 8), (64, 128, 512, 8), (64, 64, 512, 16),
         (128, 64, 512, 32))  # fmt: skip
TILE = v05_ragged_rows.DOWN, v05_ragged_rows.WIDTH, v05_ragged_rows.THREADS, v05_ragged_rows.CUT
"""Rows and columns of a tile, threads, cut; those that the library takes."""

CUTS = ((6144, 128), (9216, 128), (9216, 256), (12288, 256))
"""Numbers that a block holds, and its threads: of AlexNet's maps one, two, and for averages three."""

TAKEN = HELD, THREADS
"""The cut that the library takes."""


@gpu.jit
def _spoil(y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = NAN


def spoil(y):
    """Fill a device array (...) with NaN: what a kernel leaves out is seen."""
    _spoil[-(-y.size // 256), 256](flat(y))


def compared(name, size, count, sets, ways, right, tiny):
    """Return the row of a part: {way: timing} of those that are right, and of a copy of `count` bytes.

    `ways` is {name: launcher of one of the sets of arrays}; right(call) does the call, which launches on the first set,
    and says what is wrong, "" if nothing is. No errors: what fails is in the row.
    """
    row = {"part": name, "size": size, "bytes": count, "timings": {}, "failures": {}}
    good = {}
    for way, launch in ways.items():
        try:
            calls = [replayed(lambda a=arrays, launch=launch: launch(*a), arrays[-1:]) for arrays in sets]
            if wrong := right(calls[0]):
                row["failures"][way] = f"wrong: {wrong}"
            else:
                good[way] = calls
        except Exception as error:
            row["failures"][way] = said(error)
    if tiny:
        row["timings"] = {way: asdict(Timing(1.0, 1.0, 1.0, 1, 1)) for way in (*good, COPY)}
        return row
    from course_lib.bench.gpu.timing import time_in_turns

    good[COPY] = against_copy(find_backend(), count)[COPY].calls
    row["timings"] = {way: asdict(timing) for way, timing in time_in_turns(good, rounds=ROUNDS).items()}
    return row


def straight(x, y):
    """Transpose as the fourth rung does where rows begin anywhere."""
    for grid, *slices in in_slices(x, y, v04_coarsened.SIDE):
        v04_coarsened._transpose_v04_any[grid, (v04_coarsened.SIDE, v04_coarsened.ROWS)](*slices)


def _tiles(tile, x, y):
    v05_ragged_rows.in_tiles(x, y, *tile)


def transpose(name, R, C, tiny):
    """Compare transposes of x (R, C)."""
    rng = np.random.default_rng(0)
    host = rng.random((R, C), np.float32)
    turned = np.ascontiguousarray(host.T)
    sets = [(gpu.to_device(host), gpu.empty((C, R), np.float32)) for _ in range(SETS)]
    ways, now = {"before: v04, one by one": straight}, TILE
    if not v05_ragged_rows.ragged(R, C):
        ways["v04, four by four, now"], now = v04_coarsened.transpose_v04_coarsened, None
    for tile in TILES:
        down, width, threads, cut = tile
        name_of = f"tiles of {down} x {width}, cut {cut}, {threads} threads{', now' * (tile == now)}"
        ways[name_of] = functools.partial(_tiles, tile)

    def right(call):
        spoil(sets[0][1])
        call()
        same = np.array_equal(gpu.to_host(sets[0][1]), turned)
        return "" if same else "some numbers are elsewhere"

    return compared(name, f"{R:,} x {C:,}", 8 * R * C, sets, ways, right, tiny)


def gradient(name, kind, shape, size, stride, pad, tiny):
    """Compare gradients of pooling, kind "max" or "average", of x (B, C, H, W)."""
    (B, C, H, W), size, stride, pad = shape, (size,) * 2, (stride,) * 2, (pad,) * 2
    rng = np.random.default_rng(0)
    out = B, C, output_size(H, size[0], stride[0], pad[0]), output_size(W, size[1], stride[1], pad[1], name="W")
    host, few = rng.standard_normal(out, np.float32), slice(2)
    x = rng.standard_normal(shape, np.float32) if kind == "max" else np.zeros((1, 1, H, W), np.float32)
    mask = pooling.max_pool_forward(gpu.to_device(x), size, stride, pad)[1][1]
    sets = []
    for _ in range(SETS):
        masks = (gpu.to_device(gpu.to_host(mask)),) if kind == "max" else ()
        sets.append((gpu.to_device(host), *masks, gpu.empty(shape, np.float32)))
    window = size, stride, pad
    forward, back = (getattr(reference, f"{kind}_pool_{way}") for way in ("forward", "backward"))
    _, cache = forward(x[few] if kind == "max" else np.zeros((len(host[few]), C, H, W), np.float32), *window)
    exact, allowed = back(host[few].astype(np.float64), cache), back(np.abs(host[few]), cache)

    def right(call):
        spoil(sets[0][-1])
        call()
        found = gpu.to_host(sets[0][-1])
        if not (np.abs(found[few] - exact) <= size[0] * size[1] * 2.0**-23 * allowed).all():
            return "it is not the reference's"
        same = np.array_equal(found.view(np.int32), first.view(np.int32))
        return "" if same else "other bits than those of a thread a pixel"

    sizes = pooling._sizes(shape, out, pad)

    def by_pixels(*arrays):
        *given, dx = map(flat, arrays)
        getattr(pool_backward, f"{kind}_overlapping")(size, stride)[-(-dx.size // 128), 128](*given, *sizes, dx)

    def by_bands(cut, *arrays):
        *given, dx = map(flat, arrays)
        parts = bands(shape, *window, len(given), cut=cut)
        kernel = getattr(pool_overlapping, f"{kind}_bands")(size, stride, parts.threads)
        kernel[parts.grid, parts.threads, 0, parts.shared](*given, *sizes, *parts.numbers, dx)

    by_pixels(*sets[0])
    first = gpu.to_host(sets[0][-1])
    ways = {"before: a thread a pixel": by_pixels}
    for cut in CUTS:
        now = ", now" * (cut == TAKEN)
        ways[f"bands of {cut[0]:,} numbers, {cut[1]} threads{now}"] = functools.partial(by_bands, cut)
    numbers = B * C * H * W + (2 if kind == "max" else 1) * host.size
    text = f"{B} x {C} x {H} x {W}, windows of {size[0]}, {stride[0]} apart, padded by {pad[0]}"
    return compared(name, text, 4 * numbers, sets, ways, right, tiny)


PARTS = {
    "transpose_odd": (transpose, (8191, 8193), (131, 67)),
    "transpose_ragged": (transpose, (8190, 8194), (66, 130)),
    "transpose_narrow": (transpose, (1_000_003, 67), (301, 5)),
    "transpose_aligned": (transpose, (8192, 8192), (64, 68)),
    "max_55": (gradient, ("max", (128, 96, 55, 55), 3, 2, 0), ("max", (2, 2, 55, 55), 3, 2, 0)),
    "average_55": (gradient, ("average", (128, 96, 55, 55), 3, 2, 0), ("average", (2, 2, 55, 55), 3, 2, 0)),
    "max_27": (gradient, ("max", (128, 256, 27, 27), 3, 2, 0), ("max", (3, 2, 27, 27), 3, 2, 0)),
    "max_112": (gradient, ("max", (64, 64, 112, 112), 3, 2, 1), ("max", (1, 2, 30, 30), 3, 2, 1)),
    "max_56": (gradient, ("max", (64, 64, 56, 56), 3, 1, 1), ("max", (1, 2, 20, 20), 3, 1, 1)),
}
"""{name: (what does it, its sizes, small ones)}."""


def _run(name, tiny):
    """Return the row of a part that ran in a process of its own, or why there is none."""
    line = [sys.executable, str(Path(__file__).resolve()), "--part", name, *(["--tiny"] if tiny else [])]
    environment = os.environ | {"COURSE_PROGRESS": "0"}
    limit = 10 * LIMIT if tiny else LIMIT
    try:
        done = subprocess.run(
            line, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return None, f"not done after {limit:g} s"
    if done.returncode:
        return None, (done.stderr or done.stdout).strip()[-600:]
    return json.loads(done.stdout.splitlines()[-1]), ""


def _show(row):
    copy = row["timings"][COPY]["median"]
    print(f"\n{row['part']}: {row['size']}; a copy of {row['bytes'] / 1e6:,.0f} MB: {1e6 * copy:.1f} us")
    for player, t in row["timings"].items():
        if player != COPY:
            spread = f"{1e6 * t['lower']:.1f} to {1e6 * t['upper']:.1f}"
            print(f"  {player:38} {1e6 * t['median']:8.1f} us  {copy / t['median']:6.1%} of a copy  {spread}")
    for player, failure in row["failures"].items():
        print(f"  {player:38} FAILED: {failure}")


def main(arguments=None):
    """Do what the command line says; return the exit status: 1 if something failed or was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), help="these parts only")
    parser.add_argument("--tiny", action="store_true", help="a smoke test without a GPU")
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.part:
        do, sizes, small = PARTS[given.part]
        print(json.dumps(do(given.part, *(small if given.tiny else sizes), given.tiny)))
        return 0
    from course_lib.bench.gpu.run import describe_gpu
    from course_lib.cuda.choice import GPU
    from course_lib.cuda.device import choice

    if not given.tiny and choice().device != GPU:
        parser.error("kernels are timed on a GPU; --tiny is a smoke test without one.")
    found = {"bench": "copies", "date": str(datetime.date.today()), "rounds": ROUNDS, "failures": {}, "rows": []}
    found["machine"] = {} if given.tiny else describe_gpu(find_backend())
    for name in given.only or PARTS:
        row, failure = _run(name, given.tiny)
        if row is None:
            found["failures"][name] = failure
            print(f"\n{name}: FAILED: {failure}")
        else:
            found["rows"].append(row)
            _show(row)
        if given.out:
            given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 1 if found["failures"] or any(row["failures"] for row in found["rows"]) else 0


if __name__ == "__main__":
    sys.exit(main())
