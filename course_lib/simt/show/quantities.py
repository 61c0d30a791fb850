"""What two reports are compared by: each quantity of both sides, in words, and which side is better.

Source: the course's own.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from course_lib.simt.show import wording
from course_lib.simt.show.measures import conflicts, efficiency, sectors
from course_lib.simt.traffic import SECTOR


@dataclass(frozen=True)
class Row:
    """One quantity of both sides. `better` is "less", "more" or "" where neither is; `words(value)` writes a value.

    Source: the course's own.
    """

    quantity: str
    a: float
    b: float
    better: str = ""
    words: Callable = "{:,}".format

    @property
    def change(self):
        """How b differs from a, in words: "8.0x less", "3 % more", "equal", "gone", "new"."""
        if self.a == self.b:
            return "equal"
        if not self.a or not self.b:
            return "new" if self.b else "gone"
        ratio, word = self.b / self.a, "less" if self.b < self.a else "more"
        times = max(ratio, 1 / ratio)
        if times < 1.1:
            return f"{wording.percent(abs(ratio - 1))} {word}"
        return f"{times:.1f}x {word}" if times < 99.5 else f"{times:,.0f}x {word}"

    @property
    def winner(self):
        """ "a", "b" or "" where the sides are equal or neither is better."""
        if not self.better or self.a == self.b:
            return ""
        return "a" if (self.a < self.b) == (self.better == "less") else "b"

    @property
    def distance(self):
        """How far the sides are apart: the logarithm of their ratio; a side that is 0 counts as less than 1."""
        if self.a == self.b:
            return 0.0
        low, high = sorted((self.a, self.b))
        return math.log(high / low) if low else math.log1p(high)


def quantities(a, b):
    """Yield a `Row` for each quantity of two reports, also for those that neither has. Source: the course's own."""

    def row(quantity, read, better="", words="{:,}".format):
        return Row(quantity, read(a.total), read(b.total), better, words)

    yield Row("hazards", len(a.hazards), len(b.hazards), "less")
    yield row("global requests", lambda c: c.global_load_requests + c.global_store_requests, "less")
    yield row("global sectors", sectors, "less")
    yield row("bytes moved", lambda c: SECTOR * sectors(c), "less", wording.size)
    yield row("of them used", efficiency, "more", wording.percent)
    yield row("shared requests", lambda c: c.shared_load_requests + c.shared_store_requests)
    yield row("bank conflicts", conflicts, "less")
    yield row("atomic requests", lambda c: c.atomic_requests)
    yield row("further atomic rounds", lambda c: c.atomic_serialised, "less")
    yield row("local memory requests", lambda c: c.local_load_requests + c.local_store_requests, "less")
    yield row("barriers", lambda c: c.barriers)
    yield row("instructions", lambda c: c.instructions, "less")
    yield row("active lanes", lambda c: c.active_share, "more", wording.percent)
    yield row("divergent branches", lambda c: c.divergent_branches, "less")
    yield row("floating-point operations", lambda c: c.flops)
    yield row("of them in float64", lambda c: c.float64_flops, "less")
    yield row("operations a byte moved", lambda c: wording.intensity(c) or 0, "more", "{:.2f}".format)
    ours, theirs = global_arrays(a), global_arrays(b)
    for name in (n for n in ours if n in theirs):
        if ours[name].loads or theirs[name].loads:
            reuse = (u.reuse if u.loads else 0 for u in (ours[name], theirs[name]))
            yield Row(f"global loads for each element of {name}", *reuse, "less", "{:.1f}".format)
    yield Row("shared memory a block", a.shared_bytes, b.shared_bytes, "", wording.size)
    yield from _estimates(a, b)


def _estimates(a, b):
    """Yield what a device would do with both; nothing where it would refuse one of them."""
    from course_lib.simt.estimate.bound import duration, predict

    try:
        one, other = (predict(r, wording.device(r)) for r in (a, b))
    except ValueError:
        return
    yield Row("occupancy", one.occupancy.share, other.occupancy.share, "more", wording.percent)
    if one.seconds and other.seconds:  # else a launch is too small to say
        near = max(one.seconds, other.seconds) < 1.1 * min(one.seconds, other.seconds)  # too near for an estimate
        yield Row("predicted time", one.seconds, other.seconds, "" if near else "less", duration)


def global_arrays(report):
    """Return the arrays of global memory, {name: ArrayUse}."""
    return {name: use for name, use in report.arrays.items() if use.space == "global"}
