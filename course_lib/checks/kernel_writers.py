"""Who wrote what: a wrong element of a kernel's output, by the array's own name and with the thread that wrote it.

Source: the course's own.
"""

import re

import numpy as np

from course_lib.checks.close import ZERO

ELEMENT = re.compile(r"result(?:\[(?P<output>\d+)\](?=\[))?\[(?P<index>\d+(?:, \d+)*)\] is ")
"""How `differences` names an element of the result, or of one of several results."""

WRITTEN = " Every element was written, and each with zero: look at what the result begins with."

MOST_CODE = 60
"""Characters of a line of code in a message."""


class Written:
    """An array that a launch filled.

    Attributes
    ----------
    name : str
        Of the kernel's parameter.
    host : array (...)
    missing : bool array (...)
        Which elements nobody wrote.

    No errors. Source: the course's own.
    """

    def __init__(self, name, device, reports):
        self.name, self.host, self.missing, self.reports = name, device.copy_to_host(), ~device.written, reports

    def element(self, index):
        """Return how a message calls an element, such as c[3, 4]. No errors. Source: the course's own."""
        return f"{self.name}[{', '.join(map(str, index))}]"

    def writer(self, index):
        """Return who wrote an element, as a clause; "" if that is not known. No errors. Source: the course's own."""
        if self.missing[index]:
            return " (no thread wrote it)"
        for report in reversed(self.reports):
            if (found := report.writer(self.name, index)) is not None:
                block, thread = (_short(*pair) for pair in zip(found, (report.grid, report.block), strict=True))
                return f" (thread {thread} of block {block} wrote it)"
        return ""

    def gaps(self):
        """Return a sentence on what nobody wrote, "" if all is written. No errors. Source: the course's own."""
        if not self.missing.any():
            return ""
        first, count = np.argwhere(self.missing)[0], np.count_nonzero(self.missing)
        return f" Nobody wrote {self.element(first)}" + (f" and {count - 1} more elements." if count > 1 else ".")


def explain(text, hint, reveal, arrays, several):
    """Return (text, hint) of a difference in a kernel's results, in the kernel's own terms.

    Parameters
    ----------
    text, hint : str
        Of a `Difference`.
    reveal : bool
        Whether they may name elements.
    arrays : sequence of Written
    several : bool
        Whether the result is a tuple of arrays.

    No errors. Source: the course's own.
    """
    gaps = next((a for a in arrays if a.missing.any()), None)
    if not reveal:
        return (f"{text.removesuffix('.')}: some of {gaps.name} is never written.", "") if gaps else (text, hint)
    hint = gaps.gaps() if gaps else WRITTEN if hint == ZERO else hint
    found = ELEMENT.search(text)
    if found is None:
        return text, hint
    array, index = arrays[int(found["output"]) if several else 0], tuple(map(int, found["index"].split(", ")))
    numbers, semicolon, rest = text[found.end() :].partition("; ")
    return f"{text[: found.start()]}{array.element(index)} is {numbers}{array.writer(index)}{semicolon}{rest}", hint


def with_line(text, lines):
    """Return a message that begins with "line 3: " with the code of that line behind the number. No errors.

    Numbers count from the beginning of the cell, or of what was taken from several cells; the code is found anywhere.
    `lines` has number -> text. Source: the course's own.
    """
    found = re.match(r"line (\d+): ", text)
    code = lines.get(int(found[1]), "").strip() if found else ""
    if not code:
        return text
    code = code if len(code) <= MOST_CODE else f"{code[: MOST_CODE - 3]}..."
    return f"line {found[1]}, {code.rstrip(':')}: {text[found.end() :]}"


def _short(values, sizes):
    """Return a block's or thread's place as the executor's messages do: as many numbers as there are axes."""
    axes = max(i for i in range(3) if i == 0 or sizes[i] > 1) + 1
    return str(values[0]) if axes == 1 else str(values[:axes])
