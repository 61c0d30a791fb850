"""The card of a kernel shows its launch, what the executor found, what to do, and the picture that explains it."""

import re

import pytest

from course_lib.checks.card import card_of
from course_lib.checks.judge import judge
from course_lib.checks.kernels import run_kernel
from course_lib.checks.registry import find
from course_lib.figures import Picture
from course_lib.simt.hazards import Hazard
from course_lib.simt.show.explain import picture_of
from tests.exercises.test_kernels import ADD, cell

NAIVE_TURN = """
@gpu.jit
def turn_right(x, y):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        y[col, x.shape[0] - 1 - row] = x[row, col]
"""


def card(text, id="11.1", case=0):
    """The card of a wrong kernel in a public case."""
    exercise = find(id)
    case = exercise.cases[case]
    return card_of(exercise, judge(exercise, case, run_kernel(exercise, text, case)))


def rows(made):
    """The rows of a card, label -> text without marks."""
    return {row.label: row.text.replace("\ue000", "").replace("\ue001", "") for row in made.rows}


def test_an_access_outside_is_shown_with_the_launch_and_the_arrays_end():
    made = card(ADD.replace("    if i < c.size:\n        c[i]", "    c[i]"))
    said = rows(made)
    assert said["Call"].splitlines()[1:] == [
        "a = np.array([-1.0, 0.0, 5.0, 9.0, -9.0], np.float32)",
        "b = np.array([6.0, -5.0, -7.0, -4.0, -2.0], np.float32)",
        "c = gpu.empty((5,), np.float32)",
        "guarded_add[2, 64](a, b, c)",
    ]
    assert said["Got"].startswith("Line 5, c[i] = a[i] + b[i]: thread 5 of block 0 uses index 5 on a")
    assert said["What to do"].startswith("Guard the line: if ... < a.size.")
    picture = made.draw()
    assert isinstance(picture, Picture)
    assert picture.caption.startswith("a has elements 0 to 4; in line 5 thread 5 of block 0 uses index 5:")
    page = made._repr_mimebundle_()["text/html"]
    assert page.count("<img ") == 1
    assert picture.alt in str(made).replace("\n" + " " * 16, " ")


def test_too_many_sectors_are_shown_with_the_map_of_the_stores():
    made = card(NAIVE_TURN, "12.3")
    assert rows(made)["Got"] == "the right numbers, for 4,096 global store sectors"
    assert rows(made)["Expected"] == "at most 640 global store sectors"
    assert made.draw().caption.startswith("Line 6 stores to y.")


def test_bank_conflicts_are_shown_with_the_map_of_the_banks():
    made = card(cell("12.3").replace("33", "32"), "12.3")
    assert rows(made)["Got"].endswith("3,968 bank conflicts")
    assert "31 bank conflicts" in made.draw().caption


def test_a_queue_of_lanes_is_told_and_an_array_that_begins_with_a_number_is_shown_as_such():
    text = """
@gpu.jit
def grid_sum(x, total):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(total, 0, x[i])
"""
    made = card(text, "13.2")
    assert "total = gpu.to_device(np.full((1,), 0, np.float32))" in rows(made)["Call"].splitlines()
    assert (rows(made)["Got"], rows(made)["Expected"]) == (
        "the right numbers, for 300 atomic rounds", "at most 5 atomic rounds",
    )  # fmt: skip
    assert rows(made)["What to do"].startswith("Line 5: lanes of a warp do an atomic operation on the same element")
    assert made.draw() is None


def test_loads_over_the_budget_are_shown_with_the_map_of_the_loads():
    text = """
@gpu.jit
def smooth_tiled(x, y):
    i = cuda.grid(1)
    if i < y.size:
        acc = float32(0)
        for j in range(max(0, i - 2), min(x.size, i + 3)):
            acc += x[j]
        y[i] = acc
"""
    made = card(text, "15.3")
    assert "times on average. A variable keeps" in rows(made)["What to do"]
    assert re.match(r"Line \d+ loads from x\.", made.draw().caption)


def test_a_race_is_told_with_both_lines():
    made = card(cell("14.3").replace("        cuda.syncthreads()\n    if row", "    if row"), "14.3")
    assert "with no barrier between" in rows(made)["Got"]
    assert rows(made)["What to do"].startswith("Put cuda.syncthreads()")
    assert isinstance(made._repr_mimebundle_()["text/html"], str)


def test_what_nobody_wrote_is_marked():
    said = rows(card(ADD.replace("c.size", "c.size - 2")))
    assert said["Got"] == "[5.0, -5.0, -2.0, nan, nan]"
    assert said["Likely cause"] == "Nobody wrote c[3] and 1 more elements."


def test_zeros_that_were_written_are_not_said_to_be_only_allocated():
    said = rows(card(ADD.replace("a[i] + b[i]", "float32(0)")))
    assert said["Likely cause"].startswith("Every element was written, and each with zero")


def test_a_text_that_is_no_kernel_is_told_without_a_launch():
    said = rows(card(ADD.replace("@gpu.jit", "")))
    assert "write @gpu.jit" in said["Got"]
    assert "guarded_add(" in said["Call"]


@pytest.mark.parametrize("kind", ["barrier not reached", "unset variable", "out of bounds"])
def test_a_finding_that_no_map_explains_has_no_picture(kind):
    exercise = find("11.1")
    ((report, _),) = run_kernel(exercise, ADD.replace("<", "<="), exercise.cases[0]).found[:1]
    assert picture_of(report, Hazard(kind, 3, "m", "f", array="" if kind != "out of bounds" else "nowhere")) is None
