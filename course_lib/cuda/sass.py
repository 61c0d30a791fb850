"""Machine code as text: which instructions a kernel has, and which of them its busiest loop has.

Source: NVIDIA, "CUDA Binary Utilities" (nvdisasm, SASS instruction sets).
"""

import re
from collections import Counter
from dataclasses import dataclass

_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)")
_LABEL = re.compile(r"^\s*(\.L_x_\d+):")
_BRANCH = re.compile(r"`\((\.L_x_\d+)\)")
_MEMORY = ("LDG", "STG", "LDS", "STS", "LDL", "STL", "LDGSTS", "LD", "ST", "LDSM", "RED", "ATOM", "ATOMG", "ATOMS")
_WHOLE = {
    "IMAD", "IADD", "IADD3", "VIADD", "LEA", "SHF", "LOP3", "PLOP3", "ISETP", "SEL", "MOV", "IADD64", "IMNMX", "VIMNMX",
    "UIADD3", "ULEA", "UIMAD", "USHF", "ULOP3", "UMOV", "UISETP", "USEL", "R2UR", "I2F", "F2I", "PRMT", "CS2R", "S2R",
}  # fmt: skip
MULTIPLY_ADD = ("FFMA", "HMMA", "HGMMA")
"""A fused product and sum: of one thread, and on tensor cores of a warp, and of four."""
_OTHERS = ("FADD", "FMUL", "MUFU", "BAR", "BRA", "SHFL", "LDC", "DFMA", "UTMALDG", "SYNCS", "USETMAXREG")
"""Named as they are; the last three are Hopper's: copies of tiles, barriers that count, registers that change hands."""


@dataclass(frozen=True)
class Loop:
    """The instructions of a loop, as {family: count}, such as FFMA, LDS.128 or "whole numbers".

    Source: NVIDIA, "CUDA Binary Utilities".
    """

    mix: dict[str, int]

    @property
    def instructions(self):
        """How many there are."""
        return sum(self.mix.values())

    @property
    def share(self):
        """Multiply-adds among all instructions, 0 to 1: it bounds the share of the peak that can be reached."""
        return _multiply_adds(self) / max(1, self.instructions)


def read_sass(text):
    """Return [(label or "", instruction or "", line)] of nvdisasm's text. No errors.

    Source: NVIDIA, "CUDA Binary Utilities".
    """
    found = []
    for line in text.splitlines():
        if label := _LABEL.match(line):
            found.append((label[1], "", line))
        elif instruction := _INSTRUCTION.search(line):
            found.append(("", instruction[1], line))
    return found


def family(instruction):
    """Return what an instruction is counted as: FFMA, LDG.128, "whole numbers", "other" ... No errors."""
    name, *parts = instruction.split(".")
    if name in _MEMORY:
        width = next((p for p in parts if p in ("128", "64", "U8", "S8", "U16", "S16")), "32")
        return f"{name}.{width}"
    if name in _WHOLE:
        return "whole numbers"
    return name if name in (*MULTIPLY_ADD, *_OTHERS) else "other"


def families(text):
    """Return {family: count} of all instructions; those that only fill up at the end are left out. No errors."""
    return dict(Counter(family(i) for _, i, _ in read_sass(text) if i and i != "NOP"))


def main_loop(text):
    """Return the `Loop` with the most multiply-adds of its own, loops inside it left out.

    All of the kernel's instructions where no loop has any. No errors. Source: the course's own.
    """
    lines = read_sass(text)
    at = {label: i for i, (label, _, _) in enumerate(lines) if label}
    loops = set()
    for i, (_, instruction, line) in enumerate(lines):
        target = _BRANCH.search(line) if instruction.startswith("BRA") else None
        if target and at.get(target[1], i) < i:
            loops.add((at[target[1]], i))
    found = [_own(lines, loop, loops) for loop in sorted(loops)]
    best = max(found, key=_multiply_adds, default=None)
    return best if best and _multiply_adds(best) else Loop(families(text))


def _own(lines, loop, loops):
    first, last = loop
    inner = {i for a, b in loops if (a, b) != loop and first <= a and b <= last for i in range(a, b + 1)}
    return Loop(dict(Counter(family(lines[i][1]) for i in range(first, last + 1) if lines[i][1] and i not in inner)))


def _multiply_adds(loop):
    return sum(loop.mix.get(name, 0) for name in MULTIPLY_ADD)
