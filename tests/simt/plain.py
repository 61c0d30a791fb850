"""The same kernels as plain Python: one thread after the other, for kernels without barriers."""

import itertools
import types

import numpy as np
from numba import cuda


class _Axes:
    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z


class _Cuda:
    """Stands in for the module numba.cuda while one thread runs."""

    def __init__(self, grid, block, where, thread):
        self.gridDim, self.blockDim, self.blockIdx, self.threadIdx = map(
            lambda t: _Axes(*t), (grid, block, where, thread)
        )
        self._grid, self._block, self._where, self._thread = grid, block, where, thread
        self.local = types.SimpleNamespace(array=lambda shape, dtype: np.zeros(shape, str(dtype)))
        self.atomic = types.SimpleNamespace(
            add=self._atomic(lambda a, b: a + b), sub=self._atomic(lambda a, b: a - b),
            max=self._atomic(max), min=self._atomic(min),
        )  # fmt: skip

    @staticmethod
    def _atomic(combine):
        def act(array, index, value):
            old = array[index]
            array[index] = combine(old, value)
            return old

        return act

    def grid(self, n):
        axes = [b * s + t for b, s, t in zip(self._where, self._block, self._thread, strict=True)]
        return axes[0] if n == 1 else tuple(axes[:n])

    def gridsize(self, n):
        axes = [g * b for g, b in zip(self._grid, self._block, strict=True)]
        return axes[0] if n == 1 else tuple(axes[:n])


def run(kernel, grid, block, arguments):
    """Run a kernel in place, as Python would, thread after thread."""
    grid, block = ((*(v if isinstance(v, tuple) else (v,)), 1, 1)[:3] for v in (grid, block))
    for where in itertools.product(*map(range, reversed(grid))):
        for thread in itertools.product(*map(range, reversed(block))):
            stand_in = _Cuda(grid, block, where[::-1], thread[::-1])
            names = {k: stand_in if v is cuda else v for k, v in kernel.__globals__.items()}
            types.FunctionType(kernel.__code__, names, closure=kernel.__closure__)(*arguments)
