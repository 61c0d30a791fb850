"""Make an environment that can be moved with its folder: `python tools/movable.py [.venv]`, run by its own Python.

An environment holds its absolute path in three places: in the first lines of its scripts, in `activate`, and where the
course was installed from. Rename the folder, and `course` no longer starts. The Makefile runs this when the environment
is new and when its folder is not the one it was last in. Nothing is downloaded.

Source: the course's own; Python's documentation, "venv" and "site"; the first lines are those of uv's `--relocatable`.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import venv
from pathlib import Path

HEADER = b"""#!/bin/sh
'''exec' "$(dirname -- "$(realpath -- "$0")")"/python "$0" "$@"
' '''
"""
"""For the shell a command, for Python a text: it starts the Python beside the script, wherever they are."""

_PLAIN = re.compile(rb"\A#![^\n]*/python[\d.]*\n")
_BY_SHELL = re.compile(rb"\A#!/bin/sh\n'''exec' [^\n]*\n' '''\n")  # pip's, where the path has spaces or is long

PATH_FILE = "course-folder.pth"
"""In site-packages: the course folder relative to it, which Python adds to its search path."""

PLACE = ".place"
"""In the environment: the course folder that it was last in, for the Makefile."""


def free_scripts(folder: Path) -> list[str]:
    """Let every Python script of a folder start the Python beside it; return the names of those that were changed."""
    changed = []
    for script in sorted(folder.iterdir()):
        if script.is_symlink() or not script.is_file():
            continue
        text = script.read_bytes()
        free = _PLAIN.sub(lambda _: HEADER, _BY_SHELL.sub(lambda _: HEADER, text))
        if free != text:
            part = script.with_name(f".{script.name}.part")
            part.write_bytes(free)
            part.chmod(script.stat().st_mode)
            os.replace(part, script)  # at once: somebody may be starting it
            changed.append(script.name)
    return changed


def point_to(course: Path, packages: Path) -> None:
    """Write where the course lies, relative to site-packages."""
    (packages / PATH_FILE).write_text(os.path.relpath(course, packages) + "\n", encoding="utf-8")


def write_activate(environment: Path) -> None:
    """Write `activate` and its likes anew, for the place where the environment is now."""
    builder = venv.EnvBuilder(with_pip=False)
    builder.setup_scripts(builder.ensure_directories(str(environment)))


def main(environment: Path, course: Path) -> None:
    """Make the environment of this very Python movable, and note where it is."""
    old = environment / PLACE
    if old.is_file():
        print(f"The course folder was {old.read_text(encoding='utf-8').strip()}: setting the environment right.")
    free_scripts(environment / "bin")
    point_to(course, Path(sysconfig.get_path("purelib")))
    write_activate(environment)
    old.write_text(f"{course}\n", encoding="utf-8")  # last, so that what was interrupted is done again


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".venv").absolute(), Path.cwd().resolve())
