"""The course folder is found from inside it or around the package; lessons are picked by number."""

from __future__ import annotations

import pytest

from course_lib.cli.folder import (
    CourseFolderNotFound,
    UnknownLesson,
    find_course_folder,
    list_lessons,
    pick_lessons,
)
from tests.cli.course import make_course


def test_the_folder_is_found_from_deep_inside(tmp_path):
    root = make_course(tmp_path / "c")
    deep = root / "notebooks" / "a" / "b"
    deep.mkdir(parents=True)
    assert find_course_folder(deep) == root


def test_from_elsewhere_it_is_the_checkout_that_the_package_runs_from(tmp_path):
    root = make_course(tmp_path / "c")
    (tmp_path / "else").mkdir()
    assert find_course_folder(tmp_path / "else", root / "course_lib") == root


def test_no_folder_is_an_error_that_names_the_place_and_the_option(tmp_path):
    with pytest.raises(CourseFolderNotFound, match=r"else.*notebooks/ and course_lib/.*--folder"):
        find_course_folder(tmp_path / "else", tmp_path / "site-packages" / "course_lib")


def test_lessons_are_listed_by_number_and_other_files_are_not(tmp_path):
    root = make_course(tmp_path / "c", l02_b=[], l01_a=[], l1_x=[], ldraft=[])
    assert [(lesson.number, lesson.topic, lesson.name) for lesson in list_lessons(root)] == [
        ("01", "a", "01_a"),
        ("02", "b", "02_b"),
    ]


def test_lessons_are_picked_in_course_order_with_or_without_the_nought(tmp_path):
    lessons = list_lessons(make_course(tmp_path / "c", l01_a=[], l02_b=[], l03_c=[]))
    assert [lesson.number for lesson in pick_lessons(lessons, ["3", "01"])] == ["01", "03"]
    assert pick_lessons(lessons, []) == lessons


def test_a_lesson_can_stand_between_two_others(tmp_path):
    lessons = list_lessons(make_course(tmp_path / "c", l06_a=[], l06b_b=[], l07_c=[], l06bc_d=[]))
    assert [lesson.number for lesson in lessons] == ["06", "06b", "07"]
    for given in ("06b", "6b", "6B", "06b_b"):
        assert [lesson.name for lesson in pick_lessons(lessons, [given])] == ["06b_b"]
    assert [lesson.number for lesson in pick_lessons(lessons, ["6"])] == ["06"]


def test_an_unknown_lesson_is_an_error_that_lists_what_there_is(tmp_path):
    lessons = list_lessons(make_course(tmp_path / "c", l01_a=[], l02_b=[]))
    with pytest.raises(UnknownLesson, match=r"no lesson 07, xx\. There are: 01 a, 02 b"):
        pick_lessons(lessons, ["7", "01", "xx"])


def test_a_folder_without_lessons_says_how_to_build_them():
    with pytest.raises(UnknownLesson, match="make notebooks"):
        pick_lessons([], [])


def test_a_package_alone_is_no_course_folder(tmp_path):
    (tmp_path / "course_lib").mkdir()
    with pytest.raises(CourseFolderNotFound):
        find_course_folder(tmp_path, tmp_path / "course_lib")
