"""What a spreadsheet made of ids, question numbers and points is read as what it was; what it lost is said."""

from __future__ import annotations

import csv
import io
from fractions import Fraction

import pytest

from course_lib.checks import registry
from course_lib.grading.adjust import Manual, read_late, read_manual
from course_lib.grading.archive import Entry
from course_lib.grading.csvfile import BadTable
from course_lib.grading.from_spreadsheet import Ids, Unclear, find_question, read_points, rows_of
from course_lib.grading.pick import Submission
from course_lib.grading.roster import Student, read_roster, with_roster
from course_lib.grading.submissions import Collected

QUESTIONS = ("01.1", "06.8", "10.2", "lab.1", "lab.6")
TENS = ("06.1", "06.10", "10.1", "10.10")
SHEET = "04_backpropagation"


def saved(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "in.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *(("6.8", "06.8"), ("6,8", "06.8"), ("6.80", "06.8"), (" 06.8\xa0", "06.8"), ("'06.8", "06.8")),
        *(('="06.8"', "06.8"), ("06. Aug", "06.8"), ("06.Aug", "06.8"), ("6-Aug", "06.8"), ("06.08.2026", "06.8")),
        *(("2026-08-06", "06.8"), ("1.1", "01.1"), ("01. Jan", "01.1"), ("10.2", "10.2"), ("10,2", "10.2")),
        *(("lab.1", "lab.1"), ("LAB.6", "lab.6"), ("lab,6", "lab.6"), ("\ufeff06.8", "06.8")),
        *(("9.9", ""), ("6", ""), ("", ""), ("nan", ""), ("lab", ""), ("lab.10", ""), ("06.80", ""), ("32. Aug", "")),
    ],
)
def test_a_questions_number_is_found_in_each_form(written, meant):
    assert find_question(written, QUESTIONS) == meant


def test_every_question_of_every_sheet_is_found_as_a_number_too():
    for sheet in registry.SHEETS:
        ids = [one.id for one in registry.sheet(sheet).exercises]
        assert [find_question(id, ids) for id in ids] == ids
        assert [find_question(id.lstrip("0"), ids) for id in ids] == ids
        assert [find_question(id.lstrip("0").replace(".", ","), ids) for id in ids] == ids


@pytest.mark.parametrize("written", ["6.1", "10.1", "6,1", "6.10"])
def test_a_number_that_two_questions_share_is_told_and_not_guessed(written):
    with pytest.raises(Unclear, match=r"can be (06\.1 or 06\.10|10\.1 or 10\.10).*with the apostrophe"):
        find_question(written, TENS)


@pytest.mark.parametrize("written", ["06.1", "06.10", "'10.1", "'10.10", '="10.1"', "10.10"])
def test_a_text_is_what_it_says_also_where_a_number_would_be_unclear(written):
    assert find_question(written, TENS) == written.strip("'=\"")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *(("12345", "0012345"), ("12345.0", "0012345"), ("12345,00", "0012345"), (" 0012345 ", "0012345")),
        *(("'0012345", "0012345"), ('="0012345"', "0012345"), ("anna", "Anna"), ("e\u0301", "é"), ("1e5", "1e5")),
        *(("007", "007"), ("07", "07"), ("bob", ""), ("", ""), ("0", ""), ("123450", "")),
    ],
)
def test_an_id_is_found_in_each_form(written, meant):
    assert Ids(["0012345", "Anna", "é", "1e5", "007", "07"]).find(written) == meant


@pytest.mark.parametrize(
    ("written", "says"),
    [("7", "can be 007 or 07"), ("1.23457E+11", "only the first digits"), ("1,2e+11", "only the first digits")],
)
def test_an_id_that_is_unclear_or_lost_is_said_in_words(written, says):
    with pytest.raises(Unclear, match=says):
        Ids(["007", "07", "123456789012"]).find(written)


def test_10_000_ids_are_found_without_going_through_all_each_time():
    looked_at = []

    class Id(str):
        def isdecimal(self):
            looked_at.append(self)
            return str.isdecimal(self)

        __hash__ = str.__hash__

    ids = Ids(Id(f"00{n}") for n in range(10_000))
    assert [ids.find(str(n)) for n in range(0, 10_000, 7)] == [f"00{n}" for n in range(0, 10_000, 7)]
    assert len(looked_at) <= 20_000


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *(("2", 2), ("2.50", "5/2"), ("2,5", "5/2"), ("5/2", "5/2"), ("5 / 2", "5/2"), (" 1\xa0", 1), (".5", "1/2")),
        *(
            ("0.333333333", "1/3"),
            ("0,33333333", "1/3"),
            ("0.6666667", "2/3"),
            ("1.428571429", "10/7"),
            ("'5/2", "5/2"),
        ),
        *(("0.3333", "3333/10000"), ("0.123456", "123456/1000000"), ("0.142857142857143", "1/7"), ("1.", 1)),
    ],
)
def test_points_are_read(written, value):
    assert read_points(written) == Fraction(value)


def test_the_column_exact_counts_where_the_decimal_is_what_it_rounds_to():
    assert read_points("0.3333", "1/3") == Fraction(1, 3)
    assert read_points("1.3333", "04.1 = 1/7; 04.2 = 4/3; total = 7/3", "04.2") == Fraction(4, 3)
    assert read_points("2", "1/3") == 2  # somebody changed the points and left the other cell
    assert read_points("1.3333", "04.1 = 4/3", "04.2") == Fraction(13333, 10000)


@pytest.mark.parametrize(
    ("written", "says"),
    [("05. Feb", "as a decimal"), ("5.2.2026", "as a decimal"), ("2026-02-05", "as a decimal"), ("50%", "a share")]
    + [(text, "number such as") for text in ("1e9", "-1", "", "nan", "1/0", "1.2.3")],
)
def test_what_is_no_number_of_points_is_said(written, says):
    with pytest.raises(ValueError, match=says):
        read_points(written)


def test_a_file_from_a_spreadsheet_gives_the_points_it_was_given(tmp_path):
    text = "sep=;\r\nStudent ;question;points\r\n12345;6,8;0,333333333\r\nanna ;1,1;1 / 2\r\n"
    path = saved(tmp_path, text, "utf-16")
    assert read_manual(path, ["0012345", "anna"], {"06.8": 2, "01.1": 2}) == {
        ("0012345", "06.8"): Manual(Fraction(1, 3), ""),
        ("anna", "01.1"): Manual(Fraction(1, 2), ""),
    }


def test_two_lines_for_one_question_in_two_forms_are_told_with_both_lines(tmp_path):
    path = saved(tmp_path, "student,question,points\nanna,6.8,1\nanna,06.8,0.333333333\n")
    with pytest.raises(BadTable, match=r"line 3: question 06\.8 of 'anna' is there already, in line 2"):
        read_manual(path, ["anna"], {"06.8": 2})


def test_each_list_finds_a_student_whose_zeros_are_lost_and_says_what_is_unclear(tmp_path):
    assert read_late(saved(tmp_path, "student,days\n7,1\n"), ["007"], (SHEET,)) == {("007", SHEET): 24}
    path = saved(tmp_path, "student,days,question,points\n7,1,4.1,1\n")
    for read, more in ((read_late, (SHEET,)), (read_manual, {"04.1": 2})):
        with pytest.raises(BadTable, match="line 2: student '7' can be 007 or 07"):
            read(path, ["007", "07"], more)


def collected(*ids):
    found = Collected((SHEET,), {id: Student(id, f"Name {id}") for id in ids})
    found.submissions += [Submission(id, SHEET, (Entry((id, "hw.ipynb"), 1, 0.0, "x"),)) for id in ids]
    return found


def listed(tmp_path, text):
    return read_roster(saved(tmp_path, text))


def test_a_roster_row_without_its_zeros_is_the_same_student(tmp_path):
    roster = listed(tmp_path, "student,name\n12345,Ann Ng\nbob ,Bob\nzoe,Zoe\n")
    found = with_roster(collected("0012345", "bob", "new"), roster)
    assert {id: one.name for id, one in found.students.items()} == {
        **{"0012345": "Ann Ng", "bob": "Bob", "zoe": "Zoe", "new": "Name new"}
    }
    assert [(one.student, len(one.entries)) for one in found.submissions] == [
        *(("0012345", 1), ("bob", 1), ("zoe", 0), ("new", 1))
    ]
    assert found.problems == [
        "the roster's 12345 is taken for 0012345: a spreadsheet took its leading zeros away",
        "new is not in the roster, and is graded too",
    ]


def test_a_roster_of_other_ids_is_said_in_two_lines_however_large_the_class(tmp_path):
    roster = listed(tmp_path, "student,name\ns1,name 2000\ns2,Zoe\n")
    found = with_roster(collected(*(str(n) for n in range(2000, 2030))), roster)
    assert len(found.students) == 32
    assert found.problems == [
        "30 who handed in are not in the roster, and are graded too: 2000, 2001, 2002, 2003, 2004 and 25 more",
        "Name 2000 is 2000 in what was handed in and s1 in the roster, and has two rows: the roster's column student "
        "holds the ids of grades.csv",
    ]


def test_two_students_whose_ids_differ_by_zeros_stay_two(tmp_path):
    roster = listed(tmp_path, "student,name\n12345,Ann\n7,Eve\n")
    found = with_roster(collected("12345", "0012345", "007", "07"), roster)
    assert sorted(found.students) == ["0012345", "007", "07", "12345", "7"]
    assert sum(bool(one.entries) for one in found.submissions) == 4
    assert rows_of({"7": 0}, ["007", "07"]) == {}


def test_a_roster_keeps_its_form_of_a_name_and_nobody_is_there_twice(tmp_path):
    found = with_roster(collected("mu\u0308ller"), listed(tmp_path, "student,name\nmüller,Mü\n"))
    assert [(one.student, len(one.entries)) for one in found.submissions] == [("müller", 1)]


def test_a_roster_with_a_rounded_id_is_refused_in_words(tmp_path):
    with pytest.raises(BadTable, match=r"line 3: student '1\.23457E\+11' is a long number"):
        listed(tmp_path, "student\nann\n1.23457E+11\n")


def test_the_courses_own_table_comes_back_as_it_was(tmp_path):
    rows = [["student", "question", "points", "exact"], ["ann", "04.2", "1.3333", "04.2 = 4/3; total = 7/3"]]
    text = io.StringIO()
    csv.writer(text, delimiter=";").writerows(rows)
    assert read_manual(saved(tmp_path, text.getvalue()), ["ann"], {"04.2": 3})["ann", "04.2"].points == Fraction(4, 3)
