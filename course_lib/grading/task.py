"""What is to be graded, and the key under which its result may be kept.

Source: the course's own.
"""

import functools
import hashlib
import platform
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import course_lib
from course_lib.checks.registry import MODULES
from course_lib.grading.limits import Limits

JUDGES = ("box", "checks", "grading", "reference", "nn", "data", "simt")
"""Parts of course_lib that a result can depend on."""


@dataclass(frozen=True)
class Task:
    """One submission of one sheet.

    Attributes
    ----------
    student : str
    sheet : str
        "04_backpropagation".
    files : tuple of (str, bytes)
        Name and content of every file that was handed in.
    keys : str
        The folder of the keys; "" for the public part only.
    level : "A", "B", "C", "D" or ""
        "" is the safest that works here, never D.
    limits : Limits

    No errors. Source: the course's own.
    """

    student: str
    sheet: str
    files: tuple[tuple[str, bytes], ...]
    keys: str = ""
    level: str = ""
    limits: Limits = field(default_factory=Limits)


@functools.cache
def versions():
    """Return {name: version} of what a result depends on. No errors. Source: the course's own."""
    return {
        "course_lib": course_lib.__version__,
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("numpy",)},
    }


def result_key(task):
    """Return a text that is the same for two tasks only if their results are, but for name, level and seconds.

    OSError if the course's own files cannot be read. Source: the course's own.
    """
    whole = hashlib.sha256(f"{task.sheet} {task.limits} {sorted(versions().items())} {_checks()}".encode())
    key = Path(task.keys or ".") / f"{MODULES.get(task.sheet, '')}.py"
    whole.update(key.read_bytes() if task.keys and key.is_file() else b"no key")
    for name, content in sorted(task.files):
        whole.update(f"{name!r} {len(content)} ".encode("utf-8", "replace"))
        whole.update(content)
    return whole.hexdigest()


@functools.cache
def _checks():
    root = Path(course_lib.__file__).parent
    whole = hashlib.sha256()
    for file in sorted(f for part in JUDGES for f in (root / part).rglob("*.py")):
        whole.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes())
    return whole.hexdigest()
