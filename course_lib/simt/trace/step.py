"""One step of a trace: what a statement did in each lane.

Source: the course's own.
"""

from dataclasses import dataclass

import numpy as np

from course_lib.simt.trace.lane_states import RUNNING


@dataclass(frozen=True)
class Access:
    """Elements of one array that lanes read or wrote in a step, in one place of the line.

    Attributes
    ----------
    array, space, way : str
        Its name; "global", "shared", "local" or "constant"; "load", "store" or "atomic".
    lanes : tuple of int
        Which lanes took part, in their order.
    index : tuple of tuples of int
        The element of each of them.
    values : tuple or None
        What each of them read or wrote; of an atomic operation, the old number. None where that is not kept.
    cost : int or None
        Sectors of 32 bytes for global memory, wavefronts for shared memory: 1 is the least of a warp.

    Source: the course's own.
    """

    array: str
    space: str
    way: str
    lanes: tuple
    index: tuple
    values: tuple | None
    cost: int | None


@dataclass(frozen=True)
class Finding:
    """What is wrong in a step. `lane` and `other` are lanes of the trace, None for threads that it does not follow.

    Source: the course's own.
    """

    kind: str
    line: int
    message: str
    fix: str
    array: str
    lane: int | None
    other: int | None
    count: int
    severity: str

    def __str__(self):
        return f"line {self.line}: {self.message} {self.fix}".strip()


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a trace; arrays have an element for each lane.

    Attributes
    ----------
    number, line : int
    function, text : str
        Of the line.
    kind : str
        "if", "loop", "return", "break", "continue", "call" (a function begins), "stop", or "" for other statements.
    states : str
        A letter for each lane; `trace.lane_states.MEANINGS` has what they mean.
    active : (n,) bool array
        n is 32, or 32 times the warps that are followed.
    taken : (n,) bool array or None
        Which lanes go into the body of the `if` or of the loop.
    variables : dict of str to number, array (n,) or masked array
        What the function's variables hold after the step: one number where all lanes have the same; elements are
        masked in lanes that have none.
    changed : dict of str to (n,) bool array
        Which lanes of which variables the step changed.
    accesses : list of Access
    shared : dict of str to dict of tuple to (value, thread)
        What changed in the block's shared arrays since the step before, and the number of the thread that wrote it.
    barrier : str
        "block", "warp" or "grid" at a barrier, else "".
    findings : list of Finding
    words : str
        What the step did, in a sentence or two.

    Source: the course's own.
    """

    number: int
    line: int
    function: str
    text: str
    kind: str
    states: str
    taken: np.ndarray | None
    variables: dict
    changed: dict
    accesses: list
    shared: dict
    barrier: str
    findings: list
    words: str

    @property
    def active(self):
        """Which lanes take part: (n,) bool."""
        return np.array([letter in RUNNING for letter in self.states], np.bool_)

    def __str__(self):
        return f"step {self.number}: {self.words}"
