"""Which sheet a file is, by its name as students write it, or by the exercises that its cells speak of."""

import pytest

from course_lib.checks.registry import SHEETS
from course_lib.grading.sheet_names import Names

NAMES = Names(SHEETS)


@pytest.mark.parametrize("name", SHEETS)
def test_each_sheet_is_found_by_its_own_name(name):
    assert NAMES.in_text(name) == NAMES.in_text(f"ann_{name.upper()} (1)") == name
    assert NAMES.without(f"ann_{name}") == "ann"


@pytest.mark.parametrize(("text", "sheet"), {
    "convolution_project_ann": "project_convolution",
    "Convolution Project": "project_convolution",
    "project 07_convolution": "07_convolution",
    "convolution": "07_convolution",
    "gpu_programming_model": "11_gpu_programming_model",
    "homework": "",
}.items())  # fmt: skip
def test_words_in_another_order_name_a_sheet_without_a_number(text, sheet):
    assert NAMES.in_text(text) == sheet


@pytest.mark.parametrize(("cells", "sheet"), [
    (b'check("project.10", conv_c1)', "project_convolution"),
    (b"'grade_id': 'exercise-project-8'", "project_convolution"),
    (b'check("07.1", f)', "07_convolution"), (b'"projects.1"', ""),
])  # fmt: skip
def test_cells_tell_the_sheet_by_their_exercises(cells, sheet):
    assert NAMES.in_cells(cells) == sheet


def test_a_sheet_between_two_others_is_told_from_both():
    names = Names(("06_training_an_mlp", "06b_making_it_train", "07_convolution"))
    assert names.in_cells(b'check("06b.1", f); check("06b.2", g); check("06.1", h)') == "06b_making_it_train"
    assert names.in_cells(b'check("06.1", f)') == "06_training_an_mlp"
    assert names.in_text("ann_06b_making_it_train.ipynb") == names.in_text("Making it train") == "06b_making_it_train"
    assert names.without("ann_06b_making_it_train") == "ann"
