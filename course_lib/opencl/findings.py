"""What a simulator found wrong with a launch, and what a compiler said of a text, read from their own words.

Source: J. Price and S. McIntosh-Smith, "Oclgrind: An Extensible OpenCL Device Simulator" (2015).
"""

import re
from dataclasses import dataclass, replace

KINDS = (
    ("race at local", "race in local memory"),
    ("race at global", "race in global memory"),
    ("Invalid read", "read out of bounds"),
    ("Invalid write", "write out of bounds"),
    ("Uninitialized value", "a value that nobody wrote"),
    ("ivergence detected", "a barrier that not all work-items reach"),
)
"""How Oclgrind's messages are known, and the course's word for each."""


@dataclass(frozen=True)
class Access:
    """One work-item at one line of a kernel's text: global, local and group id, (x, y, z) each, line from 1, its text.

    Source: the course's own.
    """

    global_id: tuple
    local_id: tuple
    group_id: tuple
    line: int
    text: str
    store: bool

    @property
    def place(self):
        """What sorts accesses: group first, then work-item, x fastest."""
        return self.group_id[::-1], self.local_id[::-1]

    def who(self, axes):
        """Return who it is, in words, by its first `axes` axes. No errors. Source: the course's own."""
        local, group = (ids[:axes] if axes > 1 else ids[0] for ids in (self.local_id, self.group_id))
        return f"work-item {local} of group {group}"


@dataclass(frozen=True)
class Finding:
    """One kind of mistake at one place of a kernel's text; `str` tells it.

    Attributes
    ----------
    kind : str
        Such as "race in local memory".
    access : Access
        The first that was found; of a race, the one that reads.
    other : Access or None
        Of a race, the one that writes.
    count : int
        How often it was found.
    axes : int
        How many axes the launch has.

    Source: the course's own.
    """

    kind: str
    access: Access
    other: Access | None
    count: int
    axes: int

    def __str__(self):
        more = f" (found {self.count:,} times)" if self.count > 1 else ""
        lines = [f"{self.kind}, line {self.access.line}{more}: {self.access.text}"]
        if self.other:
            own, others = self.access.who(self.axes), self.other.who(self.axes)
            did = "writes there, too" if self.access.store else "reads what"
            lines.append(f"  {own} {did}{'' if self.access.store else ' ' + others + ' writes'}")
            lines.append(f"  line {self.other.line}: {self.other.text}")
        else:
            lines.append(f"  first by {self.access.who(self.axes)}")
        return "\n".join(lines)


def understood(lines, text, axes=3):
    """Return the `Finding`s in lines that Oclgrind wrote of a program's text: of each kind and line the first one.

    No errors: what is not understood is left out. Source: the course's own.
    """
    found = {}
    for block in "\n".join(lines).split("\n\n"):
        kind = next((name for sign, name in KINDS if sign in block), None)
        accesses = sorted(
            _accesses(block, text.splitlines()), key=lambda a: a.store
        )  # who reads first, then who writes
        if not kind or not accesses:
            continue
        first, other = accesses[0], accesses[1] if "race" in kind and len(accesses) > 1 else None
        place = kind, first.line, other and other.line
        before = found.get(place, Finding(kind, first, other, 0, axes))
        if first.place < before.access.place:  # work-groups run in any order: name the same one each time
            before = replace(before, access=first, other=other)
        found[place] = replace(before, count=before.count + 1)
    return list(found.values())


def _accesses(block, text):
    for part in re.split(r"(?=(?:Entity|First entity|Second entity):)", block)[1:]:
        ids = re.search(r"Global\(([\d,]+)\)\s+Local\(([\d,]+)\)\s+Group\(([\d,]+)\)", part)
        place = re.search(r"At line (\d+)", part)
        if ids and place and 0 < int(place[1]) <= len(text):
            of = [tuple(int(n) for n in numbers.split(",")) for numbers in ids.groups()]
            yield Access(*of, int(place[1]), text[int(place[1]) - 1].strip(), store="\n\t  store " in part)


def compiler_said(message):
    """Return what a compiler said in an error of pyopencl's, a line for each: no file, no folder. No errors.

    Source: the course's own.
    """
    found = re.findall(r"^(?:error: )?[^\s:]*:(\d+):(\d+): (?:error: )?(.+)$", message, re.MULTILINE)
    lines = dict.fromkeys(f"line {line}, column {column}: {said}" for line, column, said in found)
    return "\n".join(line for line in lines if "warning:" not in line) or message.strip().splitlines()[0]
