"""`check("04.2", my_function)`: the public check of an exercise, at once and offline.

Source: the course's own.
"""

from course_lib.checks.calling import call_here
from course_lib.checks.judge import judge
from course_lib.checks.registry import find, sheet_of

_SOLVED = set()
"""Ids of the exercises that were solved in this process."""


class CheckFailed(AssertionError):
    """An answer is not right yet; the message says where, and what was expected. Source: the course's own."""


def check(id, answer):
    """Run the public check of an exercise and print how far the sheet is.

    Parameters
    ----------
    id : str
        Such as "04.2".
    answer : function, or kernel
        What you wrote; for a kernel, the name below @gpu.jit.

    Raises
    ------
    CheckFailed
        With the first call that is wrong, what was expected, and the usual cause.
    LookupError
        If there is no such exercise.
    TypeError
        If the answer is no function, or the exercise is answered in words.

    Source: the course's own.
    """
    exercise = find(id)
    if exercise.kind == "text":
        raise TypeError(f"{id} is answered in words; there is nothing to check.")
    if not callable(answer) and not hasattr(answer, "py_func"):
        raise TypeError(f"{id} needs {exercise.function} itself, without brackets; got {type(answer).__name__}.")
    for case in exercise.cases:
        finding = judge(exercise, case, _run(exercise, answer, case))
        if finding is not None:
            _SOLVED.discard(id)
            raise CheckFailed(f"{id}: {finding.says}") from None
    _SOLVED.add(id)
    mine = [e.id for e in sheet_of(id).exercises if e.kind != "text"]
    solved = sum(i in _SOLVED for i in mine)
    print(f"{id} {exercise.title}: right in all {len(exercise.cases)} public cases. Solved: {solved} of {len(mine)}.")


def _run(exercise, answer, case):
    if exercise.kind == "kernel":
        from course_lib.checks.kernels import run_here  # the executor is loaded only where a kernel is checked

        return run_here(exercise, answer, case)
    return call_here(answer, case)
