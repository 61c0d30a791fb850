"""Grades and reports in the form that Moodle and Canvas take back, read here as their importers read them."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from dataclasses import replace

import nbformat
import pytest

from course_lib.checks.registry import SHEETS
from course_lib.grading.archive import Entry
from course_lib.grading.csvfile import BadTable
from course_lib.grading.feedback import came_by, platform, write_feedback
from course_lib.grading.filled import MOODLE_NEEDS, fill_gradebook, fill_worksheet, read_table
from course_lib.grading.final import empty_questions, finish, missing
from course_lib.grading.pick import Submission
from course_lib.grading.presets import canvas_rows, moodle_rows, write_filled, write_preset
from course_lib.grading.report_kinds import report_as
from course_lib.grading.roster import Student
from course_lib.grading.submissions import collect
from tests.grading.fakes import part, question, result
from tests.grading.handed_in import zipped
from tests.grading.test_report import HOSTILE, read

SHEET = "04_backpropagation"
HEAD = (
    "Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    '"Last modified (submission)","Last modified (grade)","Feedback comments"'
)
WORKSHEET = (
    f"{HEAD}\r\n"
    '"Participant 4711","Ng, Ann",S1,ann@example.org,"Submitted for grading",,7.00,Yes,'
    '"Monday, 30 November 2026, 11:58 PM",-,"=SUM(1,2) ""fine"",\n two lines"\r\n'
    'Participant 4712,Bob Lee,,bob@example.org,Submitted,3.00,7.00,Yes,-,"Tuesday, 1 December 2026, 9:00 AM",\r\n'
    "Participant 4713,Eve,,eve@example.org,No submission,,7.00,No,-,-,\r\n"
)
STUDENTS = {"4711": Student("4711", "Ann Ng"), "4712": Student("4712", "Bob Lee"), "4713": Student("4713", "Eve")}


def final(id, points, of=7, **more):
    return finish(result(id, questions=[question("04.1", points, of)], **more))


def moodle_import(raw: bytes) -> dict[str, tuple[str, str]]:
    """Read a worksheet as Moodle's importer does: {participant: (grade, comment)}, {} if it is refused."""
    rows = list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline="")))
    head = rows[0]
    if not {"Identifier", "Grade", "Last modified (grade)"} <= set(head):
        return {}
    comment = head.index("Feedback comments") if "Feedback comments" in head else None
    return {
        row[head.index("Identifier")][len("Participant ") :]: (
            row[head.index("Grade")],
            row[comment] if comment is not None else None,
        )
        for row in rows[1:]
    }


def test_a_worksheet_of_our_own_has_what_moodles_importer_needs_and_no_empty_comment(tmp_path):
    finals = [final("4711", "16/3"), final("4712", "2"), final("eve", "1"), final("4713", "0", status="broken")]
    students = {**STUDENTS, "eve": Student("eve")}
    (path,) = write_preset("moodle", tmp_path, finals, students, [SHEET], {"4711", "4712", "4713"})
    assert moodle_import(path.read_bytes()) == {"4711": ("5.3333", None), "4712": ("2", None), "4713": ("", None)}
    assert set(MOODLE_NEEDS) <= set(path.read_text().split("\n")[0].strip().split(","))


def test_a_number_that_did_not_come_in_moodles_export_is_nobodys_participant_number(tmp_path):
    assert len(moodle_rows([final("4711", "1")], STUDENTS, SHEET)) == 1
    assert write_preset("moodle", tmp_path, [final("4711", "1")], STUDENTS, [SHEET]) == []


def test_moodles_gradebook_file_has_who_can_be_found_and_has_a_grade(tmp_path):
    students = {
        "a": Student("a", "Ann", "ann@example.org"),
        "b": Student("b", "Bob", "", "S2"),
        "c": Student("c", "Cy"),
        "d": Student("d", "Dan", "dan@example.org"),
    }
    finals = [final("a", "1"), final("b", "2"), final("c", "3"), final("d", "0", status="broken")]
    (path,) = write_preset("moodle", tmp_path, finals, students, [SHEET])
    assert list(csv.reader(path.open())) == [
        ["Full name", "ID number", "Email address", SHEET],
        *(["Ann", "a", "ann@example.org", "1"], ["Bob", "S2", "", "2"]),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("ends", ["\r\n", "\n"])
def test_a_worksheet_is_filled_in_and_every_other_byte_stays(tmp_path, encoding, ends):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    text = WORKSHEET.replace("\r\n", ends)
    mark = "\ufeff" if "16" in encoding else ""
    path.write_bytes((mark + text).encode(encoding))
    says = fill_worksheet(path, out, {"4711": "5.5", "4712": "2", "4713": ""}, STUDENTS, set(STUDENTS), "7")
    new = out.read_bytes().decode(encoding)
    assert new == mark + text.replace('grading",,7', 'grading",5.5,7').replace("Submitted,3.00", "Submitted,2")
    assert says == ["2 of 3 lines of in.csv have a grade now"]


def test_a_worksheet_with_semicolons_and_quotes_everywhere_is_filled_in(tmp_path):
    rows = [[cell for cell in row] for row in csv.reader(io.StringIO(WORKSHEET, newline=""))]
    text = io.StringIO()
    csv.writer(text, delimiter=";", quoting=csv.QUOTE_ALL).writerows(rows)
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_bytes(text.getvalue().encode())
    fill_worksheet(path, out, {"4711": "5.5"}, STUDENTS, {"4711"})
    rows[1][5] = "5.5"
    assert list(csv.reader(io.StringIO(out.read_bytes().decode(), newline=""), delimiter=";")) == rows


def test_what_does_not_fit_the_worksheet_is_told(tmp_path):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text(WORKSHEET)
    students = {**STUDENTS, "4712": Student("4712", "Kim Other"), "9": Student("9", "Zoe")}
    grades = {"4711": "5", "4712": "2", "4713": "1", "9": "1"}
    says = " ".join(fill_worksheet(path, out, grades, students, set(students), "11"))
    assert "Kim Other (4712) is Bob Lee there; is it this assignment's worksheet?" in says
    assert "no line for 9" in says
    assert "the maximum grade in Moodle is 7.00, the sheet has 11 points" in says
    assert "Moodle does not let 1 of the grades be changed" in says


def test_who_did_not_come_from_moodle_is_found_by_address_or_id_number_and_never_by_a_number_that_is_the_same(tmp_path):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text(WORKSHEET)
    students = {"S1": Student("S1"), "kim": Student("kim", "", "BOB@example.org"), "4713": Student("4713")}
    says = fill_worksheet(path, out, {"S1": "5", "kim": "6", "4713": "1"}, students, ())
    assert {id: grade for id, (grade, _) in moodle_import(out.read_bytes()).items()} == {
        **{"4711": "5", "4712": "6", "4713": ""}
    }
    assert "no line for 4713" in " ".join(says)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("a,b\n1,2\n", "no column Identifier, Grade, Last modified"),
        (HEAD.replace("Grade,Maximum", "Bewertung,Maximum") + "\n", "no column Grade.*set yours to English"),
        (HEAD.replace('"Last modified (grade)",', "") + "\n", r"no column Last modified \(grade\)"),
    ],
)
def test_what_is_no_worksheet_is_said(tmp_path, text, says):
    path = tmp_path / "in.csv"
    path.write_text(text)
    with pytest.raises(BadTable, match=says):
        fill_worksheet(path, tmp_path / "out.csv", {}, {}, ())
    assert not (tmp_path / "out.csv").exists()


def test_a_table_is_split_as_the_standard_library_splits_it(tmp_path):
    path = tmp_path / "t.csv"
    for text in (WORKSHEET, 'a,"b""c",\n"x\r\ny",,z\n', "a\n", 'a,b"c,d\n', '"a"b,c\n', "a,b,"):
        path.write_bytes(text.encode())
        mine = [[cell.text for cell in row] for row in read_table(path).rows]
        expected = [row for row in csv.reader(io.StringIO(text, newline="")) if any(map(str.strip, row))]
        if '"a"b' not in text:
            assert mine == expected, text


GRADEBOOK = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Backpropagation (991),Final essay (992),Current Score\n"
    "    Points Possible,,,,,7.00,10.00,(read only)\n"
    '"Ng, Ann",4711,S1,ann,A,,8,80\n'
    '"Lee, Bob",4712,0012,bob,A,6.00,,\n'
    '"Student, Test",99,,test,A,,,\n'
)


def test_canvass_gradebook_is_filled_in_and_the_rest_stays(tmp_path):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text(GRADEBOOK)
    grades = {SHEET: {"4711": "5.5", "12": "2", "bob2": "1", "4712": ""}}
    says = fill_gradebook(path, out, grades, {SHEET: (SHEET, "backpropagation")})
    assert out.read_text() == GRADEBOOK.replace("A,,8", "A,5.5,8").replace("A,6.00", "A,2")
    assert says == ["2 cells of in.csv have a grade now", "in.csv: no line for bob2"]


def test_a_gradebook_without_a_column_for_the_sheet_says_how_to_name_it(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(GRADEBOOK.replace("Backpropagation", "Homework four"))
    with pytest.raises(BadTable, match=r"no column for the sheet.*Homework four \(991\), Final essay.*--column"):
        write_filled(tmp_path, [final("4711", "1")], STUDENTS, [SHEET], (), {}, path, {})
    for name in ("Homework four", "Homework four (991)"):
        (out,), says = write_filled(tmp_path, [final("4711", "1")], STUDENTS, [SHEET], (), {}, path, {SHEET: name})
        assert ",A,1,8,80" in out.read_text()
        assert says == ["1 cells of in.csv have a grade now"]
    path.write_text("a,b\n")
    with pytest.raises(BadTable, match="no gradebook of Canvas"):
        write_filled(tmp_path, [], {}, [SHEET], (), {}, path, {})


def test_canvas_gets_no_row_whose_empty_cell_would_take_a_grade_away():
    rows = canvas_rows([final("4711", "1"), final("4712", "0", status="broken")], STUDENTS, [SHEET], {"4711", "4712"})
    assert [row[1] for row in rows[2:]] == ["4711"]


def entry(*parts, inner=-1):
    return Entry(parts, 1, 0.0, "x.zip", 0, inner)


MOODLE = [
    Submission("4711", SHEET, (entry("Ann Ng_4711_assignsubmission_file_", "hw.ipynb"),)),
    Submission("4712", SHEET, (entry("wrapper", "Bob Lee_4712_assignsubmission_file", "sub", "hw.ipynb"),)),
    Submission("4713", SHEET, (entry("Gruppe A-Eve_4713_assignsubmission_file_hw.ipynb"),)),
    Submission("4714", SHEET),
]
CANVAS = [
    Submission("4711", SHEET, (entry("ngann_4711_55501_04_backpropagation-1.ipynb"),)),
    Submission("4712", SHEET, (entry("leebob_LATE_4712_55502_hw.ipynb"),), late=True),
    Submission("4713", SHEET, (entry("eve_4713_55503_work", "hw.ipynb", inner=0),)),
    Submission("4714", SHEET),
]
CLASS = {str(n): Student(str(n), f"Name {n}") for n in range(4711, 4715)}


class One:
    id, title, kind, points = "04.1", "T", "function", 7


def notebook_of_lesson():
    cells = [{"cell_type": "markdown", "source": "# 04 · Backpropagation", "metadata": {}}]
    return json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}).encode()


def class_finals():
    lost = ["[0, 1] is 3 and must be 4 <b>`x`</b>"]
    made = [question("04.1", "2", 7, parts=[part(passed=False, says=lost[0])], lost=lost)]
    finals = [finish(result(id, questions=made)) for id in ("4711", "4712", "4713")]
    return [*finals, finish(missing("4714", SHEET, empty_questions([One])))]


def moodle_takes(path: str, participants: set[str]) -> tuple[str, str] | None:
    """Read a name as assignfeedback_file_zip_importer does: (participant, file), None if it is passed over."""
    if path.rpartition("/")[2].startswith((".", "~")):
        return None
    parts = f"/import/{path}".split("/")
    while parts:
        info = parts.pop(0).split("_", 4)
        known = ("assignsubmission", "file"), ("assignsubmission", "onlinetext")
        if len(info) < 4 or not info[1].isdecimal() or info[1] not in participants or (info[2], info[3]) not in known:
            continue
        return info[1], "/".join([info[4] if len(info) == 5 else "", *parts])
    return None


def test_moodle_finds_each_student_in_the_feedback_archive(tmp_path):
    (path,), says = write_feedback(tmp_path, MOODLE, class_finals(), CLASS)
    assert path.name == f"feedback_moodle_{SHEET}.zip"
    names = zipfile.ZipFile(path).namelist()
    assert [moodle_takes(name, set(CLASS)) for name in names] == [
        *(("4711", "/report.html"), ("4712", "/report.html"), ("4713", "/report.html"))
    ]
    page = zipfile.ZipFile(path).read(names[0]).decode()
    assert "Name 4711" in page
    assert "Name 4712" not in page
    assert says == [f"1 student without a file for {SHEET}: Moodle has no place for a report there"]


def test_canvas_finds_each_student_and_shows_a_file_of_the_kind_that_was_handed_in(tmp_path):
    (path,), says = write_feedback(tmp_path, CANVAS, class_finals(), CLASS)
    archive = zipfile.ZipFile(path)
    assert archive.namelist() == [
        *("ngann_4711_55501_04_backpropagation-1.ipynb", "leebob_LATE_4712_55502_hw.ipynb", "eve_4713_55503_work.zip")
    ]
    numbers = [[one for one in name.split("_") if re.fullmatch(r"\d+", one)][:2] for name in archive.namelist()]
    assert numbers == [["4711", "55501"], ["4712", "55502"], ["4713", "55503"]]
    book = nbformat.reads(archive.read(archive.namelist()[0]).decode(), 4)
    nbformat.validate(book)
    assert {cell.cell_type for cell in book.cells} == {"markdown"}
    assert "2 of 7 points" in book.cells[2].source
    inner = zipfile.ZipFile(io.BytesIO(archive.read("eve_4713_55503_work.zip")))
    assert inner.namelist() == ["report.html"]
    assert "Canvas has no place" in says[0]


@pytest.mark.parametrize(
    ("named", "kind"),
    [
        ("Ann Ng_4711_assignsubmission_file_/{}", "moodle"),
        ("Ann Ng_4711_assignsubmission_file_{}", "moodle"),
        ("ngann_4711_55501_{}", "canvas"),
        ("ngann_LATE_4711_55501_{}", "canvas"),
    ],
)
@pytest.mark.parametrize("name", ["hw.zip", "hw.7z", "hw.tar.gz", f"{SHEET}.ipynb", "hw.docx", "essay.py"])
def test_who_handed_in_what_cannot_be_graded_gets_the_report_that_says_so(tmp_path, named, kind, name):
    other = named.format(f"{SHEET}.ipynb").replace("4711", "4712").replace("55501", "55502").replace("nn", "nne")
    content = notebook_of_lesson() if name.endswith(".ipynb") else b"PK\x03\x04 damaged"
    (tmp_path / "class.zip").write_bytes(zipped({named.format(name): content, other: b'{"cells": []}'}))
    found = collect(tmp_path / "class.zip", SHEETS, (SHEET,))
    finals = [finish(missing(one.student, SHEET, empty_questions([One]))) for one in found.submissions]
    (path,), says = write_feedback(tmp_path, found.submissions, finals, found.students)
    assert path.name == f"feedback_{kind}_{SHEET}.zip"
    assert not says
    names = zipfile.ZipFile(path).namelist()
    if kind == "canvas":
        assert set(names) == {named.format(name), other}
    else:
        assert [moodle_takes(one, {"4711", "4712"})[0] for one in sorted(names)] == ["4711", "4712"]


def test_a_text_that_was_typed_into_canvas_takes_nobodys_report_away(tmp_path):
    typed = Submission("4714", SHEET, (entry("kimzoe_4714_text.html"),))
    (path,), says = write_feedback(tmp_path, [*CANVAS[:3], typed], class_finals(), CLASS)
    assert path.name == f"feedback_canvas_{SHEET}.zip"
    assert len(zipfile.ZipFile(path).namelist()) == 3
    assert says == [f"1 student without a file for {SHEET}: Canvas has no place for a report there"]


def test_a_class_of_no_platform_gets_a_folder_a_student(tmp_path):
    finals = class_finals()
    mixed = [MOODLE[0], CANVAS[1], Submission("4713", SHEET, (entry("4713", "hw.ipynb"),))]
    for submissions in ([replace(one, entries=(entry(one.student, "hw.ipynb"),)) for one in MOODLE], mixed):
        (path,), says = write_feedback(tmp_path, submissions, finals, CLASS)
        assert path.name == "reports.zip"
        assert sorted(zipfile.ZipFile(path).namelist()) == [f"reports/{id}/report.html" for id in CLASS]
        assert says == []


def test_who_has_no_result_as_the_grader_failed_gets_no_report_yet(tmp_path):
    finals = [replace_status(one, "broken") if one["student"] == "4712" else one for one in class_finals()]
    for submissions, has in ((MOODLE, 2), ([replace(one, entries=()) for one in MOODLE], 3)):
        (path,), _ = write_feedback(tmp_path, submissions, finals, CLASS)
        names = zipfile.ZipFile(path).namelist()
        assert len(names) == has
        assert not [name for name in names if "4712" in name]


def replace_status(final, status):
    return {**final, "status": status}


def test_old_archives_go_and_the_same_reports_are_the_same_bytes(tmp_path):
    (path,), _ = write_feedback(tmp_path, MOODLE, class_finals(), CLASS)
    before = path.read_bytes()
    (path,), _ = write_feedback(tmp_path, MOODLE, class_finals(), CLASS)
    assert path.read_bytes() == before
    write_feedback(tmp_path, CANVAS, class_finals(), CLASS)
    assert [one.name for one in tmp_path.iterdir()] == [f"feedback_canvas_{SHEET}.zip"]


@pytest.mark.parametrize("name", ["smith_2026_01_perceptron.ipynb", "hw_1_2_x.ipynb", "gruppe_1_1_x.ipynb"])
def test_a_name_that_only_looks_like_canvass_is_none(name):
    submission = Submission(name.partition("_")[0], SHEET, (entry(name),))
    assert came_by(submission) == ("", "")
    assert platform([submission]) == ""


def test_hostile_ids_stay_in_the_archive(tmp_path):
    students = {HOSTILE: Student(HOSTILE, HOSTILE), "../../x": Student("../../x"), "/etc/x": Student("/etc/x")}
    (path,), _ = write_feedback(tmp_path, [], [final(id, "1") for id in students], students)
    for name in zipfile.ZipFile(path).namelist():
        assert re.fullmatch(r"reports/[A-Za-z0-9._~-]+/report\.html", name)


@pytest.mark.parametrize("suffix", [".ipynb", ".html", ".zip", ".py", ".pdf", ""])
def test_a_report_of_each_kind_has_the_points_and_shows_what_students_wrote_as_text(suffix):
    wrote = f"{HOSTILE} ```` ``` [x](javascript:1) # h"
    lost = [question(wrote, "2", 7, parts=[part(wrote, False, wrote)], lost=[wrote], title=wrote)]
    made = report_as(suffix, Student(wrote, wrote), [finish(result(wrote, questions=lost), notes=(wrote,))])
    if suffix == ".zip":
        made = zipfile.ZipFile(io.BytesIO(made)).read("report.html")
    text = made.decode()
    assert "2 of 7" in text
    if suffix in (".html", ".zip"):
        assert not {"script", "img"} & {tag for tag, _ in read(text).tags}
    if suffix == ".py":
        compile(text, "report", "exec")
        assert all(line.startswith("#") or not line for line in text.split("\n"))
    if suffix == ".ipynb":
        for cell in json.loads(text)["cells"]:
            outside = re.sub(r"^(`{3,})text\n.*?\n\1$", "", cell["source"], flags=re.DOTALL | re.MULTILINE)
            assert "<" not in outside.replace("\\<", "")
            assert "[x](" not in outside


def test_500_reports_are_packed(tmp_path):
    students = {f"s{n}": Student(f"s{n}") for n in range(500)}
    (path,), _ = write_feedback(tmp_path, [], [final(id, "1") for id in students], students)
    assert len(zipfile.ZipFile(path).namelist()) == 500
