"""Records that hold arrays are compared as objects: arrays have no single truth value, so == would raise."""

import dataclasses
import inspect

import numpy as np

from course_lib import data
from course_lib import reference as ops

from .test_docstrings import modules

RECORDS = {
    f"{module.__name__}.{name}": value
    for module in modules()
    for name, value in vars(module).items()
    if inspect.isclass(value) and dataclasses.is_dataclass(value) and value.__module__ == module.__name__
}
WITH_ARRAYS = [name for name, r in RECORDS.items() if any("ndarray" in str(f.type) for f in dataclasses.fields(r))]


def test_the_walk_finds_the_records():
    assert len(WITH_ARRAYS) >= 4
    assert "course_lib.reference.perceptron.PerceptronFit" in WITH_ARRAYS


def test_a_record_with_arrays_is_compared_as_an_object():
    assert [name for name in WITH_ARRAYS if RECORDS[name].__eq__ is not object.__eq__] == []


def test_two_fits_can_be_compared_and_kept_in_a_set():
    x, y = data.truth_table("and")
    one, other = (ops.perceptron_fit(x, y) for _ in range(2))
    np.testing.assert_array_equal(one.w, other.w)
    assert one == one
    assert one != other
    assert len({one, other, one}) == 2
