"""A thread's number takes as many bits as its block needs: small blocks may be many."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.lanes import block_bits, check_grid
from course_lib.simt.machine import Machine
from tests.simt.text import function


@pytest.mark.parametrize(
    ("threads", "bits"),
    [(1, 5), (31, 5), (32, 5), (33, 6), (64, 6), (65, 7), (256, 8), (257, 9), (1000, 10), (1024, 10)],
)
def test_bits_hold_the_threads_of_a_block_and_whole_warps(threads, bits):
    assert block_bits(threads) == bits
    assert threads <= 2**bits


@pytest.mark.parametrize(("block", "most"), [((1, 1, 1), 2**26 - 1), ((64, 1, 1), 2**25 - 1), ((32, 32, 1), 2**21 - 1)])
def test_more_blocks_than_can_be_numbered_are_refused_with_the_most(block, most):
    check_grid((most, 1, 1), block)
    with pytest.raises(simt.LaunchError, match=f"{most:,} of {np.prod(block):,} threads"):
        check_grid((most + 1, 1, 1), block)
    with pytest.raises(simt.LaunchError, match="Use fewer or larger blocks"):
        simt.run(function("def kernel(x):\n    x[0] = 1"), (most + 1,), block, (np.zeros(1),))


def test_race_between_far_blocks_names_them():
    kernel = function("""
        def kernel(x):
            b = cuda.blockIdx.x
            if b == 7 or b == 2 ** 20 + 5:
                x[0] = b
    """)
    report = simt.run(kernel, 2**20 + 6, 1, (np.zeros(1, np.int64),), on_error="collect", counters=False)
    (h,) = report.hazards
    assert (h.details["block"], h.details["other_block"]) == ((2**20 + 5, 0, 0), (7, 0, 0))
    assert report.writer("x", (0,)) == ((2**20 + 5, 0, 0), (0, 0, 0))


@pytest.mark.parametrize("threads", [1, 5, 32, 33, 48, 100, 128, 500, 1024])
def test_partners_in_a_race_are_the_true_ones_in_blocks_of_any_size(threads):
    kernel = function("def kernel(x):\n    x[0] = cuda.grid(1)")
    report = simt.run(kernel, 3, threads, (np.full(1, -1),), on_error="collect")
    (h,) = report.hazards
    assert h.count == 3 * threads - 1
    first = (1, 0, 0) if threads > 1 else (0, 0, 0)
    assert (h.details["thread"], h.details["other_thread"]) == (first, (0, 0, 0))
    assert report.writer("x", (0,)) == ((2, 0, 0), (threads - 1, 0, 0))
    assert Machine((3, 1, 1), (threads, 1, 1), steps=1).block_bits == block_bits(threads)
