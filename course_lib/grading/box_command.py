"""The commands that start a worker at each level: what of this machine it sees, and as whom it runs.

Source: the manual pages bwrap(1), setpriv(1), unshare(1) and docker-run(1), and what they did when they were tried.
"""

import os
import shlex
import sys
from pathlib import Path

from course_lib.grading.box_folders import COURSE, PACKAGE, is_inside, open_to_all, python_folders, spare_folder
from course_lib.grading.seccomp import program

NOBODY = "65534"
SYSTEM = ("/bin", "/lib", "/lib32", "/lib64", "/sbin")
ROOM = "/tmp"  # the box's own: a folder in memory, whatever the machine has there
CALM = {
    "HOME": f"{ROOM}/home",
    "TMPDIR": ROOM,
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "USER": "student",
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": f"{ROOM}/matplotlib",
    "NUMBA_CACHE_DIR": f"{ROOM}/numba",
    "NUMBA_THREADING_LAYER": "workqueue",  # the one whose threads come anew after a fork
    **{f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")},
}
"""The environment of a box: nothing of the host's."""

OWN = ("grading", "checks/exercises")
"""Parts of course_lib that no box sees: they have the right values."""

WORKER = PACKAGE / "box" / "worker.py"
PYTHON = ("-I", "-S", "-B")
"""No environment, no site-packages by themselves, no bytecode written."""


def image():
    """Return the container image of level C: a Python with the course's packages. No errors.

    Source: the course's own.
    """
    return os.environ.get("COURSE_GRADE_IMAGE", "course-grade")


def bubblewrap(limits, settings, info, rules, doors=(), bytecode="", hidden=()):
    """Return the command that starts a worker in bubblewrap.

    Started by root, it becomes nobody before bubblewrap begins, as bubblewrap started by root reads what only root
    may read. Python's folders that nobody can reach are first mounted in an open place, in a mount namespace that
    only this box has.

    Parameters
    ----------
    limits : Limits
    settings : str
        The worker's, as JSON.
    info : int
        A file descriptor, to which bubblewrap writes the number of the box's first process.
    rules : int
        A file descriptor, from which bubblewrap reads the filter of system calls.
    doors : sequence of str
        Files of control groups to write the process's number to.
    bytecode : str
        A folder with bytecode that the box may read; "" for none.
    hidden : sequence of str
        Folders that are covered where they lie in a folder that the box sees: the keys.

    LookupError if there is no place for those mounts. Source: bwrap(1), and what it did when it was tried.
    """
    root = os.geteuid() == 0
    binds = {f: f for f in python_folders()} | {str(PACKAGE): f"{COURSE}/course_lib"}
    if bytecode:
        binds[bytecode] = f"{COURSE}/bytecode"
    closed = [f for f in binds if root and not open_to_all(f)]
    spare = spare_folder(binds) if closed else ""
    places = {f: f"{spare}/{number}" for number, f in enumerate(closed)}
    seen = {places.get(source, source): inside for source, inside in binds.items()}
    become = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--no-new-privs"] if root else []
    command = [*become, "bwrap", "--info-fd", str(info), *_filter(rules), *_whole(limits), *_folders(seen, hidden)]
    command += ["--remount-ro", "/", "--chdir", CALM["HOME"]]
    command += [os.path.realpath(sys.executable), *PYTHON, _INSIDE, settings]
    lines = ["set -e", *(f'echo "$$" > {shlex.quote(door)}' for door in doors)]
    if closed:
        lines.append(f"mount -t tmpfs -o size=64k,mode=755 none {spare}")
        lines += [f"mkdir {p}; mount --bind {shlex.quote(f)} {p}" for f, p in places.items()]
    if len(lines) == 1:
        return command
    shell = ["sh", "-c", "\n".join([*lines, 'exec "$@"']), "box", *command]
    return ["unshare", "--mount", "--propagation", "private", *shell] if closed else shell


_INSIDE = f"{COURSE}/course_lib/box/worker.py"


def _filter(rules):
    return ["--seccomp", str(rules)] if program() else []


def _whole(limits):
    """Return bubblewrap's options for all but the folders of Python and the course."""
    options = ["--unshare-user", "--unshare-all", "--disable-userns", "--die-with-parent", "--new-session"]
    options += ["--hostname", "box", "--clearenv"]
    for name, value in CALM.items():
        options += ["--setenv", name, value]
    options += ["--ro-bind", "/usr", "/usr"]
    for folder in (f for f in SYSTEM if Path(f).exists()):
        linked = Path(folder).is_symlink()
        options += ["--symlink", os.readlink(folder), folder] if linked else ["--ro-bind", folder, folder]
    for file in ("/etc/alternatives", "/etc/ld.so.cache"):
        options += ["--ro-bind-try", file, file]
    options += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    for folder, size in (("/dev/shm", limits.disk // 4), ("/tmp", limits.disk)):
        options += ["--size", str(size), "--tmpfs", folder]
    return [*options, "--dir", CALM["HOME"]]


def _folders(seen, hidden):
    """Return the options that show folders read-only, and cover the grader's own and the hidden ones."""
    options = []
    for source, inside in seen.items():
        options += ["--ro-bind", source, inside]
    theirs = [PACKAGE / part for part in OWN] + [PACKAGE.parent / name for name in ("solutions", "tests", ".git")]
    theirs = {os.path.realpath(folder) for folder in (*theirs, *hidden)}
    shown = (*seen.values(), "/usr", *SYSTEM)
    covered = [f"{COURSE}/course_lib/{part}" for part in OWN]
    theirs = {f for f in theirs if os.path.isdir(f) and any(is_inside(f, s) for s in shown)}
    covered += sorted(f for f in theirs if not any(is_inside(f, other) for other in theirs - {f}))
    for folder in covered:
        options += ["--size", "4096", "--tmpfs", folder, "--remount-ro", folder]
    return options


def _covers():
    return [word for part in OWN for word in ("--tmpfs", f"{COURSE}/course_lib/{part}:ro,size=4k")]


def container(limits, settings, engine, name):
    """Return the command that starts a worker in a container of docker or podman. No errors. Source: docker-run(1)."""
    command = [engine, "run", "--rm", "--interactive", "--name", name, "--network", "none", "--read-only"]
    command += ["--user", f"{NOBODY}:{NOBODY}", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    command += ["--memory", str(limits.memory), "--memory-swap", str(limits.memory)]
    command += ["--pids-limit", str(limits.processes + 4), "--tmpfs", f"/tmp:rw,size={limits.disk},mode=1777"]
    command += ["--volume", f"{PACKAGE}:{COURSE}/course_lib:ro", *_covers()]
    command += ["--workdir", "/tmp"]
    for variable, value in {**CALM, "HOME": "/tmp"}.items():
        command += ["--env", f"{variable}={value}"]
    return [*command, image(), "python3", "-I", "-B", _INSIDE, settings]


def plain(settings):
    """Return the command that starts a worker with no box at all. No errors. Source: the course's own."""
    return [os.path.realpath(sys.executable), *PYTHON, str(WORKER), settings]
