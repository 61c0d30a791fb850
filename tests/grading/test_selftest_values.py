"""What a box claims that no honest one would: it is judged or refused, and never an error of the grader's own."""

import numpy as np
import pytest

from course_lib.checks.exercise import Case, Exercise
from course_lib.checks.judge import Outcome, judge
from course_lib.checks.values import ValueProblem, decode

HUGE = {"t": "int", "v": "0x" + "f" * 100_000}
WITH_IT = {
    "alone": HUGE,
    "list": {"t": "list", "v": [HUGE, HUGE]},
    "key": {"t": "dict", "v": [[HUGE, HUGE]]},
    "value": {"t": "dict", "v": [[{"t": "plain", "v": "a"}, HUGE]]},
}


def exercise(right):
    return Exercise("00.1", "f", "t", 1, "core", "c", "s", 1, lambda x: right, (Case((1,)),))


@pytest.mark.parametrize("right", [2.0, 3, "a", None, {"a": 1}, (1, 2), np.arange(3.0)], ids=repr)
@pytest.mark.parametrize("value", WITH_IT.values(), ids=WITH_IT)
def test_a_number_that_python_does_not_write_out_is_a_wrong_answer(value, right):
    finding = judge(exercise(right), Case((1,)), Outcome(decode(value)))
    assert finding is not None
    assert len(finding.says) < 500


@pytest.mark.parametrize("shape", [[2**70, 0], [2**26] * 31 + [0], [2**62, 2, 0]], ids=["one", "many", "product"])
def test_a_shape_that_numpy_cannot_hold_is_refused_as_a_value(shape):
    with pytest.raises(ValueProblem, match="is no shape"):
        decode({"t": "array", "dtype": "<f8", "shape": shape, "v": ""})
