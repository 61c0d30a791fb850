"""Verify and time the convolution rungs above v06: python tools/measure_convolutions.py --out FILE

Each part is a layer and a direction. Everybody's result is compared with float64; who is right is timed in turns, with
CUDA events, beside the rungs that are fastest today and cuDNN in float32 (TF32 off), as `course bench gpu` does:

    conv 64->64 k3 forward    v09
    conv 4->16 k7 forward     v12, by wgmma
    conv 4->16 k7 dX          v11, by wgmma
    conv 6->16 k5 dX          v11, by wgmma
    conv 1->6 k5 forward      v11

Those by wgmma are for compute capability 9.0 alone. Here are the cuts that are taken, and those that came next on an
H200; others that were measured there are in results/convolutions.h200.json.

A table for each part: milliseconds, TFLOP/s, how many times cuDNN's speed, the largest error as a share of the largest
result, how many times cuDNN's error that is (3xTF32: 1.5 at most), and the verdict. The first line of a rung is the cut
that its plan takes; a faster cut belongs into TUNED of that plan, and a rung that is worth it into SWITCHED_ON of
course_lib/cuda/ladders/conv2d/chosen.py.

Each part is a process of its own with a limit of 40 seconds: what hangs or fails is told, and the others still run. A
kernel is compiled for two to eight seconds and then kept; cuts for which there is no time left are named, and are there
in the next run; --cuts 1 takes the first ones alone. FILE is such as results/convolutions.<device>.json. --tiny does
everything once, small, on the executor: a smoke test without a GPU, whose times mean nothing. Needs compute capability
8.0 and, for cuDNN, PyTorch.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402  - a script finds the course beside it

from course_lib import gpu  # noqa: E402
from course_lib.bench.gpu.cases import CONVOLUTIONS  # noqa: E402
from course_lib.bench.gpu.measure import find_backend, measure  # noqa: E402
from course_lib.bench.gpu.players import players  # noqa: E402
from course_lib.bench.gpu.promises import ERROR_RATIO, PROMISES  # noqa: E402
from course_lib.bench.gpu.work import FLOAT32, READABLE, THREE_TF32, Work  # noqa: E402
from course_lib.bench.timing import Timing  # noqa: E402
from course_lib.cuda.capability import compute_capability  # noqa: E402
from course_lib.cuda.ladders.conv2d.backward_data import v06_specialised as data_v06  # noqa: E402
from course_lib.cuda.ladders.conv2d.backward_data import v11_3xtf32_wgmma as data_v11  # noqa: E402
from course_lib.cuda.ladders.conv2d.forward import (  # noqa: E402
    v06_specialised,
    v09_3xtf32,
    v10_3xtf32_rows,
    v11_streamed,
    v12_3xtf32_wgmma,
)
from course_lib.cuda.ladders.conv2d.forward.checks import sizes_of  # noqa: E402
from course_lib.cuda.ladders.conv2d.forward.stream_plan import StreamPlan  # noqa: E402
from course_lib.cuda.ladders.conv2d.forward.tap_plan import TapPlan  # noqa: E402
from course_lib.cuda.ladders.conv2d.forward.wgmma_plan import WgmmaPlan  # noqa: E402
from course_lib.cuda.ladders.rung import Rung  # noqa: E402

LIMIT = 40
"""Seconds that a part may take."""

COMPILING = 22
"""Seconds of a part after which no further kernel is compiled."""

CUDNN = "cuDNN"


@dataclass(frozen=True)
class Part:
    """One layer in one direction, and who is measured.

    Attributes
    ----------
    layer, direction : str
        A key of `bench.gpu.cases.CONVOLUTIONS`; "forward" or "dX".
    rung : str
        The new rung's name, under which its players stand.
    module, kind : module, class
        Its launchers, and its plans.
    cuts : tuple of tuples
        Fields of plans; the first is the one that is taken.
    today : dict of str to function
        Launchers of the rungs that are fastest today.
    cc : tuple of int or None
        The only compute capability that has the rung's instructions; None if it is from 8.0 on.
    """

    layer: str
    direction: str
    rung: str
    module: object
    kind: type
    cuts: tuple
    today: dict[str, Callable]
    cc: tuple[int, int] | None = None

    def plan(self, s, cut):
        """Return the plan of a cut for forward's Sizes."""
        s = replace(s, B=0)
        return self.kind(data_v11.turned(s) if self.module is data_v11 else s, *cut)

    @property
    def name(self):
        """The layer and the direction: a case of `course bench gpu`."""
        return f"{self.layer} {self.direction}"

    @property
    def promise(self):
        """What `course bench gpu` promises of it: floor and goal in times cuDNN's speed."""
        return next(p for p in PROMISES if p.case == self.name and p.work.startswith("convolution") and p.floor)


HOPPER = (9, 0)
_V06, _V10 = v06_specialised.conv2d_forward_v06_specialised, v10_3xtf32_rows.conv2d_forward_v10_3xtf32_rows
_DATA_V06 = data_v06.conv2d_backward_data_v06_specialised
PARTS = {
    part.name: part
    for part in (
        Part("conv 64->64 k3", "forward", "v09_3xtf32", v09_3xtf32, TapPlan,
             ((4, 4, 4, 2, 2), (4, 4, 4, 3, 2)), {"v06_specialised": _V06}),
        Part("conv 4->16 k7", "forward", "v12_3xtf32_wgmma", v12_3xtf32_wgmma, WgmmaPlan,
             ((1, 1, 2, 3, 4, 3), (1, 1, 4, 2, 4, 3)), {"v06_specialised": _V06, "v10_3xtf32_rows": _V10}, HOPPER),
        Part("conv 4->16 k7", "dX", "v11_3xtf32_wgmma", data_v11, WgmmaPlan,
             ((3, 2, 2, 3, 4, 1), (3, 2, 2, 2, 4, 1)), {"v06_specialised": _DATA_V06}, HOPPER),
        Part("conv 6->16 k5", "dX", "v11_3xtf32_wgmma", data_v11, WgmmaPlan,
             ((2, 4, 2, 2, 4, 1), (2, 2, 2, 2, 4, 1)), {"v06_specialised": _DATA_V06}, HOPPER),
        Part("conv 1->6 k5", "forward", "v11_streamed", v11_streamed, StreamPlan,
             ((1, 2, 2), (1, 1, 4)), {"v06_specialised": _V06}),
    )
}  # fmt: skip
"""Everything that is measured, by name."""

TINY = {
    "conv 64->64 k3": dict(B=1, C=64, H=5, W=8, M=64, K=3, stride=1, pad=1),
    "conv 4->16 k7": dict(B=2, C=4, H=12, W=12, M=16, K=7, stride=1, pad=0),
    "conv 6->16 k5": dict(B=3, C=6, H=14, W=14, M=16, K=5, stride=1, pad=0),
    "conv 1->6 k5": dict(B=3, C=1, H=32, W=32, M=6, K=5, stride=1, pad=0),
}


def tensors(part, tiny):
    """Return ({letter: shape} of x, w and y, the stride and the padding) of a part's layer."""
    n = (TINY if tiny else CONVOLUTIONS)[part.layer]
    s = sizes_of((n["B"], n["C"], n["H"], n["W"]), (n["M"], n["C"], n["K"], n["K"]), n["stride"], n["pad"])
    shapes = {"x": (s.B, s.C, s.H, s.W), "w": (s.M, s.C, s.K_h, s.K_w), "y": (s.B, s.M, s.H_out, s.W_out)}
    return shapes, n["stride"], n["pad"]


ARRAYS = {"forward": ("xw", "y"), "dX": ("yw", "x")}
"""Direction -> the letters of what a launcher gets, and the one of what it writes."""


def launchers(part, s, cuts):
    """Return {player: function (given, written, stride, pad) that launches}: today's rungs, then the new one's cuts."""
    found = {name: functools.partial(_today, part, launch) for name, launch in part.today.items()}
    for cut in part.cuts[:cuts]:
        found[f"{part.rung} {cut}"] = functools.partial(_cut, part, part.plan(s, cut))
    return found


def _today(part, launch, given, written, stride, pad):
    bias = (None,) if part.direction == "forward" else ()
    launch(*given, *bias, *written, (stride,) * 2, (pad,) * 2)


def _cut(part, plan, given, written, stride, pad):
    w = given[1]
    bias = (w.reshape(w.size), False) if part.direction == "forward" else ()  # there is none
    part.module.launch(plan, *given, *bias, *written)


def work_of(part, backend, tiny, cuts, started):
    """Return the `Work` of a part, with arrays on the device; no player is made when COMPILING seconds are over."""
    shapes, stride, pad = tensors(part, tiny)
    s, rng = sizes_of(shapes["x"], shapes["w"], stride, pad), np.random.default_rng(0)
    inputs, output = ARRAYS[part.direction]
    given = [gpu.to_device(rng.standard_normal(shapes[letter], np.float32)) for letter in inputs]

    def exact(sizes=False):
        arrays = [backend.double(array, sizes) for array in given]
        if part.direction == "forward":
            return backend.conv_forward(*arrays, stride, pad)
        return backend.conv_backward_data(*arrays, shapes["x"], stride, pad)

    def make(rung):
        if time.perf_counter() - started > COMPILING and not tiny:
            raise TimeoutError("no time was left to compile it; the next run finds the others compiled")
        written = (backend.nan(shapes[output]),)
        return lambda: rung.launch(given, written, stride, pad), written

    if part.direction == "forward":
        rivals = backend.conv_forward_rivals(*given, stride, pad)
    else:
        rivals = backend.conv_backward_data_rivals(*given, shapes["x"], stride, pad)
    rungs = [Rung(name, launch, "", "") for name, launch in launchers(part, s, cuts).items()]
    return Work(
        flops=2 * np.prod(shapes["y"], dtype=float) * s.depth,
        bytes=4 * float(sum(np.prod(shapes[letter]) for letter in "xwy")),
        terms=s.depth if part.direction == "forward" else s.M * s.K_h * s.K_w,
        exact=exact,
        ours=players(rungs, make),
        rivals={CUDNN: rivals[CUDNN]} if CUDNN in rivals else {},
        rival=dict.fromkeys((READABLE, FLOAT32, THREE_TF32), CUDNN) if CUDNN in rivals else {},
    )


def row_of(name, tiny, cuts):
    """Measure a part; return its row as a dict: `bench.gpu.measure.GpuRow`, with the floor and the goal."""
    started, part = time.perf_counter(), PARTS[name]
    backend = find_backend()
    case = SimpleNamespace(
        name=name, family=f"conv {part.direction}", size="tiny" if tiny else "as in course bench gpu",
        work=lambda backend, small: work_of(part, backend, tiny, cuts, started),
    )  # fmt: skip
    row = measure(case, backend, _no_timer if tiny else _timer(), 20)
    return asdict(row) | {"floor": part.promise.floor, "goal": part.promise.goal}


def _timer():
    from course_lib.bench.gpu.timing import time_in_turns

    return functools.partial(time_in_turns, block=0.006)


def _no_timer(rivals, rounds):
    return {name: Timing(1.0, 1.0, 1.0, rounds, 1) for name in rivals}


def verdicts(row):
    """Return [(player, seconds, times cuDNN's speed or None, error, times cuDNN's error or None, verdict)] of a row."""
    theirs = row["timings"].get(CUDNN, {}).get("median")
    their_error = row["errors"].get(CUDNN, [0])[0]
    found = []
    for player, timing in row["timings"].items():
        seconds, error = timing["median"], row["errors"][player][0]
        speed = theirs / seconds if theirs else None
        errors = error / their_error if their_error else None
        exact = errors is None or row["kinds"][player] != THREE_TF32 or errors <= ERROR_RATIO
        verdict = "-" if player == CUDNN or speed is None else _verdict(row, speed, exact)
        found.append((player, seconds, speed, error, errors, verdict))
    return found


def _verdict(row, speed, exact):
    if not exact:
        return "not exact enough"
    return "goal" if speed >= row["goal"] else "floor" if speed >= row["floor"] else "below"


def show(row):
    """Print the table of a row."""
    print(f"\n{row['case']}, floor {row['floor']:g}, goal {row['goal']:g}")
    for player, seconds, speed, error, errors, verdict in verdicts(row):
        times = " ".join("     -" if n is None else f"{n:6.2f}" for n in (speed, errors))
        rate = row["flops"] / seconds / 1e12
        print(f"  {player:34} {1e3 * seconds:8.4f} ms {rate:6.1f} TFLOP/s  speed, error x {times}  "
              f"{error:.2e}  {verdict}")  # fmt: skip
    for player, why in (row["failures"] | row["refused"]).items():
        print(f"  {player}: {why}")


def _run(name, tiny, cuts):
    """Return the row of a part that ran in a process of its own, or why there is none."""
    line = [sys.executable, str(Path(__file__).resolve()), "--part", name, "--cuts", str(cuts)]
    line += ["--tiny"] if tiny else []
    environment = os.environ | {"COURSE_PROGRESS": "0"}
    try:
        done = subprocess.run(
            line, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=10 * LIMIT if tiny else LIMIT,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, f"not done after {LIMIT} s"
    if done.returncode:
        return None, (done.stderr or done.stdout).strip()[-600:]
    return json.loads(done.stdout.splitlines()[-1]), ""


def main(arguments=None):
    """Do what the command line says; return the exit status: 1 if a part failed, or somebody in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), help="these parts only")
    parser.add_argument("--cuts", type=int, default=9, help="so many cuts of each new rung at most")
    parser.add_argument("--tiny", action="store_true", help="a smoke test without a GPU")
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.part:
        print(json.dumps(row_of(given.part, given.tiny, given.cuts)))
        return 0
    from course_lib.bench.gpu.run import describe_gpu
    from course_lib.cuda.choice import GPU
    from course_lib.cuda.device import choice

    if not given.tiny and choice().device != GPU:
        parser.error("convolutions are timed on a GPU; --tiny is a smoke test without one.")
    found = {"bench": "convolutions", "date": str(datetime.date.today()), "failures": {}, "rows": []}
    found["machine"] = {} if given.tiny else describe_gpu(find_backend())
    for name in given.only or PARTS:
        if not given.tiny and PARTS[name].cc not in (None, compute_capability()):
            print(f"\n{name}: only for compute capability {'.'.join(map(str, PARTS[name].cc))}")
            continue
        row, failure = _run(name, given.tiny, given.cuts)
        if failure:
            print(f"\n{name}: FAILED: {failure}")
            found["failures"][name] = failure
        else:
            show(row)
            found["rows"].append(row)
    if given.out:
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 1 if found["failures"] or any(row["failures"] for row in found["rows"]) else 0


if __name__ == "__main__":
    sys.exit(main())
