"""A loop over range is as cheap as a while loop where the replacement is in effect, and right where it is not."""

import functools
import json
import os
import subprocess
import sys

import pytest

from course_lib.cuda import fastrange
from tests.gates.compiler import missing
from tests.setup.project import ROOT

COUNT = """
import json, sys
from unittest import mock
from tests.gates.compiler import use_compiler
use_compiler()
import numpy as np
from course_lib import gpu
from course_lib.cuda import fastrange
from course_lib.cuda.compile_report import compile_launch, launches_of
from course_lib.cuda.numba_cuda import cuda
import numba_cuda
from numba import float32

@gpu.jit
def counted(x, y, n):
    i = cuda.grid(1)
    total = float32(0)
    for k in range(n):
        total += x[k] * x[k + i]
    y[i] = total

if sys.argv[1] == "another version":
    numba_cuda.__version__ = "99.0.0"
installed = fastrange.install() if sys.argv[1] != "without" else None
again = fastrange.install() if sys.argv[1] != "without" else None
x = gpu.empty(1000, np.float32)
(launch,) = launches_of(lambda: counted[1, 32](x, x, 100))
with mock.patch.object(fastrange, "install", lambda: None):  # the compile report would install it
    report = compile_launch(launch, (8, 0))
share = report.loop.share
print(json.dumps({"installed": installed, "again": again, "share": share, "ffma": report.loop.mix.get("FFMA", 0)}))
"""


@functools.cache
def compiled(way):
    if reason := missing():
        pytest.skip(reason)
    done = subprocess.run(
        [sys.executable, "-c", COUNT, way], cwd=ROOT, env=os.environ | {"COURSE_DEVICE": "simt"}, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_loop_has_a_larger_share_of_multiply_adds_with_it_than_without():
    with_it, without = compiled("with"), compiled("without")
    assert (with_it["installed"], with_it["again"]) == (True, True)
    assert with_it["share"] > 1.5 * without["share"], (with_it, without)


def test_another_version_is_left_alone_and_its_loops_compile():
    other, without = compiled("another version"), compiled("without")
    assert (other["installed"], other["again"]) == (False, False)
    assert other["share"] == without["share"]


def test_without_numba_cuda_nothing_is_replaced(monkeypatch):
    monkeypatch.setattr(fastrange, "HAS_PACKAGE", False)
    monkeypatch.setattr(fastrange, "_state", {})
    assert not fastrange.install()
