"""Values in a card, as a student would write them: arrays up to 20 numbers in full, larger ones in words.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.values import Named, Opaque, Seeded

IN_FULL = 20
"""Numbers of an array, or entries of a list, that are shown in full."""

BEGIN, END = "\ue000", "\ue001"
"""Around the first difference; a page makes a mark of them, a text other signs; no text has them."""

MOST_TEXT = 400
"""Characters of a text or of another object's name."""

WIDE = 76
"""Columns that a call may take before each argument gets a line of its own."""


def call_of(function, arguments):
    """Return the call "f(np.array([1.0, 2.0]), 3)" that can be copied into a cell, where no array is too large for it.

    Parameters
    ----------
    function : str
    arguments : sequence of values, as a `Case` has them

    No errors. Source: the course's own.
    """
    texts = [_argument(a) for a in arguments]
    line = f"{function}({', '.join(texts)})"
    if len(line) <= WIDE and "\n" not in line:
        return line
    inner = "".join(f"    {t}\n".replace("\n", "\n    ").rstrip(" ").removesuffix("\n") + ",\n" for t in texts)
    return f"{function}(\n{inner})"


def launch_of(kernel, grid, block, arguments, constants=()):
    """Return a kernel's launch with its arguments in the lines above, as in a cell.

    Parameters
    ----------
    kernel : str
    grid, block : triples of int
    arguments : dict of parameter to array, device array or number
    constants : mapping of name to array
        What the kernel reads from outside in this launch.

    No errors. Source: the course's own.
    """
    lines = []
    for name, value in (*dict(constants).items(), *arguments.items()):
        if hasattr(value, "copy_to_host"):
            begins = getattr(value, "begins", None)
            full = f"gpu.to_device(np.full({value.shape}, {begins}, np.{value.dtype}))"
            lines.append(f"{name} = {f'gpu.empty({value.shape}, np.{value.dtype})' if begins is None else full}")
        else:
            lines.append(f"{name} = {_argument(value)}".replace("\n", "\n" + " " * (len(name) + 3)))
    sizes = ", ".join(map(_sizes, (grid, block)))
    return "\n".join([*lines, f"{kernel}[{sizes}]({', '.join(arguments)})"])


def _sizes(triple):
    """Return (4, 1, 1) as 4 and (4, 2, 1) as (4, 2)."""
    axes = max(i for i in range(3) if i == 0 or triple[i] > 1) + 1
    return str(triple[0]) if axes == 1 else str(tuple(triple[:axes]))


def _argument(value):
    if isinstance(value, np.ndarray):
        if value.size > IN_FULL:
            return f"<array {value.shape} of {value.dtype}>"
        kind = "" if value.dtype in (np.float64, np.int64, np.bool_) else f", np.{value.dtype}"
        return f"np.array({_rows(value, _exact, 9)}{kind})" if value.size else f"np.zeros({value.shape}{kind})"
    if isinstance(value, Named):
        return value.name.replace("numpy.", "np.").replace("course_lib.reference.", "ops.")  # as sheets import them
    if isinstance(value, Seeded):
        return f"np.random.default_rng({value.seed})"
    return _nested(value, (), _argument)


def result_of(value, place=(), beside=None):
    """Return what an answer returned, or should have, with the first difference between `BEGIN` and `END`.

    Parameters
    ----------
    value : any value of `checks.values`
    place : tuple
        As `Difference.place`.
    beside : any value
        What is shown beside it: a number gets so many digits that the two look different.

    No errors. Source: the course's own.
    """
    if isinstance(value, np.ndarray) and value.shape:
        if not place or isinstance(place[0], tuple):
            return _array(value, place[0] if place else None, beside)
        if value.size > IN_FULL:
            return _array(value, place[: value.ndim] if len(place) >= value.ndim else None, beside)
        value = list(value)  # the place is that of a list, which an array may stand for
    if isinstance(value, list | tuple) and place and isinstance(place[0], tuple):  # a list for an array
        place, beside = (*place[0], *place[1:]), beside.tolist() if isinstance(beside, np.ndarray) else beside
    if isinstance(value, list | tuple | dict) and place:
        key = place[0]
        try:
            other = beside[key]
        except (TypeError, KeyError, IndexError):
            other = None
        return _nested(value, place, lambda v: result_of(v), lambda v: result_of(v, place[1:], other) or "")
    if isinstance(value, list | tuple | dict):
        return _nested(value, (), result_of)
    if isinstance(value, float | complex | np.generic | np.ndarray):
        return _close_up(np.asarray(value)[()], beside)
    if isinstance(value, Opaque):
        return f"a {value.type_name}"
    return _short(value)


def _array(value, index, beside):
    if value.size <= IN_FULL:
        return _rows(value, lambda v: _digits(v, 6), 0, index, beside)
    text = f"array {value.shape} of {value.dtype}"
    if index is None:
        return text
    number = _close_up(value[index], _at(beside, index))
    return f"{text}; at [{', '.join(map(str, index))}]: {BEGIN}{number}{END}"


def _rows(value, number, indent, marked=None, beside=None, at=()):
    """Return an array as nested brackets, a row a line; the marked element between the signs."""
    if value.ndim == 0:
        if at != marked:
            return number(value[()])
        return f"{BEGIN}{_close_up(value[()], _at(beside, at))}{END}"
    parts = [_rows(part, number, indent + 1, marked, beside, (*at, i)) for i, part in enumerate(value)]
    return f"[{(', ' if value.ndim == 1 else ',' + chr(10) + ' ' * (indent + 1)).join(parts)}]"


def _at(array, index):
    try:
        return array[index]
    except (TypeError, IndexError):
        return None


def _close_up(value, beside):
    """Return a number with 6 digits, or as many as it takes to tell it from the other one."""
    for digits in (6, 9, 17):
        text = _digits(value, digits)
        if not isinstance(beside, int | float | complex | np.generic) or text != _digits(
            np.asarray(beside)[()], digits
        ):
            return text
    return text


def _digits(value, digits):
    if value.dtype.kind not in "f":
        return str(value)
    text = f"{value:.{digits}g}"
    return text if set(text) & set(".en") else f"{text}.0"  # 3.0 is no whole number


def _exact(value):
    """Return a number with all its digits, as Python reads it again."""
    if value.dtype.kind == "f" and not np.isfinite(value):
        return {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}[str(value)]
    return repr(value.item()) if value.dtype == np.float64 else str(value)


def _nested(value, place, show, show_marked=None):
    """Return a list, tuple or dict with its parts shown, the one at place[0] marked unless it is marked inside."""
    begin = 0
    if isinstance(value, dict):
        parts = [(k, f"{_short(k)}: ") for k in list(value)[:IN_FULL]]
        signs = "{}"
    elif isinstance(value, list | tuple):
        if place and place[0] >= IN_FULL:
            begin = max(0, min(place[0] - IN_FULL // 2, len(value) - IN_FULL))
        parts = [(i, "") for i in range(begin, min(len(value), begin + IN_FULL))]
        signs = "[]" if isinstance(value, list) else "()"
    else:
        return _short(value)
    texts = []
    for key, prefix in parts:
        marked = bool(place) and key == place[0]
        text = show_marked(value[key]) if marked else show(value[key])
        texts.append(prefix + (f"{BEGIN}{text}{END}" if marked and BEGIN not in text else text))
    first = f"... from [{begin}]: " if begin else ""
    more = f", ... {len(value)} in all" if len(value) > len(parts) else ""
    inside = (",\n " if any("\n" in t for t in texts) else ", ").join(t.replace("\n", "\n ") for t in texts)
    comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
    return f"{signs[0]}{first}{inside}{more}{comma}{signs[1]}"


def _short(value):
    try:
        with np.printoptions(legacy="1.25"):  # 9.0, not np.float64(9.0)
            text = repr(value)
    except Exception:  # a number of thousands of digits
        text = "a number of thousands of digits" if isinstance(value, int) else f"a {type(value).__name__}"
    return text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 3]}..."
