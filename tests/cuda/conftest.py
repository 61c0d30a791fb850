"""The device of this run is chosen before any test imports numba.cuda; kernels are kept in a folder of the run."""

import pytest

import course_lib.gpu  # noqa: F401


@pytest.fixture(autouse=True, scope="session")
def _kept_kernels(tmp_path_factory):
    """Keep compiled kernels out of the user's cache."""
    patch = pytest.MonkeyPatch()
    patch.setenv("COURSE_CACHE", str(tmp_path_factory.mktemp("kernels")))
    yield
    patch.undo()
