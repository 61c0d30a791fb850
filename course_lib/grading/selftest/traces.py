"""What a submission left behind: processes, files, shared memory, keys, connections.

Source: the course's own; proc(5).
"""

import contextlib
import os
import tempfile
import time
from pathlib import Path

import course_lib
from course_lib.grading.selftest import memory

PATIENCE = 1.0
"""Seconds in which a process that was killed may still be listed."""


def processes(*marks):
    """Return [(number, name)] of processes with one of the marks in their name or command line. No errors.

    Source: proc(5).
    """
    end = time.monotonic() + PATIENCE
    while (found := _listed(marks)) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def _listed(marks):
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            text = (folder / "comm").read_text() + (folder / "cmdline").read_bytes().decode(errors="replace")
            if any(mark in text for mark in marks) and (folder / "cmdline").stat():
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                if state not in "ZX":
                    found.append((int(folder.name), text.strip()[:80]))
    return found


def of_world(world):
    """Return sentences on all that changed outside of the boxes since the world was laid out; [] if nothing did.

    No errors. Source: the course's own.
    """
    found, after = [], world.snapshot()
    found += [f"{path} was written" for path in after if path not in world.before]
    found += [f"{path} was changed" for path in world.before if world.before[path] != after.get(path)]
    places = {tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm", "/run", os.getcwd(), Path.home()}
    places |= {*course_lib.__path__, Path(course_lib.__file__).parents[1]}
    for place in map(Path, places):
        with contextlib.suppress(OSError):
            found += [f"{p} was made" for p in place.iterdir() if world.token in p.name and p not in world.folders]
    found += [f"segment {key:#x} of shared memory is left" for key in memory.segments(world.key, memory.SECRET)]
    if any(line.split(": ")[0].endswith(world.token) for line in memory.valid_keys() if "secret-of" not in line):
        found.append("a key was left in a keyring")
    found += [f"{what} reached the listener" for what in world.heard]
    if world.victim.poll() is not None:
        found.append("another process of this user was killed")
    left = processes(f"cst-{world.token[:5]}", f"left-{world.token}")
    return found + [f"process {number} is left: {name}" for number, name in left]
