"""SECURITY.md promises nothing without a test that is there."""

import ast
import re
from pathlib import Path

from course_lib.grading.levels import TITLES
from tests.cases import all_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/.]+)::(\w+)`", PAGE)))


@all_of(("file", "test"), NAMED)
def test_each_test_that_the_page_names_exists(file, test):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_each_promise_names_a_test():
    promises = re.split(r"\n(?=\d+\. )", PAGE.partition("## What is promised")[2].partition("\n## ")[0])[1:]
    assert len(promises) >= 10
    assert [p[:60] for p in promises if "::test_" not in p] == []


def test_all_levels_are_explained():
    assert re.findall(r"^\| ([A-D]) \|", PAGE, re.MULTILINE) == list(TITLES)


def test_the_number_of_submissions_is_about_right():
    from course_lib.grading.selftest.collection import FAMILIES

    said = int(re.search(r"some (\d+) hostile submissions", PAGE)[1])
    assert abs(said - sum(map(len, FAMILIES.values()))) <= 10
