"""The small scripts of the widgets, read from the .js files beside this module."""

from functools import cache
from importlib import resources


@cache
def script(name):
    """Return the text of `name`.js without comment lines and indentation: one function expression."""
    text = resources.files(__package__).joinpath(f"{name}.js").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))
