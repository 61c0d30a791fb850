"""What a compiler knows of a value of a kernel's text: its number, or at least with which loops it changes.

Source: Aho, Lam, Sethi, Ullman, "Compilers", "Machine-Independent Optimizations" (constant folding, code motion).
"""

import ast
from dataclasses import dataclass, replace

import numpy as np

WIDEST = 2**63

NONE = frozenset()


@dataclass(frozen=True)
class Value:
    """A value of a kernel's text.

    Attributes
    ----------
    varies : frozenset or None
        Loops with whose turns the part changes that only the launch knows; None where the text says all.
    shift : frozenset
        Loops, written out, with which a part changes that the text says, such as q in `v + q`.
    number : int or None
        The whole number that it always is.
    floating : bool
    items : tuple of Value or None
        Of a tuple.

    Source: the course's own.
    """

    varies: frozenset | None = None
    shift: frozenset = NONE
    number: int | None = None
    floating: bool = False
    items: tuple | None = None

    @property
    def known(self):
        """Whether the text says it, in each turn of loops that are written out."""
        return self.varies is None

    @property
    def loops(self):
        """All loops with which it changes."""
        return (self.varies or NONE) | self.shift


def together(values):
    """Return the `Value` of what is made of several. No errors. Source: the course's own."""
    varies = None if all(v.known for v in values) else NONE.union(*(v.varies or NONE for v in values))
    return Value(varies, NONE.union(*(v.shift for v in values)), None, any(v.floating for v in values))


def either(first, second):
    """Return the `Value` of a name that is given the one here, the other there. No errors."""
    return replace(together([first, second]), number=first.number if first == second else None)


def folded(op, left, right):
    """Return the number of `left op right` for whole numbers, None where a compiler would not say. No errors."""
    ways = {
        ast.Add: lambda: left + right, ast.Sub: lambda: left - right, ast.Mult: lambda: left * right,
        ast.FloorDiv: lambda: left // right, ast.Mod: lambda: left % right, ast.BitAnd: lambda: left & right,
        ast.LShift: lambda: left << min(right, 64), ast.RShift: lambda: left >> min(right, 64),
    }  # fmt: skip
    try:
        number = ways[type(op)]()
    except (KeyError, ZeroDivisionError, ValueError):
        return None
    return number if -WIDEST <= number < WIDEST else None


def turns(numbers):
    """Return how many numbers range(*numbers) has, None where one of them is not known or it is no range. No errors."""
    if not 1 <= len(numbers) <= 3 or None in numbers:
        return None
    try:
        return len(range(*numbers))
    except (ValueError, OverflowError):
        return None


def dotted(node):
    """Return a name with points, such as "cuda.shared.array", "" for another expression. No errors."""
    if isinstance(node, ast.Name):
        return node.id
    base = dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{base}.{node.attr}" if base else ""


def space_of(node):
    """Return "shared", "local" or "constant" for a call that makes an array there, else "". No errors."""
    called = dotted(node.func) if isinstance(node, ast.Call) else ""
    made = {"shared.array": "shared", "local.array": "local", "const.array_like": "constant"}
    return next((space for words, space in made.items() if called.endswith(words)), "")


def outside(value):
    """Return the `Value` of what a name from outside the kernel stands for, None where it is no number. No errors."""
    if isinstance(value, bool | int | np.integer):
        return Value(number=int(value))
    return Value(floating=True) if isinstance(value, float | np.floating) else None
