"""The levels of a reduction in shared memory, found in what lanes read and wrote; nothing is taken from the text.

Source: the course's own; M. Harris, "Optimizing Parallel Reduction in CUDA" (the tree). A *level* is the time between
two barriers in which lanes put several elements together and write one of them.
"""

import itertools
from dataclasses import dataclass, field

from course_lib.simt.lanes import WARP


@dataclass
class Level:
    """What happened between two barriers: lane -> (element it wrote, elements it had read), in order of lanes.

    `line` is that of the first write; `raced` says whether the trace has a race in it. Source: the course's own.
    """

    line: int
    edges: dict = field(default_factory=dict)
    raced: bool = False

    @property
    def lanes(self):
        """How many lanes put elements together."""
        return len(self.edges)

    @property
    def warps(self):
        """How many warps have such a lane, and so many times the hardware issues the instruction."""
        return len({lane // WARP for lane in self.edges})

    @property
    def split(self):
        """How many of these warps have idle lanes too."""
        counts = {}
        for lane in self.edges:
            counts[lane // WARP] = counts.get(lane // WARP, 0) + 1
        return sum(count < WARP for count in counts.values())


def levels_of(trace, array=None):
    """Return (name of the shared array, the elements that were filled before, list of Level).

    Raises
    ------
    ValueError
        If the trace has not all warps of the block; if there is no such array; if it is no reduction.

    Source: the course's own.
    """
    threads = trace.block[0] * trace.block[1] * trace.block[2]
    if trace.document["threads"] < threads:
        raise ValueError(
            f"the trace follows {trace.document['threads']} of the block's {threads} threads; a tree needs them all: "
            "gpu.trace(..., warp=None)."
        )
    shared = {a["name"]: a for a in trace.document["arrays"] if a["space"] == "shared"}
    if array is not None and array not in shared:
        raise ValueError(f"no shared array is called {array!r}; there are {', '.join(shared) or 'none'}.")
    if not shared:
        raise ValueError(f"{trace.kernel} uses no shared memory; a tree is drawn of a reduction in a shared array.")
    why = {}
    for name in [array] if array else shared:
        try:
            filled, levels = _levels(trace, name)
            _check(name, levels)
        except _NoReduction as error:
            why[name] = str(error)
            continue
        return name, filled, levels
    reasons = " ".join(f"{name}: {reason}" for name, reason in why.items())
    raise ValueError(f"{trace.kernel} is no reduction in shared memory. {reasons}")


class _NoReduction(Exception):
    """Why the accesses to an array are no reduction."""


def _levels(trace, name):
    """Return (elements that were written without being put together, Levels), for one array."""
    array = next(a for a in trace.document["arrays"] if a["name"] == name)
    read, filled, levels, current = {}, set(), [], None
    for step in trace.steps:
        if step.barrier:
            current = None
            continue
        for access in (a for a in step.accesses if a.array == name):
            for lane, index in zip(access.lanes, access.index, strict=True):
                element = _flat(index, array["shape"])
                if access.way == "load":
                    read.setdefault(lane, set()).add(element)
                    continue
                sources = read.pop(lane, set())
                if len(sources) < 2:
                    filled.add(element)
                    continue
                if current is None:
                    current = Level(step.line)
                    levels.append(current)
                if lane in current.edges:
                    raise _NoReduction(
                        f"lane {lane} writes twice between two barriers, {name}[{current.edges[lane][0]}] and "
                        f"{name}[{element}]: the levels cannot be told apart."
                    )
                current.edges[lane] = element, tuple(sorted(sources))
        if current is not None and any(f.kind == "race" and f.array == name for f in step.findings):
            current.raced = True
    for level in levels:
        level.edges = dict(sorted(level.edges.items()))
    return filled, levels


def _flat(index, shape):
    place = 0
    for i, size in zip(index, shape, strict=True):
        place = place * size + i
    return place


def _check(name, levels):
    """Raise unless every element goes into one other, and they become fewer."""
    if not levels:
        raise _NoReduction("no lane reads two elements and writes one.")
    for level in levels:
        owner, written = {}, set()
        for lane, (element, sources) in level.edges.items():
            if element in written:
                raise _NoReduction(f"several lanes write {name}[{element}] in line {level.line}.")
            written.add(element)
            for source in sources:
                if source in owner:
                    raise _NoReduction(
                        f"in line {level.line} lanes {owner[source]} and {lane} both read {name}[{source}]; in a tree "
                        "each element goes into one other. A scan or a stencil reads elements twice."
                    )
                owner[source] = lane
    for before, after in itertools.pairwise(levels):
        if after.lanes >= before.lanes:
            raise _NoReduction(
                f"line {after.line} puts {after.lanes} results together after line {before.line} had {before.lanes}; "
                "in a tree they become fewer."
            )
