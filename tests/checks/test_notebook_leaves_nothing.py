"""After tests that run cells in their own process, the process is as it was; these come after them by name."""

import builtins
import sys

import course_lib.checks
from tests.setup.project import ROOT


def test_a_run_of_a_sheet_is_one_of_this_process(capsys):
    from course_lib.checks.sheet_run import main

    assert main(ROOT / "exercises" / "01_perceptron.ipynb") == 1
    assert "0 of 5" in capsys.readouterr().out
    assert builtins.get_ipython is not None  # so the next test can fail


def test_nothing_of_it_is_left():
    assert course_lib.checks.check.__module__ == "course_lib.checks.check"
    assert sys.modules["course_lib.checks.check"].check is course_lib.checks.check
    assert getattr(builtins, "get_ipython", None) is None
    assert builtins.input.__module__ == "builtins" or builtins.input.__module__ is None
