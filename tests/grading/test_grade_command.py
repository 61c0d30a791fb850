"""`course grade`: from a folder of submissions to grades, reports and a summary; it resumes, and says what is wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from course_lib.cli import app
from course_lib.cli import grade as _  # noqa: F401  the function; its module is fetched below
from tests.grading.fakes import FakeTask, fake_grade, question

command = sys.modules["course_lib.cli.grade"]
SHEET = "04_backpropagation"
QUESTIONS = [question("04.1", "0", 2), question("04.2", "0", 3)]


@pytest.fixture(autouse=True)
def fakes(monkeypatch, tmp_path):
    """Put a fake grader and a made-up sheet in place, and a folder of keys into the current folder."""
    monkeypatch.setattr(command, "grader", lambda: (FakeTask, fake_grade))
    monkeypatch.setattr(command, "questions_of", lambda sheet: QUESTIONS)
    monkeypatch.setattr(command, "sandbox", lambda level: (level, ""))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "lesson04.py").write_text("KEYS = ()\n")


def hand_in(**students):
    for student, says in students.items():
        path = Path("in") / student / f"{SHEET}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(says)


def course(*arguments, exit_code=0):
    done = CliRunner().invoke(app, ["grade", "in", "-o", "out", "--keys", "keys", "--jobs", "2", *arguments])
    assert done.exit_code == exit_code, done.output
    return done.output


def grades():
    lines = Path("out/grades.csv").read_text(encoding="utf-8-sig").splitlines()
    return {line.split(",")[0]: line.split(",") for line in lines[1:]}


def test_a_class_is_graded_and_everything_is_written():
    hand_in(ann="fine", bob="fine", **{"=1+1": "fine", "Éve": "fine"})
    output = course("--preset", "canvas", "--preset", "moodle", "--preset", "nbgrader")
    assert "4 submissions of 4 students; 4 to grade" in output
    assert re.search(rf"4/4 .* {SHEET} graded 7/3 of 5 0.5 s", output)
    assert "4 graded\n" in output
    assert grades()["ann"][3:] == ["1", "1.3333", "graded", "B", "0", "2.3333", "5", "04.2 = 4/3; total = 7/3"]
    assert sorted(grades()) == ["'=1+1", "ann", "bob", "Éve"]
    assert sorted(path.name for path in Path("out").iterdir()) == [
        *("grades.csv", "grades_canvas.csv", "grades_nbgrader.csv", "reports", "reports.zip", "results"),
        *("similarity.csv", "similarity.html", "summary.html"),
    ]
    assert "no file for Moodle: its worksheet needs the participants' numbers" in output
    assert len(list(Path("out/reports").glob("*.html"))) == len(list(Path("out/results").glob("*.json"))) == 4


def test_a_rerun_grades_only_what_is_new_or_changed(tmp_path):
    log = tmp_path / "log"
    hand_in(ann=f"log={log} ", bob=f"log={log} ", eve=f"log={log} ")
    course()
    assert "3 submissions of 3 students; 0 to grade" in course()
    hand_in(bob=f"log={log} changed", kim=f"log={log} ")
    assert "4 submissions of 4 students; 2 to grade" in course()
    Path(f"out/results/eve--{SHEET}.json").write_text('{"stud')
    course()
    assert sorted(log.read_text().split()) == ["ann", "bob", "bob", "eve", "eve", "kim"]
    course("--regrade", "--only", "ann")
    assert sorted(log.read_text().split()) == ["ann", "ann", "bob", "bob", "eve", "eve", "kim"]
    Path("keys/lesson04.py").write_text("KEYS = (1,)\n")
    assert "4 to grade" in course()
    assert "4 to grade" in course("--level", "C")


def test_only_one_student_leaves_the_others_rows_open():
    hand_in(ann="fine", bob="fine")
    output = course("--only", "bob")
    assert "1 submission has no result yet; leave out --only" in output
    assert grades()["ann"][3:] == ["", "", "", "", "", "", "0", ""]
    assert grades()["bob"][5] == "graded"


@pytest.mark.parametrize("changed", ["files", "checks"])
def test_with_only_the_others_keep_their_marks_and_no_change_is_logged_for_them(changed):
    hand_in(ann="fine", bob="fine")
    course()
    before = grades()
    if changed == "files":
        hand_in(ann="fine, and newer")
    else:
        Path("keys/lesson04.py").write_text("KEYS = (1,)\n")
    output = course("--only", "bob")
    assert grades() == before
    assert not Path("out/changes.csv").exists()
    assert "1 submission has the result of an earlier run, with other files or other checks" in output
    assert "earlier run" not in course()
    assert grades() == before


def test_a_broken_submission_does_not_end_the_batch_and_gives_status_1():
    hand_in(ann="fine", bob="die", eve="raise", kim="forged", zoe="fine")
    output = course(exit_code=1)
    assert "3 broken, 2 graded" in output
    assert "broken: kim" in output
    assert "the grader's result is not sound" in output.lower()
    assert {id: row[5] for id, row in grades().items()} == {
        **dict(ann="graded", bob="broken", eve="broken", kim="broken", zoe="graded")
    }
    assert grades()["bob"][3:] == ["", "", "broken", "", "0", "", "5", ""]
    hand_in(bob="fine", eve="fine", kim="fine")
    assert "3 to grade" in course()


def test_a_broken_one_is_graded_again_without_regrade(tmp_path):
    hand_in(ann="raise")
    course(exit_code=1)
    assert "1 to grade" in course(exit_code=1)


def test_a_roster_manual_points_and_lateness_are_merged():
    hand_in(ann="fine", bob="fine")
    Path("roster.csv").write_text("student,name\nzoe,Zoe Z\nann,Ann Ng\n")
    Path("manual.csv").write_text("student,question,points,comment\nann,04.2,2.5,better than it looks\n")
    Path("late.csv").write_text("student,days\nann,2\n")
    options = ["--roster", "roster.csv", "--manual", "manual.csv", "--late", "late.csv", "--late-rule", "10%/day"]
    course(*options)
    assert list(grades()) == ["zoe", "ann", "bob"]
    assert grades()["zoe"][3:] == ["0", "0", "nothing handed in", "", "0", "0", "5", ""]
    assert grades()["ann"][1:] == ["Ann Ng", "", "1", "2.5", "graded", "B", "0.7", "2.8", "5", ""]
    report = Path("out/reports/ann.html").read_text()
    assert "better than it looks" in report
    assert "48 hours late" in report
    assert json.loads(Path(f"out/results/ann--{SHEET}.json").read_text())["points"] == "7/3"
    course()  # without the lists they are gone, and nothing was graded again
    assert grades()["ann"][8] == "2.3333"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--keys", "none"], "no keys: none"),
        (["--sheet", "4"], "no sheet 4; there are"),
        (["--level", "Z"], "no sandbox level 'Z'; there are A, B, C"),
        (["--level", "B", "--unsafe"], "exclude each other"),
        (["--preset", "blackboard"], "canvas, moodle, nbgrader"),
        (["--only", "nobody"], "'nobody', who handed nothing in"),
        (["--late-rule", "much"], "10%/day,max 50%"),
        (["--deadline", "soon"], "--deadline 'soon' is no time"),
        (["--attempts", "worst"], "last, best, before-deadline"),
        (["--attempts", "before-deadline"], "needs the deadline"),
        (["--late-marked", "some"], "'1 day' or '6 hours'"),
        (["--worksheet", "bad.csv"], "is no grading worksheet of Moodle"),
        (["--gradebook", "bad.csv"], "is no gradebook of Canvas"),
        (["--column", "04=x"], "--column is SHEET=NAME"),
        (["--extensions", "bad.csv"], "line 2: no student 'nobody'"),
        (["--manual", "bad.csv"], "line 2: no student 'nobody'"),
        (["--roster", "none.csv"], "cannot be read"),
        (["-o", "in/out"], "Name another folder"),
        (["-o", "keys/lesson04.py"], "File exists"),
        (["--scheduler", "tcp://127.0.0.1:1"], "pip install -e '.[cluster]'"),
    ],
)
def test_wrong_usage_has_status_2_and_says_what_to_do(arguments, says, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    Path("bad.csv").write_text("student,question,points\nnobody,04.1,1\n")
    hand_in(ann="fine")
    assert says in " ".join(course(*arguments, exit_code=2).split())


def test_a_sandbox_that_does_not_work_here_stops_before_anything_is_graded(monkeypatch):
    says = "level B does not work on this machine: no bwrap."
    monkeypatch.setattr(command, "sandbox", lambda level: (level, says))
    hand_in(ann="fine")
    assert "does not work on this machine: no bwrap." in course("--level", "A", exit_code=2)
    assert not list(Path("out/results").iterdir())


def test_without_arguments_it_says_what_it_needs():
    done = CliRunner().invoke(app, ["grade"])
    assert (done.exit_code, "SUBMISSIONS -o OUT" in done.output) == (2, True)


def test_submissions_that_are_not_there_or_empty_are_wrong_usage():
    assert "neither a folder nor a file" in course(exit_code=2)
    Path("in").mkdir()
    assert "in is empty. Name the folder" in course(exit_code=2)
    hand_in(ann="fine")
    Path("out").write_text("a file")
    assert "no results can be written to out" in course(exit_code=2)


def test_a_file_that_names_no_sheet_is_said_and_gives_status_1():
    hand_in(ann="fine")
    Path("in/bob").mkdir()
    Path("in/bob/hw.ipynb").write_text("fine")
    output = course(exit_code=1)
    assert "note: bob/hw.ipynb (bob) names no sheet: not graded" in output
    assert "2 to grade" in course("--sheet", SHEET, "--regrade")


def exported(**students):
    """Write the folder that Moodle's archive unpacks to: {name: (number, content)}."""
    for name, (number, says) in students.items():
        path = Path("in") / f"{name}_{number}_assignsubmission_file_" / f"{SHEET}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(says)


def test_a_moodle_class_goes_back_to_moodle():
    exported(**{"Ann Ng": (4711, "fine"), "Bob Lee": (4712, "fine"), "Eve": (4713, "raise")})
    Path("w.csv").write_text(
        'Identifier,Full name,Grade,Maximum Grade,"Last modified (grade)","Feedback comments"\n'
        "Participant 4711,Ann Ng,,5,-,keep me\nParticipant 4712,Bob Lee,1,5,-,\nParticipant 4713,Eve,3,5,-,\n"
    )
    output = course("--preset", "moodle", "--worksheet", "w.csv", exit_code=1)
    assert re.search(rf"/3  ?Ann Ng \(4711\)  ?{SHEET} ", output)
    assert "broken: Eve (4713)" in output
    assert "note: 2 of 3 lines of w.csv have a grade now" in output
    filled = Path(f"out/moodle_worksheet_{SHEET}.csv").read_text().splitlines()
    assert filled[1:] == [
        *("Participant 4711,Ann Ng,2.3333,5,-,keep me", "Participant 4712,Bob Lee,2.3333,5,-,"),
        "Participant 4713,Eve,3,5,-,",
    ]
    made = Path(f"out/grades_moodle_{SHEET}.csv").read_text()
    assert "Participant 4711,Ann Ng,,,,2.3333,5,Yes,,\n" in made
    names = zipfile.ZipFile(f"out/feedback_moodle_{SHEET}.zip").namelist()
    assert names[0] == "Ann Ng_4711_assignsubmission_file_/report.html"
    assert not Path("out/reports.zip").exists()


def test_a_canvas_class_goes_back_to_canvas():
    Path("in").mkdir()
    Path(f"in/ngann_LATE_4711_501_{SHEET}.ipynb").write_text("fine")
    Path(f"in/leebob_4712_502_{SHEET}.ipynb").write_text("fine")
    Path("g.csv").write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section,Backpropagation (9)\n    Points Possible,,,,,5\n"
        '"Ng, Ann",4711,,ann,A,\n"Lee, Bob",4712,,bob,A,1\n'
    )
    output = course("--gradebook", "g.csv", "--late-marked", "1 day", "--late-rule", "10%/day")
    assert "note: 2 cells of g.csv have a grade now" in output
    assert Path("out/canvas_gradebook.csv").read_text().splitlines()[2:] == [
        *('"Ng, Ann",4711,,ann,A,2.1', '"Lee, Bob",4712,,bob,A,2.3333')
    ]
    names = zipfile.ZipFile(f"out/feedback_canvas_{SHEET}.zip").namelist()
    assert sorted(names) == [f"leebob_4712_502_{SHEET}.ipynb", f"ngann_LATE_4711_501_{SHEET}.ipynb"]


def test_all_attempts_are_graded_once_and_the_best_counts(tmp_path):
    log = tmp_path / "log"
    hand_in(bob=f"log={log} ")
    for name, says in ((SHEET, "points=2"), (f"{SHEET} (1)", "points=1"), (f"{SHEET} (2)", "points=0")):
        path = Path("in/ann") / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"log={log} {says}")
    course()
    assert grades()["ann"][3] == "0"  # the last by name
    course("--attempts", "best")
    assert grades()["ann"][3] == "2"
    report = Path("out/reports/ann.html").read_text()
    assert "3 attempts, all graded" in report
    assert f"{SHEET}.ipynb counts, the best" in report
    assert "total" in Path("out/changes.csv").read_text(encoding="utf-8-sig").splitlines()[-1]
    assert "0 to grade" in course("--attempts", "best")
    assert sorted(log.read_text().split()) == ["ann", "ann", "ann", "bob"]
    course()
    assert grades()["ann"][3] == "0"


def test_the_last_attempt_before_the_deadline_counts_and_who_is_late_loses_points():
    hand_in(ann="points=2", bob="points=2")
    Path(f"in/ann/{SHEET} (1).ipynb").write_text("points=1")
    due = 1_900_000_000
    for name, seconds in ((f"ann/{SHEET}", -90), (f"ann/{SHEET} (1)", 9000), (f"bob/{SHEET}", 9000)):
        os.utime(f"in/{name}.ipynb", (due + seconds, due + seconds))
    deadline = ["--deadline", f"{datetime.fromtimestamp(due):%Y-%m-%d %H:%M:%S}"]
    output = course(*deadline, "--attempts", "before-deadline")
    assert "when things were handed in: the files' own times" in output
    assert (grades()["ann"][3], grades()["ann"][7]) == ("2", "0")
    assert (grades()["bob"][3], grades()["bob"][7]) == ("2", "0.3333")
    assert "the last before the deadline" in Path("out/reports/ann.html").read_text()
    Path("more.csv").write_text("student,days\nbob,1\n")
    course(*deadline, "--extensions", "more.csv")
    assert (grades()["ann"][3], grades()["bob"][7]) == ("1", "0")


def test_changed_marks_are_logged_and_an_unchanged_run_logs_nothing():
    hand_in(ann="fine", bob="fine")
    course()
    course()
    assert not Path("out/changes.csv").exists()
    Path("manual.csv").write_text("student,question,points,comment\nann,4.2,3,=better\n")
    course("--manual", "manual.csv")
    lines = Path("out/changes.csv").read_text(encoding="utf-8-sig").splitlines()
    assert [line.split(",")[1:5] for line in lines[1:]] == [
        *(["ann", "04.2", "1.3333", "3"], ["ann", f"total {SHEET}", "2.3333", "4"])
    ]
    course("--manual", "manual.csv")
    assert Path("out/changes.csv").read_text(encoding="utf-8-sig").splitlines() == lines


def test_only_finds_a_student_whose_zeros_are_lost():
    hand_in(**{"0012345": "fine", "bob": "fine"})
    course("--only", "12345")
    assert grades()["0012345"][5] == "graded"


def test_names_cannot_write_to_the_terminal():
    hand_in(**{"\x1b[2Jann": "die", "[red]bob": "fine"})
    output = course(exit_code=1)
    assert "\x1b[2J" not in output
    assert "[red]bob" in output
    assert "\\u001b[2Jann" in output


PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv.pop(1))
from tests.grading.fakes import FakeTask, fake_grade, question
from course_lib.cli import app
import course_lib.cli.grade
if __name__ == "__main__":
    command = sys.modules["course_lib.cli.grade"]
    command.grader = lambda: (FakeTask, fake_grade)
    command.questions_of = lambda sheet: [question("04.1", "0", 2), question("04.2", "0", 3)]
    command.sandbox = lambda level: (level, "")
    app(sys.argv[1:])
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_ending_the_grader_loses_nothing_that_was_finished(tmp_path, how):
    log = tmp_path / "log"
    hand_in(**{f"s{n}": f"log={log} " + ("slow=600 " if n == 9 else "") for n in range(10)})
    Path("program.py").write_text(PROGRAM)
    root = Path(command.__file__).parent.parent.parent
    arguments = ["grade", "in", "-o", "out", "--keys", "keys", "--jobs", "1"]
    process = subprocess.Popen(
        [sys.executable, "program.py", str(root), *arguments], start_new_session=True, stdout=subprocess.PIPE, text=True
    )
    for _line in process.stdout:
        if "9/10" in _line:
            break
    while "s9" not in log.read_text():  # until it is at the slow one
        time.sleep(0.05)
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # as a terminal sends it
    else:
        process.kill()
    rest = process.communicate(timeout=60)[0]  # ends only when the process at the slow one has ended too
    assert process.returncode == (130 if how == signal.SIGINT else -9)
    if how == signal.SIGINT:
        assert "stopped: 9 of 10 are graded and kept" in rest
    assert len(list(Path("out/results").glob("*.json"))) == 9
    hand_in(s9=f"log={log} ")
    assert "10 submissions of 10 students; 1 to grade" in course()
    assert sorted(log.read_text().split()) == sorted([*(f"s{n}" for n in range(10)), "s9"])


def test_the_self_test_is_given_level_and_console(monkeypatch):
    seen = []

    class Selftest:
        @staticmethod
        def run(level, console):
            seen.append((level, hasattr(console, "print")))
            return 3

    monkeypatch.setitem(sys.modules, "course_lib.grading.selftest", Selftest)
    monkeypatch.setattr("course_lib.grading.selftest", Selftest, raising=False)
    done = CliRunner().invoke(app, ["grade", "--self-test", "--level", "B"])
    assert (done.exit_code, seen) == (3, [("B", True)])
