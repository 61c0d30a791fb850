"""The trace of a launch: its steps, its variables, and the figures made of them.

Source: the course's own. A trace is one plain document (`file` says what is in it), so that what was saved and what was
just recorded are the same thing.
"""

import functools

import numpy as np

from course_lib.simt.lanes import WARP
from course_lib.simt.trace.lane_states import MASKED, RUNNING
from course_lib.simt.trace.packing import as_array, unpacked
from course_lib.simt.trace.step import Access, Finding, Step
from course_lib.simt.trace.words import said


class Trace:
    """What some warps of one block did in a launch, step by step; made by `gpu.trace`, displays itself.

    Attributes
    ----------
    kernel : str
    grid, block : triples of int
    place : triple of int
        The block that is followed, as `cuda.blockIdx`.
    warps : tuple of int
        The warps of it that are followed.
    steps : list of Step
    findings : list of Finding
        Of all steps.
    elsewhere : list of Finding
        Of blocks that are not followed, as far as they were walked before or after this one.
    complete : bool
        Whether the kernel came to its end; else the last step says why not.

    Source: the course's own.
    """

    def __init__(self, document, watched=()):
        self.document, self.watched = document, tuple(watched)
        self.kernel = document["kernel"]
        self.grid, self.block, self.place = (tuple(document[key]) for key in ("grid", "block", "place"))
        self.warps = tuple(document["warps"])
        self.complete = document["complete"]
        self.elsewhere = [_finding(f) for f in document["elsewhere"]]

    def __len__(self):
        return len(self.document["steps"])

    def __getitem__(self, number):
        return self.steps[number]

    @functools.cached_property
    def steps(self):
        """The steps, in the order in which they were walked."""
        return list(_steps(self.document))

    @property
    def findings(self):
        """What is wrong, in the order in which it happened."""
        return [f for step in self.steps for f in step.findings]

    @functools.cached_property
    def names(self):
        """The variables, in the order in which they got their values."""
        seen = {}
        for name in (n for part in _values(self.document) for n in part):
            seen[name] = True
        return tuple(seen)

    def watch(self, *names):
        """Return the same trace that shows these variables first.

        Raises
        ------
        ValueError
            If there is no such variable.

        Source: the course's own.
        """
        for name in names:
            if name not in self.names:
                raise ValueError(f"no variable of this trace is called {name!r}; there are {', '.join(self.names)}.")
        return Trace(self.document, names)

    def save(self, path):
        """Write the trace into one JSON file, to look at it elsewhere: `gpu.load_trace(path)`.

        Raises
        ------
        OSError
            If the file cannot be written.

        Source: the course's own.
        """
        from course_lib.simt.trace.file import save

        save(self, path)

    def walk(self):
        """Return the figure of the warp's way: executed lines by lanes. Errors: see `strip.walk`."""
        from course_lib.simt.trace.strip import walk

        return walk(self)

    def tree(self, array=None):
        """Return the figure of a reduction in shared memory, level by level. Errors: see `tree.tree`."""
        from course_lib.simt.trace.tree import tree

        return tree(self, array)

    @functools.cached_property
    def telling(self):
        """The number of the step that tells most: the first finding, else the first divergence, else the last step."""
        for step in self.steps:
            if step.findings:
                return step.number
        for step in self.steps:
            if any(_is_split(step.states[w : w + WARP]) for w in range(0, len(step.states), WARP)):
                return step.number
        return len(self) - 1

    def __str__(self):
        step = self.steps[self.telling]
        where = f"{self.kernel}, block {self.place}, {warps_in_words(self.warps)}"
        return f"{where}: {len(self)} steps. Step {step.number + 1}: {step.words}"

    __repr__ = __str__

    def _repr_mimebundle_(self, include=None, exclude=None):
        from course_lib.simt.trace.debugger import debugger

        return {"text/html": debugger(self).html, "text/plain": str(self)}


def _is_split(letters):
    """Whether a warp has lanes that take part, and others that are switched off for now."""
    return any(c in RUNNING for c in letters) and any(c in MASKED for c in letters)


def warps_in_words(warps):
    """Return "warp 3" or "warps 0 to 7". No errors."""
    return f"warp {warps[0]}" if len(warps) == 1 else f"warps {warps[0]} to {warps[-1]}"


def _values(document):
    """Yield the variables that get values, in their order."""
    started = set()
    for step in document["steps"]:
        if step["frame"] >= 0 and step["frame"] not in started:
            started.add(step["frame"])
            yield document["frames"][step["frame"]]["start"]
        yield step.get("set", {})


def _steps(document):
    lanes, threads, held = 32 * len(document["warps"]), document["threads"], {}
    for number, step in enumerate(document["steps"]):
        frame = step["frame"]
        if frame >= 0:
            its = document["frames"][frame]
            function = its["function"]
            if frame not in held:
                held[frame] = {}
                for name, change in its["start"].items():
                    _set(held[frame], name, change, lanes, threads)
            changed = {n: _set(held[frame], n, c, lanes, threads) for n, c in step.get("set", {}).items()}
            variables = {n: _shown(*v, threads) for n, v in held[frame].items()}
        else:
            function, changed, variables = document["kernel"], {}, {}
        lines = document["functions"].get(function, {})
        yield Step(
            number=number, line=step["line"], function=function, text=lines.get(str(step["line"]), "").strip(),
            kind=step.get("kind", ""), states=step["state"].ljust(lanes, "-"),
            taken=_bits(step.get("yes"), lanes) if step.get("kind") in ("if", "loop") else None,
            variables=variables, changed=changed,
            accesses=[_access(document, t) for t in step.get("touch", ())],
            shared=_shared(document, step), barrier=step.get("barrier", ""),
            findings=[_finding(f) for f in step.get("found", ())], words=said(document, number),
        )  # fmt: skip


def _set(held, name, change, lanes, threads):
    """Enter a change of a variable; return the lanes that it changed: (n,) bool."""
    size = change.get("of")
    who = unpacked(change["who"]) if "who" in change else range(threads)
    if size is None:
        new, shape = as_array(unpacked(change["v"]), change["t"]), (lanes,)
    else:
        new = np.array(change["v"], object).reshape(-1, size)
        shape = (lanes, size)
    values, has = held.get(name, (np.zeros(shape, new.dtype), np.zeros(lanes, np.bool_)))
    if values.shape != shape:
        values, has = np.zeros(shape, new.dtype), np.zeros(lanes, np.bool_)
    values = values.astype(np.result_type(values, new)) if values.dtype != new.dtype else values.copy()
    bits = np.zeros(lanes, np.bool_)
    bits[list(who)] = True
    values[bits] = new
    held[name] = values, has | bits
    return bits


def _shown(values, has, threads):
    """Return one number where all threads hold the same, else an array that is masked where a lane holds none."""
    if values.ndim == 1 and has[:threads].all() and (values[:threads] == values[0]).all():
        return values[0]
    if has.all():
        return values
    return np.ma.masked_array(values, np.broadcast_to(~has if values.ndim == 1 else ~has[:, None], values.shape))


def _bits(packed_lanes, lanes):
    bits = np.zeros(lanes, np.bool_)
    if packed_lanes is not None:
        bits[unpacked(packed_lanes)] = True
    return bits


def _access(document, touch):
    array = document["arrays"][touch["a"]]
    return Access(
        array["name"], array["space"], touch["way"], tuple(unpacked(touch["who"])),
        _indices(array, unpacked(touch["at"])),
        tuple(as_array(unpacked(touch["v"]), array["dtype"])) if "v" in touch else None, touch.get("cost"),
    )  # fmt: skip


def _indices(array, flat):
    shape = tuple(array["shape"])
    if not shape:
        return ((),) * len(flat)
    return tuple(zip(*(axis.tolist() for axis in np.unravel_index(np.array(flat, np.int64), shape)), strict=True))


def _shared(document, step):
    found = {}
    for change in step.get("shared", ()):
        array = document["arrays"][change["a"]]
        values = as_array(unpacked(change["v"]), array["dtype"])
        parts = zip(_indices(array, unpacked(change["at"])), values, unpacked(change["by"]), strict=True)
        found[array["name"]] = {index: (value, thread) for index, value, thread in parts}
    return found


def _finding(found):
    keys = ("kind", "line", "message", "fix", "array", "lane", "other", "count", "severity")
    return Finding(**{key: found[key] for key in keys})
