"""A rank that ends, hangs or does something else: all others say which one, what they waited for, and what to do."""

import pickle
import threading

import numpy as np
import pytest

from course_lib import parallel
from course_lib.parallel.errors import RankError


def told_by(work, size=4, **options):
    """Run ranks of which some raise RankError; return {rank: error} of these, and what `run` raised."""
    errors = {}

    def noting(world):
        try:
            return work(world)
        except RankError as error:
            errors[world.rank] = error
            raise

    with pytest.raises(Exception) as raised:  # noqa: PT011  the tests look at it
        parallel.run(noting, size, **options)
    return errors, raised.value


def test_a_rank_that_dies_is_named_by_all_others_with_its_error():
    def work(world):
        array = np.ones(60)
        for turn in range(3):
            if world.rank == 2 and turn == 1:
                raise OSError("the disk is gone")
            world.all_reduce(array)

    errors, raised = told_by(work)
    assert type(raised) is OSError
    assert raised.__notes__ == ["This was rank 2 of 4."]
    assert sorted(errors) == [0, 1, 3]
    for rank, error in errors.items():
        assert error.rank == 2
        text = str(error)
        assert text.startswith(f"rank {rank}: rank 2 ended with OSError: the disk is gone, and rank ")
        assert "waited (receive of float64 (15,) from rank 2, in all_reduce by ring, collective 2)" in text
        assert "resume=True) goes on after the last whole epoch." in text


def test_a_rank_that_has_returned_is_named():
    def work(world):
        if world.rank != 1:
            world.barrier()

    errors, raised = told_by(work, 3)
    assert {error.rank for error in errors.values()} == {1}
    assert "rank 1 had returned already" in str(raised)


def test_a_rank_that_hangs_is_named_also_by_those_who_wait_for_others():
    """In a ring rank 0 waits for 3, which waits for 2: all name rank 2, which never comes."""
    over = threading.Event()

    def work(world):
        if world.rank == 2:
            over.wait()
            return
        try:
            world.all_reduce(np.ones(60))
        finally:
            over_when_all_have_failed(world)

    failed = []

    def over_when_all_have_failed(world):
        failed.append(world.rank)
        if len(failed) == 3:
            over.set()

    errors, raised = told_by(work, patience=2.0)
    assert sorted(errors) == [0, 1, 3]
    assert {error.rank for error in errors.values()} == {2}
    assert isinstance(raised, RankError)
    assert "rank 2 sent nothing for 2 s, and waits for nobody: it computes or hangs" in str(raised)
    assert "raise patience" in str(raised)


def test_run_comes_back_though_a_rank_hangs_for_ever():
    never = threading.Event()
    errors, raised = told_by(lambda world: never.wait() if world.rank else world.barrier(), 2, patience=0.5)
    assert (sorted(errors), raised.rank) == ([0], 1)
    never.set()


def test_ranks_that_wait_for_each_other_are_told_at_once():
    """The patience is longer than any test may take: a circle needs none."""

    def work(world):
        world.receive(np.empty(3), (world.rank + 1) % 3)

    errors, raised = told_by(work, 3, patience=1e6)
    assert sorted(errors) == [0, 1, 2]
    assert raised.rank is None
    assert "deadlock" in str(raised)
    for rank in range(3):
        assert f"rank {rank} waits (receive of float64 (3,) from rank {(rank + 1) % 3})" in str(raised)


def test_all_send_first_works_with_buffers_and_is_a_deadlock_without():
    """The ring that everybody writes first: right for small arrays, and for ever with large ones."""

    def work(world):
        array, got = np.full(3, world.rank), np.empty(3, int)
        world.send(array, (world.rank + 1) % world.size)
        world.receive(got, (world.rank - 1) % world.size)
        return int(got[0])

    assert parallel.run(work, 3) == [2, 0, 1]
    errors, raised = told_by(work, 3, buffer=0, patience=1e6)
    assert sorted(errors) == [0, 1, 2]
    assert "rank 0 waits (send of int64 (3,) to rank 1)" in str(raised)


@pytest.mark.parametrize("other", [np.ones(59), np.ones(60, np.float32)])
def test_another_shape_or_dtype_is_told_to_all(other):
    errors, raised = told_by(lambda world: world.all_reduce(other if world.rank == 1 else np.ones(60), "tree"), 4)
    assert sorted(errors) == [0, 1, 2, 3]
    assert f"and was sent {other.dtype} {other.shape}" in str(raised)
    assert "do they have equal networks and batches?" in str(raised)


def test_after_a_failure_nobody_can_go_on():
    def work(world):
        with pytest.raises(RankError):
            world.receive(np.empty(1), 1 - world.rank)
        for call in (world.barrier, world.channel().barrier):
            with pytest.raises(RankError, match="deadlock"):
                call()

    parallel.run(work, 2, patience=1e6)


def test_an_error_of_a_rank_can_be_pickled():
    error = pickle.loads(pickle.dumps(RankError("rank 1 is gone", 1)))
    assert (str(error), error.rank) == ("rank 1 is gone", 1)
