"""Start a script as ranks by mpiexec, and say how each of them ended.

Source: MPI Forum, "MPI", 11.5 (portable process start-up, mpiexec); the manuals of MPICH and Open MPI.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from course_lib.parallel import watch
from course_lib.parallel.notices import how_ended
from course_lib.validate import require_count

ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""One BLAS thread a rank: ranks beside each other would wait for each other's threads."""

GRACE = 10.0
"""Seconds that a rank has left after another ended badly."""


@dataclass(frozen=True)
class Ending:
    """How a rank ended: its number, its exit status (None if nobody knows), and words.

    Source: the course's own.
    """

    rank: int
    status: int | None
    words: str


def find_mpiexec():
    """Return the path of mpiexec, the one beside this Python first; None if there is none. No errors.

    Source: the course's own.
    """
    beside = Path(sys.executable).parent
    return shutil.which("mpiexec", path=str(beside)) or shutil.which("mpiexec")


def flags(version, root):
    """Return the options that mpiexec needs to start more ranks than processors, wherever it runs. No errors.

    Parameters
    ----------
    version : str
        What `mpiexec --version` prints.
    root : bool
        Whether this is root, as in many containers, where Open MPI starts nothing unless it is told to.

    Source: Open MPI's documentation, "mpirun": slots, binding, running as root; MPICH's, "Hydra Process Manager".
    """
    if any(name in version for name in ("Open MPI", "OpenRTE", "PRRTE", "prte")):
        # Bound to one processor, a rank's thread for messages would take turns with the one that computes.
        return ["--oversubscribe", "--bind-to", "none", *(["--allow-run-as-root"] if root else [])]
    return ["-disable-auto-cleanup"] if "HYDRA" in version else []


def launch(script, arguments=(), *, ranks, grace=GRACE, mpiexec=None):
    """Run a script as ranks, wait for them, and return an `Ending` for each.

    Parameters
    ----------
    script : path
        It calls `parallel.run(work, engine="mpi")`.
    arguments : sequence of str
    ranks : int >= 1
    grace : float
        Seconds that a rank has left after another ended badly.
    mpiexec : path, optional

    Raises
    ------
    FileNotFoundError
        If there is no such script, or no mpiexec.
    TypeError, ValueError
        If ranks is not a whole number >= 1.

    Source: MPI Forum, "MPI", 11.5.
    """
    ranks, mpiexec = require_count("ranks", ranks), mpiexec or find_mpiexec()
    if not Path(script).is_file():
        raise FileNotFoundError(f"there is no script {script}.")
    if mpiexec is None:
        raise FileNotFoundError(
            "there is no mpiexec. Install MPI: python -m pip install -e '.[mpi]' in the course folder; or let the "
            'script run its ranks as threads: parallel.run(work, 4, engine="threads").'
        )
    asked = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False)
    options = flags(asked.stdout + asked.stderr, hasattr(os, "geteuid") and os.geteuid() == 0)
    with tempfile.TemporaryDirectory(prefix="course-ranks-") as folder:
        own = {"COURSE_RANKS": str(ranks), "COURSE_RANKS_FOLDER": folder, "COURSE_PROGRESS": "0", **ONE_THREAD}
        rank = [sys.executable, "-m", "course_lib.parallel.script", str(script), *arguments]
        watched = [sys.executable, watch.__file__, folder, str(ranks), str(grace), *rank]
        done = subprocess.run([mpiexec, *options, "-n", str(ranks), *watched], env={**os.environ, **own}, check=False)
        return [_ending(Path(folder), rank, done.returncode) for rank in range(ranks)]


def _ending(folder, rank, status):
    if (how := how_ended(folder, rank)) is not None:
        return Ending(rank, how["status"], how["words"])
    return Ending(rank, None, f"left no word: mpiexec ended with status {status}")
