"""What machine code asks of the parts of an SM, and how often a warp of it waits for a load.

Source: NVIDIA, "CUDA C++ Programming Guide", "Arithmetic Instructions" (which unit does what); the course's own.
"""

from collections import Counter

PIPES = {
    "fma": ("FFMA", "FADD", "FMUL", "FFMA32I", "FADD32I", "FMUL32I", "HFMA2", "HADD2", "HMUL2"),
    "imad": ("IMAD", "IDP"),
    "special": ("MUFU", "I2F", "F2I", "F2F", "I2FP", "F2IP", "FRND", "POPC", "FLO", "BREV"),
    "float64": ("DFMA", "DADD", "DMUL", "DSETP"),
    "tensor": ("HMMA", "IMMA", "DMMA"),
    "memory": (
        "LDG", "STG", "LDS", "STS", "LDL", "STL", "LD", "ST", "LDSM", "ATOM", "ATOMG", "ATOMS", "RED", "REDG", "LDGSTS",
        "SHFL",
    ),
    "other": (
        "BRA", "EXIT", "BAR", "BSSY", "BSYNC", "LDC", "S2R", "S2UR", "CS2R", "DEPBAR", "LDGDEPBAR", "WARPSYNC", "CALL",
        "RET", "VOTE", "NANOSLEEP", "R2UR", "YIELD", "BREAK", "MATCH", "REDUX", "BMOV", "ERRBAR", "MEMBAR", "CCTL",
    ),
}  # fmt: skip
"""Unit -> names of instructions. The rest is the integer unit's; names that begin with U are the uniform path's."""
_PIPE = {name: pipe for pipe, names in PIPES.items() for name in names}
_COPIES = ("MOV", "IADD", "SHL")


def pipe(instruction):
    """Return the unit that does an instruction: a key of `PIPES`, "integer" or "uniform". No errors."""
    name = instruction.name
    if name in _PIPE:
        return _PIPE[name]
    return "uniform" if name.startswith("U") else "integer"


def of_a_warp(found):
    """Return {unit: instructions of a warp} with their sum as "all", for stretches that know their times. No errors.

    Source: the course's own.
    """
    total = Counter()
    for s in found:
        for instruction in s.instructions:
            total[pipe(instruction)] += s.times
            total["all"] += s.times
    return dict(total)


LATENCY = {"fma": 4, "imad": 4.5, "integer": 4.5, "uniform": 6, "special": 20, "float64": 8, "tensor": 51, "other": 6}
"""Clocks until the next instruction can use a result; loads and shuffles are waited for and counted apart.

Source: tensor cores, an H200: tools/microbench/tensor, a warp of four chains, 54.4 µs for 2,048 turns."""


def waits(found):
    """Return (clocks, global waits, shared waits, shuffles) of a warp that has an SM for itself.

    Instructions start in order, one a clock, as soon as what they read is there. A wait is an instruction that reads
    what a load is still to bring; all loads that began before it have come then. So four loads and then four sums are
    one wait; a load, its sum and the next load are a wait each.

    Source: the course's own; the way of counting is that of Hong and Kim, "An Analytical Model for a GPU Architecture
    with Memory-level and Thread-level Parallelism Awareness" (2009).
    """
    state = _State()
    for s in found:
        for turn in (0, 1) if s.loops else (1,):  # the first time around a loop its registers come from before it
            before = state.counts()
            for instruction in s.instructions:
                state.step(instruction, s, first=not turn)
            if turn:
                state.add(before, s.times)
    return tuple(state.total)


FAR = 700
"""Clocks after which what was asked for is there, about, even from DRAM (`scheduling.LATENCY`)."""


def ahead(found):
    """Return the share of what a warp loads from global memory that copies bring long before it waits for them.

    So do copies to several stages, where a wait leaves the latest ones under way, and those for the next tile, which
    are waited for when this tile is done: nobody stands still for them as long as the memory keeps up. No errors.

    Source: NVIDIA, "PTX ISA", "cp.async.wait_group".
    """
    copied = loaded = hidden = waited = 0.0
    for k, s in enumerate(found):
        for at, instruction in enumerate(s.instructions):
            if instruction.kind in ("copy", ("global", "load")):
                loaded += s.times * instruction.width
                copied += s.times * instruction.width * (instruction.kind == "copy")
            elif instruction.name == "DEPBAR":
                waited += s.times
                hidden += s.times * (_leaves(instruction) or _since_copy(found, k, at) >= FAR)
    return copied / loaded * hidden / waited if loaded and waited else 0.0


def _since_copy(found, k, at):
    """Return the instructions from the last copy to the wait found[k].instructions[at], around the loop if need be."""
    s, clocks = found[k], 0.0
    first, last = s.loops[-1] if s.loops else (0, k)
    way = [(j, found[j].instructions) for j in range(first, last + 1)]
    way = [*way[k - first + 1 :], *way[: k - first], (k, s.instructions[:at])]
    if s.loops:
        way.insert(0, (k, s.instructions[at + 1 :]))
    for j, instructions in reversed(way):
        for instruction in reversed(instructions):
            if instruction.kind == "copy" and found[j].times:
                return clocks
            clocks += found[j].times / s.times if s.times else 0.0
    return 0.0


def _leaves(instruction):
    """Return whether a wait for copies leaves some of them under way."""
    return instruction.operands.split(",")[-1].strip() not in ("0x0", "0")


class _State:
    def __init__(self):
        self.now, self.ready, self.pending = 0.0, {}, {"global": {}, "shared": {}, "warp": {}}
        self.seen, self.total = {"global": 0, "shared": 0, "warp": 0}, [0.0] * 4
        self.copies = 0

    def counts(self):
        return self.now, *self.seen.values()

    def add(self, before, times):
        for k, (new, old) in enumerate(zip(self.counts(), before, strict=True)):
            self.total[k] += times * (new - old)

    def step(self, instruction, stretch, first):
        reads, kind = set(instruction.read), instruction.kind
        for n, (space, waiting) in enumerate(self.pending.items(), 1):
            begun = [waiting[r] for r in reads if r in waiting]
            if begun:
                self.seen[space] += 1
                waiting.clear()
            if first:  # not added with the rest; but what an earlier stretch of this loop asked for is waited for here
                earlier = [s.times for s in begun if s is not stretch]
                self.total[n] += min(stretch.times, max(earlier)) if earlier else 0.0
        if instruction.name == "DEPBAR" and self.copies:  # waits for copies but for the last ones it leaves under way
            self.seen["global"] += not _leaves(instruction)
            self.copies = 0
        self.copies += kind == "copy"
        begin = max([self.now, *(self.ready.get(r, 0.0) for r in reads)])
        self.now = begin + 1
        space = (
            kind[0] if isinstance(kind, tuple) and kind[1] == "load" else {"warp": "warp", "atomic": "global"}.get(kind)
        )
        for register in instruction.written:
            for waiting in self.pending.values():
                waiting.pop(register, None)
            if space in self.pending:
                self.pending[space][register] = stretch
                self.ready.pop(register, None)
            else:
                self.ready[register] = begin + LATENCY.get(pipe(instruction), 4.5)
