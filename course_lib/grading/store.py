"""Results on disk, one file a submission, found again by what they were made from: a rerun grades what is new.

Source: the course's own.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from fractions import Fraction
from importlib import metadata
from pathlib import Path

from course_lib.grading.csvfile import write_atomically

_PACKAGES = ("course-lib", "numpy", "numba")
# What decides on points. The rest of course_lib.grading only shows them.
_JUDGES = ("box", "checks", "reference", "nn", "data", "simt", "cuda", "grading")
_DESK = {
    *("adjust", "archive", "attempts", "by_hand_page", "card_process", "card_text", "changes", "charts", "cluster"),
    *("copies", "csvfile"),
    *("deadline", "feedback", "filled", "final", "from_spreadsheet", "gradebook", "helpers", "layouts", "leaks"),
    *("leaderboard", "listing", "look_at", "notices", "on_card"),
    *("owners", "pages", "pick", "presets", "public_checks", "release", "report", "report_kinds", "right_values"),
    *("roster", "schedule", "sections", "sheet_names", "similarity", "similarity_page", "store", "submissions"),
    *("summary", "tables", "tars", "tokens"),
}


def versions() -> dict[str, str]:
    """Return the versions that a result depends on, {"python": "3.12.1", "numpy": ...}. No errors.

    Source: the course's own.
    """
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def judges_hash(keys: Path | None, package: Path | None = None) -> str:
    """Return the SHA-256 of everything beside the submission that decides on points: keys, checks, grader, versions.

    OSError if a file cannot be read. Source: the course's own.
    """
    package = package or Path(__file__).parent.parent
    digest = hashlib.sha256(json.dumps(versions(), sort_keys=True).encode())
    folders = [package / name for name in _JUDGES] + ([keys] if keys else [])
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            inside = path.relative_to(folder)
            if folder.name == "grading" and (inside.stem in _DESK or inside.parts[0] == "selftest"):
                continue
            _feed(digest, f"{folder.name}/{inside.as_posix()}".encode(), path.read_bytes())
    return digest.hexdigest()


def key_of(judges: str, sheet: str, level: str, files: tuple[tuple[str, bytes], ...]) -> str:
    """Return the SHA-256 of a submission's files and all that its result depends on. No errors.

    Source: the course's own.
    """
    digest = hashlib.sha256()
    _feed(digest, judges.encode(), sheet.encode(), level.encode())
    for name, content in files:
        _feed(digest, name.encode("utf-8", "surrogatepass"), content)
    return digest.hexdigest()


def _feed(digest, *parts: bytes) -> None:
    for part in parts:  # with its length, so that no two different lists of parts feed the same bytes
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)


class Store:
    """The results in a folder. A file that is cut off, changed or of another key is as good as none.

    Source: the course's own.
    """

    def __init__(self, folder: Path):
        """Make the folder; OSError if that fails."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(".*.tmp"):  # of a grader that was killed while it wrote
            left.unlink(missing_ok=True)

    def path(self, student: str, sheet: str) -> Path:
        """Return the file of a submission's result. No errors."""
        return self.folder / f"{file_name(student)}--{file_name(sheet)}.json"

    def get(self, student: str, sheet: str, key: str) -> dict | None:
        """Return the result kept under this key, None if there is none or the grader itself had failed. No errors."""
        kept = self.last(student, sheet)
        return kept if kept and kept["key"] == key else None

    def last(self, student: str, sheet: str) -> dict | None:
        """Return the result of an earlier run, also of other files or other checks; else as `get`. No errors."""
        try:
            kept = json.loads(self.path(student, sheet).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(kept, dict) or not isinstance(kept.get("key"), str) or kept.get("status") == "broken":
            return None
        return None if fault(kept, student, sheet) else kept

    def put(self, result: dict, key: str) -> None:
        """Keep a result, whole or not at all; OSError if the folder cannot be written."""
        text = json.dumps({**result, "key": key}, ensure_ascii=True, indent=1)
        write_atomically(self.path(result["student"], result["sheet"]), text.encode("ascii"))


def fault(result: object, student: str, sheet: str) -> str:
    """Return what is wrong with a result, "" if it is one of this submission and its points add up. No errors.

    Source: the course's own.
    """
    try:
        if (result["student"], result["sheet"]) != (student, sheet):
            return "it names another submission"
        if result["status"] not in ("graded", "unreadable", "no notebook", "broken"):
            return f"status {str(result['status'])[:40]!r}"
        total, of = Fraction(0), Fraction(0)
        for question in result["questions"]:
            points, most = Fraction(question["points"]), Fraction(question["of"])
            if not 0 <= points <= most:
                return f"question {question['id']} has {points} of {most} points"
            total, of = total + points, of + most
            if not all(
                isinstance(part["name"], str) and isinstance(part["passed"], bool) for part in question["parts"]
            ):
                return f"question {question['id']} has a part without a name or an outcome"
        if (Fraction(result["points"]), Fraction(result["of"])) != (total, of):
            return f"{result['points']} of {result['of']} points, but its questions give {total} of {of}"
    except (KeyError, TypeError, ValueError, ZeroDivisionError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def file_name(text: str) -> str:
    """Return a file's name for an id: the id itself where every system takes it, else with a mark that keeps it unique.

    Two different ids never get one name, also where a disk knows no capitals. No errors. Source: the course's own.
    """
    plain = re.fullmatch(r"[a-z0-9](?:[a-z0-9._-]{0,60}[a-z0-9])?", text)
    if plain and not re.match(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", text):
        return text
    slug = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:40]
    return f"{slug or 'student'}-~{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
