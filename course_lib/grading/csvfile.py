"""CSV in and out: what a student typed cannot become a formula, and what an instructor's spreadsheet saves is read.

Source: OWASP, CSV injection; RFC 4180.
"""

from __future__ import annotations

import csv
import io
import os
import re
from dataclasses import dataclass
from pathlib import Path

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class BadTable(ValueError):
    """A CSV file is not as it must be; the message names file, line, what is there and what must be.

    Source: the course's own.
    """


@dataclass(frozen=True)
class Row:
    """A line of a CSV: its number in the file, and {column: text}. Source: the course's own."""

    line: int
    cells: dict[str, str]


def guarded(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: one that begins like it gets an apostrophe. No errors.

    Source: OWASP, CSV injection.
    """
    text = str(text).replace("\0", "")
    return "'" + text if text.lstrip(" ").startswith(_FORMULA) or text.startswith(_FORMULA) else text


def unguarded(text: str) -> str:
    """Return the text that `guarded` was given. No errors. Source: the course's own."""
    return text[1:] if text[:1] == "'" and guarded(text[1:]) == text else text


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: a reader never sees half of it, whenever this process ends.

    OSError if the folder cannot be written. Source: POSIX rename.
    """
    beside = path.with_name(f".{path.name[:100]}.{os.getpid()}.tmp")
    try:
        with open(beside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_csv(path: Path, rows: list[list[str]], *, excel: bool = False) -> None:
    """Write rows of texts, each one guarded; with a byte order mark for Excel, which else takes UTF-8 for Latin-1.

    OSError as `write_atomically`. Source: RFC 4180.
    """
    text = io.StringIO()
    csv.writer(text).writerows([[guarded(cell) for cell in row] for row in rows])
    write_atomically(path, text.getvalue().encode("utf-8-sig" if excel else "utf-8", "backslashreplace"))


def read_csv(path: Path, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> list[Row]:
    """Read a CSV with a head line, separated by comma, semicolon or tab, in UTF-8 or what Excel saves.

    Empty lines are passed over. `BadTable` if it cannot be read, lacks a needed column or has a longer line than head.
    Source: the course's own.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadTable(f"{path} cannot be read ({error.strerror}). Name a CSV file.") from None
    text, separator, above = _table(raw)
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        names = [name.strip().lower() for name in next(lines, [])]
        missing = [name for name in needed if name not in names]
        if missing:
            there = ", ".join(filter(None, names)) or "none"
            raise BadTable(
                f"{path}, line 1: no column {', '.join(missing)}; there are {there}. "
                f"The first line names the columns: {', '.join((*needed, *optional))}."
            )
        rows = []
        for cells in lines:
            if len(cells) > len(names) and any(cell.strip() for cell in cells[len(names) :]):
                where = f"{path}, line {lines.line_num + above}"
                raise BadTable(
                    f"{where}: {len(cells)} cells, but line {1 + above} names {len(names)} columns. "
                    "Put a text with a separator in it between double quotes."
                )
            if any(cell.strip() for cell in cells):
                found = dict(zip(names, (unguarded(cell) for cell in cells), strict=False))
                rows.append(Row(lines.line_num + above, {name: found.get(name, "") for name in (*needed, *optional)}))
    except csv.Error as error:
        raise BadTable(f"{path}: no CSV ({error}). Save it from the spreadsheet as CSV, UTF-8.") from None
    return rows


def _table(raw: bytes) -> tuple[str, str, int]:
    """Return a table's text, its separator, and the lines above it: Excel takes "sep=;" there for itself."""
    text = _text(raw)
    head, _, rest = text.partition("\n")
    if told := re.fullmatch(r"sep=([,;\t])\r?", head.strip(" "), re.IGNORECASE):
        return rest, told[1], 1
    return text, max(",;\t", key=head.count), 0


def _text(raw: bytes) -> str:
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")
