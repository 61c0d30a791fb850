"""A report knows which thread wrote an element of an argument last."""

import sys

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.arrays import DeviceArray
from tests.simt.kernels import copy_2d

TEXT = """
from numba import cuda
def k(out):
    out[cuda.threadIdx.x] = cuda.blockIdx.x
"""


@pytest.mark.parametrize("lanes", [65_536, 32])
def test_block_and_thread_of_each_element_whatever_runs_at_once(lanes, monkeypatch):
    monkeypatch.setattr(sys.modules["course_lib.simt.run"], "BATCH_LANES", lanes)
    A = np.ones((7, 20), np.float32)
    out = DeviceArray.empty((9, 20), np.float32)
    report = simt.run(copy_2d, (3, 2), (8, 4), (A, out))
    for row in range(7):
        for column in range(20):
            block, thread = report.writer("out", (row, column))
            assert (block[0] * 8 + thread[0], block[1] * 4 + thread[1]) == (column, row)
    assert report.writer("out", (8, 3)) is None


def test_the_last_writer_of_a_race_is_named():
    report = simt.run(simt.read(TEXT), 3, 4, (np.zeros(4, np.int32),), on_error="collect")
    assert report.hazards
    assert report.writer("out", (2,)) == ((2, 0, 0), (2, 0, 0))


def test_nobody_is_named_for_what_is_no_element_or_was_not_looked_after():
    A, out = np.ones((4, 8), np.float32), np.ones((4, 8), np.float32)
    report = simt.run(copy_2d, 1, (8, 4), (A, out))
    assert report.writer("A", (0, 0)) is None
    assert report.writer("B", (0, 0)) is None
    assert report.writer("out", (0,)) is None
    assert simt.run(copy_2d, 1, (8, 4), (A, out), races=False).writer("out", (0, 0)) is None
