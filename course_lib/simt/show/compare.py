"""Two versions of a kernel side by side: what changed, by how much, and which side is better.

Source: the course's own.
"""

from html import escape

from course_lib.simt.show import display, wording
from course_lib.simt.show.quantities import global_arrays, quantities
from course_lib.simt.show.text import table, wrapped

BETTER = "\N{CHECK MARK}"


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
        return "\n".join(
            [
                wrapped(self.headline.replace("\N{MICRO SIGN}", "u"), 80),
                *notes,
                "",
                table(heads, rows),
                *["<- the better side"] * any(r.winner for r in self.rows),
            ]
        )

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
            raise ValueError(f"{name} has no counts: none of its threads did anything, or it ran with counters=False.")
    if not _common(*both) and report_a.total.flops != report_b.total.flops:
        raise ValueError(
            f"{names[0]} and {names[1]} do different work: they share no array, and do {report_a.total.flops:,} and "
            f"{report_b.total.flops:,} floating-point operations. Compare versions of one kernel on the same arrays."
        )
    return Comparison(
        names, [r for r in quantities(*both) if r.a or r.b], _notes(*both, names), wording.device(report_b)
    )


def _names(both, names):
    if names is None:
        names = [r.kernel for r in both]
        names = names if names[0] != names[1] else [f"{names[0]} (1)", f"{names[1]} (2)"]
    names = tuple(map(str, names))
    if len(names) != 2 or names[0] == names[1]:
        raise ValueError(f"names is {names}; it must be two different names, one for each report.")
    return names


def _common(a, b):
    """Whether a global array of both has the same name, or the same shape and dtype."""
    a, b = global_arrays(a), global_arrays(b)
    return bool(
        a.keys() & b.keys() or {(u.shape, u.dtype) for u in a.values()} & {(u.shape, u.dtype) for u in b.values()}
    )


def _notes(a, b, names):
    notes = []
    for r, name in zip((a, b), names, strict=True):
        if r.hazards:
            notes.append(f"{name} has {wording.count(len(r.hazards), 'hazard')}: its result may be wrong.")
    for r, name in zip((a, b), names, strict=True):
        if wording.sample(r):
            notes.append(f"{name}: {wording.sample(r)}")
    ours, theirs = global_arrays(a), global_arrays(b)
    for name in (n for n in ours if n in theirs):
        one, other = wording.shape(ours[name].shape), wording.shape(theirs[name].shape)
        if one != other:
            notes.append(f"{name} is {one} in {names[0]} and {other} in {names[1]}.")
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
    if time is None or time is first or not time.winner:
        return text
    return f"{text} Predicted on an {device}: {time.words(time.a)} and {time.words(time.b)} ({time.change})."


def _sides(row, mark):
    return [
        (row.words(v).replace("\N{MICRO SIGN}", "u") if v else "0") + (mark if row.winner == side else " " * len(mark))
        for v, side in ((row.a, "a"), (row.b, "b"))
    ]


def _html_row(row):
    most = max(row.a, row.b)
    cells = ""
    for value, side in ((row.a, "a"), (row.b, "b")):
        words = escape(row.words(value)) if value else "0"
        words = f"{BETTER} <strong>{words}</strong>" if row.winner == side else words
        cells += f'<td style="{display.NUMBER}">{words}{display.bar(value / most, "data")}</td>'
    left = display.NUMBER.replace("right", "left", 1)
    return (
        f'<tr><th scope="row" style="{left}">{escape(row.quantity)}</th>{cells}'
        f'<td style="{display.NUMBER}">{escape(row.change)}</td></tr>'
    )
