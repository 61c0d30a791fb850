"""Call an answer with the arguments of a case, and note all that it did: its value, its error, what it changed.

Source: the course's own.
"""

import copy
import warnings
from dataclasses import replace

import numpy as np

from course_lib.checks.judge import Outcome
from course_lib.checks.origin import origin_of
from course_lib.checks.shape_errors import shape_error
from course_lib.checks.single_values import single_value_error
from course_lib.checks.time_limit import SECONDS, TimeLimit, TimeUp
from course_lib.checks.values import Seeded, ValueProblem, decode, encode, resolve

MOST_TEXT = 300
"""Characters of an error's text."""


def call_answer(function, arguments):
    """Return (encoded value, error, changed arguments) of function(*arguments), which are resolved and copied first.

    The error is "NameError: name 'x' is not defined", or "". SystemExit is such an error too; KeyboardInterrupt and
    what else is no Exception pass through. Source: the course's own.
    """
    value, error, changed = _called(function, arguments)
    return value, "" if error is None else error_text(error), changed


def _called(function, arguments):
    """Return the same with the exception itself, or None."""
    given = [resolve(a) for a in arguments]
    before = copy.deepcopy([_watched(a, g) for a, g in zip(arguments, given, strict=True)])
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value = encode(function(*given))
    except (Exception, SystemExit) as error:
        return encode(None), error, ()
    after = [_watched(a, g) for a, g in zip(arguments, given, strict=True)]
    changed = [f"argument {i + 1}" for i, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    return value, None, tuple(changed)


def error_text(error):
    """Return an exception as "NameError: name 'x' is not defined", at most `MOST_TEXT` characters. No errors.

    Source: the course's own.
    """
    try:
        text = " ".join(str(error).split())
    except Exception:  # an exception of the answer's own may do anything
        text = ""
    name = type(error).__name__
    return (f"{name}: {text}" if text else name)[:MOST_TEXT]


def call_here(function, case, seconds=SECONDS):
    """Return the `Outcome` of a case in this process, as the grader would get it, and where an error came from.

    An answer that takes longer than so many seconds is stopped, in the main thread. Errors as `call_answer`.

    Source: the course's own.
    """
    try:
        with TimeLimit(seconds):
            value, error, changed = _called(function, case.args)
    except TimeUp as stop:
        return Outcome(stopped=seconds, origin=_light(origin_of(stop)))
    if error is not None:
        origin = origin_of(error)
        told = _told(error, origin, function, case)
        return Outcome(error=error_text(error), origin=_light(origin), told=told)
    try:
        return Outcome(decode(value), "", changed)
    except ValueProblem as problem:
        return Outcome(error=f"ValueError: {problem}")


def _light(origin):
    """Return an origin without the variables, which may be large, and live as long as the notebook's last error."""
    return origin and replace(origin, expression=None, names={})


def _told(error, origin, function, case):
    try:
        return shape_error(error, origin, function, case.args) or single_value_error(error, origin)
    except Exception:  # an exception or an object of the answer's own may do anything
        return ""


def outcome_here(exercise, case, text, names, numbers=None):
    """Return the `Outcome` of a case for an answer whose cells were run in this process, or of a kernel's text.

    Parameters
    ----------
    exercise : Exercise or KernelExercise
    case : Case
    text : str
        The kernel and all that it needs of the notebook; it is read, not run. A function needs none.
    names : dict
        What the cells defined.
    numbers : sequence of int, optional
        Of the text's lines, as `run_kernel` takes them.

    Errors as `call_answer`. Source: the course's own.
    """
    if exercise.kind == "kernel":
        from course_lib.checks.kernels import run_kernel  # the executor is loaded only where a kernel is checked

        return run_kernel(exercise, text, case, numbers)
    if exercise.function not in names:
        return Outcome(error=f"NameError: there is no function {exercise.function}")
    return call_here(names[exercise.function], case)


def _watched(argument, given):
    """Return what to compare of an argument: generators are there to be used up, functions do not change."""
    return None if isinstance(argument, Seeded) or callable(given) else encode(given)
