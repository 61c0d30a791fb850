"""A test of many cases names every one that fails, and takes fixtures as any other test."""

import pytest

from tests.cases import all_of


def test_every_case_is_tried_and_every_offender_named():
    tried = []

    @all_of(("a", "b"), [(1, 1), (2, 3), (4, 4), (5, 7)])
    def equal(a, b):
        tried.append(a)
        assert a == b, "they differ"

    with pytest.raises(AssertionError, match=r"2 of 4 cases fail:\n\(2, 3\): .*they differ.*\n\(5, 7\): ") as info:
        equal()
    assert tried == [1, 2, 4, 5]
    assert "they differ" in str(info.value.__cause__)


def test_decorators_on_top_of_each_other_go_through_the_product():
    seen = []

    @all_of("a", "xy", ids=str.upper)
    @all_of("b", [1, 2])
    def note(a, b):
        seen.append((a, b))

    note()
    assert seen == [("x", 1), ("x", 2), ("y", 1), ("y", 2)]


def test_a_skipped_case_is_left_out_and_no_cases_are_refused():
    @all_of("a", [1, 2])
    def skips(a):
        if a == 1:
            pytest.skip("not here")
        raise KeyError(a)

    with pytest.raises(AssertionError, match=r"1 of 2 cases fail:\n2: KeyError"):
        skips()
    with pytest.raises(ValueError, match="no cases of a"):
        all_of("a", [])


def test_many_offenders_are_counted():
    @all_of("a", range(50), ids=lambda a: f"case {a}")
    def fails(a):
        raise ValueError(a)

    with pytest.raises(AssertionError, match="case 19: ValueError: 19\nand 30 more"):
        fails()


@all_of("text", ["one", "two"])
def test_fixtures_are_given_beside_the_case(tmp_path, text):
    (tmp_path / text).write_text(text)
    assert (tmp_path / text).read_text() == text
