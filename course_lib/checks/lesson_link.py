"""Where an exercise is explained: the lesson's title, and a link to it from the folder of the notebook that runs.

Source: the course's own.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from course_lib.checks.registry import sheet_of

FOLDERS = ("../notebooks", "notebooks", ".")
"""Where lessons may lie, seen from a sheet in exercises/, from the top of the course, and from a lesson."""


@dataclass(frozen=True)
class Lesson:
    """A lesson to read: its title, and the path to its file or section, "" where there is no file.

    Source: the course's own.
    """

    title: str
    href: str


def lesson_of(exercise, folder="."):
    """Return the `Lesson` of an exercise, None for a sheet that has no lesson.

    Parameters
    ----------
    exercise : Exercise
    folder : str or Path
        Of the notebook; a kernel's own folder is that.

    No errors. Source: the course's own.
    """
    try:
        name = sheet_of(exercise.id).name
    except LookupError:  # an exercise of a test
        return None
    for place in FOLDERS:
        file = Path(folder, place, f"{name}.ipynb")
        if title := _title(file):
            link = f"{place}/{name}.ipynb".removeprefix("./")
            if exercise.section:  # JupyterLab and the exported pages call a heading's place like this
                return Lesson(f"{title}, “{exercise.section}”", f"{link}#{quote(exercise.section.replace(' ', '-'))}")
            return Lesson(title, link)
    number, _, topic = name.partition("_")
    return Lesson(f"lesson {number}, {topic.replace('_', ' ')}", "") if number[:2].isdigit() else None


def _title(file):
    """Return the heading of a notebook that is a lesson, "" of any other file."""
    try:
        cell = json.loads(file.read_text(encoding="utf-8"))["cells"][0]
        heading = "".join(cell["source"]).splitlines()[0]
    except (OSError, ValueError, LookupError, TypeError):
        return ""
    return heading.lstrip("# ") if heading.startswith("# ") and "Exercises" not in heading else ""
