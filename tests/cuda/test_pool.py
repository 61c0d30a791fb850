"""Memory that is given back is handed out again, and a recorded graph's is its own; no device is asked."""

from collections import defaultdict

import pytest

from tests.gpu.devices import needs_numba

pytestmark = needs_numba


@pytest.fixture
def pool():
    from course_lib.cuda.pool import Pool

    class Counting(Pool):
        """A pool whose driver hands out 1, 2, 3 ... as addresses."""

        def __init__(self):
            self.free, self.recording, self.context, self.asked = defaultdict(list), None, None, 0

        def _new(self, block):
            self.asked += 1
            return self.asked

    return Counting()


def blocks(pool):
    return {size: addresses for size, addresses in pool.free.items() if addresses}


def test_sizes_are_rounded_up_by_little():
    from course_lib.cuda.pool import rounded

    assert [rounded(n) for n in (1, 512, 513, 2**20, 2**20 + 1)] == [512, 512, 1024, 2**20, 2**20 + 2**17]
    assert all(n <= rounded(n) <= max(n + 511, n * 9 / 8) for n in range(1, 5_000_000, 999))


def test_a_block_comes_back_and_goes_out_again(pool):
    first = pool.memalloc(100)
    del first
    assert blocks(pool) == {512: [1]}
    again, other = pool.memalloc(400), pool.memalloc(100)
    assert (int(again.device_pointer), int(other.device_pointer), pool.asked) == (1, 2, 2)


def test_what_a_graph_took_stays_its_own_until_it_ends(pool):
    from course_lib.cuda.pool import GraphMemory

    pool.recording = graph = GraphMemory(pool)
    array = pool.memalloc(100)
    pool.recording = None
    del array
    assert blocks(pool) == {}
    assert graph.free[512] == [1]
    graph.end()
    assert blocks(pool) == {512: [1]}


def test_an_array_that_outlives_its_context_gives_nothing_to_the_next_one(pool):
    array = pool.memalloc(100)
    pool.free = defaultdict(list)  # as `reset` does
    del array
    assert blocks(pool) == {}
