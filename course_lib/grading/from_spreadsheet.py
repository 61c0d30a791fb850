"""Ids, question numbers and points as a spreadsheet gives them back, read as what they were, or refused in words.

A spreadsheet takes 06.8 for 6.8, 0012345 for 12345, 123456789012 for 1.23457E+11 and 5/2 for a day. Where one thing
alone can be meant it is taken; where two can, or digits are gone, nothing is guessed. Source: the course's own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from unicodedata import normalize

_SCIENTIFIC = re.compile(r"\d(?:[.,]\d+)?e[+-]?\d+", re.IGNORECASE)
_MOST_DENOMINATOR = 60  # of points: parts of an exercise are halves, thirds, sevenths ...
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_OTHER_MONTHS = {"mär": 3, "mrz": 3, "mai": 5, "okt": 10, "dez": 12}  # of a German Excel


class Unclear(ValueError):
    """What stands in a cell can mean two things, or lost digits; the message says which. Source: the course's own."""


class Ids:
    """The ids of a class, found again in whatever form a system or a spreadsheet wrote them.

    Source: Unicode annex 15 for composed forms; the course's own for lost zeros.
    """

    def __init__(self, ids: Iterable[str]):
        """Index the ids: by composed form, by letters without case, and by number without leading zeros."""
        self.ids = dict.fromkeys(ids)
        self._forms, self._cases, self._numbers = defaultdict(list), defaultdict(list), defaultdict(list)
        for id in self.ids:
            self._forms[normalize("NFC", id)].append(id)
            self._cases[normalize("NFC", id).casefold()].append(id)
            if id.isascii() and id.isdecimal():
                self._numbers[id.lstrip("0")].append(id)

    def find(self, written: str) -> str:
        """Return the id that is meant, "" if there is none; `Unclear` if there are two, or digits are gone."""
        if written in self.ids:
            return written
        text = normalize("NFC", as_text(written))
        number = re.sub(r"[.,]0+$", "", text)  # 12345.0: a program read the column as numbers
        number = number.lstrip("0") if number.isascii() and number.isdecimal() else None
        for index, key in ((self._forms, text), (self._cases, text.casefold()), (self._numbers, number)):
            found = index.get(key, ())
            if len(found) > 1:
                raise Unclear(
                    f"{written.strip()!r} can be {' or '.join(found)}. Write the id as in grades.csv, as text."
                )
            if found:
                return found[0]
        if is_rounded(text):
            raise Unclear(f"{written.strip()!r} {ROUNDED}")
        return ""


ROUNDED = (
    "is a long number of which a spreadsheet kept only the first digits. Take the file from before it was saved there, "
    "and import the ids as text."
)


def is_rounded(text: str) -> bool:
    """Return whether a text is a number in scientific form, 1.23457E+11. No errors. Source: the course's own."""
    return _SCIENTIFIC.fullmatch(as_text(text)) is not None


def as_text(written: str) -> str:
    """Return a cell's text without what keeps it from being a number: '06.8, ="06.8", spaces, a byte order mark.

    No errors. Source: what Excel and LibreOffice write for text.
    """
    text = written.strip().strip("\ufeff\u200b").strip()
    if quoted := re.fullmatch(r'=\s*"(.*)"', text, re.DOTALL):
        return quoted[1].strip()
    return text[1:].strip() if text[:1] in ("'", "\u2019") else text


def find_question(written: str, questions: Iterable[str]) -> str:
    """Return the question's id that is meant, "" if there is none; `Unclear` if there are two.

    06.8 comes back as 6.8, 6,8 or "06. Aug"; 10.10 as 10.1, which is 10.1 too. To say that it is a text and not a
    number, write '10.1. Source: the course's own.
    """
    questions = list(questions)
    text, plain = as_text(written), written.strip()
    meant = _question_written(text)
    if text in questions and (text != plain or "0" in (text[:1], text[-1:]) or not text[:1].isdecimal()):
        return text  # a text, or with a zero that a spreadsheet would have left away
    parts = meant.split(".")
    # A zero in front, or letters: no spreadsheet took it for a number, so every digit stands.
    exact = not parts[0].isdecimal() or (text[:1] == "0" and len(parts[0]) > 1) or meant != _dotted(text)
    found = [id for id in questions if _same(id, meant, exact)]
    if len(found) > 1:
        raise Unclear(
            f"{plain!r} can be {' or '.join(found)}: a spreadsheet leaves zeros away. "
            f"Write {' or '.join(repr(chr(39) + id)[1:-1] for id in found)}, with the apostrophe."
        )
    return found[0] if found else ""


def _dotted(text: str) -> str:
    return re.sub(r"\s*[.,]\s*", ".", text).casefold()


def _question_written(text: str) -> str:
    """Return "6.8" for 6,8 and for what a spreadsheet took for a day: 06. Aug, 06.08.2026, 2026-08-06."""
    if found := re.fullmatch(r"(\d{1,2})[.\-/ ]*\s*([^\W\d]{3})[^\W\d]*\.?(?:[.\-/ ]*\d{2,4})?", text):
        name = found[2].casefold()
        month = _MONTHS.index(name) + 1 if name in _MONTHS else _OTHER_MONTHS.get(name, 0)
        return f"{int(found[1])}.{month}" if month else text
    if found := re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.\d{4}", text):
        return f"{int(found[1])}.{int(found[2])}"
    if found := re.fullmatch(r"\d{4}-(\d\d)-(\d\d)(?: 00:00:00)?", text):
        return f"{int(found[2])}.{int(found[1])}"
    return _dotted(text)


def _same(id: str, meant: str, exact: bool) -> bool:
    one, other = (text.casefold().partition(".") for text in (id, meant))
    if not (one[2].isdecimal() and other[2].isdecimal()):
        return id.casefold() == meant
    first = one[0].lstrip("0") == other[0].lstrip("0")  # 06 and 06b are 6 and 6b to who types them
    second = int(one[2]) == int(other[2]) if exact else one[2].rstrip("0") == other[2].rstrip("0")
    return first and second


def read_points(written: str, exact: str = "", question: str = "") -> Fraction:
    """Return a number that is not below zero: 2, 2.5, 2,5, 5/2, 5 / 2; ValueError says what is wrong.

    A decimal of six places or more that a fraction of a small denominator rounds to is that fraction: 0.333333333 is
    1/3. `exact` is the column of that name, a fraction alone or as in grades.csv ("04.2 = 4/3; total = 7/3"); it
    counts where the number is what it rounds to. Source: the course's own.
    """
    text = as_text(written).replace(",", ".")
    if fraction := re.fullmatch(r"(\d{1,6})\s*[/\u2044]\s*0*([1-9]\d{0,5})", text):
        return Fraction(int(fraction[1]), int(fraction[2]))
    if not re.fullmatch(r"\d{1,6}(?:\.\d{0,30})?|\.\d{1,30}", text):
        raise ValueError(_no_number(text))
    value, places = Fraction(text), len(text.partition(".")[2])
    known = _exact(exact, question)
    if known is not None and abs(known - value) <= Fraction(1, 2 * 10**places):
        return known
    near = value.limit_denominator(_MOST_DENOMINATOR)
    return near if places >= 6 and abs(near - value) < Fraction(1, 10**places) else value


def _exact(text: str, question: str) -> Fraction | None:
    for part in text.split(";"):
        name, equals, number = part.rpartition("=")
        if (not equals or name.strip() == question) and (
            found := re.fullmatch(r"\s*(\d+)\s*/\s*0*([1-9]\d*)\s*", number)
        ):
            return Fraction(int(found[1]), int(found[2]))
    return None


def _no_number(text: str) -> str:
    says = "must be a number such as 2, 2.5 or 5/2, not below zero"
    months = "|".join((*_MONTHS, *_OTHER_MONTHS))
    if re.search(months, text, re.IGNORECASE) or re.fullmatch(r"\d{1,4}[.\-/]\d{1,2}[.\-/]\d{1,4}.*", text):
        return f"{says}; a spreadsheet took a fraction for a day, so write it as a decimal"
    if text.endswith("%"):
        return f"{says}; it is a share, and points are asked for"
    return says


def rows_of(ids: Mapping[str, object], there: Iterable[str]) -> dict[str, str]:
    """Return {id in a list: id that there is}, for the ids of a list whose leading zeros a spreadsheet took away.

    Only where both sides leave one choice, and only for who is not there as written: no two students become one. No
    errors. Source: the course's own.
    """
    there = list(there)
    known = {normalize("NFC", id) for id in there}
    lost, whole = defaultdict(list), defaultdict(list)
    listed = {normalize("NFC", id) for id in ids}
    for groups, some, others in ((lost, ids, known), (whole, there, listed)):
        for id in some:
            if id.isascii() and id.isdecimal() and id not in others:
                groups[id.lstrip("0")].append(id)
    return {
        few[0]: whole[number][0]
        for number, few in lost.items()
        if len(few) == 1 and len(whole[number]) == 1 and len(few[0]) < len(whole[number][0])
    }
