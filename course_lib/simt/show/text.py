"""A report as plain text for a terminal: the same content as in a notebook, in ASCII, 80 columns wide if it must be.

Source: the course's own.
"""

import textwrap

from course_lib.simt.show import wording
from course_lib.simt.show.measures import (
    LONG,
    MOST_FINDINGS,
    findings_of,
    folded,
    functions,
    margin,
    place,
    quoted,
    shown,
)

NARROWEST = 72
SOURCE = 36
"""Characters of the source that a table shows at least, if columns can be left out for them."""

LEAST = ("instructions", "local memory", "atomic rounds", "active lanes")
"""Columns that are left out first."""

BARS = {"sectors": 5, "bank conflicts": 5}
"""Characters of the bars, in the columns that have one."""


def text(report, width=80):
    """Return a report as text: findings, what each line cost, and what the launch cost in all.

    Parameters
    ----------
    report : Report
    width : int
        Columns of the terminal, at least 72. Long source lines are cut, sentences are wrapped.

    Raises
    ------
    ValueError
        If `width` is below 72.

    Source: the course's own.
    """
    if width < NARROWEST:
        raise ValueError(f"width is {width}; a report needs {NARROWEST} columns at least.")
    parts = [
        wrapped(f"{report.kernel}: {wording.headline(report)}", width),
        *_findings(report, report.hazards, "HAZARD", width),
        *_findings(report, report.advice, "ADVICE", width),
    ]
    parts.insert(1, wording.sample(report) and wrapped(wording.sample(report), width))
    if not report.hazards:
        parts.insert(1, wording.findings_in_words(report))
    parts += [_printed(report, width), _source(report, width)]
    parts += [bullets("In all", wording.totals(report), width), _arrays(report)]
    texts = [estimate.split("\n") for estimate in wording.estimates(report)]  # `predict` says what is between
    estimates = [" ".join(dict.fromkeys([lines[0], lines[-1]])) for lines in texts]
    parts.append(bullets(f"On a GPU ({wording.device(report)}), estimated", estimates, width))
    return "\n\n".join(part for part in parts if part)


def wrapped(line, width, indent="", further="  "):
    """Return a sentence in lines of at most `width` columns; long words stay whole."""
    return textwrap.fill(
        line, width, initial_indent=indent, subsequent_indent=indent + further, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def bullets(title, lines, width):
    """Return a title and sentences below it, "" without any."""
    if not lines:
        return ""
    return "\n".join([title, *(wrapped(line.replace("\N{MICRO SIGN}", "u"), width, "  ") for line in lines)])


def table(heads, rows):
    """Return a table of texts with its columns aligned: those whose head begins with a space to the right."""
    lines = []
    for head, *column in zip(heads, *rows, strict=True):
        side, cells = ">" if head.startswith(" ") else "<", [head.strip(), *column]
        lines.append([f"{cell:{side}{max(map(len, cells))}}" for cell in cells])
    return "\n".join("  ".join(row).rstrip() for row in zip(*lines, strict=True))


def _findings(report, found, word, width):
    for h in found[:MOST_FINDINGS]:
        times = f", {wording.count(h.count, 'time')}" if h.count > 1 else ""
        lines = [wrapped(f"{word} {h.kind}, {place(report, h)}{times}", width)]
        lines += [wrapped(line, width, "    ") for line in [quoted(report, h)] if line]
        sentences = [h.message, wording.who(h), f"What to do: {h.fix}" if h.fix else ""]
        yield "\n".join(lines + [wrapped(s[:1].upper() + s[1:], width, "  ", "") for s in sentences if s])
    if len(found) > MOST_FINDINGS:
        yield f"{word} {len(found) - MOST_FINDINGS} more"


def _printed(report, width):
    """Return the first lines that threads printed, and how many more there are."""
    first, further, more = wording.printed(report)
    if not first:
        return ""
    cut = [line if len(line) <= width - 2 else f"{line[: width - 6]} ..." for line in first]
    rest = len(further) + more
    kept = f"report.printed has {len(report.printed):,}" if report.not_printed else "report.printed"
    last = [f"  ... and {wording.count(rest, 'more line')} ({kept})"] * bool(rest)
    return "\n".join(["Printed", *(f"  {line}".rstrip() for line in cut), *last])


def _source(report, width):
    """Return the table of lines; columns that do not fit beside SOURCE characters of the source are left out."""
    columns, rows = shown(report.total), list(_rows(report))
    while True:
        cells = [["line", *(m.brief for m in columns)], *(_cells(report, line, columns) for line, _ in rows)]
        cells.append(["all", *(_cell(m, report.total, report.total) for m in columns)])
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        room = width - sum(widths) - len(widths) - 1
        least = next((name for name in LEAST if name in [m.title for m in columns]), None)
        if room >= SOURCE or least is None:
            break
        columns = [m for m in columns if m.title != least]
    codes = ["source", *(code if len(code) <= room else code[: room - 3] + "..." for _, code in rows), ""]
    title = "What each line cost (! hazard, > advice)"
    title += "" if len(columns) == len(shown(report.total)) else "\n(a wider terminal shows more columns)"
    return "\n".join([title, *(_line(c, widths, code) for c, code in zip(cells, codes, strict=True))])


def _rows(report):
    """Yield (line, its text) for each row; the line is None for the name of a function and for folded lines."""
    groups = functions(report)
    for name, lines in groups.items():
        if len(groups) > 1:
            yield None, f"--- {name}"
        indent = margin(lines)
        for line in folded(lines, len(report.lines) > LONG):
            yield line, line.text[indent:] if line else "..."


def _cells(report, line, columns):
    if line is None:
        return [""] * (len(columns) + 1)
    return [_number(report, line), *(_cell(m, line.counters, report.total) for m in columns)]


def _line(cells, widths, code):
    numbers = " ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return f"{numbers}  {code}".rstrip()


def _number(report, line):
    mark = "!" if findings_of(report.hazards, line) else ">" if findings_of(report.advice, line) else ""
    return f"{mark} {line.number}"


def _cell(m, counters, total):
    amount = m.amount(counters)
    if not amount:
        return ""
    words = wording.short(amount) if m.share else wording.percent(m.part(counters, total)).replace(" ", "")
    full = BARS.get(m.title)
    return words if full is None else f"{words} {'#' * max(1, round(full * m.part(counters, total))):<{full}}"


def _arrays(report):
    rows = [
        (
            use.name, use.space, f"{wording.shape(use.shape)} {use.dtype}", f"{use.loads:,}",
            f"{use.distinct_loaded:,}", f"{use.reuse:,.1f}x" if use.loads and use.reuse else "", f"{use.stores:,}",
        )
        for use in report.arrays.values()
    ]  # fmt: skip
    heads = ("name", "space", "shape", " loads", " distinct", " reuse", " stores")
    return table(heads, rows) if rows else ""
