"""Whose a file is, by its name: student folders, one file a student, and the exports of Moodle, Canvas, Gradescope.

Source: the course's own; names as the three systems write them (Moodle 4, Canvas and Gradescope of 2025).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)", re.DOTALL)
_CANVAS = re.compile(
    r"(?P<name>[^\W_]+)_(?P<late>LATE_)?(?P<id>\d+)_(?P<turn>\d+)_(?P<rest>.+)", re.IGNORECASE | re.DOTALL
)
_CANVAS_ANONYMOUS = re.compile(
    r"anon_(?P<late>LATE_)?(?P<id>\w+?)_(?P<turn>\d+)_(?P<rest>.+)", re.IGNORECASE | re.DOTALL
)
_GRADESCOPE = re.compile(r"submission_\d+")
_WRAPPER = re.compile(r"(?:assignment_\d+_export|submissions?|submitted)", re.IGNORECASE)


@dataclass(frozen=True)
class Owner:
    """Who handed a file in: the student's id and name, the file's own name, marked late, which turn.

    Source: the course's own.
    """

    id: str
    name: str
    rest: tuple[str, ...]
    late: bool = False
    turn: int = 0


def unwrapped(names: list[tuple[str, ...]], from_zip: bool, sheets) -> int:
    """Return how many folders are around all students' files and belong to none of them.

    `names` are the files' names in parts, `sheets` the `Names` of the sheets. A zip often has one folder around
    everything; a folder of student folders has none, save one called submitted or as Gradescope's export. No errors.
    Source: the course's own.
    """
    depth = 0
    while names and all(len(parts) > depth + 1 for parts in names) and len({parts[depth] for parts in names}) == 1:
        top, below = names[0][depth], {parts[depth + 1] for parts in names}
        flat = all(len(parts) == depth + 2 for parts in names)
        if _MOODLE.fullmatch(top) or _GRADESCOPE.fullmatch(top):
            break
        exported = all(_MOODLE.match(part) or _CANVAS.match(part) or _GRADESCOPE.match(part) for part in below)
        # Names of people, not of sheets: ann.ipynb and bob_04_backpropagation.ipynb.
        people = {sheets.without(part.lower().split(".ipynb")[0]) for part in below if ".ipynb" in part.lower()}
        around = len(people) > 1 and "" not in people if flat else not any(sheets.in_text(part) for part in below)
        if not (_WRAPPER.fullmatch(top) or exported or (from_zip and around)):
            break
        depth += 1
    return depth


def owner(parts: tuple[str, ...], whole: str, strip_sheet) -> Owner:
    """Return whose a file is.

    `parts` is its name without what is around everything, `whole` the name of the folder or zip graded,
    `strip_sheet(stem)` a file's stem without a sheet's name. No errors. Source: the course's own.
    """
    first = parts[0]
    if found := _MOODLE.fullmatch(first):
        rest = parts[1:] if len(parts) > 1 else (found["rest"] or first,)
        return Owner(found["id"], found["name"], rest)
    if found := _CANVAS_ANONYMOUS.fullmatch(first) or _CANVAS.fullmatch(first):
        name = found.groupdict().get("name", "")
        # A zip that a student handed in through Canvas is listed as a folder of that name.
        return Owner(found["id"], name, parts[1:] or (found["rest"],), bool(found["late"]), int(found["turn"][:18]))
    if len(parts) > 1:
        return Owner(first, "", parts[1:])
    stem = first[: first.lower().find(".ipynb")] if ".ipynb" in first.lower() else first.rsplit(".", 1)[0]
    return Owner(strip_sheet(stem) or whole, "", (first,))


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
    return {
        key: [(one.get("sid") or one.get("email") or key, one.get("name", ""), one.get("email", "")) for one in ones]
        for key, ones in people.items()
        if ones
    }


def _scalar(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
