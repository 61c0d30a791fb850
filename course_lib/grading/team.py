"""The name by which a team wants to appear on a leaderboard: TEAM = "..." in its notebook, read and never run.

Source: the course's own.
"""

import ast
import re
import unicodedata

from course_lib.checks.scopes import UNREADABLE
from course_lib.grading.pages import one_line

NAME = "TEAM"
LONGEST = 40
"""Letters of a name."""

MOST_MARKS = 2
"""Combining marks on one letter; with more of them a name covers the lines above it."""

BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0]")
"""Letters and marks of Unicode that show nothing; those of its categories for controls and formats are left out."""

VARIANT = re.compile("[\ufe00-\ufe0f]")
"""What makes a picture of the sign before it; a name does without."""

ALIKE = str.maketrans(
    "авеѕіјкмнорстухһԁԛԝαβεζηικμνορτυχ\u0131\u04cf|",
    "abesijkmhopctyxhdqwabezhikmvoptyxill",
)
"""Small Cyrillic and Greek letters -> the Latin ones that they, or their capitals, look like."""


def team_name(sources):
    """Return the last text that the cells of a notebook plainly give the name TEAM, "" if there is none.

    Parameters
    ----------
    sources : sequence of str
        Of code cells, in order. Anything but a text between quotes is no name.

    What shows nothing, or would hide or turn the text around, is shown as its number. No errors.

    Source: Unicode annex 9 and annex 44, "General Category Values".
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
    name, marks = "", 0
    for letter in unicodedata.normalize("NFC", one_line(VARIANT.sub("", found), 4 * LONGEST)):
        kind = unicodedata.category(letter)
        marks = marks + 1 if kind in ("Mn", "Me") else 0
        hidden = kind[0] == "C" or kind in ("Zl", "Zp") or BLANK.match(letter) or marks > MOST_MARKS
        name += f"\\u{ord(letter):04x}" if hidden else letter
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}\u2026"


def looks(name):
    """Return a text that is the same for names which look alike: in their case, width, accents, letters and blanks.

    No errors. Source: the course's own; Unicode technical standard 39, "Confusable Detection", for the idea.
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    letters = [each for each in plain if unicodedata.category(each) not in ("Mn", "Me")]
    return "".join("".join(letters).translate(ALIKE).split())
