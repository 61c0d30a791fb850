"""The ladder of transposes: every number in its place for any size, and the traffic of its formulas."""

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda.ladders.transpose import LADDER, checks
from tests.cuda.counted import counted
from tests.cuda.unfit import KINDS, unfit
from tests.gpu.devices import nans, needs_numba, ramp

SIZES = [(1, 1), (1, 40), (40, 1), (7, 13), (17, 5), (33, 65), (64, 64), (4, 8), (68, 132), (100, 36)]
every_rung = pytest.mark.parametrize("rung", LADDER, ids=lambda rung: rung.name)
each_size = pytest.mark.parametrize(("R", "C"), SIZES, ids=lambda n: str(n))


def transposed(rung, x):
    y = nans(*x.shape[::-1])
    rung.launch(x if not isinstance(x, np.ndarray) else gpu.to_device(x), y)
    return gpu.to_host(y)


def test_rungs_are_in_order_and_named_after_their_files():
    assert [r.number for r in LADDER] == [1, 2, 3, 4]
    assert [r.launch.__module__.rpartition(".")[2] for r in LADDER] == [r.name for r in LADDER]


@every_rung
@each_size
def test_every_number_is_in_its_place(rung, R, C):
    np.testing.assert_array_equal(transposed(rung, ramp(R, C)), ramp(R, C).T)


@every_rung
def test_rows_that_begin_anywhere_are_transposed(rung):
    x = ramp(9 * 8 + 1)
    np.testing.assert_array_equal(transposed(rung, gpu.to_device(x)[1:].reshape(9, 8)), x[1:].reshape(9, 8).T)
    np.testing.assert_array_equal(transposed(rung, gpu.to_device(x)[1:].reshape(4, 18)), x[1:].reshape(4, 18).T)


@every_rung
def test_more_rows_than_a_grid_has_are_transposed_in_slices(rung, monkeypatch):
    monkeypatch.setattr(checks, "MOST_ROWS", 64)
    np.testing.assert_array_equal(transposed(rung, ramp(150, 9)), ramp(150, 9).T)


@needs_numba
@every_rung
@each_size
def test_traffic_is_what_the_formula_says(rung, R, C):
    counts, hazards = counted(rung.launch, gpu.to_device(ramp(R, C)), nans(C, R))
    promised = rung.traffic(R, C)
    assert {name: counts[name] for name in promised} == promised
    assert hazards == []


def test_counters_move_as_the_ladder_says():
    naive, tile, padded, coarsened = (rung.traffic(128, 128) for rung in LADDER)
    requests = 128 * 128 // 32
    assert naive["global_store_sectors"] == 32 * requests
    assert tile["global_store_sectors"] == 4 * requests
    assert tile["shared_load_conflicts"] == 31 * requests
    assert padded["shared_load_conflicts"] == 0
    assert coarsened["global_load_requests"] == coarsened["global_store_requests"] == requests // 4
    assert coarsened["shared_load_conflicts"] == coarsened["shared_store_conflicts"] == 0


@every_rung
@pytest.mark.parametrize("kind", KINDS)
def test_matrix_that_does_not_fit_is_refused(rung, kind):
    x, error = unfit(kind, ramp(6, 4))
    with pytest.raises(error, match=r"^x "):
        rung.launch(x, nans(4, 6))
    y, error = unfit(kind, ramp(4, 6))
    with pytest.raises((TypeError, ValueError), match=r"^y "):
        rung.launch(gpu.to_device(ramp(6, 4)), y)


@every_rung
@pytest.mark.parametrize("shape", [(6, 4), (4, 7), (24,), (1, 4, 6)])
def test_result_of_another_shape_is_refused(rung, shape):
    with pytest.raises(ValueError, match=r"^y is .*; its shape must be \(4, 6\)"):
        rung.launch(gpu.to_device(ramp(6, 4)), nans(*shape))


@every_rung
def test_vector_is_refused(rung):
    with pytest.raises(ValueError, match=r"^x has shape \(6,\), 1 axes; it must have 2"):
        rung.launch(gpu.to_device(ramp(6)), nans(6))
