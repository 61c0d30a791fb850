"""What a notebook remembers of its cells: `In`, `Out`, `_`, `__`, `_3` and `_i`, as IPython's documentation has them.

Source: the course's own; IPython's documentation of its input and output caching.
"""

import tokenize
from io import StringIO
from pathlib import Path


class History:
    """The texts and results of the cells that were run, by their number.

    Parameters
    ----------
    names : dict
        The notebook's, which get these names too.

    Attributes
    ----------
    count : int
        Of cells that were run.

    Source: the course's own; IPython's documentation.
    """

    def __init__(self, names):
        self.names, self.count = names, 0
        self._texts, self._values = [""], {}
        self._last = dict.fromkeys(("_", "__", "___"), "")
        names.update(dict.fromkeys(("_i", "_ii", "_iii"), "") | {"_dh": [Path.cwd()]})
        self.show()

    def show(self):
        """Give the notebook these names, also after IPython's shell gave them its own. No errors."""
        self.names.update(self._last)
        self.names.update({"In": self._texts, "_ih": self._texts, "Out": self._values, "_oh": self._values})

    def begin(self, source):
        """Count a cell and remember its text. No errors. Source: IPython's documentation."""
        self.count += 1
        names = self.names
        names["_iii"], names["_ii"], names["_i"] = names.get("_ii", ""), names.get("_i", ""), self._texts[-1]
        names[f"_i{self.count}"] = source
        self._texts.append(source)

    def keep(self, value):
        """Remember the value of a cell's last line, unless it is None or the line ends in a semicolon. No errors.

        Source: IPython's documentation.
        """
        if value is None or _is_silent(self._texts[-1]):
            return
        last, names = self._last, self.names
        if all(names.get(name) is last[name] for name in last):  # a `_` of the notebook's own stays
            last["___"], last["__"], last["_"] = last["__"], last["_"], value
            names.update(last)
        names[f"_{self.count}"] = self._values[self.count] = value


def _is_silent(source):
    """Return whether a cell shows no value: its last sign, but for comments, is a semicolon, or a magic takes it."""
    if source.lstrip().startswith(("%%capture", "%%prun")):
        return True
    if ";" not in source:
        return False
    try:
        words = list(tokenize.generate_tokens(StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return source.rstrip().endswith(";")
    said = [word.string for word in words if word.type != tokenize.COMMENT and word.string.strip()]
    return said[-1:] == [";"]
