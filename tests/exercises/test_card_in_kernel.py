"""In a real kernel: a card above one line, "Run all" stops where it must, and a loop without end ends alone."""

import nbformat
from notebook_lib.fresh_kernel import run_in_fresh_kernel

from tests.setup.project import ROOT

ENDLESS = """
from course_lib.checks import calling, check
calling.call_here.__defaults__ = (1.0,)  # seconds, so that the test need not wait for ten
alive = "alive"

def corrections_needed(z, x, y, lr):
    n = 0
    while (z >= 0) != y:
        n += 1
    return n

check("01.2", corrections_needed)
"""


def test_an_endless_answer_is_stopped_and_the_kernel_lives_on():
    cells = [nbformat.v4.new_code_cell(text) for text in (ENDLESS, "print(alive)")]
    book = nbformat.v4.new_notebook(cells=cells)
    run_in_fresh_kernel(book, ROOT / "exercises", timeout=120, allow_errors=True)
    shown, error = book.cells[0].outputs
    assert "stopped after 1 s" in shown.data["text/plain"]
    assert "<code>while (z &gt;= 0) != y:</code>" in shown.data["text/html"]
    assert str(ROOT) not in shown.data["text/html"]
    assert 'href="../notebooks/01_perceptron.ipynb#Learning-by-hand"' in shown.data["text/html"]
    assert (error.output_type, error.ename) == ("error", "CheckFailed")
    assert error.traceback == ["CheckFailed: 01.2 is not right yet; the card above says more."]
    assert book.cells[1].outputs[0].text == "alive\n"
