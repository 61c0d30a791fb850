"""No test is judged by its time: what is slow on a busy machine would fail there, and says nothing of the code."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time_ns", "perf_counter_ns", "monotonic_ns"}
WAITS = {"notebooks/test_notebook_build.py"}
"""Files that wait for another process and give up in the end."""


READERS = {"measured", "microbench"}
"""What reads `results/`: a time that was measured on a card once is a number like any other."""


def timed(text):
    """Return the lines whose assertion asks a clock, or asks that some `seconds` are less than something."""
    tree = ast.parse(text)
    kept = {name for node in ast.walk(tree) if isinstance(node, ast.Assign) and _names(node.value) & READERS
            for target in node.targets for name in _names(target)}  # fmt: skip
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert) and _judges(node.test, kept)]


def _names(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _judges(condition, kept):
    for node in ast.walk(condition):
        if isinstance(node, ast.Attribute) and node.attr in CLOCKS:
            return True
        less = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE)
        if not less or isinstance(node.left, ast.Call):  # a call's seconds, such as a roofline's, are computed
            continue
        if "seconds" in ast.unparse(node.left) and not _names(node.left) & kept:
            return True
    return False


@pytest.mark.parametrize(
    "text",
    [
        "assert time.monotonic() - started < 15",
        "assert 0 < time.process_time() - begun < GUARD",
        "assert seconds < GUARD, 'slow'",
        "assert trained['seconds'][seed] <= 15",
        "def f():\n    assert f() and outcome.seconds < 3",
    ],
)
def test_a_timed_assertion_is_seen(text):
    assert timed(text)


def test_what_results_say_is_no_clock():
    assert timed("took = measured('C1', card='h200')\nassert took.seconds['v01'] < took.seconds['v02']") == []
    assert timed("took = measured('C1', card='h200')\nassert seconds < 3") == [2]


def test_no_assertion_of_a_test_asks_a_clock():
    found = {
        str(path.relative_to(TESTS)): lines
        for path in sorted(TESTS.rglob("*.py"))
        if (lines := timed(path.read_text("utf-8"))) and str(path.relative_to(TESTS)) not in WAITS
    }
    assert found == {}
