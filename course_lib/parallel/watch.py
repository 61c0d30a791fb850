"""Stand between mpiexec and one rank: start its process, and write down how it ended.

mpiexec starts this, once for each rank; `launch` started mpiexec. A rank that dies is this process's child, so mpiexec
sees nobody die, and does not end the others: they find the file that is written here, and say what they waited for. If
another rank ended badly, this one has `grace` seconds left. All watchers go together, since mpiexec takes the first
that goes for the end of everything.

It is run as a file, with nothing but Python's own library, so that it starts at once:
`python watch.py FOLDER RANKS GRACE COMMAND...`

Source: the course's own.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

RANK = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID")
"""Variables in which the launchers of MPICH, Intel MPI, Open MPI tell a process its rank."""

LOOK = 0.05
"""Seconds between two looks."""


def main(folder, ranks, grace, command):
    """Run a command, write how it ended to the folder, and return 0 when all ranks have ended: mpiexec sees no error.

    Source: the course's own.
    """
    rank = next(os.environ[name] for name in RANK if name in os.environ)
    folder, grace = Path(folder), float(grace)
    # close_fds: MPI talks to its launcher by a file that the child inherits.
    child = subprocess.Popen(command, close_fds=False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: child.send_signal(number))
    stopped = wait(child, folder, rank, grace)
    how = f"was ended, {grace:g} s after another rank" if stopped else words(child.returncode, said(folder, rank))
    if hasattr(signal, "SIGUSR1"):  # MPICH's launcher sends it to the watchers that go last
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    record(folder, rank, child.returncode, how)
    while len(list(folder.glob("rank-*.json"))) < int(ranks):
        time.sleep(LOOK)
    return 0


def wait(child, folder, rank, grace):
    """Wait for the child; end it if it still runs `grace` seconds after another rank ended badly. Say whether."""
    other_ended = None
    while True:
        try:
            child.wait(LOOK)
            return False
        except subprocess.TimeoutExpired:
            pass
        if other_ended is None and any(badly(f) for f in folder.glob("rank-*.json")):
            other_ended = time.monotonic()
        if other_ended is not None and time.monotonic() - other_ended > grace:
            child.kill()
            child.wait()
            return True


def badly(file):
    """Return whether a rank's file says that it ended with another status than 0. No errors."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))["status"] != 0
    except (OSError, ValueError):
        return False


def said(folder, rank):
    """Return what a rank said of its own end, in words; "" if nothing. No errors."""
    try:
        return (folder / f"rank-{rank}.words").read_text(encoding="utf-8")
    except OSError:
        return ""


def words(status, own):
    """Return how a process ended, in words: "was killed by SIGKILL"."""
    if status < 0:
        try:
            return f"was killed by {signal.Signals(-status).name}"
        except ValueError:
            return f"was killed by signal {-status}"
    if status == 0:
        return "had returned already"
    return own or f"ended with exit status {status}"


def record(folder, rank, status, how):
    """Write how a rank ended, whole or not at all."""
    part = folder / f"rank-{rank}.part"
    part.write_text(json.dumps({"status": status, "words": how}), encoding="utf-8")
    os.replace(part, folder / f"rank-{rank}.json")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
