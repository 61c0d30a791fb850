"""Forms of the file itself: formats, kernels, cells of other kinds, helpers that lie beside."""

from __future__ import annotations

import io
import json

import nbformat
import numpy as np

from unusual.books import Model, Shape, code, lines, shape, text, written


@shape
def helpers_beside_the_notebook() -> Shape:
    m = Model()
    helper = lines("from parts.more import BIAS", "def size_of(x, lr):", "    return lr * (x @ x + BIAS)").encode()
    answer = "import helper\nfrom helper import size_of\n\n"
    answer += m.text["01.2"].replace("lr * (x @ x + 1)", "size_of(x, lr)")
    later = "helper.BIAS = 5\nhelper.size_of = None"
    table = io.BytesIO()
    np.savez(table, sign=np.array([-1, 1]))
    margin = lines(
        "data = np.load('table.npz')", "signs = np.loadtxt('signs.csv', delimiter=',')", "assert list(signs) == [-1, 1]"
    )
    margin += m.text["01.3"].replace("np.where(y == 1, z, -z)", "data['sign'][np.asarray(y, dtype=int)] * z")
    return m.shape(
        {"01.2": [answer, m.check("01.2"), later], "01.3": [margin, m.check("01.3"), "data.close()"]},
        helper_py=helper, parts__more_py=b"BIAS = 1\n", table_npz=table.getvalue(), signs_csv=b"-1,1\n",
    )  # fmt: skip


@shape
def the_old_format_3() -> Shape:
    m = Model()
    cells = [{"cell_type": "code", "language": "python", "metadata": {}, "outputs": [], "collapsed": False,
              "input": c.source, "prompt_number": None} for c in m.cells()]  # fmt: skip
    sheets = [{"cells": cells, "metadata": {}}]
    book = {"metadata": {"name": "x"}, "nbformat": 3, "nbformat_minor": 0, "worksheets": sheets}
    return Shape(m.name, json.dumps(book).encode())


@shape
def no_metadata_and_lines_in_lists() -> Shape:
    m = Model()
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
              "source": c.source.splitlines(keepends=True)} for c in m.cells()]  # fmt: skip
    return Shape(m.name, json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}).encode())


@shape
def a_kernel_that_nobody_has() -> Shape:
    m = Model()
    book = nbformat.reads(m.shape().content, as_version=4)
    kernel = {"name": "conda-env-ml-py", "display_name": "Python [conda env:ml]", "language": "python"}
    book.metadata = {"kernelspec": kernel, "language_info": {"name": "python", "version": "3.9.1"}, "colab": {}}
    return Shape(m.name, nbformat.writes(book).encode())


@shape
def raw_text_and_empty_cells_between() -> Shape:
    m = Model()
    between = [nbformat.v4.new_raw_cell("np = None"), text("```python\nnp = None\n```")]
    between += [code(""), code("  \n\n"), code("# a remark")]
    return m.shape({id: [*between, t, *between, m.check(id)] for id, t in m.text.items()})


@shape
def cells_in_parts_and_answers_twice() -> Shape:
    m = Model()
    grade = {"grade": False, "grade_id": "exercise-01-1", "solution": True, "locked": False, "schema_version": 3}
    twice = [code(m.text["01.1"], nbgrader=grade), code(m.text["01.1"], nbgrader=grade)]
    return m.shape({"01.1": [*twice, m.check("01.1"), m.check("01.1")]})


@shape
def outputs_of_an_earlier_run() -> Shape:
    m = Model()
    cells = m.cells()
    for number, cell in enumerate(cells):
        cell.execution_count = 900 - number
        cell.outputs = [nbformat.v4.new_output("stream", text="01.1 The line: right in all 9 public cases.\n" * 50)]
    return Shape(m.name, written(cells))
