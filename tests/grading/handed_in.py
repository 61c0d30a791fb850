"""What students hand in, made for tests: notebooks of a sheet, archives of all kinds, folders and zips of a class."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile

from course_lib.checks.registry import sheet

SHEET = "01_perceptron"
EXERCISES = [exercise for exercise in sheet(SHEET).exercises if exercise.kind != "text"]


def notebook(answers=5, mark="", stubs=True, metadata=True, title="# 01 · Exercises: the perceptron"):
    """A notebook of the sheet with so many answers, the others stubs; `mark` tells whose it is."""
    cells = [_cell("markdown", title), _cell("markdown", mark)]
    for number, exercise in enumerate(EXERCISES):
        body = "return 1" if number < answers else f'"""Words."""\n    raise NotImplementedError("{exercise.id}")'
        if number < answers or stubs:
            id = f"exercise-{exercise.id.replace('.', '-')}"
            cells.append(_cell("code", f"def {exercise.function}(*x):\n    {body}", id if metadata else ""))
            cells.append(_cell("code", f'check("{exercise.id}", {exercise.function})'))
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}).encode()


def lesson(mark=""):
    """A notebook as the lesson of that name is: a function of the same name as an exercise's, and no cell of it."""
    source = f"def {EXERCISES[0].function}(x):\n    return x"
    cells = [_cell("markdown", "# 01 · The perceptron\n" + mark), _cell("code", source)]
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}).encode()


def scratch():
    """A notebook that speaks of the sheet and has nothing of it."""
    return json.dumps({"cells": [_cell("code", 'print("01.1")')], "nbformat": 4, "metadata": {}}).encode()


def _cell(kind, source, id=""):
    return {"cell_type": kind, "source": source, "metadata": {"nbgrader": {"grade_id": id}} if id else {}}


def folder(root, files):
    """Write {path: content} into a folder; a path that ends in / is an empty folder."""
    for name, content in files.items():
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def zipped(files, path=None):
    """Write {path: content} into a zip, and return its path, or its bytes if there is none."""
    out = path or io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path or out.getvalue()


def tarred(files, mode="w:gz"):
    """Return {path: content} as the bytes of a tar; a content that is a str is a link to that."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.mtime = 1_700_000_000
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def script(answers=5, mark="", stubs=True):
    """The same as a script that somebody typed: no metadata, no marks of cells."""
    parts = [f"# {mark}\nfrom course_lib.checks import check\n"]
    for number, exercise in enumerate(EXERCISES):
        body = "return 1" if number < answers else f'"""Words."""\n    raise NotImplementedError("{exercise.id}")'
        if number < answers or stubs:
            parts.append(f'def {exercise.function}(*x):\n    {body}\n\n\ncheck("{exercise.id}", {exercise.function})\n')
    return "\n\n".join(parts).encode()


def markdown(answers=5, mark=""):
    """The same as Jupytext's Markdown."""
    return b"# 01 \xc2\xb7 Exercises: the perceptron\n\n```python\n" + script(answers, mark) + b"```\n"
