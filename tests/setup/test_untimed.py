"""No test is judged by its time: what is slow on a busy machine would fail there, and says nothing of the code."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time_ns", "perf_counter_ns", "monotonic_ns"}
WAITS = {"notebooks/test_notebook_build.py"}
"""Files that wait for another process and give up in the end."""


def timed(text):
    """Return the lines whose assertion asks a clock, or asks that some `seconds` are less than something."""
    return [node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Assert) and _judges(node.test)]


def _judges(condition):
    for node in ast.walk(condition):
        if isinstance(node, ast.Attribute) and node.attr in CLOCKS:
            return True
        less = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE)
        if less and "seconds" in ast.unparse(node.left) and not isinstance(node.left, ast.Call):
            return True  # a call's seconds, such as a roofline's, are computed
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


def test_no_assertion_of_a_test_asks_a_clock():
    found = {
        str(path.relative_to(TESTS)): lines
        for path in sorted(TESTS.rglob("*.py"))
        if (lines := timed(path.read_text("utf-8"))) and str(path.relative_to(TESTS)) not in WAITS
    }
    assert found == {}
