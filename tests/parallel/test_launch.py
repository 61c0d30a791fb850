"""Starting processes: which options mpiexec gets, and what is said of each rank's end; without any MPI."""

import sys
import textwrap

import pytest
from typer.testing import CliRunner

from course_lib.cli import app, ranks_check
from course_lib.parallel import launch, watch

MPIEXEC = """\
#!{python}
import os, subprocess, sys, time
if "--version" in sys.argv:
    print("a launcher for tests")
    sys.exit()
count, command = int(sys.argv[sys.argv.index("-n") + 1]), sys.argv[sys.argv.index("-n") + 2 :]
ranks = [subprocess.Popen(command, env={{**os.environ, "PMI_RANK": str(r)}}) for r in range(count)]
while all(rank.poll() is None for rank in ranks):
    time.sleep(0.01)
for rank in ranks:  # one that goes is the end of all, for a launcher of MPI
    rank.kill()
"""


@pytest.fixture
def mpiexec(tmp_path):
    """A program that starts processes as mpiexec does, and knows nothing of messages."""
    if sys.platform == "win32":
        pytest.skip("a script is no program there")
    path = tmp_path / "mpiexec"
    path.write_text(MPIEXEC.format(python=sys.executable))
    path.chmod(0o755)
    return path


def script(tmp_path, text):
    path = tmp_path / "script.py"
    path.write_text("import os, signal, sys, time\nrank = os.environ['PMI_RANK']\n" + textwrap.dedent(text))
    return path


def endings(tmp_path, mpiexec, text, size=3, **options):
    found = launch.launch(script(tmp_path, text), ["one", "two"], ranks=size, mpiexec=mpiexec, **options)
    assert [ending.rank for ending in found] == list(range(size))
    return [(ending.status, ending.words) for ending in found]


def test_each_rank_runs_the_script_with_its_arguments_and_one_thread(tmp_path, mpiexec):
    text = """
        assert sys.argv[1:] == ["one", "two"] and __name__ == "__main__"
        assert sys.path[0] == os.path.dirname(os.path.abspath(__file__))
        assert os.environ["COURSE_RANKS"] == "3" and os.environ["OPENBLAS_NUM_THREADS"] == "1"
    """
    assert endings(tmp_path, mpiexec, text) == [(0, "had returned already")] * 3


def test_every_end_has_its_words(tmp_path, mpiexec, capfd):
    text = """
        from course_lib.parallel.errors import RankError
        if rank == "0":
            raise RankError("rank 0: rank 1 is gone", 1)
        if rank == "1":
            os.kill(os.getpid(), signal.SIGKILL)
        if rank == "2":
            raise KeyError("no such picture")
        if rank == "3":
            sys.exit(7)
        if rank == "4":
            sys.exit("in its own words")
    """
    assert endings(tmp_path, mpiexec, text, 6) == [
        (1, "gave up on rank 1"), (-9, "was killed by SIGKILL"), (1, "ended with KeyError: 'no such picture'"),
        (7, "ended with exit status 7"), (1, "ended with exit status 1"), (0, "had returned already"),
    ]  # fmt: skip
    says = capfd.readouterr().err
    assert "RankError, rank 0: rank 1 is gone\n" in says
    assert says.count("Traceback") == 1  # of the error that nobody expects
    assert "in its own words\n" in says


def test_who_hangs_is_ended_when_another_has_failed(tmp_path, mpiexec):
    text = "sys.exit(1) if rank == '1' else time.sleep(1000)"
    assert endings(tmp_path, mpiexec, text, 2, grace=0.2) == [
        (-9, "was ended, 0.2 s after another rank"), (1, "ended with exit status 1"),
    ]  # fmt: skip


def test_a_good_end_leaves_the_others_all_their_time(tmp_path, mpiexec):
    text = "time.sleep(1.0 if rank == '1' else 0)"
    assert endings(tmp_path, mpiexec, text, 2, grace=0.1) == [(0, "had returned already")] * 2


def test_an_mpiexec_that_starts_nothing_leaves_no_word(tmp_path, mpiexec):
    mpiexec.write_text(f"#!{sys.executable}\nraise SystemExit(13)\n")
    assert endings(tmp_path, mpiexec, "", 2) == [(None, "left no word: mpiexec ended with status 13")] * 2


def test_what_cannot_be_started_is_told(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"there is no script nowhere\.py"):
        launch.launch("nowhere.py", ranks=2)
    monkeypatch.setattr(launch, "find_mpiexec", lambda: None)
    done = CliRunner().invoke(app, ["ranks", "-n", "2", str(script(tmp_path, ""))])
    assert done.exit_code == 1
    assert "there is no mpiexec. Install MPI: python -m pip install -e '.[mpi]'" in done.output
    assert 'engine="threads"' in done.output
    with pytest.raises(ValueError, match="ranks is 0"):
        launch.launch("nowhere.py", ranks=0)


@pytest.mark.parametrize(
    ("version", "root", "options"),
    [
        ("HYDRA build details:\n    Version: 5.0.2", True, ["-disable-auto-cleanup"]),
        ("mpiexec (Open MPI) 5.0.11", False, ["--oversubscribe", "--bind-to", "none"]),
        ("mpiexec (OpenRTE) 4.1.4", True, ["--oversubscribe", "--bind-to", "none", "--allow-run-as-root"]),
        ("Microsoft MPI Startup Program", False, []),
    ],
)
def test_each_mpi_gets_the_options_it_needs(version, root, options):
    assert launch.flags(version, root) == options


def test_words_for_a_signal_without_a_name():
    assert watch.words(-120, "") == "was killed by signal 120"


@pytest.mark.parametrize(
    ("mpi4py", "mpiexec", "library", "state", "found"),
    [
        (None, None, None, "ok", "as threads; as processes, by MPI, after: python -m pip install -e '.[mpi]'"),
        ("4.1.2", "/bin/mpiexec", "MPICH 5.0.2", "ok", "and as processes: mpi4py 4.1.2, MPICH 5.0.2, /bin/mpiexec"),
        ("4.1.2", None, "MPICH 5.0.2", "note", "but no mpiexec"),
        ("4.1.2", "/bin/mpiexec", RuntimeError("cannot load MPI library"), "note", "finds no MPI library (cannot load"),
    ],
)
def test_the_doctor_knows_what_ranks_can_be(mpi4py, mpiexec, library, state, found):
    def ask():
        if isinstance(library, Exception):
            raise library
        return library

    check = ranks_check.check_ranks(lambda name: mpi4py, lambda: mpiexec, ask)
    assert (check.name, check.state) == ("ranks", state)
    assert found in check.found
    assert bool(check.fix) == (state == "note")
