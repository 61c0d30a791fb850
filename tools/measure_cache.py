"""Measure what the order of blocks does to the caches: python tools/measure_cache.py --out results/cache.<card>.json

One kernel, H's basic convolution, with its grid turned in all six ways (`tools/block_orders.py`), on three layers. Each
is timed, all in turns, and then launched once under Nsight Compute, which counts what the caches answer and what comes
from memory. ncu empties the caches before, and repeats a launch until it has counted everything: a rate of two numbers
from two passes may come out a little too high. Needs a card, and ncu with the right to read counters. --tiny launches
everything once, small, without ncu: a smoke test without a GPU, whose times and counts mean nothing.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import os
import re
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from course_lib import gpu  # noqa: E402  - a script finds the course beside it
from course_lib.bench.gpu import with_numpy  # noqa: E402
from course_lib.bench.gpu.run import describe_gpu  # noqa: E402
from course_lib.bench.gpu.timing import time_in_turns  # noqa: E402
from course_lib.cuda.choice import GPU  # noqa: E402
from course_lib.cuda.device import choice  # noqa: E402
from course_lib.cuda.ladders.conv2d.forward.checks import sizes_of  # noqa: E402
from course_lib.cuda.ladders.conv2d.forward.v01_basic import conv2d_forward_v01_basic  # noqa: E402
from tools.block_orders import ORDERS, conv2d_forward_ordered, name_of  # noqa: E402
from tools.measure_traffic import find_ncu, number, run, version  # noqa: E402

LAYERS = {
    "block order, conv 6->16 k5": dict(x=(10_000, 6, 14, 14), w=(16, 6, 5, 5), pad=0),
    "block order, conv 4->16 k7": dict(x=(10_000, 4, 40, 40), w=(16, 4, 7, 7), pad=0),
    "block order, conv 64->64 k3": dict(x=(256, 64, 56, 56), w=(64, 64, 3, 3), pad=1),
}
"""LeNet-5's C3, whose images are as large as an H200's L2 cache together, and two whose images are larger."""

METRICS = {
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_hit_rate": "l1tex__t_sector_hit_rate.pct",
    "l2_hits": "lts__t_sectors_srcunit_tex_lookup_hit.sum",
    "l2_misses": "lts__t_sectors_srcunit_tex_lookup_miss.sum",
    "l2_hit_rate": "lts__t_sector_hit_rate.pct",
    "memory_bytes_read": "dram__bytes_read.sum",
    "memory_bytes_written": "dram__bytes_write.sum",
    "seconds": "gpu__time_duration.sum",
}
"""What a file calls a counter -> what ncu calls it. Rates are in percent."""

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}
KERNEL = "_conv2d_forward_ordered"
ROUNDS = 7


def main(words=None):
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    parser.add_argument("--tiny", action="store_true", help="once each, small, without ncu: a smoke test")
    parser.add_argument("--seconds", type=float, default=400, help="all of it has to end by then")
    parser.add_argument("--launch", type=Path, metavar="NOTES", help=argparse.SUPPRESS)  # this is what runs under ncu
    options = parser.parse_args(words)
    if options.launch:
        return launch_all(options.launch)
    if not options.out:
        parser.error("say where to write: --out FILE")
    if not options.tiny and choice().device != GPU:
        parser.error("caches are measured on a GPU, and there is none here; --tiny is a smoke test without one.")
    stop = time.monotonic() + options.seconds
    rows = [row_of(case, options.tiny) for case in LAYERS]
    about = {"bench": "cache", "date": datetime.date.today().isoformat(), "machine": describe_gpu(with_numpy)}
    if not options.tiny:
        ncu = find_ncu()
        about["machine"]["versions"]["ncu"] = version(ncu)
        found = profile(ncu, stop)
        for row in rows:
            row["counters"] = found.get(row["case"], {})
    options.out.write_text(json.dumps(about | {"rounds": ROUNDS, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    lacking = [f"{r['case']}: {n}" for r in rows for n in r["timings"] if not options.tiny and n not in r["counters"]]
    print(f"{options.out}: {len(rows)} layers" + "".join(f"\nno counters for {one}" for one in lacking), flush=True)
    return 1 if lacking else 0


def layer_of(case, tiny=False):
    """Return (x, w, y, stride, pad, Sizes) of a layer, on the device; `tiny` takes two images and three maps."""
    layer, rng = LAYERS[case], np.random.default_rng(0)
    shapes = [layer["x"], layer["w"]]
    if tiny:
        (_, C, H, W), (M, _, K, _) = shapes
        shapes = [(2, min(C, 2), min(H, 20), min(W, 20)), (min(M, 3), min(C, 2), K, K)]
    x, w = (gpu.to_device(rng.integers(-2, 3, shape).astype(np.float32)) for shape in shapes)
    s = sizes_of(*shapes, 1, layer["pad"])
    return x, w, gpu.empty((s.B, s.M, s.H_out, s.W_out), np.float32), (1, 1), (s.p_h, s.p_w), s


def row_of(case, tiny):
    """Return a case's row, as `course bench gpu` writes them: all orders give the numbers of v01, and are timed.

    AssertionError where an order computes something else.
    """
    x, w, y, stride, pad, s = layer_of(case, tiny)
    conv2d_forward_v01_basic(x, w, None, y, stride, pad)
    expected, calls = gpu.to_host(y), {}
    for order in ORDERS:
        calls[name_of(order)] = lambda order=order: conv2d_forward_ordered(order, x, w, y, stride, pad)
        with_numpy.spoil(y)
        calls[name_of(order)]()
        np.testing.assert_array_equal(gpu.to_host(y), expected, err_msg=f"{case}, {name_of(order)}")
    timings = {n: {"median": 0.0} for n in calls}
    if not tiny:
        timings = {n: asdict(t) for n, t in time_in_turns(calls, rounds=ROUNDS).items()}
    size = f"B = {s.B:,}, {s.H} x {s.W}" + (f", pad {s.p_h}" if s.p_h else "")
    row = {"case": case, "size": size, "flops": 2.0 * y.size * s.depth, "bytes": 4.0 * (x.size + w.size + y.size)}
    print(case, {name: f"{1e3 * t['median']:.2f} ms" for name, t in timings.items()}, flush=True)
    return row | {"timings": timings, "counters": {}}


# ------------------------------------------------------------------------------------------------------- under ncu


def launch_all(notes):
    """Launch every order of every layer once, and write a line about each launch."""
    with notes.open("a", encoding="utf-8") as file:
        for case in LAYERS:
            x, w, y, stride, pad, _ = layer_of(case)
            for order in ORDERS:
                conv2d_forward_ordered(order, x, w, y, stride, pad)
                gpu.synchronize()
                print(json.dumps([case, name_of(order)]), file=file, flush=True)
    return 0


# ------------------------------------------------------------------------------------------------------ around ncu


def profile(ncu, stop):
    """Return {case: {order: {counter: value}}}; a metric that this ncu does not know is left out, and said."""
    metrics = dict(METRICS)
    while True:
        with tempfile.TemporaryDirectory() as folder:
            notes, log = Path(folder) / "notes", Path(folder) / "log"
            options = ["--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
            script = [sys.executable, str(Path(__file__).resolve()), "--launch", str(notes)]
            options += ["--metrics", ",".join(metrics.values()), "--log-file", str(log)]
            os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
            printed = run([ncu, *options, *script], stop - time.monotonic())
            text = log.read_text(errors="replace") if log.exists() else ""
            launched = [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
        rows = read_counters(text)
        if rows:
            return by_case(rows, launched)
        unknown = [key for key, metric in metrics.items() if _refused(metric, text + printed)]
        print(f"ncu gave no row, and refuses {unknown or 'something else'}:\n{text[-1500:]}\n{printed[-1500:]}")
        if not unknown or stop - time.monotonic() < 30:
            return {}
        metrics = {key: metric for key, metric in metrics.items() if key not in unknown}


def _refused(metric, text):
    said = [line for line in text.splitlines() if re.search("rror|ind metric|nvalid", line)]
    return any(metric.split(".")[0] in line for line in said)


def read_counters(text):
    """Return [{counter: value}] of ncu's CSV, one for each launch, in seconds, bytes, sectors and percent.

    The table stands among other lines, its second line has the units. ValueError for a unit that is not known.
    """
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    units, *rows = csv.DictReader(line for line in lines[start:] if line.startswith('"'))
    return [
        {key: _in_base(row[metric], units[metric]) for key, metric in METRICS.items() if row.get(metric)}
        for row in rows
        if KERNEL in row["Kernel Name"]
    ]


def _in_base(text, unit):
    if unit in ("", "%", "sector"):
        return number(text)
    short = {"nsecond": "ns", "usecond": "us", "msecond": "ms", "second": "s"}.get(unit, unit)
    if short not in UNITS:
        raise ValueError(f"ncu gives {text} in {unit!r}; the units that are known are {', '.join(UNITS)}, sector, %.")
    return number(text) * UNITS[short]


def by_case(rows, launched):
    """Return {case: {order: counters}} of rows in the order of the launches; {} if they are not as many."""
    if len(rows) != len(launched):
        print(f"ncu counted {len(rows)} launches of {len(launched)}: nobody knows which one is missing.")
        return {}
    found = {}
    for (case, order), counters in zip(launched, rows, strict=True):
        found.setdefault(case, {})[order] = counters
    return found


if __name__ == "__main__":
    sys.exit(main())
