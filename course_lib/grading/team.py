"""The name by which a team wants to appear on a leaderboard: TEAM = "..." in its notebook, read and never run.

Source: the course's own.
"""

import ast

from course_lib.checks.scopes import UNREADABLE
from course_lib.grading.pages import one_line

NAME = "TEAM"
LONGEST = 40
"""Letters of a name."""


def team_name(sources):
    """Return the last text that the cells of a notebook plainly give the name TEAM, "" if there is none.

    Parameters
    ----------
    sources : sequence of str
        Of code cells, in order. Anything but a text between quotes is no name.

    What would hide or turn the text around is shown as its number. No errors. Source: the course's own.
    """
    found = ""
    for source in sources:
        if NAME not in source:
            continue
        try:
            statements = ast.parse("\n".join(line for line in source.split("\n") if line[:1] not in ("%", "!"))).body
        except UNREADABLE:
            continue
        for node in statements:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            value = getattr(node, "value", None)
            if any(isinstance(t, ast.Name) and t.id == NAME for t in targets):
                found = value.value if isinstance(value, ast.Constant) and type(value.value) is str else ""
    name = one_line(found, 4 * LONGEST)
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}\u2026"
