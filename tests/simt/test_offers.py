"""A report names at its end the pictures that it can make, and each of them can be made."""

import re

import pytest

from course_lib import figures
from course_lib.figures.live import Live
from course_lib.simt.show.display import html
from course_lib.simt.show.offers import offered
from tests.figures.pages import read_html
from tests.simt import kernels, reports


def launches():
    yield "product", reports.product()
    yield "transpose", reports.transpose()
    yield "race", reports.run(kernels.next_block_reads_halo, 2, 32, reports.vectors(64))
    yield "uncounted", reports.run(kernels.last_element, 1, 32, reports.vectors(32), counters=False)


CASES = dict(launches())


@pytest.mark.parametrize("name", CASES)
def test_every_picture_that_a_report_names_can_be_made(name):
    report = CASES[name]
    for call in offered(report):
        made = getattr(report, call.partition("(")[0])()
        assert isinstance(made, Live | figures.Picture)


@pytest.mark.parametrize("name", CASES)
def test_the_last_line_of_a_report_names_them_folded(name):
    page = html(CASES[name])
    last = re.findall(r"<details><summary>(.*?)</summary>(.*?)</details>", page, re.DOTALL)[-1]
    assert last[0] == "Pictures"
    assert re.findall(r"<code>report\.(.*?)</code>", last[1]) == list(offered(CASES[name]))
    assert not {"script", "style", "img"} & set(read_html(page)[0])


def test_what_a_launch_does_not_have_is_not_offered():
    assert "race_picture()" in offered(CASES["race"])
    assert "race_picture()" not in offered(CASES["product"])
    assert "roofline()" not in offered(CASES["transpose"])
    assert {"schedule()", "memory_map(line, array)"}.isdisjoint(offered(CASES["uncounted"]))
