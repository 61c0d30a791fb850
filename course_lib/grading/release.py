"""The archive for students: lessons, sheets with stubs and the library, so that it installs on its own. Nothing else.

Of the exercises' checks it has what they are asked and the results of the public cases, written down by
`public_checks`; what computes right values stays with the instructor.

Source: the course's own.
"""

import errno
import json
import os
import zipfile
from pathlib import Path

from course_lib.grading.leaks import leaks
from course_lib.grading.public_checks import RecordError, public_checks, stays_here

FOLDERS = {
    "notebooks": (".ipynb",),
    "exercises": (".ipynb",),
    "results": (".json",),
    "course_lib": (".py", ".npz", ".md", ".js", ".json", ".cl", ".j2", ".css", ".woff2"),
}
"""Folders of the archive, and which files of them belong into it."""

FILES = ("pyproject.toml", "requirements.lock", "environment.yml", "LICENSE", "LICENSE-TEXT", "CITATION.cff",
         "ANSWERS.md")  # fmt: skip
"""What else it needs to be installed, as it is in the course folder."""

NAME = "course"
"""The archive is called course.zip and unpacks into a folder course."""

README = """# From one perceptron to GPU kernels: lessons and exercises

You need Python 3.11 or newer. In this folder:

    python3 -m venv .venv
    .venv/bin/python -m pip install --require-hashes -r requirements.lock
    .venv/bin/python -m pip install --no-deps --no-build-isolation .
    .venv/bin/course lab

The packages take about 690 MB. The last line prints an address to open in a browser; Ctrl-C stops it. On Windows
write `py` for `python3` and `.venv\\Scripts\\` for `.venv/bin/`. With conda: `conda env create -f environment.yml`,
then `conda activate course`, `python -m pip install --no-deps --no-build-isolation .` and `course lab`.

`notebooks/` has the lessons, not yet run: what they show is yours to find out. `exercises/` has a sheet for each.
Below every exercise is a cell that checks it at once; no network is needed. To check a whole sheet:

    .venv/bin/course check exercises/01_perceptron.ipynb

Hand in the notebook of the sheet, saved, under its own name. `ANSWERS.md` says which values count as right. If
something does not work, run `.venv/bin/course doctor` first.
"""


class ReleaseError(ValueError):
    """The archive would give something away, or lacks something; the message lists what. Source: the course's own."""


def release(course, out):
    """Write the students' archive and return its path.

    Parameters
    ----------
    course : path
        The course folder, with solutions/, which is read to see that nothing of it is in the archive.
    out : path
        A folder; it is made.

    Raises
    ------
    ReleaseError
        If the archive would hold a solution, a marker, a hidden check, what computes a right value, or an output of a
        notebook, a sheet is missing, or there are no solutions to search for. Nothing is written then.
    OSError
        If `out` cannot be such a folder: said before the work.

    Source: the course's own.
    """
    course, out = Path(course), Path(out)
    if not sheet_names(course) or not (course / "solutions" / "keys").is_dir():
        raise ReleaseError(
            f"{course.name} has no solutions, so the archive cannot be searched for them. Run this in the instructors' "
            "course folder, or name it: --folder DIR"
        )
    _require_folder(out)
    files = contents(course)
    if found := leaks(files, course / "solutions"):
        raise ReleaseError("the archive would give something away:\n" + "\n".join(f"  {line}" for line in found))
    out.mkdir(parents=True, exist_ok=True)
    part = out / f".{NAME}.part"
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(f"{NAME}/{name}", (1980, 1, 1, 0, 0, 0))  # equal files give an equal archive
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    target = out / f"{NAME}.zip"
    part.replace(target)
    return target


def _require_folder(out):
    """Raise what making the folder would raise, before the minutes of work and without making it."""
    place = next(p for p in (out, *out.absolute().parents) if p.exists())
    if not place.is_dir():
        number = errno.EEXIST if place == out else errno.ENOTDIR
    elif not os.access(place, os.W_OK):
        number = errno.EACCES
    else:
        return
    raise OSError(number, os.strerror(number), str(out))


def contents(course):
    """Return {path in the archive: bytes} of what students get.

    ReleaseError if a part is missing, or the results of the public cases cannot be written down.

    Source: the course's own.
    """
    course = Path(course)
    files = {name: (course / name).read_bytes() for name in FILES if (course / name).is_file()}
    files["README.md"] = README.encode()
    for folder, endings in FOLDERS.items():
        found = [p for p in sorted((course / folder).rglob("*")) if p.is_file() and p.suffix in endings]
        kept = [p for p in found if not any(part.startswith(("_", ".")) and part.endswith(("__", "checkpoints"))
                                            for part in p.relative_to(course).parts)]  # fmt: skip
        if not kept:
            raise ReleaseError(f"there is nothing in {folder}/ of {course.name}; build it: make notebooks.")
        names = {p.relative_to(course).as_posix(): p for p in kept}
        files |= {name: _bytes(p) for name, p in names.items() if not stays_here(name)}
    missing = sorted(sheet_names(course) - {Path(n).stem for n in files if n.startswith("exercises/")})
    if missing:
        raise ReleaseError(f"exercises/ lacks {', '.join(missing)}; build them: make notebooks.")
    try:
        return files | public_checks(course)
    except RecordError as error:
        raise ReleaseError(str(error)) from error


def _bytes(path):
    """Return a file's bytes; a notebook's without outputs, so that no lesson answers what it asks."""
    if path.suffix != ".ipynb":
        return path.read_bytes()
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return (json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def sheet_names(course):
    """Return the names of the sheets that have a solution. No errors. Source: the course's own."""
    return {p.stem for p in (course / "solutions").glob("*.py")}
