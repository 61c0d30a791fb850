"""The kernels of the corpus are what a student runs on a card: Numba's CUDA compiler takes them, refused ones aside.

No card is needed: Numba compiles up to LLVM without one, for a named compute capability.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from numba.core import types
from numba.core.errors import NumbaError
from numba.cuda import api, compiler, dispatcher
from numba.np.numpy_support import from_dtype

import tests.simt.broken
import tests.simt.correct  # noqa: F401  its kernels enter themselves
from tests.simt.corpus import BROKEN, CORRECT

TURING = (7, 5)
NEWER = {
    "all_indices_of_an_array", "membership", "rows_of_different_lengths", "array_reduces_itself",
    "defaults_and_keywords", "any_number_of_arguments", "array_or_none",
}  # fmt: skip
"""numba-cuda takes these; the CUDA target inside Numba 0.68 lacks np.ndindex, array.sum, in, and defaults."""

UNCHECKED = {"copies_into_global_memory"}
"""Numba compiles it, and the card stops: memory spaces are no types."""

ARGUMENTS_ARE_WRONG = {n for n, c in BROKEN.items() if c.refused and c.refused.error == "TypeError"}
COMPILED = {
    n: c for n, c in (*BROKEN.items(), *CORRECT.items())
    if n not in ARGUMENTS_ARE_WRONG | {"sum_that_was_never_begun"}
}  # fmt: skip
REFUSED = {
    n: c for n, c in COMPILED.items()
    if c in BROKEN.values() and c.refused and c.refused.mark and "steps" not in c.options and "kilobytes" not in n
}  # fmt: skip


def numba_type(argument):
    """Return the Numba type of an argument; a DeviceArray counts as the array of its numbers."""
    array = getattr(argument, "numbers", argument)
    if isinstance(argument, tuple):
        return types.Tuple([numba_type(part) for part in argument])
    if isinstance(array, np.ndarray):
        layout = "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "A"
        return types.Array(from_dtype(array.dtype), array.ndim, layout, readonly=not array.flags.writeable)
    return from_dtype(array.dtype) if isinstance(array, np.generic) else types.int64


def compiled(case, monkeypatch):
    """Let Numba compile a kernel; skip where a bug of Numba's own stops it."""
    for module in (api, compiler, dispatcher):
        monkeypatch.setattr(module, "get_current_device", lambda: SimpleNamespace(compute_capability=TURING))
    try:
        compiler.compile_cuda(case.kernel, types.void, tuple(map(numba_type, case.arguments())), cc=TURING)
    except NumbaError as error:
        if "unexpected keyword argument 'alignment'" in str(error):
            pytest.skip("arrays with an alignment need numba-cuda; the CUDA target inside Numba 0.68 has none")
        raise
    except TypeError as error:
        if "Signature mismatch: 2 argument types given, but function takes 1" in str(error):
            pytest.skip("the CUDA target inside Numba 0.68 cannot compile max and min of two numbers, a bug of its own")
        raise


@pytest.mark.parametrize("case", [c for n, c in COMPILED.items() if n not in REFUSED], ids=[
    n for n in COMPILED if n not in REFUSED
])  # fmt: skip
def test_kernel_is_one_that_numba_compiles(case, monkeypatch):
    if case.kernel.__name__ in NEWER:
        pytest.skip("needs numba-cuda: the CUDA target inside Numba 0.68 lacks a word of it")
    compiled(case, monkeypatch)


@pytest.mark.parametrize("name", [n for n in REFUSED if n not in UNCHECKED])
def test_what_the_executor_refuses_numba_refuses_too(name, monkeypatch):
    # ImportError: Numba has @ by way of SciPy, and not for kernels.
    with pytest.raises((NumbaError, TypeError, AttributeError, NotImplementedError, ImportError)):
        compiled(REFUSED[name], monkeypatch)


@pytest.mark.parametrize("name", sorted(UNCHECKED))
def test_what_only_the_executor_refuses_is_known(name, monkeypatch):
    compiled(REFUSED[name], monkeypatch)
