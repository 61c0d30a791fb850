"""What a message calls an array, or a part of one: as it was written, and how to take a number from it.

A part keeps the name of its array, since findings speak of that. So a message about the part itself looks up the
subscript that took it. Source: the course's own.
"""

import ast
import math

import numpy as np

LETTERS = "ijkmnpqr"
"""Names of indices in a message; more axes are asked for in words. No l: it looks like a 1."""

COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def taken(part, node):
    """Return an array's part that remembers the subscript that took it; what is no array comes back as it is.

    No errors. Source: the course's own.
    """
    if hasattr(part, "taken"):
        part.taken = node
    return part


def sizes(view):
    """Return the shape of an array as a message shows it. No errors. Source: the course's own."""
    return tuple("one for each thread" if np.ndim(s) else s for s in view.shape)


def named(view, as_number=True):
    """Return how a message names an array, with a comma at the end: "z, an array (3, 40) of float32,".

    Where a number was wanted, a row is told what to write instead. No errors. Source: the course's own.
    """
    if as_number and _is_row(view):
        return f"{_written(view)}, a whole {_what(view)} {sizes(view)} of {view.name} (write {_element(view)}),"
    if as_number and _is_slice(view):  # how long it is, the walk over types does not know
        return f"{_written(view)}, a part of {view.name},"
    return f"{_written(view)}, an array {sizes(view)} of {view.dtype},"


def is_no_number(view):
    """Return the sentences for an array that was computed with as if it were a number, and what to write instead.

    No errors. Source: the course's own.
    """
    if _is_row(view):
        axes = len(view.memory.shape)
        count = COUNTS[axes] if axes < len(COUNTS) else axes
        return (
            f"{_written(view)} is a whole {_what(view)} {sizes(view)}, since {view.name} has {count} axes; "
            f"write {_element(view)}."
        )
    return f"{named(view)} is no number that could be computed with. Take an element: {_element(view)}."


def _is_slice(view):
    """Return whether the array was taken by a slice, such as z[:, 0], or is a row of such a part."""
    node = view.taken
    while isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(part, ast.Slice) for part in parts):
            return True
        node = node.value
    return False


def _is_row(view):
    """Return whether the array was taken by fewer indices than its whole has axes: z[i] of an image."""
    return view.taken is not None and 0 < view.ndim < len(view.memory.shape) and not _is_slice(view)


def _is_item(view):
    """Return whether the array is a part that no subscript took, such as the items of `for row in z`."""
    known = view.taken is None and not any(np.ndim(s) for s in view.shape)
    return known and math.prod(view.shape) < math.prod(view.memory.shape)


def _written(view):
    """Return how the array stands in the text."""
    if view.taken is not None:
        return ast.unparse(view.taken)
    return f"a part of {view.name}" if _is_item(view) else view.name


def _what(view):
    return "row" if view.ndim == 1 else "array"


def _element(view):
    """Return how to write an element: of a part, by the indices of the array that it is a part of."""
    whole = _is_row(view) or _is_slice(view) or _is_item(view)
    name, axes = (view.name, len(view.memory.shape)) if whole else (_written(view), view.ndim)
    if axes > len(LETTERS):
        return f"{name}[...] with an index for each axis"
    return f"{name}[{'row, column' if axes == 2 else ', '.join(LETTERS[:axes])}]"
