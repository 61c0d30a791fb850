"""Whose a file is, by its name: as Moodle, Canvas and Gradescope write names in their exports, or as people do.

A system's pattern counts where it can be no accident. Moodle's holds the word assignsubmission. Canvas's is only
letters_digits_digits_rest, as in smith_2026_01_perceptron.ipynb: it counts if all files have it and what must be
unique there is. Source: the course's own; the names as mod/assign/classes/downloader.php of Moodle 4 and
lib/content_zipper.rb of Canvas compose them, and as Gradescope's exports of 2025 have them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from unicodedata import normalize

from course_lib.grading.archive import ARCHIVES, ending_of

_MOODLE = re.compile(r"(?P<name>.+?)(?:_(?P<id>\d+))?_assignsubmission_[a-z]+(?:_(?P<rest>.*))?", re.DOTALL)
_ID = r"(?P<late>LATE_)?(?P<id>[1-9]\d*)"
_CANVAS = [
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"(?P<late>LATE_)?anon_(?P<late2>LATE_)?(?P<id>[^\W_]+)_(?:(?P<turn>[1-9]\d*)_(?P<rest>.+)|(?:text|link)\.html)",
        rf"(?P<name>[^\s./-]+?)_{_ID}_(?:(?P<turn>[1-9]\d*)_(?P<rest>.+)|(?:text|link)\.html)",
        r"(?P<name>[^\s.]*?[^\W\d])(?P<id>[1-9]\d*)_question_\d+_(?P<turn>[1-9]\d*)_(?P<rest>.+)",
    )
]
_WORK = re.compile(r"\.ipynb|\.(?:py|md|rmd|qmd)$")
METADATA = "submission_metadata.yml"
_GRADESCOPE = re.compile(r"submission_\d+")
_NOBODYS = re.compile(
    r"(?:index|read[ _-]?me|instructions?|metadata|submission_metadata|manifest|roster|grades?|grading[ _-]?worksheet)"
    r"\.(?:html?|md|txt|rst|ya?ml|csv|tsv|json|pdf|xlsx?|ods)|desktop\.ini|timestamp\.txt",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Owner:
    """Who handed a file in: the student's id and name, the file's own name, marked late, which turn.

    `section` is the section or group whose folder it lies in, `sheet` the sheet whose folder, "" where there is none;
    `system` is "Moodle" or "Canvas" where that wrote the name. Source: the course's own.
    """

    id: str
    name: str
    rest: tuple[str, ...]
    late: bool = False
    turn: int = 0
    section: str = ""
    sheet: str = ""
    system: str = ""


def is_exported(name: str) -> bool:
    """Return whether Moodle, Gradescope or perhaps Canvas wrote the name. No errors. Source: the course's own."""
    return is_ones_own(name) or canvas_parts(name) is not None


def is_ones_own(name: str) -> bool:
    """Return whether a folder is one student's by the name that Moodle or Gradescope gave it. No errors.

    Source: the course's own.
    """
    return bool(_MOODLE.fullmatch(name) or _GRADESCOPE.fullmatch(name))


def is_nobodys(name: str) -> bool:
    """Return whether a file beside the students' is clearly none of theirs: index.html, README.md. No errors.

    Source: the course's own.
    """
    return _NOBODYS.fullmatch(name) is not None


def canvas_parts(name: str) -> re.Match | None:
    """Return what Canvas's pattern finds in a file's name, or None. No errors. Source: Canvas, content_zipper.rb."""
    name = normalize("NFC", name)
    return next((found for pattern in _CANVAS if (found := pattern.fullmatch(name))), None)


def is_canvas(files: list[str], folders: list[str]) -> bool:
    """Return whether files that lie side by side are Canvas's export, and nothing that only looks like it.

    There are no folders in one. A user's number has one name and a file's number one user; nobody has two files of one
    name; and the word in front is no group's or course's, the same for all. No errors. Source: the course's own.
    """
    found = [canvas_parts(name) for name in files]
    if folders or not files or not all(found):
        return False
    names, users, own = defaultdict(set), defaultdict(set), defaultdict(list)
    for one in found:
        parts = one.groupdict()
        names[one["id"]].add(parts.get("name") or "")
        own[one["id"]].append(parts["rest"])
        if one["turn"]:
            users[one["turn"]].add(one["id"])
    if any(len(several) > 1 for several in (*names.values(), *users.values())):
        return False
    if any(len(set(rests)) < len(rests) for rests in own.values()):
        return False
    marked = any(one.groupdict().get("late") or not one.groupdict().get("name") for one in found)
    kinds = [Counter(kind for rest in rests for kind in _WORK.findall((rest or "").lower())) for rests in own.values()]
    most = max(count for kind in kinds for count in (*kind.values(), 0))
    return marked or len(set.union(*names.values())) > 1 or most < 2


def owner(name: str, rest: tuple[str, ...], folder: bool, canvas: bool, whole: str, strip_sheet) -> Owner:
    """Return whose a file or folder is that lies among the students'.

    `name` is its name, `rest` what is in it if it is a folder or an archive, `folder` whether it is a folder, `canvas`
    whether all beside it are Canvas's, `whole` the name of what is around, and `strip_sheet(stem)` a stem without a
    sheet's name. No errors. Source: the course's own.
    """
    if found := _MOODLE.fullmatch(name):
        rest = rest or ((found["rest"] or name),)
        return Owner(found["id"] or found["name"], found["name"], rest, system="Moodle")
    if canvas and (found := canvas_parts(name)):
        parts = found.groupdict()
        late = bool(parts.get("late") or parts.get("late2"))
        # An archive that a student handed in through Canvas is listed as a folder of that name.
        rest = rest or (parts["rest"] or name.rpartition("_")[2],)
        turn = int((parts["turn"] or "0")[:18])
        return Owner(parts["id"], parts.get("name") or "", rest, late, turn, system="Canvas")
    if folder:
        return Owner(name, "", rest)
    if rest:
        return Owner(strip_sheet(name) or whole, "", rest)
    return Owner(strip_sheet(stem_of(name)) or whole, "", (name,))


def stem_of(name: str) -> str:
    """Return a file's name without its ending, of "hw.ipynb.txt" and "hw.tar.gz" both. No errors.

    Source: the course's own.
    """
    if ".ipynb" in name.lower():
        return name[: name.lower().find(".ipynb")]
    ending = ending_of(name, ARCHIVES)
    return name[: -len(ending)] if ending else name.rsplit(".", 1)[0] or name


def gradescope_people(text: str) -> dict[str, list[tuple[str, str, str]]]:
    """Read Gradescope's submission_metadata.yml: {"submission_123": [(id, name, email), ...]}, several for a group.

    Only the lines that matter are read, so that nothing in the file can do anything. No errors: what is not understood
    is passed over. Source: Gradescope's export.
    """
    people: dict[str, list[dict]] = {}
    here, within = None, False
    for line in text.splitlines():
        if found := re.match(r"['\"]?([^\s:'\"][^:'\"]*)['\"]?:\s*$", line):
            here, within = people.setdefault(found[1], []), False
        elif found := re.match(r"\s+:?(\w+):\s*$", line):
            within = found[1] == "submitters"
        elif within and here is not None and (found := re.match(r"\s*(-?)\s*:(name|sid|email):\s*(.*?)\s*$", line)):
            if found[1] or not here:
                here.append({})
            here[-1][found[2]] = _scalar(found[3])
        elif re.match(r"\s+:(created_at|score|status|history|results)", line):
            within = False
    return {key: [_person(key, one, len(ones)) for one in ones] for key, ones in people.items() if ones}


def _person(key: str, one: dict, several: int) -> tuple[str, str, str]:
    name, email = one.get("name", ""), one.get("email", "")
    nameless = f"{key} ({name})" if several > 1 and name else key  # two of a group without numbers are two people
    return one.get("sid") or email or nameless, name, email


def _scalar(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
