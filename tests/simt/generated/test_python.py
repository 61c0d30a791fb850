"""Random kernels with loops over anything, early ways out and inner functions give what Python gives."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import simt
from tests.simt.generated.python import Writer
from tests.simt.text import function

THREADS = 8


def of_python(text, rows, out):
    """Run a kernel's text in Python, one thread after the other."""
    for i in range(THREADS):
        grid = SimpleNamespace(grid=lambda axes, i=i: np.int64(i))
        names = {"cuda": grid, "sum": lambda v: np.int64(sum(v)), "int64": np.int64}
        exec(compile(text, "<plain>", "exec"), names)
        names["kernel"](rows, out)


def arrays(seed):
    rows = np.random.default_rng(seed).integers(0, 9, (2 * THREADS, 4))
    return rows, np.full((THREADS, 2), -1)


@pytest.mark.parametrize("start", range(0, 120, 40))
def test_random_python_gives_what_python_gives_thread_by_thread(start):
    for seed in range(start, start + 40):
        text = Writer(seed).text()
        wanted, got = arrays(seed), arrays(seed)
        of_python(text, *wanted)
        report = simt.run(function(text), 1, THREADS, got, on_error="collect")
        where = f"seed {seed}\n{text}"
        assert [str(h) for h in report.hazards] == [], where
        for a, b in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=where)
