"""A launch of a kernel: grid, block, arguments from a seeded generator, expected results.

Needs only NumPy and Numba: `tools/measure_traffic.py` imports it on a machine that has nothing else of the course.
"""

import hashlib
import inspect
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Case:
    """One launch. `make(rng)` returns (arguments, {position of an output: expected array})."""

    name: str
    kernel: object
    grid: tuple
    block: tuple
    make: object
    shared: int = 0
    tolerance: float = 0.0
    """Relative; 0 is exact. Only where a function such as exp is rounded differently on a card."""

    def arguments(self):
        """Return fresh (arguments, expected), the same ones each time."""
        return self.make(np.random.default_rng(7))

    def sha256(self):
        """Return a digest of the kernel's text, its constants and its launch: a measurement belongs to one digest."""
        arguments, _ = self.arguments()
        parts = [inspect.getsource(self.kernel), f"{self.grid} {self.block} {self.shared}"]
        for name, value in sorted(inspect.getclosurevars(self.kernel).globals.items()):
            if hasattr(value, "py_func"):
                parts.append(inspect.getsource(value.py_func))
            elif isinstance(value, int | float | np.ndarray):
                parts.append(f"{name} {_text(value)}")
        parts += [_text(a) for a in arguments]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def check(self, arguments, expected):
        """Compare arguments after a run with what is expected, outputs and inputs; AssertionError where they differ."""
        for i, argument in enumerate(arguments):
            if not isinstance(argument, np.ndarray):
                continue
            if i in expected and self.tolerance:
                np.testing.assert_allclose(argument, expected[i], rtol=self.tolerance, atol=0)
            else:
                np.testing.assert_array_equal(argument, expected[i] if i in expected else self.arguments()[0][i])


LAUNCHES: dict[str, Case] = {}


def launch(kernel, grid, block, name=None, shared=0, tolerance=0.0):
    """Decorate the function that makes a launch's arguments, and enter it in LAUNCHES."""

    def enter(make):
        case = Case(name or kernel.__name__, kernel, _triple(grid), _triple(block), make, shared, tolerance)
        assert case.name not in LAUNCHES, case.name
        LAUNCHES[case.name] = case
        return make

    return enter


def _text(value):
    if not isinstance(value, np.ndarray):
        return str(value)
    return f"{value.dtype} {value.shape} {value.strides} {hashlib.sha256(value.tobytes()).hexdigest()}"


def _triple(sizes):
    return (*(sizes if isinstance(sizes, tuple) else (sizes,)), 1, 1)[:3]


def integers(rng, *shape):
    """Return (...) float32 whole numbers from -4 to 4."""
    return rng.integers(-4, 5, shape).astype(np.float32)


def empty(*shape):
    """Return a (...) float32 output that nobody has written: NaN."""
    return np.full(shape, np.nan, np.float32)
