"""Points by hand and late work: each line of the CSV is checked, and both are seen in the final result."""

from __future__ import annotations

from fractions import Fraction

import pytest

from course_lib.grading.adjust import LateRule, Manual, read_late, read_manual, read_rule
from course_lib.grading.csvfile import BadTable
from course_lib.grading.final import decimal, empty_questions, finish, is_exact, missing
from tests.grading.fakes import question, result

SHEETS = ("04_backpropagation", "05_computation_graph")
MOST = {"04.1": 2, "04.6": 5}


def csv(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "in.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_points_by_hand_are_read_as_spreadsheets_save_them(tmp_path, encoding, separator):
    lines = [
        ["Student", "question", "points", "comment"],
        ["ann", "04.1", "1.5", "schön"],
        ["ü", "04.6", "5/2", ""],
        [],
    ]
    path = csv(tmp_path, "\r\n".join(separator.join(line) for line in lines), encoding)
    assert read_manual(path, ["ann", "ü"], MOST) == {
        ("ann", "04.1"): Manual(Fraction(3, 2), "schön"),
        ("ü", "04.6"): Manual(Fraction(5, 2), ""),
    }


def test_a_decimal_comma_and_an_id_guarded_against_formulas_are_read(tmp_path):
    path = csv(tmp_path, "student;question;points\n'=1+1;04.1;0,5\n")
    assert read_manual(path, ["=1+1"], MOST) == {("=1+1", "04.1"): Manual(Fraction(1, 2), "")}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("bob,04.1,1,", r"line 3: no student 'bob'.*2 graded"),
        ("ann,09.9,1,", r"line 3: no question '09.9'.*04\.1, 04\.6"),
        ("ann,04.1,2.01,", r"line 3: 2\.01 points.*0 to 2"),
        ("ann,04.1,-1,", r"line 3: points is '-1'.*not below zero"),
        ("ann,04.1,nan,", "line 3: points is 'nan'"),
        ("ann,04.1,1e9,", "line 3: points is '1e9'"),
        ("ann,04.1,1/0,", "line 3: points is '1/0'"),
        ("eve,04.1,1,", "line 3: question 04.1 of 'eve' is there already"),
        ("ann,04.1,1,a,b", "line 3: 5 cells, but line 1 names 4 columns"),
    ],
)
def test_a_wrong_line_is_an_error_that_names_it(tmp_path, line, says):
    path = csv(tmp_path, f"student,question,points,comment\neve,04.1,1,\n{line}\n")
    with pytest.raises(BadTable, match=says):
        read_manual(path, ["ann", "eve"], MOST)


def test_a_line_without_points_is_not_graded_yet(tmp_path):
    path = csv(tmp_path, "student,question,points,comment,answer\nann,04.1,,,x\nann,04.6,1,,y\n")
    assert list(read_manual(path, ["ann"], MOST)) == [("ann", "04.6")]


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "student,points\n", "\0"])
def test_a_file_without_the_columns_is_an_error_that_names_them(tmp_path, text):
    with pytest.raises(BadTable, match=r"student|no CSV"):
        read_manual(csv(tmp_path, text), ["ann"], MOST)


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(BadTable, match="cannot be read"):
        read_manual(tmp_path / "none.csv", ["ann"], MOST)


def test_days_and_hours_late_count_for_one_sheet_or_all(tmp_path):
    path = csv(tmp_path, "student,hours,days,sheet\nann,5,,\neve,,2.5,05_computation_graph\n")
    assert read_late(path, ["ann", "eve"], SHEETS) == {
        ("ann", SHEETS[0]): 5,
        ("ann", SHEETS[1]): 5,
        ("eve", SHEETS[1]): 60,
    }


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("bob,1,,", "line 2: no student"),
        ("ann,,,", "line 2: no time"),
        ("ann,1,1,", "line 2: hours and days"),
        ("ann,-1,,", "line 2: hours is '-1'"),
        ("ann,1,,06_x", "line 2: no sheet '06_x'"),
        ("ann,1,,\nann,2,,", "line 3: 'ann' is there already for 04_backpropagation"),
    ],
)
def test_a_wrong_line_of_late_work_is_an_error_that_names_it(tmp_path, lines, says):
    with pytest.raises(BadTable, match=says):
        read_late(csv(tmp_path, f"student,hours,days,sheet\n{lines}\n"), ["ann"], SHEETS)


def test_rules_are_read():
    assert read_rule("10%/day,max 50%") == LateRule(Fraction(1, 10), 24, Fraction(1, 2))
    assert read_rule(" 2.5% / Hour , max 100%, grace 2 hours") == LateRule(Fraction(1, 40), 1, Fraction(1), Fraction(2))
    assert read_rule("100%/week,grace 1 day") == LateRule(Fraction(1), 168, Fraction(1), Fraction(24))


@pytest.mark.parametrize(
    "text", ["", "10", "10%", "10%/month", "0%/day", "101%/day", "10%/day,max 200%", "10%/day,50%"]
)
def test_a_rule_that_is_none_is_an_error_that_shows_one(text):
    with pytest.raises(BadTable, match="10%/day,max 50%"):
        read_rule(text)


@pytest.mark.parametrize(
    ("hours", "off", "units"), [(0, 0, 0), (1, 10, 1), (24, 10, 1), (25, 20, 2), (24 * 9, 50, 9), (10**6, 50, 41667)]
)
def test_each_day_begun_counts_up_to_the_most(hours, off, units):
    assert read_rule("10%/day,max 50%").off(Fraction(hours)) == (Fraction(off, 100), units)


def test_time_of_grace_costs_nothing():
    rule = read_rule("10%/day,grace 2 hours")
    assert [rule.off(Fraction(hours))[1] for hours in (1, 2, 3, 26, 27)] == [0, 0, 1, 1, 2]


def test_a_result_is_finished_by_hand_and_stays_as_it_was():
    made = result(questions=[question("04.1", "1/3", 2, lost=["x"]), question("04.6", "0", 5, kind="text")])
    before = repr(made)
    manual = {("ann", "04.1"): Manual(Fraction(2), "see me"), ("ann", "04.6"): Manual(Fraction(4), "")}
    done = finish(made, manual, Fraction(30), read_rule("10%/day"), ("noticed",))
    assert repr(made) == before
    assert [q["points"] for q in done["questions"]] == ["2", "4"]
    assert done["questions"][0]["manual"] == "Corrected by hand, from 0.3333: see me"
    assert done["questions"][1]["manual"] == "Graded by hand."
    assert (done["earned"], done["penalty"], done["total"], done["of"], done["open"]) == ("6", "6/5", "24/5", 7, 0)
    assert done["late"] == "30 hours late, 2 days begun: 20% of 6 points are taken off, 1.2."
    assert done["notes"] == ["noticed"]


def test_text_questions_wait_until_they_have_points():
    made = result(questions=[question("04.6", "0", 5, kind="text")])
    assert finish(made)["open"] == 1
    assert finish(made, {("ann", "04.6"): Manual(Fraction(0), "")})["open"] == 0


def test_a_student_with_nothing_can_get_points_by_hand():
    class Oral:
        id, title, kind, points = "04.1", "T", "function", 2

    nothing = missing("ann", SHEETS[0], empty_questions([Oral]))
    assert (finish(nothing)["total"], finish(nothing)["of"]) == ("0", 2)
    assert finish(nothing, {("ann", "04.1"): Manual(Fraction(1), "oral")})["total"] == "1"


def test_points_by_hand_count_where_the_grader_failed():
    broken = result(status="broken", questions=[])
    done = finish(broken, {("ann", "04.1"): Manual(Fraction(1), "")}, questions=[question("04.1", "0", 2)])
    assert (done["total"], done["of"]) == ("1", 2)


@pytest.mark.parametrize(
    ("value", "text", "exact"),
    [
        *(("3/2", "1.5", True), ("4/3", "1.3333", False), ("0", "0", True), ("100", "100", True)),
        *(("1/16", "0.0625", True), ("-1/2", "-0.5", True), ("1/100000", "0", False), ("20/3", "6.6667", False)),
    ],
)
def test_decimals(value, text, exact):
    assert (decimal(value), is_exact(value)) == (text, exact)
