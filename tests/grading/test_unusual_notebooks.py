"""Notebooks in unusual shapes: what Jupyter's run finds solved, `course check` and the grader find solved."""

import pytest
import unusual_notebooks as tool

from tests.grading.toy_sheet import needs

SHOWN = (
    "checks at once and again at the end where names have changed",
    "functions of other names",
    "threads that live on",
    "shell lines",
    "the history after a magic",
    "waiting at the top level",
    "helpers beside the notebook",
    "the old format 3",
)
"""One shape of each kind; the tool itself runs them all."""


def test_there_are_forty_shapes_and_more_each_with_its_own_notebook():
    contents = {name: make().content for name, make in tool.SHAPES.items()}
    assert len(set(contents.values())) == len(contents) >= 40
    assert {name: make().content for name, make in tool.SHAPES.items()} == contents


@needs("B")
@pytest.mark.parametrize("name", SHOWN)
def test_jupyter_course_check_and_grader_find_the_same_solved(name, tmp_path):
    shape = tool.SHAPES[name]()
    ways = {run: run(shape, tool.laid_out(shape, tmp_path / run.__name__)) for run in (tool.checked, tool.graded)}
    ways[tool.jupyter] = tool.jupyter(shape, tool.laid_out(shape, tmp_path / "jupyter"))
    exercises = [e for e in tool.sheet_named(shape.sheet).exercises if e.kind != "text"]
    for found in ways.values():
        assert found.solved == tuple(sorted(e.id for e in exercises)), found.says
        assert found.points == sum(e.points for e in exercises), found.says
