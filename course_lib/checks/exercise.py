"""What an exercise is: its text's facts, the cases that everybody may see, and the mistakes that have a name.

The statement, the stub and the hints are in the sheet, `solutions/NN_topic.py`; hidden cases and wrong answers are in
`solutions/keys`, which students do not get.

Source: the course's own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

LEVELS = ("warm-up", "core", "stretch", "project")
"""From five minutes to an evening."""


@dataclass(frozen=True)
class Case:
    """One call of the answer: its arguments, and what a message calls them, such as "3 samples, 2 features".

    Arguments are plain values (None, bool, int, float, str, lists, tuples, dicts), NumPy arrays, `Named` or `Seeded`.

    Source: the course's own.
    """

    args: tuple
    note: str = ""


@dataclass(frozen=True)
class Cause:
    """A usual mistake: `wrong(*args)` is the value that an answer with exactly this mistake returns.

    `says` explains it in a sentence, to the student. Source: the course's own.
    """

    says: str
    wrong: Callable


@dataclass(frozen=True)
class Exercise:
    """A function to write, judged by the values that it returns.

    Attributes
    ----------
    id : str
        Lesson and number, "04.2".
    function : str
        The name that the student defines.
    title : str
    points : int >= 1
    level : one of `LEVELS`
    concept : str
        What it trains, a few words.
    source : str
        Lecture and slide topic.
    lines : int
        Roughly how many lines an answer has.
    expect : callable
        expect(*args) -> the right value, computed in another way than the answer, or by `course_lib.reference`.
    cases : tuple of Case
        The public check.
    causes : tuple of Cause
    rtol, atol : float
        How far numbers may be off.
    requires : callable, optional
        Where several values are right: requires(value, *args) -> the first `Difference` from what is asked, or None.
        `expect` then returns one of them, and only `requires` judges. The value may be anything. Students get its
        module, such as `exercises.launches`: no right value may be computed there.
    instead_of : tuple of str
        Names that an answer may not use, such as "relu_forward" where that is what is to be written.
    parts : tuple of str
        What messages call the parts of a result that is a tuple, such as "the number of blocks"; () for result[0], ...
    section : str
        The heading of its lesson's section that explains it; "" where the lesson as a whole does.
    kind : "function"

    ValueError where an attribute is not as said. Source: the course's own.
    """

    id: str
    function: str
    title: str
    points: int
    level: str
    concept: str
    source: str
    lines: int
    expect: Callable
    cases: tuple[Case, ...]
    causes: tuple[Cause, ...] = ()
    rtol: float = 1e-9
    atol: float = 1e-12
    instead_of: tuple[str, ...] = ()
    requires: Callable | None = None
    parts: tuple[str, ...] = ()
    section: str = ""
    kind: str = field(default="function", init=False)

    def __post_init__(self):
        if self.level not in LEVELS:
            raise ValueError(f"exercise {self.id} has level {self.level!r}; there are {', '.join(LEVELS)}.")
        if self.points < 1 or not self.cases:
            raise ValueError(f"exercise {self.id} has {self.points} points and {len(self.cases)} cases; both >= 1.")


@dataclass(frozen=True)
class KernelExercise(Exercise):
    """A GPU kernel to write: judged by what it writes, by hazards, and by the traffic it may cause. No GPU is needed.

    Attributes
    ----------
    launch : callable
        launch(kernel, *args) -> array of `checks.kernels.output`, or tuple of them, after kernel[grid, block](...).
        Host arrays are inputs and only read. Outputs hold NaN before, and what was never written is seen. Students get
        its module, `exercises.*_launches`: no right value may be computed there.
    budget : callable
        budget(*args) -> {counter of the executor's report: most}, such as {"global_load_requests": 64}.
    names : mapping
        Constants that the kernel's text may use beside its own, such as {"TILE": 16}.
    constants : mapping
        Arrays from outside of the kernel that are others in each case, such as {"MASKS": 1}: name -> which of the
        case's arguments it stands for. Numba freezes such an array into the kernel; here it is exchanged before each
        launch, whatever the notebook gives the name. All cases have arrays of the sheet's shape, and a kernel that
        does not read each of them is refused.
    launcher : str
        The name of a function of the answer that says how the kernel is launched: launcher(B) -> (grid, block) for B
        images. It is read and never run (`checks.own_launch`); `launch` gets it as kernel.own_launch(B). The kernel
        may then leave `constants` unread, as it is given them as arguments too.
    batch : int
        Where the time counts: images for which it is predicted, from a launch with fewer, of which every block is
        walked (`checks.predicted`). 0 where it does not.
    device : str
        The card that the time is predicted for.
    required : tuple of str
        Names of parts, "public" or the key's, without which there is no credit at all: code must work.
    stands_for : tuple of str
        Ids of earlier exercises of the sheet which count as solved where all parts of this one pass.

    ValueError also where a constant is no array of every case. Other errors as `Exercise`. Source: the course's own.
    """

    launch: Callable | None = None
    budget: Callable | None = None
    names: Mapping = field(default_factory=dict)
    constants: Mapping = field(default_factory=dict)
    launcher: str = ""
    batch: int = 0
    device: str = "H200"
    required: tuple[str, ...] = ()
    stands_for: tuple[str, ...] = ()
    kind: str = field(default="kernel", init=False)

    def __post_init__(self):
        super().__post_init__()
        for name, number in self.constants.items():
            for case in self.cases:
                if not (0 <= number < len(case.args) and isinstance(case.args[number], np.ndarray)):
                    raise ValueError(
                        f"exercise {self.id}: the constant {name} is argument {number}, and the case {case.note!r} has "
                        f"no array there; it has {len(case.args)} arguments."
                    )

    def arrays_of(self, case):
        """Return {name: array (...) that is only read} of the constants in a case. No errors.

        Source: the course's own.
        """
        found = {name: np.ascontiguousarray(case.args[number]).view() for name, number in self.constants.items()}
        for array in found.values():
            array.flags.writeable = False
        return found


@dataclass(frozen=True)
class TextQuestion:
    """A question that is answered in words and graded by hand. Source: the course's own."""

    id: str
    title: str
    points: int
    level: str
    concept: str
    source: str
    kind: str = field(default="text", init=False)
