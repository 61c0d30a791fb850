"""Where the course lies: the folder that holds notebooks/ and course_lib/, and the lessons in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import course_lib
from course_lib.cli.ending import FOLDER_IS_GONE

__all__ = [
    "CourseFolderNotFound",
    "Lesson",
    "UnknownLesson",
    "find_course_folder",
    "list_lessons",
    "pick_lessons",
]

_LESSON_FILE = re.compile(r"(\d\d[a-z]?)_(\w+)\.ipynb")  # 06b_ stands between 06_ and 07_


class CourseFolderNotFound(Exception):
    """There is no course folder where the command was started, nor around the installed package."""


class UnknownLesson(Exception):
    """A lesson was asked for that the course folder does not hold."""


@dataclass(frozen=True)
class Lesson:
    """One lesson's notebook.

    Attributes
    ----------
    number : str
        Two digits, as in the file's name, and a letter where a lesson stands between two others: 06b.
    topic : str
        The rest of the name, e.g. ``loss_and_gradient_descent``.
    path : Path
        The .ipynb file.
    """

    number: str
    topic: str
    path: Path

    @property
    def name(self) -> str:
        """The file's name without its ending, e.g. ``01_perceptron``."""
        return self.path.stem


def find_course_folder(start: Path | None = None, package: Path | None = None) -> Path:
    """Find the course folder: `start` or a folder above it, else the checkout that the package runs from.

    Parameters
    ----------
    start : Path, optional
        Where to look first; the current folder by default.
    package : Path, optional
        The package's own folder; that of the imported `course_lib` by default.

    Raises
    ------
    CourseFolderNotFound
        Neither of them lies in a course folder, or the current folder is gone.
    """
    if package is None and start is None:  # who names a folder means that one, not the package's
        package = Path(course_lib.__file__).parent
    try:
        start = Path.cwd() if start is None else Path(start).resolve()
    except FileNotFoundError:
        raise CourseFolderNotFound(FOLDER_IS_GONE) from None
    for folder in (start, *start.parents, *([Path(package).parent] if package else [])):
        if (folder / "notebooks").is_dir() and (folder / "course_lib").is_dir():
            return folder
    raise CourseFolderNotFound(
        f"no course folder: neither {start} nor a folder above it holds notebooks/ and course_lib/. "
        "Change into your copy of the course, or name it with --folder."
    )


def list_lessons(folder: Path) -> list[Lesson]:
    """List the lessons of a course folder by number: each is a built ``notebooks/NN_topic.ipynb``."""
    files = sorted((folder / "notebooks").glob("*.ipynb"))
    found = ((_LESSON_FILE.fullmatch(path.name), path) for path in files)
    return [Lesson(match[1], match[2], path) for match, path in found if match]


def pick_lessons(lessons: list[Lesson], numbers: list[str]) -> list[Lesson]:
    """Pick lessons by number, in the order of the course; all of them if no number is given.

    Parameters
    ----------
    lessons : list of Lesson
    numbers : list of str
        ``"3"``, ``"03"``, the lesson's name and its file name the same lesson.

    Raises
    ------
    UnknownLesson
        A number names no lesson, or there is no lesson at all; the message lists what there is.
    """
    if not lessons:
        raise UnknownLesson("the notebooks/ folder holds no lesson (NN_topic.ipynb). Build them: make notebooks")
    wanted = {_number(given, lessons) for given in numbers}
    unknown = sorted(wanted - {lesson.number for lesson in lessons})
    if unknown:
        there = ", ".join(f"{lesson.number} {lesson.topic}" for lesson in lessons)
        files = " Other notebooks are not run: open them with course lab." if any("." in one for one in unknown) else ""
        raise UnknownLesson(f"no lesson {', '.join(unknown)}. There are: {there}.{files}")
    return [lesson for lesson in lessons if not wanted or lesson.number in wanted]


def _number(given: str, lessons: list[Lesson]) -> str:
    """Return the number of the lesson that is meant; what was given where it is none."""
    for lesson in lessons:
        if given == lesson.name or (given.endswith(".ipynb") and _same_file(Path(given), lesson.path)):
            return lesson.number
    if plain := re.fullmatch(r"(\d{1,2})([a-z]?)", given, re.IGNORECASE):
        return plain[1].zfill(2) + plain[2].lower()
    return given


def _same_file(given: Path, file: Path) -> bool:
    """Return whether a path, from here or from the course folder, is a file of the course."""
    places = (given, file.parent.parent / given)
    return any(place.is_file() and place.resolve() == file.resolve() for place in places)
