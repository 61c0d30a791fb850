"""A process beside the grader that judges kernels: their text is read and never executed, but may cost time and memory.

A line of JSON comes for each part, and a line of JSON with the result goes back.

Source: the course's own.
"""

import json
import os
import resource
import sys

import numpy as np

from course_lib.checks.exercise import Case, KernelExercise
from course_lib.checks.judge import Outcome
from course_lib.checks.recorded import Recorded
from course_lib.checks.registry import find
from course_lib.grading.keys import load_keys, parts_of
from course_lib.grading.questions import GraderFault, run_part

WARM_TEXT = """
@gpu.jit
def warm(x, y):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    if t > 0:
        y[t] = s[t - 1] * float32(2)
    else:
        y[t] = s[31]
"""


def _launch(kernel, x):
    from course_lib.checks.kernels import output

    y = output(x.size)
    kernel[1, x.size](x, y)
    return y


WARM = KernelExercise(
    "gpu.0", "warm", "Warm up", 1, "warm-up", "nothing", "the course's own", 9, Recorded("gpu.0", (), ()),
    (Case((np.ones(32, np.float32),)),), launch=_launch,
)  # fmt: skip
"""A kernel that is run before any answer: what the executor compiles once must not count in an answer's time."""


def main():
    """Serve requests {"id", "sheet", "keys", "part", "text"} until there are no more. Source: the course's own."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    memory = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    from course_lib.checks import kernels  # takes most of the start, so it is here, within the limit of memory

    warmed = kernels.run_kernel(WARM, WARM_TEXT, WARM.cases[0])
    if warmed.error:
        raise RuntimeError(f"the executor does not work: {warmed.error}")
    _reply(replies, {"ready": True})
    for line in sys.stdin:
        try:
            reply = _judged(json.loads(line), kernels.run_kernel)
        except GraderFault as error:
            reply = {"fault": str(error)}
        except Exception as error:
            reply = {"fault": f"{type(error).__name__}: {error}"[:300]}
        _reply(replies, reply)


def _judged(request, run_kernel):
    exercise = find(request["id"])
    key = load_keys(request["keys"], request["sheet"]).get(exercise.id)
    part = parts_of(exercise, key)[request["part"]]
    outcomes = []

    def outcome_of(case):
        outcomes.append(_outcome(run_kernel, exercise, request["text"], case))
        return outcomes[-1]

    result = run_part(exercise, part, outcome_of)
    right = result.passed or result.cause.startswith("over the budget")
    counts = dict(outcomes[-1].counters) if exercise.batch and right and outcomes else {}
    return {"passed": result.passed, "says": result.says, "cause": result.cause, "counts": counts}


def _outcome(run_kernel, exercise, text, case):
    try:
        return run_kernel(exercise, text, case)
    except (MemoryError, RecursionError) as error:
        return Outcome(error=f"{type(error).__name__}: the kernel needs too much of the grading machine")


def _reply(file, reply):
    file.write(json.dumps(reply) + "\n")
    file.flush()


if __name__ == "__main__":
    main()
