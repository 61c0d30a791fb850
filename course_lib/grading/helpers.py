"""Files that a student handed in beside a notebook, and that it may import or open: named as seen from its folder.

Source: the course's own.
"""

from __future__ import annotations

from course_lib.grading.archive import Entry
from course_lib.grading.layouts import Owner

MOST_FILES, MOST_EACH, MOST_ALL = 20, 2**20, 8 * 2**20
"""Files that go along with a notebook, bytes of one, and of all together."""

_CODE_AND_TEXT = (".py", ".txt", ".md", ".json", ".jsonl", ".yml", ".yaml", ".toml", ".ini", ".xml")
_DATA = (".csv", ".tsv", ".npz", ".npy", ".dat", ".data", ".idx", ".pkl")
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".bmp")
_KINDS = _CODE_AND_TEXT + _DATA + _PICTURES
_MOST_DEEP = 6


def beside(rest: tuple[str, ...], handed: list[tuple[Entry, Owner]], text: bytes = b"") -> tuple[dict, list[str]]:
    """Return {name: Entry} of the files beside and below a notebook, and what was not taken along, in words.

    Parameters
    ----------
    rest : tuple of str
        The notebook's name in parts, of its `Owner`.
    handed : list of (Entry, Owner)
        All files of the student.
    text : bytes
        The notebook: files that it speaks of come first.

    Names are relative to the notebook's folder, "data/x.csv", and never lead out of it; none of them is as the course's
    own package. No errors. Source: the course's own.
    """
    folder, near = rest[:-1], {}
    for entry, its in handed:
        inside = its.rest[len(folder) :]
        if its.rest[: len(folder)] == folder and its.rest != rest and inside and _is_fit(inside):
            near["/".join(inside)] = entry
    spoken = {name for name in near if near[name].name.rsplit(".", 1)[0].encode("utf-8", "replace") in text}
    order = sorted(near, key=lambda name: (name not in spoken, name.count("/"), name))
    taken, left, bytes_all = {}, [], 0
    for name in order:
        size = near[name].size
        if len(taken) >= MOST_FILES or size > MOST_EACH or bytes_all + size > MOST_ALL:
            left.append(name)
        elif not _clashes(name, [rest[-1], *taken]):
            taken[name] = near[name]
            bytes_all += size
    if not left:
        return taken, []
    more = f" and {len(left) - 5} more" if len(left) > 5 else ""
    limits = f"at most {MOST_FILES} files, {MOST_EACH >> 20} MiB each, {MOST_ALL >> 20} MiB in all"
    return taken, [f"Not taken along with the notebook: {', '.join(left[:5])}{more}; {limits}."]


def _is_fit(parts: tuple[str, ...]) -> bool:
    """Return whether a file may go along: of a kind that notebooks open, with a name that every system takes."""
    if len(parts) > _MOST_DEEP or not parts[-1].lower().endswith(_KINDS):
        return False
    for part in parts:
        odd = not part.isprintable() or len(part) > 100 or part != part.strip() or set(part) & set('\\:*?"<>|')
        if odd or part.startswith((".", "-", "~")) or part.endswith("."):
            return False
    top = parts[0].lower()
    return top.partition(".")[0] != "course_lib" and not {"site-packages", "node_modules", "venv"} & set(parts)


def _clashes(name: str, taken: list[str]) -> bool:
    """Return whether a name cannot lie beside the others: taken already, or a file where another needs a folder."""
    mine = name.casefold()
    return any(
        mine == other or mine.startswith(f"{other}/") or other.startswith(f"{mine}/")
        for other in (one.casefold() for one in taken)
    )
