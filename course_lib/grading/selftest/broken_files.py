"""Files that are no sound notebook: honest accidents, most of them, and each must get a result.

Source: the course's own; the accidents are those that a course's inbox has every year.
"""

import gzip
import json

from course_lib.grading.selftest.sheet import SHEET
from course_lib.grading.selftest.submission import (
    FULL,
    ONE_LOST,
    RIGHT,
    SETUP,
    Submission,
    answered,
    book,
    cells,
    code,
    markdown,
)

NAME = f"{SHEET}.ipynb"
SOUND = book(cells())


def _file(name, tries, fair, why, content, status="graded", file=NAME):
    return Submission(name, tries, FULL * 0 + fair, why, ((file, content),), status)


def _edited(name, tries, fair, why, edit):
    """A notebook whose list of cells was edited."""
    found = cells()
    return _file(name, tries, fair, why, book(edit(found) or found))


def _of(found, id):
    return next(c for c in found if c["metadata"].get("nbgrader", {}).get("grade_id") == f"exercise-{id}")


def _stripped(found):
    for cell in found:
        cell["metadata"] = {}


def _as_markdown(found):
    _of(found, "00-1")["cell_type"] = "markdown"


def _as_lines(found):
    for cell in found:
        cell["source"] = cell["source"].splitlines(keepends=True)


def _no_text(found):
    _of(found, "00-1")["source"] = 17


def _strange_names(found):
    names = ["<script>alert(1)</script>", "x" * 1_000_000, ["list"], {"a": 1}, "\n\x1b[2J\u202e", "../../@TOKEN@"]
    for number, cell in enumerate(found):
        cell["id"] = cell["metadata"] = {
            "nbgrader": {"grade_id": names[number % len(names)], "grade": "yes"},
            "tags": 3,
        }


def _windows(found):
    for cell in found:
        cell["source"] = cell["source"].replace("\n", "\r\n")


def _outputs(found):
    flood = {"output_type": "stream", "name": "stdout", "text": "0123456789" * (1 << 20)}
    _of(found, "00-1")["outputs"] = [flood]


def _half_characters(found):
    _of(found, "00-1")["source"] = f"# \ud800 \udcff \0\n{RIGHT['00.1']}".replace("\0", "")


def _format_3():
    old = [{"cell_type": "code", "language": "python", "input": c["source"], "outputs": []} for c in cells()[1:]
           if c["cell_type"] == "code"]  # fmt: skip
    return json.dumps({"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": old}]})


def _deep(text):
    """A notebook with a piece of JSON put in by hand."""
    return SOUND.replace(b'"nbformat_minor": 5', b'"nbformat_minor": ' + text.encode())


def _script(marker):
    """A script with the right answers and a check below each; marker.format(number) stands above each cell."""
    cells = [SETUP]
    for text in RIGHT.values():
        cells += [text, "check()  # there is no such name\n"]
    return "#!/usr/bin/env python\n" + "\n\n".join(f"{marker.format(i)}\n\n\n{c}" for i, c in enumerate(cells, 1))


UNREADABLE = "nothing in it can be read, so there is nothing to grade"
ALL_THERE = "all answers are there, and right"

SUBMISSIONS = (
    _file("empty file", "a file of no bytes", 0, UNREADABLE, b"", "unreadable"),
    _file("cut off", "half of a notebook, as a broken upload leaves it", 0, UNREADABLE, SOUND[: len(SOUND) // 2],
          "unreadable"),
    _file("picture", "a picture under a notebook's name", 0, UNREADABLE, b"\x89PNG\r\n\x1a\n" + bytes(500),
          "unreadable"),
    _file("a list", "JSON, but no notebook", 0, UNREADABLE, b"[1, 2, 3]", "unreadable"),
    _file("cells as text", "cells that are no list", 0, UNREADABLE, b'{"cells": "none"}', "unreadable"),
    _file("nested deep", "JSON nested 100,000 deep", 0, UNREADABLE, _deep("[" * 100_000 + "]" * 100_000),
          "unreadable"),
    _file("huge number", "a whole number of 10,000 digits in the JSON", 0, UNREADABLE, _deep("9" * 10_000),
          "unreadable"),
    _file("30 MB", "a notebook of 30 MB", 0, "more than 20 MiB are not read, and the report says so",
          SOUND + b" " * (30 << 20), "unreadable"),
    Submission("nothing", "no file at all", FULL * 0, "nothing was handed in", (), "no notebook"),
    _file("text document", "a text document instead", 0, "no notebook was handed in", b"My answers are: 42",
          "no notebook", "answers.txt"),
    _file("Latin-1", "a notebook in Latin-1", FULL, ALL_THERE,
          SOUND.replace(b"# 00 ", "# \u00dcbung 00 ".encode("latin-1"))),
    _file("byte order mark", "a byte order mark before the JSON", FULL, ALL_THERE, b"\xef\xbb\xbf" + SOUND),
    _file("UTF-16", "a notebook in UTF-16", FULL, ALL_THERE, SOUND.decode().encode("utf-16")),
    _file("format 3", "the notebook format of 2013", FULL, ALL_THERE, _format_3().encode()),
    _file("script", "a .py file instead of a notebook", FULL, "its cells hold all answers",
          "\n".join(["# %%", SETUP] + [f"# %%\n{text}" for text in RIGHT.values()]).encode(), file="homework.py"),
    _file("JupyterLab's script", "a script as JupyterLab exports it, in which the first check fails", FULL,
          "a check takes no answer with it", _script("# In[{}]:").encode(), file="homework.py"),
    _file("plain script", "a script without any mark of cells, in which the first check fails", FULL,
          "a check takes no answer with it", _script("").encode(), file="homework.py"),
    _file("Markdown", "a notebook that is kept as Markdown", FULL, ALL_THERE,
          "".join(f"```python\n{text}```\n" for text in (SETUP, *RIGHT.values())).encode(), file="homework.md"),
    _file("packed", "a notebook packed by gzip", FULL, ALL_THERE, gzip.compress(SOUND)),
    _file("packed bomb", "200 MB of nothing, packed by gzip", 0, UNREADABLE, gzip.compress(bytes(200 << 20), 9),
          "unreadable"),
    _file("web page", "a page of HTML under a notebook's name", 0, "the report says what it is",
          b"<!DOCTYPE html><html><body>Please sign in</body></html>", "unreadable"),
    Submission("several notebooks", "an old sheet beside the right one", FULL, "the one that fits the sheet counts", (
        ("old.ipynb", book([code("x = 1")])), (NAME, SOUND), ("notes.ipynb", b"{}"))),
    _file("renamed", "another name, with folders and dots in it", FULL, "a name is no answer", SOUND,
          file="../../@TOKEN@ final (2).ipynb"),
    _file("odd name", "a name that is not UTF-8", FULL, "a name is no answer", SOUND, file="\udcff\udcfe.ipynb"),
    _edited("copied cells", "every cell twice", FULL, "the same answers again", lambda found: found + found),
    _edited("copied and broken", "a wrong copy of an answer at the end", ONE_LOST, "the last definition counts, as in "
            "Jupyter", lambda found: [*found, code("def line(x):\n    return x", "exercise-00-1")]),
    _edited("deleted cell", "one answer deleted", ONE_LOST, "one answer is missing",
            lambda found: [c for c in found if c is not _of(found, "00-2")]),
    _edited("text cell", "an answer turned into a text cell", ONE_LOST, "a text cell is not run", _as_markdown),
    _edited("reordered", "the answers in reverse", FULL, ALL_THERE, lambda found: found[:2] + found[2:][::-1]),
    _edited("no metadata", "all metadata deleted", FULL, "answers are found by their function's name", _stripped),
    _edited("lists of lines", "sources as lists of lines", FULL, "nbformat writes them so", _as_lines),
    _edited("no text", "a source that is the number 17", ONE_LOST, "that answer is not there", _no_text),
    _edited("strange names", "cells whose names are long, no text, or tags of HTML", FULL, ALL_THERE, _strange_names),
    _edited("Windows lines", "lines that end as on Windows", FULL, ALL_THERE, _windows),
    _edited("10 MB of outputs", "outputs of 10 MB", FULL, "outputs are no answers", _outputs),
    _edited("half characters", "halves of characters in a comment", FULL, ALL_THERE, _half_characters),
    _edited("strange cells", "cells that are null, numbers and lists", FULL, ALL_THERE,
            lambda found: [None, 3, [], {}, {"cell_type": []}, *found, markdown("")]),
    _edited("a million lines", "a cell of a million empty lines", FULL, ALL_THERE,
            lambda found: [*found, code("\n" * 999_000)]),
    _edited("wide", "a line of 190,000 spaces in a cell that Python cannot read", FULL, ALL_THERE,
            lambda found: [*found, code(f"x = = 1\n{' ' * 190_000}\ny = 2")]),
    _edited("long", "cells of 40,000 statements", FULL, ALL_THERE,
            lambda found: [*found, *(code("x = 1\n" * 40_000) for _ in range(4))]),
    _edited("huge number in code", "a number of 10,000 hexadecimal digits in a cell", FULL, ALL_THERE,
            lambda found: [*found, code("x = 0x" + "f" * 10_000)]),
    Submission("many notebooks", "200 notebooks in one submission", FULL, "the one that fits the sheet counts",
               (*((f"{i}.ipynb", book([code("x = 1")] * 50)) for i in range(200)), (NAME, SOUND))),
    _file("keys twice", 'two lists of "cells" in one notebook', FULL, "the last counts, as Python and Jupyter read it",
          b'{"cells": [], ' + SOUND[1:]),
    _file("not a number", "NaN where JSON has none", FULL, ALL_THERE, _deep("NaN")),
    answered("syntax error", "one answer that Python cannot read", ONE_LOST, "one answer is no Python", {
        "00.1": "def line(x)\n    return 2 * x + 1\n"}),
    answered("Jupyter's own lines", "magics and shell commands between the code", FULL, "they change no answer",
             extra="%matplotlib inline\n!echo hello\nx = !ls\n", last="%%bash\necho hello"),
    answered("two lines too deep", "an answer nested 5,000 deep", ONE_LOST, "one answer is no Python that runs", {
        "00.1": f"def line(x):\n    return {'-' * 5_000}x\n"}),
)  # fmt: skip
"""The submissions of this family."""
