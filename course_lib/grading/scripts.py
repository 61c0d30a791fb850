"""Which files are an answer though their name is no notebook's: scripts and Markdown, by what stands in them.

Whoever grades a class of such files must not name the sheet; and a helper beside a notebook is no answer. So a name
alone says nothing: the text must hold something of a sheet. Source: the course's own.
"""

from __future__ import annotations

import re

from course_lib.checks import registry
from course_lib.grading.archive import Entry, ending_of
from course_lib.grading.fit import NONE, fit
from course_lib.grading.notebook_file import form_of, text_of
from course_lib.grading.sheet_names import Names
from course_lib.grading.text_cells import ENDINGS

MOST_BYTES = 2**20
"""Of a script; more is data."""

_ENDINGS = (".py", ".pyw", ".ipy", ".txt", ".text", ".json", *ENDINGS)
_OTHERS = {"course_lib", "site-packages", "node_modules", "venv", ".venv", "env"}  # folders of who wrote no answer
_DEFINED = re.compile(r"^[ \t]*(?:(?:async )?def[ \t]+(\w+)|(\w+)[ \t]*=(?!=))", re.MULTILINE)
_FEW = 2  # functions of a sheet's names are no accident


def is_notebook(name: str) -> bool:
    """Return whether a file's name says that it is a notebook. No errors. Source: the course's own."""
    return ".ipynb" in name.lower()  # browsers save "hw.ipynb.txt" and "hw.ipynb.json"


def may_be_script(entry: Entry) -> bool:
    """Return whether a file may be an answer by its name, its place and its size, and is no notebook by its name.

    No errors. Source: the course's own.
    """
    if is_notebook(entry.name) or not 0 < entry.size <= MOST_BYTES or set(entry.parts) & _OTHERS:
        return False
    return "." not in entry.name or bool(ending_of(entry.name, _ENDINGS))


def answers_a_sheet(name: str, looked, names: Names, wanted: tuple[str, ...] = ()) -> bool:
    """Return whether a text holds something of a sheet, by its cells or as the only sheet that is graded or named.

    Parameters
    ----------
    name : str
        The file's name, with its folders.
    looked : Looked
        Of `pick`.
    names : Names
    wanted : tuple of str
        The sheets to grade, if the instructor named them.

    A single function of an exercise's name is an accident where nothing else speaks of that sheet. No errors.
    Source: the course's own.
    """
    if not looked.cells or not form_of(name, text_of(looked.content)):
        return False
    spoken = {names.in_text(name), names.in_cells(looked.content), *(wanted if len(wanted) == 1 else ())} - {""}
    if any(fit(looked.cells, registry.sheet(sheet).exercises) > NONE for sheet in spoken):
        return True
    return bool(by_functions(looked, names))


def by_functions(looked, names: Names) -> str:
    """Return the sheet of which a text answers most exercises, two or more, by the functions' names; "" if none.

    No errors. Source: the course's own.
    """
    defined = {one or other for cell in looked.cells for one, other in _DEFINED.findall(cell.source)}
    fits = {}
    for sheet in names.known:
        exercises = registry.sheet(sheet).exercises
        if len(defined.intersection(one.function for one in exercises if one.kind != "text")) >= _FEW:
            fits[sheet] = fit(looked.cells, exercises)
    best = max(fits, key=fits.get, default="")
    return best if best and fits[best].answered >= _FEW else ""
