"""A report in a browser: no column is outside of a page of 900 pixels, none of a usual report beside a sidebar."""

import numpy as np
import pytest

from course_lib.simt import compare
from tests.simt import kernels, reports
from tests.simt.text import function

LAB = """<style>
 body {margin: 0; font: 13px/1.3 sans-serif}
 table {border-collapse: collapse; border-spacing: 0; font-size: 13px; table-layout: fixed; margin: 0 auto 1em auto}
 td, th {vertical-align: middle; padding: 0.5em; line-height: normal; white-space: normal; max-width: none}
</style>"""
"""What JupyterLab's style sheet says of tables in an output."""

WIDEST = """
def kernel(source_image, cumulative_sum, gaussian_weights, output):
    tile = cuda.shared.array((32, 32), float32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    accumulator = 0.0
    if row < source_image.shape[0] and column < source_image.shape[1]:
        tile[ty, tx] = source_image[row, column] * 0.25 + cumulative_sum[row, column] * 0.5
        for k in range(4):
            accumulator += source_image[(row + k) % source_image.shape[0], column] * gaussian_weights[k] * 1.5
    cuda.syncthreads()
    if column % 3 == 0:
        cuda.atomic.add(cumulative_sum, (row % 8, column % 8), float32(1))
    if row < source_image.shape[0] and column < source_image.shape[1]:
        output[column, row] = tile[tx, ty] * 0.5 + accumulator
"""


def widest():
    image, out = np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
    arrays = image, np.zeros((64, 64), np.float32), np.ones(4, np.float32), out
    return reports.run(function(WIDEST), (2, 2), (32, 32), arrays)


def overflowing(browser, shown, width):
    """Return (content, room) in pixels of each part of a page that has to be scrolled sideways."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.set_content(f'{LAB}<div style="padding:5px 10px">{shown._repr_html_()}</div>')
    parts = page.evaluate(
        "[document.documentElement, ...document.querySelectorAll('div')]"
        ".filter(e => e.scrollWidth > e.clientWidth + 1).map(e => [e.scrollWidth, e.clientWidth])"
    )
    page.close()
    return parts


@pytest.mark.parametrize("width", [900, 1400])
def test_a_report_with_all_columns_fits_a_page(browser, width):
    assert overflowing(browser, widest(), width) == []


@pytest.mark.parametrize("width", [560, 700, 900])
def test_usual_reports_and_comparisons_fit_beside_a_sidebar(browser, width):
    naive, tiled = (reports.product(kernel, 64) for kernel in (kernels.product_naive, kernels.product_tiled))
    for shown in (tiled, reports.transpose(), compare(naive, tiled)):
        assert overflowing(browser, shown, width) == []
