"""Which folders are a student's, and which hold those of several: sections, groups, a folder for each sheet.

Read from the names and from what lies where; whoever reads them is told what was taken for what, as a folder can be
misleading. Source: the course's own.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple
from unicodedata import normalize

from course_lib.grading.archive import ARCHIVES, CLOSED, ending_of
from course_lib.grading.layouts import is_exported, is_nobodys, is_ones_own, stem_of
from course_lib.grading.scripts import is_notebook

WRAPPER = re.compile(r"(?:assignment_\d+_export|submissions?|submitted)", re.IGNORECASE)
_SECTION_WORDS = """
    batch class cohort dienstag donnerstag freitag friday group groups grp gruppe gruppen inbox klasse kurs late
    mittwoch monday montag ontime raum room samstag saturday sec section sections sektion seminar session stream
    sunday team teams thursday track tuesday tutor tutorial tutorials tutorien tutorium verspaetet verspätet
    wednesday
"""
_NOBODYS_WORDS = """
    abgabe abgaben about alt and answer answers archiv archive assets assignment assignments attempt attempts
    aufgabe aufgaben backup backups bak blatt build canvas checkpoint checkpoints code copy correct corrected course
    course_lib csv data date daten day docs document documents done download downloads draft drafts email entwurf
    entwürfe ex exercise exercises export exports fassung feedback fertig fig figs figure figures file files final
    finished fixed folder for gradescope hand handed handin handins helper helpers home homework hw ich image images
    img input inputs ipynb kopie kurs lab lesson lessons letzte lib loesung loesungen lsg lösung lösungen mails main
    mein meine meins mine misc model models moodle my neu new notebook notebooks notes notizen of old ordner
    original other others output outputs part pics plot plots problem problems project projekt py python question
    questions readme report resources results review scratch script scripts sheet sheets skript skripte solution
    solutions solved src stuff submission submissions submitted task tasks teil temp test tests the tmp tool tools
    trial try uebung uebungen und unterlagen untitled update updated upload uploads util utils v venv version
    versions versuch week wip woche work working works übung übungen
"""
_SECTION, _NOBODY = frozenset(_SECTION_WORDS.split()), frozenset(_NOBODYS_WORDS.split())


def words(text: str) -> list[str]:
    """Return the words of a name in small letters, without digits and signs. No errors. Source: the course's own."""
    return re.findall(r"[^\W\d_]+", normalize("NFC", text).casefold())


def is_section_name(name: str) -> bool:
    """Return whether a folder's name speaks of a section or a group. No errors. Source: the course's own."""
    return any(word in _SECTION or word.endswith("gruppe") for word in words(name))


def is_person(name: str, sheets) -> bool:
    """Return whether a name may be a person's: it says more than "hw 2 final" and a sheet's topic.

    `sheets` are the `Names` of the sheets. A long number may be a student's, a date is nobody's. No errors.
    Source: the course's own.
    """
    left = sheets.without(name)
    if any(word not in _NOBODY and word not in sheets.words for word in words(left)):
        return True
    return any(len(run) >= 5 and not _is_date(run) for run in re.findall(r"\d+", left))


def is_nobody(name: str, sheets) -> bool:
    """Return whether a file's name is one that everybody's may have: "hw", "01_perceptron (2)", "Untitled". No errors.

    Source: the course's own.
    """
    left = sheets.without(stem_of(name))
    return not is_person(left, sheets) and (not left or bool(words(left)) or "(" in left)


def unwrapped(items: list, from_zip: bool, sheets) -> int:
    """Return how many folders are around all students' files and belong to none of them.

    `items` are the files and what was left out, `sheets` the `Names` of the sheets. A zip often has one folder around
    everything; a folder of student folders has none, save one called submitted or as Gradescope's export. No errors.
    Source: the course's own.
    """
    names, depth = [item.parts for item in items], 0
    while names and all(len(parts) > depth + 1 for parts in names) and len({parts[depth] for parts in names}) == 1:
        top, below = names[0][depth], {parts[depth + 1] for parts in names}
        if is_ones_own(top):
            break
        flat = all(len(parts) == depth + 2 for parts in names)
        # Names of people, not of sheets: ann.ipynb and bob_04_backpropagation.ipynb.
        stems = {stem_of(item.name) for item in items if _is_work(item)} if flat else below
        people = {sheets.without(stem.lower()) for stem in stems if is_person(stem, sheets)}
        around = len(people) > 1 if flat else people and not any(sheets.in_text(part) for part in below)
        exported = all(is_exported(part) or WRAPPER.fullmatch(part) or is_nobodys(part) for part in below)
        if not (WRAPPER.fullmatch(top) or exported or (from_zip and around and not is_section_name(top))):
            break
        depth += 1
    return depth


def folders_in(items: list, depth: int) -> dict[str, list]:
    """Return {name: what is in it} of the folders that lie side by side at a depth. No errors.

    Source: the course's own.
    """
    found: dict[str, list] = {}
    for item in items:
        if len(item.folders) > depth:
            found.setdefault(item.parts[depth], []).append(item)
    return found


def roles(items: list, depth: int, sheets) -> dict[str, str]:
    """Return {name: "student", "section" or "sheet"} of the folders that lie side by side at a depth.

    A section holds folders or files of several people. Where its name does not say so, several folders in it do, each
    with a notebook, unless other folders have the same ones (ann/monday and bob/monday are two students') or most
    others are a student's. A sheet's folder holds several people's too, but who is in two of them is one person.
    No errors. Source: the course's own.
    """
    folders = folders_in(items, depth)
    looks = {name: _Look(name, inside, depth, sheets) for name, inside in folders.items() if not is_ones_own(name)}
    full = [look for look in looks.values() if look.people or look.files]
    named = [look for look in full if is_section_name(look.name)]
    beside = _Beside(
        flat=len(full) > 1 and all(look.is_flat() for look in full),
        sections=any(look.size() > 1 for look in named) or (len(named) > 1 and all(look.size() for look in named)),
        sheets=any(look.holds_people(2) for look in full if look.is_sheets()),
        times=Counter(kid for look in full for kid in look.people),
    )
    seen = {name: look.role(beside) for name, look in looks.items()}
    guessed = [look.name for look in full if seen[look.name] == "maybe"]
    plain = [look.name for look in full if seen[look.name] == "student"]
    if guessed and len(guessed) >= len(plain):
        seen |= {look.name: "section" for look in full if look.name in guessed or (look.people and not look.files)}
    return {name: seen[name] if seen.get(name) in ("section", "sheet") else "student" for name in folders}


class _Beside(NamedTuple):
    """What lies beside a folder: all hold files of several people, or sections do, or sheets; how often a name is."""

    flat: bool
    sections: bool
    sheets: bool
    times: Counter


class _Look:
    """What lies in a folder: the folders with work in them that may be people's, and the files that are work."""

    def __init__(self, name, inside, depth, sheets):
        self.name, self.sheets, kids = name, sheets, folders_in(inside, depth + 1)
        direct = {item.parts[depth + 1]: item for item in inside if len(item.folders) == depth + 1 < len(item.parts)}
        with_work = {kid: its for kid, its in kids.items() if any(item.packed or _is_work(item) for item in its)}
        if is_section_name(name) and not direct:  # who handed in a picture or nothing is in the group too
            with_work = kids
        self.exported = bool(with_work) and all(is_ones_own(kid) or WRAPPER.fullmatch(kid) for kid in with_work)
        self.people = [kid for kid in with_work if is_person(kid, sheets) or is_section_name(kid)]
        self.files = [file for file, item in direct.items() if item.packed or _is_work(item)]
        self.persons = {sheets.without(stem_of(file)) for file in self.files if is_person(stem_of(file), sheets)}
        self.nameless = [file for file in self.files if not is_person(stem_of(file), sheets)]

    def holds_people(self, least=1):
        return len(self.people) >= least or len(self.persons) > 1

    def size(self):
        return len(self.people) + (0 if self.nameless else len(self.persons))

    def is_flat(self):
        own = set(words(self.name))
        apart = not any(own & set(words(person)) for person in self.persons)
        return len(self.persons) > 1 and not self.nameless and not self.people and apart

    def is_sheets(self):
        """Whether the folder is named as a sheet, a date or "week 3", not as somebody."""
        dated = any(_is_date(run) for run in re.findall(r"\d+", re.sub(r"[-_.]", "", self.name)))
        named = bool(self.sheets.in_text(self.name)) or bool(words(self.name)) or dated
        return named and not is_section_name(self.name) and not is_person(self.name, self.sheets)

    def role(self, beside):
        if self.is_sheets():  # one person alone in it shows nothing, unless the name is a sheet's or others hold more
            least = 1 if beside.sheets or self.name in self.sheets.known else 2
            files = len(self.persons) >= least and not self.nameless
            return "sheet" if self.exported or len(self.people) >= least or files else "student"
        if self.exported:
            return "section"
        if is_section_name(self.name) or re.fullmatch(r"\d\d?", self.name):  # of one person alone the same holds
            return "section" if self.size() > 1 or (self.size() and beside.sections) else "student"
        if self.files:
            return "section" if beside.flat else "student"
        alone = [kid for kid in self.people if beside.times[kid] == 1]
        return "maybe" if len(self.people) > 1 and 2 * len(alone) >= len(self.people) else "student"


def _is_work(item) -> bool:
    """Return whether a file is what one hands in: a notebook, a script that answers a sheet, or an archive."""
    named = is_notebook(item.name) or bool(ending_of(item.name, (*ARCHIVES, *CLOSED)))
    return named or getattr(item, "script", False)


def _is_date(digits: str) -> bool:
    return re.fullmatch(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])(?:\d{4,6})?", digits) is not None
