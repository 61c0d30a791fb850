"""What moves in a report from one launch to the next: its columns side by side, for several launches."""

from course_lib.lesson.tables import table


def columns(reports, *, caption=""):
    """Return a table of the columns that reports have, one row each: what every launch needs, and whether it differs.

    Parameters
    ----------
    reports : dict of str to Report
        What to call each launch, and its report; two or more.
    caption : str
        As of `table`.

    Raises
    ------
    ValueError
        Fewer than two launches.

    Source: the course's own.
    """
    from course_lib.simt.show.measures import MEASURES  # lessons without kernels do not load the executor

    if len(reports) < 2:
        raise ValueError(f"columns got {len(reports)} report; two or more can differ: {{'one way': a, 'the other': b}}")
    rows = []
    for measure in MEASURES:
        totals = [report.total for report in reports.values()]
        if any(map(measure.amount, totals)):
            said = [measure.words(total, total) or "0" for total in totals]
            rows.append((measure.title, *said, "moved" if len(set(said)) > 1 else "the same"))
    return table(
        rows, ["column", *reports, "from one to the next"], caption=caption, align="l" + "r" * len(reports) + "l"
    )
