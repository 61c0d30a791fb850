"""What a launch cost and what was found, to read and to test.

Source: the course's own.
"""

import math
from dataclasses import asdict

import numpy as np

from course_lib.simt.counters import Counters, Line
from course_lib.simt.hazards import by_importance
from course_lib.simt.show.offers import Pictures


class Report(Pictures):
    """What a launch cost and what was found.

    Attributes
    ----------
    kernel : str
    grid, block : triples of int
    shared_bytes : int
        Of each block, static and dynamic.
    lines : list of Line
        Every line of the kernel, and then of the device functions it called, with its counters.
    total : Counters
    arrays : dict of str to ArrayUse
    accesses : list of Access
        What the first block touched, for each place in the text that reads or writes.
    hazards, advice : lists of Hazard
        Most important first. Advice is what is no mistake, or does no harm on the GPUs that there are.
    printed : list of str
        Lines that threads printed, in the order of blocks and threads; `not_printed` more are not kept.
    worked : (blocks * threads,) bool array or None
        Which threads read or wrote memory at all, block by block, x fastest: the others were kept out by a guard. None
        for more than 65,536 threads, and without counters.
    sampled : (int, int) or None
        Where the counters come from some of the blocks only: how many of them, and of how many.

    Source: the course's own.
    """

    def __init__(self, source, grid, block, machine):
        self.kernel, self.grid, self.block = source.name, grid, block
        self.shared_bytes = machine.static_bytes + machine.dynamic_bytes
        self.lines = [
            Line(function, number, text, machine.counters_of[function].get(number, Counters()))
            for function, its_source in machine.sources.items()
            for number, text in its_source.lines.items()
        ]
        self.total = sum((line.counters for line in self.lines), Counters())
        self.arrays, self.accesses = dict(machine.uses), list(machine.accesses.values())
        self.printed, self.sampled = list(machine.printed), machine.sampled
        self.not_printed, self.worked = machine.not_printed, machine.worked
        found = by_importance(machine.hazards.values())
        self.hazards = [h for h in found if h.severity == "error"]
        self.advice = [h for h in found if h.severity != "error"]
        self._block_bits = machine.block_bits
        self._writers = {m.name: (m.shape, m.shadow.writers()) for m in machine.memories if m.shadow}

    def line(self, number, function=None):
        """Return the Line with a number, of the kernel or of a device function.

        Raises
        ------
        KeyError
            If there is none.
        """
        for line in self.lines:
            if line.number == number and line.function == (function or self.kernel):
                return line
        raise KeyError(f"{function or self.kernel} has no line {number}.")

    def writer(self, array, index):
        """Return (block, thread), each as (x, y, z), that wrote an element of an argument last; None if nobody did.

        None also where accesses were not looked after (races=False), or the array is no contiguous one in row-major
        order, by itself.
        """
        shape, writers = self._writers.get(array, ((), ()))
        if len(index) != len(shape) or len(writers) != math.prod(shape):
            return None
        number = int(writers[np.ravel_multi_index(index, shape)]) - 1
        if number < 0:
            return None
        return _triple(number >> self._block_bits, self.grid), _triple(
            number & ((1 << self._block_bits) - 1), self.block
        )

    def to_dict(self):
        """Return everything but the accesses as plain numbers, texts, lists and dicts."""
        return {
            "kernel": self.kernel,
            "grid": list(self.grid),
            "block": list(self.block),
            "shared_bytes": self.shared_bytes,
            "total": asdict(self.total),
            "lines": [asdict(line) for line in self.lines],
            "arrays": {name: {**asdict(use), "reuse": use.reuse} for name, use in self.arrays.items()},
            "hazards": [asdict(h) for h in self.hazards],
            "advice": [asdict(h) for h in self.advice],
            "printed": list(self.printed),
            "sampled": list(self.sampled) if self.sampled else None,
        }

    def _repr_html_(self):
        from course_lib.simt.show.display import html

        return html(self)

    def __str__(self):
        from course_lib.simt.show.text import text

        return text(self)

    __repr__ = __str__


def _triple(number, sizes):
    """Return (x, y, z) of a block or thread by its number, x fastest."""
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)
