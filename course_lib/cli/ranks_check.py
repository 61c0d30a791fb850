"""The check of `course doctor` that looks for MPI: what starts processes, and what carries their messages."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from course_lib.cli.check import Check
from course_lib.cli.packages import installed_version

__all__ = ["check_ranks", "library_version"]

NAME, INSTALL = "ranks", "python -m pip install -e '.[mpi]' (Windows: README.md, \"Ranks\")"


def check_ranks(
    version_of: Callable[[str], str | None] = installed_version,
    mpiexec: Callable[[], str | None] | None = None,
    library: Callable[[], str] | None = None,
) -> Check:
    """Say whether ranks can be processes here; as threads they run everywhere, and no lesson needs more."""
    from course_lib.parallel.launch import find_mpiexec

    mpi4py, program = version_of("mpi4py"), (mpiexec or find_mpiexec)()
    if mpi4py is None:
        return Check(NAME, "ok", "as threads; as processes, by MPI, after: " + INSTALL)
    try:
        found = (library or library_version)()
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        return Check(NAME, "note", f"as threads; mpi4py {mpi4py} finds no MPI library ({error})", INSTALL)
    if program is None:
        return Check(NAME, "note", f"as threads; mpi4py {mpi4py} and {found}, but no mpiexec", INSTALL)
    return Check(NAME, "ok", f"as threads, and as processes: mpi4py {mpi4py}, {found}, {program}")


def library_version() -> str:
    """Return the MPI library's name and version, asked in a process of its own: loading it starts MPI.

    RuntimeError if it cannot be loaded, subprocess.TimeoutExpired if it does not answer.
    """
    script = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"
    asked = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False)
    if asked.returncode:
        raise RuntimeError((asked.stderr.strip().splitlines() or ["no reason given"])[-1][:200])
    lines = [" ".join(line.split()) for line in asked.stdout.splitlines() if line.strip()]
    return lines[0].split(",")[0][:60].replace("Version: ", "")
