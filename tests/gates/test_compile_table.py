"""The table of compilers is that of the data, and the data are of the kernels that there are."""

import importlib
import sys
from types import SimpleNamespace

import pytest

from tests.gates.launches import LADDERS
from tools import compile_table


def test_the_readme_has_the_table_of_the_data():
    text = compile_table.README.read_text(encoding="utf-8")
    wanted = text[: text.index(compile_table.MARK)] + compile_table.MARK + "\n\n" + compile_table.markdown()
    assert text == wanted, "python tools/compile_table.py --table"


def test_both_compilers_were_asked_for_the_same_kernels_and_numba_cuda_takes_them_all():
    noted = compile_table.data()
    assert list(noted) == list(compile_table.COMPILERS)
    ours, other = (set(noted[c]["kernels"]) for c in compile_table.COMPILERS)
    assert ours == other
    assert all(compile_table._compiles(o) for o in noted["numba-cuda"]["kernels"].values())


@pytest.mark.parametrize("ladder", LADDERS)
def test_every_rung_has_its_kernels_in_the_table(ladder):
    """A new rung: run tools/compile_table.py --compile with both compilers, then --table."""
    names = compile_table.data()["numba-cuda"]["kernels"]
    modules = {name.rsplit(".", 1)[0] for name in names}
    for rung in importlib.import_module(f"course_lib.cuda.ladders.{ladder}").LADDER:
        module = sys.modules[rung.launch.__module__].__name__.removeprefix("course_lib.cuda.")
        assert any(m == module or m.startswith(f"{module.rsplit('.', 1)[0]}.") for m in modules), rung.name


def test_an_error_becomes_a_few_words():
    def fails(text):
        def to_ptx(launch, cc):
            raise TypeError(text)

        return compile_table.outcome(to_ptx, SimpleNamespace(), (9, 0))

    lacking = "ld4 is written for numba-cuda's code generator; numba-cuda-mlir cannot compile a kernel with it."
    assert fails(lacking) == "no: ld4"
    assert fails("This line has triggered a compiler bug: x") == "no: an error in the compiler"
    assert fails("some\n  thing") == "no: TypeError: some thing"
    assert compile_table.outcome(lambda launch, cc: None, None, (9, 0)) == "yes"


def test_a_cell_tells_what_differs_between_cards():
    assert compile_table._cell(["yes", "yes", "yes"]) == "yes"
    assert compile_table._cell(["", "yes", "no: ld4"]) == "-, yes, no: ld4"
    assert compile_table._compiles(["", "yes", "yes"])
    assert not compile_table._compiles(["", "no: ld4"])
    assert not compile_table._compiles([])
