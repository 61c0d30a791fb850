"""Kernels from a text, for tests with one construct each."""

import inspect
import itertools
import linecache
import math
import textwrap

import numpy as np
from numba import cuda, float32, float64, int8, int16, int32, int64, uint8, uint32, uint64

NAMES = {
    "cuda": cuda, "math": math, "np": np, "float32": float32, "float64": float64, "int8": int8, "int16": int16,
    "int32": int32, "int64": int64, "uint8": uint8, "uint32": uint32, "uint64": uint64,
}  # fmt: skip
_number = itertools.count()


def function(text, name="kernel", **outside):
    """Return the function `name` of a text; its source can be read like that of a file. Line 1 is the first line."""
    text = textwrap.dedent(text).lstrip("\n")
    file = f"<kernel text {next(_number)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {**NAMES, **outside}
    exec(compile(text, file, "exec"), names)
    return names[name]


def line_of(kernel, mark="# bad"):
    """Return the number of the one line of a kernel's source with a mark."""
    lines, first = inspect.getsourcelines(kernel)
    found = [first + i for i, line in enumerate(lines) if mark in line]
    assert len(found) == 1, f"{kernel.__name__} has {len(found)} lines with {mark!r}"
    return found[0]
