"""The reports in an archive that the learning platform takes back and gives to each student.

Moodle ("Upload multiple feedback files in a zip") reads a folder's name, FULLNAME_NUMBER_assignsubmission_file_, as it
was in its own export; the file in it may have any name. Canvas ("Upload submissions") reads two numbers in a file's
name, of the student and of the file that was handed in, and shows what it gets under the name of that file. So there
the report is a file of the same kind: for a notebook a notebook, whose cells are the report.

Source: Moodle's mod/assign/feedback/file/importziplib.php; Canvas's lib/content_zipper.rb and the method
infer_comment_context_from_filename of app/models/assignment.rb. Read there; tried in neither.
"""

from __future__ import annotations

import functools
import io
import re
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

from course_lib.grading.csvfile import write_atomically
from course_lib.grading.report_kinds import report_as
from course_lib.grading.store import file_name
from course_lib.grading.tables import by_student

_MOODLE = re.compile(r"(?P<before>.+_(?P<id>\d+)_assignsubmission_(?:file|onlinetext))(?P<rest>_.*)?", re.DOTALL)
_CANVAS = re.compile(r"[^\W_]+_(?:LATE_)?(?P<id>\d+|\w+?)_\d+_.+", re.IGNORECASE | re.DOTALL)
_CANVAS_TEXT = re.compile(r"[^\W_]+_(?:LATE_)?(?P<id>\d+)_(?:text|link)\.html", re.IGNORECASE)
_WHEN = (1980, 1, 1, 0, 0, 0)  # an archive of the same reports has the same bytes


def came_by(submission) -> tuple[str, str]:
    """Return the platform that a `Submission` came by and the name it had there, ("", "") if by none. No errors.

    The name is Moodle's folder, or Canvas's file, also of what cannot be read; of an archive that a student handed in,
    that archive's; "" where Canvas has no place for a file. It counts only where its number is the student's id:
    hw_2026_01_ann.ipynb is no file of Canvas's.
    Source: the exports of Moodle 4 and Canvas.
    """
    for parts in [entry.parts for entry in submission.entries] or submission.places:
        for at, part in enumerate(parts):
            found = _MOODLE.fullmatch(part)
            if found and found["id"] == submission.student:
                # Before Moodle 3.1 there were no folders: NAME_NUMBER_assignsubmission_file_hw.ipynb
                return "moodle", part if at + 1 < len(parts) else f"{found['before']}_"
            found = _CANVAS.fullmatch(part)
            if found and found["id"] == submission.student:
                return "canvas", part if at + 1 == len(parts) else f"{part}.zip"
            found = _CANVAS_TEXT.fullmatch(part)
            if found and found["id"] == submission.student:
                return "canvas", ""  # a text that was typed there has no place for a file
    return "", ""


def platform(submissions: Iterable) -> str:
    """Return the platform that a class came by, "" if not all of it came by one. No errors.

    Source: the course's own.
    """
    found = {by for one in submissions if (by := came_by(one)[0]) or one.entries}
    return found.pop() if len(found) == 1 else ""


def write_feedback(
    folder: Path, submissions: list, results: list[dict], students: dict
) -> tuple[list[Path], list[str]]:
    """Write feedback_<platform>_<sheet>.zip, or reports.zip where there is no platform; return paths and what to know.

    Parameters
    ----------
    folder : Path
    submissions : list of Submission
    results : list of dict
        Final results.
    students : dict of {id: Student}

    OSError if one cannot be written. Source: the two platforms' importers.
    """
    by = platform(submissions)
    for old in [*folder.glob("feedback_moodle_*.zip"), *folder.glob("feedback_canvas_*.zip"), folder / "reports.zip"]:
        old.unlink(missing_ok=True)  # of another run: nobody uploads the reports of last week
    if not by:
        files = {
            f"reports/{file_name(id)}/report.html": functools.partial(
                report_as, ".html", students[id], list(of.values())
            )
            for id, of in by_student([one for one in results if one["status"] != "broken"]).items()
        }
        return [_write_zip(folder / "reports.zip", files)], []
    final = {(result["student"], result["sheet"]): result for result in results}
    written, says = [], []
    for sheet in dict.fromkeys(one.sheet for one in submissions):
        files: dict[str, Callable[[], bytes]] = {}
        without = 0
        for one in submissions:
            result = final.get((one.student, sheet))
            if one.sheet != sheet or not result or result["status"] == "broken":
                continue  # of a grading that failed there is nothing to tell a student yet
            name = came_by(one)[1]
            if not name:
                without += 1
                continue
            inside = f"{name}/report.html" if by == "moodle" else name
            files[inside] = functools.partial(report_as, Path(inside).suffix, students[one.student], [result])
        if files:
            written.append(_write_zip(folder / f"feedback_{by}_{sheet}.zip", files))
        if without:
            kind = "student" if without == 1 else "students"
            says.append(f"{without} {kind} without a file for {sheet}: {by.title()} has no place for a report there")
    return written, says


def _write_zip(path: Path, files: dict[str, Callable[[], bytes]]) -> Path:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, made in files.items():
            about = zipfile.ZipInfo(name, _WHEN)
            about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(about, made())
    write_atomically(path, content.getvalue())
    return path
