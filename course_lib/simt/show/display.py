"""A report as HTML for a notebook: findings on top, then the source with what each of its lines cost.

Source: the course's own. The page is plain HTML with inline styles: no script, no style sheet, nothing loaded. So it
looks the same in JupyterLab, in its dark theme (text takes the theme's colour), and in an exported page; where styles
are taken away, the numbers are still there, because no bar stands alone.
"""

import re
from html import escape

from course_lib.figures import style
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
from course_lib.simt.show.offers import offered

BAR, THICK = 36, 5
"""Pixels of a full bar, which lies below its number: so a column is as narrow as the number is."""

HAZARD, ADVICE = "\N{HEAVY MULTIPLICATION X}", "\N{BLACK RIGHT-POINTING TRIANGLE}"

CODE = "text-align:left;font-family:monospace;padding:1px 4px 1px {:.1f}em;text-indent:-1.2em"
NUMBER = "text-align:right;padding:1px 2px 1px 3px"
HEAD = "text-align:{};padding:2px 2px 2px 3px;font-weight:bold"
WIDE = ";min-width:9em"
LONG_HEADS = {
    title.replace("-", ""): title.replace("-", "\N{SOFT HYPHEN}")
    for title in ("instruc-tions", "bank con-flicts", "diver-gent")
}
"""Titles of columns that are wider than the numbers below them, and where they may be broken."""

EMPTY = '<td style="padding:0"></td>'
TABLE = "border-collapse:collapse;margin:6px 0;width:auto"
TITLE = "margin:10px 0 2px 0;font-weight:bold"
TEXT = "margin:2px 0"
OUTPUT = "margin:2px 0;white-space:pre-wrap"


def html(report):
    """Return a report as HTML: a text of at most 60 KB for a kernel of 60 lines, the same for the same report.

    Every text of the kernel (its names, its source, its findings) is escaped. No errors are raised.

    Source: the course's own.
    """
    title = f"<strong>{escape(report.kernel)}</strong>: {escape(wording.headline(report))}"
    parts = [
        paragraph(title, "margin:0 0 6px 0"),
        _findings(report, report.hazards, HAZARD, "hazard", "hazard"),
        _findings(report, report.advice, ADVICE, "advice", "thread"),
        _printed(report),
        _source(report),
        bullets("In all", wording.totals(report)),
        _arrays(report),
        _estimates(report),
        _pictures(report),
    ]
    if wording.sample(report):
        parts.insert(1, paragraph(escape(wording.sample(report))))
    if not report.hazards:
        parts.insert(1, paragraph(escape(wording.findings_in_words(report))))
    return f'<div class="course-report" style="line-height:1.4">{"".join(parts)}</div>'


def findings(report, most):
    """Return the first `most` findings of a report as HTML, hazards before advice, or that there are none.

    Source: the course's own.
    """
    marked = [(h, HAZARD, "hazard", "hazard") for h in report.hazards]
    marked += [(h, ADVICE, "advice", "thread") for h in report.advice]
    blocks = [_finding(report, *one) for one in marked[:most]] or [paragraph(wording.findings_in_words(report))]
    more = [paragraph(f"{len(marked) - most} more.")] * (len(marked) > most)
    return f'<div class="course-report" style="line-height:1.4">{"".join(blocks + more)}</div>'


def paragraph(content, look=TEXT):
    """Return a paragraph; `content` is HTML."""
    return f'<p style="{look}">{content}</p>'


def bullets(title, lines):
    """Return a bold title and a list of sentences (plain text), "" without any."""
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'{paragraph(escape(title), TITLE)}<ul style="margin:0 0 6px 0;padding-left:1.4em">{items}</ul>'


def table(caption, heads, rows, foot=""):
    """Return a table that scrolls by itself; `heads` is {column title: explanation}, rows and foot are HTML."""
    cells = ""
    for name, meaning in heads.items():
        look = HEAD.format(_side(name)) + WIDE * (name == "source")
        cells += f'<th scope="col" title="{escape(meaning)}" style="{look}">{escape(LONG_HEADS.get(name, name))}</th>'
    return (
        f'<div style="overflow-x:auto"><table style="{TABLE}">'
        f'<caption style="caption-side:top;text-align:left;padding:4px 0">{caption}</caption>'
        f"<thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody>{foot}</table></div>"
    )


def _side(name):
    return "left" if name in ("source", "name", "space", "shape", "quantity") else "right"


# ------------------------------------------------------------------------------------------------ findings


def _findings(report, found, mark, word, role):
    if not found:
        return ""
    blocks = [_finding(report, h, mark, word, role) for h in found[:MOST_FINDINGS]]
    if len(found) > MOST_FINDINGS:
        blocks.append(paragraph(f"{len(found) - MOST_FINDINGS} more; all are in the report's lists."))
    return "".join(blocks)


def _finding(report, h, mark, word, role):
    times = f", {wording.count(h.count, 'time')}" if h.count > 1 else ""
    lines = [
        f"<strong>{mark} {word.capitalize()}: {escape(h.kind)}</strong>, {escape(place(report, h))}{times}",
        f'<code style="white-space:pre-wrap">{escape(quoted(report, h))}</code>' if quoted(report, h) else "",
        escape(h.message[:1].upper() + h.message[1:]),
        f"<em>{escape(wording.who(h))}</em>" if wording.who(h) else "",
        f"<strong>What to do:</strong> {escape(h.fix)}" if h.fix else "",
    ]
    look = f"margin:6px 0;padding:4px 10px;border-left:4px solid {style.COLOURS[role]}"
    return f'<div style="{look}">{"<br>".join(line for line in lines if line)}</div>'


def _printed(report):
    """What threads printed: the first lines, and the others folded below."""
    first, further, more = wording.printed(report)
    if not first:
        return ""
    kept = f"report.printed has {len(report.printed):,}" if report.not_printed else "see report.printed"
    folded_lines = _lines(further) + paragraph(f"{wording.count(more, 'more line')}: {kept}.") * bool(more)
    title = f"{wording.count(len(further) + more, 'more line')}"
    fold = f"<details><summary>{title}</summary>{folded_lines}</details>" * bool(further or more)
    return paragraph("Printed", TITLE) + _lines(first) + fold


def _lines(lines):
    """Return lines as they are, each on its own."""
    return f'<pre style="{OUTPUT}">{escape(chr(10).join(lines))}</pre>' if lines else ""


# ------------------------------------------------------------------------------------------------ source


def _source(report):
    columns = shown(report.total)
    heads = {"line": "number of the line", "source": "the kernel's own text"} | {m.title: m.meaning for m in columns}
    most = {m: max((m.amount(line.counters) for line in report.lines), default=0) for m in columns}
    groups, rows, left = functions(report), [], HEAD.format("left")
    for name, lines in groups.items():
        if len(groups) > 1:
            rows.append(f'<tr><th scope="rowgroup" colspan="{len(heads)}" style="{left}">{escape(name)}</th></tr>')
        for line in folded(lines, len(report.lines) > LONG):
            rows.append(_row(line, margin(lines), most, report) if line else _fold(len(heads)))
    foot = "".join(f'<td style="{NUMBER}">{_together(m.words(report.total, report.total))}</td>' for m in columns)
    foot = f'<tfoot><tr><th scope="row" style="{NUMBER}">all</th><td></td>{foot}</tr></tfoot>'
    return table("<strong>What each line cost</strong>", heads, rows, foot) + _legend(columns, report)


def _legend(columns, report):
    ways = [f"<em>{escape(m.title)}</em>: {escape(m.meaning)}" for m in columns]
    marks = [f"{HAZARD} a hazard"] * bool(report.hazards) + [f"{ADVICE} advice"] * bool(report.advice)
    return paragraph("; ".join([*ways, *marks]) + ". Bold: the most of all lines.")


def _fold(columns):
    return f'<tr><td colspan="{columns}" style="{CODE.format(1.5)}">...</td></tr>'


def _row(line, indent, most, report):
    hits, hints = findings_of(report.hazards, line), findings_of(report.advice, line)
    mark = HAZARD if hits else ADVICE if hints else ""
    edge = f";border-left:4px solid {style.COLOURS['hazard' if hits else 'thread']}" if mark else ""
    number = _together(f"{mark} {line.number}".strip())
    head = f'<th scope="row" style="{NUMBER}{edge}">{number}</th>'
    text = line.text.strip()
    deep = len(line.text) - len(line.text.lstrip()) - indent if text else 0
    cells = [_cell(m, line.counters, report.total, most[m]) for m in most]
    wide = "" if any(cells) else f' colspan="{len(cells) + 1}"'  # a line without numbers has their room too
    look = CODE.format(1.5 + 0.5 * deep)  # wrapped lines stay indented
    code = f'<td{wide} style="{look}">{_broken(_spaced(text))}</td>'
    return f"<tr>{head}{code}{'' if wide else ''.join(cell or EMPTY for cell in cells)}</tr>"


def _has_bar(m, counters, total):
    """Whether there is something for the eye to find; where all of a line's effort was of use, there is not."""
    return bool(m.amount(counters)) and (m.share or m.part(counters, total) < 1)


def _cell(m, counters, total, most):
    words = _together(m.words(counters, total)).replace("\N{NO-BREAK SPACE}(", " (")
    if not words:
        return ""
    if m.share and m.amount(counters) == most:
        words = f"<strong>{words}</strong>"
    if not _has_bar(m, counters, total):
        return f'<td style="{NUMBER}">{words}</td>'
    return f'<td style="{NUMBER}">{words}{bar(m.part(counters, total), m.role, rest=not m.share)}</td>'


def _spaced(text):
    """Keep two spaces two, as before a comment, where HTML makes them one."""
    return text.replace("  ", " \N{NO-BREAK SPACE}")


def _broken(text):
    """Return source as HTML that may also be broken before an attribute."""
    return re.sub(r"(\.)(?=[A-Za-z_])", r"\1<wbr>", escape(text))


def _together(words):
    return words.replace(" ", "\N{NO-BREAK SPACE}")


def bar(part, role, rest=False):
    """Return a bar of BAR pixels for a part in 0 ... 1, in the colour of a role; `rest` shows what was of no use."""
    width = max(1, round(BAR * part)) if part else 0
    other = f"border-right:{BAR - width}px solid {style.COLOURS['hazard' if role == 'data' else 'idle']}"
    return (
        f'<span style="display:block;width:{width}px;height:{THICK}px;background-color:{style.COLOURS[role]};'
        f'margin:0 0 0 auto;{other if rest else f"margin-right:{BAR - width}px"}"></span>'
    )


# ------------------------------------------------------------------------------------------------ arrays


def _arrays(report):
    if not report.arrays:
        return ""
    heads = {
        "name": "as in the kernel", "space": "the memory it lives in", "shape": "and dtype", "loads": "by threads",
        "distinct": "elements loaded", "reuse": "loads for each distinct element; in shared memory, for each store",
        "stores": "by threads",
    }  # fmt: skip
    rows = []
    for use in report.arrays.values():
        numbers = [f"{n:,}" if n else "" for n in (use.loads, use.distinct_loaded)]
        numbers += [f"{use.reuse:,.1f}x" if use.loads and use.reuse else "", f"{use.stores:,}" if use.stores else ""]
        left = NUMBER.replace("right", "left", 1)
        rows.append(
            f'<tr><th scope="row" style="{left}">{escape(use.name)}</th><td style="{left}">{escape(use.space)}</td>'
            f'<td style="{left}">{escape(f"{_together(wording.shape(use.shape))} {use.dtype}")}</td>'
            + "".join(f'<td style="{NUMBER}">{escape(n)}</td>' for n in numbers)
            + "</tr>"
        )
    note = "<em>Reuse</em>: loads for each distinct element that is loaded; in shared memory, loads for each store."
    return table("<strong>How often the elements are used</strong>", heads, rows) + paragraph(note)


# ------------------------------------------------------------------------------------------------ estimates


def _estimates(report):
    """The first line of each estimate, and its other lines folded below."""
    texts = [text.split("\n") for text in wording.estimates(report)]
    shown = bullets(f"On a GPU ({wording.device(report)}), estimated", [lines[0] for lines in texts])
    further = [escape(line) for lines in texts for line in lines[1:]]
    return shown + f"<details><summary>More of the estimate</summary>{'<br>'.join(further)}</details>" * bool(further)


def _pictures(report):
    """The calls that draw this launch, folded."""
    calls = "; ".join(f"<code>report.{escape(call)}</code> {escape(what)}" for call, what in offered(report).items())
    return f"<details><summary>Pictures</summary>{calls}.</details>"
