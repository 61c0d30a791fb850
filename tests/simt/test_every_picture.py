"""Every finding of the corpus has a picture or none, without an error; a picture names its line, and stays the same."""

import pytest

import tests.simt.broken
import tests.simt.correct  # noqa: F401  their kernels enter themselves
from course_lib.simt.show.explain import picture_of
from course_lib.simt.show.race_picture import RACES
from tests.simt import reports
from tests.simt.corpus import BROKEN, CORRECT

CASES = {**CORRECT, **{name: case for name, case in BROKEN.items() if case.refused is None}}
EXPLAINED = "race", "out of bounds", "barrier not reached", "early return", "bank conflicts", "uncoalesced"


@pytest.mark.parametrize("name", CASES)
def test_every_finding_can_be_explained_and_every_launch_mapped(name):
    case = CASES[name]
    arguments = case.arguments()
    numbers = (getattr(case, "launches", None) or [range(len(arguments))])[0]
    report = reports.run(case.kernel, case.grid, case.block, [arguments[k] for k in numbers], **case.options)
    for hazard in (*report.hazards, *report.advice):
        picture = picture_of(report, hazard)
        if picture is None:
            assert hazard.kind not in RACES
            continue
        assert picture == picture_of(report, hazard)
        assert f"line {hazard.line}" in picture.alt or hazard.kind in ("uncoalesced", "bank conflicts", "misaligned")
        assert picture.width <= 760
    made = report.launch_map()
    assert len(made.html) < 120_000
    assert made.static.drawn[0] <= 400
