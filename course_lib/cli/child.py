"""Run another Python for a command and pass on what it prints, so that full disks, closed pipes and Ctrl-C are ours."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

__all__ = ["run_child"]


def run_child(arguments: Sequence[str]) -> int:
    """Run this Python with arguments, print what it prints at once, and return its exit status.

    It is in a process group of its own: Ctrl-C reaches this process only, which ends the other one with all that it
    has started. Whatever raises here (Ctrl-C, a full disk) ends it too.

    Parameters
    ----------
    arguments : sequence of str
        E.g. ``["-m", "course_lib.checks.sheet_run", "01.ipynb"]``.

    Raises
    ------
    OSError
        What it prints cannot be passed on.
    """
    group = {} if sys.platform == "win32" else {"process_group": 0}
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, bufsize=0, **group) as child:
        try:
            sys.stdout.flush()
            while part := child.stdout.read(1 << 16):
                while part:  # as if it had been the child that wrote
                    part = part[os.write(1, part) :]
            return child.wait()
        except BaseException:
            _end(child)
            raise


def _end(child: subprocess.Popen) -> None:
    child.kill()
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
