"""No false alarm: kernels that look dangerous and are correct have no finding, and NumPy's result."""

import ast
import copy
import inspect
import sys
import textwrap

import numpy as np
import pytest

import tests.simt.correct  # noqa: F401  its kernels enter themselves
from course_lib import simt
from tests.simt.corpus import CORRECT
from tests.simt.text import function

ORDERING = ("cuda.syncthreads()", "cuda.syncwarp()", "cuda.threadfence()", "grid.sync()")


@pytest.mark.parametrize("on_error", ["raise", "collect"])
@pytest.mark.parametrize("blocks_at_once", ["all", "one"])
@pytest.mark.parametrize("case", CORRECT.values(), ids=CORRECT)
def test_correct_kernel_has_no_finding_and_the_result_of_numpy(case, blocks_at_once, on_error, monkeypatch):
    if blocks_at_once == "one":
        monkeypatch.setattr(sys.modules["course_lib.simt.run"], "BATCH_LANES", 1)
    arguments = case.arguments()
    expected = case.expected(*[copy.deepcopy(a) for a in arguments])
    reports = [
        simt.run(case.kernel, case.grid, case.block, [arguments[k] for k in numbers], on_error=on_error, **case.options)
        for numbers in case.launches or [range(len(arguments))]
    ]
    for report in reports:
        assert [str(h) for h in report.hazards] == []
        assert [str(h) for h in report.advice if h.kind == "never written"] == []
        assert any(h.kind == "float64" for h in report.advice) == case.float64
    for number, wanted in expected.items():
        found = np.asarray(getattr(arguments[number], "numbers", arguments[number]))
        if number in case.unordered:
            found, wanted = np.sort(found), np.sort(wanted)
        np.testing.assert_array_equal(found, np.asarray(wanted, found.dtype), err_msg=f"argument {number}")


def without(kernel, number):
    """Return a kernel whose source has `pass` in place of line `number`."""
    lines = textwrap.dedent(inspect.getsource(kernel)).splitlines()
    indent = len(lines[number]) - len(lines[number].lstrip())
    lines[number] = " " * indent + "pass"
    first = ast.parse("\n".join(lines)).body[0].lineno - 1
    names = {n: v for n, v in vars(sys.modules[kernel.__module__]).items() if not n.startswith("__")}
    return function("\n".join(lines[first:]), kernel.__name__, **names)


def ordering_lines():
    """Return (case, line of its source) for each barrier and fence that a kernel cannot do without."""
    for case in CORRECT.values():
        for number, line in enumerate(inspect.getsource(case.kernel).splitlines()):
            if line.strip() in ORDERING:
                yield case, number


@pytest.mark.parametrize(
    ("case", "number"), list(ordering_lines()), ids=lambda v: v.kernel.__name__ if hasattr(v, "kernel") else None
)
def test_correct_kernel_without_one_of_its_barriers_has_a_finding(case, number):
    arguments, broken = case.arguments(), without(case.kernel, number)
    hazards = []
    for numbers in case.launches or [range(len(arguments))]:
        chosen = [arguments[k] for k in numbers]
        hazards += simt.run(broken, case.grid, case.block, chosen, on_error="collect", **case.options).hazards
    assert {h.kind for h in hazards} & {"race", "unwritten memory"}


def test_corpus_is_large_enough():
    assert len(CORRECT) >= 40
