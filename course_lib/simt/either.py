"""One variable, several arrays: lanes that took different branches may mean different arrays by one name.

Source: Numba's documentation, "Notes on Numba's type inference": arrays of one type can share a variable, and which one
it is, each thread decides for itself.
"""

import numpy as np

from course_lib.simt.memory import View


class Either(View):
    """An array that is one of several, per lane: `parts` has (bool per lane, View).

    Its shape is theirs; where they differ, it has a number per lane. Source: the course's own.
    """

    def __init__(self, parts):
        self.parts = parts
        first = parts[0][1]
        shapes = [_chosen([(bits, view.shape[axis]) for bits, view in parts]) for axis in range(first.ndim)]
        super().__init__(first.memory, first.offset, shapes, first.strides, " or ".join(v.name for _, v in parts))

    def load(self, e, indices, mask, node):
        """Return what the lanes of a mask read, each from its own array."""
        result = None
        for here, view in self._here(mask):
            value = e.load(view, list(indices), here, node)
            result = value if result is None else e._both(result, value, here)
        return result if result is not None else e.load(self.parts[0][1], list(indices), mask.none(), node)

    def store(self, e, indices, value, mask, node):
        """Write the value of each lane to its own array."""
        for here, view in self._here(mask):
            e.store(view, list(indices), value, here, node)

    def each(self, mask):
        """Yield (lanes, View) for the arrays that lanes of a mask mean."""
        yield from self._here(mask)

    def _here(self, mask):
        for bits, view in self.parts:
            here = mask.where(bits)
            if not here.empty:
                yield here, view

    def part(self, offset, shape, strides, name=None):
        """Return nothing: a part of one of several arrays is taken from each of them."""
        raise TypeError(f"{self.name} is one of several arrays here; take the slice before they are chosen")


def either(old, new, bits):
    """Return the array that is `new` where `bits` holds and `old` elsewhere: both of one dtype and number of axes."""
    parts = []
    for view, mine in ((old, ~bits), (new, bits)):
        if type(view) is Either:
            parts += [(its & mine, each) for its, each in view.parts]
        else:
            parts.append((mine, view))
    return Either([(b, v) for b, v in parts if b.any()] or parts[:1])


def _chosen(sizes):
    """Return one size for all lanes, or a size per lane."""
    if all(np.ndim(s) == 0 for _, s in sizes) and len({int(s) for _, s in sizes}) == 1:
        return sizes[0][1]
    out = np.zeros(sizes[0][0].size, np.int64)
    for bits, size in sizes:
        out = np.where(bits, size, out)
    return out
