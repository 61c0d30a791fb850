"""Nobody disappears and nobody merges: whose each file is, in exports, loose files, folders, sections and archives."""

from __future__ import annotations

import os
import random

import pytest
from notebook_lib.class_exports import LAYOUTS, export, write

from course_lib.checks.registry import SHEETS
from course_lib.grading import archive
from course_lib.grading.final import empty_questions, missing
from course_lib.grading.roster import Student
from course_lib.grading.submissions import collect
from tests.grading.handed_in import SHEET, folder, lesson, notebook, scratch, tarred, zipped


@pytest.fixture(params=["folder", "zip"])
def handed_in(request, tmp_path):
    """Return a function that hands files in as a folder, and as a zip that has no entries for folders."""

    def make(files, **ways):
        if request.param == "folder":
            return collect(folder(tmp_path / "class", files), SHEETS, **ways)
        return collect(zipped(files, tmp_path / "class.zip"), SHEETS, **ways)

    return make


def rows(found):
    return sorted(one.student for one in found.submissions)


def chosen(found):
    """Student -> the notebook that counts."""
    return {one.student: one.load()[0][0][1] for one in found.submissions if one.entries}


def said(found):
    return "\n".join(found.problems)


# What only looks like Canvas's


@pytest.mark.parametrize(
    "files",
    [
        ["smith_2026_01_perceptron.ipynb", "jones_2026_01_perceptron.ipynb", "lee_2026_01_perceptron.ipynb"],
        ["smith_2026_1_perceptron.ipynb", "jones_2026_1_perceptron.ipynb"],
        ["smith_2026_17_hw.ipynb", "jones_2026_18_hw.ipynb"],
        ["perceptron_2026_17_hw.ipynb", "perceptron_2026_18_hw.ipynb", "perceptron_2026_19_hw.ipynb"],
        ["ml_2026_345678_a.ipynb", "ml_2026_345679_b.ipynb", "ml_2025_345680_c.ipynb"],
        ["gruppe_1_1_abgabe.ipynb", "gruppe_1_2_abgabe.ipynb", "gruppe_2_1_abgabe.ipynb"],
        ["gruppe_1_1_x/hw.ipynb", "gruppe_1_2_x/hw.ipynb", "team_3_1_x/hw.ipynb"],
        ["gruppe_1_1_x.zip", "gruppe_1_2_x.zip", "team_3_1_x.zip"],
        ["ngann_123_4567_hw.ipynb", "leebob_124_4568_hw.ipynb", "zoe.ipynb"],
        ["ngann_123_4567_hw.ipynb", "leebob_124_4568_hw.ipynb", "zoe/hw.ipynb"],
    ],
)
def test_what_only_looks_like_canvas_is_a_student_each(handed_in, files):
    contents = {
        name: zipped({"hw.ipynb": notebook(mark=name)}) if name.endswith(".zip") else notebook(mark=name)
        for name in files
    }
    found = handed_in(contents)
    assert len(rows(found)) == len(files)
    assert len(set(chosen(found).values())) == len(files)


def test_names_that_look_like_canvas_among_others_are_said(handed_in):
    found = handed_in({f"{name}.ipynb": notebook(mark=name) for name in ("ng_12_34_hw", "lee_13_35_hw", "zoe")})
    assert "2 names look as Canvas writes them, such as" in said(found)
    assert "but zoe.ipynb do not" in said(found)


@pytest.mark.parametrize("beside", ["index.html", "README.md", "instructions.pdf", "submission_metadata.yml"])
def test_canvas_export_stays_one_with_a_file_of_nobody_beside_it(handed_in, beside):
    names = ["ngann_20123_912001_hw.ipynb", "LATE_anon_aB3x9_912007_hw.ipynb", "müllerzoë_LATE_20125_912003_hw-1.ipynb"]
    names += ["leebob_20126_text.html", "leebob_20127_912004_hw.ipynb", "leebob_20127_912005_data.csv"]
    found = handed_in({**{name: notebook(mark=name) for name in names}, beside: b"words"})
    assert rows(found) == ["20123", "20125", "20126", "20127", "aB3x9"]
    assert [one.student for one in found.submissions if one.late] == ["aB3x9", "20125"]


def test_moodles_groups_and_typed_texts_are_read(handed_in):
    names = ["Group A_12_assignsubmission_file_/hw.ipynb", "Default group_assignsubmission_file_/hw.ipynb"]
    names += ["Participant 7_7_assignsubmission_onlinetext_/onlinetext.html", "Ann_B_9_assignsubmission_file/hw.ipynb"]
    assert rows(handed_in({name: notebook(mark=name) for name in names})) == ["12", "7", "9", "Default group"]


def test_a_plain_folder_beside_moodles_is_a_student_and_is_said(handed_in):
    found = handed_in({"Ann Ng_12_assignsubmission_file_/hw.ipynb": notebook(), "zoe/hw.ipynb": notebook(mark="z")})
    assert rows(found) == ["12", "zoe"]
    assert "1 names are as Moodle writes them, and zoe not" in said(found)


def test_one_number_of_two_names_is_two_people_and_is_said(handed_in):
    files = {f"{who}_1_assignsubmission_file_/hw.ipynb": notebook(mark=who) for who in ("Ann", "Ben")}
    found = handed_in(files)
    assert rows(found) == ["1 (Ann)", "1 (Ben)"]
    assert "1 stands for Ann and for Ben: each has a row" in said(found)


def test_two_of_a_gradescope_group_without_numbers_are_two_people(handed_in):
    metadata = b"submission_5:\n  :submitters:\n  - :name: Ann\n  - :name: Ben\n"
    files = {
        "submission_metadata.yml": metadata,
        "submission_5/hw.ipynb": notebook(),
        "submission_6/hw.ipynb": scratch(),
    }
    found = handed_in(files)
    assert rows(found) == ["submission_5 (Ann)", "submission_5 (Ben)", "submission_6"]
    assert "submission_5 was handed in by Ann and Ben together: it counts for each of them" in said(found)
    assert "Handed in together with Ben." in found.submissions[0].notes


def test_a_students_own_list_of_submitters_gives_nobody_elses_work_away(handed_in):
    forged = b"ben:\n  :submitters:\n  - :name: Eve\n    :sid: eve\n"
    files = {"ben/hw.ipynb": notebook(mark="ben"), "eve/hw.ipynb": scratch(), "eve/submission_metadata.yml": forged}
    found = handed_in({**files, "eve/deep/submission_metadata.yml": forged})
    assert chosen(found) == {"ben": notebook(mark="ben"), "eve": scratch()}


# Sections, groups, sheets


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["Section A/anna/", "Section A/ben/", "Section B/carl/"], ["Section A", "Section A", "Section B"]),
        (
            ["Section A/anna.ipynb", "Section A/ben.ipynb", "Section B/carl.ipynb"],
            ["Section A", "Section A", "Section B"],
        ),
        (["Übungsgruppe Müller/anna/", "Übungsgruppe Müller/ben/"], ["Übungsgruppe Müller", "Übungsgruppe Müller"]),
        (["Prof X/anna/", "Prof X/ben/", "Prof Y/carl/", "Prof Y/dora/"], ["Prof X", "Prof X", "Prof Y", "Prof Y"]),
        (["A/anna.ipynb", "A/ben.ipynb", "B/carl.ipynb", "B/dora.ipynb"], ["A", "A", "B", "B"]),
        (["Section A/Group 1/anna/", "Section A/Group 2/ben/"], ["Section A/Group 1", "Section A/Group 2"]),
        (
            ["Section A/gruppe_1/", "Section A/gruppe_2/", "Section B/gruppe_3/"],
            ["Section A", "Section A", "Section B"],
        ),
        (
            ["Prof X/Gruppe 1/", "Prof X/Gruppe 2/", "Prof Y/Gruppe 3/", "Prof Y/Gruppe 4/"],
            ["Prof X"] * 2 + ["Prof Y"] * 2,
        ),
        (["Section A/anna/01_perceptron/", "Section B/ben/exercises/"], ["Section A", "Section B"]),
        (
            ["Section A/Ann_1_assignsubmission_file_/", "Section B/Ben_2_assignsubmission_file_/"],
            ["Section A", "Section B"],
        ),
        (
            ["Section A/anna_01_perceptron.ipynb", "Section A/ben/", "Section B/carl.zip"],
            ["Section A", "Section A", "Section B"],
        ),
    ],
)
def test_sections_hold_students_and_are_none(handed_in, files, expected):
    found = handed_in({_with_work(name): _work(name) for name in files})
    assert len(rows(found)) == len(files)
    assert sorted(student.section for student in found.students.values()) == expected
    for name in {section.split("/")[-1] for section in expected}:
        assert f"{name} is taken for a section or group, not for a student: in it are" in said(found)
    assert all("Section or group: " in one.notes[0] for one in found.submissions)


@pytest.mark.parametrize(
    ("files", "students"),
    [
        (["anna/monday/", "anna/tuesday/", "ben/monday/", "ben/tuesday/"], ["anna", "ben"]),
        (["anna/attempt 1/", "anna/attempt 2/", "ben/"], ["anna", "ben"]),
        (["anna/course/exercises/", "anna/course/notebooks/", "ben/course/exercises/"], ["anna", "ben"]),
        (["anna/xor net/", "anna/curves/", "ben/", "carl/", "dora/hw/"], ["anna", "ben", "carl", "dora"]),
        (["Gruppe 1/", "Gruppe 2/", "Gruppe 3/abgabe/"], ["Gruppe 1", "Gruppe 2", "Gruppe 3"]),
        (["20231204/loss plots/", "20231205/my work/"], ["20231204", "20231205"]),
        (["007/", "008/data/", "0009/old/"], ["0009", "007", "008"]),
        (["Monday Okafor/xor/", "gruppe_1_1/curves/", "gruppe_1_2/"], ["Monday Okafor", "gruppe_1_1", "gruppe_1_2"]),
        (["Peter Loss/Loss_Peter.ipynb", "Neu/neu_final.ipynb"], ["Neu", "Peter Loss"]),
    ],
)
def test_folders_in_a_students_folder_make_no_section(handed_in, files, students):
    assert rows(handed_in({_with_work(name): _work(name) for name in files})) == students


def _with_work(name):
    return f"{name}hw.ipynb" if name.endswith("/") else name


def _work(name):
    return zipped({"hw.ipynb": notebook(mark=name)}) if name.endswith(".zip") else notebook(mark=name)


def test_folders_of_sheets_around_students_join_who_is_in_several(handed_in):
    other = "02_neurons_and_layers"
    files = {f"{sheet}/{who}/{sheet}.ipynb": b'{"cells": []}' for sheet in (SHEET, other) for who in ("anna", "ben")}
    found = handed_in(files, wanted=(SHEET, other))
    assert rows(found) == ["anna", "anna", "ben", "ben"]
    assert all(one.entries for one in found.submissions)


def test_the_same_id_in_two_sections_is_two_people_and_is_said(handed_in):
    found = handed_in({f"Section {which}/anna/hw.ipynb": notebook(mark=which) for which in "AB"})
    assert rows(found) == ["anna (Section A)", "anna (Section B)"]
    assert "anna is in Section A, Section B: taken for 2 people, who have a row each" in said(found)


def test_a_folder_that_a_student_made_takes_nobody_elses_row(handed_in):
    files = {"Group 1/ben/hw.ipynb": notebook(1, "group"), "Group 1/dora/hw.ipynb": notebook(1)}
    files["ben/hw.ipynb"] = notebook(3, "ben")
    found = handed_in({**files, "eve.zip": zipped({"ben/hw.ipynb": notebook(5, "eve"), "carl/hw.ipynb": notebook(5)})})
    assert chosen(found)["ben"] == notebook(3, "ben")
    assert rows(found) == ["ben", "ben (Group 1)", "dora", "eve"]


def test_a_class_of_one_folder_with_a_file_beside_it_is_no_student(handed_in):
    found = handed_in(
        {"ml26/anna/hw.ipynb": notebook(), "ml26/ben/hw.ipynb": notebook(mark="b"), "README.md": b"words"}
    )
    assert rows(found) == ["anna", "ben"]


def test_one_students_course_folder_is_one_student(tmp_path):
    files = {"exercises/01_perceptron.ipynb": notebook(), "notebooks/01_perceptron.ipynb": lesson(), "data/x.csv": b"1"}
    found = collect(folder(tmp_path / "anna", files), SHEETS)
    assert chosen(found) == {"anna": notebook()}


# Two under one name


def test_two_notebooks_that_could_be_two_peoples_are_said_on_the_console_and_in_the_report(handed_in):
    found = handed_in(
        {"peter/anna.ipynb": notebook(4, "a"), "peter/ben.ipynb": notebook(5, "b"), "zoe/hw.ipynb": notebook()}
    )
    (one,) = [one for one in found.submissions if one.student == "peter"]
    assert "peter: 2 notebooks for this sheet: ben.ipynb counts" in said(found)
    assert "If they are two people's, keep them in a folder for each" in said(found)
    assert "2 notebooks for this sheet: ben.ipynb counts" in one.notes[0]


def test_a_copy_of_the_same_bytes_is_not_worth_a_line(handed_in):
    found = handed_in({"anna/hw.ipynb": notebook(), "anna/old/hw.ipynb": notebook(), "ben/hw.ipynb": notebook(1)})
    assert not found.problems


def test_files_that_name_nobody_have_a_row_each_and_are_said(handed_in):
    names = [
        "01_perceptron.ipynb",
        "01_perceptron (1).ipynb",
        "01_perceptron-Copy1.ipynb",
        "homework.ipynb",
        "anna.ipynb",
    ]
    found = handed_in({name: notebook(mark=name) for name in names})
    assert len(set(chosen(found).values())) == len(names)
    assert "the name says nothing of whose it is; each such file has a row" in said(found)
    assert "anna.ipynb" not in said(found)


def test_ids_that_differ_in_capitals_only_are_two_rows_and_are_said(handed_in):
    found = handed_in({"anna/hw.ipynb": notebook(mark="1"), "Anna/hw.ipynb": notebook(mark="2")})
    assert rows(found) == ["Anna", "anna"]
    assert "'Anna' and 'anna' differ in capitals or spaces only: each has a row" in said(found)
    assert all("differ in capitals" in one.notes[0] for one in found.submissions)


def test_one_person_in_two_unicode_forms_is_one_and_is_said(handed_in):
    found = handed_in({"Mo\u0308ller/a.ipynb": notebook(mark="1"), "M\u00f6ller/b.ipynb": notebook(mark="1")})
    assert len(rows(found)) == 1
    assert "is written in 2 Unicode forms: taken for one person" in said(found)


@pytest.mark.parametrize("name", ["Ann & Bob", "ann+bob", "Ann Ng and Bob Lee", "Anna und Bert"])
def test_a_name_of_several_people_is_said(handed_in, name):
    found = handed_in({f"{name}/hw.ipynb": notebook(), "Sandy Underwood/hw.ipynb": notebook(1)})
    assert f"{name}: the name looks like several people's, and has one row" in found.problems
    assert len(found.problems) == 1


# The best fit


@pytest.mark.parametrize(
    "others",
    [
        {"Untitled.ipynb": scratch()},
        {"course/notebooks/01_perceptron.ipynb": lesson()},
        {"new/01_perceptron.ipynb": notebook(0)},
        {"new/01_perceptron.ipynb": notebook(2)},
        {"hw (2).ipynb": b'{"cells": ['},
        {"hw.ipynb.txt": b""},
        {"01_perceptron-checkpoint.ipynb": notebook()},
        {"a.ipynb": scratch(), "b.ipynb": lesson(), "c.ipynb": notebook(0)},
    ],
)
def test_the_notebook_that_holds_most_counts_before_the_newest(tmp_path, others):
    root = folder(tmp_path / "c", {f"anna/{name}": content for name, content in others.items()})
    folder(root, {"anna/course/exercises/01_perceptron.ipynb": notebook(mark="right")})
    os.utime(root / "anna/course/exercises/01_perceptron.ipynb", (1e9, 1e9))
    found = collect(root, SHEETS, (SHEET,))
    assert chosen(found) == {"anna": notebook(mark="right")}
    assert "as it holds most of the sheet's answers" in found.submissions[0].notes[0] or "checkpoint" in str(others)


def test_answers_in_a_notebook_of_ones_own_count_before_an_untouched_sheet(handed_in):
    own = notebook(2, stubs=False, metadata=False, title="My answers")
    assert chosen(handed_in({"anna/01_perceptron.ipynb": notebook(0), "anna/mine.ipynb": own}, wanted=(SHEET,))) == {
        "anna": own
    }


def test_a_lesson_alone_is_not_taken_for_the_sheet(handed_in):
    found = handed_in({"anna/notebooks/01_perceptron.ipynb": lesson(), "ben/hw.ipynb": notebook()})
    anna = found.submissions[0]
    assert not anna.entries
    assert "notebooks/01_perceptron.ipynb is the lesson of that name" in anna.reason


def test_lessons_name_no_sheet_to_grade(handed_in):
    other = lesson().replace(b"# 01", b"# 02")
    found = handed_in({"anna/01_perceptron.ipynb": notebook(), "anna/notebooks/02_neurons_and_layers.ipynb": other})
    assert found.sheets == (SHEET,)


def test_a_file_with_the_name_of_another_sheet_is_sorted_by_its_cells(handed_in):
    found = handed_in({"anna/02_neurons_and_layers.ipynb": notebook() + b" ", "ben/hw.ipynb": notebook()})
    assert found.sheets in ((SHEET,), ("01_perceptron", "02_neurons_and_layers"))


def test_other_attempts_are_kept_with_their_times(tmp_path):
    root = folder(
        tmp_path / "c", {f"anna/v{n}.ipynb": notebook(5, f"{n}") for n in range(3)} | {"anna/x.ipynb": scratch()}
    )
    for n in range(3):
        os.utime(root / f"anna/v{n}.ipynb", (1e9 + 100 * n, 1e9 + 100 * n))
    (one,) = collect(root, SHEETS).submissions
    assert (one.names, one.modified) == (("v2.ipynb",), 1e9 + 200)
    assert [(other.names, other.modified) for other in one.others] == [(("v1.ipynb",), 1e9 + 100), (("v0.ipynb",), 1e9)]
    assert one.others[0].load()[0][0][1] == notebook(5, "1")


# Nobody disappears

REFUSED = {
    "damaged zip": ({"hw.zip": b"PK no zip"}, "Handed in hw.zip, which is no zip that can be opened (BadZipFile"),
    "rar by another name": ({"hw.zip": b"Rar!\x1a\x07"}, "it is a rar archive"),
    "empty zip": ({"hw.zip": zipped({})}, "Handed in hw.zip, which is an archive without a file."),
    "zip of junk": ({"hw.zip": zipped({"__MACOSX/._x.ipynb": b"1"})}, "which is an archive without a file."),
    "7z": ({"hw.7z": b"7z\xbc\xaf\x27\x1c"}, "Handed in hw.7z, which is a 7z archive, and those are not opened."),
    "packed notebook": ({"hw.ipynb.gz": b"\x1f\x8b"}, "Handed in hw.ipynb.gz, which is a packed file"),
    "bomb": ({"hw.zip": zipped({"hw.ipynb": b"0" * 9_000_000})}, "as a bomb does"),
    "tar bomb": ({"hw.tgz": tarred({"hw.ipynb": b"0" * (3 << 20)})}, "it unpacks to more than 2,097,152 bytes"),
    "damaged tar": ({"hw.tar.gz": tarred({"hw.ipynb": b"1" * 999})[:60]}, "is no tar.gz that can be opened"),
    "link in a tar": ({"hw.tar": tarred({"hw.ipynb": "/etc/passwd"}, "w")}, "Handed in hw/hw.ipynb, which is a link."),
    "device in a zip": ({"hw.zip": zipped({"../hw.ipynb": b"1"})}, "which leads out of the archive"),
    "zip in a zip": ({"hw.zip": zipped({"in.zip": zipped({"hw.ipynb": b"1"})})}, "which is an archive in an archive"),
    "large file alone": (
        {"hw.pdf": random.Random(0).randbytes(2 << 20)},
        "No notebook was handed in; there is hw.pdf of 2,097,152 bytes.",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("where", ["folder", "loose"])
def test_who_handed_in_what_is_refused_has_a_row_with_the_reason(handed_in, monkeypatch, what, where):
    monkeypatch.setattr(archive, "MOST_FILE", 2 << 20)
    files, reason = REFUSED[what]
    mine = {
        f"anna/{name}" if where == "folder" else name.replace("hw", "anna", 1): text for name, text in files.items()
    }
    found = handed_in({**mine, "ben/hw.ipynb": notebook()}, wanted=(SHEET,))
    assert rows(found) == ["anna", "ben"]
    anna = found.submissions[0]
    assert anna.refused
    assert not anna.entries
    expected = (
        reason if where == "folder" else reason.replace("Handed in hw", "Handed in anna").replace("is hw", "is anna")
    )
    if where == "loose" and "hw/" in reason:  # what is named is then in the archive anna
        expected = reason.partition(", ")[2]
    assert expected in anna.reason


def test_an_empty_folder_is_said_to_be_empty(tmp_path):
    found = collect(folder(tmp_path / "c", {"anna/": b"", "ben/hw.ipynb": notebook(), "carl/": b""}), SHEETS)
    assert rows(found) == ["anna", "ben", "carl"]
    assert found.submissions[0].reason == "Nothing was handed in for this sheet: the folder anna is empty."
    assert not found.submissions[0].refused


def test_who_left_only_what_systems_leave_behind_has_a_row(handed_in):
    files = {
        "anna/.ipynb_checkpoints/hw-checkpoint.ipynb": notebook(),
        "ben/hw.ipynb": notebook(),
        "carl/.DS_Store": b"1",
    }
    assert rows(handed_in(files)) == ["anna", "ben", "carl"]


def test_a_notebook_counts_and_the_damaged_zip_beside_it_is_a_note(handed_in):
    found = handed_in({"anna/hw.ipynb": notebook(), "anna/new.zip": b"none", "ben/hw.ipynb": notebook(1)})
    assert chosen(found)["anna"] == notebook()
    assert "Handed in new.zip, which is no zip that can be opened" in found.submissions[0].notes[0]


def test_the_reason_is_the_result_and_each_questions():
    questions = empty_questions([])
    question = {
        "id": "1",
        "title": "t",
        "kind": "function",
        "points": "0",
        "of": 2,
        "seconds": 0.0,
        "parts": [],
        "lost": [],
    }
    result = missing("anna", SHEET, [*questions, question], reason="Handed in hw.zip, which is none.", refused=True)
    assert (result["status"], result["says"]) == ("unreadable", "Handed in hw.zip, which is none.")
    assert result["questions"][0]["lost"] == ["Handed in hw.zip, which is none."]
    assert (result["points"], result["of"]) == ("0", 2)
    assert missing("anna", SHEET, [question])["status"] == "nothing handed in"


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "tgz", "tar.bz2", "tar.xz"])
def test_a_tar_is_read_as_a_zip_is(handed_in, ending):
    mode = {"tar": "w", "tar.bz2": "w:bz2", "tar.xz": "w:xz"}.get(ending, "w:gz")
    made = tarred(
        {"work/hw.ipynb": notebook(mark="tar"), "work/data/x.csv": b"1", "work/link.csv": "/etc/passwd"}, mode
    )
    found = handed_in({f"anna/hw.{ending}": made, f"ben.{ending}": made})
    assert chosen(found) == {"anna": notebook(mark="tar"), "ben": notebook(mark="tar")}
    assert found.submissions[0].names == ("hw.ipynb", "data/x.csv")
    assert "work/link.csv, which is a link" in found.submissions[0].notes[0]


# What goes along with a notebook


def test_files_beside_the_notebook_go_along_as_seen_from_its_folder(handed_in):
    files = {"work/hw.ipynb": notebook(), "work/helper.py": b"x = 1", "work/data/x.csv": b"1,2", "above.csv": b"no"}
    files |= {
        "work/other.ipynb": scratch(),
        "work/course_lib/checks.py": b"no",
        "work/big.npz": random.Random(0).randbytes((1 << 20) + 1),
    }
    files |= {"work/.hidden.py": b"no", "work/report.pdf": b"no", "elsewhere/y.csv": b"no", "work/course_lib.py": b"no"}
    found = handed_in({f"anna/{name}": content for name, content in files.items()} | {"ben/hw.ipynb": notebook(1)})
    anna = found.submissions[0]
    assert dict(anna.load()[0]) == {"hw.ipynb": notebook(), "helper.py": b"x = 1", "data/x.csv": b"1,2"}
    assert anna.names[0] == "hw.ipynb"
    assert "Not taken along with the notebook: big.npz; at most 20 files" in anna.notes[-1]


def test_files_that_the_notebook_speaks_of_go_first_and_there_are_few(handed_in):
    files = {f"anna/a{n:02d}.csv": b"1" for n in range(40)} | {"anna/zz_weights.npz": b"2"}
    found = handed_in(
        {**files, "anna/hw.ipynb": notebook(mark="np.load('zz_weights.npz')"), "ben/hw.ipynb": notebook()}
    )
    assert found.submissions[0].names[:3] == ("hw.ipynb", "zz_weights.npz", "a00.csv")
    assert len(found.submissions[0].names) == 21


def test_files_of_canvas_go_along_by_their_own_names(handed_in):
    files = {"ngann_12_34_hw.ipynb": notebook(), "ngann_12_35_helper.py": b"x", "leebob_13_36_hw.ipynb": notebook(1)}
    assert {one.student: one.names for one in handed_in(files).submissions}["12"] == ("hw.ipynb", "helper.py")


def test_a_script_counts_where_there_is_no_notebook_with_what_is_beside_it(handed_in):
    script = b"# %%\ndef fit_line(x, y):\n    return 1, 2\n"
    files = {
        "anna/a.txt": b"1",
        "anna/work/answers.py": script,
        "anna/work/helper.py": b"x = 1",
        "ben/hw.ipynb": notebook(),
    }
    found = handed_in(files)
    assert found.submissions[0].names == ("answers.py", "helper.py")


# One class, six ways


def homework(number):
    """What a student hands in: alone, with a helper, with the course around it, scratch beside it, or damaged."""
    right = notebook(number % 5 + 1, f"student {number}")
    if number == 29:
        return {"01_perceptron.zip": b"PK damaged"}
    more = [
        {},
        {"helper.py": b"k = 1", "data/x.csv": b"1"},
        {"Untitled.ipynb": scratch(), "01_perceptron-checkpoint.ipynb": notebook(0)},
    ]
    if number % 4 == 3:
        return {"course/exercises/01_perceptron.ipynb": right, "course/notebooks/01_perceptron.ipynb": lesson()}
    return {"01_perceptron.ipynb": right, **more[number % 4]}


@pytest.mark.parametrize("container", ["folder", "zip"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_class_of_30_has_30_rows_and_the_same_notebooks_in_every_layout(tmp_path, layout, container):
    files, ids = export(layout, [homework(number) for number in range(30)], late=[4])
    out = tmp_path / ("class.zip" if container == "zip" else "class")
    write(files, out)
    found = collect(out, SHEETS)
    assert sorted(ids) == rows(found)
    expected = {
        ids[n]: next(b for name, b in homework(n).items() if name.endswith(f"{SHEET}.ipynb")) for n in range(29)
    }
    assert chosen(found) == expected
    assert [one.student for one in found.submissions if one.refused] == [ids[29]]
    assert [one.student for one in found.submissions if one.late] == ([ids[4]] if layout == "canvas" else [])
    assert all(isinstance(student, Student) for student in found.students.values())
    helpers = {one.student: {*one.names[1:]} for one in found.submissions if len(one.names) > 1}
    assert helpers == {ids[n]: {"helper.py", "data/x.csv"} for n in range(29) if n % 4 == 1}


# Whatever the layout

PEOPLE = ["anna", "ben", "carl", "Dora", "émile", "Ngô_Thị", "王伟", "o'neill", "van_der_berg", "smith_2026", "lee-2"]
PEOPLE += ["007", "1234567", "20231204", "x9", "Loss", "Neu", "Peter_Layers", "s0123", "jan", "Müller", "abgabe_kim"]
PEOPLE += ["final_fantasy_fan", "hw_lee", "Zoë.K"]
HANDED = ("notebook", "notebook", "notebook", "renamed", "course", "zip", "tar", "damaged", "pdf", "7z")


def drawn(rng):
    """Return (files, [(marker or None)]) of a class in a layout drawn at random; a marker says who must be chosen."""
    people = rng.sample(PEOPLE, rng.randint(2, 9))
    layout = rng.choice(
        ["loose", "folders", "mixed", "sections", "year", "numbers", "moodle", "nested sections", "sheets"]
    )
    files, marks = {}, []
    for number, who in enumerate(people):
        what, mark = rng.choice(HANDED), f"mark {number}"
        work = notebook(rng.randint(1, 5), mark)
        as_file = layout in ("loose", "year", "numbers") or (layout == "mixed" and rng.random() < 0.5)
        stem = {"year": f"{who}_2026_01_perceptron", "numbers": f"kurs_{number}_1_{who}"}.get(layout, who)
        made = {
            "notebook": {f"{SHEET}.ipynb": work},
            "renamed": {"homework final (2).ipynb": work, "Untitled.ipynb": scratch()},
            "course": {f"course/exercises/{SHEET}.ipynb": work, f"course/notebooks/{SHEET}.ipynb": lesson()},
            "zip": {"hw.zip": zipped({f"deep/{SHEET}.ipynb": work, "notes.txt": b"1"})},
            "tar": {"hw.tar.gz": tarred({f"{SHEET}.ipynb": work})},
            "damaged": {"hw.zip": b"PK"},
            "pdf": {"hw.pdf": b"%PDF"},
            "7z": {"hw.7z": b"7z"},
        }[what]
        if as_file:
            name, content = next(iter(made.items()))
            ending = "." + name.split(".", 1)[1] if what in ("zip", "tar", "damaged", "pdf", "7z") else ".ipynb"
            files[stem + ending] = content
        else:
            around = {
                "sections": f"Section {'AB'[number % 2]}/",
                "nested sections": f"Sec {number % 2}/Group {number % 3}/",
                "sheets": f"{SHEET}/",
            }.get(layout, "")
            own = f"{who}_{300 + number}_assignsubmission_file_" if layout == "moodle" else who
            files |= {f"{around}{own}/{name}": content for name, content in made.items()}
        marks.append(mark.encode() if what not in ("damaged", "pdf", "7z") else None)
    return layout, files, marks


def test_in_layouts_drawn_at_random_nobody_disappears_and_nobody_merges(tmp_path):
    rng, seen = random.Random(15), set()
    for turn in range(100):
        layout, files, marks = drawn(rng)
        seen.add(layout)
        packed = rng.random() < 0.5
        source = zipped(files, tmp_path / f"{turn}.zip") if packed else folder(tmp_path / f"{turn}", files)
        found = collect(source, SHEETS, (SHEET,))
        told = f"turn {turn}, {layout}, {'zip' if packed else 'folder'}: {sorted(files)} became {rows(found)}"
        assert len(found.submissions) == len(marks), told
        contents = [content for one in found.submissions for name, content in one.load()[0] if name.endswith(".ipynb")]
        for mark in filter(None, marks):
            assert sum(mark + b'"' in content for content in contents) == 1, f"{mark} {told}"
        assert len(contents) == sum(mark is not None for mark in marks), told
        empty = [one for one in found.submissions if not one.entries]
        assert all(one.reason for one in empty), told
    assert len(seen) == 9
