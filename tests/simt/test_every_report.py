"""Every kernel of the corpus, broken or correct, has a report that can be shown, and maps that can be drawn."""

import pytest

import tests.simt.broken
import tests.simt.correct  # noqa: F401  their kernels enter themselves
from course_lib.simt.show.display import html
from course_lib.simt.show.memory_map import memory_map
from course_lib.simt.show.text import text
from tests.figures.pages import read_html
from tests.simt import reports
from tests.simt.corpus import BROKEN, CORRECT

CASES = {**CORRECT, **{name: case for name, case in BROKEN.items() if case.refused is None}}


@pytest.mark.parametrize("name", CASES)
def test_a_report_can_be_shown(name):
    case = CASES[name]
    arguments = case.arguments()
    numbers = (getattr(case, "launches", None) or [range(len(arguments))])[0]
    report = reports.run(case.kernel, case.grid, case.block, [arguments[k] for k in numbers], **case.options)
    page, written = html(report), text(report)
    tags, _, _ = read_html(page)
    assert not {"script", "style", "img"} & set(tags)
    assert len(page.encode()) < 60_000
    assert written.isascii()
    assert max(map(len, written.splitlines())) <= 80
    for hazard in report.hazards:
        assert hazard.fix.split()[-1] in written
    if any(a.space in ("global", "shared") for a in report.accesses):
        assert len(memory_map(report).alt) > 40
