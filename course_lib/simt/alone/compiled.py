"""A translation as compiled code, and a call of it: some turns of a loop, all of them ordinary.

Source: the course's own.
"""

import math

import numba
import numpy as np

from course_lib.simt.alone import exact

ROOM = 1 << 16
"""Accesses that a call of the compiled code writes down."""

MOST_CODES = 64
"""Compiled loops that are kept in a process."""

_codes = {}


def code_of(translation):
    """Return the compiled function of a translation; of the same text, the same one."""
    text = written(translation)
    if text not in _codes:
        if len(_codes) >= MOST_CODES:
            _codes.clear()
        names = {"np": np, "math": math, "min": min, "max": max, "abs": abs}
        names |= {n: getattr(exact, n) for n in (
            "floor_divide", "modulo", "left_shift", "right_shift", "whole64", "whole32", "smaller", "larger",
        )}  # fmt: skip
        exec(compile(text, "<turns of one thread>", "exec"), names)  # our own text: see `writer`
        _codes[text] = numba.njit(nogil=True, error_model="numpy")(names["turns"])
    return _codes[text]


def written(translation):
    """Return the text of the function that does turns of a translated loop."""
    text, state = translation.text, translation.state
    out = [own for own, _, _ in state.values()] + [flag for *_, flag in state.values() if flag]
    out += [translation.i.text] if translation.i else []
    counts = [f"k{n}" for n in range(len(text.stretches))]
    kept = [*out, *counts, "e", "steps"]
    memories = range(len(text.memories))
    arrays = [f"{letter}{m}" for m in memories for letter in "cbw"]
    head = [
        f"def turns(site, cell, old, was, did, counts, most, steps, {', '.join([*arrays, *text.parameters])}):",
        "    room = site.size",
        "    e = turns = 0",
        "    bad = False",
        *(f"    {k} = 0" for k in counts),
        *(f"    {name}_ = {name}" for name in kept),
        "    while turns < most:",
        *(f"        {name}_ = {name}" for name in kept),
        "        if steps < 0:",
        "            bad = True",
        "            break",
    ]
    tail = ["    if bad:", "        while e > e_:", "            e -= 1"]
    for s, site in enumerate(text.sites):
        if site.way == "store":
            m = text.memory(site.view.memory)
            tail += [f"            if site[e] == {s}:", f"                b{m}[cell[e]] = old[e]"]
            tail += [] if site.view.memory.all_written else [f"                w{m}[cell[e]] = was[e]"]
    tail += [f"        {name} = {name}_" for name in kept if name != "e"]
    tail += [f"    counts[{n}] = {k}" for n, k in enumerate(counts)]
    return "\n".join([*head, *text.lines, *tail, f"    return {', '.join(['turns', 'e', 'steps', *out])},"]) + "\n"


class Turns:
    """What some turns did: how many, the accesses in their order, how often each stretch was come by, the variables.

    Attributes
    ----------
    count : int
    site, cell, did : (accesses,) arrays
        The place in the text, the element, and for a store what it did to what was there (`races`).
    times : (stretches,) int64 array
    steps : int
        What is left of the budget.
    values : dict of str to number
        The variables that have a value.
    i : number or None
        What a `for` goes on with.
    """

    def __init__(self, code, translation, most, steps):
        text, self.translation = translation.text, translation
        site, cell = np.empty(ROOM, np.int32), np.empty(ROOM, np.int64)
        old, was, did = np.empty(ROOM, np.uint64), np.empty(ROOM, np.bool_), np.zeros(ROOM, np.int8)
        self.times = np.zeros(len(text.stretches), np.int64)
        arrays = []
        for memory in text.memories:
            arrays += [memory.cells, memory.cells.view(f"u{memory.dtype.itemsize}"), memory.written]
        self.count, events, self.steps, *out = code(
            site, cell, old, was, did, self.times, np.int64(most), np.int64(steps), *arrays, *text.parameters.values()
        )  # fmt: skip
        self.site, self.cell, self.did = site[:events], cell[:events], did[:events]
        state = translation.state
        flags = dict(zip([flag for *_, flag in state.values() if flag], out[len(state) :], strict=False))
        self.values = {}
        for (name, (own, dtype, flag)), value in zip(state.items(), out, strict=False):
            text.parameters[own] = dtype.type(value)
            if flag:
                text.parameters[flag] = bool(flags[flag])
            if not flag or flags[flag]:
                self.values[name] = dtype.type(value)
        self.i = None
        if translation.i:
            self.i = text.parameters[translation.i.text] = translation.i.dtype.type(out[-1])
