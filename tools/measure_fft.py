"""Time convolutions by Fourier transforms against plain ones on this machine's CPU, mask after mask:

python tools/measure_fft.py --out results/fft.<processor>.json      some minutes, on an idle machine
python tools/measure_fft.py --tiny --out FILE                       each once, small: a smoke test

Results are compared before anything is timed. The same layers on a card: tools/measure_lessons.py.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from course_lib import fast, reference
from course_lib.bench.fft_cases import Sweep, by_mask, crossing, sweeps
from course_lib.bench.report import describe_machine
from course_lib.bench.timing import interleave
from course_lib.checks import fft_tolerance
from course_lib.reference.conv2d_fft import transform_lengths

WAYS = {
    "reference": reference.conv2d_forward,
    "fast": fast.conv2d_forward,
    "transforms": reference.conv2d_fft_forward,
    "Winograd": reference.conv2d_winograd_forward,
}
"""Name -> the forward pass; Winograd's is for masks of 3 x 3."""

LEAST = 0.02
"""Seconds of a block of calls."""


def calls(sweep: Sweep, K: int) -> dict[str, Callable]:
    """{name: function that convolves} for masks of K rows, compared with one another."""
    rng = np.random.default_rng(K)
    x, w = (rng.standard_normal(shape, np.float32) for shape in sweep.shapes(K))
    ways = {name: way for name, way in WAYS.items() if name != "Winograd" or K == 3}
    x2, w2 = (np.sqrt((a.astype(np.float64) ** 2).sum(axis=(2, 3))) for a in (x, w))
    points = int(np.prod(transform_lengths(x.shape[2:], w.shape[2:], (0, 0))))
    most = 2 * fft_tolerance(x2 @ w2.T, points, sweep.C * K * K)[:, :, None, None]
    expected = reference.conv2d_forward(x, w)[0]
    for name, way in ways.items():
        if not (np.abs(way(x, w)[0] - expected) <= most).all():
            raise SystemExit(f"{name} computes something else for {sweep.case}, masks of {K} rows.")
    return {f"{name}, {K}": (lambda way=way: way(x, w)) for name, way in ways.items()}


def main(
    out: Annotated[Path, typer.Option(help="The JSON file to write: results/fft.<processor>.json.")],
    rounds: Annotated[int, typer.Option(min=3, help="Blocks of calls of each way.")] = 7,
    threads: Annotated[int, typer.Option(min=1, help="For all ways.")] = fast.threads(),
    tiny: Annotated[bool, typer.Option(help="Each once, small: a smoke test.")] = False,
) -> None:
    """Time every layer and write the file."""
    fast.set_threads(threads)
    rows = []
    for sweep in sweeps("cpu")[:1] if tiny else sweeps("cpu"):
        sweep = replace(sweep, B=2) if tiny else sweep
        timings = {}
        for K in sweep.masks[:2] if tiny else sweep.masks:
            found = interleave(calls(sweep, K), rounds=3 if tiny else rounds, block=0 if tiny else LEAST)
            timings |= {name: asdict(timing) for name, timing in found.items()}
        rows.append({"case": sweep.case, "size": sweep.size, "timings": timings})
        _show(sweep, timings)
    about = {"bench": "fft", "date": datetime.date.today().isoformat(), "machine": describe_machine()}
    out.write_text(json.dumps(about | {"threads": threads, "rows": rows}, indent=1) + "\n", encoding="utf-8")


def _show(sweep: Sweep, timings: dict) -> None:
    print(f"{sweep.case} ({sweep.size}), ms")
    for name, seconds in by_mask(timings).items():
        print(f"  {name:12}", *(f"{K}: {1e3 * value:.2f}" for K, value in seconds.items()))
    print(f"  transforms are the fastest from {crossing(timings, ['transforms'])} rows on", flush=True)


if __name__ == "__main__":
    typer.run(main)
