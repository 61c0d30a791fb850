"""A systolic array computes the product, takes M + K + N - 2 beats, and each cell is busy in M of them."""

from itertools import pairwise

import numpy as np
import pytest

from course_lib.reference.systolic import systolic_product


@pytest.mark.parametrize(("M", "K", "N"), [(1, 1, 1), (3, 3, 3), (7, 2, 5), (2, 6, 1), (1, 4, 3)])
def test_it_multiplies_in_as_many_beats_as_rows_and_cells_along_two_edges(M, K, N):
    rng = np.random.default_rng(0)
    A, B = (rng.integers(-9, 10, s).astype(np.float64) for s in ((M, K), (K, N)))
    C, beats = systolic_product(A, B)
    np.testing.assert_array_equal(C, A @ B)
    assert len(beats) == M + K + N - 2
    assert sum(beat.busy for beat in beats) == M * K * N


def test_numbers_move_right_and_sums_move_down_one_cell_a_beat():
    A, B = np.arange(1.0, 7).reshape(3, 2), np.arange(1.0, 7).reshape(2, 3)
    _, beats = systolic_product(A, B)
    for before, after in pairwise(beats):
        np.testing.assert_array_equal(after.moving[:, 1:], before.moving[:, :-1])
        np.testing.assert_array_equal(after.sums[1:], before.sums[:-1] + after.moving[1:] * B[1:])
    assert beats[0].busy == 1
    assert beats[0].rows[0, 0] == 0
    assert beats[1].rows[1, 0] == 0  # element 1 of row 0 enters one beat later


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"A is \(2, 3\) and B is \(2, 3\)"):
        systolic_product(np.ones((2, 3)), np.ones((2, 3)))
