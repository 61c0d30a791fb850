"""Some blocks of a launch stand for all: their requests, the sectors that they write in part, what L1 keeps."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.estimate.sample import sample, shape_of, through_cache
from tests.simt.measured.kernels import access, products


def zeros(*shape):
    return np.zeros(shape, np.float32)


def per_block(kernel, grid, block, arguments, **options):
    report, watch = sample(kernel, grid, block, arguments, **options)
    blocks = report.sampled[0]
    return {way: {k: v / blocks for k, v in vars(use).items()} for way, use in watch.ways.items()}, report


def test_a_naive_transpose_writes_every_sector_in_part_and_a_tiled_one_none():
    naive, report = per_block(access.transpose_naive, (32, 32), (32, 32), (zeros(1024, 1024), zeros(1024, 1024)))
    tiled, _ = per_block(access.transpose_tile, (32, 32), (32, 32), (zeros(1024, 1024), zeros(1024, 1024)))
    assert report.sampled[1] == 1024
    assert naive["store"] | {"requests": 32, "sectors": 1024, "lines": 1024, "partial": 1024} == naive["store"]
    assert naive["load"] | {"requests": 32, "sectors": 128, "lines": 32, "missed": 128} == naive["load"]
    assert tiled["store"] | {"requests": 32, "sectors": 128, "lines": 32, "partial": 0} == tiled["store"]


def test_a_small_cache_misses_what_a_large_one_keeps():
    arguments = zeros(256, 256), zeros(256, 256), zeros(256, 256)
    large, _ = per_block(products.product_naive, (16, 16), (16, 16), arguments, l1_bytes=64 * 1024)
    small, _ = per_block(products.product_naive, (16, 16), (16, 16), arguments, l1_bytes=1024)
    # 16 rows of A and 16 columns of B, each sector once: 2 x 16 x 256 numbers, 8 in a sector
    assert large["load"]["missed"] == large["load"]["distinct"] == 2 * 16 * 256 / 8
    assert small["load"]["missed"] > 2 * large["load"]["missed"]
    assert small["load"]["sectors"] == large["load"]["sectors"]


def test_a_line_is_gone_after_as_many_others_came_as_there_is_room_for():
    line = np.array([0, 1, 2, 0])
    np.testing.assert_array_equal(through_cache(line, line, 3, 3, 2), [True, True, True, True])
    np.testing.assert_array_equal(through_cache(line, line, 3, 3, 3), [True, True, True, False])


def test_a_line_that_is_used_again_stays():
    line = np.array([0, 1, 0, 2, 0])
    np.testing.assert_array_equal(through_cache(line, line, 3, 3, 2), [True, True, False, True, False])


def test_sectors_of_one_line_come_one_by_one():
    sector, line = np.array([0, 1, 0, 1]), np.zeros(4, np.int64)
    np.testing.assert_array_equal(through_cache(sector, line, 2, 1, 1), [True, True, False, False])


@pytest.mark.parametrize(
    ("address", "size", "wanted"),
    [
        (np.arange(32) * 4, 4, (1, 1, 0, 4)),  # a row of float32
        (np.arange(32) * 4 + 4, 4, (1, 2, 2, 5)),  # one further: a sector in part at either end
        (np.arange(32) * 16, 16, (1, 4, 0, 16)),  # float32 in fours
        (np.arange(32) * 128, 4, (1, 32, 32, 32)),  # a column
        (np.zeros(32, np.int64), 4, (1, 1, 1, 1)),  # one element for all
        (np.arange(32) * 4, 8, (1, 2, 1, 5)),  # elements that overlap
    ],
)
def test_the_shape_of_a_request(address, size, wanted):
    requests, lines, partial, sectors = shape_of(np.zeros(32, np.int32), address, size)
    assert (requests, lines, partial, len(sectors)) == wanted


def test_sampled_counts_are_those_of_a_whole_walk_where_blocks_are_alike():
    arguments = zeros(512, 512), zeros(512, 512)
    whole = simt.run(access.copy_rows, (16, 64), (32, 8), arguments, races=False).total
    report, _ = sample(access.copy_rows, (16, 64), (32, 8), arguments)
    assert report.total.global_load_sectors * 1024 == whole.global_load_sectors * report.sampled[0]
    assert report.total.instructions * 1024 == whole.instructions * report.sampled[0]
