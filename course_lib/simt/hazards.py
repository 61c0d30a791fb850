"""What can go wrong in a launch, and which of it matters most.

Source: the course's own; the kinds are those of NVIDIA's "Compute Sanitizer" and more.
"""

from dataclasses import dataclass, field

from course_lib.simt.gather import where


@dataclass
class Hazard:
    """One finding: what kind, where, who, and what to do. `severity` is "error" or "advice".

    `details` has `thread` and `block` as triples (x, y, z), `phase` (barriers that the block had passed), and, where
    they apply, `index`, `other_thread`, `other_block`, `other_line`; of a race `did` and `other_did`, such as "reads"
    and "wrote", and whether both threads are of `one_warp`; of a barrier `came` and `returned`, threads of the block
    as [first, last] numbers.
    Source: the course's own.
    """

    kind: str
    line: int
    message: str
    fix: str
    count: int = 1
    array: str = ""
    details: dict = field(default_factory=dict)
    severity: str = "error"
    function: str = ""

    def __str__(self):
        times = f" ({self.count:,} times)" if self.count > 1 else ""
        return f"{where(self)}: {self.message}{times} {self.fix}"


IMPORTANCE = (
    "out of bounds", "raised", "misaligned", "barrier not reached", "warp operation not reached", "unset variable",
    "race", "unwritten memory", "negative index", "division by zero", "never written", "same value", "early return",
    "unaligned record",
    "float64", "uncoalesced", "bank conflicts",
)  # fmt: skip
"""Kinds of findings; what can make another finding comes first."""


def by_importance(hazards):
    """Return a list of hazards, most important first, and within a kind by line; kinds without a place come last.

    Of races those between two warps come first: they need a barrier, which mends most of those within a warp too.
    """
    places = {kind: i for i, kind in enumerate(IMPORTANCE)}
    return sorted(hazards, key=lambda h: (places.get(h.kind, len(places)), h.details.get("one_warp", False), h.line))
