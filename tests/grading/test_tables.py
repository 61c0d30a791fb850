"""grades.csv and what other systems import: exact points, ids as they are, and no formula from a student."""

from __future__ import annotations

import csv
import io

import pytest

from course_lib.grading.adjust import read_manual, read_rule
from course_lib.grading.csvfile import guarded, unguarded
from course_lib.grading.final import empty_questions, finish, missing
from course_lib.grading.presets import canvas_rows, moodle_rows, nbgrader_rows, write_preset
from course_lib.grading.roster import Student
from course_lib.grading.tables import grade_rows, write_by_hand, write_grades
from tests.grading.fakes import question, result

SHEET, OTHER = "04_backpropagation", "05_computation_graph"
STUDENTS = {
    "0012": Student("0012", "Ann Ng", "ann@example.org", "S12", "ann", "A"),
    "=cmd|' /C calc'!A0": Student("=cmd|' /C calc'!A0", "+Bob"),
    "eve": Student("eve"),
}


def finals():
    made = [
        result("0012", questions=[question("04.1", "4/3", 2), question("04.6", "0", 5, kind="text")]),
        result("=cmd|' /C calc'!A0", questions=[question("04.1", "2", 2), question("04.6", "0", 5, kind="text")]),
        result("eve", status="broken", questions=[]),
    ]
    empty = [question("04.1", "0", 2), question("04.6", "0", 5, kind="text")]
    return [finish(made[0], None, 30, read_rule("10%/day")), finish(made[1]), finish(made[2], questions=empty)]


def read_back(path):
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def test_one_row_a_student_and_one_column_a_question():
    assert grade_rows(finals(), STUDENTS, [SHEET]) == [
        ["student", "name", "email", "04.1", "04.6", "status", "level", "late penalty", "total", "of", "exact"],
        [
            *("0012", "Ann Ng", "ann@example.org", "1.3333", "", "graded", "B", "0.2667", "1.0667", "7"),
            "04.1 = 4/3; late penalty = 4/15; total = 16/15",
        ],
        ["=cmd|' /C calc'!A0", "+Bob", "", "2", "", "graded", "B", "0", "2", "7", ""],
        ["eve", "", "", "", "", "broken", "B", "0", "", "7", ""],
    ]


def test_the_file_begins_with_a_mark_for_excel_and_keeps_ids(tmp_path):
    path = write_grades(tmp_path, finals(), STUDENTS, [SHEET])
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    rows = read_back(path)
    assert rows[1][0] == "0012"
    assert [unguarded(row[0]) for row in rows[1:]] == list(STUDENTS)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "  @", "＝", "\n="])
def test_no_text_begins_like_a_formula(start):
    text = f"{start}cmd|' /C calc'!A0"
    assert guarded(text) == "'" + text
    assert unguarded(guarded(text)) == text


@pytest.mark.parametrize("text", ["", "ann", "'ann", "a=1", "12345", "''", "'", "1-2", "Ann-Lee"])
def test_other_texts_stay(text):
    assert guarded(text) == text
    assert unguarded(text) == text


def test_no_cell_of_any_file_begins_like_a_formula(tmp_path):
    files = [write_grades(tmp_path, finals(), STUDENTS, [SHEET])]
    for preset in ("canvas", "moodle", "nbgrader"):
        files += write_preset(preset, tmp_path, finals(), STUDENTS, [SHEET], set(STUDENTS))
    assert [path.name for path in files] == [
        *("grades.csv", "grades_canvas.csv", f"grades_moodle_{SHEET}.csv", f"grades_moodle_gradebook_{SHEET}.csv"),
        "grades_nbgrader.csv",
    ]
    for path in files:
        assert not [cell for row in read_back(path) for cell in row if cell.lstrip().startswith(("=", "+", "-", "@"))]


def test_quotes_newlines_and_separators_in_a_name_stay_in_one_cell(tmp_path):
    students = {'a,"b"\nc;d': Student('a,"b"\nc;d')}
    path = write_grades(tmp_path, [finish(result('a,"b"\nc;d'))], students, [SHEET])
    assert read_back(path)[1][0] == 'a,"b"\nc;d'
    assert len(read_back(path)) == 2


def test_more_sheets_give_more_columns_and_a_missing_result_an_open_total():
    made = [finish(result("0012")), finish(result("0012", OTHER, [question("05.1", "1", 1)])), finish(result("eve"))]
    rows = grade_rows(made, {id: STUDENTS[id] for id in ("0012", "eve")}, [SHEET, OTHER])
    assert rows[0][3:] == [
        *("04.1", f"status {SHEET}", f"level {SHEET}", f"late penalty {SHEET}"),
        *("05.1", f"status {OTHER}", f"level {OTHER}", f"late penalty {OTHER}", "total", "of", "exact"),
    ]
    assert rows[1][3:] == ["2", "graded", "B", "0", "1", "graded", "B", "0", "3", "3", ""]
    assert rows[2][3:] == ["2", "graded", "B", "0", "", "", "", "", "", "2", ""]


def test_who_handed_nothing_in_has_no_points_and_says_so():
    class One:
        id, title, kind, points = "04.1", "T", "function", 2

    rows = grade_rows([finish(missing("eve", SHEET, empty_questions([One])))], {"eve": STUDENTS["eve"]}, [SHEET])
    assert rows[1][3:] == ["0", "nothing handed in", "", "0", "0", "2", ""]


def test_answers_that_wait_are_written_for_who_grades_them_and_read_again(tmp_path):
    made = result("=1", questions=[question("04.1"), question("04.6", "0", 5, kind="text")], answers={"04.6": "-a,\nb"})
    path = write_by_hand(tmp_path, [finish(made)])
    assert read_back(path) == [
        ["student", "question", "points", "comment", "answer"],
        ["'=1", "04.6", "", "", "'-a,\nb"],
    ]
    path.write_text(path.read_text(encoding="utf-8-sig").replace("04.6,,", "04.6,4,fine"))
    manual = read_manual(path, ["=1"], {"04.6": 5})
    assert finish(made, manual)["total"] == "6"
    assert write_by_hand(tmp_path, [finish(made, manual)]) == path
    assert read_back(path)[1] == ["'=1", "04.6", "4", "fine", "'-a,\nb"]  # what somebody filled in is never lost
    assert write_by_hand(tmp_path, [finish(made)]) == path
    assert len(read_back(path)) == 2
    path.write_text("something else")
    write_by_hand(tmp_path, [finish(made)])
    assert path.read_text() == "something else"
    path.unlink()
    assert write_by_hand(tmp_path, [finish(made, manual)]) is None
    assert not path.exists()


def test_what_was_filled_in_and_saved_by_a_spreadsheet_stays_one_line(tmp_path):
    waits = [question("04.1"), question("04.6", "0", 5, kind="text")]
    made = [result(id, questions=waits, answers={"04.6": "because"}) for id in ("0012345", "bob")]
    path = write_by_hand(tmp_path, [finish(one) for one in made])
    text = path.read_text(encoding="utf-8-sig").replace("0012345,04.6,,,", "12345,4.6,3,fine,").replace(",", ";")
    path.write_text(text)
    write_by_hand(tmp_path, [finish(one) for one in made])
    assert read_back(path)[1:] == [["0012345", "04.6", "3", "fine", "because"], ["bob", "04.6", "", "", "because"]]
    path.write_text(path.read_text(encoding="utf-8-sig") + "1.2E+11,04.6,1,?,\n")
    write_by_hand(tmp_path, [finish(one) for one in made])
    assert ["1.2E+11", "04.6", "1", "?", ""] in read_back(path)  # nobody's work is lost


def test_canvas():
    rows = canvas_rows(finals(), STUDENTS, [SHEET], {"0012"})
    assert rows[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", SHEET]
    assert rows[1] == ["    Points Possible", "", "", "", "", "7"]
    assert rows[2] == ["Ann Ng", "0012", "S12", "ann", "A", "1.0667"]
    assert len(rows) == 4  # the grader failed for eve: an empty cell would take away the grade that is there
    assert canvas_rows(finals(), STUDENTS, [SHEET])[2] == ["Ann Ng", "", "S12", "ann", "A", "1.0667"]


def test_moodle():
    rows = moodle_rows(finals(), STUDENTS, SHEET, {"0012", "eve"})
    assert rows[0] == [
        *("Identifier", "Full name", "ID number", "Email address", "Status", "Grade", "Maximum Grade"),
        *("Grade can be changed", "Last modified (submission)", "Last modified (grade)"),
    ]
    who = ["Participant 0012", "Ann Ng", "S12", "ann@example.org"]
    assert rows[1] == [*who, "", "1.0667", "7", "Yes", "", ""]
    assert rows[2][4:] == ["", "", "7", "Yes", "", ""]  # the grader failed: Moodle passes over an empty grade
    assert len(rows) == 3


def test_nbgrader():
    rows = nbgrader_rows(finals(), STUDENTS, [SHEET])
    assert ",".join(rows[0]) == (
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,"
        "raw_score,late_submission_penalty,score,max_score"
    )
    assert rows[1] == [SHEET, "", "", "0012", "Ng", "Ann", "ann@example.org", "1.3333", "0.2667", "1.0667", "7"]


def test_an_unknown_preset_is_an_error_that_lists_them(tmp_path):
    with pytest.raises(LookupError, match="canvas, moodle, nbgrader"):
        write_preset("blackboard", tmp_path, [], {}, [])


def test_a_class_of_10_000_is_written(tmp_path):
    students = {f"s{n}": Student(f"s{n}") for n in range(10_000)}
    made = [finish(result(id, questions=[question(f"04.{q}", f"{q}/3", 3) for q in range(6)])) for id in students]
    assert len(read_back(write_grades(tmp_path, made, students, [SHEET]))) == 10_001
