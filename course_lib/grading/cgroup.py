"""Control groups: limits of memory and processes that hold for a whole box, and a list of its processes.

Source: the Linux kernel's admin guide, cgroup-v1 (memory, pids) and cgroup-v2.
"""

import contextlib
import os
import secrets
import signal
import time
from pathlib import Path

OLD = 3600.0
"""Seconds after which no submission is still being graded."""


class NoCgroup(Exception):
    """There is no place where this user may make control groups; the message says why. Source: the course's own."""


def find_places():
    """Return the folders in which a group must be made: one of version 2, or one for memory and one for pids.

    NoCgroup if there are none that this user may write to. Source: the kernel's admin guide.
    """
    mounts = [line.split() for line in _lines("/proc/self/mounts")]
    own = {fields[1]: fields[2] for line in _lines("/proc/self/cgroup") if len(fields := line.split(":", 2)) == 3}
    for mount in (m for m in mounts if m[2] == "cgroup2"):
        start = Path(mount[1] + own.get("", "/"))
        for folder in (start, *start.parents):
            controllers = " ".join(_lines(folder / "cgroup.subtree_control")).split()
            if {"memory", "pids"} <= set(controllers) and os.access(folder, os.W_OK):
                return (folder,)
    places = []
    for controller in ("memory", "pids"):
        mount = next((Path(m[1]) for m in mounts if m[2] == "cgroup" and controller in m[3].split(",")), None)
        if mount is None:
            raise NoCgroup(f"the controller {controller} is not there for this user")
        folders = (Path(f"{mount}{own.get(controller, '/')}"), mount)
        place = next((f for f in folders if os.access(f / "cgroup.procs", os.W_OK)), None)
        if place is None:
            raise NoCgroup(f"{mount} may not be written to")
        places.append(place)
    return tuple(places)


def _lines(file):
    try:
        return Path(file).read_text().splitlines()
    except OSError:
        return []


class Cgroup:
    """A group that a box's processes are put into.

    Parameters
    ----------
    limits : Limits

    NoCgroup if it cannot be made. Source: the kernel's admin guide.
    """

    def __init__(self, limits):
        name = f"course-box-{secrets.token_hex(6)}"
        self.folders = []
        try:
            for place in find_places():
                _remove_old(place)
                (place / name).mkdir()
                self.folders.append(place / name)
            for file, value in {
                "memory.limit_in_bytes": limits.memory,
                "memory.memsw.limit_in_bytes": limits.memory,
                "memory.max": limits.memory,
                "memory.swap.max": 0,
                "pids.max": limits.processes + 4,  # setpriv, and two of bubblewrap's own
            }.items():
                for folder in self.folders:
                    if (folder / file).exists():
                        (folder / file).write_text(str(value))
        except OSError as error:
            self.close()
            raise NoCgroup(f"a group cannot be made: {error.strerror or error}") from error

    @property
    def doors(self):
        """The files that a process writes its number to, to be in the group."""
        return [str(folder / "cgroup.procs") for folder in self.folders]

    def processes(self):
        """Return the numbers of the processes in the group. No errors. Source: the kernel's admin guide."""
        return {int(number) for door in self.doors for number in _lines(door)}

    def oom_kills(self):
        """Return how many processes were killed for memory. No errors. Source: the kernel's admin guide."""
        files = [folder / file for folder in self.folders for file in ("memory.oom_control", "memory.events")]
        words = [line.split() for file in files for line in _lines(file)]
        return sum(int(pair[1]) for pair in words if len(pair) == 2 and pair[0] == "oom_kill")

    def close(self, seconds=5.0):
        """Kill what is in the group and remove it; return whether all of it is gone. No errors.

        Source: the kernel's admin guide.
        """
        end = time.monotonic() + seconds
        while self.folders:
            for number in self.processes():
                with contextlib.suppress(OSError):
                    os.kill(number, signal.SIGKILL)
            self.folders = [folder for folder in self.folders if not _removed(folder)]
            if self.folders and time.monotonic() > end:
                return False
            time.sleep(0.002 if self.folders else 0)
        return True


def _remove_old(place):
    """Remove empty groups of graders that were killed; a group of this hour may be about to be used."""
    for folder in place.glob("course-box-*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > OLD:
                folder.rmdir()


def _removed(folder):
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
