"""The framework as a whole: same bytes in every process, silent in a notebook, complete when installed."""

import copy
import hashlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from notebook_lib.fresh_kernel import run_in_fresh_kernel

from course_lib import figures
from course_lib.figures.explore import WIDGET_VIEW
from course_lib.figures.scripts import script

from ..browser.demo import demo_notebook

ROOT = Path(__file__).resolve().parents[2]

MAKE = """
import hashlib
import numpy as np
from course_lib import figures
from course_lib.figures import plots
s = figures.Svg(200, 100, title="t")
s.matrix(np.arange(6).reshape(2, 3) / 7, 0, 0, name="W", role="weight", highlight={(0, 1), (1, 2)})
a = figures.picture(s, alt="A matrix of two rows and three columns")
b = figures.picture(figures.Svg(200, 100), alt="An empty sheet of the same size")
c = figures.picture(plots.curves({"a": np.arange(9), "b": np.arange(9) ** 0.5}), alt="Two curves that both rise")
d = figures.explore(lambda k, n: a, title="Explore", k=["x", "y"], n=(1, 5, 1))
for thing in (a, figures.stepper([a, b], title="Steps").html, c, d.html):
    print(hashlib.sha256(str(thing).encode()).hexdigest())
"""


def test_two_processes_make_the_same_bytes():
    outputs = []
    for seed in ("1", "2"):
        env = dict(os.environ, PYTHONHASHSEED=seed)
        done = subprocess.run([sys.executable, "-W", "error", "-c", MAKE], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert len(set(outputs[0].split())) == 4


@pytest.fixture(scope="module")
def runs():
    """The demo notebook, run twice in fresh kernels."""
    notebooks = [demo_notebook() for _ in range(2)]
    for notebook in notebooks:
        run_in_fresh_kernel(notebook, ROOT, store_widget_state=False, record_timing=False)
    return notebooks


def test_a_notebook_run_twice_has_the_same_outputs_and_no_stream(runs):
    cleaned = []
    for notebook in copy.deepcopy(runs):
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        assert {o.output_type for o in outputs} <= {"display_data", "execute_result"}
        for output in outputs:
            output.data.pop(WIDGET_VIEW, None)
        cleaned.append(hashlib.sha256(repr(outputs).encode()).hexdigest())
    assert cleaned[0] == cleaned[1]


def test_no_widget_state_is_stored_and_the_notebook_is_valid(runs):
    assert "widgets" not in runs[0].metadata
    nbformat.validate(runs[0])


def test_every_output_has_a_figure_with_alternative_text(runs):
    data = [output.data for cell in runs[0].cells for output in cell.get("outputs", [])]
    assert len(data) == 7
    for bundle in data:
        assert "<figure" in bundle["text/html"]
        assert 'alt="' in bundle["text/html"]
        assert len(bundle["text/plain"]) >= 20


def test_topic_modules_load_when_they_are_named():
    assert figures.plots.curves
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = figures.nonsense


def test_functions_of_topic_modules_are_found_by_their_name():
    assert all(callable(getattr(figures, name)) for name in figures.TOPICS)
    assert figures.tile_explorer.__module__ == "course_lib.figures.product_explorer"


def test_a_script_includes_the_lines_of_another_in_place():
    rules = script("occupancy_rules")
    for name in ("occupancy_calculator", "tile_explorer"):
        assert script(name).count(rules) == 1
        assert "// include" not in script(name)


def test_the_scripts_travel_with_the_package():
    with (ROOT / "pyproject.toml").open("rb") as file:
        data = tomllib.load(file)["tool"]["setuptools"]["package-data"]
    assert "*.js" in data["course_lib.figures"]
    for name in ("stepper", "explore"):
        assert script(name).startswith(("(", "title"))
        assert "//" not in script(name).replace("://", "")
