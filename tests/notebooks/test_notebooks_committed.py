"""The notebooks in the repository: built from their scripts, guarded, lessons in form. nbval checks their outputs."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from notebook_lib.guards import guard
from notebook_lib.lint import lint
from notebook_lib.scripts import check_pair, find_pairs

from course_lib.lesson import measured

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
PAIRS = find_pairs(NOTEBOOKS, NOTEBOOKS)
EXPECTED = (
    "01_perceptron",
    "02_neurons_and_layers",
    "03_loss_and_gradient_descent",
    "04_backpropagation",
    "05_computation_graph",
    "06_training_an_mlp",
)

each_lesson = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)


@each_lesson
def test_notebook_is_built_from_its_script(pair):
    assert check_pair(pair) is None


@each_lesson
def test_notebook_passes_all_guards(pair):
    assert guard(nbformat.read(pair.notebook, as_version=4)) == []


@each_lesson
def test_lesson_follows_all_rules(pair):
    assert lint(nbformat.read(pair.notebook, as_version=4), pair.script.stem) == []


def test_days_of_measurements_are_those_of_the_results():
    compared = 0
    for pair in PAIRS:
        for cell in nbformat.read(pair.notebook, as_version=4).cells:
            used = re.findall(r'measured\("([^"]+)", card="(\w+)"\)', cell.source)
            days = set(re.findall(r"\((20\d\d-\d\d-\d\d)\)", json.dumps(cell.get("outputs", []))))
            if used and days:
                known = {measured(case, card=card).date for case, card in used}
                assert days <= known, f"{pair.name}: build it again, with --force"
                compared += 1
    assert compared >= 5


def test_every_notebook_has_a_script():
    names = {pair.name for pair in PAIRS}
    assert {p.stem for p in NOTEBOOKS.glob("*.ipynb")} <= names


def test_all_lessons_are_there():
    assert set(EXPECTED) <= {pair.name for pair in PAIRS}
