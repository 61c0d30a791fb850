"""A class of made-up students, handed in as Moodle, Canvas and Gradescope export it, or as files and folders."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from unicodedata import normalize

LAYOUTS = ("folders", "files", "sections", "moodle", "canvas", "gradescope")
FIRST = ["Ada", "Ben", "Chloé", "Dana", "Emre", "Françoise", "Günther", "Hana", "Ivo", "Jürgen", "Kaito", "Leïla"]
FIRST += ["Mary-Ann", "Noor", "Óscar", "Zoë"]
LAST = ["Ng", "Müller", "O'Brien", "de la Cruz", "Nguyen", "Smith", "van der Berg", "Öztürk", "Lee", "Łukasz", "Wu"]

Files = dict[str, bytes]


def name_of(number: int) -> tuple[str, str]:
    """First and last name of a student; no two of the first 176 are the same."""
    return FIRST[number % len(FIRST)], LAST[number % len(LAST)]


def export(layout: str, handed: Sequence[Files], late: Sequence[int] = ()) -> tuple[Files, list[str]]:
    """All files of a class in a layout, {path: content}, and the id that each student has in it.

    Parameters
    ----------
    layout : one of LAYOUTS
    handed : sequence of {path: content}
        What each student handed in.
    late : sequence of int
        The numbers of those whom Canvas marks as late.

    Where a system or a person takes one file a student, several are packed into a zip, as students do.
    """
    placed: Files = {}
    ids = []
    for number, files in enumerate(handed):
        id, path = _place(layout, number, number in late)
        ids.append(id)
        if layout in ("files", "canvas"):
            name, content = next(iter(files.items())) if len(files) == 1 else ("homework.zip", _packed(files))
            placed[path.rstrip("_") + ".zip" if (layout, name[-4:]) == ("files", ".zip") else path + name] = content
        else:
            placed |= {f"{path}/{name}": content for name, content in files.items()}
    if layout == "gradescope":
        placed["assignment_731_export/submission_metadata.yml"] = _metadata(len(handed)).encode()
    return placed, ids


def write(files: Files, out: Path) -> None:
    """Write files into a new folder, or into a zip if `out` ends in .zip."""
    if out.suffix == ".zip":
        out.write_bytes(_packed(files))
        return
    for name, content in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _place(layout: str, number: int, late: bool) -> tuple[str, str]:
    """The id of a student in a layout, and what stands before the names of the files."""
    first, last = name_of(number)
    id, user = f"student{number:04d}", 20_010 + 7 * number
    if layout == "moodle":
        return str(user), f"{first} {last}_{user}_assignsubmission_file_"
    if layout == "canvas":
        word = re.sub(r"\W", "", normalize("NFC", f"{last}{first}")).lower()
        return str(user), f"{word}_{'LATE_' * late}{user}_{912_000 + 31 * number}_"
    if layout == "gradescope":
        return f"{300_000 + number}", f"assignment_731_export/submission_{55_000 + number}"
    if layout == "sections":
        return id, f"Section {'ABC'[number % 3]}/{id}"
    return id, f"{id}_" if layout == "files" else id


def _metadata(count: int) -> str:
    """Gradescope's list of who handed in what."""
    lines = ["---"]
    for number in range(count):
        name = " ".join(name_of(number)).replace("'", "''")
        lines += [f"submission_{55_000 + number}:", "  :submitters:", f"  - :name: '{name}'"]
        lines += [f"    :sid: '{300_000 + number}'", f"    :email: student{number:04d}@example.org"]
        lines += ["  :created_at: 2026-11-03 10:00:00.000000000 Z", "  :score: 0.0", "  :status: processed"]
    return "\n".join(lines) + "\n"


def _packed(files: Files) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()
