"""The bytes of one file that was handed in -> its cells, whatever the bytes are.

Source: the course's own; the notebook formats 3 and 4 as https://nbformat.readthedocs.io/en/latest/changelog.html
tells them apart, and nbgrader's cell metadata.
"""

import json
import re
import zlib
from dataclasses import dataclass

from course_lib.grading.script_cells import script_cells
from course_lib.grading.text_cells import ENDINGS, has_code, text_cells

MOST_BYTES = 20 << 20
"""Of a file; JSON of this size can take 600 MB when it is read."""

MOST_CELLS, MOST_CHARACTERS = 5_000, 1_000_000
"""Cells of a notebook, and characters of a cell, that are looked at."""


@dataclass(frozen=True)
class Cell:
    """A cell: what messages call it, "code" or "markdown", its text, and whether it only checks answers.

    Source: the course's own.
    """

    name: str
    kind: str
    source: str
    grade_id: str = ""
    is_check: bool = False


def read_file(name, content):
    """Return (cells, notes, problem) of one file; `problem` is a sentence, "" where it could be read.

    Parameters
    ----------
    name : str
    content : bytes

    No errors, whatever the bytes are. Source: the course's own.
    """
    if content.startswith(b"\x1f\x8b"):
        content = _unpacked(content)
    if len(content) > MOST_BYTES:
        return (), (), f"{name} has {len(content) >> 20} MiB; at most {MOST_BYTES >> 20} are read. Clear its outputs."
    text, notes = _text_of(content)
    if not text.strip():
        return (), (), f"{name} is empty."
    if says := _something_else(content, text):
        return (), (), f"{name} {says}"
    looks = form_of(name, text)
    if looks == "markdown":
        return _marked_cells(text_cells(_clean(text))), (*notes, f"{name} is Markdown; its code was read as cells."), ""
    if looks == "script":
        note = f"{name} is a script, not a notebook; it was read as cells."
        return _marked_cells(script_cells(_clean(text))), (*notes, note), ""
    try:
        data, end = json.JSONDecoder().raw_decode(text.strip())
    except RecursionError:
        return (), (), f"{name} is nested too deep to be a notebook."
    except ValueError as error:
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        return (), (), f"{name} is no notebook: its JSON ends or breaks{where}. Save it again in Jupyter."
    except MemoryError:
        return (), (), f"{name} needs too much memory to be read."
    if text.strip()[end:].strip("\0 \r\n\t"):
        notes = (*notes, f"{name} goes on behind the notebook's end; what follows was left out.")
    return _notebook_cells(name, data, notes)


def form_of(name, text):
    """Return what a file seems to be by its name and its text: "notebook", "script", "markdown", or "" for no answer.

    No errors. Source: the course's own.
    """
    name, begin = name.lower(), text[:2000].lstrip("\ufeff \r\n\t")
    if begin.startswith("{") and re.match(r"\{\s*(\"|\}|$)", begin):
        return "notebook"
    if name.endswith(ENDINGS):
        return "markdown" if has_code(text) else ""
    if name.endswith((".py", ".pyw")):
        return "script"
    if begin.startswith("%PDF"):
        return "notebook" if ".ipynb" in name else ""
    if re.search(r"^(?:async )?def \w+\(|^@gpu\.jit", text[:MOST_CHARACTERS], re.MULTILINE):
        return "script"  # a script that was called .ipynb or .txt
    return "notebook" if ".ipynb" in name else ""


_OTHERS = (
    (re.compile(r"(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head|body)\b", re.IGNORECASE),
     "is a web page (HTML), as an export or a login page is. Hand in the notebook itself, the .ipynb."),
    (re.compile(r"PK\x03\x04"), "is a zip archive. Hand in the notebook that is in it."),
    (re.compile(r"version https://git-lfs"), "is only a pointer of Git LFS. Hand in the notebook itself."),
    (re.compile(r"(?s)\{.*?^(?:<{7}|>{7}) ", re.MULTILINE),
     "has marks of an unfinished Git merge (<<<<<<<), and is no notebook any more. Resolve them, then hand it in."),
)  # fmt: skip
"""How a text begins that is no notebook -> what to say. It may be in the name of one."""


def _something_else(content, text):
    """Return what a file is that is called a notebook and is something else, or ""."""
    begin = text[:20_000].lstrip("\ufeff \r\n\t")
    return next((says for pattern, says in _OTHERS if pattern.match(begin)), "")


def _unpacked(content):
    """Return what a file that gzip packed holds, cut off where it is too large; b"" if it is damaged."""
    try:
        return zlib.decompressobj(31).decompress(content, MOST_BYTES + 1)
    except zlib.error:
        return b""


def text_of(content):
    """Return the text of a file, which may be packed by gzip, in whatever code it is. No errors.

    Source: the course's own.
    """
    return _text_of(_unpacked(content) if content.startswith(b"\x1f\x8b") else content)[0]


def _text_of(content):
    code = "utf-8-sig"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        code = "utf-16"
    elif content[1:2] == b"\0" or content[:1] == b"\0":  # no byte order mark
        code = "utf-16-le" if content[1:2] == b"\0" else "utf-16-be"
    try:
        return content.decode(code), ()
    except UnicodeDecodeError:
        return content.decode("latin-1"), ("The file is not UTF-8; it was read as Latin-1.",)


def _notebook_cells(name, data, notes):
    if type(data) is not dict:
        return (), (), f"{name} is JSON, but no notebook."
    raw = data.get("cells")
    if type(raw) is not list and type(data.get("worksheets")) is list:
        sheets = [s.get("cells") for s in data["worksheets"] if type(s) is dict]
        raw = [cell for cells in sheets if type(cells) is list for cell in cells]
        number = data["nbformat"] if data.get("nbformat") in (1, 2, 3) else 3
        notes = (*notes, f"{name} has the old notebook format {number}.")
    if type(raw) is not list:
        return (), (), f"{name} has no list of cells."
    cells = [_cell(number, cell) for number, cell in enumerate(raw[:MOST_CELLS], 1) if type(cell) is dict]
    if (odd := len(raw) - len(cells)) > 0:
        notes = (*notes, f"{odd} cells of {name} are no cells or too many, and were left out.")
    return tuple(cells), notes, ""


def _cell(number, raw):
    source = next((raw[part] for part in ("source", "input", "code", "text") if part in raw), "")
    if type(source) is list:
        source = "".join(part for part in source if type(part) is str)
    source = _clean(source) if type(source) is str else ""
    kind = raw.get("cell_type")
    if kind == "heading":  # of format 3
        level = raw.get("level")
        source = f"{'#' * (level if type(level) is int and 1 <= level <= 6 else 1)} {source}"
    metadata = raw.get("metadata")
    metadata = metadata if type(metadata) is dict else {}
    grader = metadata.get("nbgrader")
    grader = grader if type(grader) is dict else {}
    grade_id = grader.get("grade_id")
    grade_id = _clean(grade_id)[:80] if type(grade_id) is str else ""
    tags = metadata.get("tags")
    tags = [tag for tag in tags if type(tag) is str] if type(tags) is list else []
    is_check = (grader.get("grade") is True and grader.get("solution") is not True) or any(
        tag == "check" or tag.startswith("check:") for tag in tags
    )
    return Cell(grade_id or f"cell {number}", "code" if kind == "code" else "markdown", source, grade_id, is_check)


def _clean(text):
    """Return a text that can be written in UTF-8: JSON may hold halves of characters."""
    return text[:MOST_CHARACTERS].encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def _marked_cells(parts):
    """Return cells of (kind, source, marker); a marker of Jupytext may hold nbgrader's metadata and tags."""
    cells = []
    for number, (kind, source, marker) in enumerate(parts[:MOST_CELLS], 1):
        named = re.search(r'"grade_id": *"([^"]{1,80})"', marker)
        graded = re.search(r'"grade": *true', marker) and not re.search(r'"solution": *true', marker)
        is_check = bool(graded) or re.search(r"""tags"?[=:] *\[[^\]]*["']check[:"']""", marker) is not None
        grade_id = named[1] if named else ""
        cells.append(Cell(grade_id or f"cell {number}", kind, source, grade_id, is_check))
    return tuple(cells)
