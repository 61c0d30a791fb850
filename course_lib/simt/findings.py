"""How a race is told: who, where, what the other thread did, and what to do about it.

Source: the course's own; NVIDIA, "CUDA C++ Programming Guide", "Synchronization Functions".
"""

import ast

from course_lib.simt.lanes import WARP

DID = "wrote", "read", "changed with cuda.atomic"
"""What the other thread of a race did, by `races.WROTE`, `READ` and `COUNTED`."""


class RaceFindings:
    """The part of a `Machine` that tells races. Source: the course's own."""

    def _race(self, verb, view, mask, cells, at, other, other_line, did, races, real, node):
        """Enter a race of `races` pairs, `real` of which matter, or advice if none does."""
        lane, index = self.lane_of(mask, at), index_in(view.memory, cells[at])
        other_block, thread = other >> self.block_bits, other & ((1 << self.block_bits) - 1)
        same = other_block == int(self.number[lane]) >> self.block_bits
        who = self.lanes.name_of(thread, None if same else other_block)
        where = IN_THIS_LINE if other_line == node.lineno else f"in line {other_line}"
        one_warp = same and thread // WARP == int(self.lanes.thread[lane]) // WARP
        what = f"{self.lanes.name(lane)} {verb} {element(view.name, index)}, which {who} {DID[did]} {where}"
        facts = {
            "array": view.name, "lane": lane, "count": races, "index": index, "other_line": other_line,
            "did": verb, "other_did": DID[did],
            "other_thread": self.lanes.thread_triple(thread), "other_block": self.lanes.block_triple(other_block),
            "one_warp": one_warp,
        }  # fmt: skip
        earlier = self.hazards.get(("race", self.function, node.lineno, view.name, "error"))
        if real:
            harmless = self.hazards.pop(("same value", self.function, node.lineno, view.name, "advice"), None)
            facts["count"] += harmless.count if harmless else 0
            adds = self._adds(view.name, node.lineno, other_line)
            fix = self._fix(verb, view, did, same, one_warp, where, adds)
            self.found("race", node.lineno, f"{what}, with no barrier between.", fix, **facts)
            if earlier is not None and earlier.details["one_warp"] and not one_warp:
                earlier.fix, earlier.details["one_warp"] = fix, False  # what orders one warp is not enough
        elif earlier is not None:
            earlier.count += races
        elif did == 2 or verb.startswith("changes"):
            self.found(
                "race", node.lineno, f"{what}, with no barrier between.",
                "The read may give an old number. A compare-and-swap finds that out and tries again: then all is well.",
                severity="advice", **facts,
            )  # fmt: skip
        else:
            value, why = "the number that was there already", NO_CHANGE
            if (verb, did) == ("writes", 0):
                value, why = "the same number", SAME_NUMBER
            fix = self._owner(verb, view, did, where) or "Let one thread write, or use cuda.atomic."
            self.found(
                "same value", node.lineno, f"{what}, with no barrier between: {value}.", f"{why} {fix}",
                severity="advice", **facts,
            )  # fmt: skip

    def _fix(self, verb, view, did, same_block, one_warp, where, adds):
        """Return what to do about a race; `adds` says whether one of its lines adds to an element."""
        if own := self._owner(verb, view, did, where):
            return own
        if not same_block:
            return (
                "Blocks cannot wait for each other: use cuda.atomic, give each block elements of its own, or write in "
                "one launch and read in the next."
            )
        barrier = "cuda.syncthreads()" + (" (within one warp cuda.syncwarp() is enough)" if one_warp else "")
        fix = _ONE_LINE.get((verb, did)) if where == IN_THIS_LINE else None
        fix = (fix or "Put {} between the two, where all threads come by{}.").format(
            barrier, "; or use cuda.atomic to count and add" if adds or did == 2 or verb.startswith("changes") else ""
        )
        if view.memory.space == "global" and self.blocks > 1:
            fix += " If several blocks touch it, do one of the two in an earlier launch."
        return fix

    def _adds(self, array, *lines):
        """Return whether one of these lines makes an array's element of an element of it, as s[i] += x does."""
        for node in self.source.text.nodes:
            if getattr(node, "lineno", None) in lines:
                target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
                again = isinstance(node, ast.AugAssign) or (isinstance(node, ast.Assign) and _reads(node.value, array))
                if again and isinstance(target, ast.Subscript) and _reads(target, array):
                    return True
        return False

    def _owner(self, verb, view, did, where):
        """Return what to do where one line of many threads stores to one element of global memory; "" elsewhere.

        No barrier helps: the line gives the threads' index wrongly, or more of them than there are elements.
        """
        if (verb, did, where, view.memory.space) != ("writes", 0, IN_THIS_LINE, "global"):
            return ""
        sizes = zip(self.lanes.grid_dim, self.lanes.block_dim, strict=True)
        axes = max(i + 1 for i, (blocks, threads) in enumerate(sizes) if i == 0 or blocks * threads > 1)
        return OWN_ELEMENT.format(axes)


IN_THIS_LINE = "in this line too"
SAME_NUMBER = "Both threads wrote the same number, but two threads must not write one element."
NO_CHANGE = "The number stays as it was, but no thread may write an element while another one reads it."
OWN_ELEMENT = (
    "Give each thread an element of its own: does the index tell all threads of the grid apart, as cuda.grid({}) does? "
    "Where several threads must write to one place, use cuda.atomic."
)
_ONE_LINE = {
    ("writes", 0): "Two threads write one element: give each its own, let one thread write, or use cuda.atomic.",
    ("writes", 1): "Read into a variable, then {}, then write{}.",
}
"""What to do where both accesses of a race stand in one line, by what the one does and what the other did."""


def _reads(node, array):
    """Return whether an element of an array of this name stands in a node."""
    names = (n.value for n in ast.walk(node) if isinstance(n, ast.Subscript))
    return any(isinstance(n, ast.Name) and n.id == array for n in names)


def element(name, index):
    """Return how a message calls an element of an array, such as As[3, 4]."""
    return f"{name}[{', '.join(map(str, index))}]" if index else f"the number in {name}"


def index_in(memory, cell):
    """Return the index of a memory's element as a tuple of ints."""
    return tuple(map(int, memory.index_of(int(cell))))
