"""A table that a learning platform handed out, filled in: the grades change, every other byte stays.

Moodle's offline grading worksheet and Canvas's gradebook know more than we do: their own numbers, comments, dates that
decide whether a grade may be overwritten. So their file is taken, and only the cells of the grades are put in.
Source: Moodle's mod/assign/feedback/offline/importgradeslib.php; Canvas's lib/gradebook_importer.rb; RFC 4180.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from course_lib.grading.csvfile import BadTable, write_atomically
from course_lib.grading.from_spreadsheet import Ids, Unclear

MOODLE_NEEDS = ("Identifier", "Grade", "Last modified (grade)")
"""The three columns without which Moodle's importer takes no worksheet."""


@dataclass(frozen=True)
class Cell:
    """A cell: what it says, and where it stands in the file's text. Source: the course's own."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Table:
    """A CSV file as it lies on disk: its text, byte order mark, encoding and separator, and its cells by row.

    Source: the course's own.
    """

    path: Path
    text: str
    mark: bytes
    encoding: str
    separator: str
    rows: list[list[Cell]]

    def columns(self) -> dict[str, int]:
        """Return {column's name in small letters: its place}, the first of a name. No errors."""
        found: dict[str, int] = {}
        for at, cell in enumerate(self.rows[0]):
            found.setdefault(cell.text.strip().casefold(), at)
        return found

    def with_cells(self, new: Mapping[tuple[int, int], str]) -> bytes:
        """Return the file's bytes with other texts in the cells {(row, column): text}; the rest as it was."""
        pieces, at = [], 0
        for (row, column), text in sorted(new.items()):
            cell = self.rows[row][column]
            quoted = self.text[cell.start : cell.start + 1] == '"' or self.separator in text
            pieces += [self.text[at : cell.start], f'"{text}"' if quoted else text]
            at = cell.end
        return self.mark + "".join([*pieces, self.text[at:]]).encode(self.encoding)


def read_table(path: Path) -> Table:
    """Read a CSV, its place in the file kept with every cell; `BadTable` if it cannot be read or is none.

    Source: RFC 4180.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadTable(f"{path} cannot be read ({error.strerror}). Name the file that you downloaded.") from None
    marks = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
    mark = next((one for one in marks if raw.startswith(one)), b"")
    encoding = marks.get(mark, "utf-8")
    try:
        text = raw[len(mark) :].decode(encoding)
    except UnicodeDecodeError:
        mark, encoding, text = b"", "latin-1", raw.decode("latin-1")  # every byte comes back as it was
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    rows = _rows(text, separator)
    if not rows:
        raise BadTable(f"{path} is empty. Name the file that you downloaded.")
    return Table(path, text, mark, encoding, separator, rows)


def _rows(text: str, separator: str) -> list[list[Cell]]:
    quoted = re.compile(rf'"((?:[^"]|"")*)"({separator}|\r\n|\r|\n|\Z)')
    plain = re.compile(rf"([^{separator}\r\n]*)({separator}|\r\n|\r|\n|\Z)")  # also with a quote in the middle
    rows, row, at = [], [], 0
    while at < len(text):
        found = quoted.match(text, at)
        says = found[1].replace('""', '"') if found else ""
        if not found:
            found = plain.match(text, at)
            says = found[1]
        row.append(Cell(says, at, found.start(2)))
        at = found.end()
        if found[2] != separator:
            if any(one.text.strip() for one in row):
                rows.append(row)
            row = []
    if row:
        rows.append([*row, Cell("", at, at)])
    return rows


def identifier(text: str) -> str:
    """Return the number of Moodle's "Participant 1234", in whatever language that word is; "" if none. No errors.

    Source: Moodle's importer, which takes what stands after the word.
    """
    found = re.search(r"(\d+)\s*$", text)
    return found[1] if found else ""


def worksheet(path: Path) -> tuple[Table, dict[str, int]]:
    """Read Moodle's worksheet: the table, and the row of each participant's number.

    `BadTable` if it lacks a column that Moodle's importer needs. Source: `MOODLE_NEEDS`.
    """
    table = read_table(path)
    columns = table.columns()
    if missing := [name for name in MOODLE_NEEDS if name.casefold() not in columns]:
        there = ", ".join(cell.text.strip() for cell in table.rows[0][:20])
        raise BadTable(
            f"{path} is no grading worksheet of Moodle: no column {', '.join(missing)}; there are {there}. "
            "Moodle names the columns in your language, and takes a file back in that language alone: set yours to "
            "English there, and download the worksheet again."
        )
    at = columns["identifier"]
    return table, {
        number: row
        for row, cells in enumerate(table.rows)
        if row and len(cells) > at and (number := identifier(cells[at].text))
    }


def fill_worksheet(
    path: Path, out: Path, grades: Mapping[str, str], students: Mapping, numbers: Collection[str], most: str = ""
) -> list[str]:
    """Write Moodle's worksheet with the grades put in, and return a line for each thing to know.

    Parameters
    ----------
    path : Path
        As downloaded from the assignment.
    out : Path
    grades : mapping of {student's id: grade}
        "" leaves what is there.
    students : mapping of {id: Student}
    numbers : collection of str
        The ids that are Moodle's participant numbers, as they came in its export. Any other student is found by ID
        number or e-mail address, so that nobody gets the grade of who has by chance the same number.
    most : str
        The sheet's points: told if the assignment in Moodle has others.

    `BadTable` if it is no worksheet, OSError if it cannot be written. Source: Moodle's importer.
    """
    table, rows = worksheet(path)
    columns = table.columns()
    known = [_by_column(table, columns[name]) for name in ("id number", "email address") if name in columns]
    new, says, strangers, others = {}, [], [], []
    for id, grade in grades.items():
        one = students[id]
        row = rows.get(id) if id in numbers else None
        for text in (one.sis_id, one.email, "" if id in numbers else id):
            row = row or next((of[text.casefold()] for of in known if text and text.casefold() in of), None)
        if row is None:
            strangers.append(id)
            continue
        called = _cell(table, row, columns["full name"]) if "full name" in columns else ""
        if called and one.name and _words(called) != _words(one.name):
            others.append(f"{one.name} ({id}) is {called} there")
        if grade and len(table.rows[row]) > columns["grade"]:
            new[row, columns["grade"]] = grade
    if others:
        says.append(f"{path.name}: {_some(others)}; is it this assignment's worksheet?")
    locked, maximum = columns.get("grade can be changed"), columns.get("maximum grade")
    kept = [row for row, _ in new if locked is not None and _cell(table, row, locked).casefold() == "no"]
    maxima = {_cell(table, row, maximum) for row, _ in new} if maximum is not None else set()
    if maxima := sorted(text for text in maxima if most and text and _number(text) != _number(most)):
        says.append(
            f"{path.name}: the maximum grade in Moodle is {', '.join(maxima)}, the sheet has {most} points. Set it in "
            "the assignment, else Moodle takes the points as they are and refuses those above"
        )
    if strangers:
        says.append(f"{path.name}: no line for {_some(strangers)}; is it this assignment's worksheet?")
    if kept:
        says.append(f"{path.name}: Moodle does not let {len(kept)} of the grades be changed")
    write_atomically(out, table.with_cells(new))
    return [f"{len(new)} of {len(rows)} lines of {path.name} have a grade now", *says]


def _cell(table: Table, row: int, column: int) -> str:
    cells = table.rows[row]
    return cells[column].text.strip() if column < len(cells) else ""


def _by_column(table: Table, column: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in range(1, len(table.rows)):
        if text := _cell(table, row, column).casefold():
            found.setdefault(text, row)
    return found


def _words(name: str) -> list[str]:
    return sorted(re.findall(r"\w+", normalize("NFC", name).casefold()))


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def gradebook_table(path: Path, words: Mapping[str, tuple]) -> tuple[Table, dict[str, int]]:
    """Read Canvas's gradebook: the table, and the column of each sheet.

    `BadTable` if it is none, or if a sheet has no column or several. Source: Canvas's lib/gradebook_importer.rb.
    """
    table = read_table(path)
    if not {"student", "id"} <= table.columns().keys():
        there = ", ".join(cell.text.strip() for cell in table.rows[0][:8])
        raise BadTable(f"{path} is no gradebook of Canvas: no column Student, ID; there are {there}. Export it again.")
    return table, {sheet: _assignment(table, sheet, names) for sheet, names in words.items()}


CANVAS_IDS = ("id", "sis user id", "sis login id")


def fill_gradebook(path: Path, out: Path, grades: Mapping[str, Mapping[str, str]], words: Mapping[str, tuple]) -> list:
    """Write Canvas's gradebook with the grades put in, and return a line for each thing to know.

    Parameters
    ----------
    path : Path
        As exported from Canvas.
    out : Path
    grades : mapping of {sheet: {student's id: grade}}
        "" leaves what is there: an empty cell would take a grade away.
    words : mapping of {sheet: (name, ...)}
        How an assignment's column may call the sheet, "04_backpropagation" or "04 backpropagation (1234)".

    `BadTable` if it is no gradebook or a sheet has no column or several; OSError if it cannot be written. Source:
    Canvas's lib/gradebook_importer.rb.
    """
    table, assignments = gradebook_table(path, words)
    columns = table.columns()
    ids: dict[str, dict[str, int]] = {name: {} for name in CANVAS_IDS if name in columns}
    for row, cells in enumerate(table.rows):
        for name, of_column in ids.items():
            if row and columns[name] < len(cells) and (text := cells[columns[name]].text.strip()):
                of_column.setdefault(text, row)
    search = [(of_column, Ids(of_column)) for of_column in ids.values()]
    new, strangers = {}, {}
    for sheet, of_sheet in grades.items():
        column = assignments[sheet]
        for id, grade in of_sheet.items():
            row = next((found for column_ids in search if (found := _row(*column_ids, id)) is not None), None)
            if row is None:
                strangers[id] = None
            elif grade and column < len(table.rows[row]):
                new[row, column] = grade
    write_atomically(out, table.with_cells(new))
    says = [f"{len(new)} cells of {path.name} have a grade now"]
    return [*says, f"{path.name}: no line for {_some(list(strangers))}"] if strangers else says


def _row(of_column: dict[str, int], ids: Ids, id: str) -> int | None:
    try:
        return of_column.get(ids.find(id))
    except Unclear:
        return None


def _assignment(table: Table, sheet: str, names: tuple[str, ...]) -> int:
    called = {_plain(name) for name in names}
    found = [at for at, cell in enumerate(table.rows[0]) if _plain(cell.text) in called]
    if len(found) != 1:
        there = ", ".join(cell.text for cell in table.rows[0] if re.search(r"\(\d+\)\s*$", cell.text)) or "none"
        what = f"{len(found)} columns" if found else "no column"
        raise BadTable(
            f"{table.path}: {what} for the sheet {sheet}; the assignments are {there}. Say which it is: "
            f"--column '{sheet}=NAME'"
        )
    return found[0]


def _plain(text: str) -> str:
    text = re.sub(r"\s*\(\d+\)\s*$", "", text)  # Canvas's number of the assignment
    return re.sub(r"[\W_]+", "", text).casefold()
