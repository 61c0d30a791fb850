"""Ending a box: all of its processes, also those that went away from their parents.

A pid namespace ends with its first process, and that process ends last, so seeing it end is proof.

Source: pid_namespaces(7), pidfd_open(2).
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path


def first_process(info, parent, seconds):
    """Return a file descriptor of a namespace's first process, None if there is none.

    Parameters
    ----------
    info : int
        The file descriptor that bubblewrap wrote to; it is closed.
    parent : int
        The number of bubblewrap's own process, which must be the parent: numbers of processes come again.
    seconds : float
        How long to wait.

    No errors. Source: bwrap(1).
    """
    try:
        text, end = b"", time.monotonic() + seconds
        while b"}" not in text and select.select([info], [], [], max(0.0, end - time.monotonic()))[0]:
            if not (more := os.read(info, 4096)):
                break
            text += more
        number = int(json.loads(text)["child-pid"])
        handle = os.pidfd_open(number)
        status = Path(f"/proc/{number}/status").read_text()
    except (OSError, ValueError, KeyError, TypeError):
        return None
    finally:
        os.close(info)
    if f"PPid:\t{parent}\n" in status:
        return handle
    os.close(handle)
    return None


def end_namespace(handle, seconds):
    """Kill a namespace by its first process; return whether it is gone, with all that was in it. No errors.

    Source: pid_namespaces(7).
    """
    with contextlib.suppress(OSError):
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    gone = bool(select.select([handle], [], [], seconds)[0])
    os.close(handle)
    return gone


def end_container(engine, name, seconds):
    """Kill and remove a container; return whether it is gone. No errors. Source: docker-rm(1)."""
    try:
        done = subprocess.run([engine, "rm", "--force", name], capture_output=True, timeout=seconds)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0 or b"o such container" in done.stderr


def end_marked(leader, mark, seconds):
    """Kill a process group and all processes with `mark` in their first environment; return whether all are gone.

    Without a namespace this is the best there is: a process can hide its mark. No errors. Source: proc(5).
    """
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(OSError):
            os.killpg(leader, signal.SIGKILL)
        left = [int(p.name) for p in Path("/proc").glob("[0-9]*") if _has(p, mark)]
        for number in left:
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
        if not left or time.monotonic() > end:
            return not left
        time.sleep(0.01)


def _has(process, mark):
    try:
        return mark.encode() in (process / "environ").read_bytes()
    except OSError:
        return False
