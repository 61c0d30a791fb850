"""Judge one call of an answer: is it right, and if not, what is wrong, in words that help.

The same judgement is made in the notebook and by the grader. Hidden cases are judged with reveal=False: the finding
then names the kind of mistake, and neither inputs nor values.

Source: the course's own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from course_lib.checks.differences import difference
from course_lib.checks.forms import as_plain
from course_lib.checks.remembered import remembered
from course_lib.checks.values import Named, Opaque, Seeded, resolve

IN_A_LINE = 12
"""Numbers of an array that a message of one line shows; a card shows more (`showing.IN_FULL`)."""

NOT_STARTED = "not written yet"
"""The cause that a stub has."""

NOT_CALLED = "not called"
"""The cause where time or the box was used up before."""

DOES_NOT_END = "does not end"
"""The cause that an answer has which was stopped."""

ENDLESS = (
    "The usual cause is a while loop whose condition stays true: what it tests has to change in every turn, towards "
    "the end."
)
"""What is said of an answer that does not end."""

FOR_NAN = -7.0e199
"""What stands for NaN where a value is compared with that of a usual mistake; no mistake has this value."""

ONE_VALUE = ("wrong numbers", "another value", "a wrong truth value")
"""Kinds of differences that a single value, shown beside the right one, explains by itself."""

OF_THE_TEXT = ("KernelError",)
"""Errors of kernels whose message speaks of the answer's text, not of the inputs: also told on hidden cases."""

KNOWN_ERRORS = {
    *("AttributeError", "IndexError", "KeyError", "MemoryError", "NameError", "RecursionError", "TypeError"),
    *("ValueError", "ZeroDivisionError", "HazardFound", "KernelError", "LaunchError", "LinAlgError", "ProcessEnded"),
    "ProtocolError",
}
"""Names of errors that are told on hidden cases. They are few, as an answer can choose one by what it was given."""


@dataclass(frozen=True)
class Outcome:
    """What one call of an answer did.

    Attributes
    ----------
    value : any value of `checks.values`
    error : str
        "NameError: name 'x' is not defined"; "" where it returned.
    changed : tuple of str
        Arguments that it changed in place: "argument 1".
    hazards : tuple of str
        Of a kernel: races and accesses outside of arrays, as the executor says them.
    counters : mapping
        Of a kernel: what the executor counted.
    advice : mapping of str to str
        Of a kernel: counter -> what to do where it is too high.
    explain : callable, optional
        Of a kernel: explain(text of a difference, hint, reveal) -> both, with the array's name and who wrote where.
    not_called : str
        Why the answer was not called at all, such as "the 30 s for the question are used up"; "" where it was.
    stopped : float
        Seconds after which the answer was stopped, since it did not end; 0 if it ended.
    origin : checks.origin.Origin, optional
        Where in the student's text an error, or the stop, came from; the grader does not know it.
    told : str
        What an error of NumPy means here, in sentences.
    found : tuple of (Report, Hazard)
        Of a kernel: what `hazards` speak of, in the same order, to draw it.
    causes : mapping of str to (Report, Hazard)
        Of a kernel: what `advice` speaks of.
    calls : tuple of (grid, block, {parameter: argument})
        Of a kernel: its launches.

    Source: the course's own.
    """

    value: object = None
    error: str = ""
    changed: tuple[str, ...] = ()
    hazards: tuple[str, ...] = ()
    counters: Mapping = field(default_factory=dict)
    advice: Mapping = field(default_factory=dict)
    explain: Callable | None = None
    not_called: str = ""
    stopped: float = 0.0
    origin: object = None
    told: str = ""
    found: tuple = ()
    causes: Mapping = field(default_factory=dict)
    calls: tuple = ()


@dataclass(frozen=True)
class Facts:
    """What a card shows beside the words of a finding: only of public cases, so never of a grader's hidden ones.

    Attributes
    ----------
    case : Case
    outcome : Outcome
    why : str
        The likely cause, or what to do; "" where none is known.
    detail : str
        Where values differ, in a sentence.
    place : tuple
        The first difference, as `Difference.place`.
    cost : tuple
        (counter, counted, most) of a right kernel that costs too much.

    Source: the course's own.
    """

    case: object
    outcome: Outcome
    why: str = ""
    detail: str = ""
    place: tuple = ()
    cost: tuple = ()


@dataclass(frozen=True)
class Finding:
    """Why a call is not right: what to say to the student, and the mistake in a few words, for statistics.

    `facts` are None on hidden cases. Source: the course's own.
    """

    says: str
    cause: str
    facts: Facts | None = None


@remembered
def right_value(exercise, case):
    """Return what a case is expected to return; what `expect` raises passes through. Source: the course's own."""
    return exercise.expect(*[resolve(a) for a in case.args])


def judge(exercise, case, outcome, reveal=True):
    """Return None if the outcome of a case is right, else a `Finding`.

    Parameters
    ----------
    exercise : Exercise or KernelExercise
    case : Case
    outcome : Outcome
    reveal : bool
        Whether the finding may show arguments and values.

    No errors for whatever the answer did; those of `expect` pass through. Source: the course's own.
    """
    where = f"{exercise.function}({_call(exercise, case)})" if reveal else f"{exercise.function} on a hidden case"
    if case.note and reveal:
        where += f" ({case.note})"
    if outcome.not_called:
        return Finding(f"{where} has no result: {outcome.not_called}.", NOT_CALLED, facts=None)
    if outcome.stopped:
        return _endless(where, case, outcome, reveal)
    if outcome.error:
        return _error(exercise, where, case, outcome, reveal)
    if outcome.hazards:
        says = f"{where} has a hazard: {outcome.hazards[0]}"
        return Finding(says, "hazard", Facts(case, outcome) if reveal else None)
    if outcome.changed:
        what = outcome.changed[0] if reveal else "an argument"
        facts = Facts(case, outcome, "Work on a copy.") if reveal else None
        return Finding(f"{where} changes {what} in place; work on a copy.", "changes its arguments", facts)
    expected = right_value(exercise, case)
    wrong = (
        exercise.requires(as_plain(outcome.value), *[resolve(a) for a in case.args])
        if exercise.requires
        else difference(outcome.value, expected, exercise.rtol, exercise.atol, parts=exercise.parts)
    )
    if wrong is None:
        return _over_budget(exercise, case, outcome, where, reveal)
    text, hint = wrong.text(reveal), wrong.hint
    if outcome.explain is not None:
        text, hint = outcome.explain(text, hint, reveal)
    named = next((c for c in exercise.causes if _same_mistake(c, case, outcome.value, expected, wrong, exercise)), None)
    why = f" {named.says}" if named else hint
    detail = text.removeprefix(": ") if wrong.place or wrong.kind not in ONE_VALUE else ""
    facts = Facts(case, outcome, why.strip(), detail, wrong.place) if reveal else None
    return Finding(f"{where}{text}{why}", named.says if named else wrong.kind, facts)


def _endless(where, case, outcome, reveal):
    at = f" It was in {outcome.origin.place}" if reveal and outcome.origin else ""
    says = f"{where} does not end: it was stopped after {outcome.stopped:g} s.{at and at + '.'} {ENDLESS}"
    return Finding(says, DOES_NOT_END, Facts(case, outcome, ENDLESS) if reveal else None)


def _error(exercise, where, case, outcome, reveal):
    error = outcome.error
    name = error.split(":")[0]
    if name == "NotImplementedError":
        return Finding(f"{where} is not written yet.", NOT_STARTED, Facts(case, outcome) if reveal else None)
    known = name if name in KNOWN_ERRORS else "another error"
    told = reveal or (exercise.kind == "kernel" and error.startswith(OF_THE_TEXT))
    text = error if told else known
    says = f"{where} raises {text}{'' if text.endswith('.') else '.'}"
    if not reveal:
        return Finding(says, known)
    return Finding(f"{says} {outcome.told}".rstrip(), known, Facts(case, outcome, outcome.told))


def _same_mistake(cause, case, value, expected, wrong, exercise):
    """Return whether an answer has the value of a usual mistake, and is wrong in the same way as that is.

    A float where a whole number is due may have the mistake's value by chance, and its own fault is another one.
    """
    try:
        with np.errstate(all="ignore"):
            mistaken = cause.wrong(*(resolve(a) for a in case.args))
    except Exception:
        return False  # the mistake is not possible on such arguments
    nothing = isinstance(mistaken, np.ndarray) and mistaken.dtype.kind == "f" and np.isnan(mistaken).all()
    if nothing and not any(np.any(resolve(a)) for a in case.args):
        return False  # divided by zeros, all mistakes look alike
    rtol = max(exercise.rtol, 1e-9)
    with np.errstate(over="ignore"):  # what stands for NaN may be compared with anything
        if difference(_as_floats(value), _as_floats(mistaken), rtol, exercise.atol) is not None:
            return False
    theirs = difference(mistaken, expected, exercise.rtol, exercise.atol)
    return wrong.kind == (theirs.kind if theirs else "wrong numbers")  # none: the mistake is a loss of digits


def _as_floats(value):
    """Return a value with floats for whole numbers, and equal ones for NaN: a mistake is the same mistake in either."""
    if isinstance(value, list | tuple):
        return [_as_floats(part) for part in value]
    if isinstance(value, float | np.floating) and np.isnan(value):
        return FOR_NAN
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.where(np.isnan(value), FOR_NAN, value.astype(np.float64))
    number = isinstance(value, int | np.integer) and not isinstance(value, bool) and abs(value) < 2**1000
    whole = isinstance(value, np.ndarray) and value.dtype.kind in "iu"
    return float(value) if number else value.astype(np.float64) if whole else value


def _over_budget(exercise, case, outcome, where, reveal):
    limits = exercise.budget(*case.args) if getattr(exercise, "budget", None) else {}
    for counter, most in limits.items():
        counted = outcome.counters.get(counter)
        if counted is None or counted > most:
            says = f"{where} is right, but costs {counted} {counter.replace('_', ' ')}; at most {most} are allowed."
            advice = outcome.advice.get(counter, "")
            facts = Facts(case, outcome, advice, cost=(counter, counted, most)) if reveal else None
            return Finding(f"{says} {advice}".rstrip(), f"over the budget of {counter.replace('_', ' ')}", facts)
    return None


def given_of(exercise, case):
    """Return the arguments of a case that a call shows: not what a kernel reads from outside, nor a limit of its time.

    No errors. Source: the course's own.
    """
    outside, timed = getattr(exercise, "constants", {}).values(), getattr(exercise, "batch", 0)
    return [value for number, value in enumerate(case.args)
            if number not in outside and not (timed and type(value) is int)]  # fmt: skip


def _call(exercise, case):
    """Return a case's arguments; those that a kernel has from outside come last, by name."""
    outside = {number: name for name, number in getattr(exercise, "constants", {}).items()}
    given = _shown(given_of(exercise, case))
    named = ", ".join(f"{name} = {_short(case.args[number])}" for number, name in outside.items())
    return f"{given}; {named}" if named else given


def _shown(args):
    return ", ".join(map(_short, args))


def _short(value):
    if isinstance(value, np.ndarray):
        whole = np.array2string(value, precision=4, separator=", ", threshold=12).replace("\n", "")
        return whole if value.size <= IN_A_LINE else f"array {value.shape}"
    if type(value) is Named:
        return value.name.replace("numpy.", "np.")
    if type(value) is Seeded:
        return f"default_rng({value.seed})"
    if type(value) in (list, tuple):
        inner = _shown(value)
        return f"[{inner}]" if type(value) is list else f"({inner}{',' * (len(value) == 1)})"
    if isinstance(value, Opaque):
        return value.type_name
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
