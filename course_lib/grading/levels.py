"""Which levels of isolation work on this machine: each is tried by running something in it.

Source: the course's own.
"""

import functools
import os
import shutil
from dataclasses import dataclass

from course_lib.checks.values import ValueProblem, decode
from course_lib.grading.box_command import image
from course_lib.grading.cgroup import NoCgroup, find_places
from course_lib.grading.launch import engine
from course_lib.grading.limits import Limits
from course_lib.grading.replies import BoxEnded
from course_lib.grading.sandbox import Box, NoBox

TITLES = {
    "A": "bubblewrap as an unprivileged user, with memory and process limits of control groups",
    "B": "bubblewrap as an unprivileged user, with limits for each process",
    "C": "a container",
    "D": "a plain process that may read and write all that you may",
}

TRIAL = """
import os, socket

def trial():
    closed = []
    home = os.path.join("/root", ".ssh")
    for attempt in (lambda: open("/etc/shadow"), lambda: open("/course/course_lib/trial", "w"),
                    lambda: socket.create_connection(("127.0.0.1", 9), 1), lambda: os.listdir(home)):
        try:
            attempt()
        except OSError:
            closed.append(True)
    return os.getuid(), len(closed)
"""


@dataclass(frozen=True)
class Level:
    """A level: its letter, what it is, whether it works here, and the reason, with a fix where there is one.

    Source: the course's own.
    """

    letter: str
    title: str
    works: bool
    says: str


@functools.cache
def level(letter):
    """Return the `Level` of a letter, tried once in a process. LookupError for another letter.

    Source: the course's own.
    """
    if letter not in TITLES:
        raise LookupError(f"there is no level {letter!r}; there are {', '.join(TITLES)}.")
    problem = _missing(letter) or (letter != "D" and _trial(letter)) or ""
    works = {"D": "it works, and protects nothing: only with --unsafe"}.get(letter, "it was tried and works")
    return Level(letter, TITLES[letter], not problem, problem or works)


def levels():
    """Return all four levels, the safest first. No errors. Source: the course's own."""
    return tuple(level(letter) for letter in TITLES)


def best_level():
    """Return the safest level that works here, never D; NoBox says why each of the others does not.

    Source: the course's own.
    """
    tried = [level(letter) for letter in "ABC"]
    for found in tried:
        if found.works:
            return found
    reasons = "; ".join(f"{found.letter}: {found.says}" for found in tried)
    raise NoBox(f"there is no safe way to run answers on this machine ({reasons}).")


def _missing(letter):
    """Return what is not there for a level, "" if all is."""
    if not hasattr(os, "pidfd_open"):
        return "it needs Linux; grade in a Linux virtual machine"
    if letter == "C" and not engine():
        return "neither docker nor podman is installed"
    if letter in "AB":
        needed = {
            "bwrap": "bubblewrap",
            **({"setpriv": "util-linux", "unshare": "util-linux"} if not os.geteuid() else {}),
        }
        for program, package in needed.items():
            if not shutil.which(program):
                return f"{program} is not installed; install the package {package}"
    if letter == "A":
        try:
            find_places()
        except NoCgroup as error:
            return f"control groups: {error}"
    return ""


def _trial(letter):
    """Run a function in a box; return what is wrong, "" if nothing is."""
    try:
        box = Box(letter, Limits(call=20, cell=20))
    except NoBox as error:
        hint = f" Is there an image {image()!r}? COURSE_GRADE_IMAGE names another one." if letter == "C" else ""
        return f"it was tried: {error}.{hint}"
    try:
        box.ask({"do": "cell", "name": "trial", "source": TRIAL, "limit": 20}, 20)
        reply = box.ask({"do": "call", "function": "trial", "args": [], "limit": 20}, 20)
        got = decode(reply["value"]) if not reply["error"] else reply["error"]
        inside = letter != "A" or box.in_cgroup()
    except (BoxEnded, ValueProblem) as error:
        return f"it was tried and failed: {error}"
    finally:
        gone = box.close()
    if type(got) is not tuple or got[0] == 0 or got[1:] != (4,) or not inside:
        return f"it was tried and does not isolate: {got}"
    return "" if gone else "it was tried, and its processes could not be ended"
