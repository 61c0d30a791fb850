"""Ranks as real processes, by MPI: the same bits as threads, and the same words about a rank that is gone."""

import importlib.util
import json
import sys

import pytest
from typer.testing import CliRunner

from course_lib import parallel
from course_lib.cli import app
from course_lib.parallel.launch import find_mpiexec
from course_lib.parallel.traffic import Traffic
from course_lib.parallel.world import WAYS
from tests.parallel import at_work

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="no mpi4py: pip install -e '.[mpi]'"),
    pytest.mark.skipif(find_mpiexec() is None, reason="no mpiexec: pip install -e '.[mpi]'"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's"),
]


def ranks(folder, what, size=4, grace="5", resume=""):
    """Run the script; return (exit status, what the launcher says)."""
    words = ["ranks", "-n", str(size), "--grace", grace, at_work.__file__, what, str(folder), "mpi", resume]
    done = CliRunner().invoke(app, words)
    return done.exit_code, done.output


def results(folder):
    return [json.loads(path.read_text()) for path in sorted(folder.glob("result-*.json"))]


@pytest.fixture(scope="module")
def by_threads():
    """What four threads make of the same training."""
    return parallel.run(at_work.train, 4)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_processes_give_the_bits_of_threads(tmp_path, size):
    assert ranks(tmp_path, "nothing", size) == (0, "")
    found = results(tmp_path)
    assert len(found) == size
    expected = parallel.run(at_work.train, size)[0]
    assert [(r["history"], r["weights"]) for r in found] == [(expected["history"], expected["weights"])] * size


@pytest.mark.parametrize("size", [2, 3, 4])
def test_sums_and_traffic_by_messages_of_mpi(tmp_path, size):
    assert ranks(tmp_path, "sums", size) == (0, "")
    found = results(tmp_path)
    assert len(found) == size
    expected = {(by, count, rank): rest for rows in parallel.run(at_work.sums, size) for by, count, rank, *rest in rows}
    for rows in found:
        for by, count, rank, messages, sent, array in rows:
            if by == "engine":  # MPI promises no bits; that all ranks have the same is asked here
                assert array == next(row[-1] for row in found[0] if row[:2] == [by, count])
            else:
                assert [messages, sent, array] == expected[by, count, rank]
                assert Traffic(messages, sent) == WAYS[by].traffic(rank, size, count, 4)


def test_a_killed_rank_is_named_and_training_restarts_to_the_same_bits(tmp_path, by_threads, capfd):
    status, says = ranks(tmp_path, "killed")
    assert status == 1
    assert says.splitlines() == [
        "rank 0 gave up on rank 2",
        "rank 1 gave up on rank 2",
        "rank 2 was killed by SIGKILL",
        "rank 3 gave up on rank 2",
    ]
    errors = capfd.readouterr().err
    for rank in (0, 1, 3):
        assert f"RankError, rank {rank}: rank 2 was killed by SIGKILL, and rank " in errors
    assert results(tmp_path) == []
    assert ranks(tmp_path, "nothing", resume="resume") == (0, "")
    for found in results(tmp_path):
        assert (found["history"], found["weights"]) == (by_threads[0]["history"], by_threads[0]["weights"])


@pytest.mark.parametrize(
    ("what", "ending", "error"),
    [
        ("error", "rank 2 ended with OSError: no more pictures", "rank 2 ended with OSError: no more pictures."),
        ("leaves", "rank 2 ended with exit status 3", "rank 2 ended with SystemExit: 3."),
        ("hang", "rank 2 was ended, 5 s after another rank", "rank 2 sent nothing for 10 s, and does not answer"),
        ("other_weights", "rank 2 gave up on rank 2", "rank 2 differs from rank 0 in the weights, 0.w (float32"),
        ("deadlock", "rank 2 gave up", "deadlock, the ranks wait for each other"),
    ],
)  # fmt: skip
def test_every_other_rank_says_what_is_wrong_with_rank_2(tmp_path, capfd, what, ending, error):
    status, says = ranks(tmp_path, what)
    assert status == 1
    assert ending in says.splitlines()
    errors = capfd.readouterr().err
    for rank in (0, 1, 3):
        line = next(line for line in errors.splitlines() if f"RankError, rank {rank}: " in line)
        assert error in line
        assert f"rank {rank} gave up" in says


def test_a_collective_that_only_one_rank_calls_is_told(tmp_path, capfd):
    """Rank 2 sums seven numbers of its own while the others ask whether to stop."""
    status, says = ranks(tmp_path, "other_shape")
    assert (status, says.count("gave up")) == (1, 4)
    assert "do they have equal networks and batches?" in capfd.readouterr().err
