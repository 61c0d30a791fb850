"""The leaderboard: places, ties, who has no time, names that are shown, and that nothing a student wrote is more."""

import csv
import re
from types import SimpleNamespace

import pytest

from course_lib.checks.predicted import COUNTER
from course_lib.checks.registry import sheet
from course_lib.grading.leaderboard import add_times, entries_of, placed
from course_lib.grading.leaderboard_page import write_leaderboard

SHEET = "project_convolution"
C1, C3 = "project.10", "project.11"
STAGES = ("project.1", "project.3", "project.4", "project.6", "project.8")


def final(student, team="", times=(), stages=(), points="4", text="", key=""):
    """A final result: times of C1 and C3 in microseconds, None where there is no right kernel."""
    times = dict(zip((C1, C3), times, strict=False))
    questions = []
    for exercise in sheet(SHEET).exercises:
        counts = {COUNTER: times[exercise.id], "flops": 1} if times.get(exercise.id) else {}
        right = exercise.id in stages
        got = str(exercise.points) if right else points if counts else "0"
        parts = [{"name": "public", "passed": bool(counts), "counts": counts}]
        about = {"id": exercise.id, "points": got, "of": exercise.points, "kind": exercise.kind}
        questions.append({**about, "parts": parts})
    answers = {id: f"{text}{student}" for id in times}
    return {"student": student, "sheet": SHEET, "key": key or student, "files": ["a.ipynb"], "team": team,
            "questions": questions, "answers": answers}  # fmt: skip


def order(*finals, measure=None):
    """[(place, name, stage)] of results."""
    entries = entries_of(list(finals), sheet(SHEET).exercises)
    if measure:
        add_times(entries, sheet(SHEET).exercises, measure)
    return [(entry.place, entry.name, entry.stage) for entry in placed(entries)]


def test_places_go_by_layers_then_by_the_sum_and_equal_sums_share_one():
    found = order(
        final("s1", "one layer", (1.0, None)), final("s2", "slow", (500, 400)), final("s3", "same", (100, 200)),
        final("s4", "equal", (200, 100.04)), final("s5", "nothing"),
    )  # fmt: skip
    assert [place for place, _, _ in found] == [1, 1, 3, 4, None]
    assert [name for _, name, _ in found][2:] == ["slow", "one layer", "nothing"]


def test_the_stage_is_the_last_whose_kernels_are_all_right():
    assert order(final("s1", "a", stages=STAGES[:2]))[0][2] == "1"
    assert order(final("s1", "a", stages=STAGES[:3]))[0][2] == "2"
    assert order(final("s1", "a", stages=STAGES[4:]))[0][2] == "4"
    assert order(final("s1", "a"))[0][2] == "none"
    assert order(final("s1", "a", (None, 7)))[0][2] == "free"


def test_those_without_a_kernel_stand_by_their_stage():
    found = order(final("s1", "low", stages=STAGES[:1]), final("s2", "high", stages=STAGES[:4]), final("s3", "none"))
    assert [name for _, name, _ in found] == ["high", "low", "none"]


def test_a_kernel_without_points_has_no_time():
    assert order(final("s1", "a", (10, 10), points="0"))[0] == (None, "a", "none")


def test_names_are_those_that_were_chosen_and_each_once():
    found = {name for _, name, _ in order(final("ann", "Twin"), final("bob", "twin"), final("cem"), final("dan"),
                                          final("eve", "team 1"))}  # fmt: skip
    assert found - {"Twin", "twin", "Twin (2)", "twin (2)"} == {"team 1", "team 2", "team 3"}
    assert len(found) == 5


def test_students_who_handed_in_copies_of_one_notebook_are_one_team():
    ann, bob = final("ann", "A", (5, 5), key="k"), final("bob", "A", (5, 5), key="saved again")
    bob["answers"] = ann["answers"]
    (entry,) = entries_of([ann, bob], sheet(SHEET).exercises)
    assert entry.students == ["ann", "bob"]
    bob["team"] = "B"
    assert len(entries_of([ann, bob], sheet(SHEET).exercises)) == 2


def test_empty_sheets_of_two_students_are_no_team():
    assert [place for place, *_ in order(final("ann", key="k"), final("bob", key="k"))] == [None, None]


@pytest.mark.parametrize(
    "name", ["h\u0430lo", "\uff28\uff21\uff2c\uff2f", "Halo ", "H alo", "h\u00e4lo", "HAL\u039f"], ids=ascii
)
def test_a_name_that_looks_like_another_gets_a_number(name):
    shown = {shown for _, shown, _ in order(final("ann", "Halo", (5, 5)), final("bob", name, (9, 9)))}
    assert shown == {"Halo", f"{name} (2)".replace("  ", " ")} or shown == {"Halo", f"{name.strip()} (2)"}


def measure(times):
    """A measure that gives each student's kernels a time, None for a reason instead."""

    def all_of(wanted):
        replies = {}
        for exercise, text in wanted:
            seconds = times.get(text)
            replies[exercise.id, text] = {"reason": "" if seconds else "it is wrong at the full size", "vendor": 4e-4,
                                          "seconds": seconds, "against": "cuDNN", "card": "a card",
                                          "wrong": seconds == 0}  # fmt: skip
        return replies

    return all_of


def test_measured_times_decide_where_there_are_some_and_who_has_none_is_behind():
    finals = [final("s1", "predicted fast", (10, 10)), final("s2", "measured fast", (20, 20)),
              final("s3", "not measured", (1, 1))]  # fmt: skip
    found = order(*finals, measure=measure({"s1": 3e-4, "s2": 2e-4}))
    assert [(place, name) for place, name, _ in found] == [
        (1, "measured fast"), (2, "predicted fast"), (3, "not measured")
    ]  # fmt: skip


def test_a_kernel_that_is_wrong_at_the_full_size_has_no_place_and_the_reason_is_shown(tmp_path):
    finals = [final("s1", "right", (10, 10)), final("s2", "wrong there", (1, 1))]
    page, rows, _ = written(tmp_path, finals, {"s1": 1e-4, "s2": 0})
    assert [(row["place"], row["team"]) for row in rows] == [("1", "right"), ("", "wrong there")]
    assert "wrong there, C1: it is wrong at the full size" in page


def written(folder, finals, times=None):
    paths = write_leaderboard(folder, finals, sheet(SHEET), measure(times) if times else None)
    page, table, who = (path.read_text(encoding="utf-8-sig") for path in paths)
    return page, list(csv.DictReader(table.splitlines())), list(csv.DictReader(who.splitlines()))


def test_the_page_and_the_table_have_times_counts_and_the_share_of_the_vendor(tmp_path):
    page, (first, second), _ = written(
        tmp_path, [final("s1", "A", (100, 200)), final("s2", "B", (50, None))], {"s1": 8e-4, "s2": 2e-4}
    )
    assert first["team"] == "A"
    assert (first["C1 measured us"], first["C1 share of vendor"], first["C1 flops"]) == ("800", "0.50", "1")
    assert (second["C3 predicted us (H200)"], second["C3 share of vendor"]) == ("", "")
    assert "in turns with cuDNN, a card" in page
    assert "50%" in page


def test_a_reason_why_nothing_was_measured_is_told(tmp_path):
    page, rows, _ = written(tmp_path, [final("s1", "A", (100, 200)), final("s2", "B", (1, 1))], {"s1": 8e-4})
    assert "B, C1: it is wrong at the full size" in page
    assert rows[1]["C1 measured us"] == ""


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "=cmd|' /C calc'!A0", "\u202egnp.exe", "A\nB", "\x00"])
def test_a_name_is_shown_and_does_nothing(tmp_path, name):
    page, rows, _ = written(tmp_path, [final("s1", name, (100, 200))])
    assert "<script" not in page
    assert "\u202e" not in page + rows[0]["team"]
    assert rows[0]["team"][:1] not in "=+-@"


def test_no_id_of_a_student_is_on_the_page_or_in_the_table_and_one_list_tells_who_is_who(tmp_path):
    page, rows, who = written(tmp_path, [final("maria-secret", "", (100, 200)), final("otto-secret", "Otto's")])
    assert "secret" not in page + str(rows)
    assert {(row["student"], row["shown as"]) for row in who} == {
        ("maria-secret", "team 1"), ("otto-secret", "Otto's")
    }  # fmt: skip


def test_the_page_loads_nothing_and_has_no_script(tmp_path):
    page, _, _ = written(tmp_path, [final("s1", "A", (100, 200))])
    assert not re.search(r"<(script|link|img|iframe)|https?://|url\(", page)
    assert "default-src 'none'" in page


def test_nobody_handed_in_is_said(tmp_path):
    page, rows, who = written(tmp_path, [])
    assert "Nothing was handed in." in page
    assert (rows, who) == ([], [])


def test_a_sheet_without_times_has_no_layers():
    from course_lib.grading.leaderboard import layers_of

    assert layers_of([SimpleNamespace(title="A B")]) == {}
    assert list(layers_of(sheet(SHEET).exercises)) == ["C1", "C3"]
