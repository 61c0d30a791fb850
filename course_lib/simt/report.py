"""What a launch cost and what was found, to read and to test.

Source: the course's own.
"""

from dataclasses import asdict

from course_lib.simt.counters import Counters


class Report:
    """What a launch cost and what was found: `counters` by line, `total`, `hazards`.

    Source: the course's own.
    """

    def __init__(self, source, grid, block, machine):
        self.kernel, self.grid, self.block = source.name, grid, block
        self.text = source.lines
        self.counters = dict(sorted(machine.counters.items()))
        self.total = sum(self.counters.values(), Counters())
        self.hazards = list(machine.hazards.values())

    def to_dict(self):
        """Return everything as plain numbers, texts, lists and dicts."""
        return {
            "kernel": self.kernel,
            "grid": list(self.grid),
            "block": list(self.block),
            "total": asdict(self.total),
            "lines": {line: asdict(c) for line, c in self.counters.items()},
            "hazards": [asdict(h) for h in self.hazards],
        }

    def __str__(self):
        t = self.total
        lines = [
            f"{self.kernel}: grid {self.grid}, block {self.block}",
            *(f"  ! {hazard}" for hazard in self.hazards),
            f"  global loads  {t.global_load_requests:>10,} requests {t.global_load_sectors:>12,} sectors",
            f"  global stores {t.global_store_requests:>10,} requests {t.global_store_sectors:>12,} sectors",
            f"  shared loads  {t.shared_load_requests:>10,} requests {t.shared_load_conflicts:>12,} bank conflicts",
            f"  shared stores {t.shared_store_requests:>10,} requests {t.shared_store_conflicts:>12,} bank conflicts",
            f"  active lanes {t.active_share:.0%}, divergent branches {t.divergent_branches:,} of {t.branches:,}, "
            f"floating-point operations {t.flops:,}"
            + (f" ({t.float64_flops:,} in float64)" if t.float64_flops else ""),
        ]
        return "\n".join(lines)
