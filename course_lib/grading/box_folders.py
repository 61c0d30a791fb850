"""Which folders of this machine a box needs to run Python, and who may read them.

Source: the course's own.
"""

import functools
import os
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of course_lib."""

PACKAGE_FOLDERS = ("site-packages", "dist-packages")
"""What folders of installed packages are called."""

COURSE = "/course"
"""Where a box has course_lib."""


@functools.cache
def python_folders():
    """Return the folders that Python and its packages need, beside /usr; none inside another. No errors.

    Source: the course's own.
    """
    packages = [p for p in sys.path if Path(p).name in PACKAGE_FOLDERS]
    named = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, *packages}
    named |= {os.path.realpath(p) for p in named}
    usable = sorted(p for p in named if Path(p).is_dir() and p != "/")
    return tuple(p for p in usable if not any(is_inside(p, q) for q in (*usable, "/usr") if q != p) and p != "/usr")


def is_inside(path, folder):
    """Return whether a path is a folder or inside of it, by their names. No errors. Source: the course's own."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def search_path(course):
    """Return a worker's sys.path: the folder that has course_lib, the standard library, the packages. No errors.

    A checkout that course_lib is imported from is left out; installed beside other packages, it is found first in
    `course`, and their folder stays. Source: the course's own.
    """
    folders, own = (*python_folders(), "/usr"), str(PACKAGE.parent)
    kept = [p for p in sys.path if p != own or Path(p).name in PACKAGE_FOLDERS]
    return [course, *(p for p in kept if any(is_inside(p, f) for f in folders))]


def open_to_all(folder):
    """Return whether every user may enter a folder and list it; OSError if it is not there.

    Source: the course's own.
    """
    path = Path(folder).resolve()
    return all(p.stat().st_mode & 0o001 for p in (path, *path.parents)) and path.stat().st_mode & 0o004 != 0


def spare_folder(used):
    """Return a folder of this machine that may be covered while a box starts, as nothing in `used` is below it.

    LookupError if there is none. Source: the course's own.
    """
    for folder in ("/mnt", "/media", "/srv", "/opt", "/tmp"):
        if Path(folder).is_dir() and not any(is_inside(os.path.realpath(u), folder) for u in used):
            return folder
    raise LookupError("there is no folder such as /mnt that a box may use while it starts; make an empty one.")
