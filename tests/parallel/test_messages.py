"""Messages between two ranks: what arrives, what is refused, and what is counted."""

import numpy as np
import pytest

from course_lib import parallel
from course_lib.parallel.agree import agree, broadcast_bytes, receive_text, send_text
from course_lib.parallel.traffic import Traffic, cuts


def test_messages_arrive_in_their_order_and_are_copies():
    def work(world):
        if world.rank == 0:
            array = np.zeros(3)
            for turn in range(5):
                array[:] = turn
                world.send(array, 1)
            return world.traffic
        got = np.empty(3)
        for turn in range(5):
            world.receive(got, 0)
            assert (got == turn).all()
        return world.traffic

    assert parallel.run(work, 2) == [Traffic(5, 5 * 24), Traffic()]


def test_two_ranks_exchange_at_once():
    def work(world):
        mine, other = np.full((2, 2), world.rank), np.empty((2, 2), int)
        peer = 1 - world.rank
        world.exchange(mine, peer, other, peer)
        assert (other == peer).all()

    parallel.run(work, 2, buffer=0)


def test_channels_do_not_meet():
    """Taken in the other order than they were sent: with one box for both, the second would come first."""

    def work(world):
        second = world.channel()
        if world.rank == 0:
            world.send(np.array([1.0]), 1)
            second.send(np.array([2.0]), 1)
        else:
            got = np.empty(1)
            second.receive(got, 0)
            assert got == 2
            world.receive(got, 0)
            assert got == 1

    parallel.run(work, 2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda w: w.send(np.ones(2), 2), ValueError, r"to is 2; with 2 ranks it lies in 0 \.\. 1"),
        (lambda w: w.send(np.ones(2), w.rank), ValueError, "this rank itself"),
        (lambda w: w.send(np.ones(2), 1.0), TypeError, "to is 1.0; it must be a whole number"),
        (lambda w: w.receive(np.ones(2), -1), ValueError, "source is -1"),
        (lambda w: w.send([1.0], 1 - w.rank), TypeError, "array is list; ranks exchange NumPy arrays"),
        (lambda w: w.send(np.array(["a"]), 1 - w.rank), TypeError, "dtype <U1; ranks exchange numbers"),
        (lambda w: w.send(np.ones((4, 4))[:, :2], 1 - w.rank), ValueError, "array is a view with gaps"),
        (lambda w: w.exchange(np.ones(2), 1 - w.rank, 3, 1 - w.rank), TypeError, "incoming is int"),
        (lambda w: w.broadcast(np.ones(2), 7), ValueError, "root is 7"),
    ],
)
def test_what_is_no_message_is_refused(call, error, message):
    def work(world):
        with pytest.raises(error, match=message):
            call(world)

    parallel.run(work, 2)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"ranks": 0}, ValueError, "ranks is 0"),
        ({"ranks": None}, TypeError, "ranks is None"),
        ({"ranks": 2, "engine": "smoke"}, ValueError, "engine is 'smoke'; it must be one of threads, mpi, nccl"),
        ({"ranks": 2, "patience": 0}, ValueError, "patience is 0"),
        ({"ranks": 2, "engine": "mpi", "buffer": 0}, ValueError, "buffer is for threads"),
    ],
)
def test_a_run_that_cannot_be_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        parallel.run(lambda world: None, **options)


def test_results_come_in_the_order_of_the_ranks():
    assert parallel.run(lambda world: (world.rank, world.size, repr(world)), 3)[2] == (2, 3, "rank 2 of 3 (threads)")


@pytest.mark.parametrize(("count", "size"), [(10, 3), (2, 4), (0, 3), (7, 7), (100, 8)])
def test_parts_cover_everything_and_differ_by_one_at_most(count, size):
    places = cuts(count, size)
    sizes = np.diff(places)
    assert (places[0], places[-1], len(sizes)) == (0, count, size)
    assert sizes.max() - sizes.min() <= 1


def test_texts_and_bytes_travel():
    def work(world):
        if world.rank == 1:
            send_text(world, "Größe", 0)
        if world.rank == 0:
            assert receive_text(world, 1) == "Größe"
        assert broadcast_bytes(world, b"abc\0" if world.rank == 0 else b"") == b"abc\0"
        assert broadcast_bytes(world, b"") == b""

    parallel.run(work, 3)


@pytest.mark.parametrize(
    ("things", "message"),
    [
        (lambda r: {"w": np.zeros(3) + (r == 2)}, r"rank 2 differs from rank 0 in w \(float64 \(3,\)\)\. Do so"),
        (lambda r: {"a": 1, "w": np.zeros(3 + (r == 1))}, r"rank 1 differs .* in w: float64 \(4,\), and rank 0 has"),
        (lambda r: {"a": r // 2}, "rank 2 differs from rank 0 in a: 1, and rank 0 has 0"),
        (lambda r: {"a": 1, **({"b": 2} if r == 1 else {})}, r"rank 1 differs .* in what it has besides: b \(2\)"),
        (lambda r: {"a": 1} if r == 1 else {"a": 1, "b": 2}, r"in what it has: it lacks b \(2\)"),
    ],
)  # fmt: skip
def test_all_ranks_are_told_who_differs_and_in_what(things, message):
    def work(world):
        with pytest.raises(parallel.RankError, match=f"^rank {world.rank}: .*{message}") as told:
            agree(world, things(world.rank), "Do so.")
        return told.value.rank

    assert len(set(parallel.run(work, 3))) == 1


def test_equal_things_agree():
    parallel.run(lambda world: agree(world, {"w": np.ones(3), "text": "x"}), 3)
