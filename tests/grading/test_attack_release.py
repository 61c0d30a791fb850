"""What a students' archive has of the checks earns nothing as an answer; the instructors' own checks would earn all."""

import functools

import attack_release
import pytest

from course_lib.checks.registry import MODULES, sheet
from course_lib.grading.public_checks import record, stays_here
from tests.grading.toy_sheet import needs
from tests.setup.project import ROOT

pytestmark = needs("B")
CHECKS = ROOT / attack_release.CHECKS
SAMPLE = "10_what_convnets_learn"


@functools.cache
def own_files():
    """Return {path: text} of the instructors' checks and of the sample's sheet."""
    texts = {p.relative_to(ROOT).as_posix(): p.read_text(encoding="utf-8") for p in CHECKS.rglob("*.py")}
    book = f"exercises/{SAMPLE}.ipynb"
    return texts | {book: (ROOT / book).read_text(encoding="utf-8")}


@functools.cache
def released():
    """Return what an archive has of them: those that stay are left out, and the sample's record is there."""
    kept = {name: text for name, text in own_files().items() if not stays_here(name)}
    return kept | {f"{attack_release.CHECKS}exercises/{MODULES[SAMPLE]}.json": record(sheet(SAMPLE).exercises)}


def points(files, letter):
    """Return {id: (points, whether the public part passed)} of an attack on the sample."""
    questions = attack_release.attacked(files, SAMPLE, letter)
    return {q["id"]: (q["points"], q["parts"][0]["passed"]) for q in questions}


@pytest.mark.parametrize("letter", "acde")
def test_what_the_archive_has_of_the_checks_earns_nothing(letter):
    got = points(released(), letter)
    assert {value for value, _ in got.values()} == {"0"}
    assert all(public for _, public in got.values()) == (letter in "ace")  # and that counts nothing


def test_the_archive_has_no_expect_to_paste():
    with pytest.raises(attack_release.NothingToPaste):
        attack_release.attacked(released(), SAMPLE, "b")


@pytest.mark.parametrize("letter", "abc")
def test_the_instructors_checks_would_earn_full_marks_if_they_were_given_out(letter):
    got = points(own_files(), letter)
    full = [e.id for e in sheet(SAMPLE).exercises if got[e.id][0] == str(e.points)]
    assert len(full) >= (len(got) if letter == "c" else len(got) // 2), got
