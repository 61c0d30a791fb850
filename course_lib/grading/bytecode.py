"""Bytecode for boxes where Python's packages have none, as they do in containers that were told not to write it.

A box may write none, so without this each would compile NumPy anew, which takes longer than a small sheet. The folder
is made once by the grader, from the grader's own packages, and boxes only read it.

Source: the documentation of sys.pycache_prefix.
"""

import contextlib
import functools
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from course_lib.grading.box_folders import COURSE, PACKAGE, search_path

IMPORTS = ("course_lib.checks.calling", "course_lib.nn", "course_lib.data", "numba", "matplotlib.pyplot")
"""What answers import."""

PATIENCE = 180.0
"""Seconds for compiling all of it."""

SCRIPT = """
import contextlib, importlib, json, sys
sys.path[:], sys.pycache_prefix, names = json.loads(sys.argv[1])
for name in names:
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
"""


@functools.cache
def bytecode_folder():
    """Return a folder with bytecode, "" where the packages have their own or none can be made. No errors.

    Source: the course's own.
    """
    if os.path.exists(importlib.util.cache_from_source(np.__file__)):
        return ""
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    place = str(PACKAGE.parent).strip("/").replace("/", "-")
    folder = home / "course" / f"bytecode-{sys.implementation.cache_tag}-numpy-{np.__version__}-{place}"
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        if not (folder / "complete").exists():
            _compile(folder)
        return str(folder)
    return ""


def _compile(folder):
    """Import the packages in a process that writes its bytecode to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = json.dumps([search_path(str(PACKAGE.parent)), str(folder), IMPORTS])
    subprocess.run(
        [sys.executable, "-I", "-S", "-c", SCRIPT, settings], check=True, timeout=PATIENCE, umask=0o022,
        capture_output=True, stdin=subprocess.DEVNULL, env={"MPLBACKEND": "Agg", "PATH": os.defpath, "HOME": "/"},
    )  # fmt: skip
    with contextlib.suppress(FileExistsError):  # boxes have course_lib in another place
        (folder / COURSE.strip("/")).symlink_to(str(PACKAGE.parent).lstrip("/"))
    (folder / "complete").touch()
