"""Run a student's kernel for a check: in the SIMT executor always, from a notebook's object or from a cell's text.

A text is read and never executed; what it asks for is bounded by a budget of steps and by the executor's own limits of
memory. So a kernel is judged on a machine without a GPU, by its values, its hazards and its traffic.

Source: the course's own.
"""

import ast
import functools
import inspect
import operator
import re
import textwrap
import types
from collections import Counter, deque

import numpy as np

from course_lib import simt
from course_lib.checks.case_constants import advised, check_read, exchanged
from course_lib.checks.judge import Outcome
from course_lib.checks.kernel_costs import advice_of, causes_of, costs_of, more_costs_of
from course_lib.checks.kernel_text import is_readable, unread, written_out
from course_lib.checks.kernel_writers import Written, explain, with_line
from course_lib.checks.own_launch import launch_here, launch_in_text
from course_lib.checks.predicted import COUNTER, predicted
from course_lib.checks.scopes import UNREADABLE
from course_lib.simt.arrays import DeviceArray
from course_lib.simt.source import is_kernel, source_of

STEPS = 25_000
"""Statements that a batch of blocks may walk: two or three seconds of work, some sixteen times what an answer takes."""

LARGE = 16
"""How many times as many where a time is predicted: such a case has as many images as a group of them may need."""

_LAST = deque(maxlen=2)
"""((exercise, text), arguments, outcome): where parts of an exercise ask one launch for several times, it is one."""

IMPORTS = (
    "import math", "from numba import cuda, float32", "from course_lib import gpu",
    "from course_lib.cuda.intrinsics import mma_bf16, to_bf16_pair",
)  # fmt: skip
"""What the sheets' first cells import, for texts that come without that cell."""


def run_here(exercise, kernel, case):
    """Return the `Outcome` of a case for a kernel that a notebook defines, in the executor, also beside a GPU.

    Parameters
    ----------
    exercise : KernelExercise
    kernel : gpu.Kernel, or what numba.cuda.jit makes
    case : Case

    No errors: they are in the outcome. Source: the course's own.
    """
    if not is_kernel(kernel):
        return Outcome(error=f"TypeError: {exercise.function} is no kernel; write @gpu.jit in the line above its def.")
    if maker := _unread_maker(kernel.py_func):
        return Outcome(error=f"KernelError: {unread(exercise.function, maker)}")
    names = kernel.py_func.__globals__
    own = functools.partial(_own_launch, exercise, case, functools.partial(launch_here, names))
    return _outcome(exercise, lambda constants: exchanged(source_of(kernel), constants, names), own, case)


def _unread_maker(function):
    """Return the name of the function that made a kernel, if the grader cannot read it, else ""."""
    name, _, inside = function.__qualname__.partition(".<locals>.")
    maker = dict.get(function.__globals__, name)
    if not inside or type(maker) is not types.FunctionType or _is_running(maker.__code__):
        return ""
    try:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(maker))).body
    except (OSError, TypeError, IndexError, *UNREADABLE):
        return ""
    return "" if isinstance(node, ast.FunctionDef) and is_readable(node) else name


def _is_running(code):
    frame = inspect.currentframe()
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def run_kernel(exercise, text, case, numbers=None):
    """Return the `Outcome` of a case for the kernel in a text: a cell, or several cells joined by newlines.

    The kernel may use what else the text has: constants that are numbers, functions with @gpu.jit(device=True), imports
    of the vocabulary; beside these `exercise.names`, `exercise.constants` and `IMPORTS`. Other statements are passed
    over, and nothing is executed. Lines that begin with % or ! are a notebook's own and count as empty.

    Parameters
    ----------
    exercise : KernelExercise
    text : str
    case : Case
    numbers : sequence of int, optional
        By which number each line of the text is told, where it comes from several cells.

    No errors: refusals, with line and fix, are in the outcome. Source: the course's own.
    """
    own = functools.partial(_own_launch, exercise, case, functools.partial(launch_in_text, text))
    if not exercise.batch:
        return _outcome(exercise, lambda constants: _read(exercise, text, constants, numbers), own, case)
    for before, arguments, outcome in _LAST:
        if before == (exercise.id, text) and _same_arrays(arguments, case.args):
            return outcome
    outcome = _outcome(exercise, lambda constants: _read(exercise, text, constants, numbers), own, case)
    _LAST.append(((exercise.id, text), case.args, outcome))
    return outcome


def _own_launch(exercise, case, read, images):
    """Return an answer's (grid, block) for a case; it has to be one, too, where times are predicted for more images."""
    shapes = {name: array.shape for name, array in exercise.arrays_of(case).items()}
    found = read(exercise.launcher, images, shapes)
    if exercise.batch:
        read(exercise.launcher, exercise.batch, shapes)
    return found


def _same_arrays(first, second):
    """Return whether the arguments of two cases are the same arrays; what else they have only limits the costs."""
    arrays = [[a for a in arguments if isinstance(a, np.ndarray)] for arguments in (first, second)]
    counted = [any(arguments[len(arrays[0]) :]) for arguments in (first, second)]
    return len(arrays[0]) == len(arrays[1]) and counted[0] == counted[1] and all(map(operator.is_, *arrays))


def _read(exercise, text, constants, numbers=None):
    if type(text) is str:
        plain = re.sub("(?m)^[%!].*$", "", text)
        text = written_out(plain, exercise.function)
        numbers = numbers if text == plain else None  # what is written out stands in lines of its own
    names = dict(exercise.names)
    options = {"names": names, "kept": constants, "imports": IMPORTS, "numbers": numbers}
    source = simt.read(text, exercise.function, skip=True, **options)
    if not source.tree.decorator_list:
        raise TypeError(f"{exercise.function} is no kernel; write @gpu.jit in the line above its def.")
    return source


class _Launches:
    """Stands for the kernel in `exercise.launch`: kernel[grid, block](...) runs in the executor and is noted.

    kernel.own_launch(B) is the answer's own (grid, block), where the exercise has a `launcher`.
    """

    def __init__(self, exercise, source, own_launch, timed):
        self.exercise, self.source, self.own_launch, self.timed = exercise, source, own_launch, timed
        self.reports, self.outputs, self.calls, self.times = [], {}, [], []

    def __getitem__(self, configuration):
        grid, block = configuration

        def launch(*arguments):
            arguments = [a if type(a) is not np.ndarray else _read_only(a) for a in arguments]
            steps = STEPS * (LARGE if self.exercise.batch else 1)
            report = simt.run(self.source, grid, block, arguments, on_error="collect", steps=steps)
            self.reports.append(report)
            if self.timed and not _wrong(report):
                self.times.append(predicted(self.exercise, self.source, report, arguments, steps))
            self.calls.append((report.grid, report.block, dict(zip(self.source.parameters, arguments, strict=True))))
            for name, argument in zip(self.source.parameters, arguments, strict=True):
                if type(argument) is DeviceArray:
                    self.outputs[id(argument)] = (name, argument)

        return launch


def output(shape, dtype=np.float32, begins=None):
    """Return a device array (...) for a kernel's results: NaN, and the executor knows which elements were written.

    Where a kernel adds to what is there, `begins` is the number that all elements begin with; they count as written.
    Host arrays that a launch is given are inputs: a kernel that writes to one is refused. No errors.

    Source: the course's own.
    """
    array = DeviceArray.empty(shape if isinstance(shape, tuple) else (shape,), dtype)
    if begins is not None:
        array.numbers.fill(begins)
        array.written.fill(True)
        array.begins = begins  # a card shows it with the launch
    return array


def _read_only(array):
    array = np.ascontiguousarray(array).view()
    array.flags.writeable = False
    return array


def _outcome(exercise, source, own_launch, case):
    launches = None
    try:
        constants = exercise.arrays_of(case)
        source = source(constants)
        if _is_stub(source):
            return Outcome(error=f'NotImplementedError: "{exercise.id}"')
        if not exercise.launcher:
            check_read(exercise.function, source, constants)
        timed = bool(exercise.batch) and COUNTER in exercise.budget(*case.args)
        launches = _Launches(exercise, source, own_launch, timed)
        results = exercise.launch(launches, *case.args)
    except Exception as error:  # whatever a text leads to is its own error, never the grader's
        says = str(error)
        if launches:
            says = advised(with_line(says, launches.source.lines), launches.source, constants)
        return Outcome(error=f"{type(error).__name__}: {says}")
    several = isinstance(results, tuple)
    arrays = [Written(*launches.outputs[id(r)], launches.reports) for r in (results if several else (results,))]
    costs = sum((Counter(costs_of(r, source.parameters)) for r in launches.reports), Counter())
    counters = {name: costs[name] for r in launches.reports for name in costs_of(r, source.parameters)}
    advice = {name: text for r in launches.reports for name, text in advice_of(r).items()}
    if launches.times:
        counters |= more_costs_of(launches.reports)
    for microseconds, says in launches.times:
        counters[COUNTER] = counters.get(COUNTER, 0) + microseconds
        advice[COUNTER] = says
    return Outcome(
        tuple(a.host for a in arrays) if several else arrays[0].host,
        hazards=tuple(with_line(str(h), _lines(r, h.function)) for r in launches.reports for h in _wrong(r)),
        counters=counters,
        advice=advice,
        explain=lambda text, hint, reveal: explain(text, hint, reveal, arrays, several),
        found=tuple((r, h) for r in launches.reports for h in _wrong(r)),
        calls=tuple(launches.calls),
        causes={name: (r, h) for r in launches.reports for name, h in causes_of(r).items()},
    )


def _wrong(report):
    """Return what an exercise does not let through: hazards, and elements that several threads write, even the same."""
    return [*report.hazards, *(h for h in report.advice if h.kind == "same value")]


def _lines(report, function):
    return {line.number: line.text for line in report.lines if line.function == function}


def _is_stub(source):
    """Return whether a kernel's body is `raise NotImplementedError`, after a docstring."""
    body = [s for s in source.tree.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    error = body[0].exc if body and isinstance(body[0], ast.Raise) else None
    error = error.func if isinstance(error, ast.Call) else error
    return isinstance(error, ast.Name) and error.id == "NotImplementedError"
