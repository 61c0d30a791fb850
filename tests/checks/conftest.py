"""A notebook's cells, run in the process of the tests, leave nothing behind: other modules come after them."""

import builtins
import os
import sys

import pytest

import course_lib.checks


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch):
    """Put back what a run of cells gives the whole process: IPython's names, `__main__`, `check`, path and folder."""
    for name in ("input", "display", "get_ipython", "__IPYTHON__"):
        monkeypatch.setattr(builtins, name, getattr(builtins, name, None), raising=False)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    module = sys.modules["course_lib.checks.check"]
    monkeypatch.setattr(module, "check", module.check)
    monkeypatch.setattr(course_lib.checks, "check", course_lib.checks.check)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(os.getcwd())
    yield
    if "IPython" in sys.modules:
        from IPython.core.interactiveshell import InteractiveShell

        InteractiveShell.clear_instance()
