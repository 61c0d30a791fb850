"""changes.csv says each mark that a run changed, when and why, and grows only then."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from fractions import Fraction

import pytest

from course_lib.grading.adjust import Manual, read_rule
from course_lib.grading.changes import log_changes
from course_lib.grading.final import finish
from tests.grading.fakes import question, result

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SHEET = "04_backpropagation"
WHEN = "2026-11-30 12:00:00+00:00"


def made(points="4/3", status="graded", key="k", **more):
    questions = [question("04.1", "1", 2), question("04.2", points, 3), question("04.3", "0", 5, kind="text")]
    return finish(result("ann", questions=questions, status=status, key=key), **more)


def rows(folder):
    with open(folder / "changes.csv", encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


@pytest.fixture
def log(tmp_path):
    (tmp_path / "results").mkdir()

    def run(*finals, files="f"):
        before = (tmp_path / "changes.csv").read_bytes() if (tmp_path / "changes.csv").exists() else b""
        path = log_changes(tmp_path, list(finals), {("ann", SHEET): files}, NOW)
        after = (tmp_path / "changes.csv").read_bytes() if (tmp_path / "changes.csv").exists() else b""
        assert after.startswith(before)
        assert bool(path) == (after != before)
        return [row[1:] for row in rows(tmp_path)[1:]] if after else []

    return run


def test_first_marks_and_the_same_marks_again_are_no_change(log):
    assert log(made()) == []
    assert log(made()) == []
    assert log() == []
    assert log(made()) == []


@pytest.mark.parametrize(
    ("after", "files", "why"),
    [
        (dict(points="2"), "other", "other files: a new submission, or another attempt"),
        (dict(points="2", key="other"), "f", "regrade: other checks or another version"),
        (dict(points="2"), "f", "regrade"),
        (dict(points="4/3", manual={("ann", "04.2"): Manual(Fraction(2), "see me")}), "f", "see me"),
    ],
)
def test_a_changed_question_is_there_with_its_total_and_why(log, after, files, why):
    log(made())
    first, second = log(made(**after), files=files)
    assert first[:4] == ["ann", "04.2", "1.3333", "2"]
    assert second[:4] == ["ann", f"total {SHEET}", "2.3333", "3"]
    assert why in first[4]
    assert why in second[4]
    assert len(log(made(**after), files=files)) == 2


def test_points_by_hand_for_an_answer_in_words_come_from_nothing(log):
    log(made())
    found = log(made(manual={("ann", "04.3"): Manual(Fraction(4), "=good")}))
    assert found[0] == ["ann", "04.3", "", "4", "manual: Graded by hand: =good"]
    found = log(made())
    assert found[2][:4] == ["ann", "04.3", "4", ""]
    assert "no longer" in found[2][4]


def test_being_late_changes_the_total_alone(log):
    log(made())
    ((student, what, _, to, why),) = log(made(hours=Fraction(30), rule=read_rule("10%/day")))
    assert (student, what, to) == ("ann", f"total {SHEET}", "1.8667")
    assert why.startswith("late: 30 hours late")


def test_a_failure_of_the_grader_and_its_end_are_changes(log):
    log(made())
    broken = finish(result("ann", status="broken", questions=[]), questions=[question("04.1", "0", 2)])
    assert ["ann", "04.1", "1", "", "the grader failed"] in log(broken)
    assert log(made())[-1][:4] == ["ann", f"total {SHEET}", "", "2.3333"]


def test_a_difference_that_four_places_do_not_show_is_written_as_a_fraction(log):
    log(made())
    assert log(made(points="133333/100000"))[0][2:4] == ["4/3", "133333/100000"]


def test_no_cell_is_a_formula_and_a_table_saved_with_semicolons_goes_on_with_them(tmp_path, log):
    log(made())
    log(made(points="2"))
    path = tmp_path / "changes.csv"
    assert rows(tmp_path)[:2] == [
        ["when", "student", "question", "from", "to", "why"],
        [WHEN, "ann", "04.2", "1.3333", "2", "regrade"],
    ]
    path.write_text("when;student;question;from;to;why")
    log(made(manual={("ann", "04.2"): Manual(Fraction(1), "x")}))
    assert path.read_text().splitlines()[1].split(";")[1:5] == ["ann", "04.2", "2", "1"]


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"ann\\n04_backpropagation": 3}', b'{"a": {}}'])
def test_marks_that_cannot_be_read_are_as_none(tmp_path, log, content):
    (tmp_path / "results" / "marks").write_bytes(content)
    assert log(made()) == []
    assert len(log(made(points="2"))) == 2
