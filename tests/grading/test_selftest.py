"""The grader holds against every hostile submission, at each level of isolation that works on this machine."""

import contextlib
from fractions import Fraction

import pytest

from course_lib.grading.final import finish
from course_lib.grading.levels import best_level, level
from course_lib.grading.report import write_report
from course_lib.grading.roster import Student
from course_lib.grading.sandbox import NoBox
from course_lib.grading.selftest import traces
from course_lib.grading.selftest.batch import judged, selected
from course_lib.grading.selftest.collection import FAMILIES
from course_lib.grading.selftest.kernel_sheet import KERNELS
from course_lib.grading.selftest.sheet import SHEET
from course_lib.grading.selftest.world import World
from course_lib.grading.similarity import alike
from course_lib.grading.store import fault
from course_lib.grading.summary import write_summary
from course_lib.grading.tables import write_grades

NAMES = [one.name for family in FAMILIES.values() for one in family]
ONLY_SOME = ("intrusions", "escapes", "neighbours", "greed")
"""Families whose submissions depend on the level; the others are graded at the best one."""


def batch(letter, families=()):
    """Return ({name: verdict}, traces) of a run at a level."""
    found = level(letter)
    if not found.works:
        pytest.skip(f"level {letter} does not work here: {found.says}")
    with World() as world:
        verdicts = {v.submission.name: v for v in judged(world, selected(families), letter)}
        return verdicts, traces.of_world(world)


def best():
    with contextlib.suppress(NoBox):
        return best_level().letter
    return ""


@pytest.fixture(scope="module")
def whole():
    if not best():
        pytest.skip("no level of isolation works on this machine: see `course grade --self-test`")
    return batch(best())


@pytest.mark.parametrize("name", NAMES)
def test_it_gets_its_fair_score_and_does_no_harm(whole, name):
    verdict = whole[0][name]
    assert not verdict.problems
    assert Fraction(verdict.result["points"]) == verdict.submission.fair


def test_honest_submissions_before_between_and_after_get_full_marks(whole):
    honest = [v for v in whole[0].values() if v.family == "honest"]
    assert len(honest) > len(NAMES) // 15
    assert {v.result["points"] for v in honest} == {"8", "2"}
    assert not [v.problems for v in honest if v.problems]


def test_nothing_outside_was_written_killed_reached_or_left(whole):
    assert whole[1] == []


def test_every_submission_has_a_result_and_none_is_the_graders_fault(whole):
    assert set(NAMES) < set(whole[0])
    assert not [name for name, v in whole[0].items() if v.result["status"] == "broken"]


def test_reports_tables_and_hints_of_all_of_them_are_written_and_show_only_text(whole, tmp_path):
    results = [{k: v for k, v in one.result.items() if k != "left"} for one in whole[0].values()]
    assert [why for r in results if (why := fault(r, r["student"], r["sheet"]))] == []
    students = {r["student"]: Student(r["student"]) for r in results}
    finals = [finish(r) for r in results]
    for one in finals:
        write_report(tmp_path, students[one["student"]], [one])
    write_grades(tmp_path, finals, students, (SHEET, KERNELS))
    found = alike({id: {r["student"]: r["answers"].get(id, "") for r in results} for id in ("00.1", "000.1")})
    write_summary(tmp_path, finals, students, (SHEET, KERNELS), found)
    pages = [file for file in tmp_path.iterdir() if file.suffix == ".html"]
    assert len(pages) == len(results) + 1
    for file in pages:
        text = file.read_text(encoding="utf-8")
        assert len(text) < 1 << 20, file.name
        assert "<script" not in text
        assert not set(text) & set(map(chr, (*range(9), *range(14, 32), 0x202E))), file.name


@pytest.mark.parametrize("letter", "ABC")
def test_each_other_level_holds_too(letter):
    if letter == best():
        pytest.skip(f"level {letter} is the best one here, and had all submissions")
    verdicts, left = batch(letter, ONLY_SOME)
    assert {name: v.problems for name, v in verdicts.items() if v.problems} == {}
    assert left == []
