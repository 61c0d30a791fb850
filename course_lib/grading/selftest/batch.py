"""Grade the hostile submissions, honest ones between them, and say of each whether the grader held.

Source: the course's own.
"""

import json
from dataclasses import dataclass, replace
from fractions import Fraction

from course_lib.grading import schedule
from course_lib.grading.host import Task, grade
from course_lib.grading.limits import MEBIBYTE, Limits
from course_lib.grading.selftest import kernels, traces
from course_lib.grading.selftest.collection import FAMILIES, HONEST
from course_lib.grading.selftest.sheet import HIDDEN
from course_lib.grading.selftest.submission import Submission

LIMITS = Limits(
    call=1.0, cell=1.0, question=6.0, submission=30.0, grace=0.7, memory=512 * MEBIBYTE, disk=32 * MEBIBYTE,
    reply=4 * MEBIBYTE, processes=32,
)  # fmt: skip
"""Small, so that the whole test takes a minute or two."""

MOST_SAID = 50_000
"""Characters of a result without the answers: a report is for reading."""

EVERY = 12
"""An honest submission comes after so many others."""


@dataclass(frozen=True)
class Verdict:
    """A submission, its family, its result, and sentences on what the grader did not hold; () if it held.

    Source: the course's own.
    """

    submission: Submission
    family: str
    result: dict
    problems: tuple[str, ...]


def selected(families=(), names=()):
    """Return [(family, submission)] in the order of grading, with honest ones before, between and after.

    No errors; without families and names all are taken. Source: the course's own.
    """
    chosen = [
        (family, one)
        for family, all_of_it in FAMILIES.items()
        for one in all_of_it
        if (not families or family in families) and (not names or one.name in names)
    ]
    found = [kernels.HONEST]
    for number, pair in enumerate(chosen):
        found += [pair] if number % EVERY else [HONEST, pair]
    found += [HONEST, kernels.HONEST]
    honest = (f"honest {number}" for number in range(1, len(found)))
    return [one if type(one) is tuple else ("honest", replace(one, name=next(honest))) for one in found]


def judged(world, chosen, level, jobs=2, limits=LIMITS):
    """Yield a `Verdict` for each (family, submission), as they end.

    KeyboardInterrupt ends the batch. Source: the course's own.
    """
    chosen = list(chosen)
    tasks = [_task(world, number, one, level, limits) for number, (_, one) in enumerate(chosen)]
    for task, result in schedule.run(tasks, graded, jobs, patience=2 * limits.submission):
        family, submission = chosen[int(task.student.partition(" ")[0])]
        yield Verdict(submission, family, result, tuple(_problems(world, submission, result, level)))


def _task(world, number, submission, level, limits):
    files = tuple((world.filled(name, number), world.filled(content, number)) for name, content in submission.files)
    return Task(f"{number} {world.mark(number)}", submission.sheet, files, str(world.keys), level, limits)


def graded(task):
    """Return the grader's result of a task, and under "left" the processes that are left of it.

    No errors but KeyboardInterrupt. Source: the course's own.
    """
    result = grade(task)
    return result | {"left": [f"{number} {name}" for number, name in traces.processes(task.student.split(" ")[1])]}


def _problems(world, submission, result, level):
    """Yield a sentence on each thing that is not as it must be."""
    if result["status"] != submission.status:
        yield f"the status is {result['status']} ({result['says'][:200]}), not {submission.status}"
    if Fraction(result["points"]) != submission.fair:
        lost = [f"{q['id']}: {reason}" for q in result["questions"] for reason in q["lost"]]
        yield f"the score is {result['points']}, not {submission.fair} ({'; '.join(lost)[:300]})"
    claims = json.dumps({k: v for k, v in result.items() if k != "answers"}, ensure_ascii=False)
    if "BREACH" in claims:
        yield f"it got out: {claims[claims.index('BREACH') :][:200]}"
    if world.secret in json.dumps(result) or world.secret[7:][::-1] in claims:
        yield "a secret is in its result"
    if str(HIDDEN) in claims:
        yield "a hidden input is in its result"
    if len(claims) > MOST_SAID:
        yield f"its result has {len(claims):,} characters without the answers"
    try:
        json.dumps(result, allow_nan=False, ensure_ascii=False).encode()
    except ValueError as error:
        yield f"its result cannot be written ({error})"
    if submission.status == "graded" and result["level"] != level:
        yield f"it was graded at level {result['level']}, not {level}"
    for process in result.get("left", ()):
        yield f"process {process} was left"
    if not all(q["lost"] for q in result["questions"] if Fraction(q["points"]) < q["of"]):
        yield "a point is lost without a reason"
