"""Start a worker at a level, with the pipes to it.

Source: the course's own.
"""

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass

from course_lib.grading import box_command
from course_lib.grading.box_folders import COURSE, PACKAGE, search_path
from course_lib.grading.bytecode import bytecode_folder
from course_lib.grading.ending import first_process
from course_lib.grading.seccomp import program

START = 10.0
"""Seconds for bubblewrap to say which process it started."""


def engine():
    """Return "docker" or "podman", whichever is there first, or "". No errors. Source: the course's own."""
    return next((name for name in ("docker", "podman") if shutil.which(name)), "")


@dataclass
class Launched:
    """A worker's process, a handle of its namespace's first process or None, its own folder or None.

    Source: the course's own.
    """

    process: subprocess.Popen
    first: int | None = None
    folder: str | None = None


def launch(level, limits, name, doors=(), hidden=()):
    """Return what was `Launched`.

    Parameters
    ----------
    level : "A", "B", "C" or "D"
    limits : Limits
    name : str
        Of the container, or the mark of the process.
    doors, hidden : sequence of str
        As for `box_command.bubblewrap`.

    OSError or LookupError if it cannot be started. Source: the course's own.
    """
    settings = {"reply": limits.reply, "grace": limits.grace, "path": search_path(COURSE), "bytecode": None}
    settings["rlimits"] = _rlimits(level, limits)
    if level in "AB":
        info, write = os.pipe()
        rules, bytecode = _readable(program()), bytecode_folder()
        settings["bytecode"] = f"{COURSE}/bytecode" if bytecode else None
        try:
            command = box_command.bubblewrap(limits, json.dumps(settings), write, rules, doors, bytecode, hidden)
            process = _popen(command, {"PATH": os.environ.get("PATH", os.defpath)}, "/", (write, rules))
        except BaseException:
            os.close(info)
            raise
        finally:
            os.close(write)
            os.close(rules)
        return Launched(process, first_process(info, process.pid, START))
    if level == "C":
        command = box_command.container(limits, json.dumps(settings | {"path": []}), engine(), name)
        return Launched(_popen(command, dict(os.environ), "/"))  # the engine needs them; the container gets none
    folder = tempfile.mkdtemp(prefix="course-box-")
    command = box_command.plain(json.dumps(settings | {"path": search_path(str(PACKAGE.parent))}))
    environment = box_command.CALM | {"HOME": folder, "TMPDIR": folder, "COURSE_BOX": name}
    return Launched(_popen(command, environment, folder), None, folder)


def _readable(data):
    """Return a file descriptor from which a few kilobytes can be read."""
    read, write = os.pipe()
    with os.fdopen(write, "wb") as file:
        file.write(data)
    return read


def _popen(command, environment, folder, inherited=()):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(
        command, bufsize=0, env=environment, cwd=folder, pass_fds=inherited, start_new_session=True, **pipes
    )


def _rlimits(level, limits):
    """Return the limits of each process, which the worker sets itself before any cell runs."""
    rlimits = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": limits.disk, "RLIMIT_NOFILE": 256}
    if level in "BD":  # RLIMIT_DATA leaves out files and threads' unused stacks, which RLIMIT_AS counts
        rlimits |= {"RLIMIT_DATA": limits.memory, "RLIMIT_AS": limits.memory + (2 << 30)}
    if level in "AB":  # counted in the box's own user namespace
        rlimits["RLIMIT_NPROC"] = limits.processes
    return rlimits
