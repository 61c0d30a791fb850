"""An answer is taken where its check stands; without a check, where it was defined last."""

import pytest

import course_lib.checks
from course_lib.checks import check as module
from course_lib.checks.moments import DEFINED, FIRST, LAST, MOMENTS, Moments, last_mentions


class Notebook:
    """A notebook with the answers f and g, which remembers what was taken: {(id, moment): answer}."""

    def __init__(self):
        self.names, self.taken, self.times = {}, {}, 0
        self.moments = Moments({"1": "f", "2": "g"}, self.names, self.take)

    def take(self, id, moment, answer):
        self.taken[id, moment], self.times = answer, self.times + 1

    def cell(self, later=(), **names):
        self.names.update(names)
        self.moments.after_cell(later)


@pytest.fixture
def notebook():
    return Notebook()


def one():
    pass


def two():
    pass


def test_an_answer_without_a_check_is_taken_after_the_cell_that_defined_it_last(notebook):
    notebook.cell(f=one)
    notebook.cell(x=1)
    assert (notebook.taken, notebook.times) == ({("1", FIRST): one}, 1)
    notebook.cell(f=two)
    assert (notebook.taken, notebook.times) == ({("1", FIRST): two}, 2)


def test_a_check_counts_before_a_definition_above_or_below_it(notebook):
    notebook.cell(f=one)
    notebook.moments.check("1", one)
    notebook.cell()
    assert (notebook.taken, notebook.times) == ({("1", FIRST): one}, 2)
    notebook.cell(f=two)
    assert notebook.taken == {("1", FIRST): one, ("1", DEFINED): two}
    notebook.moments.check("1", two)
    notebook.cell()
    assert notebook.taken == {("1", FIRST): one, ("1", DEFINED): two, ("1", LAST): two}


def test_the_same_answer_checked_again_is_taken_again_as_its_helpers_may_be_others(notebook):
    for _ in range(3):
        notebook.moments.check("1", one)
    assert (notebook.taken, notebook.times) == ({("1", FIRST): one, ("1", LAST): one}, 3)


def test_what_is_checked_may_have_any_name_and_kind(notebook):
    for answer in (one, lambda: 1, [].append, dict, type("C", (), {"__call__": one})()):
        notebook.moments.check("2", answer)
        assert answer in notebook.taken.values()


@pytest.mark.parametrize("value", [None, 3, "done", one()])
def test_what_cannot_be_called_is_no_answer(notebook, value):
    notebook.cell(f=one)
    notebook.cell(f=value)
    notebook.moments.check("1", value)
    assert notebook.taken == {("1", FIRST): one}


def test_an_id_of_another_sheet_is_passed_over(notebook):
    notebook.moments.check("9", one)
    assert notebook.taken == {}


def test_an_answer_whose_check_comes_later_waits_for_it(notebook):
    notebook.cell(["1"], f=one, g=two)
    assert notebook.taken == {("2", FIRST): two}
    notebook.cell()
    assert notebook.taken == {("2", FIRST): two, ("1", FIRST): one}


def test_a_check_that_comes_later_is_known_by_its_id_in_quotes():
    cells = [
        'check("1.1", f)',
        "x = 1  # '1.2'",
        "if k:\n    c('1.3', f)",
        "# check('1.4', f)",
        "y = 1.5",
        '"1.66"',
        "'1.1'",
    ]
    found = last_mentions(["1.1", "1.2", "1.3", "1.4", "1.5", "1.6"], cells)
    assert found == {"1.1": 6, "1.2": -1, "1.3": 2, "1.4": -1, "1.5": -1, "1.6": -1}


def test_moments_are_tried_from_the_first_check_to_the_last_definition():
    assert MOMENTS == (FIRST, LAST, DEFINED)


def test_a_notebook_that_imports_check_gets_the_one_that_takes(notebook, monkeypatch, capsys):
    import sys

    monkeypatch.setattr(course_lib.checks, "check", module)
    monkeypatch.setattr(sys.modules["course_lib.checks.check"], "check", module)
    notebook.moments.install()
    names = {}
    exec("from course_lib.checks import check\ncheck('1', print)", names)
    exec("from course_lib.checks import *\ncheck('1', len)", names)
    exec("from course_lib.checks.check import check as c\nc('2', abs)", names)
    exec("import course_lib.checks as checks\nassert checks.check(id='2', answer=repr) is None", names)
    assert notebook.taken == {("1", FIRST): print, ("1", LAST): len, ("2", FIRST): abs, ("2", LAST): repr}
    assert capsys.readouterr().out.startswith("1: ")
