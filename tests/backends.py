"""The backends that one test body runs over: each is a module with the same names."""

import pytest

from course_lib import fast, reference

BACKENDS = {"reference": reference, "fast": fast}

on_each_backend = pytest.mark.parametrize("ops", BACKENDS.values(), ids=BACKENDS)
