"""Numba's random numbers in a kernel: the generator xoroshiro128+, one state for each thread, bit by bit as Numba's.

Source: Numba's documentation, "Random Number Generation"; D. Blackman and S. Vigna, "Scrambled linear pseudorandom
number generators" (2018). A state is a record of two whole numbers in the array `states`: a number costs two loads and
two stores.
"""

import ast
import math

import numpy as np
from numba.cuda import random

from course_lib.simt.functions import FUNCTIONS, function
from course_lib.simt.memory import View
from course_lib.simt.values import cast, describe, is_number
from course_lib.simt.vocabulary import FIXED, MODULES, NAMES, Cast, register

JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)
"""Bits that say which of 128 steps make a jump of 2**64 steps."""
FULL, F4, F8 = np.dtype(np.uint64), np.dtype(np.float32), np.dtype(np.float64)


class _State:
    """The state that each lane means: two whole numbers in memory."""

    def __init__(self, e, mask, node, states, index):
        if not isinstance(states, View) or states.dtype.names != ("s0", "s1") or states.ndim != 1:
            raise TypeError(
                f"{describe(states)} is no array of states; make it with create_xoroshiro128p_states(n, seed)"
            )
        if not is_number(index) or index.dtype.kind not in "iubf":
            raise TypeError(f"{describe(index)} is no index of a state")
        self.e, self.mask, self.nodes = e, mask, _nodes(node)
        state = e.load(states, [cast(index, np.dtype(np.int64))], mask, node)
        self.fields = [e.field(state, name, node) for name in ("s0", "s1")]

    def read(self):
        return [self.e.load(f, [], self.mask, self.nodes[k]) for k, f in enumerate(self.fields)]

    def write(self, *numbers):
        for k, number in enumerate(numbers):
            self.e.store(self.fields[k], [], number, self.mask, self.nodes[2 + k])

    def step(self):
        """Return the next number of 64 random bits."""
        s0, s1 = self.read()
        result, s1 = s0 + s1, s1 ^ s0
        self.write(_rotated(s0, 55) ^ s1 ^ (s1 << np.uint64(14)), _rotated(s1, 36))
        self.e.machine.count(self.nodes[0].lineno, self.mask)
        return result


def _nodes(node):
    """Return a node of its own for each of four accesses: cells of an access are kept by its node (`places`)."""
    if not hasattr(node, "of_state"):
        node.of_state = [ast.copy_location(ast.Name("state", ast.Load()), node) for _ in range(4)]
    return node.of_state


def _rotated(x, k):
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


def _unit(e, mask, node, bits):
    """Return 53 of the bits as a float64 in [0, 1)."""
    e.machine.count(node.lineno, mask, F8)
    return cast(cast(bits, FULL) >> np.uint64(11), F8) * (1.0 / 2.0**53)


def _word(name):
    return function(f"cuda.random.{name}")


@_word("xoroshiro128p_next")
def _next(e, mask, node, states, index):
    return _State(e, mask, node, states, index).step()


@_word("xoroshiro128p_jump")
def _jump(e, mask, node, states, index):
    state = _State(e, mask, node, states, index)
    s0 = s1 = np.uint64(0)
    for word in JUMP:
        for bit in range(64):
            e.machine.step(node.lineno, mask, 6)
            if word >> bit & 1:
                a, b = state.read()
                s0, s1 = s0 ^ a, s1 ^ b
            state.step()
    state.write(s0, s1)


@_word("init_xoroshiro128p_state")
def _init(e, mask, node, states, index, seed):
    """SplitMix64 makes a state of a seed."""
    z = cast(seed, FULL) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    _State(e, mask, node, states, index).write(z, z)


@_word("xoroshiro128p_uniform_float64")
def _uniform64(e, mask, node, states, index):
    return _unit(e, mask, node, _next(e, mask, node, states, index))


@_word("xoroshiro128p_uniform_float32")
def _uniform32(e, mask, node, states, index):
    return cast(_uniform64(e, mask, node, states, index), F4)


def _normal(dtype):
    def act(e, mask, node, states, index):
        """Box and Muller's transform of two uniform numbers, which are float32 also where the result is float64."""
        u1, u2 = (_uniform32(e, mask, node, states, index) for _ in range(2))
        e.machine.count(node.lineno, mask, dtype, 6)
        radius = np.sqrt(dtype.type(-2) * cast(np.log(u1), dtype))
        return radius * np.cos(dtype.type(2 * math.pi) * cast(u2, dtype))

    return act


FUNCTIONS["cuda.random.xoroshiro128p_normal_float32"] = _normal(F4)
FUNCTIONS["cuda.random.xoroshiro128p_normal_float64"] = _normal(F8)
FUNCTIONS["cuda.random.uint64_to_unit_float64"] = _unit


@_word("uint64_to_unit_float32")
def _unit32(e, mask, node, bits):
    return cast(_unit(e, mask, node, bits), F4)


@_word("rotl")
def _rotl(e, mask, node, x, k):
    x, k = cast(x, FULL), cast(k, FULL)
    return (x << k) | (x >> (np.uint64(64) - k))


MODULES[random] = "cuda.random"
for _name in ("xoroshiro128p_dtype", "xoroshiro128p_type"):
    FIXED[f"cuda.random.{_name}"] = Cast(random.xoroshiro128p_dtype)
    NAMES[f"cuda.random.{_name}"] = lambda lanes: Cast(random.xoroshiro128p_dtype)
register(path for path in FUNCTIONS if path.startswith("cuda.random."))
