"""Sums over all ranks: right, with the same bits everywhere and always, and as many messages as the formulas say."""

import numpy as np
import pytest

from course_lib import parallel
from course_lib.parallel import ring
from course_lib.parallel.traffic import Traffic
from course_lib.parallel.world import WAYS

SIZES = (1, 2, 3, 4, 5, 8)
COUNTS = (1, 2, 7, 60, 1001)  # fewer numbers than ranks, and such as cannot be cut evenly

on_each_way = pytest.mark.parametrize("by", WAYS)


def numbers(rank, count, dtype=np.float32):
    return np.random.default_rng(rank).standard_normal(count).astype(dtype)


@on_each_way
@pytest.mark.parametrize("size", SIZES)
def test_small_integers_are_added_exactly_and_the_traffic_is_the_formulas(by, size):
    """Floats that are whole and small add without rounding, in any order."""

    def work(world):
        for count in COUNTS:
            array, before = np.arange(count, dtype=np.float32) + 100 * world.rank, world.traffic
            world.all_reduce(array, by)
            expected = size * np.arange(count) + 100 * sum(range(size))
            np.testing.assert_array_equal(array, expected)
            sent = world.traffic - before
            assert sent == (WAYS[by].traffic(world.rank, size, count, 4) if size > 1 else Traffic())
        return world.traffic

    parallel.run(work, size)


@on_each_way
@pytest.mark.parametrize("size", SIZES[1:])
def test_the_formulas_add_up_to_what_the_modules_say(by, size):
    count, itemsize = 120, 4  # 120 is a multiple of each size
    total = sum((WAYS[by].traffic(rank, size, count, itemsize) for rank in range(size)), Traffic())
    messages = 2 * size * (size - 1) if by == "ring" else 2 * (size - 1)
    assert total == Traffic(messages, 2 * (size - 1) * count * itemsize)
    if by == "ring":
        share = 2 * (size - 1) * count * itemsize // size
        assert {parallel.ring.traffic(rank, size, count, itemsize).bytes for rank in range(size)} == {share}


@pytest.mark.parametrize(("by", "expected"), [("ring", 14), ("tree", 6), ("all_to_one", 14)])
def test_steps_of_eight_ranks(by, expected):
    assert WAYS[by].steps(8) == expected


@on_each_way
@pytest.mark.parametrize("size", [2, 3, 4, 7])
def test_bits_are_equal_on_all_ranks_and_in_every_run(by, size):
    def work(world):
        array = numbers(world.rank, 1001)
        world.all_reduce(array, by)
        return array.tobytes()

    first, again = parallel.run(work, size), parallel.run(work, size)
    assert len({*first, *again}) == 1


def test_each_way_adds_in_the_order_that_it_tells():
    """Float32 additions in the order of the docstrings give the same bits; the three orders give different ones."""
    size, count = 4, 400
    parts = [numbers(rank, count) for rank in range(size)]

    def work(world, by):
        array = parts[world.rank].copy()
        world.all_reduce(array, by)
        return array

    in_order = parts[0] + parts[1] + parts[2] + parts[3]
    in_pairs = (parts[0] + parts[1]) + (parts[2] + parts[3])
    ring = np.empty(count, np.float32)
    for c in range(size):
        place = slice(c * count // size, (c + 1) * count // size)
        ring[place] = parts[c][place]
        for step in range(1, size):
            ring[place] += parts[(c + step) % size][place]
    expected = {"all_to_one": in_order, "tree": in_pairs, "ring": ring}
    for by, sums in expected.items():
        np.testing.assert_array_equal(parallel.run(lambda world, by=by: work(world, by), size)[0], sums)
    assert len({sums.tobytes() for sums in expected.values()}) == 3


@on_each_way
def test_arrays_of_several_axes_and_dtypes_keep_them(by):
    def work(world):
        for dtype in (np.float64, np.int32, np.uint8, np.complex64):
            array = np.ones((2, 3, 2), dtype)
            world.all_reduce(array, by)
            assert array.dtype == dtype
            np.testing.assert_array_equal(array, np.full((2, 3, 2), 3, dtype))

    parallel.run(work, 3)


@pytest.mark.parametrize("size", SIZES)
def test_a_broadcast_brings_the_roots_array_to_all(size):
    def work(world):
        for root in range(size):
            array, before = np.full(5, world.rank), world.traffic
            world.broadcast(array, root)
            assert (array == root).all()
            sent = (world.traffic - before).messages
            total = np.array([sent])
            world.all_reduce(total)
            assert total == size - 1

    parallel.run(work, size)


def test_nobody_passes_a_barrier_before_all_have_come():
    come = []

    def work(world):
        for turn in range(20):
            come.append(turn)
            world.barrier()
            assert come.count(turn) == 3
            world.barrier()

    parallel.run(work, 3)


def test_sends_that_wait_need_no_buffers_for_any_of_them():
    def work(world):
        for by in WAYS:
            array = np.ones(60)
            world.all_reduce(array, by)
            assert (array == 4).all()
        world.barrier()

    parallel.run(work, 4, buffer=0)


def test_another_way_is_refused_before_anything_is_sent():
    def work(world):
        with pytest.raises(ValueError, match="by is 'star'; it must be one of ring, tree, all_to_one"):
            world.all_reduce(np.ones(3), "star")
        with pytest.raises(ValueError, match="by is 'engine'"):  # threads have none of their own
            world.all_reduce(np.ones(3), "engine")
        assert world.traffic == Traffic()

    parallel.run(work, 2)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("count", [0, 1, 4, 11])
def test_the_halves_of_a_ring_leave_each_rank_its_part_and_hand_it_on(size, count):
    def work(world):
        array = np.arange(count) + 100.0 * world.rank
        mine = ring.reduce_scatter(world, array)
        part = array[mine].copy()
        array[:] = np.nan
        array[mine] = -part
        ring.all_gather(world, array)
        return mine, array

    found = parallel.run(work, size, buffer=0)
    whole = size * np.arange(count) + 100.0 * sum(range(size))
    assert sorted(k for mine, _ in found for k in range(count)[mine]) == list(range(count))
    for _, array in found:
        np.testing.assert_array_equal(array, -whole)
