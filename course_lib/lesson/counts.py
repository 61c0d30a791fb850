"""Counters of several launches, one row for each: what a lesson compares without a line of formatting."""

from course_lib.lesson.tables import table


def counts(*reports, caption="", formats=None, **columns):
    """Return a `Table` with a row for each report and a column for each counter.

    Parameters
    ----------
    *reports : simt.Report
        Named by their kernels.
    caption : str
        What the table shows.
    formats : dict, optional
        {column: format of its numbers}, as for `table`; the column by the name that is seen.
    **columns : str, or function of a report
        Name above the column, with _ for spaces, and the name of a counter of `report.total`, such as
        "global_load_sectors"; a function computes what there is no counter for.

    Raises
    ------
    ValueError
        No report or no column; AttributeError for a counter that there is not.

    Source: the course's own.
    """
    if not reports or not columns:
        raise ValueError(f"counts got {len(reports)} reports and {len(columns)} columns; give one of each at least.")
    heads = ["kernel", *(name.replace("_", " ") for name in columns)]
    rows = [(r.kernel, *(_value(r, what) for what in columns.values())) for r in reports]
    return table(rows, heads, caption=caption, formats=formats)


def _value(report, what):
    return what(report) if callable(what) else getattr(report.total, what)
