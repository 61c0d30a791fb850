"""Reports on a page: columns side by side say what moved, findings stand by themselves."""

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import gpu
from course_lib.lesson import columns, findings


@gpu.jit
def read(x, step, y):
    i = cuda.grid(1)
    y[i] = x[step * i]


@gpu.jit
def outside(x, y):
    i = cuda.grid(1)
    y[i] = x[i + 1] + float32(1)


X, Y = np.zeros(512, np.float32), np.zeros(256, np.float32)


@pytest.fixture(scope="module")
def dense():
    return gpu.simulate(read, 8, 32, X, 1, Y)


@pytest.fixture(scope="module")
def sparse():
    return gpu.simulate(read, 8, 32, X, 2, Y)


def test_columns_say_which_of_them_moved(dense, sparse):
    made = columns({"dense": dense, "sparse": sparse}, caption="Two launches")
    assert made.columns == ("column", "dense", "sparse", "from one to the next")
    assert {row[0]: row[1:] for row in made.rows} == {
        "sectors": ("64", "96", "moved"),
        "used": ("100 %", "66.7 %", "moved"),
        "active lanes": ("100 %", "100 %", "the same"),
        "instructions": ("24", "24", "the same"),
    }
    assert made.caption == "Two launches"


def test_one_report_has_nothing_to_differ_from(dense):
    with pytest.raises(ValueError, match="two or more can differ"):
        columns({"dense": dense})


def test_a_report_without_findings_says_so(dense):
    shown = findings(dense)
    assert repr(shown) == "No hazards, no advice."
    assert "No hazards, no advice." in shown._repr_mimebundle_()["text/html"]


def test_hazards_come_first_and_the_rest_is_counted():
    report = gpu.simulate(outside, 8, 32, Y, Y, on_error="collect")
    every = [*report.hazards, *report.advice]
    assert len(every) > 1
    shown = findings(report, most=1)
    assert repr(shown) == f"{every[0]}\n{len(every) - 1} more"
    html = shown._repr_mimebundle_()["text/html"]
    assert html.count("Hazard:") == 1
    assert f"{len(every) - 1} more." in html
    assert "What to do:" in html
    assert repr(findings(report, most=len(every))) == "\n".join(map(str, every))


def test_at_least_one_finding_is_shown(dense):
    with pytest.raises(ValueError, match="most is 0"):
        findings(dense, most=0)
