"""Kernels that look dangerous and are not: none may have a finding, and each has NumPy's result."""

from tests.simt.correct import atomics, elementwise, python, reductions, shared, tiles, warps

__all__ = ["atomics", "elementwise", "python", "reductions", "shared", "tiles", "warps"]
