"""`predicted_time("project.10", my_kernel)`: where a kernel of the free stage stands, and what the next mark is.

Source: the course's own.
"""

from course_lib.checks.judge import judge
from course_lib.checks.kernels import run_here
from course_lib.checks.predicted import COUNTER
from course_lib.checks.registry import find


def predicted_time(id, kernel):
    """Print the time that is predicted for a kernel, what limits it, and what the public check asks for.

    Parameters
    ----------
    id : str
        Of an exercise whose time counts, such as "project.10".
    kernel : gpu.Kernel
        What stands below @gpu.jit.

    A kernel that is not right has no time: then the first thing that is wrong is printed. LookupError if there is no
    such exercise, ValueError if its time does not count. Source: the course's own.
    """
    exercise = find(id)
    if not getattr(exercise, "batch", 0):
        raise ValueError(f"no time is predicted for {id}; the kernels of the free stage have one.")
    case = exercise.cases[-1]
    outcome = run_here(exercise, kernel, case)
    finding = judge(exercise, case, outcome)
    if COUNTER not in outcome.counters or (finding and not finding.cause.startswith("over the budget")):
        print(f"{exercise.function} has no time yet: {finding.says if finding else 'it was not launched.'}")
        return
    most = exercise.budget(*case.args)[COUNTER]
    print(f"{exercise.function}: {outcome.counters[COUNTER]:,} µs. {outcome.advice[COUNTER]}")
    print(f"The public check asks for at most {most:,} µs; the others ask for less.")
