"""No false alarm: kernels that look dangerous and are correct have no finding, and NumPy's result."""

import copy
import sys

import numpy as np
import pytest

import tests.simt.correct  # noqa: F401  its kernels enter themselves
from course_lib import simt
from tests.simt.corpus import CORRECT


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


def test_corpus_is_large_enough():
    assert len(CORRECT) >= 40
