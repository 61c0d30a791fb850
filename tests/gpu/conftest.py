"""The device of this run is chosen before any test imports numba.cuda, so that the simulator can be had."""

import course_lib.gpu  # noqa: F401
