"""Judge one call of an answer: is it right, and if not, what is wrong, in words that help.

The same judgement is made in the notebook and by the grader. Hidden cases are judged with reveal=False: the finding
then names the kind of mistake, and neither inputs nor values.

Source: the course's own.
"""

import builtins
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from course_lib.checks.differences import difference
from course_lib.checks.values import Named, Opaque, Seeded, resolve

NOT_STARTED = "not written yet"
"""The cause that a stub has."""

OF_THE_TEXT = ("KernelError",)
"""Errors of kernels whose message speaks of the answer's text, not of the inputs: also told on hidden cases."""

KNOWN_ERRORS = {name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, Exception)}
KNOWN_ERRORS |= {"HazardFound", "KernelError", "LaunchError", "LinAlgError", "ProcessEnded", "ProtocolError"}
"""Names of errors that are told on hidden cases; an answer can call one of its own after what it was given."""


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

    Source: the course's own.
    """

    value: object = None
    error: str = ""
    changed: tuple[str, ...] = ()
    hazards: tuple[str, ...] = ()
    counters: Mapping = field(default_factory=dict)
    advice: Mapping = field(default_factory=dict)
    explain: Callable | None = None


@dataclass(frozen=True)
class Finding:
    """Why a call is not right: what to say to the student, and the mistake in a few words, for statistics.

    Source: the course's own.
    """

    says: str
    cause: str


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
    where = f"{exercise.function}({_shown(case.args)})" if reveal else f"{exercise.function} on a hidden case"
    if case.note and reveal:
        where += f" ({case.note})"
    if outcome.error:
        return _error(
            where, outcome.error, reveal or (exercise.kind == "kernel" and outcome.error.startswith(OF_THE_TEXT))
        )
    if outcome.hazards:
        return Finding(f"{where} has a hazard: {outcome.hazards[0]}", "hazard")
    if outcome.changed and reveal:
        return Finding(f"{where} changes {outcome.changed[0]} in place; work on a copy.", "changes its arguments")
    if outcome.changed:
        return Finding(f"{where} changes an argument in place; work on a copy.", "changes its arguments")
    args = [resolve(a) for a in case.args]
    expected = exercise.expect(*args)
    wrong = (
        exercise.requires(outcome.value, *args)
        if exercise.requires
        else difference(outcome.value, expected, exercise.rtol, exercise.atol)
    )
    if wrong is None:
        return _over_budget(exercise, case, outcome, where)
    text, hint = wrong.text(reveal), wrong.hint
    if outcome.explain is not None:
        text, hint = outcome.explain(text, hint, reveal)
    for cause in exercise.causes:
        if _same_mistake(cause, case, outcome.value, exercise):
            return Finding(f"{where}{text} {cause.says}", cause.says)
    return Finding(f"{where}{text}{hint}", wrong.kind)


def _error(where, error, reveal):
    name = error.split(":")[0]
    if name == "NotImplementedError":
        return Finding(f"{where} is not written yet.", NOT_STARTED)
    known = name if name in KNOWN_ERRORS else "an error of its own"
    text = error if reveal else known
    return Finding(f"{where} raises {text}{'' if text.endswith('.') else '.'}", known)


def _same_mistake(cause, case, value, exercise):
    try:
        with np.errstate(all="ignore"):
            mistaken = cause.wrong(*(resolve(a) for a in case.args))
    except Exception:
        return False  # the mistake is not possible on such arguments
    return difference(_as_floats(value), _as_floats(mistaken), max(exercise.rtol, 1e-9), exercise.atol) is None


def _as_floats(value):
    """Return a value with floats for whole numbers: a mistake is the same mistake in either."""
    if isinstance(value, list | tuple):
        return [_as_floats(part) for part in value]
    number = isinstance(value, int | np.integer) and not isinstance(value, bool) and abs(value) < 2**1000
    whole = isinstance(value, np.ndarray) and value.dtype.kind in "iu"
    return float(value) if number else value.astype(np.float64) if whole else value


def _over_budget(exercise, case, outcome, where):
    limits = exercise.budget(*case.args) if getattr(exercise, "budget", None) else {}
    for counter, most in limits.items():
        counted = outcome.counters.get(counter)
        if counted is None or counted > most:
            says = f"{where} is right, but costs {counted} {counter.replace('_', ' ')}; at most {most} are allowed."
            says += f" {outcome.advice[counter]}" if counter in outcome.advice else ""
            return Finding(says, f"over the budget of {counter.replace('_', ' ')}")
    return None


def _shown(args):
    return ", ".join(map(_short, args))


def _short(value):
    if isinstance(value, np.ndarray):
        whole = np.array2string(value, precision=4, separator=", ", threshold=12).replace("\n", "")
        return whole if value.size <= 6 else f"array {value.shape}"
    if type(value) is Named:
        return value.name.replace("numpy.", "np.")
    if type(value) is Seeded:
        return f"default_rng({value.seed})"
    if type(value) in (list, tuple):
        inner = _shown(value)
        return f"[{inner}]" if type(value) is list else f"({inner})"
    if isinstance(value, Opaque):
        return value.type_name
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
