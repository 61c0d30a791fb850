"""Time the reference's convolution, direct and by Fourier transforms, mask after mask, on this machine's processor.

python tools/measure_transforms.py --out results/transforms.<processor>.json

The layer, the sides and the masks are those of `tools/layer_cases.py`, which does the same on a card; the images are
fewer. Lesson 15 draws both. --tiny times one small layer once: a smoke test.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from course_lib.bench.report import describe_machine  # noqa: E402  - a script finds the course beside it
from course_lib.bench.timing import interleave  # noqa: E402
from course_lib.reference.conv2d import conv2d_forward  # noqa: E402
from course_lib.reference.conv2d_fft import conv2d_fft_forward  # noqa: E402

C, M = 1, 6
SIDES, MASKS = (32, 64, 128), (3, 5, 7, 9, 11, 15, 21, 31)
PIXELS, ROUNDS = 2**17, 20
WAYS = {"direct": conv2d_forward, "FFT": conv2d_fft_forward}


def main(words=None):
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--tiny", action="store_true", help="one small layer, once: a smoke test")
    options = parser.parse_args(words)
    rows = [row_of(side, options.tiny) for side in (SIDES[:1] if options.tiny else SIDES)]
    about = {"bench": "transforms", "date": datetime.date.today().isoformat(), "machine": describe_machine()}
    options.out.write_text(json.dumps(about | {"rounds": ROUNDS, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    return 0


def row_of(side, tiny=False):
    """Return a size's row, as `course bench gpu` writes them: "FFT, 5" is the transform's way with masks of 5 x 5.

    AssertionError where the ways differ.
    """
    B, rng, calls = (2 if tiny else PIXELS // side**2), np.random.default_rng(side), {}
    x = rng.standard_normal((B, C, side, side), np.float32)
    for K in MASKS[:2] if tiny else MASKS:
        w = rng.standard_normal((M, C, K, K), np.float32)
        for name, way in WAYS.items():
            calls[f"{name}, {K}"] = lambda way=way, w=w: way(x, w)
        direct, other = (way(x, w)[0] for way in WAYS.values())
        np.testing.assert_allclose(other, direct, rtol=0, atol=1e-5 * np.abs(direct).max())
    timings = {name: asdict(t) for name, t in interleave(calls, rounds=1 if tiny else ROUNDS).items()}
    print(side, {name: f"{1e3 * t['median']:.2f} ms" for name, t in timings.items()}, flush=True)
    size, moved = f"B = {B:,}, masks of {MASKS[0]} to {MASKS[-1]}", 4.0 * B * side * side * (C + M)
    return {"case": f"FFT or direct, {C}->{M}, {side} x {side}", "size": size, "flops": 0.0, "bytes": moved,
            "timings": timings}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
