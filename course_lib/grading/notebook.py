"""What a student handed in -> the cells to run and the answers in words, with notes on what was odd.

An answer is found by the name of its function, so cells may be copied, moved or stripped of their metadata; `words`
finds the answers in words.

Source: the course's own.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

from course_lib.grading.fit import NONE, defines, fit, is_about
from course_lib.grading.notebook_file import form_of, read_file, text_of
from course_lib.grading.words import answers_in_words


@dataclass(frozen=True)
class Answers:
    """What was found.

    Attributes
    ----------
    status : "graded", "unreadable" or "no notebook"
    says : str
        A sentence where there is nothing to grade.
    file : str
        The name of the file that was taken.
    cells : tuple of Cell
        The code cells to run, in order.
    texts : dict of str to str
        Exercise id -> answer in words.
    notes : tuple of str
    beside : tuple of (str, bytes)
        What else was handed in, for cells that import or open it.

    Source: the course's own.
    """

    status: str
    says: str = ""
    file: str = ""
    cells: tuple = ()
    texts: dict = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    beside: tuple[tuple[str, bytes], ...] = ()


def read_answers(files, sheet=None):
    """Return the `Answers` of all files of one submission; of several notebooks, the one that fits the sheet best.

    Parameters
    ----------
    files : sequence of (str, bytes)
        Name and content.
    sheet : Sheet, optional
        Of `checks.registry`: which ids and functions to look for.

    No errors, whatever the files are. Source: the course's own.
    """
    exercises = sheet.exercises if sheet else ()
    files = [f for f in files if not _is_copy(f[0])]
    notebooks = [f for f in files if f[0].lower().endswith(".ipynb")]
    others = [f for f in files if not f[0].lower().endswith(".ipynb") and form_of(f[0], text_of(f[1]))]
    found = notebooks or others
    if not found:
        there = ", ".join(name[:80] for name, _ in files[:5])
        pages = any(name.lower().endswith((".html", ".htm", ".pdf")) for name, _ in files)
        hint = " A page cannot be graded: hand in the notebook itself, the .ipynb." if pages else ""
        return Answers("no notebook", f"No notebook was handed in; there is {there or 'no file'}.{hint}")
    read = [(name, *read_file(name, content)) for name, content in found]
    if all(problem for *_, problem in read) and notebooks:  # a script beside it may be the answer
        more = [(name, *read_file(name, content)) for name, content in others]
        read += [one for one in more if not one[3] and fit(one[1], exercises) != NONE]
    readable = [(name, cells, notes) for name, cells, notes, problem in read if not problem]
    problems = [problem for *_, problem in read if problem]
    if not readable:
        return Answers("unreadable", " ".join(problems[:3]), found[0][0])
    expected = f"{sheet.name}.ipynb" if sheet else ""
    name, cells, notes = max(readable, key=lambda r: (fit(r[1], exercises), r[0].rpartition("/")[2] == expected))
    if len(found) > 1:
        notes = (*notes, f"{len(found)} files could be the answer; {name} fits this sheet best and was taken.")
    if sheet and name.rpartition("/")[2] != expected:
        notes = (*notes, f"The file is called {name}, not {expected}.")
    beside = tuple((n, content) for n, content in files if n != name and _is_beside(n))
    return replace(_answers(name, cells, (*notes, *problems), exercises, sheet.name if sheet else ""), beside=beside)


def _is_beside(name):
    """Return whether a file may be put where the notebook runs: its name leads nowhere else, and it is no notebook."""
    parts = name.replace("\\", "/").split("/")
    return not name.lower().endswith(".ipynb") and not set(parts) & {"", ".", ".."} and "\0" not in name


def _is_copy(name):
    """Return whether a file is one that Jupyter or macOS puts beside a notebook."""
    return "-checkpoint." in name or "__MACOSX" in name or name.rpartition("/")[2].startswith("._")


def _answers(name, cells, notes, exercises, sheet):
    functions = [e.function for e in exercises if e.kind != "text"]
    texts = answers_in_words(cells, exercises, sheet)
    notes, run = list(notes), []
    for cell in cells:
        about = [e for e in exercises if is_about(cell.grade_id, e.id)]
        if about and about[0].kind == "text":
            continue
        elif cell.kind == "code":
            if cell.source.strip():
                run.append(cell)
        elif lost := [f for f in functions if defines(cell.source, f)]:
            notes.append(f"{cell.name} defines {lost[0]}, but is a text cell; it was not run.")
    twice = [id for id, times in Counter(c.grade_id for c in cells if c.grade_id).items() if times > 1]
    notes += [f"{id} is there more than once; of several definitions the last one counts." for id in twice[:5]]
    return Answers("graded", "", name, tuple(run), texts, tuple(notes))
