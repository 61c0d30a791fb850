"""Two versions of a kernel side by side: what changed, by how much, and which side is better.

Source: the course's own.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from course_lib.simt import display, wording
from course_lib.simt.measures import conflicts, efficiency, sectors
from course_lib.simt.text import table, wrapped
from course_lib.simt.traffic import SECTOR

BETTER = "\N{CHECK MARK}"


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


class Comparison:
    """Two reports side by side; a table in a notebook, a text in a terminal.

    Attributes
    ----------
    names : (str, str)
    rows : list of Row
        Quantities that at least one side has.
    headline : str
        The largest difference, in a sentence.
    notes : list of str
        Why the numbers may not be comparable.

    Source: the course's own.
    """

    def __init__(self, names, rows, notes, device):
        self.names, self.rows, self.notes = names, rows, notes
        self.headline = _headline(names, rows, device)

    def to_dict(self):
        """Return everything as plain numbers, texts, lists and dicts."""
        rows = [{"quantity": r.quantity, "a": r.a, "b": r.b, "change": r.change, "better": r.winner} for r in self.rows]
        return {"names": list(self.names), "headline": self.headline, "notes": list(self.notes), "rows": rows}

    def __str__(self):
        heads = ("", *(f" {name}" for name in self.names), "change")
        rows = [(r.quantity, *_sides(r, " <-" if r.winner else ""), r.change) for r in self.rows]
        notes = [wrapped(f"Note: {note}", 80) for note in self.notes]
        return "\n".join([wrapped(self.headline, 80), *notes, "", table(heads, rows), "<- the better side"])

    __repr__ = __str__

    def _repr_html_(self):
        heads = {"quantity": "what is compared", **dict.fromkeys(self.names, "a version of the kernel")}
        heads["change"] = f"{self.names[1]} against {self.names[0]}"
        foot = display.paragraph(
            f"{BETTER} and bold: the better side. Bars: the longer one of a row is the larger number."
        )
        notes = "".join(display.paragraph(f"<strong>Note:</strong> {escape(note)}") for note in self.notes)
        body = display.table("<strong>Side by side</strong>", heads, [_html_row(r) for r in self.rows])
        return (
            f'<div class="course-comparison" style="line-height:1.4">'
            f"{display.paragraph(escape(self.headline))}{notes}{body}{foot}</div>"
        )


def compare(report_a, report_b, names=None):
    """Return the `Comparison` of two reports, in most cases of two versions of one kernel on the same arrays.

    Parameters
    ----------
    report_a, report_b : Report
    names : (str, str), optional
        What to call them; the kernels' names otherwise.

    Raises
    ------
    TypeError
        If one of the two is no report.
    ValueError
        If the two clearly do different work: no array in common, and another number of floating-point operations.
        Also if `names` are not two different names, or a launch did nothing.

    Source: the course's own.
    """
    both = report_a, report_b
    for r in both:
        if not hasattr(r, "total") or not hasattr(r, "arrays"):
            raise TypeError(f"compare takes two reports of simt.run, not {type(r).__name__}.")
    names = _names(both, names)
    for r, name in zip(both, names, strict=True):
        if not r.total.instructions:
            raise ValueError(f"{name} did nothing: none of its threads executed an instruction.")
    if not _common(*both) and report_a.total.flops != report_b.total.flops:
        raise ValueError(
            f"{names[0]} and {names[1]} do different work: they share no array, and do {report_a.total.flops:,} and "
            f"{report_b.total.flops:,} floating-point operations. Compare versions of one kernel on the same arrays."
        )
    return Comparison(names, [r for r in _rows(*both) if r.a or r.b], _notes(*both, names), report_b.device)


def _names(both, names):
    if names is None:
        names = [r.kernel for r in both]
        names = names if names[0] != names[1] else [f"{names[0]} (1)", f"{names[1]} (2)"]
    names = tuple(map(str, names))
    if len(names) != 2 or names[0] == names[1]:
        raise ValueError(f"names is {names}; it must be two different names, one for each report.")
    return names


def _global(report):
    return {name: use for name, use in report.arrays.items() if use.space == "global"}


def _common(a, b):
    """Whether a global array of both has the same name, or the same shape and dtype."""
    a, b = _global(a), _global(b)
    return bool(
        a.keys() & b.keys() or {(u.shape, u.dtype) for u in a.values()} & {(u.shape, u.dtype) for u in b.values()}
    )


def _rows(a, b):
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
    yield row("lanes that wait at atomics", lambda c: c.atomic_serialised, "less")
    yield row("local memory requests", lambda c: c.local_load_requests + c.local_store_requests, "less")
    yield row("barriers", lambda c: c.barriers)
    yield row("instructions", lambda c: c.instructions, "less")
    yield row("active lanes", lambda c: c.active_share, "more", wording.percent)
    yield row("divergent branches", lambda c: c.divergent_branches, "less")
    yield row("floating-point operations", lambda c: c.flops)
    yield row("of them in float64", lambda c: c.float64_flops, "less")
    yield row("operations a byte moved", lambda c: wording.intensity(c) or 0, "more", "{:.2f}".format)
    ours, theirs = _global(a), _global(b)
    for name in (n for n in ours if n in theirs):
        if ours[name].loads or theirs[name].loads:
            reuse = (u.reuse if u.loads else 0 for u in (ours[name], theirs[name]))
            yield Row(f"global loads for each element of {name}", *reuse, "less", "{:.1f}".format)
    yield Row("shared memory a block", a.shared_bytes, b.shared_bytes, "", wording.size)
    yield from _estimates(a, b)


def _estimates(a, b):
    return ()


def _notes(a, b, names):
    notes = []
    for r, name in zip((a, b), names, strict=True):
        if r.hazards:
            notes.append(f"{name} has {wording.count(len(r.hazards), 'hazard')}: its result may be wrong.")
    ours, theirs = _global(a), _global(b)
    for name in (n for n in ours if n in theirs):
        if ours[name].shape != theirs[name].shape:
            notes.append(f"{name} is {ours[name].shape} in {names[0]} and {theirs[name].shape} in {names[1]}.")
    if a.total.flops != b.total.flops:
        notes.append(
            f"the arithmetic differs, {a.total.flops:,} and {b.total.flops:,} floating-point operations: "
            "less of everything may mean less work, not a better kernel."
        )
    return notes


def _headline(names, rows, device):
    first = max((r for r in rows if r.winner), key=lambda r: r.distance, default=None)
    if first is None:
        return f"{names[0]} and {names[1]} cost the same."
    values = f"{first.words(first.a)} in {names[0]}, {first.words(first.b)} in {names[1]}"
    text = f"The largest difference: {first.quantity}, {values} ({first.change})."
    time = next((r for r in rows if r.quantity.startswith("predicted time")), None)
    if time is None or time is first:
        return text
    return f"{text} Predicted on an {device}: {time.words(time.a)} and {time.words(time.b)} ({time.change})."


def _sides(row, mark):
    return [
        (row.words(v) if v else "0") + (mark if row.winner == side else " " * len(mark))
        for v, side in ((row.a, "a"), (row.b, "b"))
    ]


def _html_row(row):
    most = max(row.a, row.b)
    cells = ""
    for value, side in ((row.a, "a"), (row.b, "b")):
        words = escape(row.words(value)) if value else "0"
        words = f"{BETTER} <strong>{words}</strong>" if row.winner == side else words
        cells += f'<td style="{display.NUMBER}">{words} {display.bar(value / most, "data")}</td>'
    left = display.NUMBER.replace("right", "left", 1)
    return (
        f'<tr><th scope="row" style="{left}">{escape(row.quantity)}</th>{cells}'
        f'<td style="{display.NUMBER}">{escape(row.change)}</td></tr>'
    )
