"""The table of the self-test: what each submission tries, its fair score, its score, and whether the grader held.

Source: the course's own.
"""

import time

from rich.markup import escape
from rich.table import Table

from course_lib.grading.levels import best_level, level
from course_lib.grading.sandbox import NoBox
from course_lib.grading.selftest import traces
from course_lib.grading.selftest.batch import judged, selected
from course_lib.grading.selftest.world import World


def report(wanted, console, jobs):
    """Run the self-test, print the table and return the exit status: 0 held, 1 not held, 2 not run. No errors.

    Source: the course's own.
    """
    if wanted == "D":
        console.print("Level D is a plain process and protects nothing; there is nothing to test. Leave out --unsafe.")
        return 2
    try:
        here = level(wanted) if wanted else best_level()
    except (NoBox, LookupError) as error:
        console.print(escape(f"The self-test cannot run: {error}"))
        return 2
    if not here.works:
        console.print(escape(f"Level {here.letter} does not work on this machine: {here.says}."))
        return 2
    started, chosen = time.monotonic(), selected()
    console.print(escape(f"{len(chosen)} submissions at level {here.letter}: {here.title}."))
    verdicts = []
    with World() as world, console.status("It takes a minute or two.") as status:
        for verdict in judged(world, chosen, here.letter, jobs):
            verdicts.append(verdict)
            status.update(escape(f"{len(verdicts)} of {len(chosen)}: {verdict.submission.name}"))
        left = traces.of_world(world)
    order = {id(one): number for number, (_, one) in enumerate(chosen)}
    verdicts.sort(key=lambda v: order[id(v.submission)])
    console.print(_table(verdicts))
    problems = [f"{v.submission.name}: {p}" for v in verdicts for p in v.problems] + left
    for problem in problems:
        console.print(escape(f"not held: {problem}"))
    held = sum(not v.problems for v in verdicts)
    seconds = time.monotonic() - started
    console.print(escape(
        f"{held} of {len(chosen)} held at level {here.letter}, in {seconds:.0f} s. Outside of the boxes "
        f"{'nothing was read, written or left' if not left else 'something was changed'}."
    ))  # fmt: skip
    return 1 if problems or len(verdicts) != len(chosen) else 0


def _table(verdicts):
    table = Table("submission", "tries", "fair", "score", "level", "held", title=None)
    family = ""
    for v in verdicts:
        if v.family not in ("honest", family):
            table.add_section()
            family = v.family
        cells = (v.submission.name, v.submission.tries, v.submission.fair, v.result["points"], v.result["level"] or "-")
        table.add_row(*(escape(str(cell)) for cell in cells), "no" if v.problems else "yes")
    return table
