"""Machine code as blocks of straight instructions, each with its source line, and the loops that they lie in.

Source: NVIDIA, "CUDA Binary Utilities" (nvdisasm with line numbers, SASS instruction sets).
"""

import re
from dataclasses import dataclass, field

_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z][A-Z0-9_.]*)\s*(.*?);")
_LABEL = re.compile(r"^(\.L_x_\d+|\$[\w$.]+):")
_LINE = re.compile(r'//## File "[^"]*", line (\d+)')
_TARGET = re.compile(r"`\((\.L_x_\d+)\)")
_REGISTER = re.compile(r"\b(U?R\d+|U?P\d)\b")
_ENDS = ("BRA", "EXIT", "RET", "BRX", "CALL", "JMP")
_WIDTHS = {"128": 16, "64": 8, "U8": 1, "S8": 1, "U16": 2, "S16": 2}
_ACCESS = {
    "LDG": ("global", "load"), "STG": ("global", "store"), "LDS": ("shared", "load"), "STS": ("shared", "store"),
    "LDL": ("local", "load"), "STL": ("local", "store"), "LD": ("global", "load"), "ST": ("global", "store"),
    "LDSM": ("shared", "load"),
}  # fmt: skip
_ATOMIC = ("ATOM", "ATOMG", "ATOMS", "RED", "REDG")


@dataclass(frozen=True)
class Instruction:
    """One instruction: "LDG.E.128" has the name LDG; `line` is the source's, None where the compiler says none.

    Source: NVIDIA, "CUDA Binary Utilities".
    """

    text: str
    predicate: str
    operands: str
    line: int | None

    @property
    def name(self):
        """What stands before the first point."""
        return self.text.split(".")[0]

    @property
    def width(self):
        """Bytes that a memory access moves for each lane."""
        return next((_WIDTHS[p] for p in self.text.split(".")[1:] if p in _WIDTHS), 4)

    @property
    def kind(self):
        """What the executor counts it as: (space, way), "atomic", "barrier", "warp", "copy" or None."""
        if self.name in _ACCESS:
            return _ACCESS[self.name]
        if self.name in _ATOMIC:
            return "atomic"
        if self.name == "LDGSTS":
            return "copy"
        return {"BAR": "barrier", "SHFL": "warp", "VOTE": "warp", "MATCH": "warp"}.get(self.name)

    @property
    def written(self):
        """The registers that it writes, as far as the text says: pairs and quads count as their first ones."""
        if self.name in ("STG", "STS", "STL", "ST", "RED", "BRA", "EXIT", "BAR", "LDGSTS", "BSSY", "BSYNC"):
            return ()
        first = _REGISTER.findall(self.operands.split(",")[0])
        if not first:
            return ()
        count = self.width // 4 if self.name in _ACCESS else 4 if self.name == "HMMA" else 2 if _wide(self) else 1
        name = re.match(r"U?R", first[0])
        number = int(first[0][name.end() :]) if name else 0
        return tuple(f"{name[0]}{number + k}" for k in range(max(1, count))) if name else (first[0],)

    @property
    def read(self):
        """The registers that it reads, and the predicate."""
        rest = self.operands if not self.written else self.operands.partition(",")[2]
        found = _REGISTER.findall(rest) + ([self.predicate.lstrip("!")] if self.predicate else [])
        wide = [
            f"{r[: -len(n)]}{int(n) + 1}" for r in found if ".64" in rest or _wide(self) for n in re.findall(r"\d+$", r)
        ]
        return (*found, *wide)


def _wide(instruction):
    return instruction.name in ("DFMA", "DADD", "DMUL") or ".WIDE" in instruction.text


@dataclass
class Stretch:
    """Instructions that are executed one after the other: a basic block.

    Attributes
    ----------
    instructions : list of Instruction
    labels : list of str
    loops : tuple of (int, int)
        The first and the last stretch of each loop around it, the outermost first.
    times : float
        How often a warp executes it, as `executions` finds out.

    Source: Aho, Lam, Sethi, Ullman, "Compilers", "Basic Blocks and Flow Graphs".
    """

    instructions: list = field(default_factory=list)
    labels: list = field(default_factory=list)
    loops: tuple = ()
    times: float | None = None

    @property
    def last(self):
        """The last instruction's name, "" without one."""
        return self.instructions[-1].name if self.instructions else ""

    @property
    def outside(self):
        """Whether it is a subroutine, which only rare operands need."""
        return any(label.startswith("$") for label in self.labels)


def stretches(sass):
    """Return the list of `Stretch` of nvdisasm's text with line numbers; what fills up at the end is left out.

    No errors. Source: Aho, Lam, Sethi, Ullman, "Compilers", "Basic Blocks and Flow Graphs".
    """
    found, now, line = [], Stretch(), None
    for text in sass.splitlines():
        if at := _LINE.search(text):
            line = int(at[1])
        elif label := _LABEL.match(text):
            if now.instructions:
                found.append(now)
                now = Stretch()
            now.labels.append(label[1])
        elif (part := _INSTRUCTION.search(text)) and part[2] != "NOP":
            now.instructions.append(Instruction(part[2], part[1] or "", part[3], line))
            if now.last in _ENDS:
                found.append(now)
                now = Stretch()
    found.append(now)
    return _with_loops(_without_end([s for s in found if s.instructions]))


def _without_end(found):
    """Leave out the trap at the end, a branch to itself."""
    return [s for s in found if not (s.last == "BRA" and len(s.instructions) == 1 and _target(s) in s.labels)]


def _target(stretch):
    target = _TARGET.search(stretch.instructions[-1].operands)
    return target[1] if target else None


def _with_loops(found):
    at = {label: i for i, s in enumerate(found) for label in s.labels}
    ends = {}
    for i, s in enumerate(found):
        if s.last == "BRA" and (first := at.get(_target(s), i + 1)) <= i:
            ends[first] = max(ends.get(first, 0), i)
    for i, s in enumerate(found):
        s.loops = tuple(loop for loop in sorted(ends.items()) if loop[0] <= i <= loop[1])
    return found
