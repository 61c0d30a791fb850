"""A process beside the grader that judges kernels: their text is read and never executed, but may cost time and memory.

A line of JSON comes for each part, and a line of JSON with the result goes back.

Source: the course's own.
"""

import functools
import json
import os
import resource
import sys

from course_lib.checks.judge import Outcome
from course_lib.checks.registry import find
from course_lib.grading.keys import load_keys, parts_of
from course_lib.grading.questions import GraderFault, run_part


def main():
    """Serve requests {"id", "sheet", "keys", "part", "text"} until there are no more. Source: the course's own."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    memory = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    from course_lib.checks import kernels  # takes most of the start, so it is here, within the limit of memory

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
    result = run_part(exercise, part, functools.partial(_outcome, run_kernel, exercise, request["text"]))
    return {"passed": result.passed, "says": result.says, "cause": result.cause}


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
