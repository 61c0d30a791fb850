"""Whose each file is: names and folders of all that was handed in, taken together.

Nobody disappears: each file, folder and archive that lies where students' do has an owner, also if it cannot be read.
Nobody merges silently: what was taken for a section, an export or one person's is said. Source: the course's own.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.grading.archive import Entry, UnreadableFile
from course_lib.grading.layouts import (
    METADATA,
    Owner,
    canvas_parts,
    gradescope_people,
    is_canvas,
    is_nobodys,
    is_ones_own,
    owner,
    stem_of,
)
from course_lib.grading.listing import LeftOut
from course_lib.grading.sections import folders_in, is_nobody, is_section_name, roles

_COURSE = ("exercises", "notebooks", "solutions", "course_lib", "results", "data", "tools", "tests")
_MOST_NAMED = 8


class EmptyFolder(LeftOut):
    """A folder that nothing lies in. Source: the course's own."""

    @property
    def folders(self):
        """It is a folder itself."""
        return self.parts


class Owners:
    """Whose each item is, `found`: (item, `Owner`, (id, name, email)) for each; and what is to be said of it, `says`.

    Parameters
    ----------
    items : list of Entry and LeftOut
    depth : int
        Folders that are around everything.
    whole : str
        The name of what is graded, for files that name nobody.
    sheets : Names

    No errors. Source: the course's own.
    """

    def __init__(self, items: list, depth: int, whole: str, sheets):
        self.sheets, self.found, self.says = sheets, [], []
        items = [item for item in items if len(item.parts) > depth and not item.parts[depth].startswith(".")]
        if self._is_one_students(items, depth):
            if len({item.parts[depth] for item in items}) > 1:
                self.says.append(f"all files are taken for those of one student, {whole}: none names another")
            own = [(item, Owner(whole, "", item.parts[depth:])) for item in items]
            self.found = [(item, its, (whole, "", "")) for item, its in own]
        else:
            self._assign(items, depth, whole)

    def _is_one_students(self, items, depth):
        """Whether it is the work of one: a course's own folders, and notebooks that are named as sheets only."""
        folders = folders_in(items, depth)
        files = [item.parts[depth] for item in items if len(item.folders) <= depth and not self._is_left(item, depth)]
        named = [self.sheets.in_text(stem_of(file)) for file in files]
        bare = all(named) and not any(self.sheets.without(stem_of(file)) for file in files)
        known = all(name in _COURSE or name in self.sheets.known for name in folders)
        alone = all(role == "student" for role in roles(items, depth, self.sheets).values())
        return bool(items) and bare and len(set(named)) == len(named) and known and alone

    def _assign(self, items, depth, whole, section="", sheet=""):
        people = self._gradescope(items, depth)
        folders, role = folders_in(items, depth), roles(items, depth, self.sheets)
        loose = [item for item in items if len(item.folders) <= depth and not self._is_left(item, depth)]
        names = list(dict.fromkeys(item.parts[depth] for item in loose))
        canvas = is_canvas(names, list(folders))
        self._say_system(names, list(folders), canvas)
        nobodys = [] if canvas or section else [name for name in names if is_nobody(name, self.sheets)]
        if nobodys and len(names) + len(folders) > 1:
            self.says.append(f"{_some(nobodys)}: the name says nothing of whose it is; each such file has a row")
        for name, inside in folders.items():
            if role[name] == "student":
                for item in inside:
                    its = owner(name, item.parts[depth + 1 :], True, canvas, whole, self.sheets.without)
                    self._add(item, its, section, sheet, people.get(name))
                continue
            deeper = "/".join(filter(None, (section, name))) if role[name] == "section" else section
            of = (self.sheets.in_text(name) or sheet) if role[name] == "sheet" else sheet
            before = len(self.found)
            self._assign(inside, depth + 1, name, deeper, of)
            self._say_section(name, role[name], before)
        for item in loose:
            its = owner(item.parts[depth], item.parts[depth + 1 :], False, canvas, whole, self.sheets.without)
            self._add(item, its, section, sheet, people.get(item.parts[depth]))

    def _add(self, item, its, section, sheet, persons):
        its = replace(its, section=section, sheet=sheet)
        for person in persons or [(its.id, its.name, "")]:
            self.found.append((item, its, person))

    def _is_left(self, item, depth):
        """Whether a file lies among the students' and is nobody's."""
        name = item.parts[depth]
        if len(item.parts) > depth + 1 or not is_nobodys(name):
            return False
        line = f"{'/'.join(item.parts)} is nobody's, by its name: left out"
        if name != METADATA and line not in self.says:
            self.says.append(line)
        return True

    def _gradescope(self, items, depth):
        """Read Gradescope's list where it lies beside the folders: one in a student's folder says nothing of others."""
        for item in items:
            if isinstance(item, Entry) and not item.packed and item.parts[depth:] == (METADATA,):
                try:
                    people = gradescope_people(item.read().decode("utf-8", "replace"))
                except UnreadableFile as error:
                    self.says.append(f"{error}: the folders of Gradescope's export keep their numbers")
                    return {}
                for key, persons in people.items():
                    if len(persons) > 1:
                        who = " and ".join(name or id for id, name, _ in persons)
                        self.says.append(f"{key} was handed in by {who} together: it counts for each of them")
                return people
        return {}

    def _say_system(self, files, folders, canvas):
        moodle = [name for name in (*files, *folders) if is_ones_own(name) and "_assignsubmission_" in name]
        others = [name for name in (*files, *folders) if name not in moodle]
        if moodle and others:
            self.says.append(
                f"{len(moodle)} names are as Moodle writes them, and {_some(others)} not: each is a student's own"
            )
        alike = [name for name in files if canvas_parts(name)]
        if not canvas and len(alike) > 1:
            rest = [name for name in (*files, *folders) if name not in alike]
            why = f"{_some(rest)} do not" if rest else "the numbers do not fit"
            self.says.append(
                f"{len(alike)} names look as Canvas writes them, such as {alike[0]}, but {why}: each is taken for a "
                "student's own. Is it Canvas's export after all, keep its files in a folder apart and grade that."
            )

    def _say_section(self, name, role, before):
        ids = list(dict.fromkeys(id for *_, (id, _, _) in self.found[before:]))
        what = "a section or group" if role == "section" else "a folder of several students"
        self.says.append(f"{name} is taken for {what}, not for a student: in it are {_some(ids)}")


def looks_like_several(id: str) -> bool:
    """Return whether an id or name joins several people's: "Ann & Bob", "ann+bob". No errors.

    Source: the course's own.
    """
    parts = [part.strip() for part in id.replace("+", "&").replace(" and ", "&").replace(" und ", "&").split("&")]
    return len(parts) > 1 and all(parts) and not is_section_name(id)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
