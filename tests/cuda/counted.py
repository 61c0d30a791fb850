"""What the SIMT executor counts for all launches of a launcher; on a GPU too, but not with Numba's simulator."""

import functools
import operator
from dataclasses import asdict

from course_lib import gpu


def counted(launcher, *arrays):
    """Return ({counter: value}, hazards) of all launches of launcher(*arrays), each walked on the executor."""
    reports = gpu.simulate_launches(launcher, *arrays)
    total = functools.reduce(operator.add, (r.total for r in reports))
    return asdict(total), [h for r in reports for h in r.hazards]
