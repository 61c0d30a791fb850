"""`course bench cpu`: training steps and single layers, the course's backends against PyTorch on the CPU.

Source: the course's choice.
"""

import os
import subprocess
import sys
import tempfile

from course_lib import fast
from course_lib.bench.report import Report, Row, describe_machine
from course_lib.bench.rivals import BACKENDS, NETS, CourseRival, TorchRival, has_torch
from course_lib.bench.timing import interleave
from course_lib.checks import check_close
from course_lib.validate import require_count

STEP_BLOCK, LAYER_BLOCK = 0.1, 0.01
"""Seconds of a block. PyTorch's threads need some calls before they run at their best."""

AROUND = {"fast": fast.one_blas_thread}
"""As in `nn.train`."""


def bench_cpu(*, threads=None, batch=64, rounds=30, on_row=None):
    """Return a `Report`: seconds per call of each rival for every step and layer, measured in turns.

    Results are compared before anything is timed.

    Parameters
    ----------
    threads : int >= 1, optional
        For all rivals; `fast.threads()` unless given.
    batch : int >= 1
        Images in a batch.
    rounds : int >= 1
    on_row : callable, optional
        on_row(row) after each row, to show progress.

    Raises
    ------
    TypeError, ValueError
        If a number is not a whole number >= 1.
    checks.Mismatch
        If two rivals do not compute the same.

    Source: the course's choice.
    """
    threads = require_count("threads", fast.threads() if threads is None else threads)
    batch, rounds = require_count("batch", batch), require_count("rounds", rounds)
    before = fast.threads()
    fast.set_threads(threads)
    if has_torch():
        import torch

        torch.set_num_threads(threads)
    try:
        rows = []
        for row in _rows(batch, rounds):
            rows.append(row)
            if on_row is not None:
                on_row(row)
        return Report(describe_machine(), threads, batch, _first_call(), rows)
    finally:
        fast.set_threads(before)


def _rows(batch, rounds):
    for name in NETS:
        rivals = _rivals(name, batch)
        losses = {r: rival.step() for r, rival in rivals.items()}
        for r, loss in losses.items():
            check_close(loss, losses["reference"], rtol=1e-4, name=f"{r}'s loss of {name}")
        steps = {r: rival.step for r, rival in rivals.items()}
        yield Row(name, "training step", "", interleave(steps, rounds=rounds, block=STEP_BLOCK, around=AROUND))
    for name in NETS:
        parts = {r: list(rival.layers()) for r, rival in _rivals(name, batch).items()}
        for i, (layer, _, _) in enumerate(parts["reference"]):
            for direction, which in (("forward", 1), ("backward", 2)):
                calls = {r: p[i][which] for r, p in parts.items()}
                timings = interleave(calls, rounds=rounds, block=LAYER_BLOCK, around=AROUND)
                yield Row(name, layer, direction, timings)


def _rivals(name, batch):
    rivals = {backend: CourseRival(name, backend, batch) for backend in BACKENDS}
    return rivals | ({"PyTorch": TorchRival(name, batch)} if has_torch() else {})


def _first_call():
    """Seconds that compiling takes in one training step of LeNet-5, when nothing is on the disk yet."""
    code = (
        "from course_lib.bench.rivals import CourseRival; from course_lib import fast; "
        "CourseRival('LeNet-5', 'fast', 2).step(); print(fast.compile_seconds())"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder, "COURSE_PROGRESS": "0"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)
