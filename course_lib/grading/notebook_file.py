"""The bytes of one file that was handed in -> its cells, whatever the bytes are.

Source: the course's own; the notebook formats 3 and 4 as https://nbformat.readthedocs.io/en/latest/changelog.html
tells them apart, and nbgrader's cell metadata.
"""

import json
import re
from dataclasses import dataclass

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
    if len(content) > MOST_BYTES:
        return (), (), f"{name} has {len(content) >> 20} MiB; at most {MOST_BYTES >> 20} are read. Clear its outputs."
    text, notes = _text_of(content)
    if not text.strip():
        return (), (), f"{name} is empty."
    if name.lower().endswith(".py"):
        return _script_cells(text), (*notes, f"{name} is a script, not a notebook; it was read as cells."), ""
    try:
        data = json.loads(text)
    except RecursionError:
        return (), (), f"{name} is nested too deep to be a notebook."
    except ValueError as error:
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        return (), (), f"{name} is no notebook: its JSON ends or breaks{where}. Save it again in Jupyter."
    except MemoryError:
        return (), (), f"{name} needs too much memory to be read."
    return _notebook_cells(name, data, notes)


def _text_of(content):
    for encoding in ("utf-8-sig",) if not content.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-16",):
        try:
            return content.decode(encoding), ()
        except UnicodeDecodeError:
            pass
    return content.decode("latin-1"), ("the file is not UTF-8; it was read as Latin-1.",)


def _notebook_cells(name, data, notes):
    if type(data) is not dict:
        return (), (), f"{name} is JSON, but no notebook."
    raw = data.get("cells")
    if type(raw) is not list and type(data.get("worksheets")) is list:
        sheets = [s.get("cells") for s in data["worksheets"] if type(s) is dict]
        raw = [cell for cells in sheets if type(cells) is list for cell in cells]
        notes = (*notes, f"{name} has the old notebook format 3.")
    if type(raw) is not list:
        return (), (), f"{name} has no list of cells."
    cells = [_cell(number, cell) for number, cell in enumerate(raw[:MOST_CELLS], 1) if type(cell) is dict]
    if (odd := len(raw) - len(cells)) > 0:
        notes = (*notes, f"{odd} cells of {name} are no cells or too many, and were left out.")
    return tuple(cells), notes, ""


def _cell(number, raw):
    source = raw.get("source", raw.get("input", ""))
    if type(source) is list:
        source = "".join(part for part in source if type(part) is str)
    source = _clean(source) if type(source) is str else ""
    kind = raw.get("cell_type")
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


def _script_cells(text):
    parts = re.split(r"^(?=# ?%%)", _clean(text), flags=re.MULTILINE)
    cells = []
    for number, part in enumerate(parts[:MOST_CELLS], 1):
        words = re.match(r"# ?%%.*\[(markdown|md)\]", part)
        source = re.sub(r"^# ?", "", part.partition("\n")[2], flags=re.MULTILINE) if words else part
        cells.append(Cell(f"cell {number}", "markdown" if words else "code", source))
    return tuple(cells)
