"""The small scripts of the widgets, read from the .js files beside this module."""

import re
from functools import cache
from importlib import resources

INCLUDE = re.compile(r"\s*// include (\w+)$")
"""A line of a script for which the lines of `<name>.js` are put: arithmetic that two widgets share."""


@cache
def script(name):
    """Return the text of `name`.js without comment lines and indentation: one function expression.

    A line `// include rules` stands for the lines of `rules.js`.
    """
    lines = (line.strip() for line in _lines(name))
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _lines(name):
    for line in resources.files(__package__).joinpath(f"{name}.js").read_text(encoding="utf-8").splitlines():
        found = INCLUDE.match(line)
        yield from _lines(found[1]) if found else [line]
