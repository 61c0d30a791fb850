"""Of several attempts the one counts that the rule names; how late it is comes from a clock that can be trusted."""

from __future__ import annotations

import io
import json
import os
import time
import zipfile
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from course_lib.grading.adjust import read_rule
from course_lib.grading.attempts import attempts, before_deadline, best, undecided
from course_lib.grading.csvfile import BadTable
from course_lib.grading.deadline import Lateness, Times, read_extensions, read_time, times_of
from course_lib.grading.final import finish
from course_lib.grading.submissions import collect
from tests.grading.fakes import question, result

SHEET = "04_backpropagation"
SHEETS = (SHEET, "05_computation_graph")
DUE = read_time("2026-11-30 23:59")


def handed_in(root: Path, **files) -> Path:
    """Write files {name: (content, minutes after the deadline)}; a name's "__" is a folder."""
    for name, (content, minutes) in files.items():
        path = root / name.replace("__", "/")
        path = path.with_name(f"{path.name}.ipynb")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        os.utime(path, (DUE.timestamp() + 60 * minutes,) * 2)
    return root


@pytest.mark.parametrize(
    "text",
    [
        *(
            "2026-11-30 23:59",
            "2026-11-30",
            "30.11.2026 23:59",
            "2026-11-30T23:59",
            "30.11.2026",
            " 2026-11-30  23:59 ",
        ),
        *("Monday, 30 November 2026, 11:59 PM", "Monday, 30 November 2026, 23:59", "'2026-11-30 23:59"),
    ],
)
def test_a_time_is_read_in_each_form(text):
    assert read_time(text) == DUE


def test_where_a_rule_decides_the_line_for_the_instructor_names_no_other_choice(tmp_path):
    cells = [{"cell_type": "code", "source": f'def f(x):\n    return {n}\n\ncheck("04.1", f)'} for n in range(2)]
    files = {f"ann__{n}": (json.dumps({"cells": [cell]}), 0) for n, cell in enumerate(cells)}
    (line,) = collect(handed_in(tmp_path, **files), SHEETS).problems
    assert "counts" in line.partition("If they")[0]
    for rule in ("best", "before-deadline"):
        said = undecided(line, rule)
        assert said == (
            f"ann: 2 notebooks for this sheet: --attempts {rule} decides, and the report says which one counts. If "
            "they are two people's, keep them in a folder for each"
        )
    assert undecided("x.zip is a link: left out", "best") == "x.zip is a link: left out"


def test_a_time_with_its_zone_is_that_moment():
    moment = datetime(2026, 11, 30, 22, 59, tzinfo=UTC)
    for text in ("2026-11-30T23:59+01:00", "2026-11-30 22:59:00.000000000 Z", "2026-11-30 22:59 UTC"):
        assert read_time(text) == moment
    assert read_time("Monday, 30 November 2026, 12:05 AM").hour == 0
    assert read_time("Monday, 30 November 2026, 12:05 PM").hour == 12


@pytest.mark.parametrize(
    "text", ["", "-", "tomorrow", "11/30/2026", "3/4/2026 10:00", "2026-13-01", "30.2.2026", "1e9"]
)
def test_what_is_no_time_or_could_be_two_is_said(text):
    with pytest.raises(BadTable, match="2026-11-30 23:59"):
        read_time(text)


def listed(tmp_path, text):
    path = tmp_path / "extensions.csv"
    path.write_text(text)
    return path


def test_extensions_are_deadlines_or_days_or_hours_more(tmp_path):
    path = listed(tmp_path, f"student,deadline,days,hours,sheet\n7,02.12.2026 12:00,,,{SHEET}\nbob,,2,,\neve,,,1.5,\n")
    found = read_extensions(path, ["007", "bob", "eve"], (SHEET,), DUE)
    assert found == {
        ("007", SHEET): read_time("2026-12-02 12:00"),
        ("bob", SHEET): DUE + timedelta(days=2),
        ("eve", SHEET): DUE + timedelta(minutes=90),
    }


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("zoe,,1,,", "line 2: no student 'zoe'"),
        ("ann,,,,", "line 2: no time"),
        ("ann,2026-12-01,1,,", "line 2: deadline and days"),
        ("ann,12/1/2026,,,", "line 2: deadline '12/1/2026' is no time"),
        ("ann,,1,,06_x", "line 2: no sheet '06_x'"),
        ("ann,,1,,\nann,,2,,", "line 3: 'ann' is there already"),
    ],
)
def test_a_wrong_line_of_an_extension_is_named(tmp_path, line, says):
    path = listed(tmp_path, f"student,deadline,days,hours,sheet\n{line}\n")
    with pytest.raises(BadTable, match=says):
        read_extensions(path, ["ann"], (SHEET,), DUE)
    if ",1,," in line and "zoe" not in line and "2026" not in line:
        with pytest.raises(BadTable, match="more than which deadline"):
            read_extensions(path, ["ann"], (SHEET,), None)


def lateness_of(source: Path, worksheets=None, **more):
    found = collect(source, SHEETS, (SHEET,))
    return found, Lateness(deadline=DUE, times=times_of(found, source, worksheets or {}), **more)


def hours(found, late):
    return {one.student: late.of(one)[0] for one in found.submissions}


def test_late_is_what_comes_after_the_minute_of_the_deadline(tmp_path):
    root = handed_in(tmp_path / "in", ann__hw=("1", 0.9), bob__hw=("1", 61), eve__hw=("1", -500))
    found, late = lateness_of(root)
    assert hours(found, late) == {"ann": None, "bob": Fraction(3601, 3600), "eve": None}
    note = late.of(found.submissions[1])[1]
    assert note == "Handed in 2026-12-01 01:00; the deadline was 2026-11-30 23:59."
    _, late = lateness_of(root, extended={("bob", SHEET): DUE + timedelta(days=1)})
    assert hours(found, late)["bob"] is None
    assert "(extended)" in late.of(found.submissions[1])[1]
    _, late = lateness_of(root, listed={("bob", SHEET): Fraction(5)})
    assert hours(found, late)["bob"] == 5


def test_files_that_all_have_one_time_say_nothing_about_when(tmp_path):
    found, late = lateness_of(handed_in(tmp_path / "in", ann__hw=("1", 600), bob__hw=("1", 601)))
    assert hours(found, late) == {"ann": None, "bob": None}
    assert "all files have one time" in late.times.says
    assert late.unknown(found.submissions) == 2


def exported(tmp_path, *names, minutes=9000):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for at, name in enumerate(names):
            when = datetime.fromtimestamp(DUE.timestamp() + 60 * minutes + 3600 * at)
            archive.writestr(zipfile.ZipInfo(name, when.timetuple()[:6]), b"1")
    return path


@pytest.mark.parametrize(
    "names",
    [
        ("Ann Ng_4711_assignsubmission_file_/hw.ipynb", "Bob Lee_4712_assignsubmission_file_/hw.ipynb"),
        ("ngann_4711_55501_hw.ipynb", "leebob_4712_55502_hw.ipynb"),
    ],
)
def test_the_times_in_a_platforms_archive_are_of_the_download_and_do_not_count(tmp_path, names):
    found, late = lateness_of(exported(tmp_path, *names))
    assert hours(found, late) == {"4711": None, "4712": None}
    assert late.unknown(found.submissions) == 2


def test_moodles_worksheet_says_when(tmp_path):
    path = tmp_path / "worksheet.csv"
    path.write_text(
        'Identifier,Grade,"Last modified (submission)","Last modified (grade)"\n'
        'Participant 4711,,"Tuesday, 1 December 2026, 1:59 AM",-\nParticipant 4712,,-,-\n'
    )
    names = ("Ann Ng_4711_assignsubmission_file_/hw.ipynb", "Bob Lee_4712_assignsubmission_file_/hw.ipynb")
    found, late = lateness_of(exported(tmp_path, *names), {SHEET: path})
    assert hours(found, late) == {"4711": Fraction(2 * 3600 - 59, 3600), "4712": None}
    path.write_text(path.read_text().replace("December", "Dezember"))
    with pytest.raises(BadTable, match="no time in English"):
        lateness_of(exported(tmp_path, *names), {SHEET: path})


def test_gradescopes_list_says_when(tmp_path):
    metadata = "".join(
        f"submission_{n}:\n  :submitters:\n  - :name: N{n}\n    :sid: s{n}\n  :created_at: {when} Z\n  :score: 1.0\n"
        for n, when in ((1, "2026-11-29 10:00:00.5"), (2, "2026-12-05 10:00:00"))
    )
    path = tmp_path / "assignment_1_export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("assignment_1_export/submission_metadata.yml", metadata)
        for n in (1, 2):
            archive.writestr(f"assignment_1_export/submission_{n}/hw.ipynb", b"1")
    found, late = lateness_of(path)
    late_hours = hours(found, late)
    assert late_hours["s1"] is None
    assert 90 < late_hours["s2"] < 130


def test_a_time_in_a_students_own_archive_is_the_students(tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr(zipfile.ZipInfo("hw.ipynb", (2000, 1, 1, 0, 0, 0)), b"1")
    path = tmp_path / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("ann/work.zip", (2026, 12, 9, 0, 0, 0)), inner.getvalue())
        archive.writestr(zipfile.ZipInfo("bob/hw.ipynb", (2026, 12, 2, 0, 0, 0)), b"1")
    found, late = lateness_of(path)
    assert hours(found, late)["ann"] is None
    assert late.unknown(found.submissions) == 1
    assert hours(found, late)["bob"] > 23


def test_what_canvas_marks_as_late_counts_only_when_asked(tmp_path):
    source = exported(tmp_path, "ngann_LATE_4711_55501_hw.ipynb", "leebob_4712_55502_hw.ipynb")
    found = collect(source, SHEETS, (SHEET,))
    assert hours(found, Lateness()) == {"4711": None, "4712": None}
    assert hours(found, Lateness(marked=Fraction(24))) == {"4711": 24, "4712": None}
    assert hours(found, Lateness(marked=Fraction(24), listed={("4711", SHEET): Fraction(3)}))["4711"] == 3
    extended = {("4711", SHEET): DUE + timedelta(days=9)}
    assert hours(found, Lateness(marked=Fraction(24), extended=extended))["4711"] is None


def three(tmp_path, first=-100, second=-10, third=100):
    root = tmp_path / "in"
    handed_in(root, ann__hw=("1", first), **{"ann__hw (1)": ("22", second), "ann__hw (2)": ("333", third)})
    return lateness_of(handed_in(root, bob__hw=("1", -5000)))


def test_attempts_are_in_their_order_and_the_one_that_counts_by_itself_is_last(tmp_path):
    found, _ = three(tmp_path)
    assert [one.entries[0].name for one in attempts(found.submissions[0])] == [
        "hw.ipynb",
        "hw (1).ipynb",
        "hw (2).ipynb",
    ]


@pytest.mark.parametrize(
    ("minutes", "name", "why"),
    [
        ((-100, -10, 100), "hw (1).ipynb", "the last before the deadline"),
        ((-100, -50, -10), "hw (2).ipynb", "the last before the deadline"),
        ((-100, 10, 100), "hw.ipynb", "the last before the deadline"),
        ((10, 20, 100), "hw (2).ipynb", "none was in time"),
    ],
)
def test_the_last_attempt_before_the_deadline_counts(tmp_path, minutes, name, why):
    found, late = three(tmp_path, *minutes)
    chosen = before_deadline(found.submissions[0], late)
    assert chosen.entries[0].name == name
    assert why in chosen.notes[0]
    assert not any("notebooks for this sheet" in note for note in chosen.notes)
    assert before_deadline(found.submissions[1], late) == found.submissions[1]


def test_an_extension_moves_the_deadline_of_the_attempts(tmp_path):
    found, late = three(tmp_path)
    late = Lateness({}, DUE, {("ann", SHEET): DUE + timedelta(days=1)}, late.times)
    assert before_deadline(found.submissions[0], late).entries[0].name == "hw (2).ipynb"


def test_without_a_known_time_the_last_counts(tmp_path):
    found, _ = three(tmp_path)
    chosen = before_deadline(found.submissions[0], Lateness(deadline=DUE, times=Times()))
    assert chosen.entries[0].name == "hw (2).ipynb"
    assert "no time is known" in chosen.notes[0]


def test_the_best_attempt_counts_after_what_being_late_costs(tmp_path):
    found, _ = three(tmp_path)
    tried = attempts(found.submissions[0])
    points = ["5", "4", "6"]
    finals = [finish(result("ann", questions=[question("04.1", p, 9)])) for p in points]
    counted, made = best(list(zip(tried, finals, strict=True)))
    assert (counted.entries[0].name, made["total"]) == ("hw (2).ipynb", "6")
    assert made["notes"] == [
        "3 attempts, all graded (hw.ipynb: 5, hw (1).ipynb: 4, hw (2).ipynb: 6): hw (2).ipynb counts, the best."
    ]
    finals[2] = finish(result("ann", questions=[question("04.1", "6", 9)]), None, Fraction(48), read_rule("10%/day"))
    assert best(list(zip(tried, finals, strict=True)))[0].entries[0].name == "hw.ipynb"
    finals[2] = finals[0]
    assert best(list(zip(tried, finals, strict=True)))[0].entries[0].name == "hw (2).ipynb"  # as good, and later


def test_the_clock_of_this_machine_reads_its_own_times():
    now = time.time()
    assert abs(read_time(datetime.fromtimestamp(now).strftime("%Y-%m-%d %H:%M:%S")).timestamp() - now) < 1
