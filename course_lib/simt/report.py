"""What a launch cost and what was found, to read and to test.

Source: the course's own.
"""

from dataclasses import asdict

from course_lib.simt.counters import Counters, Line
from course_lib.simt.hazards import by_importance


class Report:
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
        Most important first.

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
        self.hazards, self.advice = by_importance(machine.hazards.values()), []

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
        }

    def __str__(self):
        t = self.total
        lines = [
            f"{self.kernel}: grid {self.grid}, block {self.block}",
            *(f"  ! {hazard}" for hazard in self.hazards),
            *(f"  - {hazard}" for hazard in self.advice),
            f"  global loads  {t.global_load_requests:>10,} requests {t.global_load_sectors:>12,} sectors",
            f"  global stores {t.global_store_requests:>10,} requests {t.global_store_sectors:>12,} sectors",
            f"  shared loads  {t.shared_load_requests:>10,} requests {t.shared_load_conflicts:>12,} bank conflicts",
            f"  shared stores {t.shared_store_requests:>10,} requests {t.shared_store_conflicts:>12,} bank conflicts",
            f"  active lanes {t.active_share:.0%}, divergent branches {t.divergent_branches:,} of {t.branches:,}, "
            f"floating-point operations {t.flops:,}"
            + (f" ({t.float64_flops:,} in float64)" if t.float64_flops else ""),
        ]
        return "\n".join(lines)
