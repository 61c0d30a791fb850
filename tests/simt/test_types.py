"""Results have the types that Numba's own compiler gives them, so that a float64 in a float32 kernel is seen."""

from types import SimpleNamespace

import numpy as np
import pytest
from numba.core import rewrites, types
from numba.core.compiler import run_frontend
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.core.target_extension import target_override
from numba.core.typed_passes import type_inference_stage
from numba.cuda.cudadrv.error import CudaSupportError
from numba.cuda.descriptor import cuda_target
from numba.np.numpy_support import as_dtype, from_dtype

from course_lib import simt
from course_lib.simt.types import literal
from tests.simt.text import function

EXPRESSIONS = {
    "a + b": "all", "a - b": "all", "a * b": "all", "a / b": "all", "a // b": "all", "a % b": "all",
    "a & b": "whole", "a | b": "whole", "a ^ b": "whole", "a << b": "whole", "a >> b": "whole",
    "a < b": "all", "a == b": "all", "min(a, b)": "all", "max(a, b)": "all",
}  # fmt: skip
WITH_ONE = [
    "-a", "+a", "abs(a)", "a + 1", "1 - a", "a * 2.0", "a / 2", "a // 2", "a % 3", "a < 0.5", "not a", "a + True",
    "float32(a) + 1",
    "float32(a) * float32(2)", "float32(a) + int32(1)", "float64(a)", "int32(a)", "int32(a) + int32(1)", "uint32(a)",
    "int8(a) + int8(1)", "uint8(a) + uint8(1)", "uint64(a) + 1", "uint64(a) + uint32(1)", "bool(a)",
    "math.sqrt(a)", "math.exp(a)", "math.fabs(a)", "math.sin(a)",
    "math.isnan(a)", "math.pow(a, 2)", "math.atan2(a, a)", "math.hypot(a, a)",
    "max(a, 0)", "min(a, 1.0)", "max(a, 0, 2)", "a > 0 and a < 5",
    "cuda.grid(1) + a", "cuda.threadIdx.x + a", "cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x",
    "cuda.threadIdx.x", "cuda.gridsize(1)", "cuda.laneid", "out.size", "out.shape[0] * a",
    "np.float32(a)", "np.int64(a) + np.float32(1)", "math.pi * a", "3", "2.5", "True", "a * 0 + 3000000000",
]  # fmt: skip
WHOLE_WITH_ONE = ["~a", "a | a"]
WHOLE = ["int8", "int32", "int64", "uint8", "uint32", "uint64", "bool"]
FLOATS = ["float32", "float64"]


def numba_dtype(kernel, arguments):
    """Return the dtype that Numba's type inference gives the variable r, or None where it refuses."""
    try:
        with target_override("cuda"):
            typemap = infer(cuda_target, kernel, arguments)
    except CudaSupportError:  # what Numba itself writes in Python, such as min, is compiled: for a CPU then
        typemap = infer(cpu_target, kernel, arguments)
    except TypingError:
        return None
    (found,) = {as_dtype(types.unliteral(t)) for name, t in typemap.items() if name.split(".")[0] == "r"}
    return found


def infer(target, kernel, arguments):
    typing, context, ir = target.typing_context, target.target_context, run_frontend(kernel)
    typing.refresh()
    context.refresh()
    state = SimpleNamespace(
        func_ir=ir, typingctx=typing, targetctx=context, args=arguments, return_type=types.void, locals={},
        typemap=None, calltypes=None, flags=None,
    )  # fmt: skip
    rewrites.rewrite_registry.apply("before-inference", state)
    return type_inference_stage(typing, context, ir, arguments, None).typemap


def our_dtype(kernel, values, monkeypatch):
    """Return the dtype of what the executor stores."""
    stored = []
    machine = simt.run.__globals__["Machine"]
    store = machine.store

    def recording(self, view, indices, value, mask, node):
        if self.lanes.count:  # not while types are looked for
            stored.append(value.dtype)
        return store(self, view, indices, value, mask, node)

    monkeypatch.setattr(machine, "store", recording)
    simt.run(kernel, 1, 1, (*values, np.zeros(1)), on_error="collect")
    assert len(stored) == 1
    return stored[0]


def compare(expression, dtypes, monkeypatch):
    names = "ab"[: len(dtypes)]
    text = "\n".join(
        [
            f"def kernel({', '.join(f'{n}_in' for n in names)}, out):",
            *(f"    {n} = {n}_in[0]" for n in names),
            f"    r = {expression}",
            "    out[0] = r",
        ]
    )
    kernel = function(text)
    arrays = [np.ones(1, d) for d in dtypes]
    arguments = [types.Array(from_dtype(a.dtype), 1, "C") for a in arrays] + [types.Array(types.float64, 1, "C")]
    numba = numba_dtype(kernel, arguments)
    if numba is None:
        with pytest.raises(simt.KernelError):
            our_dtype(kernel, arrays, monkeypatch)
    else:
        assert our_dtype(kernel, arrays, monkeypatch) == numba


@pytest.mark.parametrize("a", [*WHOLE, *FLOATS])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_operation_of_two_has_numbas_type(expression, a, monkeypatch):
    others = WHOLE + (FLOATS if EXPRESSIONS[expression] == "all" else [])
    if expression.startswith("m"):  # min and max are compiled, for each pair: a third of them, others for each a
        others = others[[*WHOLE, *FLOATS].index(a) % 3 :: 3]
    for b in others:
        # Shifts and bits of an unsigned with a signed number, or of booleans, are left out here.
        if EXPRESSIONS[expression] == "whole" and not (a == b != "bool" or {a, b} <= {"int8", "int32", "int64"}):
            continue
        with monkeypatch.context() as patch:
            try:
                compare(expression, (a, b), patch)
            except BaseException as error:
                error.add_note(f"{a} and {b}")
                raise


@pytest.mark.parametrize("a", ["int32", "int64", "uint8", "uint64", "float32", "float64"])
def test_expression_of_one_has_numbas_type(a, monkeypatch):
    wrong = []
    for expression in WITH_ONE + (WHOLE_WITH_ONE if "int" in a else []):
        with monkeypatch.context() as patch:
            try:
                compare(expression, (a,), patch)
            except BaseException as error:
                wrong.append(f"{expression}: {error}")
    assert wrong == []


HALVES = {
    "int8": "float16", "int16": "float32", "int32": "float64", "int64": "float64", "uint8": "float16",
    "uint16": "float32", "uint32": "float64", "uint64": "float64", "float16": "float16", "float32": "float32",
    "float64": "float64",
}  # fmt: skip
"""Which type NVIDIA's numba-cuda 0.30 gives min and max of a float16 and another number."""


@pytest.mark.parametrize("word", ["min", "max"])
def test_smaller_and_larger_of_a_half_have_numba_cudas_type(word, monkeypatch):
    pairs = {f"{word}(a, b)": 0, f"{word}(b, a)": 0}
    for other, result in HALVES.items():
        for expression in pairs:
            kernel = function(f"def kernel(a, b, out):\n    a = a[0]\n    b = b[0]\n    out[0] = {expression}")
            arrays = [np.full(1, 3, np.float16), np.full(1, 2, other)]
            with monkeypatch.context() as patch:
                assert our_dtype(kernel, arrays, patch) == result, (expression, other)
            out = np.zeros(1)
            simt.run(kernel, 1, 1, (*arrays, out))
            assert out == (2 if word == "min" else 3)
    with pytest.raises(simt.KernelError, match=f"Numba has no {word} for float16, bool"):
        simt.run(function(f"def kernel(a):\n    a[0] = {word}(a[0], a[0] > 0)"), 1, 1, (np.zeros(1, np.float16),))


def test_plus_a_half_is_a_half(monkeypatch):
    kernel = function("def kernel(a, out):\n    out[0] = +a[0]")
    assert our_dtype(kernel, [np.ones(1, np.float16)], monkeypatch) == "float16"


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(1, "int64"), (-1, "int64"), (2**63, "uint64"), (1.0, "float64"), (True, "bool"), (np.float32(1), "float32")],
)
def test_number_given_to_a_kernel_has_the_type_that_numba_gives_it(value, dtype):
    assert literal(value).dtype == dtype
