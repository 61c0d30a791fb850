"""What `course bench gpu` found, as tables in a terminal.

Source: the course's own.
"""

from rich.markup import escape
from rich.table import Table

from course_lib.bench.gpu.text import HEAD, TRAINED, player_rows, promise_rows, slowest, time_text, training_rows


def tables(report):
    """Return rich Tables of a report, a dict: each case, the promises, compiling, launching. No errors.

    Source: the course's own.
    """
    found = []
    for row in report["rows"]:
        head = ("", "kind", "time", "speed", "of roofline", "ratio to rival", "relative error")
        table = _table(f"{row['case']} ({row['size']})", head, player_rows(report, row))
        notes = [f"{escape(name)} refuses this size: {escape(text)}" for name, text in row["refused"].items()]
        notes += [f"[bold red]{escape(name)} failed:[/] {escape(text)}" for name, text in row["failures"].items()]
        notes += [f"{escape(name)} launches {escape(', '.join(k))}" for name, k in row["rival_kernels"].items() if k]
        if notes:
            table.caption, table.caption_justify = "\n".join(notes), "left"
        found.append(table)
    if promises := promise_rows(report):
        found.append(_table("floors and goals", HEAD, promises))
    if report["compile"]:
        found.append(
            _table("compiling, slowest first", ("kernel", "player", "case", "first", "cached"), slowest(report))
        )
    if ways := [(n, *map(time_text, t)) for n, t in report["launch"].items() if n != "case"]:
        found.append(_table("the host's time for a launch", ("", "median", "20 %", "80 %"), ways))
    for what, title in TRAINED.items():
        if steps := training_rows(report, what):
            rows = [(name, *times.values()) for name, times in steps]
            found.append(_table(title, ("network", *steps[0][1]), rows))
    return found


def _table(title, head, rows):
    table = Table(title=title, title_justify="left")
    for i, column in enumerate(head):
        table.add_column(column, justify="left" if i < 2 else "right")
    for row in rows:
        table.add_row(*map(escape, row))
    return table
