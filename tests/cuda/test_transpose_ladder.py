"""The ladder of transposes: every number in its place for any size, and the traffic of its formulas."""

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda.ladders.rung import rungs_for
from course_lib.cuda.ladders.transpose import LADDER, checks, v05_ragged_rows
from course_lib.cuda.ladders.transpose.counts import staircase_traffic
from course_lib.cuda.recording import record_launches
from tests.cuda.counted import counted
from tests.cuda.unfit import KINDS, unfit
from tests.gpu.devices import nans, needs_numba, ramp

TILES = [(64, 64, 512, 8), (64, 64, 256, 8), (128, 64, 512, 8), (64, 128, 512, 8), (64, 64, 512, 16),
         (128, 64, 512, 32)]  # fmt: skip
SIZES = [(1, 1), (1, 40), (40, 1), (7, 13), (17, 5), (33, 65), (64, 64), (4, 8), (68, 132), (100, 36)]
every_rung = pytest.mark.parametrize("rung", LADDER, ids=lambda rung: rung.name)
each_size = pytest.mark.parametrize(("R", "C"), SIZES, ids=lambda n: str(n))


def transposed(rung, x):
    y = nans(*x.shape[::-1])
    rung.launch(x if not isinstance(x, np.ndarray) else gpu.to_device(x), y)
    return gpu.to_host(y)


def test_rungs_are_in_order_and_named_after_their_files():
    assert [r.number for r in LADDER] == [1, 2, 3, 4, 5]
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
    naive, tile, padded, coarsened = (rung.traffic(128, 128) for rung in rungs_for(LADDER))
    requests = 128 * 128 // 32
    assert naive["global_store_sectors"] == 32 * requests
    assert tile["global_store_sectors"] == 4 * requests
    assert tile["shared_load_conflicts"] == 31 * requests
    assert padded["shared_load_conflicts"] == 0
    assert coarsened["global_load_requests"] == coarsened["global_store_requests"] == requests // 4
    assert coarsened["shared_load_conflicts"] == coarsened["shared_store_conflicts"] == 0
    straight, cut = (rung.traffic(1023, 511) for rung in LADDER[3:])
    assert straight["global_store_sectors"] / straight["global_store_requests"] > 4.8
    assert cut["global_store_sectors"] < 1.03 * 1023 * 511 / 8


@pytest.mark.parametrize("begin", [0, 3])
@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize(("R", "C"), [(1, 1), (31, 2), (33, 65), (65, 129), (97, 64), (200, 3), (5, 300), (64, 72)])
def test_tiles_of_any_size_cut_anywhere_put_every_number_in_its_place(R, C, tile, begin):
    x, flat = ramp(R, C), nans(R * C + begin)
    v05_ragged_rows.in_tiles(gpu.to_device(x), flat[begin:].reshape(C, R), *tile)
    np.testing.assert_array_equal(gpu.to_host(flat)[begin:].reshape(C, R), x.T)
    assert np.isnan(gpu.to_host(flat)[:begin]).all()


@needs_numba
@pytest.mark.parametrize(("R", "C"), [(97, 66), (31, 33), (66, 67), (40, 35)], ids=str)
@pytest.mark.parametrize("tile", TILES, ids=str)
def test_traffic_of_tiles_is_what_the_formula_says(R, C, tile):
    counts, hazards = counted(v05_ragged_rows.in_tiles, gpu.to_device(ramp(R, C)), nans(C, R), *tile)
    promised = staircase_traffic(R, C, *tile)
    assert {name: counts[name] for name in promised} == promised
    assert hazards == []
    assert R % 2 == 0 or promised["shared_store_conflicts"] == 0


@pytest.mark.parametrize("begin", [1, 3, 7])
def test_sectors_of_a_result_that_begins_anywhere_are_written_whole(begin):
    x, flat = ramp(61, 67), nans(61 * 67 + begin)
    y = flat[begin:].reshape(67, 61)
    v05_ragged_rows.transpose_v05_ragged_rows(gpu.to_device(x), y)
    np.testing.assert_array_equal(gpu.to_host(y), x.T)
    assert np.isnan(gpu.to_host(flat)[:begin]).all()


@needs_numba
def test_a_cut_at_sectors_leaves_none_in_two_parts_but_at_the_ends_of_rows():
    R, C = 517, 131
    x, y = gpu.to_device(ramp(R, C)), nans(C, R)
    straight, cut = (counted(rung.launch, x, y)[0] for rung in LADDER[3:])
    assert cut["global_store_sectors"] - R * C / 8 < 8 * C  # a row's ends: one by one, four requests at most
    assert straight["global_store_sectors"] - R * C / 8 > 0.8 * straight["global_store_requests"] > 8 * C
    assert 1 < cut["global_load_sectors"] / straight["global_load_sectors"] < 1 + 8 / v05_ragged_rows.DOWN


def test_where_rows_are_not_ragged_the_fourth_rung_does_it_and_where_there_are_too_many_numbers(monkeypatch):
    def kernels(R, C, begin=0):
        x, y = (gpu.empty((R * C + begin,), np.float32)[begin:].reshape(shape) for shape in ((R, C), (C, R)))
        with record_launches(run=False) as launches:
            v05_ragged_rows.transpose_v05_ragged_rows(x, y)
        return {launch.kernel.__name__ for launch in launches}

    assert kernels(64, 36) == {"_transpose_v04"}
    assert kernels(64, 36, begin=1) == kernels(64, 35) == kernels(63, 36) == {"_transpose_v05"}
    monkeypatch.setattr(v05_ragged_rows, "MOST", 64 * 35)
    assert kernels(64, 35) == {"_transpose_v04_any"}
    assert kernels(64, 33) == {"_transpose_v05"}


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
