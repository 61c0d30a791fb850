"""What came out at each size, as a table for a page and for a terminal; the smallest size that fails comes first.

Source: the course's own.
"""

import math
from dataclasses import dataclass
from html import escape

SIGNS = {"right": "\N{CHECK MARK}", "not tried": "\N{EN DASH}"}
CROSS = "\N{MULTIPLICATION SIGN}"
CELL = "padding:3px 10px;text-align:{};vertical-align:top"


@dataclass(frozen=True)
class SizeResult:
    """What came out at one size.

    Attributes
    ----------
    size : int or tuple of int
    verdict : str
        "right", "wrong value", "finding" (the executor found a hazard), "refused" (an error before or instead of a
        result), "stopped" (an error of the card) or "not tried".
    words : str
        What is wrong.
    index, got, expected
        Of the first wrong element, where there is one.
    finding : str
        The kind of a hazard, "" without one.

    Source: the course's own.
    """

    size: int | tuple
    verdict: str
    words: str
    index: tuple | None = None
    got: object = None
    expected: object = None
    finding: str = ""


@dataclass(frozen=True)
class SizeTable:
    """What came out at all sizes; displays itself as a table.

    Attributes
    ----------
    name, device : str
        What was run, and on which device.
    hazards : bool
        Whether hazards were looked for; else values were compared only.
    results : list of SizeResult
        In the order in which they were tried.

    Source: the course's own.
    """

    name: str
    device: str
    hazards: bool
    results: list

    @property
    def failing(self):
        """The results that are not right, the smallest size first."""
        return sorted((r for r in self.results if r.verdict not in ("right", "not tried")), key=_order)

    @property
    def smallest(self):
        """The smallest size that was tried and is not right; None if all are right."""
        return self.failing[0].size if self.failing else None

    def __getitem__(self, size):
        """Return the SizeResult of a size; KeyError if it was not tried."""
        for result in self.results:
            if result.size == size:
                return result
        raise KeyError(f"size {size} was not tried; there are {', '.join(_shown(r.size) for r in self.results)}.")

    @property
    def summary(self):
        """What came out, in a sentence or two."""
        right = sorted((r for r in self.results if r.verdict == "right"), key=_order)
        if self.smallest is None:
            words = f"{self.name} is right at all {len(right)} sizes."
        else:
            first = self.failing[0]
            words = f"{self.name} fails at size {_shown(first.size)}: {first.words.rstrip('.')}."
            words += f" It is right at {len(right)} of {len(self.results)} sizes"
            words += f", such as {_shown(right[-1].size)}." if right else "."
        look = "" if self.hazards else " Values only: a GPU looks for no hazards."
        return f"{words}{look}"

    def _rows(self):
        failing = self.failing
        return failing + sorted((r for r in self.results if r not in failing), key=_order)

    def __str__(self):
        rows = [("size", "verdict", ""), *((_shown(r.size), r.verdict, r.words) for r in self._rows())]
        wide = [max(len(row[k]) for row in rows) for k in (0, 1)]
        return "\n".join([self.summary, "", *(f"{a:>{wide[0]}}  {b:<{wide[1]}}  {c}".rstrip() for a, b, c in rows)])

    __repr__ = __str__

    def _repr_html_(self):
        head = "".join(f'<th scope="col" style="{CELL.format(a)}">{t}</th>' for t, a in _COLUMNS)
        body = "".join(
            f'<tr><td style="{CELL.format("right")}">{_shown(r.size)}</td>'
            f'<td style="{CELL.format("left")};white-space:nowrap">{SIGNS.get(r.verdict, CROSS)} {r.verdict}</td>'
            f'<td style="{CELL.format("left")};min-width:12em">{escape(r.words)}</td></tr>'
            for r in self._rows()
        )
        return (
            f'<p style="margin:2px 0">{escape(self.summary)}</p>'
            '<div style="overflow-x:auto" tabindex="0" role="region" aria-label="sizes tried">'
            '<table style="border-collapse:collapse;margin:6px 0;width:auto">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )


_COLUMNS = (("size", "right"), ("verdict", "left"), ("what is wrong", "left"))


def _order(result):
    size = result.size if type(result.size) is tuple else (result.size,)
    return math.prod(size), size


def _shown(size):
    return str(size) if type(size) is not tuple else " \N{MULTIPLICATION SIGN} ".join(map(str, size))
