"""What the variables of a function hold in some lanes, and what a statement changed.

Source: the course's own. Numbers are kept, and the elements of tuples and of small local arrays; other arrays are seen
by what is read from and written to them.
"""

import numpy as np

from course_lib.simt.memory import View
from course_lib.simt.trace.lane_states import bits_of
from course_lib.simt.trace.packing import packed, plain
from course_lib.simt.values import is_number

MOST_LOCAL = 16
"""Elements of a local array that are shown."""

MOST_PARTS = 4
"""Parts of a tuple that are shown, each as a variable of its own."""


class Variables:
    """The variables of one call of a function, in a slice of lanes. Source: the course's own."""

    def __init__(self, e, lanes):
        self.e, self.lanes, self.known, self.seen = e, lanes, {}, {}

    def changes(self, active):
        """Return {name: what JSON holds} of what changed in the lanes of a bool array since the last call."""
        found = {}
        for name, value in self.e.variables.items():
            local = isinstance(value, View) and value.memory.space == "local"
            if self.seen.get(name) is value and not local:
                continue
            self.seen[name] = value
            here = active & bits_of(self.e.defined[name], self.lanes)
            for its_name, numbers, kind in self._numbers(name, value):
                change = self._change(its_name, numbers, here)
                if change is not None:
                    found[its_name] = {"t": kind, **change}
        return found

    def _numbers(self, name, value):
        """Yield (name, array (n,) or (n, k) of its numbers, dtype)."""
        n = self.lanes.stop - self.lanes.start
        if is_number(value) and value.dtype.names is None:
            yield name, np.broadcast_to(value if np.ndim(value) == 0 else value[self.lanes], n), value.dtype.name
        elif type(value) is tuple and len(value) <= MOST_PARTS:
            for i, part in enumerate(value):
                if is_number(part):
                    yield from self._numbers(f"{name}[{i}]", part)
        elif isinstance(value, View) and value.memory.space == "local" and not value.dtype.names:
            memory = value.memory
            if 0 < memory.part <= MOST_LOCAL:
                numbers = np.array(memory.cells.reshape(-1, memory.part)[self.lanes], object)
                numbers[~memory.written.reshape(-1, memory.part)[self.lanes]] = None
                yield name, numbers, memory.dtype.name

    def _change(self, name, numbers, here):
        """Enter what a variable holds in the lanes `here`; return which lanes changed and what they hold, or None."""
        old, had = self.known.get(name, (None, np.zeros(here.size, np.bool_)))
        if old is None or old.shape != numbers.shape:
            new, had = here, had & False
            old = numbers.copy()
        else:
            with np.errstate(invalid="ignore"):
                same = (old == numbers) | ((old != old) & (numbers != numbers))
            new = here & ~(had & (same if numbers.ndim == 1 else same.all(1)))
        if not new.any():
            return None
        if old.dtype != numbers.dtype:
            old = old.astype(np.result_type(old, numbers))
        old = old.copy()
        old[new] = numbers[new]
        self.known[name] = old, had | new
        change = {}
        if numbers.ndim == 1:
            change["v"] = packed(numbers[new])
        else:
            change["v"] = [None if v is None else plain(np.asarray(v)[()]) for v in numbers[new].ravel()]
            change["of"] = numbers.shape[1]
        if not new.all():
            change["who"] = packed(np.flatnonzero(new))
        return change
