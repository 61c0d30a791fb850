"""What NVIDIA's numba-cuda says of constructs, words and whole kernels, as JSON: `python -m tests.simt.by_numba_cuda`.

In a process of its own, since numba-cuda takes the place of the CUDA target inside Numba, and no card is needed. Its
`range` is the course's own (course_lib/cuda/fastrange.py). Each kernel is compiled to PTX; its name comes with "" or
with the class of the error. What was compiled before, of the same text, is read from `by_numba_cuda.json`
(tests/kept.py).
"""

import functools
import gc
import inspect
import json
import math
import operator
import os
import sys

from tests.gates.compiler import use_compiler
from tests.kept import Kept, digest
from tests.setup.project import ROOT

ANSWERS = ROOT / "tests" / "simt" / "by_numba_cuda.json"
CC = (7, 5)


def statements():
    """Return {name: (kernel, types of its arguments)} of the constructs of test_vocabulary."""
    from numba import types

    from tests.simt import test_vocabulary as table
    from tests.simt.text import function

    arrays = (types.Array(types.float64, 1, "C"),) * 2
    outside = {name: {"thing": os, "T": 4} for name in table.STATEMENTS + table.BLOCKS}
    outside |= {name: {"thing": math, "y": 4} for name in table.ALLOWED}
    found = {name: (function(table.HEAD.format(name), **names), arrays) for name, names in outside.items()}
    return found | {name: (function(f"def kernel(out):\n    {name}"), arrays[:1]) for name in table.WRITES}


def words():
    """Return {name: (kernel, types of its arguments)} of the words and constructs of test_every_word."""
    import cmath

    import numba
    from numba import types
    from numba.cuda import random

    from tests.simt import test_every_word as table
    from tests.simt import test_words_numbers as numbers
    from tests.simt.text import function

    names = {"numba": numba, "cmath": cmath, "random": random, "TABLE": table.np.array([10, 20, 30]), "OUTSIDE": 4}
    names["twice"] = table._twice
    floats, whole = (types.Array(t, 1, "C") for t in (types.float64, types.int32))
    bodies = {f"{word}": body for word, (body, _) in (table.WORDS | table.CONSTRUCTS).items()}
    found = {
        name: (function(table.text_of(body, 8), **names), (floats, whole, floats)) for name, body in bodies.items()
    }
    text = "def kernel(out, a, b):\n    out[0] = {}(a[0], b[0])"
    for path in numbers.OF_TWO:
        found[path] = function(text.format(path), operator=operator), (floats, whole, whole)
    for name in (*table.OF_ONE, *table.OF_TWO):
        call = text if name in table.OF_TWO else text.replace(", b[0])", ")")
        kind = whole if name.startswith(("bitwise", "invert")) or "shift" in name else floats
        found[f"np.{name}"] = function(call.format(f"np.{name}")), (floats, kind, kind)
    return found


def taken_apart():
    """Return {name: (kernel, types of its arguments)} of the rows of test_words_taken_apart."""
    from numba import types

    from tests.simt import test_words_taken_apart as table
    from tests.simt.text import function

    arrays = [types.Array(types.float64, ndim, "C") for ndim in (2, 1, 1)]
    texts = {body: table.text_of(body) for body in (*table.VALUES, *table.REFUSED)}
    return {body: (function(text, TABLE=table.TABLE), (*arrays, types.int64)) for body, text in texts.items()}


def corpus():
    """Return {name: (kernel, types of its arguments)} of the broken and correct kernels."""
    import tests.simt.broken
    import tests.simt.correct  # noqa: F401  their kernels enter themselves
    from tests.simt.corpus import BROKEN, CORRECT

    wrong = {n for n, c in BROKEN.items() if c.refused and c.refused.error == "TypeError"}  # of arguments
    cases = {n: c for n, c in (BROKEN | CORRECT).items() if n not in wrong | {"sum_that_was_never_begun"}}
    kernels = {name: getattr(case.kernel, "py_func", case.kernel) for name, case in cases.items()}
    return {f"kernel {name}": (k, tuple(map(numba_type, cases[name].arguments()))) for name, k in kernels.items()}


def numba_type(argument):
    """Return the Numba type of an argument; a DeviceArray counts as the array of its numbers."""
    import numpy as np
    from numba import types
    from numba.np.numpy_support import from_dtype

    array = getattr(argument, "numbers", argument)
    if isinstance(argument, tuple):
        return types.Tuple([numba_type(part) for part in argument])
    if isinstance(array, np.ndarray):
        layout = "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "A"
        return types.Array(from_dtype(array.dtype), array.ndim, layout, readonly=not array.flags.writeable)
    if array is None:
        return types.none
    return from_dtype(array.dtype) if isinstance(array, np.generic) else types.int64


def answers(kept):
    """Yield (name, "" or the class of an error) of each kernel, kept or compiled here, after `use_compiler`."""
    gc.set_threshold(200_000, 50, 1000)  # a compiler makes many small objects, and keeps them
    from course_lib.cuda.compile_report import _no_device_needed
    from course_lib.cuda.unroll import fingerprint

    with _no_device_needed(CC):
        for name, (kernel, arguments) in {**statements(), **words(), **taken_apart(), **corpus()}.items():
            key = digest(fingerprint(kernel), str(arguments), str(CC), inspect.getsource(said))
            yield name, kept.answer(key, functools.partial(said, kernel, arguments))


def said(kernel, arguments):
    """Return "" where numba-cuda compiles a kernel, else the class of its error."""
    from numba import cuda, types

    try:
        cuda.compile(kernel, types.void(*arguments), cc=CC, output="ptx", abi="numba", device=False)
    except Exception as error:  # of many classes: what counts is that there is one
        return type(error).__name__
    return ""


if __name__ == "__main__":
    use_compiler()
    kept = Kept(ANSWERS)
    said_of = dict(answers(kept))
    shown = {"answers": said_of, "usable": kept.usable, "missing": len(kept.missing), "more": len(kept.superfluous())}
    json.dump(shown, sys.stdout)
