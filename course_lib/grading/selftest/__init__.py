"""Hostile submissions that ship with the grader, so that you can see on your own machine that they do it no harm.

`course grade --self-test` grades them all and prints a table. `submission` says what one is, `sheet` has the exercises
that they answer, and `collection` the submissions, by what they try. `world` lays out what they are after, `traces`
finds out afterwards whether anything was written or left behind, `batch` grades them and judges the grader.

Every one of them is harmless even where it gets out: it may write a marker into a folder that the test itself made, it
deletes nothing, and the processes, memory and time that it takes are limited by itself.

Source: the course's own.
"""


def run(level="", console=None, jobs=2):
    """Grade all hostile submissions, print a table, and return the exit status: 0 if the grader held, else 1.

    Parameters
    ----------
    level : "A", "B", "C" or ""
        "" is the safest that works here. "D" protects nothing, so nothing is tried there: the status is 2.
    console : rich.console.Console, optional
        Where to print; standard output if none is given.
    jobs : int
        How many are graded at a time.

    No errors: what keeps the test from running is printed, with status 2. Source: the course's own.
    """
    from rich.console import Console

    from course_lib.grading.selftest.table import report  # not before it is needed: it imports the whole grader

    return report(level, console or Console(highlight=False), jobs)
